//! When an object has been read so often in a row that all may read it at once.
//!
//! Reads at once cost no locked instruction and no journey, and their first write pays for that: it
//! makes a [heavy fence](https://man7.org/linux/man-pages/man2/membarrier.2.html), looks at every
//! worker and waits for the readers. So an object is to be read by all at once only where many
//! reads come before the next write. Nobody counts those; what is counted are the reads, one at a
//! time, since the last write. The next are taken to be as many: doubling what has been, as one
//! does for anything of unknown length. Where it has not paid, twice as many are asked for the next
//! time.
//!
//! The biased lock BRAVO (Dice and Kogan, "BRAVO - Biased Locking for Reader-Writer Locks", USENIX
//! ATC 2019) goes by time instead: readers take its lock for nine times as long as the last writer
//! has waited for them. Objects would need a clock for that, and a word more.

/// Reads in a row after which an object is read by all at once: at 50 ns each what a heavy fence
/// takes. 16 and 256 are no better (`evenkeel-bench run --bench cache,directory --objects 1,16
/// --read-percent 80,95,99 --tasks-per-core 16 --runtime in-place,automatic`). Two in the models.
pub const READS: u32 = if cfg!(any(loom, shuttle)) { 2 } else { 64 };

/// How often that is doubled at most: an object that is written once in 65,536 reads is tried again
/// and again. With no doubling caches of which one operation in 20 or 100 writes make half, with
/// five a cache of one shard makes three quarters (the command of [`READS`]).
pub const DOUBLINGS: u32 = if cfg!(any(loom, shuttle)) { 1 } else { 10 };

/// Reads since the last write, at most twice as many as are ever asked for.
const COUNT: u32 = (1 << 20) - 1;

/// How often what is asked for has been doubled, above the reads.
const DOUBLED: u32 = 20;
const DOUBLED_MASK: u32 = 0xF << DOUBLED;

/// All may read it at once.
const SHARED: u32 = 1 << 24;

/// That has paid.
const PAID: u32 = 1 << 25;

const _: () = assert!(READS << DOUBLINGS < COUNT && DOUBLINGS < 1 << 4);

/// What is remembered of the reads of one object: in 32 bits, of which a new one has none.
///
/// # Examples
/// ```
/// use evenkeel_policy::object::streak::{READS, Streak};
/// let mut streak = Streak::default();
/// (0..READS).for_each(|_| streak = streak.read());
/// assert!(streak.is_long());
/// let streak = streak.share().write();
/// assert!(!streak.is_long(), "it has been written");
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Streak(u32);

impl Streak {
    /// That of these [bits](Self::bits).
    #[inline(always)]
    #[must_use]
    pub fn from_bits(bits: u32) -> Self {
        Self(bits)
    }

    /// All of it.
    #[inline(always)]
    #[must_use]
    pub fn bits(self) -> u32 {
        self.0
    }

    /// Once it has been read by one that was inside alone.
    #[inline(always)]
    #[must_use]
    pub fn read(self) -> Self {
        let streak = if self.is_shared() { self.write() } else { self };
        Self(streak.0 + u32::from(streak.0 & COUNT < COUNT))
    }

    /// How often it has been read since the last write, by such as were inside alone.
    #[must_use]
    pub fn reads(self) -> u32 {
        self.0 & COUNT
    }

    /// Whether it has been read so often since the last write that all may read it at once.
    #[inline(always)]
    #[must_use]
    pub fn is_long(self) -> bool {
        self.0 & COUNT >= READS << ((self.0 & DOUBLED_MASK) >> DOUBLED)
    }

    /// Once all may read it at once.
    #[must_use]
    pub fn share(self) -> Self {
        Self((self.0 | SHARED) & !PAID)
    }

    /// Whether they may.
    #[inline(always)]
    #[must_use]
    pub fn is_shared(self) -> bool {
        self.0 & SHARED != 0
    }

    /// Once it is known that they have done so often: some of many reads look here.
    #[inline(always)]
    #[must_use]
    pub fn pay(self) -> Self {
        Self(self.0 | PAID)
    }

    /// Once it has been written, or entered by one who had to be alone: the reads are counted anew.
    /// If all had been allowed to read it at once, and that has not paid, twice as many are asked
    /// for from now on; if it has, half as many.
    #[must_use]
    pub fn write(self) -> Self {
        let doubled = (self.0 & DOUBLED_MASK) >> DOUBLED;
        let next = match (self.is_shared(), self.0 & PAID != 0) {
            (false, _) => doubled,
            (true, true) => doubled.saturating_sub(1),
            (true, false) => (doubled + 1).min(DOUBLINGS),
        };
        Self(next << DOUBLED)
    }
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use super::*;

    /// Reads until it is long.
    fn until_long(mut streak: Streak) -> (u32, Streak) {
        let mut reads = 0;
        while !streak.is_long() {
            streak = streak.read();
            reads += 1;
        }
        (reads, streak)
    }

    #[test]
    fn what_does_not_pay_is_tried_half_as_often_until_it_pays() {
        let mut streak = Streak::default();
        for doublings in 0..=DOUBLINGS + 2 {
            let (reads, long) = until_long(streak);
            assert_eq!(reads, READS << doublings.min(DOUBLINGS));
            streak = long.share().write();
        }
        for doublings in (0..DOUBLINGS).rev() {
            streak = until_long(streak).1.share().pay().write();
            assert_eq!(until_long(streak).0, READS << doublings);
        }
    }

    #[test]
    fn a_write_ends_it_and_a_read_alone_begins_the_next() {
        let streak = (1..READS).fold(Streak::default(), |streak, _| streak.read());
        assert!(!streak.is_long());
        assert_eq!(streak.write(), Streak::default());
        let shared = streak.read().share();
        assert!(shared.is_shared());
        let next = shared.pay().read();
        assert!(!next.is_shared() && !next.is_long(), "it is the first of those that come");
        assert_eq!(until_long(next).0, READS - 1);
    }

    #[test]
    fn reads_without_end_do_not_overflow() {
        let full = Streak::from_bits(COUNT - 1).read().read().read();
        assert_eq!(full.bits(), COUNT);
        assert!(full.is_long());
    }
}
