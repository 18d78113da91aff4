//! FAILING TESTS OF A REVIEW: each shows one defect, and is to move to the file of its subject when that is mended.

use evenkeel::time::sleep;
use evenkeel_actor::{
    Actor, ActorRef, AnyActor, AskError, Builder, Child, Context, Event, ExitReason, Group,
    Handled, ReplyTo, Restart, Supervisor, System, spawn,
};
use std::alloc::{GlobalAlloc, Layout, System as Heap};
use std::future::Future;
use std::pin::pin;
use std::sync::atomic::{AtomicBool, AtomicIsize, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Wake, Waker};
use std::time::Duration;

struct Counting;
static LIVE: AtomicIsize = AtomicIsize::new(0);

#[allow(unsafe_code)]
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        LIVE.fetch_add(layout.size() as isize, Ordering::Relaxed);
        unsafe { Heap.alloc(layout) }
    }
    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        LIVE.fetch_sub(layout.size() as isize, Ordering::Relaxed);
        unsafe { Heap.dealloc(block, layout) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

fn on_workers(workers: usize, test: impl Future<Output = ()> + Send + 'static) {
    let runtime = evenkeel::Builder::new().workers(workers).build().unwrap();
    runtime.block_on(async { evenkeel::spawn(test).await.unwrap() });
}

/// Panics, or notes that it was woken.
struct Foreign(bool, AtomicBool);

impl Wake for Foreign {
    fn wake(self: Arc<Self>) {
        if self.0 {
            panic!("in a foreign waker");
        }
        self.1.store(true, Ordering::Relaxed);
    }
}

struct Held;

impl Actor for Held {
    type Message = u32;
    async fn handle(&mut self, _: u32, _: &mut Context<Self>) -> Handled {
        std::future::pending().await
    }
}

struct Watcher(Arc<Mutex<Vec<String>>>);

impl Actor for Watcher {
    type Message = AnyActor;
    async fn handle(&mut self, other: AnyActor, context: &mut Context<Self>) -> Handled {
        context.watch(&other);
        Ok(())
    }
    async fn event(&mut self, event: Event, _: &mut Context<Self>) -> Handled {
        if let Event::Down { reason, .. } = event {
            self.0.lock().unwrap().push(reason.to_string());
        }
        Ok(())
    }
}

/// mailbox/mod.rs `wake_all`, mailbox/close.rs `close`: watchers are not told, others in line are not woken, and the peer is not severed,
/// so that its address dangles once the task is freed.
#[test]
fn a_foreign_waker_that_panics_keeps_no_end_from_those_it_concerns() {
    on_workers(1, async {
        let told = Arc::new(Mutex::new(Vec::new()));
        let watcher = spawn(Watcher(told.clone()));
        let held = Builder::new().capacity(1).spawn(Held).unwrap();
        watcher.send(held.any()).await.unwrap();
        held.send(1).await.unwrap();
        sleep(Duration::from_millis(5)).await;
        held.try_send(2).unwrap();
        let bad = Arc::new(Foreign(true, AtomicBool::new(false)));
        let good = Arc::new(Foreign(false, AtomicBool::new(false)));
        let (mut one, mut two) = (pin!(held.send(3)), pin!(held.send(4)));
        let (first, second) = (Waker::from(bad), Waker::from(good.clone()));
        assert!(one.as_mut().poll(&mut std::task::Context::from_waker(&first)).is_pending());
        assert!(two.as_mut().poll(&mut std::task::Context::from_waker(&second)).is_pending());
        held.kill();
        sleep(Duration::from_millis(100)).await;
        let (woken, told) = (good.1.load(Ordering::Relaxed), told.lock().unwrap().clone());
        assert!(woken, "the other sender in line is not woken");
        assert_eq!(told, ["killed"], "the watcher is not told");
    });
}

/// report.rs `Failures::tell`: the default observer's `eprintln!` is a caller's code too, and may find a closed pipe.
#[test]
fn an_error_whose_display_panics_is_told_all_the_same() {
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
        let reason = fails.stopped().await;
        let again = fails.stopped().await;
        assert!(matches!(again, ExitReason::Failed(_)));
        assert!(matches!(reason, ExitReason::Failed(_)), "{reason}");
    });
}

/// group.rs `prune`: it counts before whoever asks has given up its own.
#[test]
fn a_named_group_is_forgotten_whose_last_two_references_go_at_once() {
    let system = System::new();
    for round in 0..20_000 {
        let name = format!("room {}", round % 8);
        let one: Group<u32> = system.group(name.as_str()).unwrap();
        let two = one.clone();
        let go = &AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(move || {
                go.store(true, Ordering::Release);
                drop(one);
            });
            while !go.load(Ordering::Acquire) {
                std::hint::spin_loop();
            }
            drop(two);
        });
        assert!(system.group::<String>(name.as_str()).is_ok(), "round {round}: nobody has it");
    }
}

/// supervise: rows of the table, and what goes with them, stay after their children have gone.
#[test]
fn a_supervisor_forgets_children_that_have_ended_for_good() {
    struct Quick;
    impl Actor for Quick {
        type Message = ();
        async fn handle(&mut self, (): (), _: &mut Context<Self>) -> Handled {
            Ok(())
        }
    }
    on_workers(1, async {
        let tree = Supervisor::one_for_one().spawn();
        let mut live = 0;
        for round in 0..4_000 {
            if round == 2_000 {
                live = LIVE.load(Ordering::Relaxed);
            }
            let child = Child::new("quick", || Quick).restart(Restart::Temporary);
            let child = tree.add(child).await.unwrap();
            child.stop();
            child.stopped().await;
        }
        let grown = LIVE.load(Ordering::Relaxed) - live;
        assert!(grown / 2_000 < 16, "{} bytes for each child that is gone", grown / 2_000);
    });
}

/// ask.rs `poll_limit`: an ask that has given up has its place in the line until it is dropped, and keeps others from it.
#[test]
fn an_ask_that_has_given_up_leaves_the_line() {
    struct Slow(Arc<AtomicBool>);
    impl Actor for Slow {
        type Message = ReplyTo<()>;
        async fn handle(&mut self, _: ReplyTo<()>, _: &mut Context<Self>) -> Handled {
            while !self.0.load(Ordering::Relaxed) {
                sleep(Duration::from_millis(1)).await;
            }
            Ok(())
        }
    }
    on_workers(1, async {
        let free = Arc::new(AtomicBool::new(false));
        let slow: ActorRef<ReplyTo<()>> =
            Builder::new().capacity(1).spawn(Slow(free.clone())).unwrap();
        let first = evenkeel::spawn({
            let slow = slow.clone();
            async move { slow.ask(|reply| reply).await }
        });
        sleep(Duration::from_millis(5)).await;
        let second = evenkeel::spawn({
            let slow = slow.clone();
            async move { slow.ask(|reply| reply).await }
        });
        sleep(Duration::from_millis(5)).await;
        let mut late = pin!(slow.ask(|reply| reply).timeout(Duration::from_millis(5)));
        assert_eq!(late.as_mut().await, Err(AskError::Elapsed));
        free.store(true, Ordering::Relaxed);
        let _ = (first.await, second.await);
        // `late` is there still, and waits for nothing.
        let next = slow.ask(|reply| reply).timeout(Duration::from_millis(500)).await;
        assert_eq!(next, Err(AskError::NoReply), "the mailbox is empty, and gives no place");
    });
}
