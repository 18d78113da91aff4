//! Joins, scopes, broadcasts and errands on whole schedulers, under random schedules.

use super::wait::{Meanwhile, wait};
use super::{FnContext, Scope, future, join, join_context, scope, worker_index, yielding};
use crate::primitives::{Condvar, Mutex, atomic, lock, thread};
use crate::processor::entered;
use crate::processor::shared::{Phase, Shared};
use crate::runtime::checked::check as check_handle;
use crate::scheduler::shuttle_tests::{check, check_relieved, join as result_of, spawn};
use crate::scheduler::{broadcast, errands};
use crate::task::yield_now;
use shuttle::sync::mpsc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

fn leaves(depth: u32) -> u32 {
    if depth == 0 {
        shuttle::thread::yield_now();
        return 1;
    }
    let (a, b) = join(|| leaves(depth - 1), || leaves(depth - 1));
    a + b
}

#[test]
fn trees_of_two_tasks_come_out_right() {
    check(3, |shared| {
        let trees = [2, 3].map(|depth| spawn(shared, async move { leaves(depth) }));
        assert_eq!(trees.map(result_of), [4, 8]);
    });
}

#[test]
fn a_chain_deeper_than_the_deque_comes_out_right() {
    fn chain(depth: u32) -> u32 {
        if depth == 0 {
            return 0;
        }
        let (a, b) = join(|| chain(depth - 1), || 1);
        a + b
    }
    check(2, |shared| {
        assert_eq!(result_of(spawn(shared, async { chain(7) })), 7);
    });
}

#[test]
fn joins_and_ready_tasks_share_the_workers() {
    static STOLEN: AtomicUsize = AtomicUsize::new(0);
    check(2, |shared| {
        let tree = spawn(shared, async {
            let (a, b) = join_context(|_| leaves(1), |half| (leaves(1), half.migrated()));
            STOLEN.fetch_add(usize::from(b.1), Ordering::Relaxed);
            a + b.0
        });
        let others = [1, 2].map(|number| {
            spawn(shared, async move {
                yield_now().await;
                number
            })
        });
        assert_eq!(result_of(tree), 4);
        assert_eq!(others.map(result_of), [1, 2]);
    });
    assert!(STOLEN.load(Ordering::Relaxed) > 0, "some schedules steal");
}

/// Gives the others turns until `over`, or until they have had their chance.
fn give_turns(over: &AtomicBool) {
    for _ in 0..64 {
        if over.load(Ordering::Relaxed) {
            return;
        }
        shuttle::thread::yield_now();
    }
}

/// The waiting owner of a stolen half takes a half, which leaves a job in the owner's deque. The
/// thief may be done before the owner looks there again.
#[test]
fn a_half_that_a_waiting_worker_takes_spawns_into_a_scope_around_both() {
    static LEAPS: AtomicUsize = AtomicUsize::new(0);
    check(2, |shared| {
        let ran = spawn(shared, async {
            let (ran, stolen, leapt) =
                (AtomicUsize::new(0), AtomicBool::new(false), AtomicBool::new(false));
            scope(|scope| {
                let leap = |half: FnContext| {
                    leapt.store(true, Ordering::Relaxed);
                    LEAPS.fetch_add(usize::from(half.migrated()), Ordering::Relaxed);
                    scope.spawn(|_| {
                        ran.fetch_add(1, Ordering::Relaxed);
                    });
                };
                let steal = || {
                    stolen.store(true, Ordering::Relaxed);
                    join_context(|_| give_turns(&leapt), leap);
                };
                join(|| give_turns(&stolen), steal);
            });
            ran.into_inner()
        });
        assert_eq!(result_of(ran), 1);
    });
    assert!(LEAPS.load(Ordering::Relaxed) > 0, "some schedules leap");
}

/// Spawns beside and within forks, so that jobs lie below halves and above them when a thief takes
/// the last public job.
#[test]
fn jobs_of_a_scope_above_and_below_halves_run_once_beside_thieves() {
    static LAST_JOBS: AtomicUsize = AtomicUsize::new(0);
    static LAST_HALVES: AtomicUsize = AtomicUsize::new(0);
    /// Counts what another worker has left in its deque as the last public job.
    fn note(left_by: usize, last: &AtomicUsize) {
        entered::with_worker(|context| {
            let context = context.unwrap();
            let is_last = context.seat.me() != left_by
                && !context.shared().processors[left_by].deque.has_public();
            last.fetch_add(usize::from(is_last), Ordering::Relaxed);
        });
    }
    fn mix<'scope>(scope: &Scope<'scope>, depth: u32, ran: &'scope AtomicUsize) {
        let me = worker_index().unwrap();
        scope.spawn(move |scope| {
            note(me, &LAST_JOBS);
            if depth > 0 {
                mix(scope, depth - 1, ran);
            }
            ran.fetch_add(1, Ordering::Relaxed);
        });
        let above = || {
            scope.spawn(move |_| {
                note(me, &LAST_JOBS);
                ran.fetch_add(1, Ordering::Relaxed);
            });
            leaves(0)
        };
        let half = || {
            note(me, &LAST_HALVES);
            leaves(1)
        };
        assert_eq!(join(above, half), (1, 2));
    }
    check(3, |shared| {
        let ran = spawn(shared, async {
            let ran = AtomicUsize::new(0);
            scope(|scope| mix(scope, 1, &ran));
            ran.into_inner()
        });
        assert_eq!(result_of(ran), 4);
    });
    let last = [&LAST_JOBS, &LAST_HALVES].map(|last| last.load(Ordering::Relaxed));
    assert!(last.iter().all(|&last| last > 0), "some schedules take the last: {last:?}");
}

/// Leaves each worker a part, and waits for all as a scope does.
fn broadcast_and_wait(shared: &Arc<Shared>) {
    let left = Arc::new(atomic::AtomicUsize::new(shared.workers));
    let owner = thread::current();
    broadcast::send(shared, |index| {
        let (left, owner) = (left.clone(), owner.clone());
        Box::new(move || {
            entered::with_worker(|context| assert_eq!(context.unwrap().seat.me(), index));
            assert_eq!(leaves(1), 2);
            left.fetch_sub(1, Ordering::AcqRel);
            owner.unpark();
        })
    });
    let over = || left.load(Ordering::Acquire) == 0;
    entered::with_worker(|context| {
        wait(context.unwrap(), &over, &|| !over(), &|_| Meanwhile::Nothing)
    });
}

/// Waits until this many workers have announced that they sleep.
fn wait_for_sleepers(shared: &Shared, sleepers: usize) {
    while shared.idle.counts().sleeping < sleepers {
        shuttle::thread::yield_now();
    }
}

#[test]
fn each_worker_runs_its_part_even_if_it_sleeps() {
    check(3, |shared| {
        let (sender, receiver) = mpsc::channel();
        for sleepers in [0, 3] {
            wait_for_sleepers(shared, sleepers);
            broadcast::send(shared, |index| {
                let sender = sender.clone();
                Box::new(move || sender.send(index).unwrap())
            });
        }
        drop(sender);
        // A part that is lost is a deadlock.
        let mut parts: Vec<_> = receiver.iter().collect();
        parts.sort_unstable();
        assert_eq!(parts, [0, 0, 1, 1, 2, 2]);
    });
}

#[test]
fn the_parts_of_a_worker_that_goes_are_run_by_its_heir_even_if_that_sleeps() {
    check(3, |shared| {
        let (sender, receiver) = mpsc::channel();
        let goer = {
            let shared = shared.clone();
            shuttle::thread::spawn(move || broadcast::bequeath(&shared, 1))
        };
        for _ in 0..2 {
            broadcast::send(shared, |index| {
                let sender = sender.clone();
                Box::new(move || sender.send(index).unwrap())
            });
        }
        goer.join().unwrap();
        drop(sender);
        let mut parts: Vec<_> = receiver.iter().collect();
        parts.sort_unstable();
        assert_eq!(parts, [0, 0, 1, 1, 2, 2]);
    });
}

#[test]
fn workers_that_wait_for_each_other_s_parts_run_them() {
    check(2, |shared| {
        let tasks = [0, 1].map(|_| {
            let shared_here = shared.clone();
            spawn(shared, async move {
                let (a, _) = join(|| leaves(1), || broadcast_and_wait(&shared_here));
                a
            })
        });
        assert_eq!(tasks.map(result_of), [2, 2]);
    });
}

#[test]
fn errands_are_run_by_a_worker_that_is_awake_or_woken() {
    check(2, |shared| {
        let (sender, receiver) = mpsc::channel();
        for sleepers in [0, 1, 2] {
            wait_for_sleepers(shared, sleepers);
            let sender = sender.clone();
            errands::send(shared, Box::new(move || sender.send(leaves(1)).unwrap()));
        }
        drop(sender);
        assert_eq!(receiver.iter().collect::<Vec<_>>(), [2, 2, 2]);
    });
}

#[test]
fn a_worker_robs_itself_beside_a_thief() {
    fn tree(depth: u32) -> u32 {
        if depth == 0 {
            yielding::yield_now();
            return 1;
        }
        let (a, b) = join(|| tree(depth - 1), || tree(depth - 1));
        a + b
    }
    check(2, |shared| {
        let trees = [2, 3].map(|depth| spawn(shared, async move { tree(depth) }));
        assert_eq!(trees.map(result_of), [4, 8]);
    });
}

#[test]
fn awaited_forks_wake_their_tasks() {
    check(3, |shared| {
        let tasks = [2, 3].map(|depth| {
            spawn(shared, async move {
                let forked = future::fork(move || leaves(1));
                let (a, b) = future::join(move || leaves(depth), || leaves(1)).await;
                yield_now().await;
                a + b + forked.await
            })
        });
        assert_eq!(tasks.map(result_of), [8, 12]);
    });
}

/// A deque has four places here.
#[test]
fn jobs_beyond_a_full_deque_run_once_and_before_their_scope_ends() {
    static STOLEN: AtomicUsize = AtomicUsize::new(0);
    check(2, |shared| {
        let ran = spawn(shared, async {
            let ran = AtomicUsize::new(0);
            let owner = worker_index();
            scope(|scope| {
                for number in 0..7 {
                    let ran = &ran;
                    scope.spawn(move |scope| {
                        STOLEN.fetch_add(usize::from(worker_index() != owner), Ordering::Relaxed);
                        if number > 4 {
                            scope.spawn(|_| _ = ran.fetch_add(1, Ordering::Relaxed));
                        }
                        ran.fetch_add(1, Ordering::Relaxed);
                    });
                }
                assert_eq!(leaves(1), 2);
            });
            ran.into_inner()
        });
        assert_eq!(result_of(ran), 9);
    });
    assert!(STOLEN.load(Ordering::Relaxed) > 0, "some schedules steal");
}

#[test]
fn a_half_waits_for_a_call_from_outside_while_its_owner_waits() {
    static SERVED: AtomicUsize = AtomicUsize::new(0);
    check_handle(2, |handle| {
        let (sender, receiver) = mpsc::channel();
        let stolen = Arc::new(AtomicBool::new(false));
        let caller = {
            let (handle, stolen) = (handle.clone(), stolen.clone());
            shuttle::thread::spawn(move || {
                give_turns(&stolen);
                handle.install(|| join(|| (), || ()));
                sender.send(()).unwrap();
            })
        };
        let tree = spawn(handle.shared(), async move {
            let half = || {
                stolen.store(true, Ordering::Relaxed);
                receiver.recv().unwrap();
            };
            join(|| give_turns(&stolen), half);
        });
        result_of(tree);
        caller.join().unwrap();
        SERVED.fetch_add(handle.shared().spares.taken() as usize, Ordering::Relaxed);
    });
    assert!(SERVED.load(Ordering::Relaxed) > 0, "some schedules call a spare");
}

/// Both halves of a task's fork block until another task has run, which waits for a third.
#[test]
fn tasks_run_beside_the_halves_of_one_that_keep_all_workers() {
    static STOLEN: AtomicUsize = AtomicUsize::new(0);
    check_relieved(2, true, |shared| {
        let gate = Arc::new((Mutex::new(false), Condvar::new()));
        let forker = spawn(shared, {
            let gate = gate.clone();
            async move {
                let wait = |half: FnContext| {
                    STOLEN.fetch_add(usize::from(half.migrated()), Ordering::Relaxed);
                    let mut open = lock(&gate.0);
                    while !*open {
                        open = gate.1.wait(open).expect("no half panics");
                    }
                };
                join_context(wait, wait);
            }
        });
        let first = spawn(shared, async { yield_now().await });
        let opener = spawn(shared, async move {
            first.await.expect("it is not aborted");
            *lock(&gate.0) = true;
            gate.1.notify_all();
        });
        [forker, opener].into_iter().for_each(|task| {
            result_of(task);
        });
    });
    assert!(STOLEN.load(Ordering::Relaxed) > 0, "some schedules steal");
}

/// Jobs that workers spawn into the scope of a thread, which has the runtime drain.
#[test]
fn a_runtime_that_drains_is_not_over_while_workers_run_jobs_of_a_thread_s_scope() {
    check_handle(2, |handle| {
        let is_open = || {
            // The owner runs its jobs itself once no worker comes for them.
            assert!(worker_index().is_none() || handle.shared().phase() < Phase::Over);
        };
        handle.in_place_scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|scope| {
                    scope.spawn(|scope| {
                        shuttle::thread::yield_now();
                        is_open();
                        scope.spawn(|_| is_open());
                    });
                });
            }
            handle.shared().advance(Phase::Draining);
        });
    });
}
