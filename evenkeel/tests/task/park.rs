//! `park` and `unpark`: one token, from any thread at any time.

use crate::common::runtime::runtime;
use crate::common::until::until;
use crate::common::watchdog::watchdog;
use evenkeel::task::{current, park};
use evenkeel::{Runtime, yield_now};
use futures::future::{Either, select};
use futures::stream::{FuturesUnordered, StreamExt};
use futures::{FutureExt, join, poll, select_biased};
use std::future::{poll_fn, ready};
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::task::Poll;
use std::thread;

/// Whether the running task has no token.
async fn would_park() -> bool {
    poll!(park()).is_pending()
}

#[test]
fn an_unpark_that_comes_first_is_not_lost() {
    let _watchdog = watchdog();
    let runtime = runtime(2);
    let task = runtime.spawn(async {
        current().unpark();
        yield_now().await;
        park().await;
        assert!(would_park().await, "the token has been taken");
    });
    runtime.block_on(task).unwrap();

    let new = runtime.spawn(async {
        park().await;
        assert!(would_park().await);
    });
    // Before its first poll or after: the token is the same.
    new.task().unpark();
    runtime.block_on(new).unwrap();
}

#[test]
fn many_unparks_before_a_park_are_one() {
    let _watchdog = watchdog();
    let task = runtime(2).spawn_and_wait(async {
        for unparks in 1..=20 {
            for _ in 0..unparks {
                current().unpark();
            }
            // The token survives turns in which it is not taken.
            for _ in 0..unparks % 4 {
                yield_now().await;
            }
            park().await;
            assert!(would_park().await, "after {unparks} unparks");
        }
    });
    task.unwrap();
}

#[test]
fn tokens_come_and_go_within_one_poll() {
    let _watchdog = watchdog();
    let task = runtime(2).spawn_and_wait(async {
        for round in 0..50 {
            for unparks in [1, 2, 3, 4, 5, 9] {
                for _ in 0..unparks {
                    current().unpark();
                }
                assert!(!would_park().await, "round {round}, {unparks} unparks: one token");
                assert!(would_park().await, "round {round}, {unparks} unparks: no second one");
            }
            if round % 7 == 0 {
                yield_now().await;
                assert!(would_park().await, "round {round}: a turn leaves no token");
            }
        }
    });
    task.unwrap();
}

#[test]
fn a_token_left_after_others_were_taken_in_the_same_poll_stays() {
    let _watchdog = watchdog();
    let task = runtime(2).spawn_and_wait(async {
        for taken in 0..8 {
            for _ in 0..taken {
                current().unpark();
                park().await;
            }
            current().unpark();
            // Here the poll ends with some tokens consumed and one left.
            let mut turns = 0;
            poll_fn(|context| {
                turns += 1;
                if turns == 3 {
                    return Poll::Ready(());
                }
                context.waker().wake_by_ref();
                Poll::Pending
            })
            .await;
            assert!(!would_park().await, "after {taken}");
            assert!(would_park().await, "after {taken}");
        }
    });
    task.unwrap();
}

#[test]
fn a_wake_is_no_token() {
    let _watchdog = watchdog();
    let runtime = runtime(2);
    let polls = Arc::new(AtomicUsize::new(0));
    let waker = Arc::new(std::sync::Mutex::new(None));
    let task = runtime.spawn({
        let (polls, waker) = (polls.clone(), waker.clone());
        async move {
            let mut parked = pin!(park());
            poll_fn(|context| {
                *waker.lock().unwrap() = Some(context.waker().clone());
                polls.fetch_add(1, Ordering::AcqRel);
                parked.as_mut().poll(context)
            })
            .await;
        }
    });
    for polled in 1..=100 {
        until(|| polls.load(Ordering::Acquire) >= polled);
        assert!(!task.is_finished());
        let waker = waker.lock().unwrap().take();
        waker.expect("each poll leaves one").wake();
    }
    task.task().unpark();
    runtime.block_on(task).unwrap();
}

#[test]
fn unparked_by_threads_by_another_runtime_and_by_another_task() {
    const ROUNDS: usize = 1_500;

    let _watchdog = watchdog();
    let (one, two) = (runtime(2), runtime(2));
    let parks = Arc::new(AtomicUsize::new(0));
    let task = one.spawn({
        let parks = parks.clone();
        async move {
            for _ in 0..ROUNDS {
                park().await;
                parks.fetch_add(1, Ordering::AcqRel);
            }
        }
    });
    // Each comes after the previous token has been taken, so that no two merge.
    for round in 0..ROUNDS {
        let unparker = task.task();
        match round % 3 {
            0 => thread::spawn(move || unparker.unpark()).join().unwrap(),
            1 => two.spawn_and_wait(async move { unparker.unpark() }).unwrap(),
            _ => one.spawn_and_wait(async move { unparker.unpark() }).unwrap(),
        }
        until(|| parks.load(Ordering::Acquire) == round + 1);
    }
    one.block_on(task).unwrap();
}

#[test]
fn what_is_written_before_an_unpark_is_seen_after_the_park() {
    let _watchdog = watchdog();
    let runtime = runtime(2);
    for round in 0..1_000 {
        let cell = Arc::new(AtomicUsize::new(0));
        let reader = runtime.spawn({
            let cell = cell.clone();
            async move {
                park().await;
                cell.load(Ordering::Relaxed)
            }
        });
        cell.store(round, Ordering::Relaxed);
        reader.task().unpark();
        assert_eq!(runtime.block_on(reader).unwrap(), round);
    }
}

#[test]
fn two_tasks_take_turns_without_losing_one() {
    let _watchdog = watchdog();
    let runtime = runtime(2);
    let turn = Arc::new(AtomicUsize::new(0));
    let player = |me: usize, turn: Arc<AtomicUsize>| async move {
        park().await;
        let other: evenkeel::task::Task = loop {
            if let Some(other) = OTHERS[me].lock().unwrap().take() {
                break other;
            }
        };
        for round in 0..20_000 {
            while turn.load(Ordering::Acquire) != 2 * round + me {
                park().await;
            }
            turn.fetch_add(1, Ordering::AcqRel);
            other.unpark();
        }
    };
    static OTHERS: [std::sync::Mutex<Option<evenkeel::task::Task>>; 2] =
        [const { std::sync::Mutex::new(None) }; 2];
    let players = [0, 1].map(|me| runtime.spawn(player(me, turn.clone())));
    for me in [0, 1] {
        *OTHERS[me].lock().unwrap() = Some(players[1 - me].task());
    }
    for player in &players {
        player.task().unpark();
    }
    for player in players {
        runtime.block_on(player).unwrap();
    }
    assert_eq!(turn.load(Ordering::Acquire), 40_000);
}

#[test]
fn a_park_that_is_given_up_leaves_its_token() {
    let _watchdog = watchdog();
    let task = runtime(2).spawn_and_wait(async {
        let mut given_up = park();
        assert!(poll!(&mut given_up).is_pending());
        current().unpark();
        drop(given_up);
        park().await;

        current().unpark();
        drop(park());
        select_biased! {
            () = ready(()).fuse() => {}
            () = park().fuse() => unreachable!("the first is ready"),
        }
        assert!(!would_park().await, "no poll has taken it");
    });
    task.unwrap();
}

#[test]
fn inside_select_and_join() {
    let _watchdog = watchdog();
    let task = runtime(2).spawn_and_wait(async {
        let me = current();
        let unparker = evenkeel::spawn(async move { me.unpark() });
        let never = std::future::pending::<()>();
        assert!(matches!(select(pin!(park()), pin!(never)).await, Either::Left(_)));
        unparker.await.unwrap();

        let me = current();
        let (parked, unparker) = join!(park(), evenkeel::spawn(async move { me.unpark() }));
        unparker.unwrap();
        parked
    });
    task.unwrap();
}

#[test]
fn under_a_combinator_s_own_waker() {
    let _watchdog = watchdog();
    let runtime = runtime(2);
    let started = Arc::new(AtomicBool::new(false));
    let task = runtime.spawn({
        let started = started.clone();
        async move {
            let mut parks = FuturesUnordered::from_iter([park().boxed(), park().boxed()]);
            parks.push(
                async {
                    started.store(true, Ordering::Release);
                    yield_now().await;
                    park().await;
                }
                .boxed(),
            );
            let mut unparked = 0;
            while parks.next().await.is_some() {
                unparked += 1;
                // Each consumes one token.
                if unparked < 3 {
                    current().unpark();
                }
            }
            unparked
        }
    });
    until(|| started.load(Ordering::Acquire));
    task.task().unpark();
    assert_eq!(runtime.block_on(task).unwrap(), 3);
}

#[test]
#[should_panic(expected = "park() is polled outside of a task")]
fn outside_of_a_task() {
    evenkeel::block_on(park());
}

/// Spawns a task and waits for it.
trait SpawnAndWait {
    fn spawn_and_wait(
        &self,
        future: impl Future<Output = ()> + Send + 'static,
    ) -> Result<(), evenkeel::JoinError>;
}

impl SpawnAndWait for Runtime {
    fn spawn_and_wait(
        &self,
        future: impl Future<Output = ()> + Send + 'static,
    ) -> Result<(), evenkeel::JoinError> {
        self.block_on(self.spawn(future))
    }
}
