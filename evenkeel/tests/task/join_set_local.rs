//! Local tasks in sets: beside others, on other threads, and with the end of their `LocalSet`.

use crate::common::runtime::runtime;
use crate::common::watchdog::watchdog;
use evenkeel::deterministic::{explore, random};
use evenkeel::sync::Semaphore;
use evenkeel::task::{JoinSet, LocalSet};
use evenkeel::yield_now;
use std::cell::Cell;
use std::collections::BTreeSet;
use std::future::{Future, pending};
use std::panic::catch_unwind;
use std::pin::{Pin, pin};
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context, Waker};
use std::thread;

#[test]
fn local_tasks_and_others_each_come_once() {
    let _watchdog = watchdog();
    for workers in [1, 2, 8] {
        let runtime = runtime(workers);
        LocalSet::new().block_on(&runtime, async {
            let polls = Rc::new(Cell::new(0));
            let mut set = JoinSet::new();
            let mut left = BTreeSet::new();
            for n in 0..2_000_u32 {
                let polls = polls.clone();
                let yields = async move {
                    for _ in 0..n % 4 {
                        yield_now().await;
                    }
                };
                let abort = if n % 2 == 0 {
                    set.spawn_local(async move {
                        yields.await;
                        polls.set(polls.get() + 1);
                        n
                    })
                } else {
                    set.spawn(async move {
                        yields.await;
                        n
                    })
                };
                assert!(left.insert((abort.id(), n)));
                if n % 3 == 0 {
                    assert!(left.remove(&set.join_next_with_id().await.unwrap().unwrap()));
                }
            }
            while let Some(joined) = set.join_next_with_id().await {
                assert!(left.remove(&joined.unwrap()));
            }
            assert!(set.is_empty() && left.is_empty());
            assert_eq!(polls.get(), 1_000);
        });
    }
}

#[test]
fn outputs_that_are_not_sent_come_in_the_order_in_which_tasks_finish() {
    let _watchdog = watchdog();
    let local = LocalSet::new();
    let mut set = JoinSet::new();
    for yields in [3, 0, 2, 1] {
        let task = async move {
            for _ in 0..yields {
                yield_now().await;
            }
            Rc::new(yields)
        };
        set.spawn_local_on(task, &local);
    }
    assert!(set.try_join_next().is_none(), "nothing drives them");
    let order = evenkeel::block_on(local.run_until(set.join_all()));
    assert_eq!(order.into_iter().map(|rc| *rc).collect::<Vec<_>>(), [0, 1, 2, 3]);
}

#[test]
fn errors_have_the_task_s_number() {
    let _watchdog = watchdog();
    let local = LocalSet::new();
    evenkeel::block_on(local.run_until(async {
        let mut set = JoinSet::new();
        let panics = set.spawn_local(async { panic!("no luck") });
        let waits = set.spawn_local(pending::<()>());
        waits.abort();
        let mut errors = Vec::new();
        while let Some(joined) = set.join_next().await {
            errors.push(joined.unwrap_err());
        }
        assert!(errors[0].is_panic() && errors[0].id() == panics.id());
        assert!(errors[1].is_cancelled() && errors[1].id() == waits.id());
    }));
}

#[test]
fn the_drop_of_the_local_set_cancels_its_members() {
    let _watchdog = watchdog();
    let local = LocalSet::new();
    let held = Rc::new(());
    let mut set = JoinSet::new();
    for _ in 0..3 {
        let held = held.clone();
        let waits = async move {
            pending::<()>().await;
            drop(held);
        };
        set.spawn_local_on(waits, &local);
    }
    {
        let mut next = pin!(set.join_next());
        assert!(next.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
    }
    drop(local);
    assert_eq!(Rc::strong_count(&held), 1);
    for _ in 0..3 {
        assert!(evenkeel::block_on(set.join_next()).unwrap().unwrap_err().is_cancelled());
    }
    // A set that is over cancels at once.
    let local = LocalSet::new();
    let _entered = local.enter();
    drop(local);
    set.spawn_local(async {});
    assert!(set.try_join_next().unwrap().unwrap_err().is_cancelled());
    assert!(set.is_empty());
}

#[test]
fn a_dropped_set_aborts_local_tasks_and_a_detached_one_does_not() {
    let _watchdog = watchdog();
    let local = LocalSet::new();
    let done = Rc::new(Cell::new(0));
    let counts = || {
        let done = done.clone();
        async move {
            yield_now().await;
            done.set(done.get() + 1);
        }
    };
    let mut set = JoinSet::new();
    set.spawn_local_on(counts(), &local);
    drop(set);
    let mut set = JoinSet::new();
    set.spawn_local_on(counts(), &local);
    set.detach_all();
    assert!(set.is_empty());
    evenkeel::block_on(local);
    assert_eq!((done.get(), Rc::strong_count(&done)), (1, 1));
}

#[test]
fn shutdown_waits_until_local_tasks_are_gone() {
    let _watchdog = watchdog();
    for workers in [1, 2, 8] {
        let runtime = runtime(workers);
        LocalSet::new().block_on(&runtime, async {
            let (rope, mut set) = (Arc::new(()), JoinSet::new());
            for n in 0..40 {
                let rope = rope.clone();
                let holds = async move {
                    let _rope = rope;
                    pending::<()>().await;
                };
                if n % 2 == 0 {
                    set.spawn_local(holds);
                } else {
                    set.spawn(holds);
                }
            }
            set.shutdown().await;
            assert_eq!(Arc::strong_count(&rope), 1, "all have let go");
        });
    }
}

#[test]
fn another_thread_joins_while_the_local_set_is_driven() {
    let _watchdog = watchdog();
    for workers in [1, 2, 8] {
        let runtime = runtime(workers);
        let local = LocalSet::new();
        let mut set = JoinSet::new();
        let gate = Arc::new(Semaphore::new(0));
        for n in 0..1_000_u32 {
            let (gate, own) = (gate.clone(), Rc::new(n));
            let task = async move {
                if n % 2 == 0 {
                    gate.take().await;
                }
                *own
            };
            set.spawn_local_on(task, &local);
        }
        let joiner = thread::spawn(move || {
            let mut sum = 0;
            evenkeel::block_on(async {
                while let Some(n) = set.join_next().await {
                    sum += n.unwrap();
                    gate.add_permits(1);
                }
            });
            sum
        });
        runtime.block_on(local);
        assert_eq!(joiner.join().unwrap(), 499_500);
    }
}

#[test]
fn handles_that_are_finished_or_were_polled_are_members_too() {
    let _watchdog = watchdog();
    let local = LocalSet::new();
    evenkeel::block_on(local.run_until(async {
        let mut set = JoinSet::new();
        let finished = local.spawn_local(async { 1 });
        let mut waits = local.spawn_local(async {
            for _ in 0..3 {
                yield_now().await;
            }
            2
        });
        assert!(Pin::new(&mut waits).poll(&mut Context::from_waker(Waker::noop())).is_pending());
        yield_now().await;
        assert!(finished.is_finished());
        set.insert_local(finished);
        set.insert_local(waits);
        assert_eq!(set.join_all().await, [1, 2]);
    }));
}

#[test]
fn a_joined_handle_and_a_call_outside_of_a_set_panic() {
    let _watchdog = watchdog();
    let local = LocalSet::new();
    let mut handle = local.spawn_local(async {});
    evenkeel::block_on(local.run_until(&mut handle)).unwrap();
    let mut set = JoinSet::new();
    let insert = || drop(set.insert_local(handle));
    assert!(catch_unwind(std::panic::AssertUnwindSafe(insert)).is_err());
    assert!(set.is_empty(), "the handle would never be joined");
    assert!(catch_unwind(|| drop(JoinSet::new().spawn_local(async {}))).is_err());
}

#[test]
fn over_seeds_local_members_and_others_are_joined_once() {
    let _watchdog = watchdog();
    explore(0..100, |_| async {
        let local = LocalSet::new();
        let sum = local.run_until(async {
            let mut set = JoinSet::new();
            for n in 0..10_u32 {
                let yields = async move {
                    for _ in 0..random(3) {
                        yield_now().await;
                    }
                    n
                };
                if n % 2 == 0 {
                    set.spawn_local(yields);
                } else {
                    set.spawn(yields);
                }
            }
            let mut sum = 0;
            while let Some(n) = set.join_next().await {
                sum += n.unwrap();
            }
            sum
        });
        assert_eq!(sum.await, 45);
    });
}
