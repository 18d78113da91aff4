//! Cancellation tokens: which tokens are cancelled together, which waits end, and what is left.

use crate::common::runtime::runtime;
use crate::common::until::until;
use crate::common::watchdog::watchdog;
use evenkeel::deterministic::{explore, random};
use evenkeel::task::{CancellationToken, JoinSet};
use evenkeel::yield_now;
use futures::poll;
use std::future::pending;
use std::hash::{BuildHasher, RandomState};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::task::{Context, Poll, Wake, Waker};
use std::thread;

/// Counts its wakes, and panics then if it is told to.
#[derive(Default)]
struct Count {
    wakes: AtomicUsize,
    panics: bool,
}

impl Wake for Count {
    fn wake(self: Arc<Self>) {
        self.wakes.fetch_add(1, Ordering::AcqRel);
        assert!(!self.panics, "a waker that panics");
    }
}

/// Polls with a waker that counts.
fn poll_counted<F: Future>(future: Pin<&mut F>, count: &Arc<Count>) -> Poll<F::Output> {
    future.poll(&mut Context::from_waker(&Waker::from(count.clone())))
}

#[test]
fn a_parent_cancels_all_below_and_a_child_nothing_above() {
    let root = CancellationToken::new();
    let (left, right) = (root.child_token(), root.child_token());
    let leaves = [left.child_token(), left.child_token(), right.child_token()];
    let clone = leaves[0].clone();
    leaves[0].cancel();
    assert!(clone.is_cancelled() && !left.is_cancelled() && !leaves[1].is_cancelled());
    left.cancel();
    left.cancel();
    assert!(leaves[1].is_cancelled() && !right.is_cancelled() && !root.is_cancelled());
    assert!(left.child_token().is_cancelled());
    root.cancel();
    assert!(right.is_cancelled() && leaves[2].is_cancelled());
    assert!(!CancellationToken::default().is_cancelled());
}

#[test]
fn clones_are_equal_and_others_are_not() {
    let root = CancellationToken::new();
    assert_eq!(root, root.clone());
    assert_ne!(root, root.child_token());
    assert_ne!(root, CancellationToken::new());
    let hashes = RandomState::new();
    assert_eq!(hashes.hash_one(&root), hashes.hash_one(root.clone()));
    assert_ne!(hashes.hash_one(&root), hashes.hash_one(root.child_token()));
}

#[test]
fn a_dropped_token_cancels_nothing_and_leaves_its_children_to_its_parent() {
    let root = CancellationToken::new();
    let middle = root.child_token();
    let leaf = middle.child_token();
    drop(middle.clone());
    drop(middle);
    assert!(!leaf.is_cancelled());
    root.cancel();
    assert!(leaf.is_cancelled());

    let orphan = CancellationToken::new().child_token();
    assert!(!orphan.is_cancelled());
    orphan.cancel();
    assert!(orphan.is_cancelled());
}

#[test]
fn deep_trees_need_no_deep_stack() {
    const DEPTH: usize = 100_000;
    let _watchdog = watchdog();
    let small = thread::Builder::new().stack_size(64 << 10);
    let walks = small.spawn(|| {
        for cancels in [false, true] {
            let root = CancellationToken::new();
            let mut chain = vec![root.clone()];
            for n in 0..DEPTH {
                chain.push(chain[n].child_token());
            }
            if cancels {
                root.cancel();
            }
            assert_eq!(chain[DEPTH].is_cancelled(), cancels);
            // From above, with the deepest last.
            drop(root);
            drop(chain);
        }
    });
    walks.unwrap().join().unwrap();
}

#[test]
fn many_waits_end_with_the_cancellation() {
    let _watchdog = watchdog();
    for workers in [1, 2, 8] {
        runtime(workers).block_on(async {
            let token = CancellationToken::new();
            let (mut set, mut children) = (JoinSet::new(), Vec::new());
            for n in 0..1_000 {
                let child = token.child_token();
                match n % 4 {
                    0 => set.spawn(child.clone().cancelled_owned()),
                    1 => set.spawn({
                        let token = token.clone();
                        async move { token.cancelled().await }
                    }),
                    2 => set.spawn({
                        let child = child.clone();
                        async move {
                            let run = child.run_until_cancelled_owned(pending::<()>());
                            assert!(run.await.is_none());
                        }
                    }),
                    // It is dropped without a cancellation.
                    _ => set.spawn(yield_now()),
                };
                if n % 2 == 0 {
                    children.push(child);
                }
            }
            for _ in 0..250 {
                set.join_next().await.unwrap().unwrap();
            }
            token.cancel();
            set.join_all().await;
            assert!(children.iter().all(CancellationToken::is_cancelled));
        });
    }
}

#[test]
fn threads_that_cancel_and_wait_at_once_lose_no_wake_up() {
    let _watchdog = watchdog();
    for workers in [1, 2, 8] {
        let runtime = runtime(workers);
        for _ in 0..300 {
            let root = CancellationToken::new();
            let waits: Vec<_> = (0..4)
                .map(|n| {
                    let parent = root.child_token();
                    runtime.spawn(async move {
                        // Some are made while the others are cancelled.
                        let token = if n % 2 == 0 { parent } else { parent.child_token() };
                        token.cancelled().await;
                    })
                })
                .collect();
            let other = root.clone();
            let cancels = runtime.spawn(async move { other.cancel() });
            root.cancel();
            assert!(root.child_token().is_cancelled());
            for wait in waits {
                evenkeel::block_on(wait).unwrap();
            }
            evenkeel::block_on(cancels).unwrap();
        }
    }
}

#[test]
fn the_last_waker_is_woken_once_and_a_dropped_wait_is_not() {
    let token = CancellationToken::new();
    let [first, second, dropped] = [(); 3].map(|()| Arc::new(Count::default()));
    let mut wait = pin!(token.cancelled());
    {
        let mut gone = pin!(token.clone().cancelled_owned());
        assert!(poll_counted(gone.as_mut(), &dropped).is_pending());
        assert!(poll_counted(wait.as_mut(), &first).is_pending());
    }
    for _ in 0..2 {
        assert!(poll_counted(wait.as_mut(), &second).is_pending());
    }
    let wakers = [&first, &second, &dropped].map(Arc::strong_count);
    assert_eq!(wakers, [1, 2, 1], "one waker is left");
    token.child_token().cancel();
    assert_eq!(second.wakes.load(Ordering::Acquire), 0);
    token.cancel();
    token.cancel();
    let wakes = [&first, &second, &dropped].map(|count| count.wakes.load(Ordering::Acquire));
    assert_eq!(wakes, [0, 1, 0]);
    assert!(poll_counted(wait.as_mut(), &first).is_ready());
    // A wait that begins afterwards, and one that is never polled.
    assert!(poll_counted(pin!(token.cancelled()), &first).is_ready());
    drop(token.cancelled());
}

#[test]
fn a_waker_that_panics_keeps_no_other_waiter_asleep() {
    let token = CancellationToken::new();
    let panics = Arc::new(Count { panics: true, ..Count::default() });
    let counts = Arc::new(Count::default());
    let mut waits: Vec<_> = (0..5).map(|_| Box::pin(token.cancelled())).collect();
    for (n, wait) in waits.iter_mut().enumerate() {
        let count = if n == 2 { &panics } else { &counts };
        assert!(poll_counted(wait.as_mut(), count).is_pending());
    }
    let child = token.child_token();
    token.cancel();
    assert!(child.is_cancelled());
    let wakes = [&panics, &counts].map(|count| count.wakes.load(Ordering::Acquire));
    assert_eq!(wakes, [1, 4]);
}

/// A waker whose wake and drop use the token, as the drop of a future does that keeps one.
#[test]
fn wakers_may_use_the_tree() {
    struct Uses(CancellationToken);
    impl Wake for Uses {
        fn wake(self: Arc<Self>) {
            assert!(self.0.child_token().is_cancelled());
            self.0.cancel();
        }
    }
    impl Drop for Uses {
        fn drop(&mut self) {
            drop(self.0.child_token());
        }
    }

    let _watchdog = watchdog();
    let token = CancellationToken::new();
    let mut wait = pin!(token.cancelled());
    for _ in 0..3 {
        let waker = Waker::from(Arc::new(Uses(token.clone())));
        assert!(wait.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
    }
    token.cancel();
    assert!(wait.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_ready());
}

#[test]
fn guards_cancel_by_a_panic_too_unless_they_are_disarmed() {
    let token = CancellationToken::new();
    drop(token.clone().drop_guard().disarm());
    assert!(!token.is_cancelled());
    let guard = token.clone().drop_guard();
    catch_unwind(AssertUnwindSafe(|| {
        let _guard = guard;
        panic!("no luck");
    }))
    .unwrap_err();
    assert!(token.is_cancelled());
}

#[test]
fn aborted_tasks_cancel_what_they_guard() {
    let _watchdog = watchdog();
    for workers in [1, 2, 8] {
        let runtime = runtime(workers);
        let token = CancellationToken::new();
        let guard = token.child_token().drop_guard();
        let child = token.child_token();
        let inner = child.clone().drop_guard();
        let task = runtime.spawn(async move {
            let _guards = (guard, inner);
            pending::<()>().await;
        });
        task.abort();
        evenkeel::block_on(child.cancelled());
        assert!(!token.is_cancelled());
    }
}

#[test]
fn a_run_ends_with_its_output_or_by_the_cancellation() {
    struct Sets(Arc<AtomicBool>);
    impl Drop for Sets {
        fn drop(&mut self) {
            self.0.store(true, Ordering::Release);
        }
    }

    let _watchdog = watchdog();
    runtime(1).block_on(async {
        let token = CancellationToken::new();
        assert_eq!(token.run_until_cancelled(async { 7 }).await, Some(7));
        // Both at once: the output counts.
        let both = token.run_until_cancelled(async {
            yield_now().await;
            token.cancel();
            7
        });
        assert_eq!(both.await, Some(7));
        // Too late for the first poll.
        assert_eq!(token.run_until_cancelled(async { panic!("polled") }).await, None::<()>);

        let (token, dropped) = (CancellationToken::new(), Arc::new(AtomicBool::new(false)));
        let sets = Sets(dropped.clone());
        let mut run = pin!(token.run_until_cancelled(async move {
            let _sets = sets;
            pending::<()>().await;
        }));
        assert!(poll!(run.as_mut()).is_pending());
        token.cancel();
        assert!(!dropped.load(Ordering::Acquire));
        assert_eq!(run.await, None);
        assert!(dropped.load(Ordering::Acquire), "it is dropped before the run has ended");
    });
}

#[test]
fn a_task_s_memory_goes_with_its_waits() {
    let _watchdog = watchdog();
    let runtime = runtime(2);
    let token = CancellationToken::new();
    let held = Arc::new(());
    for _ in 0..100 {
        let (token, inside) = (token.child_token(), held.clone());
        let task = runtime.spawn(async move {
            token.cancelled().await;
            drop(inside);
        });
        task.abort();
    }
    until(|| Arc::strong_count(&held) == 1);
}

/// Over many orders of steps: a random tree, of which tokens are cancelled, dropped and awaited.
/// Each wait ends whose token or an ancestor of it is cancelled, and no other.
#[test]
fn over_seeds_the_waits_that_end_are_those_below_a_cancellation() {
    let _watchdog = watchdog();
    explore(0..300, |_| async {
        let root = CancellationToken::new();
        // Each token with its parent, and whether it is cancelled by itself.
        let mut tree = vec![(root.clone(), 0, false)];
        let mut waits = Vec::new();
        for n in 1..12_usize {
            let parent = usize::try_from(random(n as u64)).unwrap();
            let token = tree[parent].0.child_token();
            tree.push((token.clone(), parent, false));
            waits.push(evenkeel::spawn(async move {
                for _ in 0..random(3) {
                    yield_now().await;
                }
                // A wait that is given up comes first.
                assert_eq!(poll!(pin!(token.cancelled())).is_ready(), token.is_cancelled());
                token.cancelled().await;
            }));
        }
        for _ in 0..3 {
            let n = usize::try_from(random(12)).unwrap();
            tree[n].2 = true;
            let token = tree[n].0.clone();
            drop(evenkeel::spawn(async move { token.cancel() }));
        }
        // The tokens of the tasks are the last ones of some nodes.
        let facts: Vec<_> =
            tree.iter().map(|&(_, parent, cancelled)| (parent, cancelled)).collect();
        drop(tree);
        let mut is_over = vec![facts[0].1];
        for &(parent, cancelled) in &facts[1..] {
            is_over.push(cancelled || is_over[parent]);
        }
        let mut rest = Vec::new();
        for (wait, is_over) in waits.into_iter().zip(&is_over[1..]) {
            if *is_over { wait.await.unwrap() } else { rest.push(wait) }
        }
        for _ in 0..10 {
            yield_now().await;
        }
        assert!(!rest.iter().any(|wait| wait.is_finished()));
        root.cancel();
        for wait in rest {
            wait.await.unwrap();
        }
    });
}
