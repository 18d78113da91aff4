//! Sets of tasks: outputs in the order in which tasks finish, errors, aborts, and drops midway.

use crate::common::counting::Counting;
use crate::common::panics::{Alarm, message};
use crate::common::runtime::runtime;
use crate::common::until::until;
use crate::common::watchdog::watchdog;
use evenkeel::deterministic::{explore, random};
use evenkeel::sync::Semaphore;
use evenkeel::task::{self, JoinSet};
use evenkeel::{Shutdown, yield_now};
use futures::poll;
use std::collections::BTreeSet;
use std::future::{pending, poll_fn};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, mpsc};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

#[test]
fn many_tasks_each_come_once() {
    let _watchdog = watchdog();
    for workers in [1, 2, 8] {
        let runtime = runtime(workers);
        let joins = runtime.spawn(async {
            let mut set = JoinSet::new();
            let mut left = BTreeSet::new();
            for n in 0..3_000_u32 {
                let abort = set.spawn(async move {
                    for _ in 0..n % 4 {
                        yield_now().await;
                    }
                    n
                });
                assert!(left.insert((abort.id(), n)));
                // Tasks come and go, so slots are used again.
                if n % 3 == 0 {
                    assert!(left.remove(&set.join_next_with_id().await.unwrap().unwrap()));
                }
            }
            assert_eq!(set.len(), 2_000);
            while let Some(joined) = set.join_next_with_id().await {
                assert!(left.remove(&joined.unwrap()));
            }
            assert!(set.is_empty() && left.is_empty());
        });
        runtime.block_on(joins).unwrap();
    }
}

#[test]
fn outputs_come_in_the_order_in_which_tasks_finish() {
    let _watchdog = watchdog();
    for workers in [1, 2, 8] {
        runtime(workers).block_on(async {
            let gates: Vec<_> = (0..5).map(|_| Arc::new(Semaphore::new(0))).collect();
            let mut set = JoinSet::new();
            for (n, gate) in gates.iter().cloned().enumerate() {
                set.spawn(async move {
                    gate.take().await;
                    n
                });
            }
            assert!(set.try_join_next().is_none());
            for n in [3, 0, 4, 1, 2] {
                gates[n].add_permits(1);
                assert_eq!(set.join_next().await.unwrap().unwrap(), n);
            }
            assert!(set.join_next().await.is_none() && set.try_join_next().is_none());
        });
    }
}

#[test]
fn panics_and_aborts_are_errors_with_the_task_s_number() {
    let _watchdog = watchdog();
    for workers in [1, 2, 8] {
        runtime(workers).block_on(async {
            let mut set = JoinSet::new();
            let mut waits = BTreeSet::new();
            let mut panics = BTreeSet::new();
            for _ in 0..100 {
                let abort = set.spawn(pending::<u8>());
                waits.insert(abort.id());
                abort.abort();
                panics.insert(set.spawn(async { panic!("no luck") }).id());
                set.spawn(async { 1 });
            }
            let mut sum = 0;
            while let Some(joined) = set.join_next().await {
                match joined {
                    Ok(one) => sum += one,
                    Err(error) if error.is_panic() => assert!(panics.remove(&error.id())),
                    Err(error) => assert!(error.is_cancelled() && waits.remove(&error.id())),
                }
            }
            assert_eq!((sum, waits.len(), panics.len()), (100, 0, 0));
        });
    }
}

#[test]
fn a_dropped_set_aborts_its_tasks_and_a_detached_one_does_not() {
    let _watchdog = watchdog();
    for workers in [1, 2, 8] {
        let runtime = runtime(workers);
        let held = Arc::new(());
        let gate = Arc::new(Semaphore::new(0));
        let mut set = JoinSet::new();
        for n in 0..200 {
            let (inside, gate) = (held.clone(), gate.clone());
            let waits = async move {
                if n % 2 == 0 {
                    gate.take().await;
                }
                inside
            };
            set.spawn_on(waits, &runtime.handle());
        }
        // Some have finished, and their outputs are dropped with the set.
        assert!(evenkeel::block_on(set.join_next()).is_some());
        drop(set);
        until(|| Arc::strong_count(&held) == 1);

        let done = Arc::new(AtomicUsize::new(0));
        let mut set = JoinSet::new();
        for _ in 0..200 {
            let (gate, done) = (gate.clone(), done.clone());
            let counts = async move {
                gate.take().await;
                done.fetch_add(1, Ordering::AcqRel);
            };
            set.spawn_on(counts, &runtime.handle());
        }
        set.detach_all();
        assert!(set.is_empty() && evenkeel::block_on(set.join_next()).is_none());
        // The set can be used again.
        set.spawn_on(async {}, &runtime.handle());
        evenkeel::block_on(set.join_next()).unwrap().unwrap();
        drop(set);
        gate.add_permits(200);
        until(|| done.load(Ordering::Acquire) == 200);
    }
}

#[test]
fn a_joiner_that_is_dropped_loses_nothing() {
    let _watchdog = watchdog();
    runtime(2).block_on(async {
        let gate = Arc::new(Semaphore::new(0));
        let mut set = JoinSet::new();
        for n in 0..3 {
            let gate = gate.clone();
            set.spawn(async move {
                gate.take().await;
                n
            });
        }
        {
            let mut joiner = pin!(set.join_next());
            assert!(poll!(joiner.as_mut()).is_pending());
            gate.add_permits(3);
            // It has been woken, or will be, and is dropped without a poll.
        }
        let mut all = set.join_all().await;
        all.sort_unstable();
        assert_eq!(all, [0, 1, 2]);
    });
}

#[test]
fn the_waker_of_the_last_poll_is_woken_once() {
    let _watchdog = watchdog();
    let runtime = runtime(1);
    let gate = Arc::new(Semaphore::new(0));
    let mut set = JoinSet::new();
    for _ in 0..2 {
        let gate = gate.clone();
        set.spawn_on(async move { gate.take().await }, &runtime.handle());
    }
    let (old, new) = (Arc::new(Counting::default()), Arc::new(Counting::default()));
    for count in [&old, &new, &new] {
        let waker = Waker::from(count.clone());
        assert!(set.poll_join_next(&mut Context::from_waker(&waker)).is_pending());
    }
    assert_eq!((Arc::strong_count(&old), Arc::strong_count(&new)), (1, 2));
    gate.add_permits(2);
    until(|| new.wakes() == 1);
    assert!(runtime.shutdown(Shutdown::Drain).is_clean());
    let waker = Waker::from(old.clone());
    for _ in 0..2 {
        let joined = set.poll_join_next(&mut Context::from_waker(&waker));
        assert!(matches!(joined, Poll::Ready(Some(Ok(())))));
    }
    let end = set.poll_join_next_with_id(&mut Context::from_waker(&waker));
    assert!(matches!(end, Poll::Ready(None)));
    // No waker has been left since, and that of the first completion was taken.
    assert_eq!((old.wakes(), new.wakes()), (0, 1));
    assert_eq!(Arc::strong_count(&new), 1);
}

#[test]
fn shutdown_waits_until_all_are_gone() {
    let _watchdog = watchdog();
    for workers in [1, 2, 8] {
        runtime(workers).block_on(async {
            let held = Arc::new(());
            let mut set = JoinSet::new();
            for n in 0..300 {
                let inside = held.clone();
                set.spawn(async move {
                    let _inside = inside;
                    match n % 3 {
                        0 => pending().await,
                        1 => panic!("on the way out"),
                        _ => {}
                    }
                });
            }
            let inside = held.clone();
            set.spawn_blocking(move || drop(inside));
            set.shutdown().await;
            assert!(set.is_empty());
            assert_eq!(Arc::strong_count(&held), 1);
        });
    }
}

#[test]
fn a_joiner_s_waker_that_panics_keeps_no_task_out() {
    let _watchdog = watchdog();
    let runtime = runtime(1);
    let complete = runtime.spawn(async { 7 });
    until(|| complete.is_finished());
    let mut set = JoinSet::new();
    let waiting = set.insert(runtime.spawn(pending()));
    let alarm = Waker::from(Arc::new(Alarm));
    assert!(set.poll_join_next(&mut Context::from_waker(&alarm)).is_pending());
    set.insert(complete);
    let next = runtime.block_on(set.join_next());
    assert!(matches!(next, Some(Ok(7))), "{next:?}");
    waiting.abort();
}

#[test]
fn join_all_panics_with_the_panic_of_a_task_and_aborts_the_others() {
    let _watchdog = watchdog();
    let runtime = runtime(2);
    let held = Arc::new(());
    for aborts in [false, true] {
        let inside = held.clone();
        let panic = catch_unwind(AssertUnwindSafe(|| {
            runtime.block_on(async move {
                let mut set = JoinSet::new();
                set.spawn(async move {
                    let _inside = inside;
                    pending::<()>().await;
                });
                let abort = set.spawn(async move {
                    if aborts {
                        pending::<()>().await;
                    }
                    panic!("no luck")
                });
                if aborts {
                    abort.abort();
                }
                set.join_all().await
            })
        }))
        .unwrap_err();
        let text = message(&*panic);
        assert!(text.ends_with(if aborts { "was cancelled" } else { "no luck" }), "{text}");
        until(|| Arc::strong_count(&held) == 1);
    }
}

#[test]
fn handles_of_other_runtimes_that_were_polled_before() {
    let _watchdog = watchdog();
    let (first, second) = (runtime(1), runtime(2));
    let gate = Arc::new(Semaphore::new(0));
    let opens = gate.clone();
    let mut handle = second.spawn(async move { gate.take().await });
    let mut set = JoinSet::default();
    first.block_on(async {
        assert!(poll!(&mut handle).is_pending());
        set.insert(handle);
        set.spawn(async {});
        set.join_next().await.unwrap().unwrap();
        opens.add_permits(1);
        set.join_next().await.unwrap().unwrap();
    });
    let complete = second.spawn(async {});
    until(|| complete.is_finished());
    set.insert(complete);
    assert!(set.try_join_next().unwrap().is_ok());
}

#[test]
fn a_runtime_that_is_over_cancels_what_is_spawned_on_it() {
    let _watchdog = watchdog();
    let runtime = runtime(1);
    let mut set = JoinSet::new();
    set.spawn_on(pending::<()>(), &runtime.handle());
    let handle = runtime.handle();
    drop(runtime);
    set.spawn_on(async {}, &handle);
    set.spawn_blocking_on(|| {}, &handle);
    for _ in 0..3 {
        assert!(evenkeel::block_on(set.join_next()).unwrap().unwrap_err().is_cancelled());
    }
}

#[test]
fn a_task_that_is_stuck_at_the_shutdown_is_joined_as_stuck() {
    let _watchdog = watchdog();
    let runtime = runtime(1);
    let (lift, lifted) = mpsc::channel::<()>();
    let (tell, told) = mpsc::channel();
    let mut set = JoinSet::new();
    let stuck = set.spawn_on(
        async move {
            tell.send(()).unwrap();
            lifted.recv().is_ok()
        },
        &runtime.handle(),
    );
    told.recv().unwrap();
    let count = Arc::new(Counting::default());
    let waker = Waker::from(count.clone());
    assert!(set.poll_join_next(&mut Context::from_waker(&waker)).is_pending());
    runtime.shutdown(Shutdown::Deadline(Duration::from_millis(10)));
    assert_eq!(count.wakes(), 1, "the joiner has been woken");
    let error = evenkeel::block_on(set.join_next()).unwrap().unwrap_err();
    assert!(error.is_stuck() && error.id() == stuck.id());
    assert!(set.is_empty() && !stuck.is_finished(), "its poll goes on");
    drop(lift);
    until(|| stuck.is_finished());
}

#[test]
fn a_loop_over_finished_tasks_yields_and_ends() {
    let _watchdog = watchdog();
    let runtime = runtime(1);
    let joins = runtime.spawn(async {
        let mut set: JoinSet<()> = (0..5_000).map(|_| async {}).collect();
        set.extend((0..5_000).map(|_| async {}));
        while set.len() > 1 {
            // The future that is awaited in each round is a new one.
            set.join_next().await.unwrap().unwrap();
        }
        set.join_next().await.unwrap().unwrap();
    });
    runtime.block_on(joins).unwrap();
}

#[test]
fn sets_move_between_tasks_and_threads_while_members_finish() {
    let _watchdog = watchdog();
    for workers in [1, 2, 8] {
        let runtime = runtime(workers);
        let mut set = JoinSet::new();
        let mut joined = 0;
        for round in 0..50 {
            for _ in 0..20 {
                set.spawn_on(yield_now(), &runtime.handle());
            }
            let joins = async move {
                for _ in 0..10 {
                    set.join_next().await.unwrap().unwrap();
                }
                set
            };
            set = match round % 3 {
                0 => evenkeel::block_on(joins),
                1 => runtime.block_on(joins),
                _ => evenkeel::block_on(runtime.spawn(joins)).unwrap(),
            };
            joined += 10;
        }
        while evenkeel::block_on(set.join_next()).is_some() {
            joined += 1;
        }
        assert_eq!(joined, 1_000);
    }
}

/// Over many orders of steps: each task is joined once, whatever is aborted, and whether or not
/// joiners give up.
#[test]
fn over_seeds_each_task_is_joined_once() {
    let _watchdog = watchdog();
    explore(0..300, |_| async {
        let mut set = JoinSet::new();
        let mut ids = BTreeSet::new();
        let gate = Arc::new(Semaphore::new(0));
        let mut spawned = 0;
        while spawned < 12 || !set.is_empty() {
            if spawned < 12 && random(2) == 0 {
                spawned += 1;
                let (opens, gate, kind) = (gate.clone(), gate.clone(), random(4));
                let abort = set.spawn(async move {
                    match kind {
                        0 => gate.take().await,
                        1 => panic!("by chance"),
                        2 => yield_now().await,
                        _ => {}
                    }
                    task::current().id()
                });
                assert!(ids.insert(abort.id()));
                drop(evenkeel::spawn(async move {
                    if random(3) == 0 { abort.abort() } else { opens.add_permits(1) }
                }));
            } else if spawned == 12 || random(2) == 0 {
                gate.add_permits(1);
                if let Some(joined) = set.join_next_with_id().await {
                    let id = joined.map_or_else(|error| error.id(), |(id, _)| id);
                    assert!(ids.remove(&id));
                }
            } else {
                // A joiner that gives up after one poll.
                let once = poll_fn(|context| Poll::Ready(set.poll_join_next_with_id(context)));
                if let Poll::Ready(Some(joined)) = once.await {
                    let id = joined.map_or_else(
                        |error| error.id(),
                        |(id, own)| {
                            assert_eq!(id, own);
                            id
                        },
                    );
                    assert!(ids.remove(&id));
                }
                yield_now().await;
            }
        }
        assert!(ids.is_empty());
    });
}
