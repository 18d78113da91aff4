//! What waits for the next signal of one kind. See [`hub`](super::hub) for the protocol.

use super::count::Count;
#[cfg(loom)]
use crate::primitives::atomic::Edge;
#[cfg(loom)]
use crate::primitives::mutation::is_weak;
use crate::primitives::unwind::wake_all;
use crate::primitives::wakers::{WakerPlace, Wakers};
use crate::primitives::{Mutex, lock};
use std::io::Result;
use std::mem;
use std::task::{Poll, Waker};

/// The listeners of a kind that wait until its count changes.
#[derive(Debug)]
pub(super) struct Waiters {
    /// No waker is cloned, called or dropped with this locked: that may run a caller's code.
    wakers: Mutex<Wakers>,
    /// Held while the handler is installed. Whether it is there.
    is_handled: Mutex<bool>,
}

/// What a listener has seen, and where its waker is.
#[derive(Debug)]
pub(super) struct Seen {
    count: usize,
    place: Option<WakerPlace>,
}

impl Seen {
    /// The view of a new listener, for which nothing has come yet.
    pub(super) fn new(count: &Count) -> Self {
        Self { count: count.load(), place: None }
    }

    /// Returns the place of the waker, which stays there, and has another one instead.
    #[cfg(not(loom))]
    pub(super) fn replace_place(&mut self, place: Option<WakerPlace>) -> Option<WakerPlace> {
        mem::replace(&mut self.place, place)
    }

    /// Returns whether the listener is behind, and has it see the count.
    fn catch_up(&mut self, count: &Count) -> bool {
        let count = count.load();
        mem::replace(&mut self.count, count) != count
    }
}

impl Waiters {
    pub(super) fn new() -> Self {
        Self { wakers: Mutex::new(Wakers::new()), is_handled: Mutex::new(false) }
    }

    /// Makes sure that the handler is there, which `install` installs.
    pub(super) fn handle(&self, install: impl FnOnce() -> Result<()>) -> Result<()> {
        let mut is_handled = lock(&self.is_handled);
        if !*is_handled {
            install()?;
            *is_handled = true;
        }
        Ok(())
    }

    /// Wakes what waits, for the teller that has seen another count.
    pub(super) fn wake(&self) {
        let taken = lock(&self.wakers).take_all();
        wake_all(taken);
    }

    /// Returns whether the listener is behind, and has it catch up; or leaves the waker.
    pub(super) fn poll(&self, count: &Count, seen: &mut Seen, waker: &Waker) -> Poll<()> {
        if seen.catch_up(count) {
            return Poll::Ready(());
        }
        // Declared before the guard: dropped without the lock if it is not left.
        let waker = waker.clone();
        let mut wakers = lock(&self.wakers);
        // Without this look a signal that came since the first one would wake nothing.
        if looks_again() && seen.catch_up(count) {
            return Poll::Ready(());
        }
        let before = wakers.leave(&mut seen.place, waker);
        drop(wakers);
        drop(before);
        Poll::Pending
    }

    /// Takes the waker of a listener that waits no more out of its place.
    pub(super) fn leave(&self, seen: &mut Seen) {
        if seen.place.is_some() {
            let left = lock(&self.wakers).take(&mut seen.place);
            drop(left);
        }
    }

    /// Returns how many wakers wait.
    #[cfg(all(test, not(loom)))]
    fn waiting(&self) -> usize {
        lock(&self.wakers).len()
    }
}

/// True, unless a model leaves the second look out.
#[inline(always)]
fn looks_again() -> bool {
    #[cfg(loom)]
    if is_weak(Edge::SignalAgain) {
        return false;
    }
    true
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::{Seen, Waiters};
    use crate::signal::count::Count;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::task::{Poll, Wake, Waker};

    struct Counting(AtomicUsize);

    impl Wake for Counting {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::AcqRel);
        }
    }

    #[test]
    fn each_listener_is_told_once_of_what_came_once_or_more() {
        let (count, waiters) = (Count::new(), Waiters::new());
        let mut listeners = [Seen::new(&count), Seen::new(&count)];
        count.add();
        count.add();
        let mut late = Seen::new(&count);
        for seen in &mut listeners {
            assert_eq!(waiters.poll(&count, seen, Waker::noop()), Poll::Ready(()));
            assert_eq!(waiters.poll(&count, seen, Waker::noop()), Poll::Pending);
        }
        assert!(waiters.poll(&count, &mut late, Waker::noop()).is_pending(), "it came later");
        assert_eq!(waiters.waiting(), 3);
    }

    #[test]
    fn a_place_of_an_earlier_round_is_not_taken_for_a_later_one() {
        let (count, waiters) = (Count::new(), Waiters::new());
        let counting = Arc::new(Counting(AtomicUsize::new(0)));
        let waker = Waker::from(counting.clone());
        let (mut old, mut new) = (Seen::new(&count), Seen::new(&count));
        assert!(waiters.poll(&count, &mut old, Waker::noop()).is_pending());
        count.add();
        waiters.wake();
        assert!(waiters.poll(&count, &mut new, &waker).is_ready());
        assert!(waiters.poll(&count, &mut new, &waker).is_pending());
        // The old one has the same key, in the round before.
        waiters.leave(&mut old);
        assert_eq!(waiters.waiting(), 1);
        count.add();
        waiters.wake();
        assert_eq!(counting.0.load(Ordering::Acquire), 1);
    }

    /// A signal comes at any moment while its listener begins to wait.
    #[test]
    fn a_listener_that_waits_is_woken() {
        const ROUNDS: usize = 4_000;
        let (count, waiters) = (Count::new(), Waiters::new());
        let (begun, told) = (AtomicUsize::new(0), AtomicUsize::new(0));
        // Where the other thread has lost its core, it may have this one.
        let until = |number: &AtomicUsize, n| {
            let mut looks = 0;
            while number.load(Ordering::Acquire) < n {
                looks += 1;
                if looks < 1_000 { std::hint::spin_loop() } else { std::thread::yield_now() }
            }
        };
        let mut lost = 0;
        let wait = |n| (0..n).for_each(|_| std::hint::spin_loop());
        std::thread::scope(|scope| {
            scope.spawn(|| {
                for n in 1..=ROUNDS {
                    until(&begun, n);
                    wait(n % 31);
                    count.add();
                    waiters.wake();
                    told.store(n, Ordering::Release);
                }
            });
            let counting = Arc::new(Counting(AtomicUsize::new(0)));
            let waker = Waker::from(counting.clone());
            let mut seen = Seen::new(&count);
            for n in 1..=ROUNDS {
                begun.store(n, Ordering::Release);
                wait(n % 37);
                let polled = waiters.poll(&count, &mut seen, &waker);
                until(&told, n);
                let woken = counting.0.swap(0, Ordering::AcqRel);
                if polled.is_pending() {
                    lost += usize::from(woken == 0);
                    lost += usize::from(waiters.poll(&count, &mut seen, &waker).is_pending());
                }
            }
        });
        // Asserted here: the other thread would not end if this one did.
        assert_eq!(lost, 0);
    }

    #[test]
    fn listeners_leave_nothing() {
        let (count, waiters) = (Count::new(), Waiters::new());
        for _ in 0..1_000 {
            let mut seen = Seen::new(&count);
            for _ in 0..2 {
                assert!(waiters.poll(&count, &mut seen, Waker::noop()).is_pending());
            }
            assert_eq!(waiters.waiting(), 1);
            waiters.leave(&mut seen);
            assert_eq!(waiters.waiting(), 0);
        }
    }
}
