//! Review of detect: programs without a deadlock. The first one is told of one: a hold that goes to another task within a coroutine counts as its taker's.
use evenkeel::coroutine::{Coroutine, Resume, Suspender};
use evenkeel::sync::monitor::{Clause, Condition, Entry, Held, Monitor};
use evenkeel::{Builder, yield_now};
use std::sync::{Arc, mpsc};
use std::time::Duration;

#[derive(Clone, Copy)]
struct Op;
impl Entry for Op {
    fn number(self) -> u32 {
        0
    }
}

fn quiet(f: impl FnOnce(&evenkeel::Runtime)) -> Option<String> {
    let (s, r) = mpsc::channel();
    let runtime = Builder::new()
        .workers(2)
        .on_deadlock(move |d| s.send(d.to_string()).unwrap())
        .build()
        .unwrap();
    f(&runtime);
    drop(runtime);
    r.try_recv().ok()
}

/// A coroutine that is inside is handed to another task, which ends its stay.
#[test]
fn a_coroutine_that_holds_goes_to_another_task() {
    let report = quiet(|runtime| {
        let m = Arc::new(Monitor::new(0));
        let (give, get) = async_channel::bounded(1);
        let giver = runtime.spawn({
            let m = m.clone();
            async move {
                let own = m.clone();
                let mut c = Coroutine::new(async move |mut s: Suspender<(), ()>, ()| {
                    let _held = own.enter().await;
                    s.suspend(()).await;
                })
                .boxed();
                let _ = c.resume_async(()).await;
                give.send(c).await.unwrap();
                drop(m.enter().await);
            }
        });
        let taker = runtime.spawn(async move {
            let mut c = get.recv().await.unwrap();
            evenkeel::time::sleep(Duration::from_millis(20)).await;
            let _ = c.resume_async(()).await;
        });
        runtime.block_on(async {
            giver.await.unwrap();
            taker.await.unwrap();
        });
    });
    assert_eq!(report, None);
}

/// The acceptor waits for its call; a joiner of the acceptor calls later.
#[test]
fn an_acceptor_is_in_no_deadlock() {
    let report = quiet(|runtime| {
        let m = Arc::new(Monitor::<u32, Condition>::default());
        let server = runtime.spawn({
            let m = m.clone();
            async move {
                let held = m.enter().await;
                let (held, _) = Held::accept(held, [Clause::new(Op)]).await;
                drop(held);
            }
        });
        let caller = runtime.spawn({
            let m = m.clone();
            async move {
                while m.try_enter().is_some() {
                    yield_now().await;
                }
                evenkeel::time::sleep(Duration::from_millis(10)).await;
                m.call(Op, async |_h| yield_now().await).await;
            }
        });
        let entrant = runtime.spawn(async move {
            drop(m.enter().await);
        });
        runtime.block_on(async {
            server.await.unwrap();
            caller.await.unwrap();
            entrant.await.unwrap();
        });
    });
    assert_eq!(report, None);
}

/// A spawn_blocking closure holds, another waits, and the first is freed by a thread.
#[test]
fn a_closure_that_waits_for_a_thread_is_in_no_deadlock() {
    let report = quiet(|runtime| {
        let m = Arc::new(Monitor::new(0));
        let (s, r) = mpsc::channel::<()>();
        let one = runtime.spawn_blocking({
            let m = m.clone();
            move || {
                let _held = evenkeel::block_on(m.enter());
                r.recv().unwrap();
            }
        });
        std::thread::sleep(Duration::from_millis(10));
        let two = runtime.spawn({
            let m = m.clone();
            async move { drop(m.enter().await) }
        });
        std::thread::sleep(Duration::from_millis(10));
        s.send(()).unwrap();
        runtime.block_on(async {
            one.await.unwrap();
            two.await.unwrap();
        });
    });
    assert_eq!(report, None);
}

/// A hold in the output of a task that its joiner takes.
#[test]
fn a_hold_that_is_an_output_is_in_no_deadlock() {
    let report = quiet(|runtime| {
        let m = Arc::new(Monitor::new(0));
        let one = runtime.spawn({
            let m = m.clone();
            async move { m.enter_owned().await }
        });
        let two = runtime.spawn({
            let m = m.clone();
            async move {
                let held = one.await.unwrap();
                yield_now().await;
                drop(held);
                drop(m.enter().await);
            }
        });
        let three = runtime.spawn(async move { drop(m.enter().await) });
        runtime.block_on(async {
            two.await.unwrap();
            three.await.unwrap();
        });
    });
    assert_eq!(report, None);
}
