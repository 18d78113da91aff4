//! Handles of tasks and closures that a shutdown leaves behind inside polls that do not return:
//! each finishes as stuck, and what the poll does later changes nothing and loses nothing.

use crate::common::counting::Counting;
use crate::common::named::{named, names};
use crate::common::panics::message_of;
use crate::common::stuck::Stuck;
use crate::common::until::until;
use crate::common::watchdog::watchdog;
use evenkeel::sync::Semaphore;
use evenkeel::sync::monitor::Monitor;
use evenkeel::task::{self, park};
use evenkeel::time::{sleep, sleep_until};
use evenkeel::{Builder, Handle, JoinError, JoinHandle, Runtime, Shutdown};
use futures::FutureExt;
use std::future::{Future, pending, poll_fn};
use std::pin::{Pin, pin};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, mpsc};
use std::task::{Context, Poll, Wake, Waker};
use std::thread;
use std::time::Duration;

/// A shutdown that waits for nothing.
const AT_ONCE: Shutdown =
    Shutdown::DeadlineAndGrace { deadline: Duration::ZERO, grace: Duration::ZERO };

/// A shutdown with an ordinary grace.
const SOON: Shutdown = Shutdown::Deadline(Duration::from_millis(5));

/// What a stuck poll or closure does when it is released.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    Returns,
    Panics,
    IsPending,
}

/// How a task comes to block: as a poll, or as a blocking closure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Task,
    Closure,
}

/// The kinds with the ends that they can have.
const ENDS: [(Kind, End); 5] = [
    (Kind::Task, End::Returns),
    (Kind::Task, End::Panics),
    (Kind::Task, End::IsPending),
    (Kind::Closure, End::Returns),
    (Kind::Closure, End::Panics),
];

/// A runtime in which a task or closure is stuck. `kept` is in the future and in the output.
struct Subject {
    runtime: Runtime,
    stuck: Stuck,
    kept: Arc<()>,
    panics: Arc<AtomicUsize>,
}

impl Subject {
    fn new(kind: Kind, end: End) -> (Self, JoinHandle<Arc<()>>) {
        let panics = Arc::new(AtomicUsize::new(0));
        let counted = panics.clone();
        let runtime = Builder::new()
            .workers(2)
            .on_task_panic(move |_| {
                counted.fetch_add(1, Ordering::AcqRel);
            })
            .build()
            .unwrap();
        let (stuck, kept) = (Stuck::new(), Arc::new(()));
        let (body, own) = (stuck.body(), kept.clone());
        let blocks = move || {
            body();
            assert!(end != End::Panics, "meant");
            own
        };
        let handle = match kind {
            Kind::Task => runtime.spawn(async move {
                let output = blocks();
                if end == End::IsPending {
                    pending::<()>().await;
                }
                output
            }),
            Kind::Closure => runtime.spawn_blocking(blocks),
        };
        stuck.begun();
        (Self { runtime, stuck, kept, panics }, handle)
    }

    /// Shuts down, and returns what lets the poll return and waits for its end.
    fn shutdown(self, mode: Shutdown) -> impl FnOnce() {
        let report = self.runtime.shutdown(mode);
        assert_eq!((report.stuck.len(), report.aborted.len()), (1, 0), "{report}");
        assert_eq!(Arc::strong_count(&self.kept), 2, "the poll has not returned");
        move || {
            self.stuck.release();
            until(|| Arc::strong_count(&self.kept) == 1);
            let _ = self.panics;
        }
    }
}

fn is_stuck<T>(joined: Result<T, JoinError>) -> bool {
    joined.is_err_and(|error| error.is_stuck() && !error.is_cancelled() && !error.is_panic())
}

/// Polls a handle once, with a waker that counts.
fn poll_once<T>(handle: &mut JoinHandle<T>, wakes: &Arc<Counting>) -> Poll<Result<T, JoinError>> {
    let waker = Waker::from(wakes.clone());
    Pin::new(handle).poll(&mut Context::from_waker(&waker))
}

#[test]
fn a_waiter_in_another_runtime_is_woken() {
    let _watchdog = watchdog();
    for (kind, end) in ENDS {
        for mode in [AT_ONCE, SOON] {
            let outer = Builder::new().workers(1).build().unwrap();
            let (subject, mut handle) = Subject::new(kind, end);
            let waits = Arc::new(AtomicBool::new(false));
            let waiter = outer.spawn({
                let waits = waits.clone();
                poll_fn(move |context| {
                    let joined = Pin::new(&mut handle).poll(context);
                    waits.store(true, Ordering::Release);
                    joined
                })
            });
            until(|| waits.load(Ordering::Acquire));
            let release = subject.shutdown(mode);
            assert!(is_stuck(outer.block_on(waiter).unwrap()), "{kind:?} {end:?} {mode:?}");
            release();
        }
    }
}

#[test]
fn a_waiting_thread_is_woken() {
    let _watchdog = watchdog();
    for (kind, end) in ENDS {
        let (subject, handle) = Subject::new(kind, end);
        let waiter = thread::spawn(|| evenkeel::block_on(handle));
        // It has begun to wait, or is about to: either way it comes back.
        thread::sleep(Duration::from_millis(1));
        let release = subject.shutdown(AT_ONCE);
        assert!(is_stuck(waiter.join().unwrap()));
        release();
    }
}

#[test]
fn a_handle_that_is_first_polled_after_the_shutdown_is_stuck() {
    let _watchdog = watchdog();
    for (kind, end) in ENDS {
        let (subject, mut handle) = Subject::new(kind, end);
        assert!(!handle.is_finished());
        let release = subject.shutdown(AT_ONCE);
        assert!(handle.is_finished());
        let wakes = Arc::default();
        let Poll::Ready(joined) = poll_once(&mut handle, &wakes) else { panic!("it is given up") };
        assert!(is_stuck(joined));
        assert!(handle.is_finished());
        release();
        assert_eq!(wakes.wakes(), 0);
    }
}

/// Whatever the poll's end, the first answer stands.
#[test]
fn a_handle_that_is_polled_after_the_poll_has_returned_is_still_stuck() {
    let _watchdog = watchdog();
    for (kind, end) in ENDS {
        for is_polled_before in [false, true] {
            let (subject, mut handle) = Subject::new(kind, end);
            let wakes = Arc::default();
            if is_polled_before {
                assert!(poll_once(&mut handle, &wakes).is_pending());
            }
            let panics = subject.panics.clone();
            let release = subject.shutdown(AT_ONCE);
            assert_eq!(wakes.wakes(), usize::from(is_polled_before));
            release();
            assert!(is_stuck(evenkeel::block_on(handle)));
            assert_eq!(wakes.wakes(), usize::from(is_polled_before));
            if end == End::Panics {
                until(|| panics.load(Ordering::Acquire) == 1);
            }
            assert_eq!(panics.load(Ordering::Acquire), usize::from(end == End::Panics));
        }
    }
}

#[test]
fn a_handle_may_be_dropped_at_any_time() {
    let _watchdog = watchdog();
    for (kind, end) in ENDS {
        for is_polled in [false, true] {
            // Before the shutdown, after it, after the poll's return.
            for time in 0..3 {
                let (subject, mut handle) = Subject::new(kind, end);
                if is_polled {
                    assert!(poll_once(&mut handle, &Arc::default()).is_pending());
                }
                let mut handle = Some(handle);
                if time == 0 {
                    handle = None;
                }
                let release = subject.shutdown(AT_ONCE);
                if time == 1 {
                    handle = None;
                }
                release();
                drop(handle);
            }
        }
    }
}

#[test]
fn an_abort_before_the_shutdown_or_after_it_changes_nothing() {
    let _watchdog = watchdog();
    for (kind, end) in ENDS {
        let (subject, handle) = Subject::new(kind, end);
        handle.abort();
        let reference = handle.task();
        let release = subject.shutdown(AT_ONCE);
        handle.abort();
        reference.unpark();
        assert_eq!(handle.task().id(), handle.id());
        assert!(is_stuck(evenkeel::block_on(handle)));
        reference.abort();
        release();
        reference.unpark();
    }
}

#[test]
fn the_error_says_what_to_do() {
    let _watchdog = watchdog();
    let (subject, handle) = Subject::new(Kind::Task, End::Returns);
    let id = handle.id();
    let release = subject.shutdown(AT_ONCE);
    let error = evenkeel::block_on(handle).unwrap_err();
    assert_eq!(error.id(), id);
    assert_eq!(
        error.to_string(),
        format!(
            "task {id} is stuck: its runtime ended while the task was inside a poll that did not \
             return; find what blocks there, or shut down with a longer grace"
        )
    );
    let message = message_of(|| error.into_panic());
    let words = "so there is no panic to take: ask is_panic first";
    assert_eq!(message, format!("task {id} is stuck, {words}"));
    release();
}

#[test]
fn a_waker_that_panics_keeps_no_other_joiner_from_being_woken() {
    struct Panics;

    impl Wake for Panics {
        fn wake(self: Arc<Self>) {
            panic!("meant");
        }
    }

    let _watchdog = watchdog();
    let runtime = Builder::new().workers(2).build().unwrap();
    let stuck = Stuck::new();
    let mut handles: Vec<_> = (0..4)
        .map(|number| {
            let begun = Stuck::new();
            let (inside, body) = (begun.body(), stuck.body());
            begun.release();
            let blocks = move || {
                inside();
                body();
            };
            let handle = match number {
                0 | 1 => named(&runtime, "stuck", async move { blocks() }),
                _ => runtime.spawn_blocking(blocks),
            };
            begun.begun();
            handle
        })
        .collect();
    let wakes = Arc::default();
    for (number, handle) in handles.iter_mut().enumerate() {
        let waker = Waker::from(Arc::new(Panics));
        let polled = match number % 2 {
            0 => Pin::new(handle).poll(&mut Context::from_waker(&waker)),
            _ => poll_once(handle, &wakes),
        };
        assert!(polled.is_pending());
    }
    assert_eq!(runtime.shutdown(AT_ONCE).stuck.len(), 4);
    assert_eq!(wakes.wakes(), 2);
    stuck.release();
    assert!(handles.into_iter().all(|handle| is_stuck(evenkeel::block_on(handle))));
}

/// The runtime's own task cannot wait for the others, whatever the deadline.
#[test]
fn a_detached_shutdown_gives_no_handle_up() {
    let _watchdog = watchdog();
    for kind in [Kind::Task, Kind::Closure] {
        let (subject, handle) = Subject::new(kind, End::Returns);
        let runtime = subject.runtime.handle();
        let Subject { runtime: own, stuck, .. } = subject;
        let (give, take) = mpsc::channel::<Runtime>();
        let ender = runtime.spawn(async move { take.recv().unwrap().shutdown(AT_ONCE) });
        give.send(own).unwrap();
        let report = evenkeel::block_on(ender).unwrap();
        assert!(report.detached && report.stuck.is_empty(), "{report}");
        assert!(!handle.is_finished());
        stuck.release();
        evenkeel::block_on(handle).expect("the output is kept for the handle");
    }
}

#[test]
fn a_detached_runtime_gives_no_handle_up() {
    let _watchdog = watchdog();
    let (subject, handle) = Subject::new(Kind::Task, End::Returns);
    let Subject { runtime, stuck, .. } = subject;
    runtime.detach();
    assert!(!handle.is_finished());
    stuck.release();
    evenkeel::block_on(handle).expect("the poll has returned");
}

/// Polls that return about when the grace ends: each handle has the output or is stuck, and the
/// report agrees.
#[test]
fn a_poll_that_returns_as_the_grace_ends_is_complete_or_stuck() {
    const ROUNDS: u64 = 150;

    let _watchdog = watchdog();
    let mut outcomes = [0; 2];
    for round in 0..ROUNDS {
        let kind = if round % 2 == 0 { Kind::Task } else { Kind::Closure };
        let (subject, mut handle) = Subject::new(kind, End::Returns);
        let Subject { runtime, stuck, kept, .. } = subject;
        if round % 3 == 0 {
            assert!(poll_once(&mut handle, &Arc::default()).is_pending());
        }
        let id = handle.id();
        let waiter = thread::spawn(|| evenkeel::block_on(handle));
        let release = thread::spawn(move || {
            thread::sleep(Duration::from_micros(round % 10 * 30));
            stuck.release();
        });
        let report = runtime.shutdown(AT_ONCE);
        let joined = waiter.join().unwrap();
        match joined {
            Ok(output) => {
                outcomes[0] += 1;
                assert!(report.stuck.iter().all(|task| task.id != id), "{report}");
                drop(output);
            }
            Err(error) => {
                outcomes[1] += 1;
                assert!(error.is_stuck(), "{error}");
                assert_eq!(report.stuck.iter().filter(|task| task.id == id).count(), 1);
            }
        }
        release.join().unwrap();
        until(|| Arc::strong_count(&kept) == 1);
    }
    println!("{} complete, {} stuck", outcomes[0], outcomes[1]);
}

/// Its destructor does not return until it is told to.
struct Blocks(Stuck);

impl Drop for Blocks {
    fn drop(&mut self) {
        self.0.body()();
    }
}

/// The threads that come to the aborted tasks, or take them out of their queues, race with the end
/// of the shutdown.
#[test]
fn tasks_that_only_wait_are_cancelled_by_a_shutdown_that_waits_for_nothing() {
    let _watchdog = watchdog();
    for (count, rounds) in [(1, 100), (20, 200), (1_000, 100)] {
        for _ in 0..rounds {
            let runtime = Builder::new().workers(2).build().unwrap();
            let tasks: Vec<_> = (0..count).map(|_| runtime.spawn(pending::<()>())).collect();
            // The polls are counted when their batch is over.
            until(|| runtime.metrics().sum(|processor| processor.polls) >= count);
            let report = runtime.shutdown(AT_ONCE);
            assert!(report.stuck.is_empty(), "{report}");
            for task in tasks {
                assert!(evenkeel::block_on(task).unwrap_err().is_cancelled());
            }
        }
    }
}

/// With a grace of zero the destructors have hardly begun when the ender returns.
#[test]
fn a_destructor_that_blocks_after_the_shutdown_keeps_no_handle_waiting() {
    let _watchdog = watchdog();
    let runtime = Builder::new().workers(1).build().unwrap();
    let poll = Stuck::new();
    let body = poll.body();
    let stuck = named(&runtime, "stuck", async move { body() });
    poll.begun();
    let destructors: Vec<_> = (0..5).map(|_| Stuck::new()).collect();
    let blocked: Vec<_> = destructors
        .iter()
        .map(|destructor| {
            let blocks = Blocks(destructor.clone());
            named(&runtime, "blocks", async move {
                let _blocks = blocks;
                pending().await
            })
        })
        .collect();
    let waiting: Vec<_> = (0..50).map(|_| named(&runtime, "waits", pending())).collect();
    let report = runtime.shutdown(AT_ONCE);
    assert!(names(&report.stuck).contains(&"stuck"), "{report}");
    assert_eq!(report.stuck.len() + report.aborted.len(), 56, "{report}");
    assert!(is_stuck(evenkeel::block_on(stuck)));
    for handle in blocked {
        assert!(is_stuck(evenkeel::block_on(handle)));
    }
    for handle in waiting {
        assert!(evenkeel::block_on(handle).unwrap_err().is_cancelled());
    }
    destructors.iter().for_each(Stuck::release);
    poll.release();
}

/// Calls `act` inside a poll that was reported as stuck, after its runtime has gone.
fn inside_a_stuck_poll<R: Send + 'static>(
    workers: usize,
    prepare: impl FnOnce(&Runtime),
    act: impl FnOnce() -> R + Send + 'static,
) -> R {
    let runtime = Builder::new().workers(workers).reliefs(0).build().unwrap();
    prepare(&runtime);
    let stuck = Stuck::new();
    let body = stuck.body();
    let (send, receive) = mpsc::channel();
    let handle = runtime.spawn(async move {
        body();
        send.send(act()).unwrap();
    });
    stuck.begun();
    // The other workers have time to drop what they have.
    let (deadline, grace) = (Duration::ZERO, Duration::from_millis(250));
    let report = runtime.shutdown(Shutdown::DeadlineAndGrace { deadline, grace });
    assert_eq!(report.stuck.len(), 1, "{report}");
    assert!(is_stuck(evenkeel::block_on(handle)));
    stuck.release();
    receive.recv().expect("it does not panic")
}

/// The handle of a refused task finishes while the poll is still inside. Another worker may have
/// the task, and is about to drop it.
fn is_refused<T>(handle: JoinHandle<T>, kept: &Arc<()>) -> bool {
    until(|| handle.is_finished());
    let joined = handle.now_or_never().expect("it is finished");
    assert_eq!(Arc::strong_count(kept), 1, "the future is dropped");
    joined.is_err_and(|error| error.is_cancelled())
}

#[test]
fn what_a_stuck_poll_spawns_is_cancelled_at_once() {
    let _watchdog = watchdog();
    for workers in [1, 3] {
        inside_a_stuck_poll(
            workers,
            |_| (),
            || {
                let kept = Arc::new(());
                let future = || {
                    let kept = kept.clone();
                    async move { drop(kept) }
                };
                let closure = || {
                    let kept = kept.clone();
                    move || drop(kept)
                };
                for _ in 0..20 {
                    assert!(is_refused(evenkeel::spawn(future()), &kept));
                    assert!(is_refused(task::Builder::new().name("late").spawn(future()), &kept));
                    assert!(is_refused(Handle::current().spawn(future()), &kept));
                    assert!(is_refused(evenkeel::spawn_blocking(closure()), &kept));
                }
                let (handle, future) = (Handle::current(), future());
                let outside = thread::spawn(move || handle.spawn(future));
                assert!(is_refused(outside.join().unwrap(), &kept));
                assert!(Handle::current().is_shutting_down());
            },
        );
    }
}

#[test]
fn what_a_stuck_poll_wakes_is_complete() {
    let _watchdog = watchdog();
    for workers in [1, 3] {
        let (send, receive) = mpsc::channel();
        inside_a_stuck_poll(
            workers,
            move |runtime| {
                let parked = runtime.spawn(park());
                let semaphore = Arc::new(Semaphore::new(0));
                let waits = runtime.spawn({
                    let semaphore = semaphore.clone();
                    async move { semaphore.take().await }
                });
                until(|| semaphore.waiting() == 1);
                send.send((parked, waits, semaphore)).unwrap();
            },
            move || {
                let (parked, waits, semaphore) = receive.recv().unwrap();
                // Reapers drop them.
                until(|| parked.is_finished() && waits.is_finished());
                parked.task().unpark();
                waits.task().abort();
                semaphore.add_permits(1);
                assert!(semaphore.try_acquire().is_some(), "the waiter has left");
                task::current().unpark();
                assert!(parked.now_or_never().unwrap().unwrap_err().is_cancelled());
                assert!(waits.now_or_never().unwrap().unwrap_err().is_cancelled());
            },
        );
    }
}

#[test]
fn a_stuck_poll_may_arm_timers_and_they_end_with_it() {
    let _watchdog = watchdog();
    for workers in [1, 2] {
        inside_a_stuck_poll(
            workers,
            |_| (),
            || {
                let before = evenkeel::time::Instant::now();
                let mut timer = pin!(sleep(Duration::from_secs(3_600)));
                assert!(timer.as_mut().now_or_never().is_none());
                let earlier = before - Duration::from_secs(1);
                assert!(sleep_until(earlier).now_or_never().is_some());
                let armed = Handle::current().metrics().sum(|processor| processor.timers_armed);
                assert!(armed >= 1);
                thread::sleep(Duration::from_millis(2));
                assert!(before.elapsed() >= Duration::from_millis(2), "the clock goes on");
            },
        );
    }
}

#[test]
fn a_stuck_poll_may_enter_what_is_free() {
    let _watchdog = watchdog();
    for workers in [1, 2] {
        inside_a_stuck_poll(
            workers,
            |_| (),
            || {
                let monitor = Monitor::new(1);
                *monitor.enter().now_or_never().expect("it is free") += 1;
                assert_eq!(*monitor.try_enter().expect("it is free"), 2);
                let sum = evenkeel::fork_join::join(|| 4, || 5);
                assert_eq!(sum, (4, 5));
                let ran = AtomicUsize::new(0);
                evenkeel::fork_join::scope(|scope| {
                    for _ in 0..10 {
                        scope.spawn(|_| {
                            ran.fetch_add(1, Ordering::Relaxed);
                        });
                    }
                });
                assert_eq!(ran.load(Ordering::Relaxed), 10);
            },
        );
    }
}

/// What it holds when it returns is released, though its task is aborted then.
#[test]
fn a_stuck_poll_that_goes_on_to_wait_drops_what_it_holds() {
    let _watchdog = watchdog();
    let runtime = Builder::new().workers(1).build().unwrap();
    let (stuck, monitor) = (Stuck::new(), Arc::new(Monitor::new(0)));
    let body = stuck.body();
    let handle = runtime.spawn({
        let monitor = monitor.clone();
        async move {
            let mut inside = monitor.enter().await;
            body();
            *inside += 1;
            sleep(Duration::from_secs(3_600)).await;
            *inside += 1;
        }
    });
    stuck.begun();
    let runtime_handle = runtime.handle();
    runtime.shutdown(AT_ONCE);
    assert!(is_stuck(evenkeel::block_on(handle)));
    assert!(monitor.try_enter().is_none());
    stuck.release();
    until(|| Arc::strong_count(&monitor) == 1);
    assert_eq!(*monitor.try_enter().expect("the task has left it"), 1);
    until(|| {
        let metrics = runtime_handle.metrics();
        metrics.sum(|p| p.timers_armed) == metrics.sum(|p| p.timers_fired + p.timers_cancelled)
    });
}
