//! The order of urgent tasks: they come in batches, the latest batch first.

use super::free::hold;
use crate::common::op::{F, G};
use crate::common::polling::Hand;
use evenkeel::sync::monitor::{Accepted, Clause, Condition, End, Held, Monitor};
use futures::channel::oneshot;
use std::future::ready;

/// One condition for each waiter.
type Plain = Monitor<(), [Condition; 4]>;
type Hold<'a> = Held<&'a Plain>;

fn waiters(monitor: &Plain) -> [Hand<impl Future<Output = Hold<'_>>>; 4] {
    monitor.conditions().each_ref().map(|condition| Hand::waiting(condition.wait(hold(monitor))))
}

fn signal(held: &mut Hold<'_>, which: usize) {
    assert!(Held::set(held).conditions()[which].signal(held));
}

/// A batch consists of a holder's signals between two changes of hands.
#[test]
fn signals_of_one_hold_in_their_order() {
    let monitor = Plain::default();
    let [a, b, c, d] = waiters(&monitor);
    let mut held = hold(&monitor);
    let entrant = Hand::waiting(monitor.enter());
    signal(&mut held, 0);
    signal(&mut held, 1);
    drop(held);
    // The first waiter signals two more, which come before the remaining one.
    let mut held = a.ready();
    signal(&mut held, 2);
    signal(&mut held, 3);
    drop(held);
    drop(c.ready());
    drop(d.ready());
    drop(b.ready());
    drop(entrant.ready());
}

#[test]
fn signals_around_a_signal_that_blocks() {
    let monitor = Plain::default();
    let [a, b, c, d] = waiters(&monitor);
    let entrant = {
        let mut held = hold(&monitor);
        signal(&mut held, 0);
        let entrant = Hand::waiting(monitor.enter());
        let signaller = Hand::waiting(monitor.conditions()[1].signal_block(held));
        let mut held = b.ready();
        signal(&mut held, 2);
        drop(held);
        drop(c.ready());
        let (mut held, signalled) = signaller.ready();
        assert!(signalled);
        // The hold has changed hands, so this is another batch.
        signal(&mut held, 3);
        drop(held);
        entrant
    };
    drop(d.ready());
    drop(a.ready());
    drop(entrant.ready());
}

/// Whether or not the call is already in the queue.
#[test]
fn signals_around_an_accept() {
    for queued in [false, true] {
        let monitor = Plain::default();
        let [a, b, c, d] = waiters(&monitor);
        let mut held = hold(&monitor);
        signal(&mut held, 0);
        let mut call = Hand::new(monitor.enter_as(F));
        if queued {
            assert!(call.poll().is_none());
        }
        let acceptor = Hand::waiting(Held::accept(held, [Clause::new(F)]));
        // The signalled task does not enter while the acceptor waits.
        assert_eq!(a.wakes(), 0);
        let mut held = call.ready();
        let entrant = Hand::waiting(monitor.enter());
        signal(&mut held, 1);
        signal(&mut held, 2);
        drop(held);
        drop(b.ready());
        assert_eq!(acceptor.wakes(), 0);
        drop(c.ready());
        let (mut held, accepted) = acceptor.ready();
        assert_eq!(accepted, Accepted::Call(0));
        signal(&mut held, 3);
        drop(held);
        drop(d.ready());
        drop(a.ready());
        drop(entrant.ready());
    }
}

/// An accept that admits no call does not change hands.
#[test]
fn signals_around_an_accept_without_a_call() {
    let monitor = Plain::default();
    let [a, b, c, d] = waiters(&monitor);
    let mut held = hold(&monitor);
    signal(&mut held, 0);
    let clauses = [Clause::new(F)];
    let (mut held, accepted) = Hand::new(Held::accept_or_else(held, clauses)).ready();
    assert_eq!(accepted, Accepted::Else);
    signal(&mut held, 1);
    let timeout = Hand::new(Held::accept_until(held, clauses, ready(())));
    let (mut held, accepted) = timeout.ready();
    assert_eq!(accepted, Accepted::Timeout);
    signal(&mut held, 2);
    let (end, ended) = oneshot::channel::<()>();
    let mut waits = Hand::waiting(Held::accept_until(held, clauses, async { _ = ended.await }));
    drop(end);
    let (mut held, accepted) = waits.poll().expect("its time is over");
    assert_eq!(accepted, Accepted::Timeout);
    signal(&mut held, 3);
    drop(held);
    for waiter in [a, b, c, d] {
        drop(waiter.ready());
    }
}

/// Nested: the inner acceptor goes on before the outer one, and each before the tasks that it
/// signalled earlier.
#[test]
fn signals_around_nested_accepts() {
    let monitor = Plain::default();
    let [a, b, c, d] = waiters(&monitor);
    let mut held = hold(&monitor);
    signal(&mut held, 0);
    let outer = Hand::waiting(Held::accept(held, [Clause::new(F)]));
    let mut held = Hand::new(monitor.enter_as(F)).ready();
    signal(&mut held, 1);
    let inner = Hand::waiting(Held::accept(held, [Clause::new(G)]));
    let mut held = Hand::new(monitor.enter_as(G)).ready();
    signal(&mut held, 2);
    drop(held);
    drop(c.ready());
    drop(inner.ready().0);
    drop(b.ready());
    let (mut held, _) = outer.ready();
    signal(&mut held, 3);
    drop(held);
    drop(d.ready());
    drop(a.ready());
}

/// The end comes after all urgent tasks, whenever it is accepted, and before entrants.
#[test]
fn the_end_comes_last() {
    let monitor = Plain::default();
    let [a, b, ..] = waiters(&monitor);
    let mut held = hold(&monitor);
    let entrant = Hand::waiting(monitor.enter());
    let end = Hand::waiting(monitor.end());
    signal(&mut held, 0);
    let (mut held, accepted) = Hand::new(Held::accept(held, [Clause::new(End)])).ready();
    assert_eq!(accepted, Accepted::Call(0));
    signal(&mut held, 1);
    drop(held);
    drop(a.ready());
    drop(b.ready());
    assert_eq!(entrant.wakes(), 0);
    drop(end.ready());
    drop(entrant.ready());
}
