//! Timers on several workers, and a clock that stands.

use super::{check, join, spawn};
use crate::runtime::Handle;
use crate::runtime::checked::TICK;
use crate::task::yield_now;
use crate::time::{Instant, sleep, timeout};
use shuttle::sync::Mutex;
use shuttle::thread;
use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Poll, Wake, Waker};
use std::time::Duration;

/// Tasks sleep, limit and cancel on several workers; a thread outside sleeps too.
#[test]
fn timers_fire_wherever_they_were_armed() {
    check(2, |shared| {
        let task = |number: u64| {
            spawn(shared, async move {
                let start = Instant::now();
                let duration = Duration::from_nanos(number * TICK * 2);
                sleep(duration).await;
                assert!(start.elapsed() >= duration);
                let never = timeout(Duration::from_nanos(TICK), std::future::pending::<()>());
                assert!(never.await.is_err());
                assert!(timeout(Duration::from_secs(1), yield_now()).await.is_ok());
            })
        };
        let handles: Vec<_> = (1..3).map(task).collect();
        Handle::new(shared.clone()).block_on(sleep(Duration::from_nanos(TICK)));
        handles.into_iter().for_each(join);
    });
}

/// After a sleep has been armed it goes to another task, which drops it while it may fire.
#[test]
fn a_timer_is_dropped_by_another_worker_while_it_fires() {
    check(2, |shared| {
        let armed = spawn(shared, async {
            let mut sleep = Box::pin(sleep(Duration::from_nanos(TICK)));
            let _ = std::future::poll_fn(|context| Poll::Ready(sleep.as_mut().poll(context))).await;
            sleep
        });
        let other = spawn(shared, async move { drop(armed.await) });
        let waits = spawn(shared, sleep(Duration::from_nanos(2 * TICK)));
        join(other);
        join(waits);
    });
}

/// One worker waits inside its poll for the effect of a timer of its own processor.
#[test]
fn the_timers_of_a_worker_inside_a_poll_are_fired_by_another() {
    check(2, |shared| {
        let fired = Arc::new(AtomicBool::new(false));
        let stuck = fired.clone();
        join(spawn(shared, async move {
            let waker = Waker::from(Arc::new(Sets(stuck.clone())));
            let mut sleep = Box::pin(sleep(Duration::from_nanos(TICK)));
            let polled = sleep.as_mut().poll(&mut std::task::Context::from_waker(&waker));
            while polled.is_pending() && !stuck.load(Ordering::Acquire) {
                thread::yield_now();
            }
        }));
    });
}

/// A waker that sets a flag.
struct Sets(Arc<AtomicBool>);

impl Wake for Sets {
    fn wake(self: Arc<Self>) {
        self.0.store(true, Ordering::Release);
    }
}

/// The clock stands: it moves when all are idle, not before, and by one deadline at a time.
#[test]
fn a_clock_that_stands_moves_when_all_are_idle() {
    check(2, |shared| {
        assert!(shared.stop_clock());
        let task = |number: u64| {
            spawn(shared, async move {
                let start = Instant::now();
                for _ in 0..2 {
                    sleep(Duration::from_nanos(number * TICK + 7)).await;
                }
                assert_eq!(start.elapsed(), Duration::from_nanos(2 * (number * TICK + 7)));
            })
        };
        // All begin at the same time: this thread counts as awake until then.
        shared.clock.come();
        let handles: Vec<_> = (0..3).map(task).collect();
        shared.go_outside();
        handles.into_iter().for_each(join);
        Handle::new(shared.clone()).block_on(async {
            let start = Instant::now();
            sleep(Duration::from_nanos(3 * TICK)).await;
            assert_eq!(start.elapsed(), Duration::from_nanos(3 * TICK));
        });
    });
}

/// A thread outside wakes another one in `block_on` twice. That one sees both wakes at once, and
/// sleeps by the clock before the second caller has gone.
#[test]
fn a_clock_that_stands_moves_after_a_second_wake() {
    check(1, |shared| {
        assert!(shared.stop_clock());
        let left = Arc::new(Mutex::new(None::<Waker>));
        let is_woken = Arc::new(AtomicBool::new(false));
        let wakes = {
            let (left, is_woken) = (left.clone(), is_woken.clone());
            thread::spawn(move || {
                let waker = loop {
                    if let Some(waker) = left.lock().unwrap().take() {
                        break waker;
                    }
                    thread::yield_now();
                };
                is_woken.store(true, Ordering::Release);
                waker.wake_by_ref();
                waker.wake_by_ref();
            })
        };
        Handle::new(shared.clone()).block_on(async {
            let mut waits = true;
            std::future::poll_fn(|context| {
                if std::mem::take(&mut waits) {
                    *left.lock().unwrap() = Some(context.waker().clone());
                }
                match is_woken.load(Ordering::Acquire) {
                    true => Poll::Ready(()),
                    false => Poll::Pending,
                }
            })
            .await;
            sleep(Duration::from_nanos(TICK)).await;
        });
        wakes.join().unwrap();
    });
}
