//! A fault in a user's code affects only that user: other tasks are still told, woken and served.

use crate::common::workers::on_workers;
use evenkeel::sync::Semaphore;
use evenkeel_actor::{
    Actor, ActorRef, AnyActor, AskError, Builder, Child, Context, Event, ExitReason, Handled,
    ReplyTo, Supervisor, System, spawn,
};
use std::future::Future;
use std::pin::pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, Once};
use std::task::{self, Wake, Waker};
use std::time::Duration;

/// The messages of the intended panics.
const MEANT: [&str; 4] = ["in a foreign waker", "in display", "in a handler", "in a destructor"];

/// Suppresses the output of intended panics: workers are no threads of the harness, so it does not
/// capture their output.
fn hush() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            let words = info.payload().downcast_ref::<&str>();
            if !words.is_some_and(|words| MEANT.contains(words)) {
                before(info);
            }
        }));
    });
}

/// Panics, or records its wake.
struct Foreign {
    panics: bool,
    woken: AtomicBool,
}

impl Foreign {
    fn new(panics: bool) -> Arc<Self> {
        Arc::new(Self { panics, woken: AtomicBool::new(false) })
    }
}

impl Wake for Foreign {
    fn wake(self: Arc<Self>) {
        assert!(!self.panics, "in a foreign waker");
        self.woken.store(true, Ordering::Relaxed);
    }
}

/// Never gets beyond its first message, and announces it.
struct Held(Arc<Semaphore>);

impl Actor for Held {
    type Message = u32;

    async fn handle(&mut self, _: u32, _: &mut Context<Self>) -> Handled {
        self.0.add_permits(1);
        std::future::pending().await
    }
}

struct Watcher(Arc<Mutex<Vec<String>>>);

impl Actor for Watcher {
    type Message = (AnyActor, ReplyTo<()>);

    async fn handle(
        &mut self,
        (other, reply): (AnyActor, ReplyTo<()>),
        context: &mut Context<Self>,
    ) -> Handled {
        context.watch(&other);
        reply.send(());
        Ok(())
    }

    async fn event(&mut self, event: Event, _: &mut Context<Self>) -> Handled {
        if let Event::Down { reason, .. } = event {
            self.0.lock().unwrap().push(reason.to_string());
        }
        Ok(())
    }
}

#[test]
fn a_foreign_waker_that_panics_keeps_no_end_from_those_it_concerns() {
    hush();
    on_workers(1, async {
        let told = Arc::new(Mutex::new(Vec::new()));
        let watcher = spawn(Watcher(told.clone()));
        let inside = Arc::new(Semaphore::new(0));
        let held = Builder::new().capacity(1).spawn(Held(inside.clone())).unwrap();
        watcher.ask(|reply| (held.any(), reply)).await.unwrap();
        held.send(1).await.unwrap();
        inside.take().await;
        held.try_send(2).unwrap();
        let (bad, good) = (Foreign::new(true), Foreign::new(false));
        let (mut one, mut two) = (pin!(held.send(3)), pin!(held.send(4)));
        let (first, second) = (Waker::from(bad), Waker::from(good.clone()));
        assert!(one.as_mut().poll(&mut task::Context::from_waker(&first)).is_pending());
        assert!(two.as_mut().poll(&mut task::Context::from_waker(&second)).is_pending());
        held.kill();
        assert!(matches!(held.stopped().await, ExitReason::Killed));
        while told.lock().unwrap().is_empty() {
            evenkeel::yield_now().await;
        }
        assert!(good.woken.load(Ordering::Relaxed), "the other sender in line is woken");
        assert_eq!(*told.lock().unwrap(), ["was killed"]);
    });
}

#[test]
fn an_error_whose_display_panics_is_told_all_the_same() {
    hush();
    #[derive(Debug)]
    struct Bad;
    impl std::fmt::Display for Bad {
        fn fmt(&self, _: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            panic!("in display")
        }
    }
    impl std::error::Error for Bad {}
    struct Fails;
    impl Actor for Fails {
        type Message = ();
        async fn handle(&mut self, (): (), _: &mut Context<Self>) -> Handled {
            Err(Bad)?
        }
    }
    on_workers(1, async {
        let fails = Builder::new().system(System::new()).spawn(Fails).unwrap();
        fails.send(()).await.unwrap();
        assert!(matches!(fails.stopped().await, ExitReason::Failed(_)));
        assert!(matches!(fails.stopped().await, ExitReason::Failed(_)));
    });
}

/// An asker with its time up, and its future still in existence.
#[test]
fn an_ask_that_has_given_up_leaves_the_line() {
    struct Slow {
        inside: Arc<Semaphore>,
        go: Arc<Semaphore>,
    }
    impl Actor for Slow {
        type Message = ReplyTo<()>;
        async fn handle(&mut self, _: ReplyTo<()>, _: &mut Context<Self>) -> Handled {
            self.inside.add_permits(1);
            self.go.take().await;
            Ok(())
        }
    }
    on_workers(1, async {
        let (inside, go) = (Arc::new(Semaphore::new(0)), Arc::new(Semaphore::new(0)));
        let slow = Slow { inside: inside.clone(), go: go.clone() };
        let slow: ActorRef<ReplyTo<()>> = Builder::new().capacity(1).spawn(slow).unwrap();
        let ask = |slow: &ActorRef<ReplyTo<()>>| {
            let slow = slow.clone();
            evenkeel::spawn(async move { slow.ask(|reply| reply).await })
        };
        let first = ask(&slow);
        inside.take().await;
        let second = ask(&slow);
        while slow.depth() == 0 {
            evenkeel::yield_now().await;
        }
        let mut late = pin!(slow.ask(|reply| reply).timeout(Duration::from_millis(5)));
        assert_eq!(late.as_mut().await, Err(AskError::Elapsed));
        (0..3).for_each(|_| go.add_permits(1));
        assert_eq!(first.await.unwrap(), Err(AskError::NoReply));
        assert_eq!(second.await.unwrap(), Err(AskError::NoReply));
        // `late` still exists, and waits for nothing.
        assert_eq!(slow.ask(|reply| reply).await, Err(AskError::NoReply));
    });
}

/// Panics when it handles a message, and records whether the unwinding drops it.
struct Unwinds(Arc<Mutex<Vec<bool>>>);

impl Actor for Unwinds {
    type Message = ();

    async fn handle(&mut self, (): (), _: &mut Context<Self>) -> Handled {
        std::panic::panic_any("in a handler")
    }
}

impl Drop for Unwinds {
    fn drop(&mut self) {
        self.0.lock().unwrap().push(std::thread::panicking());
    }
}

#[test]
fn the_value_of_an_actor_that_panics_is_dropped_once_while_its_panic_unwinds() {
    hush();
    on_workers(2, async {
        let dropped = Arc::new(Mutex::new(Vec::new()));
        let panics = spawn(Unwinds(dropped.clone()));
        panics.send(()).await.unwrap();
        panics.stopped().await;
        assert_eq!(*dropped.lock().unwrap(), [true]);
        let stops = spawn(Unwinds(dropped.clone()));
        stops.stop();
        stops.stopped().await;
        assert_eq!(*dropped.lock().unwrap(), [true, false]);
    });
}

/// Their destructors run on a thread that is no worker.
#[test]
fn actors_of_a_stuck_worker_end_with_their_runtime() {
    struct Waits {
        _kept: Arc<()>,
    }

    impl Actor for Waits {
        type Message = Option<std::sync::mpsc::Receiver<()>>;

        async fn handle(&mut self, stuck: Self::Message, _: &mut Context<Self>) -> Handled {
            if let Some(stuck) = stuck {
                // Until the test lets go.
                let _ = stuck.recv();
            }
            Ok(())
        }
    }

    let runtime = evenkeel::Builder::new().workers(1).reliefs(0).build().unwrap();
    let (let_go, stuck) = std::sync::mpsc::channel();
    let kept = Arc::new(());
    let (one, others) = runtime.block_on(async {
        let waits = || spawn(Waits { _kept: kept.clone() });
        let one = waits();
        let others: Vec<_> = (0..100).map(|_| waits()).collect();
        for other in &others {
            other.send(None).await.unwrap();
        }
        one.send(Some(stuck)).await.unwrap();
        // In mailboxes, behind the message that is stuck.
        for other in &others {
            other.send(None).await.unwrap();
        }
        (one, others)
    });
    let report = runtime.shutdown(evenkeel::Shutdown::Deadline(Duration::from_millis(20)));
    assert_eq!((report.stuck.len(), report.aborted.len()), (1, 100), "{report}");
    for other in others {
        evenkeel::block_on(other.stopped());
    }
    assert_eq!(Arc::strong_count(&kept), 2);
    drop(let_go);
    evenkeel::block_on(one.stopped());
    assert_eq!(Arc::strong_count(&kept), 1);
}

#[test]
fn a_stuck_poll_that_sends_after_the_shutdown_finds_that_the_actor_has_ended() {
    struct Idle;

    impl Actor for Idle {
        type Message = ();

        async fn handle(&mut self, (): (), _: &mut Context<Self>) -> Handled {
            Ok(())
        }
    }

    let runtime = evenkeel::Builder::new().workers(1).reliefs(0).build().unwrap();
    let actor = runtime.block_on(async { spawn(Idle) });
    let (begin, begun) = std::sync::mpsc::channel();
    let (let_go, stuck) = std::sync::mpsc::channel::<()>();
    let (tell, told) = std::sync::mpsc::channel();
    let own = actor.clone();
    let task = runtime.spawn(async move {
        begin.send(()).unwrap();
        let _ = stuck.recv();
        tell.send(own.try_send(()).is_err()).unwrap();
    });
    begun.recv().unwrap();
    let report = runtime.shutdown(evenkeel::Shutdown::Deadline(Duration::from_millis(20)));
    assert_eq!((report.stuck.len(), report.aborted.len()), (1, 1), "{report}");
    assert!(evenkeel::block_on(task).unwrap_err().is_stuck());
    assert!(matches!(evenkeel::block_on(actor.stopped()), ExitReason::Killed));
    drop(let_go);
    assert!(told.recv().unwrap());
}

/// Panics when it is dropped.
struct Bomb;

impl Drop for Bomb {
    fn drop(&mut self) {
        panic!("in a destructor");
    }
}

/// Sets timers whose messages panic when they are dropped, and ends: by itself, or by a timer that
/// panics.
struct Sets {
    fails: bool,
}

impl Actor for Sets {
    type Message = Option<Bomb>;

    async fn started(&mut self, context: &mut Context<Self>) -> Handled {
        let late = Duration::from_secs(3_600);
        for _ in 0..3 {
            context.send_after(late, Some(Bomb));
        }
        let held = Bomb;
        context.set_receive_timeout(late, move || {
            let _held = &held;
            None
        });
        if self.fails {
            context.send_every_with(Duration::from_millis(1), || panic!("in a handler"));
        } else {
            context.stop();
        }
        Ok(())
    }

    async fn handle(&mut self, _: Self::Message, _: &mut Context<Self>) -> Handled {
        Ok(())
    }
}

#[test]
fn each_message_of_a_timer_is_dropped_although_others_panic_in_that() {
    hush();
    on_workers(1, async {
        for fails in [false, true] {
            let (system, failures) = (System::new(), Arc::<Mutex<Vec<_>>>::default());
            let noted = failures.clone();
            system.on_failure(move |failure| {
                noted.lock().unwrap().push(failure.reason.to_string());
            });
            let sets = Builder::new().system(system).spawn(Sets { fails }).unwrap();
            assert_eq!(sets.stopped().await.is_normal(), !fails);
            let failures = failures.lock().unwrap();
            // What unwinds with a panic is not reported beside it.
            let (told, times) = if fails { ("in a handler", 1) } else { ("in a destructor", 4) };
            assert_eq!(*failures, vec![format!("panicked: {told}"); times]);
        }
    });
}

#[test]
fn a_supervised_actor_whose_timers_panic_when_they_are_dropped_has_failed() {
    hush();
    on_workers(1, async {
        let system = System::new();
        system.on_failure(|_| ());
        let mut tree = Supervisor::one_for_one().system(system).intensity(1, Duration::MAX);
        let sets = tree.child(Child::new("sets", || Sets { fails: false }));
        assert!(matches!(tree.spawn().stopped().await, ExitReason::Failed(_)));
        assert_eq!(sets.metrics().restarts, 1);
    });
}
