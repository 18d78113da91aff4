//! Models of futures that are dropped, or reach their limit, at the moment when a grant or a signal
//! comes: what they were given goes on to the next task.

use super::super::{Accepted, Clause, Condition, Held, Monitor, call, lock_all, try_lock_all};
use super::{Call, Watched, look_or_wait, poll_once};
use crate::primitives::atomic::Edge;
use crate::primitives::mutation::check;
use crate::runtime::block_on;
use std::future::poll_fn;
use std::sync::Arc;
use std::task::Poll;

/// The edges that models need in which a future is only dropped: these are about steps under a
/// lock.
const LOCK: [Edge; 2] = [Edge::SpinLock, Edge::SpinUnlock];

/// The edges that models need in which the future goes on. With a weaker lock it would read a freed
/// waker, which ends more than the model.
const GRANT: [Edge; 2] = [Edge::WaitEnd, Edge::WaitEnded];

type Pair = [Monitor<Watched>; 2];

/// The first monitor has the lower address.
fn pair() -> Arc<Pair> {
    Arc::new([Monitor::new(Watched::new()), Monitor::new(Watched::new())])
}

fn add_to_both(held: &Held<[&Monitor<Watched>; 2]>, count: u32) -> [u32; 2] {
    held.values().map(|value| value.add(count))
}

fn are_free(monitors: &Pair) -> bool {
    try_lock_all(monitors.each_ref()).is_some()
}

/// Ready at its second poll.
fn second_poll() -> impl Future<Output = ()> {
    let mut polls = 0;
    poll_fn(move |_| {
        polls += 1;
        if polls > 1 { Poll::Ready(()) } else { Poll::Pending }
    })
}

#[test]
fn a_bulk_entry_that_gives_up_half_way_leaves_what_it_has() {
    check(&LOCK, || {
        let monitors = pair();
        let held = monitors[1].try_enter().unwrap();
        let mut bulk = Box::pin({
            let monitors = monitors.clone();
            async move { add_to_both(&lock_all(monitors.each_ref()).await, 1) }
        });
        assert!(!poll_once(bulk.as_mut()));
        let mut behind = Box::pin(monitors[0].enter());
        assert!(!poll_once(behind.as_mut()));
        let dropper = loom::thread::spawn(move || drop(bulk));
        held.add(1);
        drop(held);
        // The monitor of the set that the dropped entry has had.
        assert_eq!(block_on(behind).add(1), 1);
        dropper.join().unwrap();
        assert!(are_free(&monitors));
    });
}

#[test]
fn a_bulk_entry_goes_on_while_another_gives_up() {
    // Weakens no edge: loom would object while a hold of half a set is given up, and would then let
    // no thread give it up.
    check(&[], || {
        let monitors = pair();
        let held = monitors[0].try_enter().unwrap();
        let bulk = || {
            let monitors = monitors.clone();
            Box::pin(async move { add_to_both(&lock_all(monitors.each_ref()).await, 1) })
        };
        let (mut impatient, mut patient) = (bulk(), bulk());
        assert!(!poll_once(impatient.as_mut()) && !poll_once(patient.as_mut()));
        let dropper = loom::thread::spawn(move || {
            // The entry may come half way, or all the way.
            let through = poll_once(impatient.as_mut());
            drop(impatient);
            u32::from(through)
        });
        held.add(1);
        drop(held);
        let [first, second] = block_on(patient);
        let before = dropper.join().unwrap();
        assert_eq!((first, second), (before + 2, before + 1));
        assert!(are_free(&monitors));
    });
}

#[test]
fn the_signal_of_a_waiter_in_a_set_goes_to_the_next() {
    check(&LOCK, || {
        let monitors = pair();
        let condition = Arc::new(Condition::new());
        let wait = || {
            let (monitors, condition) = (monitors.clone(), condition.clone());
            Box::pin(async move {
                let held = lock_all(monitors.each_ref()).await;
                add_to_both(&condition.wait(held).await, 1)
            })
        };
        let (mut impatient, mut patient) = (wait(), wait());
        assert!(!poll_once(impatient.as_mut()) && !poll_once(patient.as_mut()));
        let dropper = loom::thread::spawn(move || drop(impatient));
        let mut held = try_lock_all(monitors.each_ref()).unwrap();
        assert!(condition.signal(&mut held));
        add_to_both(&held, 1);
        drop(held);
        // Without the signal the patient waiter would wait for ever.
        assert_eq!(block_on(patient), [2, 2]);
        dropper.join().unwrap();
        assert!(are_free(&monitors));
    });
}

#[test]
fn a_signaller_that_gives_up_does_not_come_back() {
    check(&LOCK, || {
        let monitor = Arc::new(Monitor::with_conditions(Watched::new(), Condition::new()));
        let condition = monitor.conditions();
        let mut waiter = Box::pin(condition.wait(monitor.try_enter().unwrap()));
        assert!(!poll_once(waiter.as_mut()));
        let mut signaller = Box::pin({
            let monitor = monitor.clone();
            async move {
                let held = monitor.enter().await;
                let (held, some) = monitor.conditions().signal_block(held).await;
                assert!(some);
                held.add(1);
            }
        });
        assert!(!poll_once(signaller.as_mut()));
        let dropper = loom::thread::spawn(move || drop(signaller));
        assert_eq!(block_on(waiter).add(1), 1);
        dropper.join().unwrap();
        assert_eq!(monitor.try_enter().expect("it is free").add(0), 1);
    });
}

#[test]
fn a_waiter_is_signalled_or_runs_out_of_time() {
    check(&GRANT, || {
        let monitor = Arc::new(Monitor::with_conditions(Watched::new(), Condition::new()));
        let mut wait = Box::pin({
            let monitor = monitor.clone();
            async move {
                let held = monitor.enter().await;
                let until = second_poll();
                let (held, signalled) = monitor.conditions().wait_until(held, (), until).await;
                held.add(1);
                signalled
            }
        });
        assert!(!poll_once(wait.as_mut()));
        let waiter = loom::thread::spawn(move || block_on(wait));
        let mut held = block_on(monitor.enter());
        let sent = monitor.conditions().signal(&mut held);
        held.add(1);
        drop(held);
        assert_eq!(waiter.join().unwrap(), sent);
        assert_eq!(monitor.try_enter().expect("it is free").add(0), 2);
    });
}

/// A waiter that was chosen under the lock does not leave while the signaller prepares without the
/// lock.
#[test]
fn a_waiter_is_prepared_for_or_runs_out_of_time() {
    check(&GRANT, || {
        let monitor = Arc::new(Monitor::with_conditions(Watched::new(), Condition::new()));
        let mut wait = Box::pin({
            let monitor = monitor.clone();
            async move {
                let held = monitor.enter().await;
                let until = second_poll();
                let (held, signalled) = monitor.conditions().wait_until(held, (), until).await;
                (signalled, held.add(1))
            }
        });
        assert!(!poll_once(wait.as_mut()));
        let waiter = loom::thread::spawn(move || block_on(wait));
        let held = block_on(monitor.enter());
        let prepare = |held: &mut Held<&Monitor<Watched, Condition>>, ()| held.add(1);
        let block = monitor.conditions().signal_block_with(held, prepare);
        let (held, prepared) = block_on(block);
        // The waiter has been inside in between.
        assert!(prepared.is_none_or(|before| held.add(0) == before + 1));
        drop(held);
        let (signalled, seen) = waiter.join().unwrap();
        assert_eq!((signalled, seen), (prepared.is_some(), 1 + u32::from(signalled)));
    });
}

/// The acceptor gives up before the call comes, while the call is inside, or after it has left.
#[test]
fn an_acceptor_that_gives_up_accepts_no_call_or_does_not_come_back() {
    check(&LOCK, || {
        let monitor = Arc::new(Monitor::new(Watched::new()));
        let mut accept = Box::pin({
            let monitor = monitor.clone();
            async move {
                let held = monitor.enter().await;
                Held::accept(held, [Clause::new(Call)]).await.0.add(1)
            }
        });
        assert!(!poll_once(accept.as_mut()));
        let dropper = loom::thread::spawn(move || drop(accept));
        let body = async |held: Held<&Monitor<Watched>>| held.add(1);
        assert_eq!(block_on(call(&*monitor, Call, body)), 1);
        dropper.join().unwrap();
        assert_eq!(monitor.try_enter().expect("it is free").add(0), 1);
    });
}

/// The same with a set: the acceptor leaves all of its monitors.
#[test]
fn an_acceptor_of_a_set_that_gives_up_leaves_all_of_it() {
    check(&LOCK, || {
        let monitors = pair();
        let mut accept = Box::pin({
            let monitors = monitors.clone();
            async move {
                let held = lock_all(monitors.each_ref()).await;
                add_to_both(&Held::accept(held, [Clause::new(Call)]).await.0, 1)
            }
        });
        assert!(!poll_once(accept.as_mut()));
        let dropper = loom::thread::spawn(move || drop(accept));
        let body = async |held: Held<[&Monitor<Watched>; 2]>| add_to_both(&held, 1);
        assert_eq!(block_on(call(monitors.each_ref(), Call, body)), [1, 1]);
        dropper.join().unwrap();
        assert!(are_free(&monitors));
    });
}

#[test]
fn an_acceptor_has_a_call_or_runs_out_of_time() {
    check(&GRANT, || {
        let monitor = Arc::new(Monitor::new(Watched::new()));
        let mut accept = Box::pin({
            let monitor = monitor.clone();
            async move {
                let held = monitor.enter().await;
                let clauses = [Clause::new(Call)];
                let (held, accepted) = Held::accept_until(held, clauses, second_poll()).await;
                let called = match accepted {
                    Accepted::Call(0) => 1,
                    other => {
                        assert_eq!(other, Accepted::Timeout);
                        0
                    }
                };
                assert_eq!(held.add(0), called);
            }
        });
        assert!(!poll_once(accept.as_mut()));
        let acceptor = loom::thread::spawn(move || block_on(accept));
        block_on(call(&*monitor, Call, async |held: Held<&Monitor<Watched>>| held.add(1)));
        acceptor.join().unwrap();
        assert_eq!(monitor.try_enter().expect("it is free").add(0), 1);
    });
}

/// The call takes the set by its own poll, since the acceptor waits for it. The acceptor learns how
/// the call ended, whichever of both is faster.
#[test]
fn a_call_that_is_dropped_inside_breaks_off_beside_its_acceptor() {
    check(&GRANT, || {
        let monitor = Arc::new(Monitor::new(Watched::new()));
        let mut accept = Box::pin({
            let monitor = monitor.clone();
            async move {
                let held = monitor.enter().await;
                let (held, accepted) = Held::accept(held, [Clause::new(Call)]).await;
                assert_eq!((held.add(0), accepted), (1, Accepted::Broken(0)));
            }
        });
        assert!(!poll_once(accept.as_mut()));
        let mut call = Box::pin({
            let monitor = monitor.clone();
            async move {
                let body = async |held: Held<&Monitor<Watched>>| {
                    held.add(1);
                    std::future::pending::<()>().await;
                };
                monitor.call(Call, body).await;
            }
        });
        assert!(!poll_once(call.as_mut()));
        let acceptor = loom::thread::spawn(move || look_or_wait(accept.as_mut()));
        drop(call);
        acceptor.join().unwrap();
        assert!(monitor.try_enter().is_some());
    });
}
