use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;

use tokio::runtime::{Handle, RuntimeFlavor};

use super::evenkeel::Evenkeel;
use super::tokio_hand::TokioHand;
use super::tokio_native::TokioNative;
use super::*;
use crate::affinity;

/// Operations per test: enough that two threads meet in every state.
const ROUNDS: u64 = 20_000;

/// Two tasks on two threads hand a token to and fro; after a lost token the test would not end.
fn ping_pong<R: Runtime>() {
    let runtime = R::start(2).unwrap();
    let (ping, pong) = (R::Parker::default(), R::Parker::default());
    let attached = Arc::new(AtomicU64::new(0));
    let side = |own: R::Parker, other: R::Parker, serves: bool| {
        let attached = attached.clone();
        async move {
            own.attach().await;
            attached.fetch_add(1, Ordering::AcqRel);
            while attached.load(Ordering::Acquire) < 2 {
                R::yield_now().await;
            }
            let other = other.unparker();
            if serves {
                R::Parker::unpark(&other);
            }
            for _ in 0..ROUNDS {
                own.park().await;
                R::Parker::unpark(&other);
            }
        }
    };
    runtime.block_on(async {
        let one = R::spawn(side(ping.clone(), pong.clone(), true));
        let two = R::spawn(side(pong, ping, false));
        one.await.unwrap();
        two.await.unwrap();
    });
}

/// A token that is posted before it is waited for is not lost.
fn early_token<R: Runtime>() {
    let runtime = R::start(1).unwrap();
    runtime.block_on(async {
        let task = R::spawn(async {
            let token = R::Parker::default();
            token.attach().await;
            R::Parker::unpark(&token.unparker());
            token.park().await;
        });
        task.await.unwrap();
    });
}

/// Permits with data circulate among tasks on two threads: none is lost and none doubled.
fn permits_keep_their_arrays<R: Runtime>() {
    const TASKS: usize = 8;
    const SPOTS: usize = 2;
    let runtime = R::start(2).unwrap();
    let row = Arc::new(R::Arrays::new(SPOTS, TASKS + 1));
    for spot in 0..SPOTS {
        row.release(spot, Array::from([0]));
    }
    runtime.block_on(async {
        let tasks: Vec<_> = (0..TASKS)
            .map(|number| {
                let row = row.clone();
                let mut seat = row.seat(number);
                R::spawn(async move {
                    for round in 0..ROUNDS as usize {
                        let spot = (number + round) % SPOTS;
                        let mut array = row.acquire(spot, &mut seat).await;
                        array[0] += 1;
                        row.release(spot, array);
                    }
                })
            })
            .collect();
        for task in tasks {
            task.await.unwrap();
        }
        let taker = row.clone();
        let mut seat = row.seat(TASKS);
        let sum = R::spawn(async move {
            let mut sum = 0;
            for spot in 0..SPOTS {
                assert_eq!(taker.available(spot), 1);
                sum += taker.acquire(spot, &mut seat).await[0];
            }
            sum
        });
        assert_eq!(sum.await.unwrap(), TASKS as u64 * ROUNDS);
    });
}

/// The task that has waited longest is woken first.
fn hand_over_is_first_in_first_out<R: Runtime>() {
    const TASKS: usize = 5;
    let runtime = R::start(1).unwrap();
    let row = Arc::new(R::Permits::new(1, TASKS));
    let started = Arc::new(AtomicUsize::new(0));
    let served = Arc::new(Mutex::new(Vec::new()));
    let seen = served.clone();
    runtime.block_on(async {
        let driver = R::spawn(async move {
            for number in 0..TASKS {
                let (row, arrived, served) = (row.clone(), started.clone(), served.clone());
                let mut seat = row.seat(number);
                drop(R::spawn(async move {
                    arrived.fetch_add(1, Ordering::Relaxed);
                    row.acquire(0, &mut seat).await;
                    served.lock().unwrap().push(number);
                }));
                // One processor: a task that has started waits before this one goes on.
                while started.load(Ordering::Relaxed) <= number {
                    R::yield_now().await;
                }
            }
            for number in 0..TASKS {
                row.release(0, ());
                while served.lock().unwrap().len() <= number {
                    R::yield_now().await;
                }
            }
        });
        driver.await.unwrap();
    });
    assert_eq!(*seen.lock().unwrap(), [0, 1, 2, 3, 4]);
}

macro_rules! check {
    ($($module:ident: $runtime:ty),*) => {$(
        mod $module {
            use super::*;

            #[test]
            fn tokens_go_to_and_fro() {
                ping_pong::<$runtime>();
            }

            #[test]
            fn an_early_token_is_kept() {
                early_token::<$runtime>();
            }

            #[test]
            fn permits_keep_their_data() {
                permits_keep_their_arrays::<$runtime>();
            }

            #[test]
            fn one_worker_has_the_cores_of_its_starter() {
                super::one_worker_has_the_cores_of_its_starter::<$runtime>();
            }

            #[test]
            fn its_end_drops_its_tasks() {
                the_end_of_a_runtime_drops_its_tasks::<$runtime>();
            }

            #[test]
            fn waiting_tasks_are_served_in_order() {
                hand_over_is_first_in_first_out::<$runtime>();
            }
        }
    )*};
}

check!(evenkeel: Evenkeel, tokio_hand: TokioHand, tokio_native: TokioNative);

/// Tokio is measured in its best form: its current-thread runtime with one processor.
fn tokio_runs_in_its_form<R: Runtime>() {
    for (procs, due) in [(1, RuntimeFlavor::CurrentThread), (2, RuntimeFlavor::MultiThread)] {
        let runtime = R::start(procs).unwrap();
        let form = async { Handle::current().runtime_flavor() };
        assert_eq!(runtime.block_on(async { R::spawn(form).await.unwrap() }), due);
    }
}

#[test]
fn tokio_has_one_thread_with_one_processor_and_more_with_two() {
    tokio_runs_in_its_form::<TokioHand>();
    tokio_runs_in_its_form::<TokioNative>();
}

/// One processor is one worker, within the cores of the thread that starts it. The thread that
/// waits for a task is not one of the workers.
fn one_worker_has_the_cores_of_its_starter<R: Runtime>() {
    let runtime = affinity::confined(1, || R::start(1).unwrap());
    let task = || async { (thread::current().id(), affinity::cores()) };
    let (one, two) = runtime.block_on(async {
        let (one, two) = (R::spawn(task()), R::spawn(task()));
        (one.await.unwrap(), two.await.unwrap())
    });
    assert_eq!(one, two);
    assert_ne!(one.0, thread::current().id());
    assert_eq!(one.1, affinity::cores()[..1]);
}

/// A runtime that is dropped drops the remaining tasks, and its worker has ended by then.
fn the_end_of_a_runtime_drops_its_tasks<R: Runtime>() {
    for procs in [1, 2] {
        let runtime = R::start(procs).unwrap();
        let kept = Arc::new(());
        let theirs = kept.clone();
        runtime.block_on(async {
            let token = R::Parker::default();
            drop(R::spawn(async move {
                token.attach().await;
                token.park().await;
                drop(theirs);
            }));
        });
        drop(runtime);
        assert_eq!(Arc::strong_count(&kept), 1, "{procs} processors");
    }
}

#[test]
#[should_panic(expected = "the seat of task 0 is given out once")]
fn a_seat_is_given_out_once() {
    let row = Arc::new(<TokioHand as Runtime>::Permits::new(1, 1));
    let _first = row.seat(0);
    let _second = row.seat(0);
}
