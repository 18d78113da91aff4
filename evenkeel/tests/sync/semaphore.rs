//! The semaphore: order, hand-over, and permits that survive every way of giving up.

use crate::common::counting::Counting;
use crate::common::runtime::runtime;
use crate::common::until::until;
use crate::common::watchdog::watchdog;
use evenkeel::sync::{Acquire, AcquireOwned, Permit, Semaphore};
use evenkeel::yield_now;
use evenkeel_policy::random::Random;
use futures::poll;
use std::pin::{Pin, pin};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};
use std::thread;

/// Polls once with a waker that does nothing.
fn poll_once<F: Future>(future: Pin<&mut F>) -> Poll<F::Output> {
    future.poll(&mut Context::from_waker(Waker::noop()))
}

/// Polls once, and takes the datum out of the permit.
fn datum_of<D: Send>(acquire: Pin<&mut Acquire<'_, D>>) -> Poll<D> {
    poll_once(acquire).map(Permit::into_inner)
}

/// Takes a datum that is available.
fn try_take<D: Send>(semaphore: &Semaphore<D>) -> Option<D> {
    semaphore.try_acquire().map(Permit::into_inner)
}

#[test]
fn permits_are_counted() {
    let _watchdog = watchdog();
    let semaphore = Semaphore::new(2);
    let first = semaphore.try_acquire().unwrap();
    let Poll::Ready(second) = poll_once(pin!(semaphore.acquire())) else { panic!("two are there") };
    assert!(semaphore.try_acquire().is_none());
    let mut waits = pin!(semaphore.acquire());
    assert!(poll_once(waits.as_mut()).is_pending());
    assert_eq!((semaphore.available_permits(), semaphore.waiting()), (0, 1));
    drop(first);
    let Poll::Ready(third) = poll_once(waits) else { panic!("one has been released") };
    drop(second);
    assert_eq!((semaphore.available_permits(), semaphore.waiting()), (1, 0));
    assert!(format!("{semaphore:?}").contains("available: 1, waiting: 0"));
    third.forget();
    assert_eq!(semaphore.available_permits(), 1, "what is forgotten is not released");
    semaphore.add_permits(2);
    assert_eq!(semaphore.available_permits(), 3);
    assert_eq!(Semaphore::new(usize::MAX / 2).available_permits(), usize::MAX / 2);
}

#[test]
#[should_panic(expected = "at most `usize::MAX` permits")]
fn a_permit_too_many_is_refused() {
    Semaphore::new(usize::MAX).add_permits(1);
}

/// Permits that are not made yet are taken like others, before and after others have waited.
#[test]
fn the_first_permits_are_counted_beside_those_that_come_later() {
    let semaphore = Semaphore::new(2);
    semaphore.add_permits(1);
    assert_eq!(semaphore.available_permits(), 3);
    (0..3).for_each(|_| semaphore.try_acquire().unwrap().forget());
    let mut waits = pin!(semaphore.take());
    assert!(poll_once(waits.as_mut()).is_pending());
    assert_eq!((semaphore.available_permits(), semaphore.waiting()), (0, 1));
    semaphore.add_permits(2);
    assert!(poll_once(waits).is_ready());
    assert_eq!((semaphore.available_permits(), semaphore.waiting()), (1, 0));
}

static IN_A_STATIC: Semaphore = Semaphore::new(1);

#[test]
fn a_semaphore_may_be_a_static() {
    let permit = IN_A_STATIC.try_acquire().unwrap();
    assert!(IN_A_STATIC.try_acquire().is_none());
    drop(permit);
    assert_eq!(IN_A_STATIC.available_permits(), 1);
}

#[test]
fn a_permit_is_released_by_a_panic() {
    let semaphore = Semaphore::new(1);
    let result = std::panic::catch_unwind(|| {
        let _permit = semaphore.try_acquire().unwrap();
        panic!("the holder fails");
    });
    assert!(result.is_err());
    assert_eq!(semaphore.available_permits(), 1);
}

#[test]
fn an_owned_permit_goes_to_another_task_and_is_released_there() {
    let _watchdog = watchdog();
    let runtime = runtime(2);
    runtime.block_on(async {
        let semaphore = Arc::new(Semaphore::with_data([String::from("chart")]));
        let mut permit = semaphore.clone().acquire_owned().await;
        assert!(semaphore.clone().try_acquire_owned().is_none());
        permit.push_str(" of the bay");
        let waits = evenkeel::spawn(semaphore.clone().acquire_owned());
        yield_now().await;
        let other = evenkeel::spawn(async move { drop(permit) });
        other.await.unwrap();
        let permit = waits.await.unwrap();
        assert_eq!(*permit, "chart of the bay");
        assert!(Arc::ptr_eq(permit.semaphore(), &semaphore));
        assert_eq!(permit.into_inner(), "chart of the bay");
        assert_eq!((semaphore.available_permits(), semaphore.waiting()), (0, 0));
    });
}

/// A service that has its permit at the second poll, and polls it no more.
#[test]
fn an_owned_wait_is_kept_between_polls_and_gives_its_share_to_the_permit() {
    struct Service(Pin<Box<AcquireOwned<u8>>>);
    let semaphore = Arc::new(Semaphore::empty());
    let mut service = Service(Box::pin(semaphore.clone().acquire_owned()));
    assert!(poll_once(service.0.as_mut()).is_pending());
    semaphore.hand_over(7);
    let Poll::Ready(permit) = poll_once(service.0.as_mut()) else { panic!("it has been granted") };
    assert_eq!((*permit, Arc::strong_count(&semaphore)), (7, 2));
    drop(service);
    drop(permit);
    assert_eq!((semaphore.available_permits(), Arc::strong_count(&semaphore)), (1, 1));
}

/// The future waits, is granted, and is dropped before it is polled again.
#[test]
fn an_owned_wait_that_is_given_up_loses_no_permit() {
    let semaphore = Arc::new(Semaphore::new(0));
    let mut waits = Box::pin(semaphore.clone().acquire_owned());
    assert!(poll_once(waits.as_mut()).is_pending());
    semaphore.add_permits(1);
    drop(waits);
    assert_eq!((semaphore.available_permits(), semaphore.waiting()), (1, 0));
    semaphore.clone().try_acquire_owned().unwrap().forget();
    assert_eq!(semaphore.available_permits(), 0);
}

#[test]
fn waiters_are_served_in_the_order_in_which_they_came() {
    let _watchdog = watchdog();
    let semaphore = Semaphore::empty();
    let mut waiters: Vec<_> = (0..50).map(|_| Box::pin(semaphore.acquire())).collect();
    for waiter in &mut waiters {
        assert!(poll_once(waiter.as_mut()).is_pending());
    }
    for datum in 0..50 {
        semaphore.hand_over(datum);
    }
    // In any order of polls.
    for (place, waiter) in waiters.iter_mut().enumerate().rev() {
        assert_eq!(datum_of(waiter.as_mut()), Poll::Ready(place));
    }
}

#[test]
fn data_wait_in_the_store_in_their_order() {
    let _watchdog = watchdog();
    let semaphore = Semaphore::with_data([String::from("a"), String::from("b")]);
    semaphore.hand_over(String::from("c"));
    let all: Vec<_> = std::iter::from_fn(|| try_take(&semaphore)).collect();
    assert_eq!(all, ["a", "b", "c"]);
}

#[test]
fn a_granted_permit_is_given_to_no_other_task() {
    let _watchdog = watchdog();
    let semaphore = Semaphore::new(0);
    let mut first = pin!(semaphore.acquire());
    assert!(poll_once(first.as_mut()).is_pending());
    semaphore.add_permits(1);
    // The first waiter has not run yet, and still no task overtakes it.
    assert_eq!((semaphore.available_permits(), try_take(&semaphore)), (0, None));
    assert!(poll_once(pin!(semaphore.acquire())).is_pending());
    assert!(poll_once(first).is_ready());
}

#[test]
fn a_waiter_that_gives_up_leaves_the_queue() {
    let _watchdog = watchdog();
    let semaphore = Semaphore::empty();
    for leaves in 0..3 {
        let mut waiters: Vec<_> = (0..3).map(|_| Some(Box::pin(semaphore.acquire()))).collect();
        for waiter in waiters.iter_mut().flatten() {
            assert!(poll_once(waiter.as_mut()).is_pending());
        }
        waiters[leaves] = None;
        assert_eq!(semaphore.waiting(), 2);
        semaphore.hand_over("first");
        semaphore.hand_over("second");
        let got: Vec<_> =
            waiters.iter_mut().flatten().map(|waiter| datum_of(waiter.as_mut())).collect();
        assert_eq!(got, [Poll::Ready("first"), Poll::Ready("second")]);
    }
    assert_eq!((semaphore.available_permits(), semaphore.waiting()), (0, 0));
}

/// The waiters before it have been served and are gone, so nothing may lead back to them.
#[test]
fn the_last_one_gives_up_after_all_before_it_have_been_served() {
    let _watchdog = watchdog();
    let semaphore = Semaphore::empty();
    let mut first = Box::pin(semaphore.acquire());
    let mut last = Box::pin(semaphore.acquire());
    assert!(poll_once(first.as_mut()).is_pending());
    assert!(poll_once(last.as_mut()).is_pending());
    semaphore.hand_over(1);
    assert_eq!(datum_of(first.as_mut()), Poll::Ready(1));
    drop(first);
    drop(last);
    assert_eq!(semaphore.waiting(), 0);
    let mut next = pin!(semaphore.acquire());
    assert!(poll_once(next.as_mut()).is_pending());
    semaphore.hand_over(2);
    assert_eq!(datum_of(next), Poll::Ready(2));
}

#[test]
fn a_waiter_that_gives_up_after_the_grant_passes_the_permit_on() {
    let _watchdog = watchdog();
    let semaphore = Semaphore::empty();
    let mut first = Box::pin(semaphore.acquire());
    let mut second = Box::pin(semaphore.acquire());
    assert!(poll_once(first.as_mut()).is_pending());
    let woken = Arc::new(Counting::default());
    let waker = Waker::from(woken.clone());
    assert!(second.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
    semaphore.hand_over("datum");
    assert_eq!(woken.wakes(), 0);
    drop(first);
    assert_eq!(woken.wakes(), 1);
    drop(second);
    assert_eq!(try_take(&semaphore), Some("datum"), "at last it is in the store");
}

#[test]
fn a_wait_that_was_not_polled_or_is_done_leaves_nothing() {
    let _watchdog = watchdog();
    let semaphore = Semaphore::new(1);
    drop(semaphore.acquire());
    assert_eq!(semaphore.available_permits(), 1);
    let mut done = Box::pin(semaphore.acquire());
    let Poll::Ready(permit) = poll_once(done.as_mut()) else { panic!("one is there") };
    drop(done);
    assert_eq!(semaphore.available_permits(), 0);
    drop(permit);
    assert_eq!(semaphore.available_permits(), 1);
}

#[test]
#[should_panic(expected = "polled again after it has returned its permit")]
fn a_wait_that_is_done_is_not_polled_again() {
    let semaphore = Semaphore::new(2);
    let mut done = pin!(semaphore.acquire());
    assert!(poll_once(done.as_mut()).is_ready());
    let _ = poll_once(done);
}

#[test]
fn the_last_waker_is_the_one_that_is_woken() {
    let _watchdog = watchdog();
    let semaphore = Semaphore::new(0);
    let mut waits = pin!(semaphore.acquire());
    let wakers: [_; 2] = std::array::from_fn(|_| Arc::new(Counting::default()));
    for waker in &wakers {
        let waker = Waker::from(waker.clone());
        assert!(waits.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
    }
    semaphore.add_permits(1);
    let wakes = wakers.map(|waker| waker.wakes());
    assert_eq!(wakes, [0, 1]);
}

#[test]
fn a_datum_in_a_semaphore_that_is_dropped_is_dropped() {
    let _watchdog = watchdog();
    let datum = Arc::new(());
    let semaphore = Semaphore::with_data([datum.clone(), datum.clone()]);
    let granted = Semaphore::empty();
    {
        let mut waits = Box::pin(granted.acquire());
        assert!(poll_once(waits.as_mut()).is_pending());
        granted.hand_over(datum.clone());
    }
    assert_eq!(Arc::strong_count(&datum), 4);
    drop((semaphore, granted));
    assert_eq!(Arc::strong_count(&datum), 1);
}

#[test]
fn tasks_are_served_in_order_too() {
    let _watchdog = watchdog();
    let runtime = runtime(2);
    let semaphore = Arc::new(Semaphore::new(0));
    let order = Arc::new(Mutex::new(Vec::new()));
    let mut tasks = Vec::new();
    for place in 0..100 {
        let (semaphore, order) = (semaphore.clone(), order.clone());
        let waiting = semaphore.clone();
        tasks.push(runtime.spawn(async move {
            semaphore.take().await;
            order.lock().unwrap().push(place);
            semaphore.add_permits(1);
        }));
        until(|| waiting.waiting() == place + 1);
    }
    semaphore.add_permits(1);
    for task in tasks {
        runtime.block_on(task).unwrap();
    }
    assert_eq!(*order.lock().unwrap(), (0..100).collect::<Vec<_>>());
    assert_eq!(semaphore.available_permits(), 1);
}

#[test]
fn released_from_threads() {
    let _watchdog = watchdog();
    let runtime = runtime(2);
    let semaphore = Arc::new(Semaphore::<u64>::empty());
    let tasks: Vec<_> = (0..4)
        .map(|_| {
            let semaphore = semaphore.clone();
            runtime.spawn(async move {
                let mut sum = 0_u64;
                for _ in 0..1_000 {
                    sum += semaphore.take().await;
                }
                sum
            })
        })
        .collect();
    let threads: Vec<_> = (0..4)
        .map(|thread| {
            let semaphore = semaphore.clone();
            thread::spawn(move || (0..1_000).for_each(|n| semaphore.hand_over(thread * 1_000 + n)))
        })
        .collect();
    for thread in threads {
        thread.join().unwrap();
    }
    let sum: u64 = tasks.into_iter().map(|task| runtime.block_on(task).unwrap()).sum();
    assert_eq!(sum, (0..4_000).sum());
    assert_eq!((semaphore.available_permits(), semaphore.waiting()), (0, 0));
}

#[test]
fn exclusion_holds() {
    let _watchdog = watchdog();
    let runtime = runtime(2);
    let semaphore = Arc::new(Semaphore::with_data([0_u64]));
    let tasks: Vec<_> = (0..20)
        .map(|_| {
            let semaphore = semaphore.clone();
            runtime.spawn(async move {
                for turn in 0..500 {
                    let count = semaphore.take().await;
                    if turn % 10 == 0 {
                        yield_now().await;
                    }
                    semaphore.hand_over(count + 1);
                }
            })
        })
        .collect();
    for task in tasks {
        runtime.block_on(task).unwrap();
    }
    assert_eq!(try_take(&semaphore), Some(10_000));
}

#[test]
fn thousands_that_give_up_at_random_lose_no_permit() {
    const PERMITS: usize = 5;

    let _watchdog = watchdog();
    let runtime = runtime(2);
    let semaphore = Arc::new(Semaphore::with_data(0..PERMITS));
    let tasks: Vec<_> = (0..16)
        .map(|seed| {
            let semaphore = semaphore.clone();
            runtime.spawn(async move {
                let mut random = Random::new(seed);
                for _ in 0..1_000 {
                    let mut acquire = Box::pin(semaphore.acquire());
                    let mut acquired = None;
                    for _ in 0..random.below(4) {
                        if let Poll::Ready(permit) = poll!(&mut acquire) {
                            acquired = Some(permit.into_inner());
                            break;
                        }
                        yield_now().await;
                    }
                    // Given up before its poll, waiting, granted or complete.
                    drop(acquire);
                    if let Some(datum) = acquired {
                        if random.below(2) == 0 {
                            yield_now().await;
                        }
                        semaphore.hand_over(datum);
                    }
                }
            })
        })
        .collect();
    for task in tasks {
        runtime.block_on(task).unwrap();
    }
    assert_eq!(semaphore.waiting(), 0);
    let mut data: Vec<_> = std::iter::from_fn(|| try_take(&semaphore)).collect();
    data.sort_unstable();
    assert_eq!(data, (0..PERMITS).collect::<Vec<_>>());
}
