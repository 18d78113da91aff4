//! Runtimes that end after a deadline while workers are stuck: which tasks are reported, which
//! thread drops them, and what does not delay the ending thread.

use crate::common::named::{named, names};
use crate::common::stuck::Stuck;
use crate::common::until::until;
use crate::common::watchdog::watchdog;
use evenkeel::object::Object;
use evenkeel::sync::Semaphore;
use evenkeel::sync::monitor::{Condition, Monitor};
use evenkeel::task;
use evenkeel::time::{sleep, timeout};
use evenkeel::{Builder, JoinHandle, Runtime, Shutdown, ShutdownReport};
use futures::future::BoxFuture;
use futures::stream::{FuturesUnordered, StreamExt};
use std::cell::RefCell;
use std::future::pending;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, mpsc};
use std::time::Duration;

/// A deadline that endless tasks cannot keep.
const SOON: Duration = Duration::from_millis(20);

/// A runtime with every worker inside a poll that does not return, and the handles of those tasks.
struct AllStuck {
    runtime: Runtime,
    stuck: Vec<Stuck>,
    handles: Vec<JoinHandle<()>>,
}

impl AllStuck {
    fn new(workers: usize, relief: bool) -> Self {
        let runtime =
            Builder::new().workers(workers).reliefs(if relief { 64 } else { 0 }).build().unwrap();
        Self::of(runtime, workers)
    }

    fn of(runtime: Runtime, workers: usize) -> Self {
        let stuck: Vec<_> = (0..workers).map(|_| Stuck::new()).collect();
        let poll = |stuck: &Stuck| {
            let body = stuck.body();
            named(&runtime, "stuck", async move { body() })
        };
        let handles = stuck.iter().map(poll).collect();
        stuck.iter().for_each(Stuck::begun);
        Self { runtime, stuck, handles }
    }

    /// Ends the runtime while all are stuck, then calls `meanwhile`, and then lets the polls
    /// return.
    fn end(self, mode: Shutdown, meanwhile: impl FnOnce(&ShutdownReport)) {
        let report = self.runtime.shutdown(mode);
        assert!(self.handles.into_iter().all(is_stuck), "no handle waits for a poll");
        meanwhile(&report);
        self.stuck.iter().for_each(Stuck::release);
        self.stuck.iter().for_each(Stuck::returned);
    }
}

fn is_cancelled(handle: JoinHandle<()>) -> bool {
    evenkeel::block_on(handle).is_err_and(|error| error.is_cancelled())
}

fn is_stuck(handle: JoinHandle<()>) -> bool {
    evenkeel::block_on(handle).is_err_and(|error| error.is_stuck())
}

#[test]
fn tasks_that_stuck_workers_never_adopted_are_reported_and_dropped() {
    let _watchdog = watchdog();
    for (workers, relief) in [(1, true), (1, false), (2, true), (3, false)] {
        let all = AllStuck::new(workers, relief);
        let kept = Arc::new(());
        let waiting: Vec<_> = (0..1_000)
            .map(|_| {
                let kept = kept.clone();
                named(&all.runtime, "in an inbox", async move {
                    let _kept = kept;
                    pending().await
                })
            })
            .collect();
        all.end(Shutdown::Deadline(SOON), |report| {
            assert_eq!(names(&report.stuck), vec!["stuck"; workers]);
            assert_eq!(names(&report.aborted), ["in an inbox"; 1_000]);
            // The polls have not returned.
            assert!(waiting.into_iter().all(is_cancelled));
            assert_eq!(Arc::strong_count(&kept), 1, "the futures are dropped");
        });
    }
}

#[test]
fn tasks_that_merely_wait_at_stuck_workers_are_aborted_and_not_stuck() {
    let _watchdog = watchdog();
    let runtime = Builder::new().workers(2).build().unwrap();
    let kept = Arc::new(());
    let polled = Arc::new(AtomicUsize::new(0));
    let waiting: Vec<_> = (0..1_000)
        .map(|_| {
            let (kept, polled) = (kept.clone(), polled.clone());
            named(&runtime, "waits", async move {
                let _kept = kept;
                polled.fetch_add(1, Ordering::Release);
                pending().await
            })
        })
        .collect();
    until(|| polled.load(Ordering::Acquire) == 1_000);
    let handle = runtime.handle();
    AllStuck::of(runtime, 2).end(Shutdown::Deadline(SOON), |report| {
        assert_eq!(names(&report.stuck), ["stuck"; 2]);
        assert_eq!(names(&report.aborted), ["waits"; 1_000]);
        assert!(waiting.into_iter().all(is_cancelled));
        assert_eq!(Arc::strong_count(&kept), 1, "the futures are dropped");
        assert_eq!(handle.metrics().alive(), 2);
    });
}

/// Whatever they wait for, they leave it in order, on a thread that is no worker.
#[test]
fn tasks_that_wait_for_anything_at_stuck_workers_leave_it() {
    type Gate = (Semaphore, Monitor<u32, Condition>, Monitor<u32>, Object<u32>);
    type Wait = fn(Arc<Gate>, Duration) -> BoxFuture<'static, ()>;

    let _watchdog = watchdog();
    let runtime = Builder::new().workers(2).build().unwrap();
    let gate: Arc<Gate> =
        Arc::new((Semaphore::new(0), Monitor::default(), Monitor::new(0), Object::new(0)));
    let entered = gate.2.try_enter().expect("it is free");
    let held = runtime.block_on(gate.3.enter_held()).expect("no task has panicked inside");
    let hour = Duration::from_secs(3_600);
    let waits: [Wait; 9] = [
        |gate, _| Box::pin(async move { gate.0.take().await }),
        |gate, _| {
            Box::pin(async move {
                let held = gate.1.enter().await;
                drop(gate.1.conditions().wait(held).await);
            })
        },
        |gate, _| Box::pin(async move { *gate.2.enter().await += 1 }),
        |gate, _| Box::pin(async move { drop(gate.3.with(|value| *value += 1).await) }),
        |_, hour| Box::pin(sleep(hour)),
        |_, hour| {
            Box::pin(async move {
                let _ = timeout(hour, pending::<()>()).await;
            })
        },
        |_, _| Box::pin(task::park()),
        |_, _| {
            Box::pin(async {
                // The other task may be aborted first.
                drop(evenkeel::spawn(pending::<()>()).await);
                pending().await
            })
        },
        |_, _| {
            Box::pin(async {
                let _ = FuturesUnordered::from_iter([pending::<()>()]).next().await;
            })
        },
    ];
    let polled = Arc::new(AtomicUsize::new(0));
    let tasks: Vec<_> = waits
        .iter()
        .cycle()
        .take(10 * waits.len())
        .map(|wait| {
            let (wait, polled) = (wait(gate.clone(), hour), polled.clone());
            named(&runtime, "waits", async move {
                polled.fetch_add(1, Ordering::Release);
                wait.await;
            })
        })
        .collect();
    until(|| polled.load(Ordering::Acquire) == tasks.len() && gate.0.waiting() == 10);
    // Ten of the tasks have spawned one each.
    until(|| runtime.metrics().sum(|processor| processor.spawned) >= 10);
    AllStuck::of(runtime, 2).end(Shutdown::Deadline(SOON), |report| {
        assert_eq!(names(&report.stuck), ["stuck"; 2]);
        assert_eq!(report.aborted.len(), 100, "{report}");
        assert!(tasks.into_iter().all(is_cancelled));
        assert_eq!(gate.0.waiting(), 0);
        drop((entered, held));
        assert_eq!(*gate.2.try_enter().expect("the waiter has left"), 0);
        assert_eq!(gate.3.call_blocking(|value| *value), Ok(0));
    });
    assert_eq!(Arc::strong_count(&gate), 1);
}

/// Its destructor does not return until it is told to.
struct Blocks(Stuck);

impl Drop for Blocks {
    fn drop(&mut self) {
        self.0.body()();
    }
}

#[test]
fn a_destructor_that_blocks_is_stuck_and_keeps_no_other_task_from_being_dropped() {
    let _watchdog = watchdog();
    let all = AllStuck::new(2, true);
    let destructors: Vec<_> = (0..3).map(|_| Stuck::new()).collect();
    let mut blocked = Vec::new();
    let mut waiting = Vec::new();
    for destructor in &destructors {
        let blocks = Blocks(destructor.clone());
        blocked.push(named(&all.runtime, "blocks", async move {
            let _blocks = blocks;
            pending().await
        }));
        waiting.extend((0..50).map(|_| named(&all.runtime, "waits", pending())));
    }
    let limits = Shutdown::DeadlineAndGrace { deadline: SOON, grace: Duration::from_secs(1) };
    all.end(limits, |report| {
        assert_eq!(names(&report.stuck), ["blocks", "blocks", "blocks", "stuck", "stuck"]);
        assert_eq!(names(&report.aborted), ["waits"; 150]);
        assert!(waiting.into_iter().all(is_cancelled));
        assert!(blocked.into_iter().all(is_stuck));
        destructors.iter().for_each(Stuck::release);
        destructors.iter().for_each(Stuck::returned);
    });
}

#[test]
fn a_destructor_of_a_closure_that_never_began_does_not_keep_the_deadline() {
    let _watchdog = watchdog();
    let runtime = Builder::new().workers(1).build().unwrap();
    // One for each thread of the pool.
    let running = Stuck::new();
    let begun = Arc::new(AtomicUsize::new(0));
    let handles: Vec<_> = (0..512)
        .map(|_| {
            let (body, begun) = (running.body(), begun.clone());
            runtime.spawn_blocking(move || {
                begun.fetch_add(1, Ordering::Release);
                body();
            })
        })
        .collect();
    until(|| begun.load(Ordering::Acquire) == 512);
    let destructor = Stuck::new();
    let blocks = Blocks(destructor.clone());
    let queued = runtime.spawn_blocking(move || drop(blocks));
    let limits = Shutdown::DeadlineAndGrace { deadline: SOON, grace: Duration::from_secs(1) };
    let report = runtime.shutdown(limits);
    assert_eq!(report.stuck.len(), 513);
    assert!(report.stuck.iter().any(|task| task.id == queued.id()));
    assert!(report.aborted.is_empty(), "{report}");
    assert!(is_stuck(queued));
    assert!(handles.into_iter().all(is_stuck));
    destructor.release();
    running.release();
}

thread_local! {
    static KEPT: RefCell<Option<Blocks>> = const { RefCell::new(None) };
}

/// Keeps the value in the calling thread until that thread ends. Returns the thread's name.
fn keep(blocks: Blocks) -> Option<String> {
    KEPT.with(|kept| *kept.borrow_mut() = Some(blocks));
    std::thread::current().name().map(str::to_owned)
}

#[test]
fn a_destructor_of_a_thread_local_does_not_keep_the_deadline() {
    let _watchdog = watchdog();
    for role in ["worker", "relief", "spare"] {
        let destructor = Stuck::new();
        let blocks = Blocks(destructor.clone());
        let runtime = Builder::new().workers(1).build().unwrap();
        let (name, runtime) = if role == "worker" {
            let task = runtime.spawn(async move { keep(blocks) });
            (evenkeel::block_on(task).unwrap(), runtime)
        } else {
            // The only worker is stuck meanwhile.
            let all = AllStuck::of(runtime, 1);
            let name = match role {
                "relief" => {
                    let task = all.runtime.spawn(async move { keep(blocks) });
                    evenkeel::block_on(task).unwrap()
                }
                _ => all.runtime.install(move || keep(blocks)),
            };
            all.stuck[0].release();
            (name, all.runtime)
        };
        let role = if role == "worker" { "0" } else { role };
        assert_eq!(name.unwrap(), format!("evenkeel-{role}"));
        let limits = Shutdown::DeadlineAndGrace { deadline: SOON, grace: Duration::from_secs(1) };
        let report = runtime.shutdown(limits);
        assert!(report.stuck.is_empty() && report.aborted.is_empty(), "{report}");
        assert_eq!(report.workers_left_behind, 1);
        destructor.release();
        destructor.returned();
    }
}

#[test]
fn a_stuck_poll_that_waits_for_a_task_behind_it_comes_to_its_own_end() {
    let _watchdog = watchdog();
    let runtime = Builder::new().workers(1).build().unwrap();
    let (sender, receiver) = mpsc::channel::<()>();
    let (begun, has_begun) = mpsc::channel();
    let stuck = runtime.spawn(async move {
        begun.send(()).unwrap();
        receiver.recv().is_err()
    });
    has_begun.recv().unwrap();
    let behind = runtime.spawn(async move {
        let _sender = sender;
        pending().await
    });
    let limits = Shutdown::DeadlineAndGrace { deadline: SOON, grace: Duration::from_secs(3_600) };
    let report = runtime.shutdown(limits);
    assert!(report.stuck.is_empty() && report.workers_left_behind == 0, "{report}");
    assert!(is_cancelled(behind));
    assert!(evenkeel::block_on(stuck).unwrap());
}

#[test]
fn tasks_that_a_stuck_poll_goes_on_to_spawn_are_not_stuck() {
    let _watchdog = watchdog();
    let runtime = Builder::new().workers(1).build().unwrap();
    let (is_over, spawned) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicUsize::new(0)));
    let stuck = named(&runtime, "stuck", {
        let (is_over, spawned) = (is_over.clone(), spawned.clone());
        async move {
            while !is_over.load(Ordering::Acquire) {
                drop(task::Builder::new().name("child").spawn(pending::<()>()));
                spawned.fetch_add(1, Ordering::Release);
                std::thread::yield_now();
            }
        }
    });
    until(|| spawned.load(Ordering::Acquire) > 100);
    let report = runtime.shutdown(Shutdown::Deadline(SOON));
    assert_eq!(names(&report.stuck), ["stuck"]);
    assert!(report.aborted.len() > 100, "{}", report.aborted.len());
    assert!(is_stuck(stuck));
    is_over.store(true, Ordering::Release);
}

#[test]
fn the_grace_is_as_long_as_it_is_set() {
    let _watchdog = watchdog();
    // Without any grace, a task inside a poll counts as stuck at once, and the others are still
    // dropped.
    let all = AllStuck::new(2, true);
    let waiting: Vec<_> = (0..100).map(|_| named(&all.runtime, "waits", pending())).collect();
    let (deadline, grace) = (Duration::ZERO, Duration::ZERO);
    all.end(Shutdown::DeadlineAndGrace { deadline, grace }, |report| {
        assert_eq!(names(&report.stuck), ["stuck"; 2]);
        assert_eq!(names(&report.aborted), ["waits"; 100]);
        assert_eq!(report.workers_left_behind, 2);
        assert!(waiting.into_iter().all(is_cancelled));
    });
    // With a long grace, shutdown waits for a slow poll.
    let runtime = Builder::new().workers(1).build().unwrap();
    let slow = Stuck::new();
    let body = slow.body();
    let poll = runtime.spawn(async move { body() });
    slow.begun();
    let slow = std::thread::spawn(move || {
        std::thread::sleep(8 * Shutdown::GRACE);
        slow.release();
    });
    let grace = Duration::MAX;
    let report = runtime.shutdown(Shutdown::DeadlineAndGrace { deadline, grace });
    assert!(report.is_clean(), "{report}");
    slow.join().unwrap();
    evenkeel::block_on(poll).unwrap();
}
