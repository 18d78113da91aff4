//! Numbers that one thread changes, by plain additions, and any thread may read.

use super::atomic::{AtomicU64, Edge, Ordering, edge};

/// A number that one thread changes and others read.
#[derive(Debug)]
pub(crate) struct Counter(AtomicU64);

impl Default for Counter {
    fn default() -> Self {
        Self(AtomicU64::new(0))
    }
}

impl Counter {
    /// Adds `n`. The caller is the one thread that changes the counter, so this is a load and a
    /// store.
    #[inline(always)]
    pub(crate) fn add(&self, n: u64) {
        self.0.store(self.0.load(Ordering::Relaxed).wrapping_add(n), Ordering::Relaxed);
    }

    /// Raises the counter to `n` if that is more. The caller is that of [`add`](Self::add).
    #[inline(always)]
    pub(crate) fn raise(&self, n: u64) {
        if n > self.get() {
            self.0.store(n, Ordering::Relaxed);
        }
    }

    /// [Adds](Self::add) one, for a reader that uses [`get_ordered`](Self::get_ordered).
    #[inline(always)]
    pub(crate) fn count_ordered(&self) {
        let order = edge(Edge::CountComplete, Ordering::Release);
        self.0.store(self.0.load(Ordering::Relaxed).wrapping_add(1), order);
    }

    /// Returns the number with acquire ordering: the caller sees everything that the owner did
    /// before it reached the number.
    pub(crate) fn get_ordered(&self) -> u64 {
        self.0.load(edge(Edge::CountRead, Ordering::Acquire))
    }

    #[inline(always)]
    pub(crate) fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// The number of classes of [`ByDoubling`].
pub(crate) const CLASSES: usize = 40;

/// Values counted by their magnitude: class `n` has those below 2^n that are in no lower class. The
/// last one has all that are greater too.
#[derive(Debug)]
pub(crate) struct ByDoubling([Counter; CLASSES]);

impl Default for ByDoubling {
    fn default() -> Self {
        Self(std::array::from_fn(|_| Counter::default()))
    }
}

impl ByDoubling {
    /// Counts `value`. The caller is the one thread that changes the counters.
    #[cfg_attr(
        not(all(feature = "net", unix, not(any(loom, shuttle)))),
        allow(dead_code, reason = "only sockets have such values")
    )]
    pub(crate) fn add(&self, value: u64) {
        let class = (u64::BITS - value.leading_zeros()) as usize;
        self.0[class.min(CLASSES - 1)].add(1);
    }

    pub(crate) fn get(&self) -> [u64; CLASSES] {
        std::array::from_fn(|class| self.0[class].get())
    }
}
