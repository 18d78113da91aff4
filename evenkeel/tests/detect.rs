//! Deadlocks that are reported, and waits that are no deadlocks.

#![cfg(any(debug_assertions, feature = "detect"))]

#[path = "common/watchdog.rs"]
mod watchdog;

use evenkeel::detect::{self, Deadlock, Waiter, What};
use evenkeel::fork_join::future::fork;
use evenkeel::object::Object;
use evenkeel::sync::Semaphore;
use evenkeel::sync::monitor::{Accepted, Clause, Condition, Entry, Held, Monitor, lock_all};
use evenkeel::time::{Duration, sleep, timeout};
use evenkeel::{Builder, JoinHandle, Runtime, yield_now};
use futures::future::{Either, join, select};
use std::future::poll_fn;
use std::pin::pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{self, Receiver};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};
use std::thread;
use watchdog::watchdog;

/// A runtime, and the deadlocks that its hook receives.
fn runtime(workers: usize) -> (Runtime, Receiver<Deadlock>) {
    let (sender, receiver) = mpsc::channel();
    let hook = move |deadlock: &Deadlock| {
        let _ = sender.send(deadlock.clone());
    };
    (Builder::new().workers(workers).on_deadlock(hook).build().unwrap(), receiver)
}

fn spawn<T: Send + 'static>(
    runtime: &Runtime,
    name: &str,
    future: impl Future<Output = T> + Send + 'static,
) -> JoinHandle<T> {
    let builder = evenkeel::task::Builder::new().name(name);
    let mut task = None;
    runtime.block_on(async { task = Some(builder.spawn(future)) });
    task.expect("it has been spawned")
}

/// A place where a number of tasks meet, by a wait that the graph does not know.
#[derive(Clone, Default)]
struct Meeting(Arc<AtomicUsize>);

impl Meeting {
    async fn of(&self, count: usize) {
        self.come();
        while self.0.load(Ordering::Relaxed) < count {
            yield_now().await;
        }
    }

    fn come(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

/// An operation to call.
#[derive(Clone, Copy)]
struct Op;

impl Entry for Op {
    fn number(self) -> u32 {
        0
    }
}

/// The names in a deadlock, sorted.
fn names(deadlock: &Deadlock) -> Vec<&str> {
    let mut names: Vec<_> =
        deadlock.links.iter().map(|link| link.waiter.name().unwrap_or("?")).collect();
    names.sort_unstable();
    names
}

/// Whether a deadlock with a task of this name is present.
fn is_there(name: &str) -> bool {
    detect::deadlocks()
        .iter()
        .any(|deadlock| deadlock.links.iter().any(|link| link.waiter.name() == Some(name)))
}

/// Waits until all tasks have ended, and asserts that there was no deadlock beyond the received
/// ones.
fn end<T>(runtime: Runtime, reports: &Receiver<Deadlock>, tasks: Vec<JoinHandle<T>>) {
    runtime.block_on(async {
        for task in tasks {
            let _ = task.await;
        }
    });
    drop(runtime);
    assert_eq!(reports.try_recv().err(), Some(mpsc::TryRecvError::Disconnected));
}

type Two = Arc<[Monitor<u32>; 2]>;

fn two() -> Two {
    Arc::new([Monitor::new(0), Monitor::new(0)])
}

/// Enters one monitor and, when the others have entered theirs, the next one.
async fn enter_both(monitors: Two, first: usize, meeting: Meeting) {
    let _one = monitors[first].enter().await;
    meeting.of(2).await;
    let _other = monitors[1 - first].enter().await;
}

#[test]
fn two_monitors_crosswise() {
    let _watchdog = watchdog();
    let (runtime, reports) = runtime(2);
    let (monitors, meeting) = (two(), Meeting::default());
    let left = spawn(&runtime, "cross left", enter_both(monitors.clone(), 0, meeting.clone()));
    let right = spawn(&runtime, "cross right", enter_both(monitors, 1, meeting));
    let deadlock = reports.recv().unwrap();
    assert_eq!(names(&deadlock), ["cross left", "cross right"]);
    let text = deadlock.to_string();
    for part in [
        "deadlock: 2 tasks or threads wait for each other",
        "\"cross left\" (spawned at",
        "detect.rs:",
    ] {
        assert!(text.contains(part), "{text}");
    }
    assert!(text.contains("to enter the monitor of u32 (made at "), "{text}");
    assert!(is_there("cross left"));
    for (index, link) in deadlock.links.iter().enumerate() {
        let Waiter::Task(task) = &link.waiter else { panic!("it is a task") };
        assert!(task.spawn_site.file().ends_with("detect.rs"));
        assert_eq!(link.waits.len(), 1);
        assert!(link.waits[0].site.unwrap().file().ends_with("detect.rs"));
        assert_eq!(link.waits[0].holders, [1 - index]);
        assert!(matches!(link.waits[0].what, What::Monitor { type_name: "u32", .. }));
    }
    left.abort();
    end(runtime, &reports, vec![left, right]);
    assert!(!is_there("cross left") && !is_there("cross right"));
}

#[test]
fn a_waiter_behind_a_deadlock_is_not_told_of() {
    let _watchdog = watchdog();
    let (runtime, reports) = runtime(1);
    let (monitors, meeting) = (two(), Meeting::default());
    let left = spawn(&runtime, "front left", enter_both(monitors.clone(), 0, meeting.clone()));
    let right = spawn(&runtime, "front right", enter_both(monitors.clone(), 1, meeting));
    assert_eq!(reports.recv().unwrap().links.len(), 2);
    let behind = spawn(&runtime, "behind", async move { drop(monitors[0].enter().await) });
    // The joiner also waits behind the deadlock.
    let joiner = spawn(&runtime, "joiner", async move { drop(behind.await) });
    let again: Vec<_> = (0..10).map(|_| runtime.spawn(yield_now())).collect();
    runtime.block_on(async {
        for task in again {
            task.await.unwrap();
        }
    });
    // A spurious wake is no news.
    left.task().unpark();
    runtime.block_on(async { evenkeel::spawn(yield_now()).await.unwrap() });
    assert!(!is_there("behind") && !is_there("joiner"));
    right.abort();
    end(runtime, &reports, vec![left, right, joiner]);
}

#[test]
fn three_in_a_circle() {
    let _watchdog = watchdog();
    let (runtime, reports) = runtime(2);
    let monitors = Arc::new([1, 2, 3].map(Monitor::new));
    let meeting = Meeting::default();
    let tasks: Vec<_> = (0..3)
        .map(|own| {
            let (monitors, meeting) = (monitors.clone(), meeting.clone());
            spawn(&runtime, &format!("circle {own}"), async move {
                let _one = monitors[own].enter().await;
                meeting.of(3).await;
                let _other = monitors[(own + 1) % 3].enter().await;
            })
        })
        .collect();
    let deadlock = reports.recv().unwrap();
    assert_eq!(names(&deadlock), ["circle 0", "circle 1", "circle 2"]);
    // In the order of the waits.
    for (index, link) in deadlock.links.iter().enumerate() {
        assert_eq!(link.waits[0].holders, [(index + 1) % 3]);
    }
    tasks[1].abort();
    end(runtime, &reports, tasks);
}

#[test]
fn a_task_that_enters_again_what_it_is_inside_of() {
    let _watchdog = watchdog();
    let (runtime, reports) = runtime(1);
    let task = spawn(&runtime, "again", async {
        let monitor = Monitor::new(String::new());
        let _held = monitor.enter().await;
        drop(monitor.enter().await);
    });
    let deadlock = reports.recv().unwrap();
    assert_eq!(names(&deadlock), ["again"]);
    assert!(
        deadlock
            .to_string()
            .starts_with("deadlock: a waiter that waits for itself can never go on")
    );
    task.abort();
    end(runtime, &reports, vec![task]);
    assert!(!is_there("again"));
}

#[test]
fn a_bulk_entry_that_has_half_of_its_set() {
    let _watchdog = watchdog();
    let (runtime, reports) = runtime(1);
    let (monitors, meeting) = (two(), Meeting::default());
    let single = spawn(&runtime, "single", {
        let (monitors, meeting) = (monitors.clone(), meeting.clone());
        async move {
            let _second = monitors[1].enter().await;
            meeting.of(2).await;
            let _first = monitors[0].enter().await;
        }
    });
    let bulk = spawn(&runtime, "bulk", async move {
        while monitors[1].try_enter().is_some() {
            yield_now().await;
        }
        let mut both = pin!(lock_all([&monitors[0], &monitors[1]]));
        assert!(futures::poll!(both.as_mut()).is_pending());
        meeting.come();
        drop(both.await);
    });
    assert_eq!(names(&reports.recv().unwrap()), ["bulk", "single"]);
    single.abort();
    end(runtime, &reports, vec![single, bulk]);
}

/// The holder of a signalled pair has left one part, which is reserved for the waiter. It keeps the
/// other part, and enters the first again.
#[test]
fn a_part_holder_that_enters_what_is_reserved() {
    let _watchdog = watchdog();
    for left in 0..2 {
        let (runtime, reports) = runtime(1);
        let (monitors, condition) = (two(), Arc::new(Condition::new()));
        let waiter = spawn(&runtime, "pair", {
            let (monitors, condition) = (monitors.clone(), condition.clone());
            async move {
                let held = lock_all(monitors.each_ref()).await;
                drop(condition.wait(held).await);
            }
        });
        let holder = spawn(&runtime, "part", async move {
            let mut held = lock_all(monitors.each_ref()).await;
            while !condition.signal(&mut held) {
                drop(held);
                yield_now().await;
                held = lock_all(monitors.each_ref()).await;
            }
            let mut parts = Vec::from(Held::split(held));
            drop(parts.remove(left));
            drop(monitors[left].enter().await);
        });
        assert_eq!(names(&reports.recv().unwrap()), ["pair", "part"]);
        holder.abort();
        end(runtime, &reports, vec![waiter, holder]);
    }
}

/// Two tasks hold one monitor each and extend by the other's: one waits, the other is refused.
#[test]
fn an_extension_waits_for_a_task_that_waits_for_it() {
    let _watchdog = watchdog();
    let (runtime, reports) = runtime(1);
    let (monitors, meeting) = (two(), Meeting::default());
    let up = spawn(&runtime, "up", {
        let (monitors, meeting) = (monitors.clone(), meeting.clone());
        async move {
            let held = monitors[0].enter().await;
            meeting.of(2).await;
            drop(Held::extend(held, &monitors[1]).await);
        }
    });
    let down = spawn(&runtime, "down", async move {
        let held = monitors[1].enter().await;
        meeting.of(2).await;
        yield_now().await;
        let held = Held::extend(held, &monitors[0]).await.expect_err("it must not wait");
        // A separate entry, beside its hold, may wait.
        let _first = monitors[0].enter().await;
        drop(held);
    });
    assert_eq!(names(&reports.recv().unwrap()), ["down", "up"]);
    down.abort();
    end(runtime, &reports, vec![up, down]);
}

#[test]
fn tasks_that_join_each_other() {
    let _watchdog = watchdog();
    let (runtime, reports) = runtime(2);
    let handles = Arc::new([const { Mutex::new(None::<JoinHandle<()>>) }; 2]);
    let tasks: Vec<_> = (0..2)
        .map(|other| {
            let handles = handles.clone();
            spawn(&runtime, &format!("join {other}"), async move {
                let handle = loop {
                    if let Some(handle) = handles[other].lock().unwrap().take() {
                        break handle;
                    }
                    yield_now().await;
                };
                let _ = handle.await;
            })
        })
        .collect();
    let aborts: Vec<_> = tasks.iter().map(JoinHandle::id).collect();
    // Each receives the handle of the other.
    for (place, task) in handles.iter().rev().zip(tasks) {
        *place.lock().unwrap() = Some(task);
    }
    let deadlock = reports.recv().unwrap();
    assert_eq!(names(&deadlock), ["join 0", "join 1"]);
    assert!(deadlock.links.iter().all(|link| aborts.contains(&link.waiter.id())));
    assert!(deadlock.to_string().contains(" waits for the end of task "));
    assert!(is_there("join 0"));
    drop(runtime);
    assert!(!is_there("join 0"));
    assert!(reports.try_recv().is_err());
}

#[test]
fn a_joiner_of_a_task_that_wants_its_monitor() {
    let _watchdog = watchdog();
    let (runtime, reports) = runtime(2);
    let monitor = Arc::new(Monitor::new(0));
    let task = spawn(&runtime, "parent", async move {
        let _held = monitor.enter().await;
        let own = monitor.clone();
        let child = evenkeel::task::Builder::new()
            .name("child")
            .spawn(async move { drop(own.enter().await) });
        child.await.unwrap();
    });
    assert_eq!(names(&reports.recv().unwrap()), ["child", "parent"]);
    task.abort();
    end(runtime, &reports, vec![task]);
}

#[test]
fn a_joiner_of_a_task_that_it_has_signalled_and_keeps_out() {
    let _watchdog = watchdog();
    let (runtime, reports) = runtime(1);
    let monitor = Arc::new(Monitor::<u32, Condition>::default());
    let waiter = spawn(&runtime, "signalled", {
        let monitor = monitor.clone();
        async move {
            let held = monitor.enter().await;
            drop(monitor.conditions().wait(held).await);
        }
    });
    let signaller = spawn(&runtime, "signaller", async move {
        let mut held = loop {
            let held = monitor.enter().await;
            if !monitor.conditions().is_empty(&held) {
                break held;
            }
            drop(held);
            yield_now().await;
        };
        monitor.conditions().signal(&mut held);
        let _ = waiter.await;
    });
    assert_eq!(names(&reports.recv().unwrap()), ["signalled", "signaller"]);
    signaller.abort();
    end(runtime, &reports, vec![signaller]);
}

/// The signal first went to another waiter, which has given up its wait.
#[test]
fn a_joiner_of_a_task_that_a_signal_has_gone_on_to() {
    let _watchdog = watchdog();
    let (runtime, reports) = runtime(1);
    let monitor = Arc::new(Monitor::<u32, Condition>::default());
    let waiters = ["first", "heir"].map(|name| {
        let monitor = monitor.clone();
        let waiter = spawn(&runtime, name, async move {
            let held = monitor.enter().await;
            drop(monitor.conditions().wait(held).await);
        });
        runtime.block_on(async { evenkeel::spawn(yield_now()).await.unwrap() });
        waiter
    });
    let [first, heir] = waiters;
    let signaller = spawn(&runtime, "signaller", async move {
        let mut held = monitor.enter().await;
        assert!(monitor.conditions().signal(&mut held));
        first.abort();
        let _ = first.await;
        let _ = heir.await;
    });
    assert_eq!(names(&reports.recv().unwrap()), ["heir", "signaller"]);
    signaller.abort();
    end(runtime, &reports, vec![signaller]);
}

#[test]
fn a_future_that_has_been_let_in_and_is_not_polled() {
    let _watchdog = watchdog();
    let (runtime, reports) = runtime(1);
    let monitor = Arc::new(Monitor::new(0));
    let holder = spawn(&runtime, "first", {
        let monitor = monitor.clone();
        async move {
            let _held = monitor.enter().await;
            sleep(Duration::from_millis(5)).await;
        }
    });
    let task = spawn(&runtime, "forgetful", async move {
        while monitor.try_enter().is_some() {
            yield_now().await;
        }
        let mut entry = pin!(monitor.enter());
        let polled = futures::poll!(entry.as_mut());
        assert!(polled.is_pending());
        // Meanwhile the first entry is granted the monitor, and keeps this one out.
        drop(monitor.enter().await);
        drop(entry.await);
    });
    assert_eq!(names(&reports.recv().unwrap()), ["forgetful"]);
    task.abort();
    end(runtime, &reports, vec![holder, task]);
}

#[test]
fn a_wait_for_either_of_two_is_stuck_when_both_are() {
    let _watchdog = watchdog();
    let (runtime, reports) = runtime(1);
    let monitors = Arc::new([1, 2, 3].map(Monitor::new));
    let (meeting, late) = (Meeting::default(), Meeting::default());
    let choosy = spawn(&runtime, "choosy", {
        let (monitors, meeting) = (monitors.clone(), meeting.clone());
        async move {
            let _own = monitors[0].enter().await;
            meeting.of(3).await;
            let (second, third) = (pin!(monitors[1].enter()), pin!(monitors[2].enter()));
            drop(select(second, third).await);
        }
    });
    let others = [1, 2].map(|own| {
        let (monitors, meeting, late) = (monitors.clone(), meeting.clone(), late.clone());
        spawn(&runtime, &format!("other {own}"), async move {
            let _own = monitors[own].enter().await;
            meeting.of(3).await;
            if own == 2 {
                late.of(2).await;
            }
            drop(monitors[0].enter().await);
        })
    });
    // The first of the others is in a circle with one of the choosy task's two waits, which is no
    // deadlock.
    for _ in 0..100 {
        runtime.block_on(async { evenkeel::spawn(yield_now()).await.unwrap() });
    }
    assert!(reports.try_recv().is_err());
    late.come();
    let deadlock = reports.recv().unwrap();
    assert_eq!(names(&deadlock), ["choosy", "other 1", "other 2"]);
    assert!(deadlock.to_string().contains(", or at "), "{deadlock}");
    choosy.abort();
    let [first, second] = others;
    end(runtime, &reports, vec![choosy, first, second]);
}

#[test]
fn semaphores_as_locks_crosswise() {
    let _watchdog = watchdog();
    let (runtime, reports) = runtime(2);
    let semaphores = Arc::new([0, 1].map(|_| Semaphore::new(1).returned_by_takers()));
    let meeting = Meeting::default();
    let tasks: Vec<_> = [0, 1]
        .map(|first| {
            let (semaphores, meeting) = (semaphores.clone(), meeting.clone());
            spawn(&runtime, &format!("permit {first}"), async move {
                semaphores[first].take().await;
                meeting.of(2).await;
                semaphores[1 - first].take().await;
            })
        })
        .into();
    let deadlock = reports.recv().unwrap();
    assert_eq!(names(&deadlock), ["permit 0", "permit 1"]);
    assert!(deadlock.to_string().contains("for a permit of the semaphore (made at "));
    // The end of a task does not give its permit back.
    drop(tasks);
    drop(runtime);
    assert!(!is_there("permit 0"));
    assert!(reports.try_recv().is_err());
}

/// The taker once gave a permit back itself, but another task is about to give this one.
#[test]
fn a_semaphore_whose_taker_once_gave_its_permit_back_is_no_lock() {
    let _watchdog = watchdog();
    let (runtime, reports) = runtime(2);
    let semaphore = Arc::new(Semaphore::new(1));
    let monitor = Arc::new(Monitor::new(()));
    let meeting = Meeting::default();
    let taker = spawn(&runtime, "taker", {
        let (semaphore, monitor, meeting) = (semaphore.clone(), monitor.clone(), meeting.clone());
        async move {
            semaphore.take().await;
            semaphore.add_permits(1);
            semaphore.take().await;
            meeting.of(2).await;
            drop(monitor.enter().await);
        }
    });
    let holder = spawn(&runtime, "holder", {
        let semaphore = semaphore.clone();
        async move {
            let _held = monitor.enter().await;
            meeting.of(2).await;
            semaphore.take().await;
        }
    });
    let releaser = spawn(&runtime, "releaser", async move {
        while semaphore.waiting() == 0 {
            yield_now().await;
        }
        // By now the others wait for each other, according to the graph.
        sleep(Duration::from_millis(20)).await;
        semaphore.add_permits(1);
    });
    end(runtime, &reports, vec![taker, holder, releaser]);
}

#[test]
fn semaphores_as_signals_are_no_locks() {
    let _watchdog = watchdog();
    for workers in [1, 2] {
        let (runtime, reports) = runtime(workers);
        let (room, cargo) = (Arc::new(Semaphore::new(2)), Arc::new(Semaphore::new(0)));
        let producer = runtime.spawn({
            let (room, cargo) = (room.clone(), cargo.clone());
            async move {
                for _ in 0..200 {
                    room.take().await;
                    cargo.add_permits(1);
                }
            }
        });
        let consumer = runtime.spawn(async move {
            for _ in 0..200 {
                cargo.take().await;
                yield_now().await;
                room.add_permits(1);
            }
        });
        end(runtime, &reports, vec![producer, consumer]);
    }
}

#[test]
fn a_timeout_is_a_way_out() {
    let _watchdog = watchdog();
    let (runtime, reports) = runtime(2);
    let (monitors, meeting) = (two(), Meeting::default());
    let tasks: Vec<_> = [0, 1]
        .map(|first| {
            let (monitors, meeting) = (monitors.clone(), meeting.clone());
            runtime.spawn(async move {
                let _one = monitors[first].enter().await;
                meeting.of(2).await;
                let other = monitors[1 - first].enter();
                if first == 0 {
                    let _ = timeout(Duration::from_millis(5), other).await;
                } else {
                    drop(other.await);
                }
            })
        })
        .into();
    end(runtime, &reports, tasks);
}

#[test]
fn a_branch_of_the_same_task_is_a_way_out() {
    let _watchdog = watchdog();
    let (runtime, reports) = runtime(1);
    let task = runtime.spawn(async {
        let monitor = Monitor::new(0);
        let held = monitor.enter().await;
        let leaver = async move {
            sleep(Duration::from_millis(2)).await;
            drop(held);
        };
        let entrant = async { drop(monitor.enter().await) };
        join(entrant, leaver).await;
        // A foreign channel, beside an entry.
        let (sender, receiver) = tokio::sync::oneshot::channel();
        let monitor = Arc::new(Monitor::new(0));
        let held = monitor.enter().await;
        let other = evenkeel::spawn(async move {
            sleep(Duration::from_millis(2)).await;
            sender.send(()).unwrap();
        });
        let (entry, signal) = (pin!(monitor.enter()), pin!(receiver));
        assert!(matches!(select(entry, signal).await, Either::Right(_)));
        drop(held);
        other.await.unwrap();
    });
    end(runtime, &reports, vec![task]);
}

#[test]
fn a_deadlock_that_another_runtime_finds_is_reported_to_its_own_hook() {
    let _watchdog = watchdog();
    let (runtime, reports) = runtime(1);
    let (other, of_others) = self::runtime(1);
    let (monitors, meeting) = (two(), Meeting::default());
    let kept = Arc::new(Mutex::new(None));
    let left = spawn(&runtime, "kept left", {
        let (kept, monitors, meeting) = (kept.clone(), monitors.clone(), meeting.clone());
        async move {
            // What has a waker may wake the task.
            let keep = |cx: &mut Context<'_>| Poll::Ready(cx.waker().clone());
            *kept.lock().unwrap() = Some(poll_fn(keep).await);
            enter_both(monitors, 0, meeting).await;
        }
    });
    let right = spawn(&runtime, "kept right", enter_both(monitors, 1, meeting.clone()));
    while meeting.0.load(Ordering::Relaxed) < 2 || runtime.metrics().sleeping == 0 {
        thread::yield_now();
    }
    assert_eq!(reports.try_recv().err(), Some(mpsc::TryRecvError::Empty));
    drop(kept.lock().unwrap().take());
    // Nothing wakes the first runtime's worker. A worker of any runtime looks before it sleeps.
    let deadlock = loop {
        other.block_on(async { evenkeel::spawn(async {}).await.unwrap() });
        if let Ok(deadlock) = reports.try_recv() {
            break deadlock;
        }
    };
    assert_eq!(names(&deadlock), ["kept left", "kept right"]);
    left.abort();
    end(runtime, &reports, vec![left, right]);
    end::<()>(other, &of_others, Vec::new());
}

#[test]
fn an_unpark_is_a_way_out() {
    let _watchdog = watchdog();
    let (runtime, reports) = runtime(1);
    let meeting = Meeting::default();
    let task = runtime.spawn({
        let meeting = meeting.clone();
        async move {
            let monitor = Monitor::new(0);
            let _held = monitor.enter().await;
            meeting.come();
            let (park, entry) = (pin!(evenkeel::task::park()), pin!(monitor.enter()));
            assert!(matches!(select(entry, park).await, Either::Right(_)));
        }
    });
    runtime.block_on(meeting.of(2));
    for _ in 0..10 {
        let other = runtime.spawn(yield_now());
        runtime.block_on(other).unwrap();
    }
    task.task().unpark();
    end(runtime, &reports, vec![task]);
}

#[test]
fn an_acceptor_may_be_called_yet() {
    let _watchdog = watchdog();
    let (runtime, reports) = runtime(2);
    let monitor = Arc::new(Monitor::new(0));
    let inside = Meeting::default();
    let server = runtime.spawn({
        let (monitor, inside) = (monitor.clone(), inside.clone());
        async move {
            let held = monitor.enter().await;
            inside.come();
            let (held, accepted) = Held::accept(held, [Clause::new(Op)]).await;
            assert_eq!((*held, accepted), (1, Accepted::Call(0)));
        }
    });
    runtime.block_on(inside.of(2));
    let entrant = runtime.spawn({
        let monitor = monitor.clone();
        async move { drop(monitor.enter().await) }
    });
    for _ in 0..10 {
        let other = runtime.spawn(yield_now());
        runtime.block_on(other).unwrap();
    }
    runtime.block_on(monitor.call(Op, async |mut held| *held += 1));
    end(runtime, &reports, vec![server, entrant]);
}

#[test]
fn a_hold_that_is_the_output_of_a_task() {
    let _watchdog = watchdog();
    let (runtime, reports) = runtime(2);
    let monitor = Arc::new(Monitor::new(0));
    let one = runtime.spawn(monitor.clone().enter_owned());
    let two = runtime.spawn({
        let monitor = monitor.clone();
        async move {
            let held = one.await.unwrap();
            yield_now().await;
            drop(held);
            drop(monitor.enter().await);
        }
    });
    let three = runtime.spawn(async move { drop(monitor.enter().await) });
    end(runtime, &reports, vec![two, three]);
}

#[test]
fn a_hold_that_goes_to_a_task_that_is_spawned() {
    let _watchdog = watchdog();
    let (runtime, reports) = runtime(1);
    let monitor: &'static Monitor<u32> = Box::leak(Box::new(Monitor::new(0)));
    let task = runtime.spawn(async move {
        for _ in 0..3 {
            let held = monitor.enter().await;
            let other = evenkeel::spawn(async move {
                yield_now().await;
                drop(held);
            });
            drop(monitor.enter().await);
            other.await.unwrap();
        }
    });
    end(runtime, &reports, vec![task]);
}

/// A task that leaves the monitors that it is sent, each a turn later.
fn leaver(
    runtime: &Runtime,
) -> (async_channel::Sender<Held<&'static Monitor<u32>>>, JoinHandle<()>) {
    let (sender, receiver) = async_channel::bounded(1);
    let leaver = runtime.spawn(async move {
        while let Ok(held) = receiver.recv().await {
            yield_now().await;
            drop(held);
        }
    });
    (sender, leaver)
}

#[test]
fn a_hold_that_goes_elsewhere_is_out_of_account_from_then_on() {
    let _watchdog = watchdog();
    let (runtime, reports) = runtime(1);
    let monitor: &'static Monitor<u32> = Box::leak(Box::new(Monitor::new(0)));
    let (sender, leaver) = leaver(&runtime);
    let task = runtime.spawn(async move {
        for _ in 0..3 {
            sender.send(monitor.enter().await).await.unwrap();
            // Before any other task waits.
            while monitor.try_enter().is_none() {
                yield_now().await;
            }
            sender.send(monitor.enter().await).await.unwrap();
            drop(monitor.enter().await);
        }
    });
    end(runtime, &reports, vec![leaver, task]);
}

/// As before, but the task gets the monitor from the leaver, and gives it away again.
#[test]
fn a_hold_that_is_granted_after_it_went_elsewhere_is_out_of_account_too() {
    let _watchdog = watchdog();
    let (runtime, reports) = runtime(1);
    let monitor: &'static Monitor<u32> = Box::leak(Box::new(Monitor::new(0)));
    let (sender, leaver) = leaver(&runtime);
    let task = runtime.spawn(async move {
        sender.send(monitor.enter().await).await.unwrap();
        while monitor.try_enter().is_none() {
            yield_now().await;
        }
        sender.send(monitor.enter().await).await.unwrap();
        for _ in 0..3 {
            let granted = monitor.enter().await;
            sender.send(granted).await.unwrap();
        }
        drop(monitor.enter().await);
    });
    end(runtime, &reports, vec![leaver, task]);
}

/// A held object, the guard of which goes to a task that lets go of it later.
#[test]
fn a_held_object_that_another_task_lets_go_of_is_no_deadlock() {
    let _watchdog = watchdog();
    let (runtime, reports) = runtime(1);
    let objects: &'static [Object<()>; 2] = Box::leak(Box::new([Object::new(()), Object::new(())]));
    let (meeting, waiting) = (Meeting::default(), Meeting::default());
    let hold_both = |first: usize, gives: bool| {
        let (meeting, waiting) = (meeting.clone(), waiting.clone());
        async move {
            let held = objects[first].enter_held().await.unwrap();
            meeting.of(2).await;
            let kept = if gives {
                let both = waiting.clone();
                drop(evenkeel::spawn(async move {
                    both.of(2).await;
                    // By then the polls in which the two have begun to wait are over.
                    yield_now().await;
                    drop(held);
                }));
                None
            } else {
                Some(held)
            };
            let mut other = pin!(objects[1 - first].enter_held());
            assert!(futures::poll!(&mut other).is_pending());
            waiting.come();
            drop(other.await);
            drop(kept);
        }
    };
    let tasks = vec![
        spawn(&runtime, "gives", hold_both(0, true)),
        spawn(&runtime, "keeps", hold_both(1, false)),
    ];
    end(runtime, &reports, tasks);
}

#[test]
fn threads_and_closures_that_block() {
    let _watchdog = watchdog();
    let (runtime, reports) = runtime(1);
    let (monitors, meeting) = (two(), Meeting::default());
    let closure = {
        let (handle, monitors, meeting) = (runtime.handle(), monitors.clone(), meeting.clone());
        runtime.spawn_blocking(move || handle.block_on(enter_both(monitors, 0, meeting)))
    };
    let id = closure.id();
    let handle = runtime.handle();
    let thread = std::thread::Builder::new()
        .name("outsider".to_owned())
        .spawn(move || handle.block_on(enter_both(monitors, 1, meeting)))
        .unwrap();
    let deadlock = reports.recv().unwrap();
    assert_eq!(deadlock.links.len(), 2);
    let outsider = deadlock.links.iter().find(|link| link.waiter.name() == Some("outsider"));
    assert!(matches!(outsider.unwrap().waiter, Waiter::Thread { .. }));
    assert!(deadlock.links.iter().any(|link| link.waiter.id() == id));
    assert!(deadlock.to_string().contains("thread \"outsider\""), "{deadlock}");
    // Neither can be aborted: both last until the process ends.
    assert!(reports.try_recv().is_err());
    std::mem::forget((closure, thread, runtime));
}

#[test]
fn a_thread_that_enters_again() {
    let _watchdog = watchdog();
    let (runtime, reports) = runtime(1);
    let handle = runtime.handle();
    let thread = std::thread::spawn(move || {
        let monitor = Monitor::new(0);
        let _held = monitor.try_enter().unwrap();
        handle.block_on(async { drop(monitor.enter().await) });
    });
    let deadlock = reports.recv().unwrap();
    assert_eq!(deadlock.links.len(), 1);
    assert!(matches!(deadlock.links[0].waiter, Waiter::Thread { .. }));
    std::mem::forget((thread, runtime));
}

#[test]
fn entries_waits_and_joins_without_a_deadlock() {
    let _watchdog = watchdog();
    for workers in [1, 2, 4] {
        let (runtime, reports) = runtime(workers);
        let monitors: Arc<Vec<Monitor<u32, Condition>>> =
            Arc::new((0..4).map(|_| Monitor::default()).collect());
        let tasks: Vec<_> = (0..12_u64)
            .map(|seed| {
                let monitors = monitors.clone();
                runtime.spawn(async move {
                    let mut random = evenkeel_policy::random::Random::new(seed + 1);
                    for _ in 0..150 {
                        let (first, second) = (random.below(4) as usize, random.below(4) as usize);
                        match random.below(5) {
                            0 if first != second => {
                                let set = [&monitors[first], &monitors[second]];
                                let _held = lock_all(set).await;
                                yield_now().await;
                            }
                            1 => {
                                let monitors = monitors.clone();
                                let child = evenkeel::spawn(async move {
                                    *monitors[first].enter().await += 1;
                                });
                                child.await.unwrap();
                            }
                            2 => {
                                let monitor = &monitors[first];
                                let held = monitor.enter().await;
                                let limit = sleep(Duration::from_micros(200));
                                let condition = monitor.conditions();
                                let (mut held, _) = condition.wait_until(held, (), limit).await;
                                condition.signal(&mut held);
                            }
                            3 => {
                                let monitor = &monitors[first];
                                let held = monitor.enter().await;
                                drop(monitor.conditions().signal_block(held).await);
                            }
                            _ => {
                                let mut held = monitors[first].enter().await;
                                *held += 1;
                                yield_now().await;
                                monitors[first].conditions().signal_all(&mut held);
                            }
                        }
                    }
                })
            })
            .collect();
        end(runtime, &reports, tasks);
    }
}

/// The job may come to its end whatever the task waits for.
#[test]
fn a_guard_that_goes_into_a_fork_is_no_deadlock() {
    let _watchdog = watchdog();
    let (runtime, deadlocks) = runtime(2);
    for _ in 0..100 {
        let meets = async {
            let monitor = Arc::new(Monitor::new(0));
            let held = monitor.clone().enter_owned().await;
            let leaves = fork(move || drop(held));
            drop(monitor.enter().await);
            leaves.await;
        };
        runtime.block_on(runtime.spawn(meets)).unwrap();
    }
    drop(runtime);
    assert!(deadlocks.recv().is_err(), "no deadlock is reported");
}
