//! A random mix of all operations of monitors, by coroutines in tasks: they are dropped while they
//! wait, go to other tasks, and wait for two things at once. Two are never inside together, and
//! nothing stays held.
use evenkeel::coroutine::{BoxCoroutine, Coroutine, Phase, Resume, Step, Suspender};
use evenkeel::sync::monitor::{Clause, Condition, Entry, Held, Monitor, lock_all};
use evenkeel::time::sleep;
use futures::stream::{FuturesUnordered, StreamExt};
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use crate::common::watchdog::watchdog;
use evenkeel_policy::random::Random;

#[derive(Clone, Copy)]
struct Op(u32);
impl Entry for Op {
    fn number(self) -> u32 {
        self.0
    }
}

struct World {
    m: [Monitor<Inside, Condition<u64>>; 3],
    pair: Condition<u64>,
    done: AtomicUsize,
}
#[derive(Default)]
struct Inside {
    busy: AtomicBool,
    count: u64,
}
impl Inside {
    fn enter(&self) {
        assert!(!self.busy.swap(true, Ordering::SeqCst), "two inside")
    }
    fn leave(&self) {
        assert!(self.busy.swap(false, Ordering::SeqCst), "no other task is inside")
    }
}

async fn act(w: &World, r: &mut Random) {
    let i = (r.below(1 << 40) % 3) as usize;
    match r.below(1 << 40) % 9 {
        0 | 1 => {
            let mut h = w.m[i].enter().await;
            h.enter();
            if r.below(3) == 0 {
                h.leave();
                h.count += 1;
                h = {
                    let g = h;
                    evenkeel::yield_now().await;
                    g
                };
                h.enter();
            }
            h.leave();
        }
        2 => {
            let h = w.m[i].enter().await;
            h.enter();
            h.leave();
            let h = w.m[i].conditions().wait_with(h, r.below(1 << 40)).await;
            h.enter();
            h.leave();
        }
        3 => {
            let mut h = w.m[i].enter().await;
            h.enter();
            let _ = w.m[i].conditions().front(&h);
            w.m[i].conditions().signal(&mut h);
            h.leave();
            if r.below(2) == 0 {
                let (h, _) = w.m[i].conditions().signal_block(h).await;
                h.enter();
                h.leave();
            }
        }
        4 => {
            let j = (i + 1) % 3;
            let mut h = lock_all((&w.m[i], &w.m[j])).await;
            let (a, b) = h.values_mut();
            a.enter();
            b.enter();
            a.count += 1;
            b.count += 1;
            a.leave();
            b.leave();
        }
        5 => {
            let h = lock_all((&w.m[0], &w.m[2])).await;
            {
                let (a, b) = h.values();
                a.enter();
                b.enter();
                a.leave();
                b.leave();
            }
            let (h, _) = w
                .pair
                .wait_until(
                    h,
                    3,
                    sleep(Duration::from_micros(u64::from(r.below(1 << 40) as u32 % 3000))),
                )
                .await;
            let (a, b) = h.values();
            a.enter();
            b.enter();
            a.leave();
            b.leave();
        }
        6 => {
            let mut h = lock_all((&w.m[2], &w.m[0])).await;
            w.pair.signal_all(&mut h);
            let _ = w.pair.front(&h);
        }
        7 => {
            let h = w.m[i].enter().await;
            h.enter();
            h.leave();
            let (h, _) = Held::accept_until(
                h,
                [Clause::new(Op(0)).or(Op(1))],
                sleep(Duration::from_micros(500)),
            )
            .await;
            h.enter();
            h.leave();
        }
        _ => {
            w.m[i]
                .call(Op(r.below(1 << 40) as u32 % 2), async |h| {
                    h.enter();
                    h.leave();
                    evenkeel::yield_now().await;
                    h.enter();
                    h.leave();
                })
                .await;
        }
    }
    w.done.fetch_add(1, Ordering::Relaxed);
}

type Co = BoxCoroutine<'static, u64, u64, ()>;

fn coroutine(w: Arc<World>, seed: u64) -> Co {
    Coroutine::new(async move |mut s: Suspender<u64, u64>, first: u64| {
        let mut r = Random::new(seed ^ first);
        for _ in 0..20 {
            match r.below(1 << 40) % 3 {
                0 => {
                    s.suspend(1).await;
                }
                1 => act(&w, &mut r).await,
                _ => {
                    let mut two: FuturesUnordered<Pin<Box<dyn Future<Output = ()> + Send>>> =
                        FuturesUnordered::new();
                    for _ in 0..2 {
                        let (w, seed) = (w.clone(), r.below(1 << 40));
                        two.push(Box::pin(async move { act(&w, &mut Random::new(seed)).await }));
                    }
                    two.next().await;
                    if r.below(2) == 0 {
                        two.next().await;
                    }
                }
            }
        }
    })
    .boxed()
}

fn drive(
    w: Arc<World>,
    mut c: Option<Co>,
    seed: u64,
    depth: u32,
) -> Pin<Box<dyn Future<Output = ()> + Send>> {
    Box::pin(async move {
        let mut r = Random::new(seed);
        let mut co = c.take().unwrap_or_else(|| coroutine(w.clone(), seed));
        loop {
            let limit = sleep(Duration::from_micros(u64::from(r.below(1 << 40) as u32 % 2000)));
            let step = async {
                match co.phase() {
                    Phase::Waiting => co.continue_async().await,
                    Phase::Finished => Step::Complete(()),
                    _ => co.resume_async(seed).await,
                }
            };
            let step = std::pin::pin!(step);
            match futures::future::select(step, std::pin::pin!(limit)).await {
                futures::future::Either::Left((Step::Complete(()), _)) => return,
                futures::future::Either::Left(..) => {}
                futures::future::Either::Right(..) => match r.below(1 << 40) % 3 {
                    0 => return,
                    1 if depth < 3 => {
                        let w = w.clone();
                        let seed = r.below(1 << 40);
                        let moved = drive(w, Some(co), seed, depth + 1);
                        evenkeel::spawn(moved).await.unwrap();
                        return;
                    }
                    _ => {}
                },
            }
        }
    })
}

#[test]
fn mix() {
    let mut done = 0;
    for round in 0..60_u64 {
        let _dog = watchdog();
        let w = Arc::new(World {
            m: Default::default(),
            pair: Condition::new(),
            done: AtomicUsize::new(0),
        });
        let runtime = evenkeel::Builder::new()
            .workers(1 + (round % 3) as usize)
            .on_deadlock(|d| eprintln!("DEADLOCK? {d}"))
            .build()
            .unwrap();
        let stop = Arc::new(AtomicBool::new(false));
        let signaller = runtime.spawn({
            let (w, stop) = (w.clone(), stop.clone());
            async move {
                while !stop.load(Ordering::Relaxed) {
                    for m in &w.m {
                        let mut h = m.enter().await;
                        m.conditions().signal_all(&mut h);
                    }
                    sleep(Duration::from_micros(300)).await;
                }
            }
        });
        let tasks: Vec<_> =
            (0..12).map(|n| runtime.spawn(drive(w.clone(), None, round * 1000 + n, 0))).collect();
        if round & 3 == 3 {
            for t in tasks.iter().step_by(2) {
                t.abort();
            }
        }
        runtime.block_on(async {
            for t in tasks {
                if let Err(e) = t.await {
                    assert!(e.is_cancelled(), "{e:?}")
                }
            }
        });
        stop.store(true, Ordering::Relaxed);
        runtime.block_on(signaller).unwrap();
        drop(runtime);
        for m in &w.m {
            assert!(m.try_enter().is_some(), "left held, round {round}");
        }
        done += w.done.load(Ordering::Relaxed);
    }
    // On a busy machine a single round may run out of all limits before any operation.
    assert!(done > 0);
}
