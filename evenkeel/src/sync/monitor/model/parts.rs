//! Models of sets that are split and extended: parts that are left at the same time, beside a
//! waiter that stays or gives up.

use super::super::held::cancelling;
use super::super::{
    Accepted, Clause, Condition, Held, Joined, Monitor, call, lock_all, try_lock_all,
};
use super::{Call, Watched, block_on, look_or_wait, poll_once};
use crate::primitives::atomic::Edge;
use crate::primitives::mutation::check;
use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::pin::Pin;
use std::sync::Arc;

/// The edges that models need in which a future is only dropped: these are about steps under a
/// lock.
const LOCK: [Edge; 2] = [Edge::SpinLock, Edge::SpinUnlock];

type One = Arc<Monitor<Watched>>;
type Both = Joined<One, One>;

/// The first monitor has the lower address, so that every run of a model goes the same way.
fn both() -> Both {
    let [one, other] = [(); 2].map(|()| Arc::new(Monitor::new(Watched::new())));
    if Arc::as_ptr(&one) < Arc::as_ptr(&other) { Joined(one, other) } else { Joined(other, one) }
}

/// Adds inside both monitors. If loom objects, they stay held, as in `super::add`.
fn add_to_both(held: Held<Both>, count: u32) -> [u32; 2] {
    let add = AssertUnwindSafe(|| {
        let (one, other) = held.values();
        [one.add(count), other.add(count)]
    });
    catch_unwind(add).unwrap_or_else(|objection| {
        std::mem::forget(held);
        resume_unwind(objection)
    })
}

fn add(held: Held<One>, count: u32) {
    catch_unwind(AssertUnwindSafe(|| held.add(count))).map(drop).unwrap_or_else(|objection| {
        std::mem::forget(held);
        resume_unwind(objection)
    });
}

/// A task that waits for the condition, and then adds.
fn waiter(
    set: &Both,
    condition: &Arc<Condition>,
) -> Pin<Box<impl Future<Output = [u32; 2]> + use<>>> {
    let (set, condition) = (set.clone(), condition.clone());
    let mut waiter = Box::pin(async move {
        let held = lock_all(set).await;
        add_to_both(condition.wait(held).await, 1)
    });
    assert!(!poll_once(waiter.as_mut()));
    waiter
}

/// The parts of a hold under which the condition has been signalled.
fn signalled_parts(set: &Both, condition: &Condition) -> (Held<One>, Held<One>) {
    let mut held = try_lock_all(set.clone()).unwrap();
    assert!(condition.signal(&mut held));
    Held::split(held)
}

#[test]
fn parts_that_are_left_at_once_come_back_together() {
    // The acceptor's model shows that the grant alone suffices for the waiter to see this.
    check(&[], || {
        let (set, condition) = (both(), Arc::new(Condition::new()));
        let mut waiter = waiter(&set, &condition);
        let (one, other) = signalled_parts(&set, &condition);
        let part = loom::thread::spawn(move || add(one, 1));
        add(other, 1);
        assert_eq!(look_or_wait(waiter.as_mut()), [2, 2]);
        part.join().unwrap();
        assert!(try_lock_all(set).is_some());
    });
}

/// The last part holder and the waiter, which is polled by another task meanwhile: the waker that
/// the part holder takes is the last one, or the waiter takes over.
#[test]
fn a_waiter_renews_its_waker_while_the_last_part_is_left() {
    check(&LOCK, || {
        let (set, condition) = (both(), Arc::new(Condition::new()));
        let mut waiter = waiter(&set, &condition);
        let (leader, other) = signalled_parts(&set, &condition);
        drop(leader);
        let part = loom::thread::spawn(move || add(other, 1));
        assert_eq!(block_on(waiter.as_mut()), [1, 2]);
        part.join().unwrap();
        drop(waiter);
        assert!(try_lock_all(set).is_some());
    });
}

#[test]
fn a_waiter_gives_up_beside_the_parts_of_its_set() {
    check(&LOCK, || {
        let (set, condition) = (both(), Arc::new(Condition::new()));
        let waiter = waiter(&set, &condition);
        let (one, other) = signalled_parts(&set, &condition);
        let dropper = loom::thread::spawn(move || drop(waiter));
        one.add(1);
        drop(one);
        other.add(1);
        drop(other);
        dropper.join().unwrap();
        assert!(try_lock_all(set).is_some());
    });
}

#[test]
fn a_waiter_gives_up_while_a_hold_is_split() {
    check(&LOCK, || {
        let (set, condition) = (both(), Arc::new(Condition::new()));
        let waiter = waiter(&set, &condition);
        let mut held = try_lock_all(set.clone()).unwrap();
        assert!(condition.signal(&mut held));
        let dropper = loom::thread::spawn(move || drop(waiter));
        drop(Held::split(held));
        dropper.join().unwrap();
        assert!(try_lock_all(set).is_some());
    });
}

/// The call has lent its joined hold to a waiter, which leaves it in two parts: the acceptor learns
/// that the call breaks off, whether the set has come back to the call or not.
#[test]
fn a_joined_call_that_gives_up_beside_the_parts_of_its_set_breaks_off() {
    check(&LOCK, || {
        let (set, condition) = (both(), Arc::new(Condition::new()));
        let mut waiter = Box::pin(condition.wait(try_lock_all(set.clone()).unwrap()));
        assert!(!poll_once(waiter.as_mut()));
        let held = set.0.clone().try_enter_owned().unwrap();
        let mut acceptor = Box::pin(Held::accept(held, [Clause::new(Call)]));
        assert!(!poll_once(acceptor.as_mut()));
        let body = async |held: Held<One>| held;
        let held = look_or_wait(Box::pin(call(set.0.clone(), Call, body)).as_mut());
        let held = Held::join(held, set.1.clone().try_enter_owned().unwrap());
        let mut callee = Box::pin({
            let condition = condition.clone();
            async move { drop(condition.signal_block(held).await) }
        });
        assert!(!poll_once(callee.as_mut()));
        let (one, other) = Held::split(look_or_wait(waiter.as_mut()));
        let dropper = loom::thread::spawn(move || cancelling(|| drop(callee)));
        drop(other);
        drop(one);
        dropper.join().unwrap();
        assert_eq!(look_or_wait(acceptor.as_mut()).1, Accepted::Broken(0));
    });
}

#[test]
fn an_extension_that_gives_up_while_it_is_granted_leaves_everything() {
    check(&LOCK, || {
        let monitors = Arc::new([(); 2].map(|()| Monitor::new(Watched::new())));
        let held = monitors[1].try_enter().unwrap();
        let mut extend = Box::pin({
            let monitors = monitors.clone();
            async move {
                let held = monitors[0].enter().await;
                let held = Held::extend(held, &monitors[1]).await.unwrap();
                held.values().1.add(1);
            }
        });
        assert!(!poll_once(extend.as_mut()));
        let dropper = loom::thread::spawn(move || drop(extend));
        held.add(1);
        drop(held);
        dropper.join().unwrap();
        assert!(try_lock_all(monitors.each_ref()).is_some());
    });
}
