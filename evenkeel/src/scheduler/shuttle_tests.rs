//! The whole scheduler under shuttle: workers, tasks and outside threads, by random and by priority-based (PCT)
//! schedules.
//!
//! Memory is sequentially consistent here; the orders of memory are the business of the loom models. A lost
//! wake-up shows as a deadlock, a task that is lost or polled twice as a failed assertion.
//!
//! [`checked`](crate::runtime::checked) says how many schedules.

use super::neighbours::Neighbours;
use super::shared::{Phase, Shared};
use super::{context, errands, trial};
use crate::primitives::{Condvar, Mutex, lock};
use crate::runtime::blocking::Pool;
use crate::runtime::checked::{TICK, check_with, execute};
use crate::runtime::{Handle, block_on};
use crate::sync::Semaphore;
use crate::task::{self, JoinHandle, current, park, yield_now};
use crate::time::{Instant, sleep, timeout};
use crate::topology::Topology;
use shuttle::rand::{Rng, thread_rng};
use shuttle::thread;
use std::future::Future;
use std::panic::Location;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::task::{Poll, Wake, Waker};
use std::time::Duration;

/// Runs `scenario` on a scheduler with this many workers, under many schedules. In the end the runtime drains.
pub(crate) fn check(workers: usize, scenario: fn(&Arc<Shared>)) {
    check_until(workers, Phase::Draining, scenario);
}

/// The same, with a relief whose thread the system grants or refuses.
fn check_relieved(workers: usize, granted: bool, scenario: fn(&Arc<Shared>)) {
    check_with(move || {
        let places: Vec<_> = (0..workers).collect();
        let neighbours = Neighbours::with_relief(&Topology::flat(workers), &places);
        execute(neighbours, Some(granted), Phase::Draining, |shared, _| scenario(shared));
    });
}

/// The same, with another end.
fn check_until(workers: usize, end: Phase, scenario: fn(&Arc<Shared>)) {
    check_with(move || {
        let neighbours = (0..workers).map(|me| Neighbours::flat(me, workers));
        execute(neighbours.collect(), None, end, |shared, _| scenario(shared));
    });
}

#[track_caller]
pub(crate) fn spawn<F>(shared: &Arc<Shared>, future: F) -> JoinHandle<F::Output>
where
    F: Future<Output: Send> + Send + 'static,
{
    super::spawn::on(shared, |birth| task::make(future, (), Location::caller(), birth))
}

pub(crate) fn join<T>(handle: JoinHandle<T>) -> T {
    block_on(handle).expect("the task does not panic")
}

#[test]
fn a_ring_of_parked_tasks_passes_a_token_round() {
    const TASKS: usize = 4;
    const ROUNDS: usize = 2;
    check(3, |shared| {
        let turns = Arc::new(AtomicUsize::new(0));
        let semaphores: Arc<Vec<Semaphore>> =
            Arc::new((0..TASKS).map(|_| Semaphore::new(0)).collect());
        let handles: Vec<_> = (0..TASKS)
            .map(|me| {
                let (semaphores, turns) = (semaphores.clone(), turns.clone());
                spawn(shared, async move {
                    for _ in 0..ROUNDS {
                        semaphores[me].acquire().await;
                        turns.fetch_add(1, Ordering::Relaxed);
                        semaphores[(me + 1) % TASKS].release();
                    }
                })
            })
            .collect();
        semaphores[0].release();
        handles.into_iter().for_each(join);
        assert_eq!(turns.load(Ordering::Relaxed), TASKS * ROUNDS);
    });
}

/// Whoever polls sends what is ready on its processor to any other, and pays for its fences or not.
#[test]
fn queues_are_given_back_and_owners_fenced_at_random() {
    const TASKS: usize = 5;
    check(3, |shared| {
        let turns = Arc::new(AtomicUsize::new(0));
        let task = |_| {
            let turns = turns.clone();
            spawn(shared, async move {
                for _ in 0..2 {
                    turns.fetch_add(1, Ordering::Relaxed);
                    context::with(|context| {
                        let context = context.expect("a task is polled by a worker");
                        match thread_rng().gen_range(0..4) {
                            0 => trial::give_back(
                                context,
                                thread_rng().gen_range(0..3),
                                context.now.get(),
                            ),
                            1 => context.seat.set_fenced(true),
                            2 => context.seat.set_fenced(false),
                            _ => {}
                        }
                    });
                    yield_now().await;
                }
            })
        };
        let handles: Vec<_> = (0..TASKS).map(task).collect();
        handles.into_iter().for_each(join);
        assert_eq!(turns.load(Ordering::Relaxed), 2 * TASKS);
    });
}

#[test]
fn two_tasks_unpark_each_other_in_turns() {
    const TURNS: usize = 3;
    check(2, |shared| {
        let one = spawn(shared, async {
            for _ in 0..TURNS {
                park().await;
            }
        });
        let first = one.task();
        let other = spawn(shared, async move {
            let me = current();
            for _ in 0..TURNS {
                // Tokens do not add up, so each waits until the other has had its turn.
                first.unpark();
                let first = first.clone();
                let me = me.clone();
                drop(task::spawn(async move {
                    first.unpark();
                    me.unpark();
                }));
                park().await;
            }
        });
        join(other);
        // The last token may have been one with its predecessor.
        while !one.is_finished() {
            one.task().unpark();
            thread::yield_now();
        }
        join(one);
    });
}

#[test]
fn the_queue_behind_a_stuck_task_is_taken_by_others() {
    check(2, |shared| {
        join(spawn(shared, async {
            let released = Arc::new(AtomicBool::new(false));
            let releaser = task::spawn({
                let released = released.clone();
                async move { released.store(true, Ordering::Relaxed) }
            });
            // The releaser is behind this poll, which does not end before it has run.
            while !released.load(Ordering::Relaxed) {
                thread::yield_now();
            }
            releaser.await.expect("the task does not panic");
        }));
    });
}

#[test]
fn a_processor_stays_awake_enough_beside_two_stuck_ones() {
    check(3, |shared| {
        let stuck = |shared: &Arc<Shared>| {
            spawn(shared, async {
                let ran = Arc::new(AtomicUsize::new(0));
                for _ in 0..2 {
                    let ran = ran.clone();
                    drop(task::spawn(async move { ran.fetch_add(1, Ordering::Relaxed) }));
                }
                while ran.load(Ordering::Relaxed) < 2 {
                    thread::yield_now();
                }
            })
        };
        let tasks = [stuck(shared), stuck(shared)];
        tasks.into_iter().for_each(join);
    });
}

#[test]
fn a_storm_of_spawns_is_drained() {
    check(4, |shared| {
        for _ in 0..3 {
            drop(spawn(shared, async {
                for _ in 0..4 {
                    drop(task::spawn(yield_now()));
                }
                yield_now().await;
            }));
        }
        // Nobody joins them: draining waits for them.
    });
}

#[test]
fn spawns_race_the_end_of_a_drain_and_complete_or_are_cancelled() {
    check(2, |shared| {
        let spawner = {
            let shared = shared.clone();
            thread::spawn(move || (0..3).map(|_| spawn(&shared, yield_now())).collect::<Vec<_>>())
        };
        shared.advance(Phase::Draining);
        for handle in spawner.join().unwrap() {
            // Shuttle reports a deadlock if a task is left behind.
            let joined = block_on(handle);
            assert!(joined.is_ok() || joined.is_err_and(|error| error.is_cancelled()));
        }
    });
}

#[test]
fn aborting_ends_parked_and_ready_tasks_and_those_they_spawn() {
    check_until(3, Phase::Aborting, |shared| {
        for _ in 0..2 {
            drop(spawn(shared, async {
                drop(task::spawn(park()));
                loop {
                    // A schedule by priorities would run this worker alone for ever.
                    thread::yield_now();
                    yield_now().await;
                }
            }));
            drop(spawn(shared, park()));
        }
    });
}

/// One spawn at a time, after a pause about as long as a search: so it meets workers that search, fall asleep,
/// or sleep.
fn spawn_one_by_one(shared: &Arc<Shared>) {
    for _ in 0..4 {
        for _ in 0..thread_rng().gen_range(0..128) {
            thread::yield_now();
        }
        join(spawn(shared, async {}));
    }
}

#[test]
fn spawns_from_outside_meet_the_only_processor_as_it_falls_asleep() {
    check(1, spawn_one_by_one);
}

#[test]
fn spawns_from_outside_meet_a_searcher_that_falls_asleep_beside_a_sleeper() {
    check(2, spawn_one_by_one);
}

#[test]
fn wakes_from_outside_meet_processors_that_fall_asleep() {
    check(2, |shared| {
        let semaphore = Arc::new(Semaphore::new(0));
        let waiters: Vec<_> = (0..3)
            .map(|_| {
                let semaphore = semaphore.clone();
                spawn(shared, async move { semaphore.acquire().await })
            })
            .collect();
        let releaser = {
            let semaphore = semaphore.clone();
            thread::spawn(move || (0..2).for_each(|_| semaphore.release()))
        };
        semaphore.release();
        releaser.join().expect("the thread does not panic");
        waiters.into_iter().for_each(join);
    });
}

#[test]
fn a_waiter_that_is_aborted_passes_its_permit_on() {
    check(2, |shared| {
        let semaphore = Arc::new(Semaphore::new(0));
        let waiter = || {
            let semaphore = semaphore.clone();
            spawn(shared, async move { semaphore.acquire().await })
        };
        let (impatient, patient) = (waiter(), waiter());
        let releaser = {
            let semaphore = semaphore.clone();
            thread::spawn(move || semaphore.release())
        };
        impatient.abort();
        if block_on(impatient).is_ok() {
            semaphore.release();
        }
        join(patient);
        releaser.join().expect("the thread does not panic");
    });
}

/// Errands that keep their workers inside fork-join until another task, and two that wake each other, have run.
fn beside_busy_workers(shared: &Arc<Shared>) {
    let gate = Arc::new((Mutex::new(false), Condvar::new()));
    for _ in 0..shared.workers {
        let gate = gate.clone();
        let compute = move || {
            let mut open = lock(&gate.0);
            while !*open {
                open = gate.1.wait(open).expect("nobody panics");
            }
        };
        errands::send(shared, Box::new(compute));
    }
    let sleeper = spawn(shared, async {
        park().await;
    });
    let waker = spawn(shared, {
        let sleeper = sleeper.task().clone();
        async move { sleeper.unpark() }
    });
    let opener = spawn(shared, async move {
        sleeper.await.expect("it is not aborted");
        *lock(&gate.0) = true;
        gate.1.notify_all();
    });
    [waker, opener].into_iter().for_each(join);
}

#[test]
fn the_relief_runs_tasks_beside_one_busy_worker() {
    check_relieved(1, true, beside_busy_workers);
}

#[test]
fn the_relief_runs_tasks_beside_two_busy_workers() {
    check_relieved(2, true, beside_busy_workers);
}

#[test]
fn wakes_from_outside_meet_a_relief_that_is_about_to_rest() {
    check_relieved(2, true, wakes_beside_short_errands);
}

#[test]
fn tasks_wait_for_workers_if_the_system_refuses_the_relief() {
    check_relieved(2, false, wakes_beside_short_errands);
}

/// Wakes from outside while workers go away and come back.
fn wakes_beside_short_errands(shared: &Arc<Shared>) {
    let semaphore = Arc::new(Semaphore::new(0));
    let waiters: Vec<_> = (0..3)
        .map(|_| {
            let semaphore = semaphore.clone();
            spawn(shared, async move { semaphore.acquire().await })
        })
        .collect();
    let computer = {
        let shared = shared.clone();
        thread::spawn(move || {
            for _ in 0..3 {
                errands::send(&shared, Box::new(thread::yield_now));
                thread::yield_now();
            }
        })
    };
    (0..3).for_each(|_| semaphore.release());
    computer.join().expect("the thread does not panic");
    waiters.into_iter().for_each(join);
}

/// Tasks sleep, limit and cancel on several workers; a thread outside sleeps too.
#[test]
fn timers_fire_wherever_they_were_armed() {
    check(2, |shared| {
        let task = |number: u64| {
            spawn(shared, async move {
                let start = Instant::now();
                let duration = Duration::from_nanos(number * TICK * 2);
                sleep(duration).await;
                assert!(start.elapsed() >= duration);
                let never = timeout(Duration::from_nanos(TICK), std::future::pending::<()>());
                assert!(never.await.is_err());
                assert!(timeout(Duration::from_secs(1), yield_now()).await.is_ok());
            })
        };
        let handles: Vec<_> = (1..3).map(task).collect();
        let pool = Arc::new(Pool::new(shared.clone(), "model".to_owned(), None));
        Handle::new(shared.clone(), pool).block_on(sleep(Duration::from_nanos(TICK)));
        handles.into_iter().for_each(join);
    });
}

/// A sleep goes to another task after it has been armed, which drops it while it may fire.
#[test]
fn a_timer_is_dropped_by_another_worker_while_it_fires() {
    check(2, |shared| {
        let armed = spawn(shared, async {
            let mut sleep = Box::pin(sleep(Duration::from_nanos(TICK)));
            let _ = std::future::poll_fn(|context| Poll::Ready(sleep.as_mut().poll(context))).await;
            sleep
        });
        let other = spawn(shared, async move { drop(armed.await) });
        let waits = spawn(shared, sleep(Duration::from_nanos(2 * TICK)));
        join(other);
        join(waits);
    });
}

/// One worker waits inside its poll for what a timer of its own processor sets off.
#[test]
fn the_timers_of_a_worker_inside_a_poll_are_fired_by_another() {
    check(2, |shared| {
        let fired = Arc::new(AtomicBool::new(false));
        let stuck = fired.clone();
        join(spawn(shared, async move {
            let waker = Waker::from(Arc::new(Sets(stuck.clone())));
            let mut sleep = Box::pin(sleep(Duration::from_nanos(TICK)));
            let polled = sleep.as_mut().poll(&mut std::task::Context::from_waker(&waker));
            while polled.is_pending() && !stuck.load(Ordering::Acquire) {
                thread::yield_now();
            }
        }));
    });
}

/// A waker that sets a flag.
struct Sets(Arc<AtomicBool>);

impl Wake for Sets {
    fn wake(self: Arc<Self>) {
        self.0.store(true, Ordering::Release);
    }
}

/// The clock stands: it moves when all are idle, not before, and by one deadline at a time.
#[test]
fn a_clock_that_stands_moves_when_all_are_idle() {
    check(2, |shared| {
        assert!(shared.stop_clock());
        let task = |number: u64| {
            spawn(shared, async move {
                let start = Instant::now();
                for _ in 0..2 {
                    sleep(Duration::from_nanos(number * TICK + 7)).await;
                }
                assert_eq!(start.elapsed(), Duration::from_nanos(2 * (number * TICK + 7)));
            })
        };
        // All begin at the same time: this thread is counted as awake until then.
        shared.clock.come();
        let handles: Vec<_> = (0..3).map(task).collect();
        shared.go_outside();
        handles.into_iter().for_each(join);
        let pool = Arc::new(Pool::new(shared.clone(), "model".to_owned(), None));
        Handle::new(shared.clone(), pool).block_on(async {
            let start = Instant::now();
            sleep(Duration::from_nanos(3 * TICK)).await;
            assert_eq!(start.elapsed(), Duration::from_nanos(3 * TICK));
        });
    });
}
