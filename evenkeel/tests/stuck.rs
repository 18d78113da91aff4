//! Workers that are stuck inside a poll, whatever it does there: reliefs poll what is ready.

use common::stuck::Stuck;
use common::until::until;
use common::watchdog::watchdog;
use evenkeel::object::{Object, Placement};
use evenkeel::sync::Semaphore;
use evenkeel::task::{Task, park};
use evenkeel::{
    Builder, JoinHandle, Runtime, Shutdown, block_in_place, fork_join, spawn, time, yield_now,
};
use std::future::poll_fn;
use std::hint::spin_loop;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::task::{Context, Poll, Wake};
use std::time::Duration;

mod common {
    pub(crate) mod stuck;
    pub(crate) mod until;
    pub(crate) mod watchdog;
}

const WORKERS: [usize; 3] = [1, 2, 8];

fn runtime(workers: usize) -> Runtime {
    Builder::new().workers(workers).name("stuck").build().unwrap()
}

/// Has `calls` calls from outside run, each of which begins when the ones before it block, and
/// waits for the next.
fn in_a_chain(runtime: &Runtime, calls: usize) {
    if calls == 0 {
        return;
    }
    let ((begin, begun), (say, said)) = (mpsc::channel(), mpsc::channel());
    std::thread::scope(|scope| {
        let waits = scope.spawn(move || {
            runtime.install(move || {
                begin.send(()).unwrap();
                said.recv().unwrap();
            });
        });
        begun.recv().unwrap();
        in_a_chain(runtime, calls - 1);
        say.send(()).unwrap();
        waits.join().unwrap();
    });
}

/// Calls from outside are run on spares, and so are those that wait for each other, more than there
/// are workers.
#[test]
fn calls_from_outside_beside_workers_that_are_all_stuck() {
    let _watchdog = watchdog();
    for workers in WORKERS {
        let runtime = runtime(workers);
        for round in 0..3 {
            let stuck: Vec<_> = (0..workers).map(|_| Stuck::new()).collect();
            let polls: Vec<_> = stuck
                .iter()
                .map(|stuck| {
                    let body = stuck.body();
                    let poll = runtime.spawn(async move {
                        // On a loaded machine a relief may come first: a worker is to be stuck.
                        while std::thread::current().name() == Some("stuck-relief") {
                            yield_now().await;
                        }
                        body();
                    });
                    stuck.begun();
                    poll
                })
                .collect();
            let halves = || fork_join::join(|| 3, || 4);
            assert_eq!(runtime.install(halves), (3, 4), "round {round}");
            in_a_chain(&runtime, workers + 2);
            stuck.iter().for_each(Stuck::release);
            polls.into_iter().for_each(|poll| evenkeel::block_on(poll).unwrap());
        }
    }
}

/// The first calls are inside the workers, and the later ones on spares.
#[test]
fn calls_from_outside_that_wait_for_each_other_beside_workers_that_wait() {
    let _watchdog = watchdog();
    for workers in WORKERS {
        let runtime = runtime(workers);
        in_a_chain(&runtime, workers + 3);
        // Each worker waits for a call of another runtime, or in a task that says that it blocks.
        let other = Builder::new().workers(workers).name("other").build().unwrap();
        let gates: Vec<_> = (0..workers).map(|_| mpsc::channel::<()>()).collect();
        let (open, gates): (Vec<_>, Vec<_>) = gates.into_iter().unzip();
        let (tell, told) = mpsc::channel();
        let tasks: Vec<_> = gates
            .into_iter()
            .enumerate()
            .map(|(number, gate)| {
                let (tell, other) = (tell.clone(), other.handle());
                let waits = move || {
                    tell.send(()).unwrap();
                    gate.recv().unwrap();
                };
                runtime.spawn(async move {
                    if number % 2 == 0 { other.install(waits) } else { block_in_place(waits) }
                })
            })
            .collect();
        (0..workers).for_each(|_| told.recv().unwrap());
        in_a_chain(&runtime, 3);
        open.iter().for_each(|gate| gate.send(()).unwrap());
        tasks.into_iter().for_each(|task| evenkeel::block_on(task).unwrap());
    }
}

/// Tells threads and tasks to stop.
#[derive(Clone, Default)]
struct Flag(Arc<AtomicBool>);

impl Flag {
    fn raise(&self) {
        self.0.store(true, Ordering::Release);
    }

    fn is_raised(&self) -> bool {
        self.0.load(Ordering::Acquire)
    }
}

/// A way to stay inside a poll until a flag is raised.
type Way = fn(Flag) -> std::pin::Pin<Box<dyn Future<Output = ()> + Send>>;

/// An endless loop, a system call, a `std` lock, and a loop of awaits that are always ready.
const WAYS: [(&str, Way); 4] = [
    ("loop", |stop| {
        Box::pin(async move {
            while !stop.is_raised() {
                spin_loop();
            }
        })
    }),
    ("system call", |stop| {
        Box::pin(async move {
            while !stop.is_raised() {
                std::thread::sleep(Duration::from_millis(3));
            }
        })
    }),
    ("lock", |stop| {
        Box::pin(async move {
            let held = Mutex::new(());
            std::thread::scope(|scope| {
                let holder = held.lock().unwrap();
                scope.spawn(|| drop(held.lock()));
                until(|| stop.is_raised());
                drop(holder);
            });
            drop(held.lock());
        })
    }),
    ("ready awaits", |stop| {
        Box::pin(async move {
            let semaphore = tokio::sync::Semaphore::new(1);
            while !stop.is_raised() {
                drop(semaphore.acquire().await);
            }
        })
    }),
];

/// Occupies all workers of a runtime until the flag is raised; returns once all are inside.
fn occupy(runtime: &Runtime, workers: usize, way: Way, stop: &Flag) -> Vec<JoinHandle<()>> {
    let inside = Arc::new(AtomicUsize::new(0));
    let tasks = (0..workers).map(|_| {
        let (inside, body) = (inside.clone(), way(stop.clone()));
        runtime.spawn(async move {
            inside.fetch_add(1, Ordering::Release);
            body.await;
        })
    });
    let tasks = tasks.collect();
    until(|| inside.load(Ordering::Acquire) == workers);
    tasks
}

fn join<T>(tasks: impl IntoIterator<Item = JoinHandle<T>>) -> Vec<T> {
    tasks.into_iter().map(|task| evenkeel::block_on(task).unwrap()).collect()
}

#[test]
fn tasks_run_beside_workers_that_are_all_stuck() {
    let _watchdog = watchdog();
    for (name, way) in WAYS {
        for workers in WORKERS {
            let (runtime, stop) = (runtime(workers), Flag::default());
            let stuck = occupy(&runtime, workers, way, &stop);
            // From outside, woken from outside, by a timer, and by each other.
            let outside: Vec<_> =
                (0..100).map(|number| runtime.spawn(async move { number })).collect();
            assert_eq!(join(outside), (0..100).collect::<Vec<_>>(), "{name}");
            let parked = runtime.spawn(park());
            parked.task().unpark();
            let timer = runtime.spawn(time::sleep(Duration::from_millis(1)));
            join([parked]);
            join([timer]);
            let pair = runtime.spawn(async {
                let first = spawn(async {
                    for _ in 0..100 {
                        yield_now().await;
                    }
                });
                first.await.unwrap();
            });
            join([pair]);
            stop.raise();
            join(stuck);
            assert!(runtime.shutdown(Shutdown::Drain).is_clean());
        }
    }
}

#[test]
fn a_successor_is_not_trapped_behind_the_poll_that_has_woken_or_spawned_it() {
    let _watchdog = watchdog();
    for workers in WORKERS {
        let runtime = runtime(workers);
        let all = (0..workers).map(|_| {
            runtime.spawn(async {
                let (ran, woken) = (Flag::default(), Flag::default());
                let flag = woken.clone();
                let sleeper = spawn(async move {
                    park().await;
                    flag.raise();
                });
                let flag = ran.clone();
                drop(spawn(async move { flag.raise() }));
                sleeper.task().unpark();
                while !ran.is_raised() || !woken.is_raised() {
                    spin_loop();
                }
            })
        });
        let all: Vec<_> = all.collect();
        join(all);
    }
}

/// Leaders in turn: each spins until all others have run.
#[test]
fn a_leader_hands_over_on_one_worker() {
    const TASKS: usize = 10;
    let _watchdog = watchdog();
    for parks in [false, true] {
        let runtime = runtime(1);
        let seen: Arc<Vec<AtomicUsize>> =
            Arc::new((0..TASKS).map(|_| AtomicUsize::new(0)).collect());
        let word = Arc::new(AtomicUsize::new(0));
        let tasks: Vec<_> = (0..TASKS)
            .map(|me| {
                let (seen, word) = (seen.clone(), word.clone());
                runtime.spawn(async move {
                    for round in 1..=3 {
                        if round % TASKS == me {
                            word.store(round, Ordering::Release);
                            let has_seen =
                                |task: &AtomicUsize| task.load(Ordering::Acquire) >= round;
                            seen[me].store(round, Ordering::Release);
                            while !seen.iter().all(has_seen) {
                                spin_loop();
                            }
                        }
                        while word.load(Ordering::Acquire) < round {
                            if parks {
                                time::sleep(Duration::from_micros(100)).await;
                            } else {
                                yield_now().await;
                            }
                        }
                        seen[me].store(round, Ordering::Release);
                    }
                })
            })
            .collect();
        join(tasks);
    }
}

#[test]
fn reliefs_that_are_stuck_are_followed_by_others_up_to_the_most() {
    let _watchdog = watchdog();
    let runtime = Builder::new().workers(1).reliefs(2).build().unwrap();
    let stuck: Vec<_> = (0..3).map(|_| Stuck::new()).collect();
    let mut tasks = Vec::new();
    for stuck in &stuck {
        let body = stuck.body();
        tasks.push(runtime.spawn(async move { body() }));
        stuck.begun();
    }
    assert_eq!(runtime.metrics().reliefs.len(), 2);
    let late = runtime.spawn(async { 7 });
    // No thread is left that could run it.
    std::thread::sleep(Duration::from_millis(30));
    assert!(!late.is_finished());
    // The first relief is back. It goes on duty again.
    stuck[1].release();
    stuck[1].returned();
    assert_eq!(join([late]), [7]);
    stuck.iter().for_each(Stuck::release);
    join(tasks);
    assert!(runtime.shutdown(Shutdown::Drain).is_clean());
}

#[test]
fn what_many_reliefs_were_stuck_in_ends_well() {
    let _watchdog = watchdog();
    for _ in 0..5 {
        let runtime = runtime(1);
        let lock = Arc::new(Mutex::new(()));
        let held = lock.lock().unwrap();
        let blocked: Vec<_> = (0..10)
            .map(|_| {
                let lock = lock.clone();
                runtime.spawn(async move { drop(lock.lock().unwrap()) })
            })
            .collect();
        join([runtime.spawn(async {})]);
        drop(held);
        join(blocked);
        let short: Vec<_> = (0..100).map(|_| runtime.spawn(yield_now())).collect();
        join(short);
        assert!(runtime.shutdown(Shutdown::Drain).is_clean());
    }
}

/// All that a stuck poll can do, while others poll its worker's tasks.
#[test]
fn a_stuck_poll_goes_on_as_if_it_were_not() {
    let _watchdog = watchdog();
    for workers in WORKERS {
        let (runtime, stop) = (runtime(workers), Flag::default());
        let others = occupy(&runtime, workers - 1, WAYS[0].1, &stop);
        let task = runtime.spawn(async {
            let semaphore = Arc::new(Semaphore::new(1));
            let guard = semaphore.acquire().await;
            for _ in 0..3 {
                relieved();
                // Wakes, spawns, pushes and timers go to its own processor.
                let waits = {
                    let semaphore = semaphore.clone();
                    spawn(async move { drop(semaphore.acquire().await) })
                };
                let timer = spawn(time::sleep(Duration::from_micros(100)));
                let (left, right) = fork_join::join(
                    || {
                        relieved();
                        1
                    },
                    || 2,
                );
                assert_eq!((left, right), (1, 2));
                fork_join::scope(|scope| {
                    scope.spawn(|_| ());
                    relieved();
                });
                timer.await.unwrap();
                yield_now().await;
                waits.abort();
                assert!(waits.await.unwrap_err().is_cancelled());
            }
            drop(guard);
            semaphore.available_permits()
        });
        assert_eq!(join([task]), [1]);
        stop.raise();
        join(others);
    }
}

/// Stays inside the poll until another thread has polled a task of this worker.
fn relieved() {
    let ran = Flag::default();
    let flag = ran.clone();
    drop(spawn(async move { flag.raise() }));
    while !ran.is_raised() {
        spin_loop();
    }
}

#[test]
fn local_wakes_without_end_starve_no_other_task() {
    let _watchdog = watchdog();
    for workers in WORKERS {
        let (runtime, stop) = (runtime(workers), Flag::default());
        let rings: Vec<_> = (0..workers)
            .map(|_| {
                let stop = stop.clone();
                runtime.spawn(async move {
                    while !stop.is_raised() {
                        spawn(async {}).await.unwrap();
                    }
                })
            })
            .collect();
        let parked: Vec<_> = (0..10).map(|_| runtime.spawn(park())).collect();
        let tasks: Vec<Task> = parked.iter().map(JoinHandle::task).collect();
        let spawned: Vec<_> = (0..100).map(|_| runtime.spawn(async {})).collect();
        tasks.iter().for_each(Task::unpark);
        join(spawned);
        join(parked);
        stop.raise();
        join(rings);
    }
}

#[test]
fn many_short_tasks_behind_a_long_one_run() {
    let _watchdog = watchdog();
    for workers in [1, 2] {
        let (runtime, stop) = (runtime(workers), Flag::default());
        let long = occupy(&runtime, workers, WAYS[0].1, &stop);
        let count = Arc::new(AtomicUsize::new(0));
        for _ in 0..100_000 {
            let count = count.clone();
            drop(runtime.spawn(async move {
                count.fetch_add(1, Ordering::Relaxed);
            }));
        }
        until(|| count.load(Ordering::Relaxed) == 100_000);
        stop.raise();
        join(long);
    }
}

#[test]
fn fork_storms_and_stuck_polls_do_not_stop_tasks() {
    fn fork(depth: u32) -> u32 {
        if depth == 0 {
            return 1;
        }
        let (left, right) = fork_join::join(|| fork(depth - 1), || fork(depth - 1));
        left + right
    }
    let _watchdog = watchdog();
    for workers in [2, 8] {
        let (runtime, stop) = (runtime(workers), Flag::default());
        let stuck = occupy(&runtime, workers / 2, WAYS[0].1, &stop);
        let storms: Vec<_> = (0..workers)
            .map(|_| {
                let stop = stop.clone();
                runtime.spawn(async move {
                    while !stop.is_raised() {
                        assert_eq!(fork(6), 64);
                    }
                })
            })
            .collect();
        join((0..100).map(|_| runtime.spawn(yield_now())).collect::<Vec<_>>());
        stop.raise();
        join(stuck);
        join(storms);
    }
}

#[test]
fn what_blocks_in_place_keeps_no_other_task() {
    let _watchdog = watchdog();
    for workers in WORKERS {
        // With two reliefs, all that is left to the last one is polled by it.
        let runtime = Builder::new().workers(workers).reliefs(2).build().unwrap();
        let (sender, receiver) = mpsc::channel::<()>();
        let receiver = Arc::new(Mutex::new(receiver));
        let inside = Arc::new(AtomicUsize::new(0));
        let blocked: Vec<_> = (0..=workers)
            .map(|_| {
                let (receiver, inside) = (receiver.clone(), inside.clone());
                runtime.spawn(async move {
                    block_in_place(|| {
                        inside.fetch_add(1, Ordering::Release);
                        // It nests.
                        block_in_place(|| receiver.lock().unwrap().recv().unwrap_err());
                    });
                    yield_now().await;
                })
            })
            .collect();
        until(|| inside.load(Ordering::Acquire) == workers + 1);
        join((0..100).map(|_| runtime.spawn(yield_now())).collect::<Vec<_>>());
        drop(sender);
        join(blocked);
        assert!(runtime.shutdown(Shutdown::Drain).is_clean());
    }
    assert_eq!(block_in_place(|| 7), 7, "a plain call outside of a runtime");
}

#[test]
fn a_panic_in_place_leaves_the_worker_whole() {
    let _watchdog = watchdog();
    let runtime = runtime(1);
    let task = runtime.spawn(async { block_in_place(|| panic!("it is meant to")) });
    assert!(evenkeel::block_on(task).unwrap_err().is_panic());
    assert_eq!(join([runtime.spawn(async { block_in_place(|| 7) })]), [7]);
}

/// A worker sleeps until a timer is due, and is woken for a task that waits for that timer.
#[test]
fn a_timer_fires_beside_the_poll_for_which_its_worker_has_woken() {
    let _watchdog = watchdog();
    for workers in WORKERS {
        let runtime = runtime(workers);
        let fired = Flag::default();
        let flag = fired.clone();
        let timer = runtime.spawn(async move {
            time::sleep(Duration::from_millis(100)).await;
            flag.raise();
        });
        until(|| runtime.metrics().sleeping == workers);
        let stuck: Vec<_> = (0..workers)
            .map(|_| {
                let fired = fired.clone();
                runtime.spawn(async move { until(|| fired.is_raised()) })
            })
            .collect();
        join(stuck);
        join([timer]);
    }
}

/// Locks a mutex when it is woken.
struct Locks(Arc<Mutex<()>>);

impl Wake for Locks {
    fn wake(self: Arc<Self>) {
        drop(self.0.lock());
    }
}

/// The sleeper that fires the timers of a stuck worker wakes a task, and is blocked by the waker of
/// the next timer, which waits for that worker, which waits for the task.
#[test]
#[cfg(target_os = "linux")]
fn a_task_is_not_trapped_behind_the_waker_that_blocks_its_waker() {
    let _watchdog = watchdog();
    let runtime = runtime(2);
    let (ran, lock) = (Flag::default(), Arc::new(Mutex::new(())));
    let (tell, told) = mpsc::channel();
    let flag = ran.clone();
    let mut is_told = false;
    let waits = runtime.spawn(poll_fn(move |context| {
        if std::mem::replace(&mut is_told, true) {
            flag.raise();
            return Poll::Ready(());
        }
        tell.send(context.waker().clone()).unwrap();
        Poll::Pending
    }));
    let stuck = runtime.spawn(async move {
        let blocks = Arc::new(Locks(lock.clone())).into();
        let wakers = [told.recv().unwrap(), blocks];
        let at = time::Instant::now() + Duration::from_millis(50);
        let mut sleeps = wakers.each_ref().map(|_| Box::pin(time::sleep_until(at)));
        for (sleep, waker) in sleeps.iter_mut().zip(&wakers) {
            assert!(sleep.as_mut().poll(&mut Context::from_waker(waker)).is_pending());
        }
        let held = lock.lock();
        until(|| ran.is_raised());
        drop(held);
    });
    join([waits, stuck]);
}

#[test]
fn a_clock_stands_and_runs_without_reliefs() {
    let _watchdog = watchdog();
    for reliefs in [0, 1] {
        let runtime = Builder::new().workers(1).reliefs(reliefs).build().unwrap();
        runtime.block_on(async {
            time::pause();
            time::sleep(Duration::from_secs(3_600)).await;
            time::resume();
            time::sleep(Duration::from_millis(1)).await;
        });
    }
}

#[test]
fn operations_at_the_home_of_a_stuck_worker_are_made() {
    let _watchdog = watchdog();
    for (name, way) in WAYS {
        let (runtime, stop) = (runtime(2), Flag::default());
        let objects: Vec<_> = (0..2)
            .map(|home| {
                let object = async move { Object::new(0).placed("home", Placement::Home).at(home) };
                runtime.block_on(object)
            })
            .collect();
        let stuck = occupy(&runtime, 2, way, &stop);
        let tasks: Vec<_> = (0..100)
            .map(|number| {
                let objects = objects.clone();
                runtime.spawn(async move {
                    for turn in 0..2 {
                        let object: &Object<u32> = &objects[(number + turn) % 2];
                        object.with(|count| *count += 1).await.unwrap();
                    }
                })
            })
            .collect();
        join(tasks);
        for object in objects {
            assert_eq!(object.call_blocking(|count| *count), Ok(100), "{name}");
        }
        stop.raise();
        join(stuck);
    }
}

#[test]
fn a_call_from_outside_runs_beside_workers_that_block_in_place() {
    let _watchdog = watchdog();
    for workers in [1, 2] {
        let runtime = runtime(workers);
        let handle = runtime.handle();
        let blocked: Vec<_> = (0..workers)
            .map(|_| {
                let handle = handle.clone();
                runtime.spawn(async move {
                    block_in_place(|| {
                        std::thread::scope(|scope| {
                            scope.spawn(|| handle.install(|| 7)).join().unwrap()
                        })
                    })
                })
            })
            .collect();
        assert_eq!(join(blocked), vec![7; workers]);
    }
}

/// Keeps the calling thread, and those that it starts, on one core.
#[cfg(target_os = "linux")]
fn stay_on_one_core() {
    use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};
    let all = sched_getaffinity(None).unwrap();
    let mut one = CpuSet::new();
    one.set((0..CpuSet::MAX_CPU).find(|&core| all.is_set(core)).unwrap());
    sched_setaffinity(None, &one).unwrap();
}

/// Each task in turn keeps its thread until all others have run once more, and they yield
/// meanwhile. So the only worker is stuck again and again, beside reliefs that always have tasks:
/// on one core two reliefs come to have some.
#[cfg(target_os = "linux")]
#[test]
fn tasks_of_the_only_worker_run_beside_reliefs_whose_tasks_yield_for_ever() {
    // By a thread of its own: where tests run one after the other, the next is on all cores.
    std::thread::spawn(take_turns_on_one_core).join().unwrap();
}

#[cfg(target_os = "linux")]
fn take_turns_on_one_core() {
    const TASKS: usize = 100;
    const ROUNDS: usize = 300;
    let _watchdog = watchdog();
    stay_on_one_core();
    let runtime = runtime(1);
    let round = Arc::new(AtomicUsize::new(0));
    let seen: Arc<[AtomicUsize]> = (0..TASKS).map(|_| AtomicUsize::new(0)).collect();
    let task = |me: usize| {
        let (round, seen) = (round.clone(), seen.clone());
        async move {
            loop {
                let now = round.load(Ordering::Acquire);
                seen[me].store(now, Ordering::Release);
                if now == ROUNDS {
                    return;
                }
                // Neighbours in the order of their turns are not neighbours in a queue.
                if now * 7 % TASKS == me {
                    let has_run = |seen: &AtomicUsize| seen.load(Ordering::Acquire) == now;
                    while !seen.iter().all(has_run) {
                        spin_loop();
                    }
                    round.store(now + 1, Ordering::Release);
                } else {
                    yield_now().await;
                }
            }
        }
    };
    let tasks: Vec<_> = (0..TASKS).map(|me| runtime.spawn(task(me))).collect();
    join(tasks);
}

/// The process is stopped and continued, again and again: no poll of a few microseconds counts as
/// stuck because of that. A machine that is virtual may be paused too, inside a poll that the guest
/// takes for a computation: so one of three attempts is enough.
#[cfg(target_os = "linux")]
#[test]
fn a_process_that_was_stopped_has_no_stuck_workers() {
    const CHILD: &str = "EVENKEEL_STOPPED_CHILD";
    let _watchdog = watchdog();
    if std::env::var_os(CHILD).is_some() {
        return tick_until_told();
    }
    let attempt = || {
        let mut child = std::process::Command::new(std::env::current_exe().unwrap())
            .args(["a_process_that_was_stopped_has_no_stuck_workers", "--exact", "--nocapture"])
            .env(CHILD, "1")
            .stdin(std::process::Stdio::piped())
            .stdout(std::process::Stdio::null())
            .spawn()
            .unwrap();
        let process = rustix::process::Pid::from_child(&child);
        for _ in 0..10 {
            std::thread::sleep(Duration::from_millis(20));
            rustix::process::kill_process(process, rustix::process::Signal::STOP).unwrap();
            std::thread::sleep(Duration::from_millis(60));
            rustix::process::kill_process(process, rustix::process::Signal::CONT).unwrap();
        }
        drop(child.stdin.take());
        child.wait().unwrap().success()
    };
    assert!((0..3).any(|_| attempt()));
}

/// Polls short polls on all workers until the input ends.
#[cfg(target_os = "linux")]
fn tick_until_told() {
    let (runtime, stop) = (runtime(2), Flag::default());
    let tasks: Vec<_> = (0..4)
        .map(|_| {
            let stop = stop.clone();
            runtime.spawn(async move {
                while !stop.is_raised() {
                    (0..1_000).for_each(|_| spin_loop());
                    yield_now().await;
                }
            })
        })
        .collect();
    std::io::copy(&mut std::io::stdin(), &mut std::io::sink()).unwrap();
    stop.raise();
    join(tasks);
    assert!(runtime.metrics().reliefs.is_empty(), "{}", runtime.metrics());
}
