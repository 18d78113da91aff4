//! Sets of monitors under shuttle: bulk entries, waits and accepts of tasks with overlapping sets,
//! with futures that are dropped on the way.
//!
//! A lost grant, signal or wake-up shows as a deadlock; two tasks inside one monitor as a failed
//! assertion.

use super::{Accepted, Clause, Condition, Entry, Held, Monitor, Set, call, lock_all, try_lock_all};
use crate::processor::shared::Shared;
use crate::scheduler::shuttle_tests::{check, join, spawn};
use crate::task::yield_now;
use shuttle::rand::{Rng, thread_rng};
use shuttle::thread;
use std::future::poll_fn;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::task::Poll;

#[derive(Clone, Copy)]
struct Call;

impl Entry for Call {
    fn number(self) -> u32 {
        0
    }
}

/// Four monitors, by address, and which of them are held.
#[derive(Default)]
struct World {
    monitors: [Monitor<()>; 4],
    busy: [AtomicBool; 4],
    entries: AtomicUsize,
    condition: Condition,
    other: Condition,
}

/// A task is inside some of the monitors.
struct Inside<'a>(&'a World, &'a [usize]);

impl<'a> Inside<'a> {
    fn new(world: &'a World, set: &'a [usize]) -> Self {
        for &one in set {
            assert!(!world.busy[one].swap(true, Ordering::Relaxed), "two are inside");
        }
        world.entries.fetch_add(1, Ordering::Relaxed);
        Self(world, set)
    }
}

impl Drop for Inside<'_> {
    fn drop(&mut self) {
        for &one in self.1 {
            self.0.busy[one].store(false, Ordering::Relaxed);
        }
    }
}

impl World {
    fn set<const N: usize>(&self, set: [usize; N]) -> [&Monitor<()>; N] {
        set.map(|one| &self.monitors[one])
    }

    /// Stays inside for a while, and returns the hold.
    async fn stay<S: Set>(&self, held: Held<S>, set: &[usize]) -> Held<S> {
        let inside = Inside::new(self, set);
        yield_now().await;
        drop(inside);
        held
    }

    async fn visit<const N: usize>(&self, set: [usize; N]) {
        drop(self.stay(lock_all(self.set(set)).await, &set).await);
    }

    /// Calls with a pair of monitors, and stays for a while.
    async fn call(&self, set: [usize; 2]) {
        let body = |held| self.stay_and_leave(held, &[0, 1]);
        call(self.set(set), Call, body).await;
    }

    async fn stay_and_leave<S: Set>(&self, held: Held<S>, set: &[usize]) {
        drop(self.stay(held, set).await);
    }

    fn are_free(&self) -> bool {
        try_lock_all(self.set([0, 1, 2, 3])).is_some()
    }
}

/// Polls a future at most `polls` times, without waiting for a wake-up, and drops it.
async fn give_up<F: Future>(polls: usize, future: F) -> Option<F::Output> {
    let (mut future, mut left) = (Box::pin(future), polls);
    let poll = |context: &mut std::task::Context<'_>| {
        if left == 0 {
            return Poll::Ready(None);
        }
        left -= 1;
        match future.as_mut().poll(context) {
            Poll::Ready(output) => Poll::Ready(Some(output)),
            Poll::Pending => {
                context.waker().wake_by_ref();
                Poll::Pending
            }
        }
    };
    poll_fn(poll).await
}

/// Lets other tasks go on, also in a schedule by priorities, which would otherwise run only this
/// worker.
async fn pause() {
    thread::yield_now();
    yield_now().await;
}

/// Ready after `polls` polls, without waiting for a wake-up.
async fn count_down(polls: usize) {
    for _ in 0..polls {
        yield_now().await;
    }
}

fn some_polls() -> usize {
    thread_rng().gen_range(0..4)
}

/// Spawns the body with the world.
macro_rules! task {
    ($shared:expr, |$world:ident| $body:expr) => {{
        let world = $world.clone();
        spawn($shared, async move {
            let $world = &*world;
            $body
        })
    }};
}

// After the macro, which it uses.
mod parts;

fn with_world(shared: &Arc<Shared>, run: impl FnOnce(&Arc<Shared>, &Arc<World>)) {
    let world = Arc::new(World::default());
    run(shared, &world);
    assert!(world.are_free(), "all tasks have left");
}

#[test]
fn sets_that_overlap_are_entered_in_any_order() {
    check(2, |shared| {
        with_world(shared, |shared, world| {
            let tasks = [
                task!(shared, |world| for _ in 0..2 {
                    world.visit([1, 0]).await;
                }),
                task!(shared, |world| for _ in 0..2 {
                    world.visit([1, 2]).await;
                }),
                task!(shared, |world| for _ in 0..2 {
                    world.visit([3, 2, 0]).await;
                }),
            ];
            tasks.into_iter().for_each(join);
            assert_eq!(world.entries.load(Ordering::Relaxed), 6);
        });
    });
}

/// An entry that is dropped half way may hold the first part of its set.
#[test]
fn entries_that_are_dropped_half_way_leave_what_they_have() {
    check(2, |shared| {
        with_world(shared, |shared, world| {
            let tasks = [
                task!(shared, |world| {
                    give_up(some_polls(), world.visit([0, 1])).await;
                    world.visit([0, 1]).await;
                }),
                task!(shared, |world| {
                    give_up(some_polls(), world.visit([2, 1])).await;
                    world.visit([1, 2]).await;
                }),
                task!(shared, |world| {
                    give_up(some_polls(), world.visit([0, 2, 3])).await;
                    world.visit([0]).await;
                }),
            ];
            tasks.into_iter().for_each(join);
        });
    });
}

/// One condition of {0, 1}, one of {1, 2}, and an entrant of 1 alone.
#[test]
fn waits_and_signals_of_sets_that_overlap() {
    check(2, |shared| {
        with_world(shared, |shared, world| {
            let waits = [
                task!(shared, |world| {
                    let held = lock_all(world.set([0, 1])).await;
                    drop(world.stay(world.condition.wait(held).await, &[0, 1]).await);
                }),
                task!(shared, |world| {
                    let held = lock_all(world.set([1, 2])).await;
                    drop(world.stay(world.other.wait(held).await, &[1, 2]).await);
                }),
            ];
            let barger = task!(shared, |world| world.visit([1]).await);
            let signals = [
                task!(shared, |world| loop {
                    let mut held = lock_all(world.set([0, 1])).await;
                    if world.condition.signal(&mut held) {
                        drop(world.stay(held, &[0, 1]).await);
                        break;
                    }
                    drop(held);
                    pause().await;
                }),
                task!(shared, |world| loop {
                    let held = lock_all(world.set([2, 1])).await;
                    let (held, some) = world.other.signal_block(held).await;
                    if some {
                        drop(world.stay(held, &[1, 2]).await);
                        break;
                    }
                    drop(held);
                    pause().await;
                }),
            ];
            waits.into_iter().chain(signals).chain([barger]).for_each(join);
        });
    });
}

/// One signal, once the patient task waits: that task gets it, unless the impatient one has had it.
#[test]
fn waits_in_sets_are_dropped_beside_their_signal() {
    check(2, |shared| {
        with_world(shared, |shared, world| {
            let impatient = task!(shared, |world| {
                let held = lock_all(world.set([0, 1])).await;
                let mut has_had_it = false;
                let wait = async {
                    let held = world.condition.wait(held).await;
                    has_had_it = true;
                    drop(world.stay(held, &[0, 1]).await);
                };
                give_up(some_polls(), wait).await;
                has_had_it
            });
            let patient = task!(shared, |world| {
                let held = lock_all(world.set([0, 1])).await;
                world.entries.fetch_add(1, Ordering::Relaxed);
                drop(world.stay(world.condition.wait(held).await, &[0, 1]).await);
            });
            let barger = task!(shared, |world| drop(lock_all(world.set([1, 2])).await));
            let signal = || {
                task!(shared, |world| loop {
                    let mut held = lock_all(world.set([0, 1])).await;
                    if world.entries.load(Ordering::Relaxed) > 0 {
                        assert!(world.condition.signal(&mut held), "the patient task waits");
                        break;
                    }
                    drop(held);
                    pause().await;
                })
            };
            join(signal());
            if join(impatient) && !patient.is_finished() {
                join(signal());
            }
            join(patient);
            join(barger);
        });
    });
}

/// A call is dropped, queued or inside, beside calls that stay: the acceptor gets one of them.
#[test]
fn calls_of_a_set_are_dropped_beside_their_acceptor() {
    check(2, |shared| {
        with_world(shared, |shared, world| {
            let acceptor = task!(shared, |world| {
                let held = lock_all(world.set([0, 1])).await;
                let (held, accepted) = Held::accept(held, [Clause::new(Call)]).await;
                assert!(matches!(accepted, Accepted::Call(0) | Accepted::Broken(0)));
                drop(world.stay(held, &[0, 1]).await);
            });
            let dropped = task!(shared, |world| {
                give_up(some_polls(), world.call([1, 0])).await;
            });
            let barger = task!(shared, |world| world.visit([1, 2]).await);
            join(dropped);
            // Calls until the acceptor has had one.
            while !acceptor.is_finished() {
                join(task!(shared, |world| {
                    world.call([0, 1]).await;
                    pause().await;
                }));
            }
            join(acceptor);
            join(barger);
        });
    });
}

/// An acceptor of a set that gives up, while it waits for a call or while the call is inside,
/// blocks no other task.
#[test]
fn acceptors_of_a_set_are_dropped_beside_their_call() {
    check(2, |shared| {
        with_world(shared, |shared, world| {
            let acceptor = task!(shared, |world| {
                let held = lock_all(world.set([0, 1])).await;
                let accept = async {
                    let (held, accepted) = Held::accept(held, [Clause::new(Call)]).await;
                    assert_eq!(accepted, Accepted::Call(0));
                    drop(world.stay(held, &[0, 1]).await);
                };
                give_up(1 + some_polls(), accept).await;
            });
            let caller = task!(shared, |world| world.call([0, 1]).await);
            let barger = task!(shared, |world| world.visit([0, 2]).await);
            [acceptor, caller, barger].into_iter().for_each(join);
        });
    });
}

/// A waiter that reaches its limit enters all of its set anew, beside other tasks that want parts
/// of it.
#[test]
fn waits_in_sets_run_out_of_time_beside_their_signal() {
    check(2, |shared| {
        with_world(shared, |shared, world| {
            let waiter = task!(shared, |world| {
                let held = lock_all(world.set([1, 0])).await;
                let until = count_down(some_polls());
                let (held, signalled) = world.condition.wait_until(held, (), until).await;
                drop(world.stay(held, &[0, 1]).await);
                signalled
            });
            let signaller = task!(shared, |world| {
                let mut held = lock_all(world.set([0, 1])).await;
                let sent = world.condition.signal(&mut held);
                drop(world.stay(held, &[0, 1]).await);
                sent
            });
            let barger = task!(shared, |world| world.visit([2, 1]).await);
            assert_eq!(join(waiter), join(signaller));
            join(barger);
        });
    });
}

/// If a call of the set comes in time, no other task is inside between it and the acceptor.
/// Otherwise it comes after the acceptor.
#[test]
fn accepts_of_sets_run_out_of_time_beside_their_call() {
    check(2, |shared| {
        with_world(shared, |shared, world| {
            let acceptor = task!(shared, |world| {
                let held = lock_all(world.set([0, 1])).await;
                let before = world.entries.load(Ordering::Relaxed);
                let until = count_down(some_polls());
                let (held, accepted) = Held::accept_until(held, [Clause::new(Call)], until).await;
                let called = match accepted {
                    Accepted::Call(0) => 1,
                    Accepted::Timeout => 0,
                    other => unreachable!("{other:?}"),
                };
                assert_eq!(world.entries.load(Ordering::Relaxed), before + called);
                drop(world.stay(held, &[0, 1]).await);
            });
            let caller = task!(shared, |world| world.call([0, 1]).await);
            let barger = task!(shared, |world| drop(lock_all(world.set([1, 3])).await));
            [acceptor, caller, barger].into_iter().for_each(join);
        });
    });
}
