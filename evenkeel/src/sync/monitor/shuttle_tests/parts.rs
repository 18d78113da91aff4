//! Sets that are split, joined and extended, by tasks with overlapping sets.

use super::*;
use crate::sync::monitor::{Joined, Why};

type Part<'a> = Held<&'a Monitor<()>>;

impl World {
    /// Enters one monitor and extends the hold by another; if that is refused, enters both anew.
    async fn grow(&self, one: usize, other: usize) -> Held<Joined<&Monitor<()>, &Monitor<()>>> {
        let held = self.stay(self.monitors[one].enter().await, &[one]).await;
        match Held::extend(held, &self.monitors[other]).await {
            Ok(held) => held,
            Err(refused) => {
                assert!(refused.why() == Why::Order && other < one, "it waits upwards");
                refused.leave_and_enter_all().await
            }
        }
    }

    async fn leave_part(&self, part: Part<'_>, one: usize) {
        drop(self.stay(part, &[one]).await);
    }
}

/// Tasks extend upwards and downwards, and drop some extensions: no circle of waits arises.
#[test]
fn holds_grow_in_any_order() {
    check(2, |shared| {
        with_world(shared, |shared, world| {
            let tasks = [
                task!(shared, |world| {
                    drop(world.stay(world.grow(0, 1).await, &[0, 1]).await);
                    give_up(some_polls(), world.grow(0, 2)).await;
                }),
                task!(shared, |world| {
                    drop(world.stay(world.grow(1, 0).await, &[0, 1]).await);
                    give_up(some_polls(), world.grow(2, 1)).await;
                }),
                task!(shared, |world| {
                    give_up(some_polls(), world.grow(1, 2)).await;
                    world.visit([2, 0, 1]).await;
                }),
            ];
            tasks.into_iter().for_each(join);
        });
    });
}

/// The parts are left in any order, while other tasks want each of them.
#[test]
fn a_waiter_of_a_pair_goes_on_when_both_parts_are_left() {
    check(2, |shared| {
        with_world(shared, |shared, world| {
            let waiter = task!(shared, |world| {
                let held = lock_all(world.set([0, 1])).await;
                let entries = world.entries.load(Ordering::Relaxed);
                let held = world.condition.wait(held).await;
                // The signaller and its two parts: the bargers come before or after these.
                assert!(world.entries.load(Ordering::Relaxed) >= entries + 3);
                drop(world.stay(held, &[0, 1]).await);
            });
            let bargers = [
                task!(shared, |world| world.visit([0]).await),
                task!(shared, |world| world.visit([1, 2]).await),
            ];
            let signaller = task!(shared, |world| loop {
                let mut held = world.grow(0, 1).await;
                if world.condition.signal(&mut held) {
                    let held = world.stay(held, &[0, 1]).await;
                    let (one, other) = Held::split(held);
                    if thread_rng().gen_bool(0.5) {
                        world.leave_part(one, 0).await;
                        world.leave_part(other, 1).await;
                    } else {
                        world.leave_part(other, 1).await;
                        world.leave_part(one, 0).await;
                    }
                    break;
                }
                drop(held);
                pause().await;
            });
            join(signaller);
            join(waiter);
            bargers.into_iter().for_each(join);
        });
    });
}

/// One of two waiters may give up at any time while the parts are left. The other gets that one's
/// signal, or its own.
#[test]
fn waiters_of_a_divided_set_are_dropped_beside_its_parts() {
    check(2, |shared| {
        with_world(shared, |shared, world| {
            let wait = |polls: Option<usize>| {
                task!(shared, |world| {
                    let held = lock_all(world.set([0, 1])).await;
                    world.entries.fetch_add(1, Ordering::Relaxed);
                    let wait = async {
                        let held = world.condition.wait(held).await;
                        drop(world.stay(held, &[0, 1]).await);
                    };
                    match polls {
                        Some(polls) => drop(give_up(polls, wait).await),
                        None => wait.await,
                    }
                })
            };
            let (impatient, patient) = (wait(Some(1 + some_polls())), wait(None));
            let barger = task!(shared, |world| drop(lock_all(world.set([1, 2])).await));
            let signaller = task!(shared, |world| loop {
                let mut held = lock_all((&world.monitors[0], &world.monitors[1])).await;
                if world.entries.load(Ordering::Relaxed) >= 2 {
                    world.condition.signal(&mut held);
                    let (one, other) = Held::split(held);
                    drop(other);
                    pause().await;
                    // Its own waiters would go first, and then those of the pair.
                    drop(one);
                    // Once more, for the waiter that has not had the first signal.
                    let mut held = lock_all(world.set([0, 1])).await;
                    world.condition.signal_all(&mut held);
                    drop(held);
                    break;
                }
                drop(held);
                pause().await;
            });
            [impatient, patient, barger, signaller].into_iter().for_each(join);
        });
    });
}
