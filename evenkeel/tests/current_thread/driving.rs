//! Which thread drives, and what wakes it.

use super::{here, paused, runtime};
use crate::common::until::until;
use crate::common::watchdog::watchdog;
use evenkeel::net::{TcpListener, TcpStream};
use evenkeel::sync::Semaphore;
use evenkeel::time::{Duration, Instant, interval, sleep, timeout};
use evenkeel::{Builder, Handle, spawn, yield_now};
use std::future::{Future, pending, poll_fn};
use std::io::{Read, Write};
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Barrier, Mutex, mpsc};
use std::task::{Context, Poll, Waker};
use std::thread;

/// A flag that one future waits for.
#[derive(Default)]
struct Flag {
    is_set: AtomicBool,
    waker: Mutex<Option<Waker>>,
}

impl Flag {
    fn set(&self) {
        self.is_set.store(true, Ordering::Release);
        if let Some(waker) = self.waker.lock().unwrap().take() {
            waker.wake();
        }
    }

    fn poll(&self, context: &Context<'_>) -> Poll<()> {
        let mut waker = self.waker.lock().unwrap();
        if self.is_set.load(Ordering::Acquire) {
            return Poll::Ready(());
        }
        *waker = Some(context.waker().clone());
        Poll::Pending
    }

    async fn wait(&self) {
        poll_fn(|context| self.poll(context)).await;
    }

    fn is_awaited(&self) -> bool {
        self.waker.lock().unwrap().is_some()
    }
}

#[test]
fn tasks_run_inside_block_on_and_on_its_thread_alone() {
    let _watchdog = watchdog();
    let runtime = runtime();
    let polls = Arc::new(Mutex::new(Vec::new()));
    let noted = polls.clone();
    let handle = runtime.handle();
    let task = thread::spawn(move || {
        handle.spawn(async move {
            for _ in 0..10 {
                noted.lock().unwrap().push(here());
                yield_now().await;
            }
        })
    });
    let task = task.join().unwrap();
    assert!(polls.lock().unwrap().is_empty(), "no thread drives");
    runtime.block_on(yield_now());
    runtime.block_on(task).unwrap();
    assert_eq!(*polls.lock().unwrap(), [here(); 10]);
}

/// It counts as a task, also where it yields because its slice is over.
#[test]
fn the_future_goes_behind_the_tasks_that_are_ready() {
    let _watchdog = watchdog();
    for number in [1, 2, 20, 500] {
        let runtime = runtime();
        runtime.block_on(async {
            for round in 1..=3 {
                let polls = Arc::new(AtomicUsize::new(0));
                for _ in 0..number {
                    let polls = polls.clone();
                    drop(spawn(async move { polls.fetch_add(1, Ordering::Relaxed) }));
                }
                if round < 3 {
                    yield_now().await;
                } else {
                    let permits = Semaphore::new(1);
                    while polls.load(Ordering::Relaxed) == 0 {
                        drop(permits.acquire().await);
                    }
                }
                assert_eq!(polls.load(Ordering::Relaxed), number, "round {round}");
            }
        });
    }
}

#[test]
fn what_the_future_spawns_goes_on_in_the_next_block_on() {
    let _watchdog = watchdog();
    let runtime = runtime();
    let steps = Arc::new(AtomicUsize::new(0));
    let counted = steps.clone();
    let endless = async move {
        loop {
            counted.fetch_add(1, Ordering::Relaxed);
            yield_now().await;
        }
    };
    let abort = runtime.block_on(async { spawn(endless).abort_handle() });
    let before = steps.load(Ordering::Relaxed);
    thread::yield_now();
    assert_eq!(steps.load(Ordering::Relaxed), before, "no thread drives");
    runtime.block_on(async {
        while steps.load(Ordering::Relaxed) < before + 1_000 {
            yield_now().await;
        }
    });
    abort.abort();
    runtime.block_on(async {
        while !abort.is_finished() {
            yield_now().await;
        }
    });
}

/// The driver's future and the tasks take turns, whichever of them is always ready.
#[test]
fn a_future_that_is_always_ready_lets_tasks_run() {
    let _watchdog = watchdog();
    let runtime = runtime();
    let flag = Arc::new(AtomicBool::new(false));
    let seen = flag.clone();
    runtime.block_on(async move {
        drop(spawn(async move { seen.store(true, Ordering::Relaxed) }));
        let permits = evenkeel::sync::Semaphore::new(1);
        while !flag.load(Ordering::Relaxed) {
            drop(permits.acquire().await);
        }
        assert!(evenkeel::budget::remaining().is_some(), "the future has a budget");
    });
}

#[test]
fn tasks_that_are_always_ready_let_the_future_run() {
    let _watchdog = watchdog();
    let runtime = runtime();
    for _ in 0..100 {
        drop(runtime.spawn(async {
            loop {
                yield_now().await;
            }
        }));
    }
    runtime.block_on(async {
        for _ in 0..100 {
            yield_now().await;
        }
    });
}

#[test]
fn other_threads_wake_the_future_and_the_tasks() {
    let _watchdog = watchdog();
    let runtime = runtime();
    for _ in 0..200 {
        let flags: [Arc<Flag>; 3] = Default::default();
        let [of_main, of_task, of_both] = flags.clone();
        let waker = thread::spawn(move || flags.iter().for_each(|flag| flag.set()));
        runtime.block_on(async move {
            let task = spawn(async move {
                of_task.wait().await;
                of_both.wait().await;
            });
            of_main.wait().await;
            task.await.unwrap();
        });
        waker.join().unwrap();
    }
}

/// The wake comes once the driver has nothing to do: it sleeps, or is about to.
#[test]
fn a_driver_that_sleeps_is_woken() {
    let _watchdog = watchdog();
    let runtime = runtime();
    for round in 0..200 {
        let flag = Arc::new(Flag::default());
        let set = flag.clone();
        let waker = thread::spawn(move || {
            until(|| set.is_awaited());
            (0..round).for_each(|_| thread::yield_now());
            set.set();
        });
        if round % 2 == 0 {
            runtime.block_on(flag.wait());
        } else {
            runtime.block_on(async { spawn(async move { flag.wait().await }).await.unwrap() });
        }
        waker.join().unwrap();
    }
}

/// With a socket the driver sleeps in the set of the sockets.
#[test]
fn a_driver_that_sleeps_among_its_sockets_is_woken() {
    let _watchdog = watchdog();
    let runtime = runtime();
    let listener = runtime.block_on(async {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        // A listener that no peer connects to keeps the set in use.
        assert!(futures::poll!(std::pin::pin!(listener.accept())).is_pending());
        listener
    });
    for round in 0..200 {
        let flag = Arc::new(Flag::default());
        let set = flag.clone();
        let waker = thread::spawn(move || {
            until(|| set.is_awaited());
            (0..round).for_each(|_| thread::yield_now());
            set.set();
        });
        if round % 2 == 0 {
            runtime.block_on(flag.wait());
        } else {
            runtime.block_on(async { spawn(async move { flag.wait().await }).await.unwrap() });
        }
        waker.join().unwrap();
    }
    drop(listener);
}

#[test]
fn timers_fire_in_the_future_and_in_tasks() {
    let _watchdog = watchdog();
    let runtime = runtime();
    let start = Instant::now();
    runtime.block_on(async {
        let task = spawn(sleep(Duration::from_millis(4)));
        sleep(Duration::from_millis(2)).await;
        task.await.unwrap();
        assert!(timeout(Duration::from_millis(1), pending::<()>()).await.is_err());
    });
    assert!(start.elapsed() >= Duration::from_millis(4));
    // A timer that has become due while no thread drives.
    let task = runtime.spawn(sleep(Duration::from_millis(1)));
    runtime.block_on(yield_now());
    thread::sleep(Duration::from_millis(2));
    runtime.block_on(task).unwrap();
    // A thread that has entered the runtime drives it too.
    let _entered = runtime.enter();
    evenkeel::block_on(sleep(Duration::from_millis(1)));
}

#[test]
fn a_clock_that_stands_moves_while_the_driver_is_idle() {
    let _watchdog = watchdog();
    let runtime = paused();
    runtime.block_on(async {
        let start = Instant::now();
        let hour = Duration::from_secs(3_600);
        let task = spawn(sleep(hour * 2));
        sleep(hour).await;
        assert_eq!(start.elapsed(), hour);
        task.await.unwrap();
        assert_eq!(start.elapsed(), hour * 2);
        // A closure that runs keeps the clock where it is.
        let closure = evenkeel::spawn_blocking(|| thread::sleep(Duration::from_millis(2)));
        timeout(hour, closure).await.unwrap().unwrap();
        assert_eq!(start.elapsed(), hour * 2);
        let mut ticks = interval(Duration::from_secs(1));
        for _ in 0..10 {
            ticks.tick().await;
        }
        assert_eq!(start.elapsed(), hour * 2 + Duration::from_secs(9));
    });
}

/// The futures of all threads, and the tasks, have to be idle before the clock moves.
#[test]
fn a_clock_that_stands_moves_for_waiters_too() {
    let _watchdog = watchdog();
    for _ in 0..100 {
        let runtime = paused();
        let hour = Duration::from_secs(3_600);
        let start = runtime.block_on(async { Instant::now() });
        thread::scope(|scope| {
            for hours in 1..=3 {
                let runtime = &runtime;
                scope.spawn(move || {
                    runtime.block_on(async {
                        let task = spawn(evenkeel::time::sleep_until(start + hour * hours));
                        evenkeel::time::sleep_until(start + hour * hours).await;
                        task.await.unwrap();
                    });
                });
            }
        });
        assert_eq!(runtime.block_on(async { start.elapsed() }), hour * 3);
    }
}

/// The driver sleeps on a futex, and goes into the set of the sockets that a waiter opens.
#[test]
fn a_waiter_s_sockets_are_looked_at_by_the_driver() {
    let _watchdog = watchdog();
    for _ in 0..20 {
        let runtime = runtime();
        let flag = Flag::default();
        thread::scope(|scope| {
            scope.spawn(|| runtime.block_on(flag.wait()));
            until(|| flag.is_awaited());
            runtime.block_on(async {
                let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
                let address = listener.local_addr().unwrap();
                let echo = async {
                    let (stream, _) = listener.accept().await.unwrap();
                    let mut buffer = [0; 1];
                    while let Ok(1) = stream.read(&mut buffer).await {
                        stream.write_all(&buffer).await.unwrap();
                    }
                };
                let client = async {
                    let stream = TcpStream::connect(address).await.unwrap();
                    for round in 0..50 {
                        stream.write_all(&[round]).await.unwrap();
                        let mut answer = [0; 1];
                        stream.read_exact(&mut answer).await.unwrap();
                        assert_eq!(answer, [round]);
                    }
                };
                futures::join!(echo, client);
            });
            flag.set();
        });
    }
}

#[test]
fn connections_echo_in_both_directions() {
    let _watchdog = watchdog();
    let runtime = runtime();
    let listener = runtime.block_on(TcpListener::bind("127.0.0.1:0")).unwrap();
    let address = listener.local_addr().unwrap();
    let server = runtime.spawn(async move {
        loop {
            let (stream, _) = listener.accept().await.unwrap();
            drop(spawn(async move {
                let mut buffer = [0; 64];
                while let Ok(1..) = stream.read(&mut buffer).await {
                    stream.write_all(&buffer).await.unwrap();
                }
            }));
        }
    });
    // Between the driver's own future and tasks.
    runtime.block_on(async {
        let stream = TcpStream::connect(address).await.unwrap();
        for round in 0..100 {
            stream.write_all(&[round; 64]).await.unwrap();
            let mut answer = [0; 64];
            stream.read_exact(&mut answer).await.unwrap();
            assert_eq!(answer, [round; 64]);
        }
    });
    // From a thread outside, while the driver waits for that thread alone.
    let flag = Arc::new(Flag::default());
    let set = flag.clone();
    let client = thread::spawn(move || {
        let mut stream = std::net::TcpStream::connect(address).unwrap();
        for round in 0..100 {
            stream.write_all(&[round; 64]).unwrap();
            let mut answer = [0; 64];
            stream.read_exact(&mut answer).unwrap();
            assert_eq!(answer, [round; 64]);
        }
        set.set();
    });
    runtime.block_on(flag.wait());
    client.join().unwrap();
    server.abort();
    assert!(runtime.block_on(server).unwrap_err().is_cancelled());
}

/// Notes the threads that poll a future.
struct Polled<F> {
    future: Pin<Box<F>>,
    threads: Arc<Mutex<Vec<thread::ThreadId>>>,
}

impl<F: Future> Future for Polled<F> {
    type Output = F::Output;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<F::Output> {
        self.threads.lock().unwrap().push(here());
        self.future.as_mut().poll(context)
    }
}

#[test]
fn a_second_block_on_polls_its_own_future_and_takes_over_later() {
    let _watchdog = watchdog();
    let runtime = Arc::new(runtime());
    let [first, second, task_goes_on] = [(); 3].map(|()| Arc::new(Flag::default()));
    let threads = Arc::new(Mutex::new(Vec::new()));
    let task = {
        let (flag, threads) = (task_goes_on.clone(), threads.clone());
        runtime.spawn(async move {
            let future = Box::pin(async move { flag.wait().await });
            Polled { future, threads }.await;
        })
    };
    let driver = {
        let (runtime, first) = (runtime.clone(), first.clone());
        thread::spawn(move || runtime.block_on(async move { first.wait().await }))
    };
    let driver_id = driver.thread().id();
    // The task waits on the driver's thread.
    until(|| task_goes_on.is_awaited() && first.is_awaited());
    let other = {
        let (runtime, second) = (runtime.clone(), second.clone());
        thread::spawn(move || {
            runtime.block_on(async move {
                second.wait().await;
                task.await.unwrap();
                here()
            })
        })
    };
    let other_id = other.thread().id();
    until(|| second.is_awaited());
    // The future of a waiter goes on beside the driver.
    second.set();
    until(|| !second.is_awaited());
    // The driver leaves, and the task goes on.
    first.set();
    driver.join().unwrap();
    task_goes_on.set();
    assert_eq!(other.join().unwrap(), other_id);
    assert_eq!(*threads.lock().unwrap(), [driver_id, other_id]);
}

/// As many threads as tasks, each of which waits for the task of the next one: whichever thread
/// drives, and however often that changes, each of them comes to its end.
#[test]
fn threads_that_come_and_go_drive_each_other_s_tasks() {
    const THREADS: usize = 8;
    const ROUNDS: usize = 300;
    let _watchdog = watchdog();
    let runtime = Arc::new(runtime());
    let barrier = Arc::new(Barrier::new(THREADS));
    let flags: Arc<Vec<Vec<Flag>>> =
        Arc::new((0..ROUNDS).map(|_| (0..THREADS).map(|_| Flag::default()).collect()).collect());
    let threads = (0..THREADS).map(|me| {
        let (runtime, barrier, flags) = (runtime.clone(), barrier.clone(), flags.clone());
        thread::spawn(move || {
            barrier.wait();
            for round in 0..ROUNDS {
                let own = flags.clone();
                let task = runtime.spawn(async move {
                    own[round][me].wait().await;
                    yield_now().await;
                    round
                });
                flags[round][(me + 1) % THREADS].set();
                let joined = match (me + round) % 3 {
                    0 => runtime.block_on(task),
                    1 => runtime.handle().block_on(task),
                    _ => {
                        let _entered = runtime.enter();
                        evenkeel::block_on(async {
                            sleep(Duration::from_micros(100)).await;
                            task.await
                        })
                    }
                };
                assert_eq!(joined.unwrap(), round);
            }
        })
    });
    threads.collect::<Vec<_>>().into_iter().for_each(|thread| thread.join().unwrap());
    assert_eq!(runtime.metrics().processors.len(), 1);
    assert_eq!(runtime.metrics().spawned_outside, (THREADS * ROUNDS) as u64);
}

#[test]
fn the_hooks_of_a_worker_frame_each_drive() {
    let _watchdog = watchdog();
    let (sender, receiver) = mpsc::channel();
    let other = sender.clone();
    let runtime = Builder::new_current_thread()
        .on_worker_start(move |me| sender.send(("start", me, here())).unwrap())
        .on_worker_stop(move |me| {
            assert!(Handle::try_current().is_some());
            other.send(("stop", me, here())).unwrap();
        })
        .build()
        .unwrap();
    assert!(receiver.try_recv().is_err());
    let thread =
        thread::scope(|scope| scope.spawn(|| runtime.block_on(async { here() })).join().unwrap());
    runtime.block_on(yield_now());
    let calls: Vec<_> = receiver.try_iter().collect();
    let expected =
        [("start", 0, thread), ("stop", 0, thread), ("start", 0, here()), ("stop", 0, here())];
    assert_eq!(calls, expected);
}
