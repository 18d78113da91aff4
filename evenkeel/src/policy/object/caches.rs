//! What the caches of a machine hold, as far as homes go.

/// The caches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Caches {
    /// Bytes of a core's own cache.
    pub own: u64,
    /// Bytes of a last-level cache; 0 if there is none.
    pub last: u64,
    /// Cores that take part.
    pub cores: u32,
    /// Last-level caches that they have.
    pub domains: u32,
}

impl Caches {
    /// Those of a machine of which nothing is known: whatever is used fits into them.
    pub const UNKNOWN: Self = Self { own: u64::MAX, last: 0, cores: 1, domains: 1 };

    /// What one core can hold: its own cache, and its share of a last-level cache. This counts both,
    /// as of caches that do not hold the same twice.
    ///
    /// # Examples
    /// ```
    /// use evenkeel::policy::object::Caches;
    /// let caches = Caches { own: 512 << 10, last: 2 << 20, cores: 16, domains: 4 };
    /// assert_eq!(caches.budget(), 1 << 20);
    /// assert_eq!(Caches::UNKNOWN.budget(), u64::MAX);
    /// ```
    #[must_use]
    pub fn budget(&self) -> u64 {
        let shares = u64::from(self.cores.max(1));
        self.own.saturating_add(self.last.saturating_mul(u64::from(self.domains)) / shares)
    }

    /// How many caches would hold a copy of an object of so many bytes that all cores read: their
    /// own ones, or the last-level caches if it is too large for those.
    #[must_use]
    pub fn copies(&self, bytes: u64) -> u32 {
        if bytes <= self.own { self.cores.max(1) } else { self.domains.max(1) }
    }
}
