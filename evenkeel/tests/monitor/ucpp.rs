//! The statements of µC++'s reference manual on mutex objects. The names are those of
//! `tests/conformance.rs`.

use super::free::hold;
use crate::common::op::{F, G};
use crate::common::polling::Hand;
use crate::common::watchdog::watchdog;
use evenkeel::accept;
use evenkeel::sync::monitor::{Accepted, Clause, Condition, Held, Monitor, Set};
use evenkeel::{Builder, spawn};
use std::future::{pending, poll_fn, ready};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::task::Poll;

type Plain = Monitor<u32, Condition>;

fn unwind(future: &mut Hand<impl Future>) {
    assert!(catch_unwind(AssertUnwindSafe(|| _ = future.poll())).is_err());
}

/// Unless the call has left before: then its acceptor has gone on, and the panic concerns only the
/// caller.
#[test]
fn h1_a_call_that_unwinds_breaks_its_rendezvous() {
    let monitor = Plain::default();
    let acceptor = || Hand::waiting(Held::accept(hold(&monitor), [Clause::new(F)]));
    let outcome = |acceptor: Hand<_>| -> Accepted {
        let (_, accepted): (Held<&Plain>, _) = acceptor.ready();
        accepted
    };
    let waits = acceptor();
    unwind(&mut Hand::new(monitor.call(F, async |_held| resume_unwind(Box::new(())))));
    assert_eq!(outcome(waits), Accepted::Broken(0));
    let waits = acceptor();
    unwind(&mut Hand::new(monitor.call(F, async |held| {
        drop(held);
        resume_unwind(Box::new(()))
    })));
    assert_eq!(outcome(waits), Accepted::Call(0));
}

/// Clauses go from top to bottom. Within a clause of several operations the earliest call is first,
/// where µC++ goes from left to right.
#[test]
fn h3_several_operations_in_a_clause() {
    let monitor = Plain::default();
    let held = hold(&monitor);
    let [g, f] = [G, F].map(|op| Hand::waiting(monitor.enter_as(op)));
    let either = [Clause::new(F).or(G)];
    let waits = Hand::waiting(Held::accept(held, either));
    assert_eq!((g.wakes(), f.wakes()), (1, 0));
    drop(g.ready());
    let (held, accepted) = waits.ready();
    assert_eq!(accepted, Accepted::Call(0));
    let g = Hand::waiting(monitor.enter_as(G));
    let waits = Hand::waiting(Held::accept(held, [Clause::new(G), Clause::new(F).or(G)]));
    assert_eq!((g.wakes(), f.wakes()), (1, 0));
    drop(g.ready());
    assert_eq!(waits.ready().1, Accepted::Call(0));
    drop(f.ready());
}

/// A timeout, or an `else`, comes last, and a statement has one of both: an `else` would leave a
/// timeout no time. A waiting call comes before either.
#[test]
fn h4_timeout_and_else() {
    let monitor = Plain::default();
    let mut server = Hand::new(async {
        let mut held = monitor.enter().await;
        let late = accept!(held; F => { 1 }; timeout ready(()) => { 2 });
        let alone = accept!(held; F => { 1 }; else => { 3 });
        // A call comes.
        let mut turns = 0;
        poll_fn(|context| {
            turns += 1;
            context.waker().wake_by_ref();
            if turns > 1 { Poll::Ready(()) } else { Poll::Pending }
        })
        .await;
        let called = accept!(held; F => { 1 }; timeout ready(()) => { 2 });
        let before = accept!(held; F => { 1 }; else => { 3 });
        drop(held);
        [late, alone, called, before]
    });
    assert!(server.poll().is_none());
    let mut callers = [F, F].map(|op| Hand::waiting(monitor.enter_as(op)));
    assert!(server.poll().is_none());
    for caller in &mut callers {
        drop(caller.poll().expect("it is accepted"));
        if let Some(values) = server.poll() {
            assert_eq!(values, [Some(2), Some(3), Some(1), Some(1)]);
            return;
        }
    }
    panic!("both calls have been accepted");
}

/// An error in µC++; here a hold is a value, and each is left separately.
#[test]
fn h8_holds_are_left_in_any_order() {
    let monitors: [Plain; 3] = Default::default();
    let is_free = |index: usize| monitors[index].try_enter().is_some();
    let mut holds: Vec<_> = monitors.iter().map(|one| Some(hold(one))).collect();
    for (round, index) in [1, 0, 2].into_iter().enumerate() {
        holds[index] = None;
        assert_eq!((0..3).filter(|&index| is_free(index)).count(), round + 1);
    }
}

/// An error in µC++; here those tasks are dropped where they wait, and their joiners learn of it.
#[test]
fn h9_a_runtime_ends_before_its_tasks() {
    let _watchdog = watchdog();
    for workers in [1, 2, 4] {
        let runtime = Builder::new().workers(workers).build().expect("the runtime starts");
        let monitor = Arc::new(Plain::default());
        let tasks: Vec<_> = runtime.block_on(async {
            let held = monitor.enter().await;
            let waiters = (0..4).map(|_| {
                let monitor = monitor.clone();
                spawn(async move {
                    let held = monitor.enter().await;
                    drop(monitor.conditions().wait(held).await);
                })
            });
            let inside = spawn({
                let monitor = monitor.clone();
                async move {
                    let _held = monitor.enter().await;
                    pending::<()>().await;
                }
            });
            let tasks = waiters.chain([inside]).collect();
            drop(held);
            tasks
        });
        drop(runtime);
        for task in tasks {
            assert!(evenkeel::block_on(task).unwrap_err().is_cancelled());
        }
        assert!(monitor.try_enter().is_some(), "what has been inside has left");
    }
}

/// A hold of any kind of set carries the identity of that set.
#[test]
fn h6_a_condition_belongs_to_the_object_of_its_first_wait() {
    let (one, other) = (Plain::default(), Plain::default());
    let waits = Hand::waiting(one.conditions().wait(hold(&one)));
    fn signal<S: Set>(condition: &Condition, held: &mut Held<S>) -> Option<bool> {
        catch_unwind(AssertUnwindSafe(|| condition.signal(held))).ok()
    }
    assert_eq!(signal(one.conditions(), &mut hold(&other)), None);
    assert_eq!(signal(one.conditions(), &mut hold(&one)), Some(true));
    drop(waits.ready());
    // It stays so after that.
    assert_eq!(signal(one.conditions(), &mut hold(&other)), None);
    assert_eq!(signal(one.conditions(), &mut hold(&one)), Some(false));
}
