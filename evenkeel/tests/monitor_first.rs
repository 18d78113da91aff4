//! First tests.
use evenkeel::accept;
use evenkeel::sync::monitor::{Condition, End, Entry, Monitor, lock_all};
use std::sync::Arc;
#[derive(Clone, Copy)]
enum Op {
    A,
    B,
}
impl Entry for Op {
    fn number(self) -> u32 {
        self as u32
    }
}
#[test]
fn a2_pairs() {
    for workers in [1, 2, 4] {
        let rt = evenkeel::Builder::new().workers(workers).build().unwrap();
        let m = Arc::new([Monitor::new(0u64), Monitor::new(0), Monitor::new(0)]);
        let tasks: Vec<_> = (0..6)
            .map(|k| {
                let m = m.clone();
                rt.spawn(async move {
                    let (a, b) = [(0, 1), (1, 2), (0, 2)][k % 3];
                    for i in 0..20_000 {
                        let mut h = if i % 2 == 0 {
                            lock_all((&m[a], &m[b])).await
                        } else {
                            lock_all((&m[b], &m[a])).await
                        };
                        let (x, y) = h.values_mut();
                        *x += 1;
                        *y += 1;
                        if i % 64 == 0 {
                            drop(h);
                            evenkeel::yield_now().await;
                        }
                    }
                })
            })
            .collect();
        rt.block_on(async {
            for t in tasks {
                t.await.unwrap();
            }
        });
        let total: u64 = m.iter().map(|m| *m.try_enter().unwrap()).sum();
        assert_eq!(total, 6 * 20_000 * 2);
    }
}
#[test]
fn b13_buffer() {
    for workers in [1, 2, 4] {
        let rt = evenkeel::Builder::new().workers(workers).build().unwrap();
        #[derive(Default)]
        struct C {
            full: Condition,
            empty: Condition,
        }
        let m: Arc<Monitor<Vec<i64>, C>> = Arc::default();
        let cons: Vec<_> = (0..5)
            .map(|_| {
                let m = m.clone();
                rt.spawn(async move {
                    let mut s = 0;
                    loop {
                        let mut h = m.enter().await;
                        if h.is_empty() {
                            h = m.conditions().empty.wait(h).await;
                        }
                        assert!(!h.is_empty());
                        let v = h.remove(0);
                        m.conditions().full.signal(&mut h);
                        if v < 0 {
                            return s;
                        }
                        s += v;
                    }
                })
            })
            .collect();
        let put = |m: Arc<Monitor<Vec<i64>, C>>, v: i64| async move {
            let mut h = m.enter().await;
            if h.len() == 50 {
                h = m.conditions().full.wait(h).await;
            }
            assert!(h.len() < 50);
            h.push(v);
            m.conditions().empty.signal(&mut h);
        };
        let prod: Vec<_> = (0..4)
            .map(|_| {
                let m = m.clone();
                rt.spawn(async move {
                    for _ in 0..20_000 {
                        put(m.clone(), 1).await;
                    }
                })
            })
            .collect();
        rt.block_on(async {
            for p in prod {
                p.await.unwrap();
            }
            for _ in 0..5 {
                put(m.clone(), -1).await;
            }
            let mut s = 0;
            for c in cons {
                s += c.await.unwrap();
            }
            assert_eq!(s, 80_000);
        });
    }
}
#[test]
fn c21_buffer_external() {
    for workers in [1, 2, 4] {
        let rt = evenkeel::Builder::new().workers(workers).build().unwrap();
        let m: Arc<Monitor<Vec<i64>>> = Arc::default();
        let put = |m: Arc<Monitor<Vec<i64>>>, v: i64| async move {
            m.call(Op::A, async |mut h| {
                if h.len() == 50 {
                    accept!(h; Op::B => {});
                }
                assert!(h.len() < 50);
                h.push(v);
            })
            .await
        };
        let take = |m: Arc<Monitor<Vec<i64>>>| async move {
            m.call(Op::B, async |mut h| {
                if h.is_empty() {
                    accept!(h; Op::A => {});
                }
                assert!(!h.is_empty());
                h.remove(0)
            })
            .await
        };
        let cons: Vec<_> = (0..5)
            .map(|_| {
                let m = m.clone();
                rt.spawn(async move {
                    let mut s = 0;
                    loop {
                        let v = take(m.clone()).await;
                        if v < 0 {
                            return s;
                        }
                        s += v;
                    }
                })
            })
            .collect();
        let prod: Vec<_> = (0..4)
            .map(|_| {
                let m = m.clone();
                rt.spawn(async move {
                    for _ in 0..20_000 {
                        put(m.clone(), 1).await;
                    }
                })
            })
            .collect();
        rt.block_on(async {
            for p in prod {
                p.await.unwrap();
            }
            for _ in 0..5 {
                put(m.clone(), -1).await;
            }
            let mut s = 0;
            for c in cons {
                s += c.await.unwrap();
            }
            assert_eq!(s, 80_000);
        });
    }
}
#[test]
fn c1_no_barging() {
    use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
    for workers in [1, 2, 4] {
        let rt = evenkeel::Builder::new().workers(workers).build().unwrap();
        let m = Arc::new(Monitor::new(0));
        let over = Arc::new(AtomicBool::new(false));
        let rounds = 5_000;
        let (m2, over2) = (m.clone(), over.clone());
        let (tx, rx) = std::sync::mpsc::channel();
        let acceptor = rt.spawn(async move {
            let mut h = m2.enter().await;
            tx.send(()).unwrap();
            for k in 0..rounds {
                *h = 1;
                let r = accept!(h; Op::A => { 7 });
                assert_eq!(r, Some(7));
                assert_eq!(*h, 2, "{k}");
            }
            over2.store(true, Relaxed);
        });
        rx.recv().unwrap();
        let mut tasks = vec![];
        for _ in 0..7 {
            let (m, over) = (m.clone(), over.clone());
            tasks.push(rt.spawn(async move {
                while !over.load(Relaxed) {
                    m.call(Op::A, async |mut h| {
                        if !over.load(Relaxed) {
                            assert_eq!(*h, 1);
                        }
                        *h = 2;
                    })
                    .await;
                    evenkeel::yield_now().await;
                }
            }));
        }
        for _ in 0..17 {
            let (m, over) = (m.clone(), over.clone());
            tasks.push(rt.spawn(async move {
                while !over.load(Relaxed) {
                    *m.enter().await = 3;
                    evenkeel::yield_now().await;
                }
            }));
        }
        rt.block_on(async {
            acceptor.await.unwrap();
            for t in tasks {
                t.await.unwrap();
            }
        });
    }
    let _ = End;
}
