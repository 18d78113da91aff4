//! Holds that are split and joined: which task goes on when parts are left one by one.

use super::free::{hold, is_free};
use crate::common::op::{F, G};
use crate::common::polling::Hand;
use crate::common::watchdog::watchdog;
use crate::common::weather::{in_all_weathers, join};
use evenkeel::sync::monitor::{
    Accepted, Clause, Condition, Held, Joined, Monitor, Set, call, lock_all, try_lock_all,
};
use evenkeel::yield_now;
use evenkeel_policy::random::Random;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Three monitors, in the order of their addresses.
pub(super) fn three() -> [Monitor<u32>; 3] {
    [0; 3].map(Monitor::new)
}

pub(super) fn hold_all<S: Set>(set: S) -> Held<S> {
    try_lock_all(set).expect("they are free")
}

pub(super) fn are_free<S: Set>(set: S) -> bool {
    try_lock_all(set).is_some()
}

/// C∀'s `signal/disjoint`: a signaller inside `outer` signals inside both, leaves `data`, and stays
/// in `outer` for a while.
#[test]
fn b3_no_task_barges_in_between_two_releases() {
    const ROUNDS: u32 = 500;
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    enum Last {
        Barger,
        Signaller,
    }
    #[derive(Default)]
    struct World {
        outer: Monitor<()>,
        condition: Condition,
        over: AtomicBool,
    }
    let _watchdog = watchdog();
    in_all_weathers(|runtime, weather| {
        let data = Monitor::new((Last::Barger, 0));
        let world = Arc::new((World::default(), data));
        let waiters: Vec<_> = (0..4)
            .map(|task| {
                let world = world.clone();
                runtime.spawn(async move {
                    let (World { outer, condition, .. }, data) = &*world;
                    let mut random = Random::new(task);
                    loop {
                        let held = lock_all((outer, data)).await;
                        let mut held = condition.wait(held).await;
                        let (last, count) = &mut *held.values_mut().1;
                        assert_eq!(*last, Last::Signaller, "a barger has come in between");
                        *count += 1;
                        if *count >= ROUNDS {
                            break;
                        }
                        drop(held);
                        weather.pass(&mut random).await;
                    }
                })
            })
            .collect();
        let bargers = (0..8).map(|task| {
            let world = world.clone();
            runtime.spawn(async move {
                let mut random = Random::new(task);
                while !world.0.over.load(Ordering::Acquire) {
                    world.1.enter().await.0 = Last::Barger;
                    weather.pass(&mut random).await;
                    yield_now().await;
                }
            })
        });
        let bargers: Vec<_> = bargers.collect();
        let signaller = runtime.spawn({
            let world = world.clone();
            async move {
                let (World { outer, condition, over }, data) = &*world;
                let mut random = Random::new(99);
                while !over.load(Ordering::Acquire) {
                    let held = outer.enter().await;
                    let mut held = match Held::extend(held, data).await {
                        Ok(held) => held,
                        Err(refused) => refused.leave_and_enter_all().await,
                    };
                    held.values_mut().1.0 = Last::Signaller;
                    let signalled = condition.signal(&mut held);
                    let (outer_held, data_held) = Held::split(held);
                    drop(data_held);
                    weather.pass(&mut random).await;
                    assert!(!signalled || data.try_enter().is_none(), "it is the waiter's");
                    drop(outer_held);
                    yield_now().await;
                }
            }
        });
        join(runtime, waiters);
        world.0.over.store(true, Ordering::Release);
        join(runtime, bargers);
        join(runtime, vec![signaller]);
    });
}

/// A waiter of a pair, and a holder for each part: the waiter goes on when the last part is left,
/// whichever that is, and before all entrants of a single part.
#[test]
fn b5_two_holders_free_a_pair_one_after_the_other() {
    for first in 0..2 {
        let [a, b, _] = &three();
        let condition = Condition::new();
        let mut waiter = Hand::waiting(condition.wait(hold_all((a, b))));
        let mut held = hold_all([a, b]);
        assert!(condition.signal(&mut held));
        let mut parts = Vec::from(Held::split(held));
        let entrants = [Hand::waiting(a.enter()), Hand::waiting(b.enter())];
        let pair = Hand::waiting(lock_all((b, a)));
        *parts[first] = 5;
        drop(parts.remove(first));
        // The part is unoccupied, but reserved.
        assert!(!is_free([a, b][first]));
        assert!(waiter.poll().is_none());
        assert_eq!((waiter.wakes(), entrants.each_ref().map(Hand::wakes)), (0, [0, 0]));
        *parts[0] = 7;
        drop(parts);
        assert_eq!((waiter.wakes(), entrants.each_ref().map(Hand::wakes)), (1, [0, 0]));
        let held = waiter.ready();
        let values = [(&5, &7), (&7, &5)][first];
        assert_eq!(held.values(), values);
        drop(held);
        entrants.into_iter().for_each(|entrant| drop(entrant.ready()));
        drop(pair.ready());
        assert!(are_free([a, b]));
    }
}

/// One task waits inside a and b, another inside a. A third task signals the first, leaves b,
/// signals the second, and leaves a.
#[test]
fn b6_a_part_signals_its_own_waiters_beside_those_of_the_whole() {
    let [a, b, _] = &three();
    let (of_both, of_a) = (Condition::new(), Condition::new());
    let mut both = Hand::waiting(of_both.wait(hold_all((a, b))));
    let single = Hand::waiting(of_a.wait(hold(a)));
    let mut held = Hand::new(Held::extend(hold(a), b)).ready().expect("it is free");
    assert!(of_both.signal(&mut held));
    let (mut held, more) = Held::split(held);
    drop(more);
    assert!(of_a.signal(&mut held));
    drop(held);
    // The signals of a part's holder for its part are the later batch.
    assert_eq!((both.wakes(), single.wakes()), (0, 1));
    let held = single.ready();
    assert!(both.poll().is_none() && !is_free(b));
    drop(held);
    assert_eq!(both.wakes(), 1);
    drop(both.ready());
    assert!(are_free([a, b]));
}

/// A holder of only a part of the set, or of more than the set.
#[test]
fn b15_a_holder_of_a_part_may_not_signal_for_the_whole() {
    #[track_caller]
    fn is_refused<S: Set>(condition: &Condition, held: &mut Held<S>) {
        let signal = AssertUnwindSafe(|| condition.signal(held));
        let panic = catch_unwind(signal).expect_err("it is refused");
        let message = panic.downcast_ref::<&str>().expect("it has a message");
        assert!(message.contains("other monitors than those of its first wait"), "{message}");
    }
    let [a, b, c] = &three();
    let condition = Condition::new();
    let waiter = Hand::waiting(condition.wait(hold_all((a, b))));
    let (mut one, mut other) = Held::split(hold_all((b, a)));
    is_refused(&condition, &mut one);
    is_refused(&condition, &mut other);
    let held = Held::join(one, other);
    let mut more = Held::join(held, hold(c));
    is_refused(&condition, &mut more);
    let (mut held, more) = Held::split(more);
    assert!(condition.signal(&mut held));
    drop(held);
    drop(waiter.ready());
    drop(more);
}

/// Two waiters, signalled by two holds, which are then joined.
#[test]
fn those_signalled_for_two_holds_that_are_joined_go_on_when_both_are_left() {
    let [a, b, _] = &three();
    let (of_a, of_b) = (Condition::new(), Condition::new());
    let waiters = [Hand::waiting(of_a.wait(hold(a))), Hand::waiting(of_b.wait(hold(b)))];
    let (mut one, mut other) = (hold(a), hold(b));
    assert!(of_a.signal(&mut one) && of_b.signal(&mut other));
    let held = Held::join(other, one);
    assert_eq!(waiters.each_ref().map(Hand::wakes), [0, 0]);
    drop(held);
    assert_eq!(waiters.each_ref().map(Hand::wakes), [1, 1]);
    waiters.into_iter().for_each(|waiter| drop(waiter.ready()));
    assert!(are_free([a, b]));
}

/// A part that waits for its own condition gives its monitor to the waiter of the whole set.
#[test]
fn a_part_that_waits_comes_back_to_the_whole() {
    let [a, b, _] = &three();
    let (of_both, of_a) = (Condition::new(), Condition::new());
    let both = Hand::waiting(of_both.wait(hold_all((a, b))));
    let mut held = hold_all((a, b));
    assert!(of_both.signal(&mut held));
    let (one, other) = Held::split(held);
    let single = Hand::waiting(of_a.wait(one));
    assert_eq!(both.wakes(), 0);
    drop(other);
    let (mut one, other) = Held::split(both.ready());
    assert!(of_a.signal(&mut one));
    drop((one, other));
    drop(single.ready());
    assert!(are_free([a, b]));
}

/// Three levels: a triple, a pair within it, and a single monitor within that.
#[test]
fn holds_that_are_split_again_and_again_come_back_inside_out() {
    let [a, b, c] = &three();
    let conditions = [(); 3].map(|()| Condition::new());
    let triple = Hand::waiting(conditions[0].wait(hold_all([a, b, c])));
    let pair = Hand::waiting(conditions[1].wait(hold_all([a, b])));
    let single = Hand::waiting(conditions[2].wait(hold(a)));
    let mut held = hold_all((a, b, c));
    assert!(conditions[0].signal(&mut held));
    let (one, other, third) = Held::split(held);
    let mut held = Held::join(one, other);
    assert!(conditions[1].signal(&mut held));
    let (mut one, other) = Held::split(held);
    assert!(conditions[2].signal(&mut one));
    let wakes = || [triple.wakes(), pair.wakes(), single.wakes()];
    drop(third);
    drop(other);
    assert_eq!(wakes(), [0, 0, 0]);
    drop(one);
    assert_eq!(wakes(), [0, 0, 1]);
    drop(single.ready());
    assert_eq!((triple.wakes(), pair.wakes()), (0, 1));
    drop(pair.ready());
    assert_eq!(triple.wakes(), 1);
    drop(triple.ready());
    assert!(are_free([a, b, c]));
}

/// The acceptor goes on when all parts are left, and learns whether one broke off.
#[test]
fn an_accepted_call_that_is_split_is_over_with_its_last_part() {
    for breaks in [false, true] {
        let [a, b, _] = &three();
        let accept = Held::accept(hold_all((a, b)), [Clause::new(F)]);
        let acceptor = Hand::waiting(accept);
        let kept = std::cell::RefCell::new(None);
        let call = call((a, b), F, async |held| {
            let (one, other) = Held::split(held);
            *kept.borrow_mut() = Some(other);
            std::future::pending::<()>().await;
            drop(one);
        });
        let caller = Hand::waiting(call);
        if !breaks {
            // The cancelled call does not own the other part.
            drop(kept.take());
            assert_eq!(acceptor.wakes(), 0);
            drop(caller);
        } else {
            drop(caller);
            assert_eq!(acceptor.wakes(), 0);
            drop(kept.take());
        }
        // The cancelled call dropped a part in either case.
        let (held, accepted) = acceptor.ready();
        assert_eq!(accepted, Accepted::Broken(0));
        drop(held);
    }
    let [a, b, _] = &three();
    let acceptor = Hand::waiting(Held::accept(hold_all((a, b)), [Clause::new(F)]));
    let (one, other) = Held::split(Hand::new(call((a, b), F, async |held| held)).ready());
    drop(one);
    assert_eq!(acceptor.wakes(), 0);
    drop(other);
    assert_eq!(acceptor.ready().1, Accepted::Call(0));
}

/// Drops a hold as a task does that panics inside.
fn break_off<S: Set>(held: Held<S>) {
    let panics = AssertUnwindSafe(|| {
        let _held = held;
        resume_unwind(Box::new(()));
    });
    assert!(catch_unwind(panics).is_err());
}

/// An acceptor of a call on the set, and the call's hold.
fn accepted<S: Set + Copy>(
    set: S,
) -> (Hand<impl Future<Output = (Held<S>, Accepted)> + use<S>>, Held<S>) {
    let acceptor = Hand::waiting(Held::accept(hold_all(set), [Clause::new(F)]));
    (acceptor, Hand::new(call(set, F, async |held| held)).ready())
}

/// A part signals a waiter of its own monitor, which goes between the part and the acceptor.
#[test]
fn a_split_call_is_broken_by_its_parts_and_not_by_a_task_that_comes_between() {
    for grows in [false, true] {
        for breaks in [false, true] {
            let [a, b, c] = &three();
            let of_a = Condition::new();
            let waiter = Hand::waiting(of_a.wait(hold(a)));
            let (acceptor, held) = accepted((a, b));
            let (mut one, other) = Held::split(held);
            drop(other);
            assert!(of_a.signal(&mut one));
            let leave = |held| if breaks { break_off(held) } else { drop(held) };
            if grows {
                let (one, more) = Held::split(Held::join(one, hold(c)));
                drop(more);
                leave(one);
            } else {
                leave(one);
            }
            let held = waiter.ready();
            if breaks {
                drop(held)
            } else {
                break_off(held)
            }
            let wanted = if breaks { Accepted::Broken(0) } else { Accepted::Call(0) };
            assert_eq!(acceptor.ready().1, wanted);
            assert!(are_free([a, b, c]));
        }
    }
}

/// The set goes as a whole from a part of the call to a waiter, which splits it and panics in the
/// part that does not lead the set.
#[test]
fn a_call_is_not_broken_by_the_parts_of_a_task_that_comes_between() {
    for joins in [false, true] {
        let [a, b, c] = &three();
        let of_both = Condition::new();
        let waiter = Hand::waiting(of_both.wait(hold_all((a, b))));
        let wanted = if joins {
            let (acceptor, held) = accepted(b);
            let mut held = Held::join(hold(a), held);
            assert!(of_both.signal(&mut held));
            drop(held);
            let (one, other) = Held::split(waiter.ready());
            break_off(other);
            drop(one);
            acceptor.ready().1
        } else {
            let (acceptor, held) = accepted(Joined((a, b), c));
            let (mut held, third) = Held::split(held);
            assert!(of_both.signal(&mut held));
            drop((held, third));
            let (one, other) = Held::split(waiter.ready());
            break_off(other);
            drop(one);
            acceptor.ready().1
        };
        assert_eq!(wanted, Accepted::Call(0));
        assert!(are_free([a, b, c]));
    }
}

/// A waiter that was signalled by one call lends its hold to another call, which breaks off.
#[test]
fn a_call_is_not_broken_by_a_call_that_a_task_that_comes_between_joins() {
    let [a, b, c] = &three();
    let of_a = Condition::new();
    let waiter = Hand::waiting(of_a.wait(hold(a)));
    let (first, held) = accepted(a);
    let (mut held, more) = Held::split(Held::join(held, hold(b)));
    assert!(of_a.signal(&mut held));
    drop((held, more));
    let (second, held) = accepted(c);
    break_off(Held::join(held, waiter.ready()));
    assert_eq!((first.ready().1, second.ready().1), (Accepted::Call(0), Accepted::Broken(0)));
    assert!(are_free([a, b, c]));
}

/// The inner of two nested acceptors gives up, and its reservation has been taken out by the time
/// that its call breaks off.
#[test]
fn a_nested_call_whose_acceptor_has_gone_breaks_no_outer_call() {
    let [a, b, _] = &three();
    let of_a = Condition::new();
    let waiter = Hand::waiting(of_a.wait(hold(a)));
    let grow_and_shrink = |held| Held::split(Held::join(held, hold(b))).0;
    let (outer, held) = accepted(a);
    let held = grow_and_shrink(held);
    let inner = Hand::waiting(Held::accept(held, [Clause::new(G)]));
    let held = grow_and_shrink(Hand::new(a.enter_as(G)).ready());
    drop(inner);
    let signaller = Hand::waiting(of_a.signal_block(held));
    drop(grow_and_shrink(waiter.ready()));
    break_off(signaller.ready().0);
    assert_eq!(outer.ready().1, Accepted::Call(0));
    assert!(are_free([a, b]));
}

#[test]
fn a_waiter_that_gives_up_while_half_of_its_set_is_back_leaves_that_half() {
    let [a, b, _] = &three();
    let condition = Condition::new();
    for half in 0..2 {
        let waiter = Hand::waiting(condition.wait(hold_all((a, b))));
        let mut held = hold_all([a, b]);
        assert!(condition.signal(&mut held));
        let mut parts = Vec::from(Held::split(held));
        drop(parts.remove(half));
        let entrant = Hand::waiting([a, b][half].enter());
        drop(waiter);
        assert_eq!(entrant.wakes(), 1);
        drop(entrant.ready());
        assert!(is_free([a, b][half]) && !is_free([a, b][1 - half]));
        drop(parts);
        assert!(are_free([a, b]));
    }
}

/// When a signalled waiter gives up, the next one has its signal, in the same place.
#[test]
fn g4_the_next_waiter_of_a_divided_set_takes_the_place_of_one_that_gives_up() {
    let [a, b, _] = &three();
    let condition = Condition::new();
    let mut waiters: Vec<_> =
        (0..3).map(|_| Hand::waiting(condition.wait(hold_all((a, b))))).collect();
    let mut held = hold_all([a, b]);
    assert!(condition.signal(&mut held));
    let [one, other] = Held::split(held);
    let entrant = Hand::waiting(b.enter());
    drop(other);
    drop(waiters.remove(0));
    drop(one);
    assert_eq!((waiters[0].wakes(), waiters[1].wakes(), entrant.wakes()), (1, 0, 0));
    drop(waiters.remove(0).ready());
    drop(entrant.ready());
    assert!(are_free([a, b]));
}

/// No dropped monitor is read: the last part to be left belongs to a set of which the other monitor
/// is gone.
#[test]
fn a_part_outlives_the_other_monitors_of_its_set() {
    let condition = Condition::new();
    let a = Box::new(Monitor::new(1));
    let b = Box::new(Monitor::new(2));
    let waiter = Hand::waiting(condition.wait(hold_all((&*a, &*b))));
    let mut held = hold_all((&*a, &*b));
    assert!(condition.signal(&mut held));
    let (one, other) = Held::split(held);
    drop(waiter);
    // In either order of addresses, which determines the set's leader.
    if (&raw const *a).addr() < (&raw const *b).addr() {
        drop(one);
        drop(a);
        drop(other);
        assert!(is_free(&b));
    } else {
        drop(other);
        drop(b);
        drop(one);
        assert!(is_free(&a));
    }
}

#[test]
fn g9_a_part_that_is_forgotten_leaves_the_other_ones_to_those_that_give_up() {
    let [a, b, _] = &three();
    let condition = Condition::new();
    let mut waiter = Hand::waiting(condition.wait(hold_all((a, b))));
    let mut held = hold_all((a, b));
    assert!(condition.signal(&mut held));
    let (one, other) = Held::split(held);
    std::mem::forget(one);
    drop(other);
    assert!(waiter.poll().is_none() && !is_free(b));
    drop(waiter);
    assert!(is_free(b) && !is_free(a));
}

/// The last part wakes the first waiter, which does not look: it is dropped, or another one looks
/// first.
#[test]
fn a_divided_set_that_is_back_goes_on_whatever_the_first_waiter_does() {
    let [a, b, _] = &three();
    for is_dropped in [false, true] {
        let condition = Condition::new();
        let wait = || Hand::waiting(condition.wait(hold_all((a, b))));
        let [first, mut second, third] = [(); 3].map(|()| wait());
        let mut held = hold_all((a, b));
        assert!(condition.signal(&mut held) && condition.signal(&mut held));
        let (one, other) = Held::split(held);
        drop(other);
        drop(one);
        assert_eq!([first.wakes(), second.wakes(), third.wakes()], [1, 0, 0]);
        if is_dropped {
            // Its signal goes to the third waiter, which takes its place.
            drop(first);
            assert_eq!([second.wakes(), third.wakes()], [0, 1]);
            drop(third.ready());
        } else {
            assert!(second.poll().is_none(), "the first one has the set");
            assert!(!is_free(a) && !is_free(b));
            drop(first.ready());
            drop(third);
        }
        assert_eq!(second.wakes(), 1);
        drop(second.ready());
        assert!(are_free([a, b]));
    }
}

/// All of those that wait for a divided set give up once it is back.
#[test]
fn a_divided_set_that_is_back_is_free_when_its_last_waiter_gives_up() {
    let [a, b, _] = &three();
    let condition = Condition::new();
    let waiters = [(); 2].map(|()| Hand::waiting(condition.wait(hold_all((a, b)))));
    let mut held = hold_all((a, b));
    while condition.signal(&mut held) {}
    let (one, other) = Held::split(held);
    drop((one, other));
    drop(waiters);
    assert!(are_free([a, b]));
}

/// Every kind of set can be split, and so can two joined holds.
#[test]
fn every_set_has_parts() {
    let [a, b, c] = &three();
    let (one, other, third) = Held::split(hold_all((c, a, b)));
    drop(one);
    assert!(is_free(c) && !is_free(a) && !is_free(b));
    drop((other, third));
    let slice = [b, a];
    let parts = Held::split(hold_all(&slice[..]));
    assert_eq!(parts.iter().map(|part| **part).sum::<u32>(), 0);
    drop(parts);
    drop(Held::split(hold_all(&slice)));
    let owned = [1, 2].map(|value| Arc::new(Monitor::new(value)));
    let [one, other] = owned.clone().map(|one| one.try_enter_owned().expect("it is free"));
    let held = Held::join(one, other);
    let task = std::thread::spawn(move || {
        assert_eq!(held.values(), (&1, &2));
        Held::split(held)
    });
    let (one, other) = task.join().expect("nothing fails");
    assert_eq!((*one, *other), (1, 2));
    drop((one, other));
    let joined = Joined(owned[0].clone(), c);
    assert_eq!(Hand::new(lock_all(joined)).ready().values(), (&1, &0));
    let twice = AssertUnwindSafe(|| drop(lock_all(Joined(a, (b, a)))));
    assert!(catch_unwind(twice).is_err());
}
