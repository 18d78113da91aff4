//! Accept statements: which call comes next, and when the acceptor goes on.
//!
//! These cases cannot be written: clauses on different parts of the held set (C13), because a
//! clause names no set; joins by destructors (C15 to C18 accept the end of the object instead:
//! here, and in `server.rs`). Time limits are also in `time.rs`.

use super::free::hold;
use crate::buffer::{self, Buffer, SIZE};
use crate::common::op::{F, G, Op};
use crate::common::polling::Hand;
use crate::common::watchdog::watchdog;
use crate::common::weather::{in_all_weathers, join};
use evenkeel::accept;
use evenkeel::sync::monitor::{Accepted, Clause, Condition, End, Held, Monitor, call, lock_all};
use evenkeel::yield_now;
use evenkeel_policy::random::Random;
use futures::channel::oneshot;
use std::future::{pending, ready};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

type Plain = Monitor<u32, Condition>;

/// Between accept and call, and between call and acceptor, no other task is inside.
#[test]
fn c1_no_task_barges_in() {
    const ROUNDS: u32 = 2_000;
    const BARGED: u32 = u32::MAX;
    let _watchdog = watchdog();
    in_all_weathers(|runtime, weather| {
        let world = Arc::new((Plain::default(), AtomicBool::new(false)));
        let mut held = hold(&world.0);
        *held = 0;
        drop(held);
        let acceptor = {
            let world = world.clone();
            runtime.spawn(async move {
                let mut held = world.0.enter().await;
                for round in 1..=ROUNDS {
                    *held = 2 * round;
                    assert_eq!(accept!(held; F => { *held }), Some(2 * round + 1), "{round}");
                }
                world.1.store(true, Ordering::Release);
            })
        };
        let others: Vec<_> = (0..16)
            .map(|task| {
                let world = world.clone();
                runtime.spawn(async move {
                    let mut random = Random::new(task);
                    while !world.1.load(Ordering::Acquire) {
                        if task < 7 {
                            let mut held = world.0.enter_as(F).await;
                            let was = *held;
                            weather.pass(&mut random).await;
                            *held = was.wrapping_add(1);
                        } else {
                            *world.0.enter().await = BARGED;
                        }
                        yield_now().await;
                    }
                })
            })
            .collect();
        join(runtime, [acceptor]);
        join(runtime, others);
    });
}

/// Queued callers of a closed clause stay in the queue.
#[test]
fn c2_closed_clauses() {
    let monitor = Plain::default();
    let held = hold(&monitor);
    let mut callers: Vec<_> =
        (0..6).rev().map(|op| Hand::waiting(monitor.enter_as(Op(op)))).collect();
    let mut held = Some(held);
    for wanted in 0..6 {
        let clauses = [0, 1, 2, 3, 4, 5].map(|op| Clause::new(Op(op)).when(op == wanted));
        let mut acceptor = Hand::waiting(Held::accept(held.take().expect("it is back"), clauses));
        let caller = callers.pop().expect("one for each");
        assert!(callers.iter().all(|caller| caller.wakes() == 0));
        drop(caller.ready());
        let (back, accepted) = acceptor.poll().expect("the call is over");
        assert_eq!(accepted, Accepted::Call(wanted as usize));
        held = Some(back);
    }
}

/// Each clause's block runs for its calls and for no others; none is lost.
#[test]
fn c3_blocks_go_with_calls() {
    const CALLS: usize = 500;
    let _watchdog = watchdog();
    in_all_weathers(|runtime, weather| {
        let monitor = Arc::new(Plain::default());
        let server = {
            let monitor = monitor.clone();
            runtime.spawn(async move {
                let mut held = monitor.enter().await;
                let mut blocks = [0; 3];
                for _ in 0..3 * CALLS {
                    let called = accept!(held; Op(0) => { 0 }; Op(1) => { 1 }; Op(2) => { 2 });
                    let called = called.expect("a call has been made");
                    assert_eq!(*held, called);
                    blocks[called as usize] += 1;
                }
                blocks
            })
        };
        // The server is inside first.
        while monitor.try_enter().is_some() {}
        let callers: Vec<_> = (0..3)
            .map(|op| {
                let monitor = monitor.clone();
                runtime.spawn(async move {
                    let mut random = Random::new(u64::from(op));
                    for _ in 0..CALLS {
                        *monitor.enter_as(Op(op)).await = op;
                        weather.pass(&mut random).await;
                    }
                })
            })
            .collect();
        join(runtime, callers);
        assert_eq!(join(runtime, [server]), [[CALLS; 3]]);
    });
}

#[test]
fn c4_the_order_of_clauses_is_their_priority() {
    let monitor = Plain::default();
    let mut held = Some(hold(&monitor));
    let mut gs: Vec<_> = (0..10).map(|_| Hand::waiting(monitor.enter_as(G))).collect();
    let mut fs: Vec<_> = (0..10).map(|_| Hand::waiting(monitor.enter_as(F))).collect();
    for round in 0..20 {
        let clauses = if round < 5 { [F, G] } else { [G, F] }.map(Clause::new);
        let mut acceptor = Hand::waiting(Held::accept(held.take().expect("it is back"), clauses));
        let queue = if !(5..15).contains(&round) { &mut fs } else { &mut gs };
        drop(queue.remove(0).ready());
        held = acceptor.poll().map(|(held, _)| held);
    }
    // H3: one clause for either takes the earlier caller.
    let caller = Hand::waiting(monitor.enter_as(G));
    let held = held.expect("it is back");
    let acceptor = Hand::waiting(Held::accept(held, [Clause::new(F).or(G)]));
    drop(caller.ready());
    assert_eq!(acceptor.ready().1, Accepted::Call(0));
}

/// C5 to C8, H5: an accept without a call.
#[test]
fn c5_else_and_closed_clauses() {
    let monitor = Plain::default();
    let statement = async {
        let mut held = monitor.enter().await;
        let _ = *held;
        let one = accept!(held; F => { 1 }; else => { 2 });
        let open = accept!(held; F, if true => { 1 }; else => { 2 });
        let closed = accept!(held; F, if false => { 1 }; else => { 2 });
        let nothing = accept!(held; F, if false => { 1 });
        let time = accept!(held; F, if false => { 1 }; timeout pending::<()>() => { 3 });
        drop(held);
        (one, open, closed, nothing, time)
    };
    let wanted = (Some(2), Some(2), Some(2), None, None);
    assert_eq!(Hand::new(statement).ready(), wanted);
}

/// C6 to C8 with a guard before `else`: a false guard is as no `else`. Also H4.
#[test]
fn c8_else_with_a_guard() {
    let monitor = Plain::default();
    let mut server = Hand::new(async {
        let mut held = monitor.enter().await;
        let values = [
            accept!(held; F, if false => { 1 }; else, if *held == 0 => { 2 }),
            accept!(held; F, if false => { 1 }; else, if *held > 0 => { 2 }),
            accept!(held; F => { 1 }; timeout pending::<()>() => { 3 }; else, if true => { 2 }),
            accept!(held; F => { 1 }; timeout pending::<()>() => { 3 }; else => { 2 }),
            accept!(held; F => { 1 }; timeout ready(()) => { 3 }; else, if *held > 0 => { 2 };),
            accept!(held; F => { 1 }; broken => { 7 }; else, if *held > 0 => { 2 };),
        ];
        drop(held);
        values
    });
    assert!(server.poll().is_none());
    drop(Hand::new(monitor.enter_as(F)).ready());
    assert_eq!(server.ready(), [Some(2), None, Some(2), Some(2), Some(3), Some(1)]);
}

/// H3: a clause for several operations takes the earliest call, and clauses still go by their
/// order.
#[test]
fn h3_a_clause_for_several_operations() {
    let monitor = Plain::default();
    let held = hold(&monitor);
    let callers = [Op(2), G, F].map(|op| Hand::waiting(monitor.enter_as(op)));
    let mut server = Hand::new(async {
        let mut held = held;
        let mut values = Vec::new();
        for _ in 0..3 {
            let value = accept!(held;
                [Op(2)], if false => { 1 };
                [F, G], if true => { 2 };
                [Op(2), Op(3),] => { 3 };
                else => { 9 });
            values.push(value);
        }
        drop(held);
        values
    });
    let [last, first, second] = callers;
    for caller in [first, second, last] {
        assert!(server.poll().is_none());
        drop(caller.ready());
    }
    assert_eq!(server.ready(), [Some(2), Some(2), Some(3)]);
}

#[test]
fn c10_a_call_from_the_middle_of_the_queue() {
    let monitor = Plain::default();
    let held = hold(&monitor);
    let first = Hand::waiting(monitor.enter());
    let second = Hand::waiting(monitor.enter_as(G));
    let called = Hand::waiting(monitor.enter_as(F));
    let last = Hand::waiting(monitor.enter());
    let acceptor = Hand::waiting(Held::accept(held, [Clause::new(F)]));
    drop(called.ready());
    drop(acceptor.ready());
    drop(first.ready());
    drop(second.ready());
    drop(last.ready());
}

#[test]
fn c12_calls_of_the_same_set() {
    for queued in [false, true] {
        let (one, two) = (Plain::default(), Plain::default());
        let held = Hand::new(lock_all((&one, &two))).ready();
        let clauses = [Clause::new(F)];
        let body = async |_held: Held<(&Plain, &Plain)>| ();
        let mut call = Hand::new(call((&two, &one), F, body));
        let acceptor = if queued {
            assert!(call.poll().is_none());
            Hand::waiting(Held::accept(held, clauses))
        } else {
            Hand::waiting(Held::accept(held, clauses))
        };
        // Not the same set.
        let part = [&one, &two].map(|monitor| Hand::waiting(monitor.enter_as(F)));
        assert!(call.poll().is_some());
        let (held, accepted) = acceptor.ready();
        assert_eq!(accepted, Accepted::Call(0));
        drop(held);
        for part in part {
            drop(part.ready());
        }
    }
}

#[test]
fn c14_an_entry_without_a_name_is_not_accepted() {
    let monitor = Plain::default();
    let mut acceptor = Hand::waiting(Held::accept(hold(&monitor), [Clause::new(F)]));
    let entrant = Hand::waiting(monitor.enter());
    assert!(acceptor.poll().is_none() && monitor.try_enter().is_none());
    drop(acceptor);
    drop(entrant.ready());
}

/// Whether or not a caller already waits for it.
#[test]
fn c15_the_end_comes_last() {
    for queued in [false, true] {
        let monitor = Plain::default();
        let held = hold(&monitor);
        let mut end = Hand::new(monitor.end());
        let mut acceptor = Hand::new(Held::accept(held, [Clause::new(End), Clause::new(F)]));
        let entrant = if queued {
            assert!(end.poll().is_none());
            Hand::waiting(monitor.enter())
        } else {
            assert!(acceptor.poll().is_none());
            let entrant = Hand::waiting(monitor.enter());
            assert!(end.poll().is_none());
            entrant
        };
        let (held, accepted) = acceptor.poll().expect("the acceptor goes on first");
        assert_eq!((accepted, end.wakes()), (Accepted::Call(0), 0));
        drop(held);
        assert_eq!((end.wakes(), entrant.wakes()), (1, 0));
        drop(end.ready());
        drop(entrant.ready());
        drop(hold(&monitor));
    }
}

/// A busy server with an `else`.
#[test]
fn c16_a_server() {
    const CALLS: u32 = 100;
    let _watchdog = watchdog();
    in_all_weathers(|runtime, weather| {
        let monitor = Arc::new(Plain::default());
        let server = {
            let monitor = monitor.clone();
            runtime.spawn(async move {
                let mut held = monitor.enter().await;
                loop {
                    accept!(held; End => { break }; F => {}; else => { yield_now().await });
                }
                *held += 1_000_000;
            })
        };
        while monitor.try_enter().is_some() {}
        let callers: Vec<_> = (0..17)
            .map(|task| {
                let monitor = monitor.clone();
                runtime.spawn(async move {
                    let mut random = Random::new(task);
                    for _ in 0..CALLS {
                        monitor.call(F, async |mut held| *held += 1).await;
                        weather.pass(&mut random).await;
                    }
                })
            })
            .collect();
        join(runtime, callers);
        let total = runtime.block_on(async { *monitor.end().await });
        assert_eq!(total, 1_000_000 + 17 * CALLS);
        join(runtime, [server]);
    });
}

/// Also H2.
#[test]
fn c19_the_acceptor_goes_on_when_the_call_waits() {
    let monitor = Plain::default();
    let acceptor = Hand::waiting(Held::accept(hold(&monitor), [Clause::new(F)]));
    let entrant = Hand::waiting(monitor.enter());
    let mut call =
        Hand::waiting(monitor.call(F, async |held| drop(monitor.conditions().wait(held).await)));
    assert_eq!(entrant.wakes(), 0);
    let (mut held, accepted) = acceptor.ready();
    assert_eq!(accepted, Accepted::Call(0));
    assert!(monitor.conditions().signal(&mut held));
    drop(held);
    assert!(call.poll().is_some());
    drop(entrant.ready());
}

/// Nested accepts end in the opposite order. C20 and H1 are `g7_...` of `cancel.rs`.
#[test]
fn c9_nested_accepts() {
    let monitor = Plain::default();
    let outer = Hand::waiting(Held::accept(hold(&monitor), [Clause::new(F)]));
    let held = Hand::new(monitor.enter_as(F)).ready();
    let inner = Hand::waiting(Held::accept(held, [Clause::new(G)]));
    let not_now = Hand::waiting(monitor.enter_as(F));
    drop(Hand::new(monitor.enter_as(G)).ready());
    assert_eq!((inner.wakes(), outer.wakes()), (1, 0));
    drop(inner.ready());
    drop(outer.ready());
    drop(not_now.ready());
}

#[derive(Default)]
struct Accepting(Monitor<Vec<i64>>);

impl Buffer for Accepting {
    async fn put(&self, item: i64) {
        let mut held = self.0.enter_as(F).await;
        if held.len() == SIZE {
            accept!(held; G => {});
        }
        assert!(held.len() < SIZE);
        held.push(item);
    }

    async fn take(&self) -> i64 {
        let mut held = self.0.enter_as(G).await;
        if held.is_empty() {
            accept!(held; F => {});
        }
        held.remove(0)
    }
}

#[test]
fn c21_bounded_buffer() {
    let _watchdog = watchdog();
    buffer::carries_all::<Accepting>(5_000);
}

/// Exactly one of both happens, and a call that has come is not given up.
#[test]
fn c23_time_and_calls() {
    let monitor = Plain::default();
    let clauses = [Clause::new(F)];
    let accept = Held::accept_until(hold(&monitor), clauses, ready(()));
    assert_eq!(Hand::new(accept).ready().1, Accepted::Timeout);
    let (end, ended) = oneshot::channel::<()>();
    let until = async { _ = ended.await };
    let mut acceptor = Hand::waiting(Held::accept_until(hold(&monitor), clauses, until));
    let held = Hand::new(monitor.enter_as(F)).ready();
    drop(end);
    // The time is over, and is not polled again.
    assert!(acceptor.poll().is_none() && acceptor.poll().is_none());
    drop(held);
    assert_eq!(acceptor.ready().1, Accepted::Call(0));
    // After the time no call is accepted.
    let (end, ended) = oneshot::channel::<()>();
    let until = async { _ = ended.await };
    let mut acceptor = Hand::waiting(Held::accept_until(hold(&monitor), clauses, until));
    drop(end);
    let (held, accepted) = acceptor.poll().expect("the time is over");
    assert_eq!(accepted, Accepted::Timeout);
    let caller = Hand::waiting(monitor.enter_as(F));
    drop(held);
    drop(caller.ready());
}

/// The macro's syntax: every mixture of guards, blocks and ends, with variables named like its
/// keywords.
#[test]
fn c22_syntax() {
    let monitor = Plain::default();
    let statements = async {
        let mut held = monitor.enter().await;
        let (timeout, broken, or) = (ready(()), false, true);
        let mut values = vec![
            accept!(held; F => { 1 }; else => { 9 }),
            accept!(held; F => { 1 }; G => { 2 }; else => { 9 };),
            accept!(held; F, if or => { 1 }; G, if !or => { 2 }; else => { 9 }),
            accept!(held; F => { 1 }; timeout timeout => { 8 }),
            accept!(held; F => { 1 }; broken => { 7 }; timeout ready(()) => { 8 };),
            accept!(held; F => { 1 }; broken => { 7 }; else => { 9 }),
            accept!(held; Op(2), if broken => { 1 }; broken => { 7 }),
            accept!(held; Op(1 + 1), if broken => { 1 }; End, if broken => { 2 };),
        ];
        for round in 0.. {
            // A block may leave the loop around it.
            accept!(held; F, if round > 9 => {}; else => { if round == 3 { break } });
            values.push(Some(round));
        }
        drop(held);
        values
    };
    let values = Hand::new(statements).ready();
    let wanted = [Some(9), Some(9), Some(9), Some(8), Some(8), Some(9), None, None];
    assert_eq!(values[..8], wanted);
    assert_eq!(values[8..], [Some(0), Some(1), Some(2)]);
}

#[test]
fn c20_a_broken_call_has_its_block() {
    let monitor = Plain::default();
    let mut server = Hand::new(async {
        let mut held = monitor.enter().await;
        let with = accept!(held; F => { 1 }; broken => { 7 });
        let without = accept!(held; F => { 1 });
        drop(held);
        (with, without)
    });
    assert!(server.poll().is_none());
    drop(Hand::waiting(monitor.call(F, async |_held| pending::<()>().await)));
    assert!(server.poll().is_none());
    drop(Hand::waiting(monitor.call(F, async |_held| pending::<()>().await)));
    assert_eq!(server.ready(), (Some(7), None));
}

/// No operation may use the number of the end.
#[test]
fn numbers_of_operations_are_below_63() {
    let monitor = Monitor::new(0_u32);
    drop(Hand::new(monitor.enter_as(Op(62))).ready());
    for number in [63, 64, u32::MAX - 1] {
        let enter = || drop(monitor.enter_as(Op(number)));
        let refused = [
            catch_unwind(AssertUnwindSafe(enter)).err(),
            catch_unwind(|| Clause::new(Op(number))).err(),
            catch_unwind(|| Clause::new(Op(0)).or(Op(number))).err(),
        ];
        for refused in refused {
            let panic = refused.expect("it is out of range");
            let message = panic.downcast_ref::<String>().expect("it has a message");
            assert_eq!(*message, format!("an entry has the number {number}: use 0 to 62"));
        }
    }
    assert!(monitor.try_enter().is_some(), "no task is inside");
}

#[test]
fn the_callers_names_do_not_change_what_accept_returns() {
    #[expect(dead_code, reason = "their names stand in the way")]
    enum Level {
        None,
        Some(u8),
    }
    #[allow(unused_imports, reason = "accept! does not use them")]
    use Level::{None, Some};
    let value: Option<u8> = evenkeel::block_on(async {
        let monitor = Monitor::new(0);
        let mut held = monitor.enter().await;
        accept!(held; End => { 3 }; else => { 4 })
    });
    assert!(value.is_some_and(|value| value == 4));
}
