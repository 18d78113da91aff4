//! Primitives that know no runtime, on evenkeel.

use crate::common::watchdog::watchdog;
use evenkeel::{Builder, Runtime, spawn, yield_now};
use futures::channel::mpsc as futures_mpsc;
use futures::future::{join_all, select_all};
use futures::stream::{self, FuturesUnordered, StreamExt};
use futures::{SinkExt, join, select};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use tokio::sync::{Barrier, Mutex, Notify, RwLock, Semaphore, broadcast, mpsc, oneshot, watch};

/// Runs the test on one worker and on two.
fn on_runtimes<F: Future<Output = ()> + Send + 'static>(test: impl Fn() -> F) {
    let _watchdog = watchdog();
    for workers in [1, 2] {
        let runtime: Runtime = Builder::new().workers(workers).build().unwrap();
        // Once under block_on's waker, once under a task's.
        runtime.block_on(test());
        runtime.block_on(runtime.spawn(test())).unwrap();
    }
}

#[test]
fn tokio_mpsc() {
    on_runtimes(|| async {
        let (send, mut receive) = mpsc::channel(3);
        let senders: Vec<_> = (0..10)
            .map(|sender| {
                let send = send.clone();
                spawn(async move {
                    for n in 0..100 {
                        send.send(sender * 100 + n).await.unwrap();
                    }
                })
            })
            .collect();
        drop(send);
        let mut all = Vec::new();
        while let Some(n) = receive.recv().await {
            all.push(n);
        }
        all.sort_unstable();
        assert_eq!(all, (0..1_000).collect::<Vec<_>>());
        for sender in senders {
            sender.await.unwrap();
        }
    });
}

#[test]
fn tokio_oneshot() {
    on_runtimes(|| async {
        for n in 0..200 {
            let (send, receive) = oneshot::channel();
            let sender = spawn(async move { send.send(n).unwrap() });
            assert_eq!(receive.await.unwrap(), n);
            sender.await.unwrap();
        }
        let (send, receive) = oneshot::channel::<()>();
        drop(spawn(async move { drop(send) }));
        receive.await.unwrap_err();
    });
}

#[test]
fn tokio_semaphore_and_mutex() {
    on_runtimes(|| async {
        let (semaphore, inside) = (Arc::new(Semaphore::new(3)), Arc::new(AtomicUsize::new(0)));
        let sum = Arc::new(Mutex::new(0));
        let tasks = (0..50).map(|_| {
            let (semaphore, inside, sum) = (semaphore.clone(), inside.clone(), sum.clone());
            spawn(async move {
                for _ in 0..20 {
                    let _permit = semaphore.acquire().await.unwrap();
                    assert!(inside.fetch_add(1, Ordering::AcqRel) < 3);
                    yield_now().await;
                    *sum.lock().await += 1;
                    inside.fetch_sub(1, Ordering::AcqRel);
                }
            })
        });
        for task in join_all(tasks).await {
            task.unwrap();
        }
        assert_eq!(*sum.lock().await, 1_000);
    });
}

#[test]
fn tokio_notify_watch_and_broadcast() {
    on_runtimes(|| async {
        let notify = Arc::new(Notify::new());
        let waits = spawn({
            let notify = notify.clone();
            async move { notify.notified().await }
        });
        notify.notify_one();
        waits.await.unwrap();

        let (send, mut seen) = watch::channel(0);
        let watcher = spawn(async move { *seen.wait_for(|&n| n == 3).await.unwrap() });
        for n in 1..=3 {
            send.send(n).unwrap();
            yield_now().await;
        }
        assert_eq!(watcher.await.unwrap(), 3);

        let (send, mut one) = broadcast::channel(16);
        let mut two = send.subscribe();
        let listener = spawn(async move { (one.recv().await.unwrap(), two.recv().await.unwrap()) });
        send.send("both").unwrap();
        assert_eq!(listener.await.unwrap(), ("both", "both"));
    });
}

#[test]
fn tokio_barrier_and_rwlock() {
    on_runtimes(|| async {
        let (barrier, lock) = (Arc::new(Barrier::new(8)), Arc::new(RwLock::new(0)));
        let tasks = (0..8).map(|_| {
            let (barrier, lock) = (barrier.clone(), lock.clone());
            spawn(async move {
                *lock.write().await += 1;
                let leads = barrier.wait().await.is_leader();
                assert_eq!(*lock.read().await, 8);
                leads
            })
        });
        let leaders = join_all(tasks).await.into_iter().filter(|leads| *leads.as_ref().unwrap());
        assert_eq!(leaders.count(), 1);
    });
}

#[test]
fn async_channels() {
    on_runtimes(|| async {
        let (send, receive) = async_channel::bounded(2);
        let workers: Vec<_> = (0..4)
            .map(|_| {
                let receive = receive.clone();
                spawn(async move {
                    let mut sum = 0;
                    while let Ok(n) = receive.recv().await {
                        sum += n;
                    }
                    sum
                })
            })
            .collect();
        for n in 1..=1_000 {
            send.send(n).await.unwrap();
        }
        send.close();
        let mut sum = 0;
        for worker in workers {
            sum += worker.await.unwrap();
        }
        assert_eq!(sum, 500_500);
    });
}

#[test]
fn join_and_select() {
    on_runtimes(|| async {
        let (one, two) = join!(spawn(async { 1 }), async {
            yield_now().await;
            2
        });
        assert_eq!(one.unwrap() + two, 3);

        let mut never = std::pin::pin!(futures::FutureExt::fuse(std::future::pending::<()>()));
        let mut task = spawn(async { "task" });
        let first = select! {
            () = never => "never",
            word = futures::FutureExt::fuse(&mut task) => word.unwrap(),
        };
        assert_eq!(first, "task");

        let (first, _, rest) = select_all((0..5).map(|n| spawn(async move { n }))).await;
        let mut numbers = vec![first.unwrap()];
        for task in rest {
            numbers.push(task.await.unwrap());
        }
        numbers.sort_unstable();
        assert_eq!(numbers, [0, 1, 2, 3, 4]);
    });
}

#[test]
fn unordered_futures_and_streams() {
    on_runtimes(|| async {
        let mut tasks: FuturesUnordered<_> = (0..100_u64)
            .map(|n| async move {
                for _ in 0..n % 7 {
                    yield_now().await;
                }
                spawn(async move { n }).await.unwrap()
            })
            .collect();
        let mut sum = 0;
        while let Some(n) = tasks.next().await {
            sum += n;
        }
        assert_eq!(sum, 4_950);

        let squares: Vec<_> = stream::iter(0..20_u64)
            .map(|n| async move {
                yield_now().await;
                n * n
            })
            .buffered(4)
            .collect()
            .await;
        assert_eq!(squares, (0..20).map(|n| n * n).collect::<Vec<_>>());

        let (mut send, receive) = futures_mpsc::channel(1);
        let sender = spawn(async move {
            for n in 0..100_u64 {
                send.send(n).await.unwrap();
            }
        });
        assert_eq!(receive.fold(0, |sum, n| async move { sum + n }).await, 4_950);
        sender.await.unwrap();
    });
}

#[test]
fn a_semaphore_of_ours_under_foreign_wakers() {
    on_runtimes(|| async {
        let semaphore = Arc::new(evenkeel::sync::Semaphore::new(0));
        let mut waiters: FuturesUnordered<_> = (0..10).map(|_| semaphore.acquire()).collect();
        let releaser = spawn({
            let semaphore = semaphore.clone();
            async move {
                for _ in 0..10 {
                    semaphore.add_permits(1);
                    yield_now().await;
                }
            }
        });
        let mut acquired = 0;
        while let Some(permit) = waiters.next().await {
            permit.forget();
            acquired += 1;
        }
        assert_eq!(acquired, 10);
        releaser.await.unwrap();
    });
}
