//! Time: timers fire in the order of deadlines and never early, whatever is cancelled; and paused
//! clocks.
//!
//! On a real clock the tests assert only that nothing is early. The suite measures lateness.

use common::counting::Counting;
use common::panics::Alarm;
use common::runtime::runtime;
use common::until::until;
use common::watchdog::watchdog;
use evenkeel::time::{
    Duration, Elapsed, Instant, MissedTicks, Sleep, advance, interval, interval_at, pause, resume,
    sleep, sleep_until, timeout, timeout_at,
};
use evenkeel::{BuildError, Builder, Runtime, Shutdown, fork_join, yield_now};
use evenkeel_policy::random::Random;
use futures::poll;
use futures::stream::{FuturesUnordered, StreamExt};
use std::future::{Future, pending, poll_fn};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::{Pin, pin};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::task::{Context, Poll, Wake, Waker};
use std::thread;

mod common {
    pub(crate) mod counting;
    pub(crate) mod panics;
    pub(crate) mod runtime;
    pub(crate) mod until;
    pub(crate) mod watchdog;
}

const MS: Duration = Duration::from_millis(1);
const SEC: Duration = Duration::from_secs(1);

fn paused(workers: usize) -> Runtime {
    Builder::new().workers(workers).start_paused(true).build().expect("the runtime starts")
}

#[test]
fn tasks_are_polled_before_all_of_many_timers_have_fired() {
    let _watchdog = watchdog();
    let runtime = Builder::new().workers(1).reliefs(0).build().expect("the runtime starts");
    let counting = Arc::new(Counting::default());
    let count = counting.clone();
    let at_first = runtime.spawn(async move {
        let at = Instant::now() + SEC;
        let counting = count.clone();
        let first = evenkeel::spawn(async move {
            sleep_until(at).await;
            count.wakes()
        });
        yield_now().await;
        let waker = Waker::from(counting);
        let mut others: Vec<_> = (0..1_000).map(|_| Box::pin(sleep_until(at))).collect();
        for other in &mut others {
            let _ = other.as_mut().poll(&mut Context::from_waker(&waker));
        }
        until(|| Instant::now() > at + 10 * MS);
        first.await.unwrap()
    });
    let at_first = runtime.block_on(at_first).unwrap();
    assert!(at_first < 1_000, "{at_first} of 1,000 timers have fired before the first task's poll");
}

#[test]
fn nothing_is_early() {
    let _watchdog = watchdog();
    for workers in [1, 2] {
        let runtime = runtime(workers);
        let sleepers = (0..400_u64).map(|number| {
            runtime.spawn(async move {
                let (start, std) = (Instant::now(), std::time::Instant::now());
                let duration = Duration::from_micros(number * 97 % 20_000);
                sleep(duration).await;
                assert!(start.elapsed() >= duration);
                assert!(std.elapsed() >= duration, "{duration:?}");
            })
        });
        let sleepers: Vec<_> = sleepers.collect();
        runtime.block_on(async {
            for sleeper in sleepers {
                sleeper.await.unwrap();
            }
        });
    }
}

#[test]
fn every_resolution_wakes_and_none_early() {
    let _watchdog = watchdog();
    for resolution in [Duration::from_micros(1), Duration::from_micros(100), 30 * MS] {
        let runtime = Builder::new().workers(1).timer_resolution(resolution).build().unwrap();
        runtime.block_on(async {
            for duration in [Duration::ZERO, Duration::from_nanos(1), MS, 3 * MS] {
                let start = std::time::Instant::now();
                evenkeel::spawn(sleep(duration)).await.unwrap();
                assert!(start.elapsed() >= duration);
            }
        });
    }
}

#[test]
fn a_resolution_out_of_range_is_refused() {
    for resolution in [Duration::ZERO, Duration::from_nanos(999), 2 * SEC, Duration::MAX] {
        let error = Builder::new().timer_resolution(resolution).build().unwrap_err();
        assert!(matches!(error, BuildError::TimerResolution { asked } if asked == resolution));
        assert!(error.to_string().contains("leave `timer_resolution` out"), "{error}");
    }
}

#[test]
fn what_is_past_is_ready_at_once() {
    let _watchdog = watchdog();
    runtime(1).block_on(async {
        assert!(poll!(pin!(sleep(Duration::ZERO))).is_ready());
        assert!(poll!(pin!(sleep_until(Instant::now()))).is_ready());
        let long_ago = Instant::now().checked_sub(1_000_000 * SEC).unwrap();
        assert!(poll!(pin!(sleep_until(long_ago))).is_ready());
        evenkeel::spawn(async {
            assert!(poll!(pin!(sleep(Duration::ZERO))).is_ready());
        })
        .await
        .unwrap();
    });
}

#[test]
fn what_is_too_far_never_comes() {
    let _watchdog = watchdog();
    for runtime in [runtime(1), paused(1)] {
        runtime.block_on(async {
            let mut never = pin!(sleep(Duration::MAX));
            assert!(poll!(never.as_mut()).is_pending());
            let late = Duration::from_secs(200 * 365 * 86_400);
            let mut late = pin!(sleep(late));
            assert!(poll!(late.as_mut()).is_pending());
            sleep(MS).await;
            assert!(poll!(never.as_mut()).is_pending());
            assert!(poll!(late.as_mut()).is_pending());
        });
    }
}

#[test]
fn a_sleep_tells_how_far_it_is() {
    let _watchdog = watchdog();
    runtime(1).block_on(async {
        let deadline = Instant::now() + 2 * MS;
        let mut sleep = pin!(sleep_until(deadline));
        assert_eq!((sleep.deadline(), sleep.is_elapsed()), (deadline, false));
        assert!(format!("{sleep:?}").contains("deadline"));
        sleep.as_mut().await;
        assert!(sleep.is_elapsed());
        // A second await is no error.
        sleep.as_mut().await;
    });
}

#[test]
fn one_hundred_thousand_timers_fire() {
    const TIMERS: usize = 100_000;
    let _watchdog = watchdog();
    let runtime = runtime(2);
    let done = Arc::new(AtomicUsize::new(0));
    let mut random = Random::new(1);
    for _ in 0..TIMERS {
        let (done, duration) = (done.clone(), Duration::from_micros(random.below(50_000)));
        drop(runtime.spawn(async move {
            let start = Instant::now();
            sleep(duration).await;
            assert!(start.elapsed() >= duration);
            done.fetch_add(1, Ordering::Relaxed);
        }));
    }
    let report = runtime.shutdown(Shutdown::Drain);
    assert!(report.is_clean(), "{report}");
    assert_eq!(done.load(Ordering::Relaxed), TIMERS);
}

#[test]
fn one_hundred_thousand_timers_fire_in_the_order_of_their_deadlines() {
    const TIMERS: u64 = 100_000;
    let _watchdog = watchdog();
    let runtime = paused(1);
    let order = Arc::new(Mutex::new(Vec::new()));
    let mut random = Random::new(2);
    let start = runtime.block_on(async { Instant::now() });
    let all = runtime.spawn({
        let order = order.clone();
        async move {
            let sleepers = (0..TIMERS).map(|_| {
                let (order, duration) =
                    (order.clone(), Duration::from_micros(random.below(50_000_000)));
                evenkeel::spawn(async move {
                    sleep_until(start + duration).await;
                    assert_eq!(Instant::now(), start + duration);
                    order.lock().unwrap().push(duration);
                })
            });
            for sleeper in sleepers.collect::<Vec<_>>() {
                sleeper.await.unwrap();
            }
        }
    });
    evenkeel::block_on(all).unwrap();
    let order = order.lock().unwrap();
    assert_eq!(order.len(), TIMERS as usize);
    assert!(order.is_sorted());
}

#[test]
fn cancelled_timers_wake_no_task() {
    let _watchdog = watchdog();
    let runtime = paused(1);
    let wakes = Arc::new(Counting::default());
    let waker = Waker::from(wakes.clone());
    runtime.block_on(async {
        let mut sleeps: Vec<_> = (1..=100).map(|ms| Some(Box::pin(sleep(ms * MS)))).collect();
        for sleep in sleeps.iter_mut().flatten() {
            assert!(sleep.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
        }
        for number in (0..100).filter(|number| number % 3 != 0) {
            sleeps[number] = None;
        }
        advance(SEC).await;
    });
    assert_eq!(wakes.wakes(), 34);
}

#[test]
fn a_moved_clock_gives_tasks_with_long_polls_their_turn_too() {
    const FOLLOWERS: usize = 10;
    const LONG: Duration = Duration::from_micros(300);
    let _watchdog = watchdog();
    let builder = Builder::new().workers(1).start_paused(true).reliefs(0);
    let runtime = builder.build().unwrap();
    let turns = runtime.spawn(async {
        let count = Arc::new(AtomicUsize::new(0));
        let follower = |_| {
            let count = count.clone();
            evenkeel::spawn(async move {
                loop {
                    sleep(MS).await;
                    let start = std::time::Instant::now();
                    while start.elapsed() < LONG {
                        std::hint::spin_loop();
                    }
                    count.fetch_add(1, Ordering::Relaxed);
                }
            })
        };
        let followers: Vec<_> = (0..FOLLOWERS).map(follower).collect();
        yield_now().await;
        let mut turns = Vec::new();
        for _ in 0..10 {
            advance(MS).await;
            turns.push(count.swap(0, Ordering::Relaxed));
        }
        followers.iter().for_each(|follower| follower.abort());
        turns
    });
    assert_eq!(runtime.block_on(turns).unwrap(), [FOLLOWERS; 10]);
}

#[test]
fn timers_are_cancelled_and_fire_at_once() {
    const ROUNDS: u64 = 3_000;
    let _watchdog = watchdog();
    let runtime = runtime(2);
    let tasks = (0..4_u64).map(|task| {
        runtime.spawn(async move {
            let mut random = Random::new(task);
            for _ in 0..ROUNDS {
                let mut sleep = Box::pin(sleep(Duration::from_micros(random.below(900))));
                let _ = poll!(sleep.as_mut());
                match random.below(3) {
                    0 => drop(sleep),
                    1 => yield_now().await,
                    _ => {
                        // Another thread drops it.
                        drop(evenkeel::spawn(async move { drop(sleep) }));
                    }
                }
            }
        })
    });
    let tasks: Vec<_> = tasks.collect();
    runtime.block_on(async {
        for task in tasks {
            task.await.unwrap();
        }
    });
}

#[test]
fn a_reset_counts_and_what_was_before_does_not() {
    let _watchdog = watchdog();
    paused(1).block_on(async {
        let start = Instant::now();
        let mut sleep = pin!(sleep(10 * SEC));
        // Before its first poll, while it waits, to earlier and to later, and after it has fired.
        sleep.as_mut().reset(start + 8 * SEC);
        assert!(poll!(sleep.as_mut()).is_pending());
        sleep.as_mut().reset(start + 3 * SEC);
        sleep.as_mut().await;
        assert_eq!(start.elapsed(), 3 * SEC);
        sleep.as_mut().reset(start + 4 * SEC);
        assert!(!sleep.is_elapsed());
        assert!(poll!(sleep.as_mut()).is_pending());
        sleep.as_mut().reset(start + 3_600 * SEC);
        sleep.as_mut().await;
        assert_eq!(start.elapsed(), 3_600 * SEC);
    });
}

#[test]
fn the_last_waker_is_woken() {
    let _watchdog = watchdog();
    paused(1).block_on(async {
        let mut sleep = Box::pin(sleep(SEC));
        let wakes = [(); 3].map(|()| Arc::new(Counting::default()));
        for wakes in &wakes {
            let waker = Waker::from(wakes.clone());
            for _ in 0..2 {
                assert!(sleep.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
            }
        }
        advance(SEC).await;
        assert_eq!(wakes.map(|wakes| wakes.wakes()), [0, 0, 1]);
        assert!(poll!(sleep).is_ready());
    });
}

#[test]
fn timers_fire_inside_of_combinators() {
    let _watchdog = watchdog();
    for runtime in [paused(1), paused(2)] {
        let order = runtime.block_on(async {
            evenkeel::spawn(async {
                let sleeps: FuturesUnordered<_> = (0..100_u32)
                    .map(|number| async move {
                        sleep((number * 37 % 100) * MS).await;
                        number * 37 % 100
                    })
                    .collect();
                sleeps.collect::<Vec<_>>().await
            })
            .await
            .unwrap()
        });
        assert_eq!(order, (0..100).collect::<Vec<_>>());
    }
}

#[test]
fn a_foreign_waker_that_panics_hurts_no_other_sleeper() {
    struct Panics;
    impl Wake for Panics {
        fn wake(self: Arc<Self>) {
            panic!("it is meant to");
        }
    }
    let _watchdog = watchdog();
    let runtime = runtime(1);
    runtime.block_on(async {
        let mut bad = pin!(sleep(MS));
        let waker = Waker::from(Arc::new(Panics));
        assert!(bad.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
        evenkeel::spawn(sleep(5 * MS)).await.unwrap();
    });
}

#[test]
fn a_timeout_gives_what_comes_in_time() {
    let _watchdog = watchdog();
    paused(1).block_on(async {
        assert_eq!(timeout(SEC, async { 1 }).await, Ok(1));
        assert_eq!(timeout(Duration::ZERO, async { 2 }).await, Ok(2));
        let slow = async {
            sleep(999 * MS).await;
            3
        };
        assert_eq!(timeout(SEC, slow).await, Ok(3));
        let start = Instant::now();
        let error = timeout(SEC, pending::<()>()).await.unwrap_err();
        assert_eq!(start.elapsed(), SEC);
        assert!(error.to_string().contains("deadline has passed"));
        let io: std::io::Error = error.into();
        assert_eq!(io.kind(), std::io::ErrorKind::TimedOut);
        assert!(timeout_at(start, pending::<()>()).await.is_err());
        assert!(timeout(Duration::MAX, async { sleep(SEC).await }).await.is_ok());
    });
}

#[test]
fn what_is_ready_at_the_deadline_is_in_time() {
    let _watchdog = watchdog();
    paused(1).block_on(async {
        // Both are due at once, and the future is polled first.
        assert_eq!(timeout(SEC, sleep(SEC)).await, Ok(()));
        let mut nested = timeout(SEC, timeout(SEC, pending::<()>()));
        assert!(nested.get_ref().deadline() <= nested.deadline());
        let _ = nested.get_mut();
        assert_eq!(nested.await.map(|inner: Result<(), Elapsed>| inner.is_err()), Ok(true));
    });
}

/// Neither a wake nor a result is lost if both come at about the same time.
#[test]
fn timeouts_race_with_what_they_limit() {
    let _watchdog = watchdog();
    let runtime =
        Builder::new().workers(2).timer_resolution(Duration::from_micros(1)).build().unwrap();
    let semaphore = Arc::new(evenkeel::sync::Semaphore::new(0));
    let over = Arc::new(AtomicBool::new(false));
    let releaser = thread::spawn({
        let (semaphore, over) = (semaphore.clone(), over.clone());
        move || {
            let mut released = 0;
            while !over.load(Ordering::Acquire) {
                semaphore.add_permits(1);
                released += 1;
                thread::sleep(Duration::from_micros(60));
            }
            released
        }
    });
    let acquired = runtime.block_on(async {
        let waiters = (0..2_u64).map(|_| {
            let semaphore = semaphore.clone();
            evenkeel::spawn(async move {
                let mut acquired = 0;
                for round in 0..1_000_u64 {
                    let limit = Duration::from_micros(round % 200);
                    if let Ok(permit) = timeout(limit, semaphore.acquire()).await {
                        permit.forget();
                        acquired += 1;
                    }
                }
                acquired
            })
        });
        let mut acquired = 0;
        for waiter in waiters.collect::<Vec<_>>() {
            acquired += waiter.await.unwrap();
        }
        acquired
    });
    over.store(true, Ordering::Release);
    // It may be about to release one.
    let released: usize = releaser.join().unwrap();
    assert_eq!(acquired + semaphore.available_permits(), released);
}

/// The times of the ticks of an interval of a second, if the second one is seen after `busy`
/// milliseconds.
async fn ticks_after(policy: MissedTicks, busy: u32) -> Vec<u128> {
    let start = Instant::now();
    let mut interval = interval(SEC).missed_ticks(policy);
    let mut seen = Vec::new();
    for number in 0..6 {
        interval.tick().await;
        seen.push(start.elapsed().as_millis());
        if number == 1 {
            advance(busy * MS).await;
        }
    }
    seen
}

#[test]
fn an_interval_is_reset_though_its_waiter_s_waker_panics() {
    let _watchdog = watchdog();
    paused(1).block_on(async {
        let start = Instant::now();
        let mut interval = interval(Duration::MAX);
        interval.tick().await;
        // The next tick is beyond what an instant holds.
        let alarm = Waker::from(Arc::new(Alarm));
        assert!(interval.poll_tick(&mut Context::from_waker(&alarm)).is_pending());
        interval.reset_at(start + 2 * SEC);
        assert_eq!(interval.tick().await, start + 2 * SEC);
    });
}

#[test]
fn intervals_follow_their_policy() {
    let _watchdog = watchdog();
    paused(1).block_on(async {
        use MissedTicks::{Burst, Delay, Restart, Skip};
        for policy in [Burst, Restart, Skip] {
            // Late, but not so late that a tick is missed.
            let seen = ticks_after(policy, 1_300).await;
            assert_eq!(seen, [0, 1_000, 2_300, 3_000, 4_000, 5_000], "{policy:?}");
        }
        assert_eq!(ticks_after(Delay, 1_300).await, [0, 1_000, 2_300, 3_300, 4_300, 5_300]);
        assert_eq!(ticks_after(Restart, 3_300).await, [0, 1_000, 4_300, 5_300, 6_300, 7_300]);
        // The tick of two seconds is seen when that of three is due, so it was missed.
        assert_eq!(ticks_after(Restart, 2_000).await[..4], [0, 1_000, 3_000, 4_000]);
        assert_eq!(ticks_after(Burst, 3_300).await, [0, 1_000, 4_300, 4_300, 4_300, 5_000]);
        assert_eq!(ticks_after(Delay, 3_300).await, [0, 1_000, 4_300, 5_300, 6_300, 7_300]);
        assert_eq!(ticks_after(Skip, 3_300).await, [0, 1_000, 4_300, 5_000, 6_000, 7_000]);
        // To the period.
        assert_eq!(ticks_after(Skip, 3_000).await, [0, 1_000, 4_000, 5_000, 6_000, 7_000]);
        assert_eq!(MissedTicks::default(), Burst);
    });
}

#[test]
fn a_delayed_interval_is_tokio_s_where_a_tick_is_seen_a_little_late() {
    let _watchdog = watchdog();
    paused(1).block_on(async {
        let start = Instant::now();
        let mut interval = interval(50 * MS).missed_ticks(MissedTicks::Delay);
        interval.tick().await;
        interval.tick().await;
        advance(70 * MS).await;
        interval.tick().await;
        assert_eq!(start.elapsed(), 120 * MS);
        interval.tick().await;
        assert_eq!(start.elapsed(), 170 * MS);
        // A tick within the tolerance of timers is on time.
        advance(55 * MS).await;
        interval.tick().await;
        assert_eq!(start.elapsed(), 225 * MS);
        interval.tick().await;
        assert_eq!(start.elapsed(), 270 * MS);
        advance(56 * MS).await;
        interval.tick().await;
        interval.tick().await;
        assert_eq!(start.elapsed(), 376 * MS);
    });
}

#[test]
fn an_interval_is_a_stream() {
    let _watchdog = watchdog();
    paused(1).block_on(async {
        let start = Instant::now();
        let ticks: Vec<_> = interval(SEC).take(3).collect().await;
        assert_eq!(ticks, [start, start + SEC, start + 2 * SEC]);
    });
}

/// Overlong durations do not overflow.
#[test]
fn what_lasts_for_ever_does_not_panic() {
    let _watchdog = watchdog();
    for longest in [Duration::MAX, Duration::from_secs(u64::MAX), Duration::from_nanos(u64::MAX)] {
        runtime(1).block_on(async {
            let mut interval = interval(longest);
            interval.tick().await;
            assert!(timeout(MS, interval.tick()).await.is_err());
            interval.reset();
            interval.reset_after(longest);
            assert!(timeout(MS, interval.tick()).await.is_err());
            assert_eq!(timeout(longest, async { 7 }).await, Ok(7));
            assert!(timeout(MS, timeout(longest, pending::<()>())).await.is_err());
        });
        paused(1).block_on(async {
            let sleeper = evenkeel::spawn(sleep(365 * 86_400 * SEC));
            advance(longest).await;
            sleeper.await.unwrap();
            assert!(Instant::now() <= Instant::now());
        });
    }
}

/// A sleep counts from its creation, whatever the place and time of that and of its first poll.
#[test]
fn a_sleep_is_counted_from_its_creation() {
    let _watchdog = watchdog();
    let runtime = runtime(2);
    let short = runtime.spawn(async {
        for round in 0..2_000_u64 {
            let start = std::time::Instant::now();
            let sleep = sleep(Duration::from_micros(1_001 + round));
            let deadline = sleep.deadline().into_std();
            assert!(deadline >= start + Duration::from_micros(1_001 + round));
            if round % 500 == 0 {
                // Its time passes before its first poll.
                thread::sleep(5 * MS);
                sleep.await;
                assert!(std::time::Instant::now() >= deadline);
                yield_now().await;
            }
        }
    });
    runtime.block_on(short).unwrap();
}

#[test]
fn an_interval_is_reset() {
    let _watchdog = watchdog();
    paused(1).block_on(async {
        let start = Instant::now();
        let mut interval = interval_at(start + 5 * SEC, SEC);
        assert_eq!(interval.period(), SEC);
        assert_eq!(interval.tick().await, start + 5 * SEC);
        advance(300 * MS).await;
        interval.reset();
        assert_eq!(interval.tick().await, start + 6_300 * MS);
        interval.reset_immediately();
        assert_eq!(interval.tick().await, start + 6_300 * MS);
        interval.reset_after(700 * MS);
        assert_eq!(interval.tick().await, start + 7 * SEC);
        assert_eq!(interval.tick().await, start + 8 * SEC);
        interval.reset_at(start + 60 * SEC);
        assert_eq!(interval.policy(), MissedTicks::Burst);
        interval.set_missed_ticks(MissedTicks::Skip);
        assert_eq!(interval.policy(), MissedTicks::Skip);
        // A tick is not lost if its await was dropped.
        assert!(timeout(SEC, interval.tick()).await.is_err());
        assert_eq!(interval.tick().await, start + 60 * SEC);
        let zero = catch_unwind(|| drop(evenkeel::time::interval(Duration::ZERO)));
        assert!(zero.is_err());
    });
}

/// As with Tokio's sleeps: a reset during a poll that goes on to wait.
#[test]
fn a_task_that_waits_for_a_sleep_is_woken_at_its_new_deadline() {
    async fn resets(after: Duration) {
        let start = Instant::now();
        let mut sleep = pin!(sleep(3_600 * SEC));
        let mut is_reset = false;
        let ends = poll_fn(|context| {
            let ended = sleep.as_mut().poll(context);
            if ended.is_pending() && !std::mem::replace(&mut is_reset, true) {
                sleep.as_mut().reset(start + after);
            }
            ended
        });
        timeout(60 * SEC, ends).await.unwrap();
        assert_eq!(start.elapsed(), after);
    }

    let _watchdog = watchdog();
    for workers in [1, 2] {
        let runtime = paused(workers);
        for after in [Duration::ZERO, SEC] {
            runtime.block_on(resets(after));
            runtime.block_on(runtime.spawn(resets(after))).unwrap();
        }
    }
}

#[test]
fn a_reset_to_a_later_deadline_wakes_at_that_alone() {
    let _watchdog = watchdog();
    let wakes = Arc::new(Counting::default());
    let waker = Waker::from(wakes.clone());
    paused(1).block_on(async {
        let start = Instant::now();
        let mut context = Context::from_waker(&waker);
        let mut late = pin!(sleep(SEC));
        assert!(late.as_mut().poll(&mut context).is_pending());
        late.as_mut().reset(start + 3 * SEC);
        sleep(2 * SEC).await;
        assert_eq!(wakes.wakes(), 0);
        sleep(2 * SEC).await;
        assert_eq!(wakes.wakes(), 1);
        assert!(late.is_elapsed());
        // Nothing waits for it any more.
        late.as_mut().reset(start);
        assert_eq!(wakes.wakes(), 1);
    });
}

#[test]
fn a_task_polls_a_sleep_again_that_is_reset_elsewhere() {
    let _watchdog = watchdog();
    let (runtime, other) = (runtime(2), runtime(1));
    for is_other in [false, true] {
        let late = Arc::new(Mutex::new(Box::pin(sleep(3_600 * SEC))));
        let waits = Arc::new(AtomicBool::new(false));
        let waiter = runtime.spawn({
            let (late, waits) = (late.clone(), waits.clone());
            poll_fn(move |context| {
                let ended = late.lock().unwrap().as_mut().poll(context);
                waits.store(true, Ordering::Release);
                ended
            })
        });
        until(|| waits.load(Ordering::Acquire));
        let reset = move || late.lock().unwrap().as_mut().reset(Instant::now() + MS);
        if is_other {
            other.block_on(async { reset() })
        } else {
            reset()
        }
        runtime.block_on(waiter).unwrap();
    }
}

/// As with Tokio's intervals: a reset during a poll that goes on to wait.
#[test]
fn a_task_that_waits_for_a_tick_is_woken_by_a_reset() {
    let _watchdog = watchdog();
    paused(1).block_on(async {
        let start = Instant::now();
        let mut interval = interval_at(start + SEC * 3_600, SEC);
        let mut is_reset = false;
        let due = std::future::poll_fn(|context| {
            let tick = interval.poll_tick(context);
            if tick.is_pending() && !std::mem::replace(&mut is_reset, true) {
                interval.reset_after(SEC);
            }
            tick
        });
        assert_eq!(due.await - start, SEC);
    });
}

/// The timer of such a tick is armed nowhere, so that it cannot know the task.
#[test]
fn a_task_that_waits_for_a_tick_that_never_comes_is_woken_by_a_reset() {
    let _watchdog = watchdog();
    let runtime = runtime(2);
    let ticks = Arc::new(Mutex::new(interval(Duration::MAX)));
    let waits = Arc::new(AtomicBool::new(false));
    let waiter = runtime.spawn({
        let (ticks, waits) = (ticks.clone(), waits.clone());
        async move {
            for _ in 0..2 {
                poll_fn(|context| {
                    let tick = ticks.lock().unwrap().poll_tick(context);
                    waits.store(tick.is_pending(), Ordering::Release);
                    tick
                })
                .await;
            }
        }
    });
    until(|| waits.load(Ordering::Acquire));
    ticks.lock().unwrap().reset_immediately();
    runtime.block_on(waiter).unwrap();
}

#[test]
fn a_clock_that_was_moved_far_ahead_goes_on_from_there() {
    paused(1).block_on(async {
        let start = Instant::now();
        advance(Duration::MAX).await;
        let far = Instant::now();
        assert!(far - start > SEC * 3_600 * 24 * 365 * 100);
        sleep(SEC).await;
        assert_eq!(far + SEC, Instant::now());
        resume();
        assert!(Instant::now() > far);
    });
    paused(1).block_on(async {
        let year = SEC * 3_600 * 24 * 365;
        sleep(200 * year).await;
        let far = Instant::now();
        resume();
        sleep(MS).await;
        assert!(far + MS <= Instant::now() && Instant::now() < far + year);
        pause();
        sleep(90 * year).await;
        assert!(Instant::now() >= far + 90 * year);
    });
}

#[test]
fn block_on_has_timers() {
    let _watchdog = watchdog();
    let runtime = runtime(2);
    let handle = runtime.handle();
    let threads = (0..4).map(|_| {
        let handle = handle.clone();
        thread::spawn(move || {
            handle.block_on(async {
                for ms in 0..4 {
                    let start = Instant::now();
                    sleep(ms * MS).await;
                    assert!(start.elapsed() >= ms * MS);
                }
            });
        })
    });
    threads.collect::<Vec<_>>().into_iter().for_each(|thread| thread.join().unwrap());
    let blocking = runtime.spawn_blocking(move || handle.block_on(sleep(MS)));
    runtime.block_on(blocking).unwrap();
}

/// The worker is in a long sleep when a shorter timer comes.
#[test]
fn a_worker_asleep_for_long_is_woken_for_an_earlier_timer() {
    let _watchdog = watchdog();
    let runtime = runtime(1);
    let long = runtime.spawn(sleep(3_600 * SEC));
    for _ in 0..20 {
        let metrics = runtime.metrics();
        until(|| runtime.metrics().processors[0].sleeps >= metrics.processors[0].sleeps.min(1));
        runtime.block_on(sleep(2 * MS));
    }
    assert!(!long.is_finished());
}

#[test]
fn a_timer_is_polled_by_another_runtime() {
    let _watchdog = watchdog();
    let (one, other) = (runtime(1), runtime(1));
    let start = Instant::now();
    let mut sleep = Box::pin(sleep(10 * MS));
    one.block_on(async { assert!(poll!(sleep.as_mut()).is_pending()) });
    other.block_on(other.spawn(sleep)).unwrap();
    assert!(start.elapsed() >= 10 * MS);
}

#[test]
fn a_timer_outlives_its_runtime() {
    let _watchdog = watchdog();
    for _ in 0..20 {
        let wakes = Arc::new(Counting::default());
        let waker = Waker::from(wakes.clone());
        let mut context = Context::from_waker(&waker);
        let one = runtime(1);
        let mut sleeps: Vec<_> = (0..100).map(|_| Box::pin(sleep(3_600 * SEC))).collect();
        one.block_on(async {
            for sleep in &mut sleeps {
                assert!(sleep.as_mut().poll(&mut context).is_pending());
            }
        });
        drop(one);
        assert_eq!(wakes.wakes(), 100, "they learn that nothing will come");
        let mut rest = sleeps.split_off(50);
        drop(sleeps);
        // The next runtime has a wheel at the same place.
        let other = runtime(1);
        other.block_on(async {
            for sleep in &mut rest {
                let polled = catch_unwind(AssertUnwindSafe(|| sleep.as_mut().poll(&mut context)));
                let message = *polled.unwrap_err().downcast::<&str>().unwrap();
                assert!(
                    message.contains("the runtime that a timer belongs to has ended"),
                    "{message}"
                );
                sleep.as_mut().reset(Instant::now() + MS);
                sleep.as_mut().await;
            }
        });
    }
}

#[test]
fn a_timer_outside_of_any_runtime_says_so() {
    let mut lost = pin!(sleep(SEC));
    let polled = catch_unwind(AssertUnwindSafe(|| {
        lost.as_mut().poll(&mut Context::from_waker(Waker::noop()))
    }));
    let message = *polled.unwrap_err().downcast::<&str>().unwrap();
    assert!(message.contains("outside of a runtime"), "{message}");
    for call in [pause, resume] {
        assert!(catch_unwind(call).is_err());
    }
    // Instants are valid everywhere.
    assert!(Instant::now() <= Instant::now());
}

/// One worker is stuck inside a poll, after it has armed a timer of another task.
#[test]
fn the_timers_of_a_stuck_worker_are_fired_by_another() {
    let _watchdog = watchdog();
    let runtime = runtime(2);
    for _ in 0..5 {
        let (sender, receiver) = mpsc::channel();
        let stuck = runtime.spawn(async move {
            let woken = Arc::new(Counting::default());
            let waker = Waker::from(woken.clone());
            let mut sleep = pin!(sleep(MS));
            assert!(sleep.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
            // It does not return until the timer has fired, here, at this processor.
            until(|| woken.wakes() == 1);
            sender.send(()).unwrap();
        });
        receiver.recv().unwrap();
        runtime.block_on(stuck).unwrap();
    }
}

/// All workers compute; the relief has their timers.
#[test]
fn timers_fire_while_all_workers_are_inside_fork_join() {
    let _watchdog = watchdog();
    for workers in [1, 2] {
        let runtime = runtime(workers);
        let handle = runtime.handle();
        for _ in 0..5 {
            let done = Arc::new(AtomicUsize::new(0));
            // One timer armed by a worker before it went away, and one later.
            for _ in 0..2 {
                let done = done.clone();
                drop(runtime.spawn(async move {
                    sleep(3 * MS).await;
                    sleep(MS).await;
                    done.fetch_add(1, Ordering::AcqRel);
                }));
            }
            let (handle, done) = (handle.clone(), done.clone());
            runtime.install(move || {
                let wait = || until(|| done.load(Ordering::Acquire) >= 2);
                fork_join::join(wait, wait);
                let done = done.clone();
                drop(handle.spawn(async move {
                    sleep(MS).await;
                    done.fetch_add(1, Ordering::AcqRel);
                }));
            });
        }
    }
}

/// The worker that has armed a timer goes away before the timer is due, while the others sleep and
/// nothing else happens.
#[test]
fn timers_of_a_worker_that_is_away_are_fired_by_one_that_sleeps() {
    let _watchdog = watchdog();
    for (workers, reliefs) in [(2, 4), (4, 4), (2, 0), (4, 0)] {
        // Without reliefs there is no lookout either.
        let runtime = Builder::new().workers(workers).reliefs(reliefs).build().unwrap();
        let ways: [fn(&Runtime, mpsc::Receiver<()>); 2] = [
            |runtime, receiver| runtime.install(move || receiver.recv().unwrap()),
            |runtime, receiver| {
                let blocks = move || receiver.recv().unwrap();
                let task = runtime.spawn(async { evenkeel::block_in_place(blocks) });
                evenkeel::block_on(task).unwrap();
            },
        ];
        for way in ways {
            for _ in 0..3 {
                let (sender, receiver) = mpsc::channel();
                drop(runtime.spawn(async move {
                    sleep(60 * MS).await;
                    sender.send(()).unwrap();
                }));
                // No sleeper makes rounds any more.
                thread::sleep(30 * MS);
                until(|| all_asleep(&runtime));
                way(&runtime, receiver);
            }
        }
    }
}

#[test]
fn an_outside_timer_fires_while_the_only_worker_computes() {
    let _watchdog = watchdog();
    let runtime = runtime(1);
    let handle = runtime.handle();
    runtime.install(move || {
        let thread = thread::spawn(move || {
            for ms in 1..4 {
                handle.block_on(sleep(ms * MS));
            }
        });
        thread.join().unwrap();
    });
}

/// The number of wake-ups of a runtime's workers.
fn wake_ups(runtime: &Runtime) -> u64 {
    runtime.metrics().sum(|processor| processor.wake_ups)
}

fn all_asleep(runtime: &Runtime) -> bool {
    runtime.metrics().sleeping == runtime.metrics().processors.len()
}

#[test]
fn an_idle_runtime_without_timers_does_not_wake() {
    let _watchdog = watchdog();
    for workers in [1, 2] {
        let runtime = runtime(workers);
        // Neither timers cancelled while their worker was awake nor fired ones leave anything
        // behind.
        runtime.block_on(async {
            let quick = evenkeel::spawn(async { timeout(20 * MS, yield_now()).await });
            quick.await.unwrap().unwrap();
            evenkeel::spawn(sleep(MS)).await.unwrap();
        });
        // A worker that falls asleep late may wake another once more, which settles; then no cause
        // for a wake-up is left.
        let settled = || {
            until(|| all_asleep(&runtime));
            let before = wake_ups(&runtime);
            thread::sleep(60 * MS);
            all_asleep(&runtime) && wake_ups(&runtime) == before
        };
        until(settled);
        assert!(settled(), "{}", runtime.metrics());
    }
}

/// Neither a peer, nor the watch, nor a thread from outside wakes it.
#[test]
fn a_sleeping_processor_wakes_for_its_next_timer() {
    let _watchdog = watchdog();
    let runtime = runtime(1);
    until(|| {
        let sleeper = runtime.spawn(async {
            let start = std::time::Instant::now();
            sleep(30 * MS).await;
            start.elapsed()
        });
        // On a busy machine it may be late for its sleep: then try again.
        let armed = || runtime.metrics().processors[0];
        until(|| armed().timers_armed > armed().timers_fired && all_asleep(&runtime));
        let before = armed();
        while !sleeper.is_finished() {
            thread::sleep(MS);
        }
        let after = armed();
        assert_eq!(after.timers_fired, before.timers_fired + 1);
        assert_eq!(after.watches, before.watches, "one worker has no other to watch");
        assert!(evenkeel::block_on(sleeper).unwrap() >= 30 * MS);
        after.wake_ups > before.wake_ups
    });
}

#[test]
fn metrics_count_what_becomes_of_timers() {
    let _watchdog = watchdog();
    let runtime = paused(1);
    let counts = || {
        let processor = runtime.metrics().processors[0];
        [processor.timers_armed, processor.timers_fired, processor.timers_cancelled]
    };
    assert_eq!(counts(), [0, 0, 0]);
    runtime.block_on(async {
        let mut sleeps: Vec<_> = (1..=10).map(|secs| Box::pin(sleep(secs * SEC))).collect();
        assert_eq!(counts(), [0, 0, 0], "they are armed where they are polled");
        for sleep in &mut sleeps {
            assert!(poll!(sleep.as_mut()).is_pending());
            assert!(poll!(sleep.as_mut()).is_pending());
        }
        assert_eq!(counts(), [10, 0, 0]);
        advance(3 * SEC).await;
        assert_eq!(counts(), [10, 3, 0]);
        sleeps.truncate(8);
        assert_eq!(counts(), [10, 3, 2]);
        sleeps[7].as_mut().reset(Instant::now() + SEC);
        assert_eq!(counts(), [11, 3, 3], "it is armed again for the task that waits");
        assert!(poll!(sleeps[7].as_mut()).is_pending());
        assert_eq!(timeout(SEC, async { 7 }).await, Ok(7));
        assert_eq!(counts(), [11, 3, 3], "what is ready at once needs no timer");
        assert!(runtime.metrics().processors[0].timers_moved > 0, "from the level of seconds");
    });
    assert_eq!(counts(), [11, 3, 8]);
    let metrics = runtime.metrics();
    assert_eq!(metrics.sum(|processor| processor.timers_fired_for_others), 0);
    assert!(metrics.to_string().contains("timers cancelled"), "{metrics}");
}

#[test]
fn draining_waits_for_timers_and_aborting_does_not() {
    let _watchdog = watchdog();
    let slept = Arc::new(AtomicBool::new(false));
    let one = runtime(2);
    let sleeper = one.spawn({
        let slept = slept.clone();
        async move {
            sleep(20 * MS).await;
            slept.store(true, Ordering::Release);
        }
    });
    drop(sleeper);
    assert!(one.shutdown(Shutdown::Drain).is_clean());
    assert!(slept.load(Ordering::Acquire));
    let other = runtime(2);
    let sleepers: Vec<_> = (0..10).map(|_| other.spawn(sleep(3_600 * SEC))).collect();
    let report = other.shutdown(Shutdown::Abort);
    assert_eq!(report.aborted.len(), 10);
    for sleeper in sleepers {
        assert!(evenkeel::block_on(sleeper).unwrap_err().is_cancelled());
    }
    let paused = paused(2);
    drop(paused.spawn(sleep(3_600 * SEC)));
    assert!(paused.shutdown(Shutdown::Drain).is_clean());
}

#[test]
fn a_clock_that_stands_does_not_move_while_anything_runs() {
    let _watchdog = watchdog();
    let runtime = paused(2);
    runtime.block_on(async {
        let start = Instant::now();
        let sleeper = evenkeel::spawn(sleep(SEC));
        // This thread is awake.
        thread::sleep(5 * MS);
        assert_eq!(start.elapsed(), Duration::ZERO);
        // A task is awake.
        let spinner = evenkeel::spawn(async move {
            for _ in 0..10_000 {
                yield_now().await;
            }
            start.elapsed()
        });
        assert_eq!(spinner.await.unwrap(), Duration::ZERO);
        // A blocking closure is awake.
        let blocked = evenkeel::spawn_blocking(move || {
            thread::sleep(5 * MS);
            start.elapsed()
        });
        assert_eq!(blocked.await.unwrap(), Duration::ZERO);
        sleeper.await.unwrap();
        assert_eq!(start.elapsed(), SEC);
    });
}

/// A thread that waits inside a blocking closure is idle.
#[test]
fn a_clock_that_stands_moves_for_a_thread_that_blocks_inside_a_closure() {
    let _watchdog = watchdog();
    let runtime = paused(1);
    let handle = runtime.handle();
    let closure = runtime.spawn_blocking(move || {
        let start = Instant::now();
        handle.block_on(sleep(SEC));
        let task = handle.spawn(sleep(SEC));
        evenkeel::block_on(task).unwrap();
        start.elapsed()
    });
    assert_eq!(runtime.block_on(closure).unwrap(), 2 * SEC);
}

#[test]
fn a_clock_that_stands_is_held_back_by_a_settled_worker() {
    let _watchdog = watchdog();
    let (end, ends) = mpsc::channel::<()>();
    let mut ends = Some(ends);
    let builder = Builder::new().workers(2).start_paused(true);
    let runtime = builder.build_with(|worker| {
        let ends = if worker.index() == 0 { ends.take() } else { None };
        thread::spawn(move || {
            let Some(ends) = ends else { return worker.run() };
            worker.settle().unwrap();
            assert!(ends.recv().is_err());
        });
        Ok(())
    });
    let runtime = runtime.unwrap();
    let start = runtime.block_on(async { Instant::now() });
    let sleeper = runtime.spawn(async { sleep(SEC).await });
    until(|| {
        let metrics = runtime.metrics();
        metrics.sleeping == 1 && metrics.sum(|processor| processor.timers_armed) == 1
    });
    runtime.block_on(async {
        assert_eq!(start.elapsed(), Duration::ZERO);
        assert!(!sleeper.is_finished());
        advance(SEC).await;
        sleeper.await.unwrap();
        assert_eq!(start.elapsed(), SEC);
    });
    drop(end);
}

#[test]
fn a_clock_is_paused_and_goes_on() {
    let _watchdog = watchdog();
    let runtime = runtime(2);
    runtime.block_on(async {
        // Armed by the real clock.
        let sleeper = evenkeel::spawn(sleep(3_600 * SEC));
        let short = evenkeel::spawn(sleep(5 * MS));
        yield_now().await;
        pause();
        pause();
        let start = Instant::now();
        thread::sleep(10 * MS);
        assert_eq!(start.elapsed(), Duration::ZERO);
        sleep(10 * SEC).await;
        assert_eq!(start.elapsed(), 10 * SEC);
        assert!(short.is_finished() && !sleeper.is_finished());
        sleeper.await.unwrap();
        let late = evenkeel::spawn(sleep(10 * MS));
        yield_now().await;
        let (stood, std) = (Instant::now(), std::time::Instant::now());
        resume();
        resume();
        late.await.unwrap();
        sleep(10 * MS).await;
        assert!(stood.elapsed() >= 10 * MS);
        assert!(stood >= start + 3_590 * SEC && std.elapsed() >= 10 * MS);
    });
    let refused = catch_unwind(AssertUnwindSafe(|| runtime.block_on(advance(SEC))));
    let message = *refused.unwrap_err().downcast::<&str>().unwrap();
    assert!(message.contains("while the clock runs"), "{message}");
}

#[test]
fn advance_fires_what_is_due_in_the_order_of_deadlines() {
    let _watchdog = watchdog();
    let runtime = paused(1);
    runtime.block_on(async {
        let order = Arc::new(Mutex::new(Vec::new()));
        for number in 0..50_u32 {
            let order = order.clone();
            drop(evenkeel::spawn(async move {
                sleep(Duration::from_micros(u64::from(number * 29 % 50) + 1)).await;
                order.lock().unwrap().push(number * 29 % 50);
            }));
        }
        // They arm their timers.
        evenkeel::spawn(async {}).await.unwrap();
        let start = Instant::now();
        advance(Duration::from_micros(20)).await;
        assert_eq!(start.elapsed(), Duration::from_micros(20));
        assert_eq!(*order.lock().unwrap(), (0..20).collect::<Vec<_>>());
        advance(Duration::ZERO).await;
        assert_eq!(order.lock().unwrap().len(), 20);
        advance(SEC).await;
        assert_eq!(*order.lock().unwrap(), (0..50).collect::<Vec<_>>());
    });
}

/// The trace of a program that sleeps, times out and ticks, with one worker.
fn trace(seed: u64) -> Vec<(u64, u128)> {
    let runtime = paused(1);
    let trace = Arc::new(Mutex::new(Vec::new()));
    let program = runtime.spawn({
        let trace = trace.clone();
        async move {
            let start = Instant::now();
            let tasks = (0..20).map(|task| {
                let trace = trace.clone();
                evenkeel::spawn(async move {
                    let mut random = Random::new(seed + task);
                    let mut interval = interval(Duration::from_micros(1_000 + random.below(5_000)));
                    for _ in 0..20 {
                        let short = Duration::from_micros(random.below(10_000));
                        match random.below(3) {
                            0 => sleep(short).await,
                            1 => drop(timeout(short, interval.tick()).await),
                            _ => drop(interval.tick().await),
                        }
                        trace.lock().unwrap().push((task, start.elapsed().as_nanos()));
                    }
                })
            });
            for task in tasks.collect::<Vec<_>>() {
                task.await.unwrap();
            }
        }
    });
    evenkeel::block_on(program).unwrap();
    Arc::try_unwrap(trace).unwrap().into_inner().unwrap()
}

#[test]
fn a_program_with_one_worker_and_a_paused_clock_runs_the_same_each_time() {
    let _watchdog = watchdog();
    for seed in 0..5 {
        let first = trace(seed);
        assert_eq!(first.len(), 400);
        assert!(first.iter().map(|&(_, time)| time).is_sorted());
        for _ in 0..3 {
            assert_eq!(trace(seed), first);
        }
    }
}

/// Neither a wake that it has not seen nor a later one holds the clock back.
#[test]
fn a_block_on_that_panics_holds_no_clock_back() {
    let _watchdog = watchdog();
    let runtime = paused(1);
    let mut kept = None;
    let panicking = poll_fn(|context| -> Poll<()> {
        context.waker().wake_by_ref();
        kept = Some(context.waker().clone());
        panic!("it is meant to");
    });
    catch_unwind(AssertUnwindSafe(|| runtime.block_on(panicking))).unwrap_err();
    runtime.block_on(sleep(SEC));
    kept.unwrap().wake();
    runtime.block_on(sleep(SEC));
}

#[test]
fn a_clock_that_stands_moves_for_a_block_on_within_another() {
    let _watchdog = watchdog();
    for workers in [1, 2] {
        let runtime = paused(workers);
        let handle = runtime.handle();
        runtime.block_on(async {
            let bell = Arc::new(tokio::sync::Notify::new());
            let mut outer = pin!(bell.notified());
            assert!(poll!(outer.as_mut()).is_pending());
            let start = Instant::now();
            handle.block_on(async {
                let rings = bell.clone();
                // The wake of the outer future, to which the thread does not come.
                evenkeel::spawn(async move { rings.notify_waiters() }).await.unwrap();
                sleep(SEC).await;
            });
            outer.await;
            sleep(SEC).await;
            assert_eq!(start.elapsed(), 2 * SEC);
        });
    }
}

#[test]
fn a_clock_that_stands_moves_for_a_shutdown_within_a_block_on() {
    let _watchdog = watchdog();
    for runtime in [paused(1), paused(2)] {
        let handle = runtime.handle();
        let report = handle.block_on(async move {
            let bell = Arc::new(tokio::sync::Notify::new());
            let mut outer = pin!(bell.notified());
            assert!(poll!(outer.as_mut()).is_pending());
            let rings = bell.clone();
            drop(evenkeel::spawn(async move {
                rings.notify_waiters();
                sleep(SEC).await;
            }));
            runtime.shutdown(Shutdown::Drain)
        });
        assert!(report.is_clean(), "{report}");
    }
}

#[test]
fn a_clock_that_is_paused_and_goes_on_never_goes_back() {
    let _watchdog = watchdog();
    let runtime = runtime(2);
    let turns = Arc::new(AtomicUsize::new(0));
    let (seen, stop) = (turns.clone(), Arc::new(AtomicBool::new(false)));
    let is_over = stop.clone();
    let reader = runtime.spawn(async move {
        let mut last = Instant::now();
        while !is_over.load(Ordering::Relaxed) {
            let now = Instant::now();
            assert!(last <= now, "the clock went back by {:?}", last - now);
            last = now;
            seen.fetch_add(1, Ordering::Relaxed);
        }
    });
    runtime.block_on(async {
        for _ in 0..2_000 {
            pause();
            let before = turns.load(Ordering::Relaxed);
            until(|| turns.load(Ordering::Relaxed) > before || reader.is_finished());
            resume();
        }
    });
    stop.store(true, Ordering::Relaxed);
    runtime.block_on(reader).unwrap();
}

#[test]
fn years_pass_in_no_time() {
    let _watchdog = watchdog();
    paused(2).block_on(async {
        let start = Instant::now();
        let year = 365 * 86_400 * SEC;
        let tasks = (1..=50_u32).map(|years| evenkeel::spawn(sleep(years * year)));
        for (years, task) in (1..).zip(tasks.collect::<Vec<_>>()) {
            task.await.unwrap();
            assert_eq!(start.elapsed(), years * year);
        }
    });
}

#[test]
fn instants_are_counted_with() {
    let now = Instant::now();
    let later = now + SEC;
    assert_eq!((later - now, now - later), (SEC, Duration::ZERO));
    assert_eq!(now.checked_duration_since(later), None);
    assert_eq!(later.saturating_duration_since(now), SEC);
    assert_eq!(now.checked_add(Duration::MAX), None);
    assert_eq!(now.checked_sub(Duration::MAX), None);
    let mut moved = later;
    moved -= SEC;
    moved += 2 * SEC;
    assert_eq!(moved, now + 2 * SEC);
    let std = std::time::Instant::now();
    assert_eq!(Instant::from_std(std).into_std(), std);
    let before = Instant::from_std(std - 100_000 * SEC);
    assert_eq!(std - before.into_std(), 100_000 * SEC);
    assert!(format!("{before:?}").starts_with("Instant(-"));
}

fn assert_traits<T: Send + Sync>() {}

/// A future of time is `Send`, whatever it limits.
#[test]
fn futures_of_time_are_send() {
    assert_traits::<Sleep>();
    assert_traits::<evenkeel::time::Timeout<Sleep>>();
    assert_traits::<evenkeel::time::Interval>();
    let _watchdog = watchdog();
    let mut pinned: Pin<Box<Sleep>> = Box::pin(sleep(MS));
    let runtime = runtime(2);
    runtime
        .block_on(runtime.spawn(async move {
            poll_fn(|context| match pinned.as_mut().poll(context) {
                Poll::Ready(()) => Poll::Ready(()),
                Poll::Pending => Poll::Pending,
            })
            .await;
        }))
        .unwrap();
}

/// A step that looked at all of them would take minutes in the end.
#[test]
fn a_clock_that_stands_goes_through_many_deadlines_of_one_tick() {
    let _watchdog = watchdog();
    let runtime = paused(1);
    runtime.block_on(async {
        let start = Instant::now();
        let deadline = move |n: u64| start + MS + Duration::from_nanos(n * 7_919 % 60_000);
        let sleepers: Vec<_> = (0..60_000)
            .map(|n| {
                evenkeel::spawn(async move {
                    sleep_until(deadline(n)).await;
                    assert_eq!(Instant::now(), deadline(n));
                })
            })
            .collect();
        for sleeper in sleepers {
            sleeper.await.unwrap();
        }
    });
}
