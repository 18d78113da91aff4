//! Holds that grow: when an extension waits, when it is refused, and the fate of a dropped one.

use super::free::{hold, is_free};
use super::parts::{are_free, hold_all, three};
use crate::common::op::{F, G};
use crate::common::polling::Hand;
use evenkeel::sync::monitor::{Accepted, Clause, Condition, Held, Why, call};
use std::cell::Cell;
use std::future::pending;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::task::{Context, Poll};

/// A task leaves the monitors of an extension, and keeps its first hold.
#[test]
fn a8_an_extension_is_left_before_the_rest() {
    let [a, b, c] = &three();
    let held = Hand::new(Held::extend(hold(a), (b, c))).ready().expect("they are free");
    assert_eq!(held.values(), (&0, (&0, &0)));
    let (held, more) = Held::split(held);
    drop(more);
    assert!(!is_free(a) && is_free(b) && is_free(c));
    drop(held);
    assert!(are_free([a, b, c]));
}

/// The wait gives up the larger set, and returns with it.
#[test]
fn b17_a_wait_in_an_extended_hold_leaves_all_of_it() {
    let [a, b, _] = &three();
    let condition = Condition::new();
    let held = Hand::new(Held::extend(hold(a), b)).ready().expect("it is free");
    let waiter = Hand::waiting(condition.wait(held));
    let mut held = hold_all([b, a]);
    assert!(condition.signal(&mut held));
    drop(held);
    let (held, more) = Held::split(waiter.ready());
    assert!(!is_free(a) && !is_free(b));
    drop((held, more));
}

/// Waiters signalled before the extension go on after those signalled later.
#[test]
fn signals_before_an_extension_are_the_earlier_batch() {
    let [a, b, _] = &three();
    let (of_both, of_a) = (Condition::new(), Condition::new());
    let early = Hand::waiting(of_a.wait(hold(a)));
    let late = Hand::waiting(of_both.wait(hold_all((a, b))));
    let mut held = hold(a);
    assert!(of_a.signal(&mut held));
    let mut held = Hand::new(Held::extend(held, b)).ready().expect("it is free");
    let entrants = [Hand::waiting(a.enter()), Hand::waiting(b.enter())];
    assert!(of_both.signal(&mut held));
    drop(held);
    assert_eq!((early.wakes(), late.wakes()), (0, 1));
    drop(late.ready());
    assert_eq!((early.wakes(), entrants.each_ref().map(Hand::wakes)), (1, [0, 1]));
    drop(early.ready());
    assert_eq!(entrants.each_ref().map(Hand::wakes), [1, 1]);
    entrants.into_iter().for_each(|entrant| drop(entrant.ready()));
}

#[test]
fn an_accepted_call_that_is_extended_is_over_when_it_has_left_its_set() {
    let [a, b, _] = &three();
    let acceptor = Hand::waiting(Held::accept(hold(a), [Clause::new(F)]));
    let held = Hand::new(a.enter_as(F)).ready();
    let held = Hand::new(Held::extend(held, b)).ready().expect("it is free");
    let (held, more) = Held::split(held);
    drop(held);
    assert_eq!(acceptor.wakes(), 1);
    assert_eq!(acceptor.ready().1, Accepted::Call(0));
    drop(more);
}

/// The task that has the larger set after the call leaves it in order. The acceptor's monitor is
/// the first or the second one of that set. The task has the set as a whole when the call breaks
/// off, or both parts, or the last part.
#[test]
fn an_extended_call_that_breaks_off_is_broken_whichever_task_comes_between() {
    #[derive(Clone, Copy)]
    enum Last {
        Signals,
        SignalsAndBlocks,
        Accepts,
    }
    let check = |[own, more]: [usize; 2], last: Last, parts: Option<usize>| {
        let monitors = three();
        let set = (&monitors[own], &monitors[more]);
        let condition = Condition::new();
        let waiter = Hand::waiting(condition.wait(hold_all(set)));
        let acceptor = Hand::waiting(Held::accept(hold(set.0), [Clause::new(F)]));
        let mut callee = Some(Hand::waiting(set.0.call(F, async |held| {
            let mut held = Held::extend(held, set.1).await.expect("it is free");
            match last {
                Last::Signals => {
                    assert!(condition.signal(&mut held));
                    pending::<()>().await;
                }
                Last::SignalsAndBlocks => drop(condition.signal_block(held).await),
                Last::Accepts => drop(Held::accept(held, [Clause::new(G)]).await),
            }
        })));
        let between = match last {
            Last::Signals => {
                callee = None;
                waiter.ready()
            }
            Last::SignalsAndBlocks => waiter.ready(),
            Last::Accepts => Hand::new(call(set, G, async |held| held)).ready(),
        };
        if let Some(parts) = parts {
            let mut between = <Vec<_>>::from(<[_; 2]>::from(Held::split(between)));
            between.drain(parts..);
            drop(callee);
            drop(between);
        } else {
            drop(callee);
            assert_eq!(acceptor.wakes(), 0);
            drop(between);
        }
        assert_eq!(acceptor.ready().1, Accepted::Broken(0));
        assert!(are_free(set));
    };
    for order in [[0, 1], [1, 0]] {
        for last in [Last::Signals, Last::SignalsAndBlocks, Last::Accepts] {
            [None, Some(1), Some(2)].into_iter().for_each(|parts| check(order, last, parts));
        }
    }
}

/// The callee is dropped, and a destructor in it begins to wait with the hold: that ends the call,
/// as a wait does in a call that goes on.
#[test]
fn an_extended_call_that_waits_while_it_is_dropped_has_ended() {
    struct OnDrop<F: FnOnce()>(Option<F>);
    impl<F: FnOnce()> Drop for OnDrop<F> {
        fn drop(&mut self) {
            self.0.take().expect("it is dropped once")();
        }
    }
    for [own, more] in [[0, 1], [1, 0]] {
        let monitors = three();
        let set = (&monitors[own], &monitors[more]);
        let condition = Condition::new();
        let late = Cell::new(None);
        let acceptor = Hand::waiting(Held::accept(hold(set.0), [Clause::new(F)]));
        let callee = Hand::waiting(set.0.call(F, async |held| {
            let held = Held::extend(held, set.1).await.expect("it is free");
            let wait = condition.wait(held);
            let _begins = OnDrop(Some(|| late.set(Some(Hand::waiting(wait)))));
            pending::<()>().await;
        }));
        drop(callee);
        let (held, accepted) = acceptor.ready();
        assert_eq!(accepted, Accepted::Call(0));
        drop(held);
        assert!(condition.signal(&mut hold_all(set)));
        drop(late.take().expect("it has begun to wait").ready());
        assert!(are_free(set));
    }
}

/// The extension waits for monitors that come later by address, first come, first served.
#[test]
fn an_extension_waits_for_what_comes_later() {
    let [a, b, c] = &three();
    let (second, third) = (hold(b), hold(c));
    let before = Hand::waiting(c.enter());
    let mut extend = Hand::waiting(Held::extend(hold(a), (c, b)));
    assert!(!is_free(a));
    drop(second);
    assert!(extend.poll().is_none() && !is_free(b));
    let behind = Hand::waiting(c.enter());
    drop(third);
    assert_eq!((before.wakes(), extend.wakes()), (1, 1));
    drop(before.ready());
    let held = extend.ready().expect("they come later");
    assert_eq!(behind.wakes(), 0);
    drop(held);
    drop(behind.ready());
    assert!(are_free([a, b, c]));
}

/// The extension takes earlier monitors if they are free, and otherwise gives the hold back.
#[test]
fn an_extension_does_not_wait_for_what_comes_earlier() {
    let [a, b, c] = &three();
    let held = Hand::new(Held::extend(hold(b), (c, a))).ready().expect("they are free");
    assert_eq!(held.values(), (&0, (&0, &0)));
    drop(held);

    let other = hold(a);
    let mut held = hold(b);
    *held = 7;
    let refused = Hand::new(Held::extend(held, (c, a))).ready().expect_err("it must not wait");
    assert_eq!(refused.why(), Why::Order);
    let text = refused.to_string();
    assert!(text.contains("extend.rs") && text.contains("lock_all"), "{text}");
    assert!(is_free(c) && !is_free(b));
    let (held, (third, first)) = refused.into_parts();
    assert_eq!((*held, *hold(third)), (7, 0));
    drop(other);
    let held = Hand::new(Held::extend(held, first)).ready().expect("it is free now");
    assert_eq!(held.values(), (&7, &0));
}

/// Two tasks extend crosswise: one is refused, so that the other goes on.
#[test]
fn two_extensions_crosswise_do_not_wait_for_each_other() {
    let [a, b, _] = &three();
    let other = hold(b);
    let upwards = Hand::waiting(Held::extend(hold(a), b));
    let refused = Hand::new(Held::extend(other, a)).ready().expect_err("it must not wait");
    assert_eq!(refused.why(), Why::Order);
    let again = Hand::waiting(refused.leave_and_enter_all());
    assert_eq!((upwards.wakes(), again.wakes()), (1, 0));
    drop(upwards.ready().expect("it comes later"));
    drop(again.ready());
    assert!(are_free([a, b]));
}

/// The signalled waiter of the whole set waits for this part while it has the other reserved, so
/// the part must not wait in turn.
#[test]
fn a_part_of_a_reserved_set_does_not_wait_for_more() {
    let [a, b, c] = &three();
    let condition = Condition::new();
    let waiter = Hand::waiting(condition.wait(hold_all((a, b))));
    let mut held = hold_all((a, b));
    assert!(condition.signal(&mut held));
    // The whole set waits: no task waits for it with monitors reserved.
    let third = hold(c);
    let extend = Hand::waiting(Held::extend(held, c));
    drop(third);
    let (held, third) = Held::split(extend.ready().expect("it comes later"));
    let (one, other) = Held::split(held);
    drop(other);
    let refused = Hand::new(Held::extend(one, (c,))).ready().expect_err("it must not wait");
    assert_eq!(refused.why(), Why::Reserved);
    let one = refused.into_held();
    let refused = Hand::new(Held::extend(one, b)).ready().expect_err("it is the waiter's");
    assert_eq!(refused.why(), Why::Reserved);
    drop(third);
    let held = Hand::new(Held::extend(refused.into_held(), c)).ready().expect("it is free");
    drop(held);
    drop(waiter.ready());
    assert!(are_free([a, b, c]));
}

/// Rejoined parts are a whole set, as before the split.
#[test]
fn parts_that_are_joined_again_wait_as_a_whole() {
    let [a, b, c] = &three();
    let condition = Condition::new();
    let waiter = Hand::waiting(condition.wait(hold_all((a, b))));
    let mut held = hold_all((a, b));
    assert!(condition.signal(&mut held));
    let (one, other) = Held::split(held);
    let held = Held::join(other, one);
    let third = hold(c);
    let extend = Hand::waiting(Held::extend(held, c));
    drop(third);
    drop(extend.ready().expect("it comes later"));
    drop(waiter.ready());
}

#[test]
fn an_extension_by_what_is_held_already_is_refused() {
    let [a, b, c] = &three();
    let refused = Hand::new(Held::extend(hold_all((a, b)), (c, b))).ready();
    let refused = refused.expect_err("it has one of them");
    assert_eq!(refused.why(), Why::Twice);
    assert!(is_free(c));
    let refused = Held::try_extend(refused.into_held(), a).expect_err("it has it");
    assert_eq!(refused.why(), Why::Twice);
    assert!(!is_free(a) && !is_free(b));
    let twice = AssertUnwindSafe(|| drop(refused.leave_and_enter_all()));
    assert!(catch_unwind(twice).is_err());
    assert!(are_free([a, b, c]));
}

#[test]
fn g2_an_extension_that_is_dropped_leaves_everything() {
    let [a, b, c] = &three();
    // Before its first poll.
    drop(Held::extend(hold(a), b));
    assert!(are_free([a, b]));
    // Queued, half way.
    let third = hold(c);
    let extend = Hand::waiting(Held::extend(hold(a), (b, c)));
    let behind = Hand::waiting(c.enter());
    drop(extend);
    assert!(is_free(a) && is_free(b));
    // Granted, but not polled since.
    let extend = Hand::waiting(Held::extend(hold(a), (b, c)));
    drop(third);
    drop(behind.ready());
    assert_eq!(extend.wakes(), 1);
    assert!(!is_free(c));
    let behind = [a, b, c].map(|monitor| Hand::waiting(monitor.enter()));
    drop(extend);
    behind.into_iter().for_each(|entrant| drop(entrant.ready()));
    assert!(are_free([a, b, c]));
}

/// At the limit the hold comes back as it was, whether or not the rest was granted meanwhile.
#[test]
fn g2_an_extension_that_runs_out_of_time_gives_the_hold_back() {
    let [a, b, _] = &three();
    for granted in [false, true] {
        let (limit, late) = futures::channel::oneshot::channel::<()>();
        let other = hold(b);
        let mut held = hold(a);
        *held = 3;
        let until = async move { late.await.expect("the limit comes") };
        let mut extend = Hand::waiting(Held::extend_until(held, b, until));
        let rest = if granted {
            drop(other);
            None
        } else {
            Some(other)
        };
        limit.send(()).expect("it is waited for");
        match extend.poll().expect("it is over") {
            Ok(held) => {
                assert!(granted);
                assert_eq!(held.values(), (&3, &0));
            }
            Err(refused) => {
                assert!(!granted);
                assert_eq!(refused.why(), Why::Late);
                assert_eq!(*refused.into_held(), 3);
            }
        }
        drop(rest);
        assert!(are_free([a, b]));
    }
}

/// A limit that comes or not, and whose destructor panics: the hold ends with the panic.
#[test]
fn an_extension_whose_limit_panics_when_it_is_dropped_leaves_everything() {
    struct Limit(bool);
    impl Future for Limit {
        type Output = ();
        fn poll(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<()> {
            if self.0 { Poll::Ready(()) } else { Poll::Pending }
        }
    }
    impl Drop for Limit {
        fn drop(&mut self) {
            panic!("it is meant to");
        }
    }
    let [a, b, _] = &three();
    for late in [false, true] {
        let other = hold(b);
        let extend = async { drop(Held::extend_until(hold(a), b, Limit(late)).await) };
        let mut extend = Hand::new(extend);
        let other = if late {
            Some(other)
        } else {
            assert!(extend.poll().is_none());
            drop(other);
            None
        };
        assert!(catch_unwind(AssertUnwindSafe(|| extend.poll())).is_err());
        drop(other);
        assert!(are_free([a, b]));
    }
}

/// An extension has no name.
#[test]
fn c14_an_extension_is_not_accepted() {
    let [a, b, _] = &three();
    let mut acceptor = Hand::waiting(Held::accept(hold(b), [Clause::new(F)]));
    let extend = Hand::waiting(Held::extend(hold(a), b));
    assert!(acceptor.poll().is_none());
    drop(acceptor);
    drop(extend.ready().expect("it comes later"));
}
