//! Panics, and the shutdown of runtimes in each mode, from all places.

use super::{here, runtime};
use crate::common::panics::message;
use crate::common::until::until;
use crate::common::watchdog::watchdog;
use evenkeel::net::TcpListener;
use evenkeel::time::sleep;
use evenkeel::{Builder, Handle, Runtime, Shutdown, spawn, yield_now};
use std::cell::RefCell;
use std::future::pending;
use std::hint::black_box;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::thread::{self, ThreadId};
use std::time::Duration;

/// Sends the thread on which it is dropped.
struct Dropped(mpsc::Sender<ThreadId>);

impl Drop for Dropped {
    fn drop(&mut self) {
        let _ = self.0.send(here());
    }
}

/// Spawns tasks that wait for ever, in different ways. Each sends the thread on which its future is
/// dropped.
fn spawn_waiting(runtime: &Runtime) -> mpsc::Receiver<ThreadId> {
    let (sender, receiver) = mpsc::channel();
    let [one, two, three, four] = [(); 4].map(|()| Dropped(sender.clone()));
    drop(runtime.spawn(async move {
        pending::<()>().await;
        drop(one);
    }));
    drop(runtime.spawn(async move {
        sleep(Duration::from_secs(3_600)).await;
        drop(two);
    }));
    drop(runtime.spawn(async move {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let _ = listener.accept().await;
        drop(three);
    }));
    drop(runtime.spawn(async move {
        loop {
            yield_now().await;
            if four.0.send(here()).is_err() {
                break;
            }
        }
    }));
    receiver
}

#[test]
fn a_panic_of_the_future_leaves_the_runtime_as_it_was() {
    let _watchdog = watchdog();
    let runtime = runtime();
    for _ in 0..10 {
        let task = runtime.spawn(async { 7 });
        let panic = catch_unwind(AssertUnwindSafe(|| {
            runtime.block_on(async {
                drop(spawn(pending::<()>()));
                yield_now().await;
                panic!("as it should");
            });
        }));
        assert_eq!(message(&*panic.unwrap_err()), "as it should");
        assert_eq!(runtime.block_on(task).unwrap(), 7);
    }
    assert_eq!(runtime.shutdown(Shutdown::Abort).aborted.len(), 10);
}

#[test]
fn a_panic_of_a_task_goes_to_its_joiner_or_to_the_hook() {
    let _watchdog = watchdog();
    let panics = Arc::new(AtomicUsize::new(0));
    let counted = panics.clone();
    let runtime = Builder::new_current_thread()
        .on_task_panic(move |_| _ = counted.fetch_add(1, Ordering::Relaxed))
        .build()
        .unwrap();
    runtime.block_on(async {
        drop(spawn(async { panic!("no joiner") }));
        let joined = spawn(async { panic!("a joiner") }).await;
        assert!(joined.unwrap_err().is_panic());
    });
    assert_eq!(panics.load(Ordering::Relaxed), 1);
}

#[test]
fn the_dropping_thread_drops_the_tasks() {
    let _watchdog = watchdog();
    for has_run in [false, true] {
        let runtime = runtime();
        let dropped = spawn_waiting(&runtime);
        if has_run {
            runtime.block_on(async {
                for _ in 0..100 {
                    yield_now().await;
                }
            });
        }
        let thread = thread::spawn(move || drop(runtime));
        let id = thread.thread().id();
        thread.join().unwrap();
        let sent: Vec<_> = dropped.iter().filter(|&thread| thread == id).collect();
        assert!(sent.len() >= 4, "{}", sent.len());
    }
}

/// Inside a task of another runtime, of either kind.
#[test]
fn a_task_of_another_runtime_shuts_a_runtime_down() {
    let _watchdog = watchdog();
    for other in [Builder::new().workers(1).build().unwrap(), runtime()] {
        let task = other.spawn(async {
            let runtime = runtime();
            let dropped = spawn_waiting(&runtime);
            drop(runtime);
            assert!(dropped.iter().count() >= 3);
            // The thread is a worker of its own runtime again.
            yield_now().await;
            spawn(async { evenkeel::fork_join::worker_index() }).await.unwrap()
        });
        assert_eq!(other.block_on(task).unwrap(), Some(0));
    }
}

#[test]
fn drain_waits_for_tasks_and_closures() {
    let _watchdog = watchdog();
    let runtime = runtime();
    let done = Arc::new(AtomicUsize::new(0));
    for _ in 0..20 {
        let done = done.clone();
        drop(runtime.spawn(async move {
            sleep(Duration::from_millis(1)).await;
            evenkeel::spawn_blocking(thread::yield_now).await.unwrap();
            done.fetch_add(1, Ordering::Relaxed);
        }));
    }
    assert!(runtime.shutdown(Shutdown::Drain).is_clean());
    assert_eq!(done.load(Ordering::Relaxed), 20);
}

#[test]
fn after_a_deadline_tasks_are_aborted() {
    let _watchdog = watchdog();
    for grace in [Duration::ZERO, Duration::from_secs(10)] {
        let runtime = runtime();
        let dropped = spawn_waiting(&runtime);
        let deadline = Duration::from_millis(5);
        let report = runtime.shutdown(Shutdown::DeadlineAndGrace { deadline, grace });
        assert!(report.stuck.is_empty(), "{report}");
        assert!(!report.detached);
        if !grace.is_zero() {
            assert_eq!((report.aborted.len(), report.workers_left_behind), (4, 0));
        }
        // At the latest some time after the call.
        assert!(dropped.iter().count() >= 4);
    }
}

#[test]
fn a_thread_that_drives_meanwhile_drops_the_tasks() {
    let _watchdog = watchdog();
    let runtime = runtime();
    let dropped = spawn_waiting(&runtime);
    let handle = runtime.handle();
    let (sender, receiver) = mpsc::channel();
    let driver = thread::spawn(move || {
        let task = handle.spawn(pending::<()>());
        sender.send(()).unwrap();
        handle.block_on(task).unwrap_err().is_cancelled()
    });
    receiver.recv().unwrap();
    let id = driver.thread().id();
    until(|| dropped.try_recv().is_ok_and(|thread| thread == id));
    drop(runtime);
    assert!(driver.join().unwrap());
    assert!(dropped.iter().all(|thread| thread == id));
}

/// A runtime that one of its own threads shuts down, and a runtime that is detached, come to their
/// ends in the background.
#[test]
fn a_runtime_that_is_dropped_inside_comes_to_its_end() {
    let _watchdog = watchdog();
    for in_task in [false, true] {
        let runtime = runtime();
        let handle = runtime.handle();
        let dropped = spawn_waiting(&runtime);
        let place = Arc::new(Mutex::new(Some(runtime)));
        handle.block_on(async {
            let own = place.clone();
            let shut = async move {
                let runtime = own.lock().unwrap().take().unwrap();
                runtime.shutdown(Shutdown::Drain).detached
            };
            assert!(if in_task { spawn(shut).await.unwrap_or(true) } else { shut.await });
        });
        assert!(handle.is_shutting_down());
        assert!(dropped.iter().count() >= 3);
        // Late futures are polled all the same, and spawn nothing.
        assert!(handle.block_on(handle.spawn(async {})).unwrap_err().is_cancelled());
    }
}

#[test]
fn a_detached_runtime_lets_its_tasks_end() {
    let _watchdog = watchdog();
    for drives in [false, true] {
        let runtime = runtime();
        let handle = runtime.handle();
        let (sender, receiver) = mpsc::channel();
        drop(runtime.spawn(async move {
            for _ in 0..10 {
                sleep(Duration::from_millis(1)).await;
            }
            sender.send(thread::current().name().map(str::to_owned)).unwrap();
        }));
        if drives {
            let detach = async move { runtime.detach() };
            handle.block_on(detach);
        } else {
            runtime.detach();
        }
        assert_eq!(receiver.recv().unwrap().as_deref(), Some("evenkeel-driver"));
    }
}

/// At the end of the runtime too.
#[test]
fn tasks_that_the_stop_hook_spawns_are_cancelled() {
    let _watchdog = watchdog();
    let (sender, receiver) = mpsc::channel();
    let runtime = Builder::new_current_thread()
        .on_worker_stop(move |_| {
            for _ in 0..1_000 {
                let dropped = Dropped(sender.clone());
                drop(spawn(async move {
                    pending::<()>().await;
                    drop(dropped);
                }));
            }
        })
        .build()
        .unwrap();
    runtime.block_on(yield_now());
    drop(runtime);
    assert_eq!(receiver.iter().count(), 2_000);
}

#[test]
fn runtimes_that_never_run_leave_nothing() {
    let _watchdog = watchdog();
    let (sender, receiver) = mpsc::channel();
    for _ in 0..100 {
        let runtime = runtime();
        let dropped = Dropped(sender.clone());
        let task = runtime.spawn(async move { drop(dropped) });
        drop(runtime);
        assert!(evenkeel::block_on(task).unwrap_err().is_cancelled());
    }
    drop(sender);
    assert_eq!(receiver.iter().filter(|&thread| thread == here()).count(), 100);
}

/// Calls a closure when its thread ends, after the library's thread-locals are gone.
struct OnExit(Option<Box<dyn FnOnce()>>);

impl Drop for OnExit {
    fn drop(&mut self) {
        self.0.take().into_iter().for_each(|closure| closure());
    }
}

thread_local! {
    static EXIT: RefCell<Option<OnExit>> = const { RefCell::new(None) };
}

/// What waits in the frame of the thread that ends is run there.
#[test]
fn a_thread_that_ends_runs_closures_for_a_runtime_without_threads() {
    let _watchdog = watchdog();
    fn sum(numbers: &[u64]) -> u64 {
        black_box(numbers).iter().sum()
    }
    let forks: [fn(&Handle) -> u64; 4] = [
        |handle| {
            let numbers = [7; 64];
            handle.install(|| sum(&numbers))
        },
        |handle| {
            let numbers = [7; 64];
            handle.broadcast(|_| sum(&numbers))[0]
        },
        |handle| {
            let (numbers, total) = ([7; 64], AtomicU64::new(0));
            handle.in_place_scope(|scope| {
                scope.spawn(|_| _ = total.fetch_add(sum(&numbers), Ordering::Relaxed));
            });
            total.into_inner()
        },
        |handle| handle.block_on(async { spawn(async { 448 }).await.unwrap() }),
    ];
    for fork in forks {
        let runtime = runtime();
        let handle = runtime.handle();
        let (send, receive) = mpsc::channel();
        let thread = thread::spawn(move || {
            let own = handle.clone();
            let at_exit = move || send.send(fork(&own)).unwrap();
            EXIT.set(Some(OnExit(Some(Box::new(at_exit)))));
            handle.block_on(async {});
        });
        thread.join().unwrap();
        assert_eq!(receive.recv().unwrap(), 448);
        drop(runtime);
    }
}

#[test]
fn a_runtime_in_a_thread_local_ends_with_its_thread() {
    let _watchdog = watchdog();
    thread_local! {
        static RUNTIME: Runtime = runtime();
    }
    let (sender, dropped) = mpsc::channel();
    let thread = thread::spawn(move || {
        RUNTIME.with(|runtime| {
            let guard = Dropped(sender);
            let waits = async move {
                pending::<()>().await;
                drop(guard);
            };
            drop(runtime.spawn(waits));
            runtime.block_on(async { spawn(async { 7 }).await.unwrap() })
        })
    });
    assert_eq!(thread.join().unwrap(), 7);
    dropped.recv().unwrap();
}
