//! Signals, which the process sends to itself.
//!
//! Each test has a kind of signal of its own: the tests of a program share a process.
#![cfg(unix)]

use common::counting::Counting;
use common::runtime::runtime;
use common::until::until;
use common::watchdog::watchdog;
use evenkeel::signal::ctrl_c;
use evenkeel::signal::unix::{Signal, SignalKind, signal};
use evenkeel::{Builder, block_on};
use futures::poll;
use rustix::process::{Signal as Number, getpid, kill_process};
use std::future::Future;
use std::io::ErrorKind;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};

mod common {
    pub(crate) mod counting;
    pub(crate) mod runtime;
    pub(crate) mod until;
    pub(crate) mod watchdog;
}

const WORKERS: [usize; 3] = [1, 2, 8];

fn raise(number: Number) {
    kill_process(getpid(), number).unwrap();
}

fn listen(kind: SignalKind) -> Signal {
    signal(kind).unwrap()
}

/// Waits until a signal that was sent before has come to its handler.
fn wait(kind: &mut Signal) {
    assert_eq!(block_on(kind.recv()), Some(()));
}

#[cfg(feature = "stream")]
#[test]
fn a_stream_of_signals_has_an_item_for_each_wait() {
    use futures::StreamExt;
    let _watchdog = watchdog();
    for workers in WORKERS {
        let runtime = runtime(workers);
        let mut pipes = listen(SignalKind::pipe());
        let task = runtime.spawn(async move {
            for _ in 0..100 {
                assert_eq!(pipes.next().await, Some(()));
                assert!(poll!(pipes.next()).is_pending());
                raise(Number::PIPE);
            }
        });
        raise(Number::PIPE);
        runtime.block_on(task).unwrap();
    }
}

#[test]
fn a_task_waits_for_signals_on_each_runtime() {
    let _watchdog = watchdog();
    for workers in WORKERS {
        let runtime = runtime(workers);
        let mut hangups = listen(SignalKind::hangup());
        let task = runtime.spawn(async move {
            for _ in 0..100 {
                hangups.recv().await.unwrap();
                raise(Number::HUP);
            }
        });
        raise(Number::HUP);
        runtime.block_on(task).unwrap();
    }
}

#[test]
fn each_listener_is_told() {
    let _watchdog = watchdog();
    for workers in WORKERS {
        let runtime = runtime(workers);
        let tasks: Vec<_> = (0..20)
            .map(|_| {
                let mut quits = listen(SignalKind::quit());
                runtime.spawn(async move { quits.recv().await })
            })
            .collect();
        let mut here = listen(SignalKind::quit());
        raise(Number::QUIT);
        wait(&mut here);
        for task in tasks {
            assert_eq!(block_on(task).unwrap(), Some(()));
        }
    }
}

/// What came between two waits is told once, and what came before a listener was made is not.
#[test]
fn a_listener_is_told_once_of_what_came_meanwhile() {
    let _watchdog = watchdog();
    let mut first = listen(SignalKind::alarm());
    raise(Number::ALARM);
    wait(&mut first);
    let (mut behind, mut witness) = (listen(SignalKind::alarm()), listen(SignalKind::alarm()));
    block_on(async { assert!(poll!(pin!(behind.recv())).is_pending(), "it came before") });
    for _ in 0..3 {
        raise(Number::ALARM);
        wait(&mut witness);
    }
    wait(&mut behind);
    block_on(async { assert!(poll!(pin!(behind.recv())).is_pending(), "told once") });
    wait(&mut first);
    block_on(async { assert!(poll!(pin!(first.recv())).is_pending(), "told once") });
}

#[test]
fn a_storm_loses_nothing_and_grows_nothing() {
    let _watchdog = watchdog();
    for workers in WORKERS {
        let runtime = runtime(workers);
        let mut rounds = listen(SignalKind::user_defined2());
        let mut behind = listen(SignalKind::user_defined2());
        // A signal is told each time that it comes.
        let task = runtime.spawn(async move {
            for _ in 0..10_000 {
                raise(Number::USR2);
                rounds.recv().await.unwrap();
            }
            rounds
        });
        let mut rounds = runtime.block_on(task).unwrap();
        // The last of a storm is told too, and all that came before with it or earlier.
        for _ in 0..10_000 {
            raise(Number::USR2);
        }
        let mut told = 0;
        while block_on(async { poll!(pin!(rounds.recv())).is_ready() }) {
            told += 1;
        }
        assert!(told <= 10_000);
        wait(&mut behind);
        let mut last = listen(SignalKind::user_defined2());
        raise(Number::USR2);
        wait(&mut last);
        wait(&mut rounds);
        assert!(tellers() <= 1, "one thread for the process");
    }
}

/// Returns how many threads wake listeners, on Linux.
fn tellers() -> usize {
    let tasks = std::fs::read_dir("/proc/self/task").into_iter().flatten();
    tasks
        .filter(|task| {
            let name = task.as_ref().map(|task| std::fs::read_to_string(task.path().join("comm")));
            matches!(name, Ok(Ok(name)) if name.trim() == "evenkeel-signal")
        })
        .count()
}

#[test]
fn a_wait_that_is_dropped_loses_no_signal_and_leaves_no_waker() {
    let _watchdog = watchdog();
    let mut user = listen(SignalKind::user_defined1());
    let mut witness = listen(SignalKind::user_defined1());
    let counting = Arc::new(Counting::default());
    let waker = Waker::from(counting.clone());
    for _ in 0..100 {
        assert!(pin!(user.recv()).poll(&mut Context::from_waker(&waker)).is_pending());
    }
    drop(waker);
    assert_eq!(Arc::strong_count(&counting), 1, "the dropped waits have left");
    raise(Number::USR1);
    wait(&mut witness);
    assert_eq!(counting.wakes(), 0);
    wait(&mut user);
    let waker = Waker::from(counting.clone());
    assert!(user.poll_recv(&mut Context::from_waker(&waker)).is_pending());
    drop((waker, user));
    assert_eq!(Arc::strong_count(&counting), 1, "the dropped listener has left");
}

#[test]
fn a_wait_that_is_dropped_takes_no_other_waker_of_its_listener() {
    let _watchdog = watchdog();
    let mut urgent = listen(SignalKind::from_raw(Number::URG.as_raw()));
    let mut witness = listen(SignalKind::from_raw(Number::URG.as_raw()));
    let [outer, inner] = [(); 2].map(|()| Arc::new(Counting::default()));
    let (waker, other) = (Waker::from(outer.clone()), Waker::from(inner.clone()));
    for round in 1..=3 {
        assert!(urgent.poll_recv(&mut Context::from_waker(&waker)).is_pending());
        for _ in 0..2 {
            assert!(pin!(urgent.recv()).poll(&mut Context::from_waker(&other)).is_pending());
        }
        assert_eq!(Arc::strong_count(&outer), 3, "its waker is still there");
        raise(Number::URG);
        // The teller takes all wakers before it calls one.
        wait(&mut witness);
        until(|| outer.wakes() == round);
        assert!(urgent.poll_recv(&mut Context::from_waker(&waker)).is_ready());
    }
    assert_eq!(inner.wakes(), 0, "the dropped waits have left");
    drop((other, waker, urgent));
    assert_eq!(Arc::strong_count(&outer), 1);
    assert_eq!(Arc::strong_count(&inner), 1);
}

#[test]
fn a_listener_outlives_its_runtime() {
    let _watchdog = watchdog();
    let mut winds = listen(SignalKind::window_change());
    for workers in WORKERS {
        let runtime = runtime(workers);
        let task = runtime.spawn(async move {
            raise(Number::WINCH);
            winds.recv().await.unwrap();
            winds
        });
        winds = block_on(task).unwrap();
        drop(runtime);
        raise(Number::WINCH);
        wait(&mut winds);
    }
}

/// Futures of `ctrl_c` that wait at the same time return together; one that is made afterwards
/// waits for the next signal.
#[test]
fn ctrl_c_waits_for_one_that_comes_after_its_first_poll() {
    let _watchdog = watchdog();
    for workers in WORKERS {
        runtime(workers).block_on(async {
            let (mut one, mut other, mut unpolled) =
                (pin!(ctrl_c()), pin!(ctrl_c()), pin!(ctrl_c()));
            assert!(poll!(one.as_mut()).is_pending());
            assert!(poll!(other.as_mut()).is_pending());
            raise(Number::INT);
            one.await.unwrap();
            other.await.unwrap();
            assert!(poll!(unpolled.as_mut()).is_pending(), "that one came before its first poll");
            raise(Number::INT);
            unpolled.await.unwrap();
        });
    }
}

#[test]
fn what_cannot_be_listened_for_is_refused() {
    let names = [(4, "SIGILL"), (8, "SIGFPE"), (9, "SIGKILL"), (11, "SIGSEGV"), (19, "SIGSTOP")];
    for (number, name) in names {
        let error = signal(SignalKind::from_raw(number)).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidInput, "{name}");
        let message = error.to_string();
        assert!(message.contains(&format!("signal {number} (")), "{message}");
        assert!(message.contains(name) && message.contains("terminate()"), "{message}");
    }
    for number in [-1, 0, 128, i32::MAX, i32::MIN] {
        let error = signal(SignalKind::from_raw(number)).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidInput, "{number}");
        assert!(error.to_string().contains("1 to 127"), "{error}");
    }
    // No system has it; the registry hands it on.
    let error = signal(SignalKind::from_raw(127)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidInput);
    assert!(error.to_string().contains("signal 127"), "{error}");
}

#[test]
fn a_deterministic_run_has_no_signals() {
    let error = evenkeel::deterministic::run(1, async {
        assert!(ctrl_c().await.is_err());
        signal(SignalKind::io()).unwrap_err()
    });
    assert!(error.to_string().contains("deterministic"), "{error}");
}

/// The default action of `SIGTERM` would end the process.
#[test]
fn the_default_action_does_not_come_back() {
    let _watchdog = watchdog();
    let mut first = listen(SignalKind::terminate());
    raise(Number::TERM);
    wait(&mut first);
    drop(first);
    raise(Number::TERM);
    let mut second = listen(SignalKind::terminate());
    raise(Number::TERM);
    wait(&mut second);
}

/// A waker that panics keeps no other listener asleep.
#[test]
fn a_waker_that_panics_is_contained() {
    struct Panics;

    impl Wake for Panics {
        fn wake(self: Arc<Self>) {
            panic!("a waker panics, as this test wants");
        }
    }

    let _watchdog = watchdog();
    let mut bad = listen(SignalKind::child());
    let mut good = listen(SignalKind::child());
    let waker = Waker::from(Arc::new(Panics));
    for _ in 0..3 {
        // The one that panics has the place before the other's.
        let polled = bad.poll_recv(&mut Context::from_waker(&waker));
        assert_eq!(polled, Poll::Pending);
        block_on(async {
            let mut told = pin!(good.recv());
            assert!(poll!(told.as_mut()).is_pending());
            raise(Number::CHILD);
            told.await.unwrap();
        });
        wait(&mut bad);
    }
}

/// The hardware threads on which a thread may run, by its folder in `/proc`.
#[cfg(target_os = "linux")]
fn allowed(folder: &std::path::Path) -> String {
    let status = std::fs::read_to_string(folder.join("status")).unwrap();
    let mut lines = status.lines();
    lines.find(|line| line.starts_with("Cpus_allowed_list")).unwrap().to_owned()
}

/// In a process of its own, in which no listener has started that thread before.
#[cfg(target_os = "linux")]
#[test]
fn the_thread_that_tells_of_signals_does_not_stay_with_a_pinned_worker() {
    const CHILD: &str = "EVENKEEL_TEST_CHILD";
    if std::env::var_os(CHILD).is_none() {
        let name = "the_thread_that_tells_of_signals_does_not_stay_with_a_pinned_worker";
        let mut command = std::process::Command::new(std::env::current_exe().unwrap());
        let output = command.args(["--exact", name]).env(CHILD, "1").output().unwrap();
        let said = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success() && said.contains("1 passed"), "{said}");
        return;
    }
    let _watchdog = watchdog();
    let runtime = Builder::new().workers(1).pin(true).build().unwrap();
    let listens = runtime.spawn(async { listen(SignalKind::user_defined1()) });
    let mut told = runtime.block_on(listens).unwrap();
    // Once it has told of a signal, the thread is where it stays.
    raise(Number::USR1);
    wait(&mut told);
    let is_teller = |thread: &std::path::PathBuf| {
        std::fs::read_to_string(thread.join("comm")).is_ok_and(|name| name == "evenkeel-signal\n")
    };
    // A list that is read while a thread ends may lack others.
    let teller = loop {
        let threads = std::fs::read_dir("/proc/self/task").unwrap();
        if let Some(teller) = threads.map(|thread| thread.unwrap().path()).find(is_teller) {
            break teller;
        }
    };
    assert_eq!(allowed(&teller), allowed("/proc/thread-self".as_ref()));
}
