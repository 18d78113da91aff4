//! Objects under shuttle: tasks that travel between two homes, read what others read, are cancelled
//! on the way, inside and in line, and go on while homes and modes change.
//!
//! A lost task shows as a deadlock. Two operations at a time, or an operation that later ones do
//! not see, show as a failed assertion.

use super::{EnterError, Object, Placement, enter2};
use crate::policy::object::Mode as Wanted;
use crate::policy::object::sharing::READS;
use crate::processor::entered;
use crate::processor::shared::{Phase, Shared};
use crate::scheduler::shuttle_tests::{check, check_until, join, spawn};
use crate::task::{JoinHandle, park, yield_now};
use shuttle::rand::{Rng, thread_rng};
use shuttle::thread;
use std::future::poll_fn;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::task::Poll;

/// A value that finds out whether operations exclude each other.
#[derive(Default)]
struct Tally {
    is_inside: bool,
    operations: usize,
}

impl Tally {
    fn begin(&mut self) {
        assert!(!std::mem::replace(&mut self.is_inside, true), "another operation is inside");
    }

    fn end(&mut self) {
        self.is_inside = false;
        self.operations += 1;
    }

    fn add(&mut self) {
        self.begin();
        thread::yield_now();
        self.end();
    }
}

/// An operation that has begun, and may be cut short by the end of its future.
struct Begun<'a>(&'a mut Tally);

impl<'a> Begun<'a> {
    fn new(tally: &'a mut Tally) -> Self {
        tally.begin();
        Self(tally)
    }
}

impl Drop for Begun<'_> {
    fn drop(&mut self) {
        self.0.end();
    }
}

/// Two objects at home at the first two workers, and the operations that have been made on either.
struct World {
    objects: [Object<Tally>; 2],
    operations: [AtomicUsize; 2],
}

impl World {
    fn new(shared: &Arc<Shared>) -> Arc<Self> {
        let object = |home| {
            spawn(shared, async move {
                Object::new(Tally::default()).placed("tallies", Placement::Home).at(home)
            })
        };
        let objects = [object(0), object(1)].map(join);
        Arc::new(Self { objects, operations: Default::default() })
    }

    fn count(&self, which: usize) {
        self.operations[which].fetch_add(1, Ordering::Relaxed);
    }

    async fn operate(&self, which: usize) {
        let operation = |tally: &mut Tally| {
            tally.add();
            self.count(which);
        };
        self.objects[which].with(operation).await.expect("no operation panics");
    }

    /// Reads, after which all may read.
    async fn read(&self, which: usize) {
        for _ in 0..=READS {
            let operation = |tally: &Tally| {
                let before = tally.operations;
                thread::yield_now();
                assert!(!tally.is_inside && tally.operations == before, "a writer is inside");
            };
            self.objects[which].read(operation).await.expect("no operation panics");
        }
    }

    /// An operation that awaits inside.
    async fn hold(&self, which: usize) {
        let mut held = self.objects[which].enter_held().await.expect("no operation panics");
        let _begun = Begun::new(&mut held);
        self.count(which);
        yield_now().await;
    }

    async fn operate_on_both(&self, first: usize) {
        let [one, other] = [first, 1 - first].map(|which| &self.objects[which]);
        let (mut one, mut other) = enter2(one, other).await.expect("no operation panics");
        one.begin();
        other.add();
        one.end();
        self.count(0);
        self.count(1);
    }

    /// Checks that the objects have seen the operations that have been made.
    fn settle(&self, shared: &Arc<Shared>, me: &Arc<Self>) {
        for which in 0..2 {
            let world = me.clone();
            let seen = join(spawn(shared, async move {
                world.objects[which].with(|tally| tally.operations).await
            }));
            let made = self.operations[which].load(Ordering::Relaxed);
            assert_eq!(seen, Ok(made));
        }
    }
}

/// A task that makes some operations of all kinds.
fn traveller(shared: &Arc<Shared>, world: &Arc<World>, operations: usize) -> JoinHandle<()> {
    let world = world.clone();
    spawn(shared, async move {
        for _ in 0..operations {
            let which = thread_rng().gen_range(0..2);
            match thread_rng().gen_range(0..7) {
                0 => world.hold(which).await,
                1 => world.operate_on_both(which).await,
                2..5 => world.read(which).await,
                _ => world.operate(which).await,
            }
        }
    })
}

#[test]
fn operations_of_all_kinds_meet_at_two_homes() {
    check(3, |shared| {
        let world = World::new(shared);
        let travellers: Vec<_> = (0..3).map(|_| traveller(shared, &world, 2)).collect();
        world.objects[0].call_blocking(Tally::add).expect("no operation panics");
        world.count(0);
        travellers.into_iter().for_each(join);
        world.settle(shared, &world);
    });
}

/// Tasks that hold both objects do so in one order; tasks that enter two at once use an order of
/// their own, and wait in line before either.
#[test]
fn tasks_that_hold_both_meet_tasks_that_enter_both() {
    check(2, |shared| {
        let world = World::new(shared);
        // The order of `enter2`.
        let address = |which: usize| world.objects[which].inner.door.address();
        let first = usize::from(address(1) < address(0));
        let task = |kind: usize| {
            let world = world.clone();
            spawn(shared, async move {
                for _ in 0..2 {
                    match kind {
                        0 => world.operate_on_both(first).await,
                        1 => {
                            let mut held = world.objects[first].enter_held().await.unwrap();
                            world.hold(1 - first).await;
                            held.add();
                            world.count(first);
                        }
                        2 => world.hold(first).await,
                        _ => world.hold(1 - first).await,
                    }
                }
            })
        };
        let tasks: Vec<_> = [3, 2, 0, 1, 1].map(task).into();
        tasks.into_iter().for_each(join);
        world.settle(shared, &world);
    });
}

/// Waits for both.
async fn both(one: impl Future<Output = ()>, other: impl Future<Output = ()>) {
    let (mut one, mut other) = (pin!(one), pin!(other));
    let mut is_ready = [false; 2];
    poll_fn(|cx| {
        is_ready[0] = is_ready[0] || one.as_mut().poll(cx).is_ready();
        is_ready[1] = is_ready[1] || other.as_mut().poll(cx).is_ready();
        if is_ready == [true; 2] { Poll::Ready(()) } else { Poll::Pending }
    })
    .await;
}

/// Parks before the tasks wait, on their way, and where they have come to: one part of a task
/// travels while another waits.
#[test]
fn tasks_are_woken_on_their_way() {
    check(2, |shared| {
        let world = World::new(shared);
        let sleepers = [0, 1].map(|first| {
            let rounds = Arc::new(AtomicUsize::new(0));
            let sleeper = spawn(shared, {
                let (world, rounds) = (world.clone(), rounds.clone());
                async move {
                    // One of the objects is elsewhere.
                    for which in [first, 1 - first] {
                        both(park(), world.operate(which)).await;
                        rounds.fetch_add(1, Ordering::Relaxed);
                    }
                }
            });
            (rounds, sleeper)
        });
        for round in 0..2 {
            for (rounds, sleeper) in &sleepers {
                // The previous unpark has been taken.
                while rounds.load(Ordering::Relaxed) < round {
                    thread::yield_now();
                }
                sleeper.task().unpark();
            }
        }
        for (_, sleeper) in sleepers {
            join(sleeper);
        }
        world.settle(shared, &world);
    });
}

/// The places are: on the way, inside across an await, or in line behind a held operation.
#[test]
fn tasks_are_cancelled_wherever_they_are() {
    check(2, |shared| {
        let world = World::new(shared);
        let holder = spawn(shared, {
            let world = world.clone();
            async move { world.hold(1).await }
        });
        let travellers: Vec<_> = (0..3).map(|_| traveller(shared, &world, 2)).collect();
        let patient = traveller(shared, &world, 1);
        for _ in 0..thread_rng().gen_range(0..64) {
            thread::yield_now();
        }
        holder.abort();
        travellers.iter().for_each(JoinHandle::abort);
        join(patient);
        for handle in travellers.into_iter().chain([holder]) {
            let joined = crate::runtime::block_on(handle);
            assert!(joined.is_ok() || joined.is_err_and(|error| error.is_cancelled()));
        }
        world.settle(shared, &world);
    });
}

#[test]
fn tasks_that_travel_are_aborted_with_their_runtime() {
    check_until(3, Phase::Aborting, |shared| {
        let world = World::new(shared);
        for first in 0..2 {
            let world = world.clone();
            drop(spawn(shared, async move {
                loop {
                    world.operate(first).await;
                    world.operate(1 - first).await;
                    // A schedule by priorities would run this worker alone for ever.
                    thread::yield_now();
                }
            }));
        }
        let held = world.clone();
        drop(spawn(shared, async move {
            loop {
                held.hold(0).await;
                thread::yield_now();
            }
        }));
        for _ in 0..thread_rng().gen_range(0..64) {
            thread::yield_now();
        }
    });
}

/// Draining waits for the tasks that are on their way.
#[test]
fn tasks_that_travel_are_drained() {
    check(3, |shared| {
        let world = World::new(shared);
        for _ in 0..3 {
            drop(traveller(shared, &world, 2));
        }
    });
}

/// A host gives its object away between operations, and the class is entered in place for a while.
#[test]
fn operations_go_on_while_homes_and_the_mode_change() {
    check(2, |shared| {
        let world = World::new(shared);
        let travellers: Vec<_> = (0..3).map(|_| traveller(shared, &world, 2)).collect();
        let changer = spawn(shared, {
            let (world, shared) = (world.clone(), shared.clone());
            async move {
                for wanted in [Wanted::InPlace, Wanted::AtOneHome, Wanted::AtHome] {
                    let class = &world.objects[0].inner.class;
                    class.turn(&shared, wanted);
                    for object in &world.objects {
                        let to = thread_rng().gen_range(0..2);
                        let door = &object.inner.door;
                        door.move_home(door.home(), Some(to));
                    }
                    yield_now().await;
                }
            }
        });
        join(changer);
        travellers.into_iter().for_each(join);
        world.settle(shared, &world);
    });
}

/// The home's worker is inside a poll that lasts until an operation has been made on its object.
#[test]
fn operations_are_made_elsewhere_while_their_home_is_stuck() {
    check(2, |shared| {
        let operated = Arc::new(AtomicBool::new(false));
        join(spawn(shared, async move {
            let here = entered::with(|context| context.map(|context| context.seat.me()));
            let home = here.expect("a task is polled by a worker");
            let object = Object::new(Tally::default()).placed("tallies", Placement::Home).at(home);
            let visitor = crate::task::spawn({
                let (object, operated) = (object.clone(), operated.clone());
                async move {
                    object.with(Tally::add).await?;
                    operated.store(true, Ordering::Relaxed);
                    Ok::<_, EnterError>(())
                }
            });
            while !operated.load(Ordering::Relaxed) {
                thread::yield_now();
            }
            let visited = visitor.await.expect("the task does not panic");
            assert_eq!(visited, Ok(()));
            assert_eq!(object.with(|tally| tally.operations).await, Ok(1));
        }));
    });
}
