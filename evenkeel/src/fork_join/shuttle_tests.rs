//! Joins on whole schedulers, under random schedules.

use super::{future, join, join_context};
use crate::scheduler::shuttle_tests::{check, join as result_of, spawn};
use crate::task::yield_now;
use std::sync::atomic::{AtomicUsize, Ordering};

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
