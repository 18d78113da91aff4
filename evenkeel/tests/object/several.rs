//! Entering two objects at once, in any order of their names.

use crate::common::objects::{Holding, at, in_place, join, runtime};
use crate::common::polling::Hand;
use crate::common::until::until;
use crate::common::watchdog::watchdog;
use crate::common::weather::in_all_weathers;
use evenkeel::object::{EnterError, Object, enter_all, enter2};
use evenkeel::{JoinHandle, Runtime, block_on, yield_now};
use evenkeel_policy::random::Random;
use futures::FutureExt;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

/// Accounts at all workers, in place, and outside.
fn accounts(runtime: &Runtime, workers: usize) -> Vec<Object<i64>> {
    let mut accounts: Vec<_> = (0..workers).map(|home| at(runtime, home, 100)).collect();
    accounts.extend([in_place(runtime, 100), Object::new(100)]);
    accounts
}

async fn transfer(from: &Object<i64>, to: &Object<i64>) {
    let (mut from, mut to) = enter2(from, to).await.unwrap();
    *from -= 1;
    *to += 1;
}

fn sum(accounts: &[Object<i64>]) -> i64 {
    accounts.iter().map(|account| account.call_blocking(|sum| *sum).unwrap()).sum()
}

/// Every pair in both orders, by many tasks.
#[test]
fn in_opposite_orders() {
    let _watchdog = watchdog();
    in_all_weathers(|runtime, weather| {
        let pairs = [
            [at(runtime, 0, 0), at(runtime, weather.workers - 1, 0)],
            [in_place(runtime, 0), in_place(runtime, 0)],
            [in_place(runtime, 0), at(runtime, 0, 0)],
        ];
        for [one, other] in pairs {
            let tasks: Vec<_> = (0..16)
                .map(|task| {
                    let (mut one, mut other) = (one.clone(), other.clone());
                    if task % 2 == 0 {
                        std::mem::swap(&mut one, &mut other);
                    }
                    runtime.spawn(async move {
                        let mut random = Random::new(task);
                        for _ in 0..200 {
                            {
                                let (mut one, mut other) = enter2(&one, &other).await.unwrap();
                                assert_eq!(*one, *other, "no other task is inside either");
                                *one += 1;
                                *other += 1;
                            }
                            weather.pass(&mut random).await;
                        }
                    })
                })
                .collect();
            join(tasks);
            assert_eq!(one.call_blocking(|count| *count), Ok(3_200));
            assert_eq!(other.call_blocking(|count| *count), Ok(3_200));
        }
    });
}

/// Any two of several objects, from tasks and from threads, beside held operations on single ones.
#[test]
fn any_two() {
    let _watchdog = watchdog();
    for workers in [1, 4] {
        let runtime = runtime(workers);
        let accounts = accounts(&runtime, workers);
        let transfers = |seed| {
            let accounts = accounts.clone();
            async move {
                let mut random = Random::new(seed);
                for _ in 0..500 {
                    let mut any = || &accounts[random.below(accounts.len() as u64) as usize];
                    let (from, to) = (any(), any());
                    if !from.ptr_eq(to) {
                        transfer(from, to).await;
                    }
                    if random.below(16) == 0 {
                        let mut held = to.enter_held().await.unwrap();
                        let before = *held;
                        yield_now().await;
                        *held = before;
                    }
                }
            }
        };
        let tasks: Vec<_> = (0..12).map(|seed| runtime.spawn(transfers(seed))).collect();
        let threads = [20, 21].map(|seed| {
            let transfers = transfers(seed);
            thread::spawn(move || block_on(transfers))
        });
        join(tasks);
        for thread in threads {
            thread.join().expect("the thread ends well");
        }
        assert_eq!(sum(&accounts), 100 * accounts.len() as i64);
    }
}

/// The values come in the order of naming, whatever their addresses and types.
#[test]
fn values_come_in_the_order_of_the_names() {
    let objects: Vec<_> = (0..10).map(|number| Object::new(vec![number])).collect();
    let (number, text) = (Object::new(7_u8), Object::new("x"));
    block_on(async {
        for pair in objects.windows(2) {
            let (one, other) = enter2(&pair[0], &pair[1]).await.unwrap();
            assert_eq!(one[0] + 1, other[0]);
            drop((one, other));
            let (other, one) = enter2(&pair[1], &pair[0]).await.unwrap();
            assert_eq!(one[0] + 1, other[0]);
        }
        let (number, text) = enter2(&number, &text).await.unwrap();
        assert_eq!((*number, *text), (7, "x"));
    });
}

#[test]
fn the_same_object_twice() {
    let _watchdog = watchdog();
    let runtime = runtime(2);
    for account in accounts(&runtime, 2) {
        let twice = |account: Object<i64>| async move {
            let result = enter2(&account, &account).await;
            matches!(result, Err(EnterError::Inside { .. }))
        };
        assert!(block_on(twice(account.clone())));
        assert!(runtime.block_on(twice(account.clone())));
        let task = runtime.spawn(twice(account.clone()));
        assert_eq!(join([task]), [true]);
        assert!(account.try_enter().unwrap().is_some(), "it is inside no more");
    }
}

/// A task that waits for one of the two is not inside the other.
#[test]
fn one_of_the_two_is_held() {
    let _watchdog = watchdog();
    let runtime = runtime(2);
    let accounts = accounts(&runtime, 2);
    for held in &accounts {
        for other in accounts.iter().filter(|other| !other.ptr_eq(held)) {
            let holding = Holding::of(&runtime, held);
            for (from, to) in [(held, other), (other, held)] {
                let mut entry = Box::pin(enter2(from, to));
                for _ in 0..10 {
                    assert!(entry.as_mut().now_or_never().is_none());
                    assert!(other.try_enter().unwrap().is_some());
                }
            }
            let (from, to) = (held.clone(), other.clone());
            let task = runtime.spawn(async move { transfer(&from, &to).await });
            holding.leave();
            join([task]);
        }
    }
    assert_eq!(sum(&accounts), 100 * accounts.len() as i64);
}

#[test]
fn cancelled_at_random() {
    let _watchdog = watchdog();
    let runtime = runtime(3);
    let accounts = accounts(&runtime, 3);
    let done = Arc::new(AtomicUsize::new(0));
    let mut random = Random::new(1);
    for _ in 0..100 {
        let tasks: Vec<_> = (0..9)
            .map(|task| {
                let (accounts, done) = (accounts.clone(), done.clone());
                runtime.spawn(async move {
                    loop {
                        let (from, to) = (task % accounts.len(), (task + 1) % accounts.len());
                        transfer(&accounts[from], &accounts[to]).await;
                        done.fetch_add(1, Ordering::Relaxed);
                        yield_now().await;
                    }
                })
            })
            .collect();
        let enough = done.load(Ordering::Relaxed) + random.below(500) as usize;
        until(|| done.load(Ordering::Relaxed) >= enough);
        tasks.iter().for_each(|task: &JoinHandle<()>| task.abort());
        for task in tasks {
            assert!(block_on(task).unwrap_err().is_cancelled());
        }
        assert_eq!(sum(&accounts), 100 * accounts.len() as i64);
    }
}

/// Overlapping sets of one to six objects, more than a worker has notes for, in random orders.
#[test]
fn sets_of_any_size() {
    let _watchdog = watchdog();
    in_all_weathers(|runtime, weather| {
        let objects: Vec<_> = (0..8).map(|n| at(runtime, n % weather.workers, 0)).collect();
        let tasks: Vec<_> = (0..12)
            .map(|task| {
                let objects = objects.clone();
                runtime.spawn(async move {
                    let mut random = Random::new(task);
                    let mut entered = 0;
                    for _ in 0..100 {
                        let count = 1 + random.below(6) as usize;
                        let from = random.below(8) as usize;
                        let set: Vec<_> =
                            (0..count).map(|n| &objects[(from + 3 * n) % 8]).collect();
                        let mut guards = enter_all(&set).await.unwrap();
                        guards.iter_mut().for_each(|guard| **guard += 1);
                        entered += count as i64;
                    }
                    entered
                })
            })
            .collect();
        let entered: i64 = join(tasks).into_iter().sum();
        assert_eq!(sum(&objects), entered);
    });
}

#[test]
fn a_set_of_none_and_one_with_an_object_twice() {
    let _watchdog = watchdog();
    in_all_weathers(|runtime, _| {
        let (one, other) = (at(runtime, 0, 1), in_place(runtime, 2));
        let task = runtime.spawn(async move {
            assert!(enter_all::<i64>(&[]).await.unwrap().is_empty());
            let twice = enter_all(&[&one, &other, &one]).await.map(|guards| guards.len());
            assert!(matches!(twice, Err(EnterError::Inside(_))), "{twice:?}");
            let guards = enter_all(&[&other, &one]).await.unwrap();
            assert_eq!((*guards[0], *guards[1]), (2, 1), "in the order of the objects");
        });
        join([task]);
    });
}

fn in_the_end<F: Future>(hand: &mut Hand<F>) -> F::Output {
    loop {
        if let Some(output) = hand.poll() {
            return output;
        }
        thread::yield_now();
    }
}

/// Behind a held operation the waiters neither poll repeatedly nor keep the free object.
#[test]
fn behind_one_that_is_held_in_line() {
    let _watchdog = watchdog();
    let runtime = runtime(2);
    for make in [in_place::<u64>, |runtime: &Runtime, value| at(runtime, 1, value)] {
        let objects = [make(&runtime, 0), make(&runtime, 0)];
        let (a, b) = (&objects[0], &objects[1]);
        for (held, other) in [(a, b), (b, a)] {
            let holding = Holding::of(&runtime, held);
            let mut two = Hand::waiting(enter2(a, b).map(|guards| guards.map(drop)));
            let both = [a, b];
            let mut all = Hand::waiting(enter_all(&both).map(|guards| guards.map(drop)));
            assert_eq!((two.wakes(), all.wakes()), (0, 0));
            assert!(other.try_enter().unwrap().is_some(), "it is free");
            holding.leave();
            assert_eq!(in_the_end(&mut two), Ok(()));
            assert_eq!(in_the_end(&mut all), Ok(()));
        }
    }
}
