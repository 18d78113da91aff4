//! When a processor that has work takes older work from another.
//!
//! The rule is that of the C∀ runtime (Delisle, "The C∀ scheduler", PhD thesis, 2022): compare
//! ages, smoothed by a moving average, and leave a margin, so that equals do not trade tasks.

use super::Look;

/// The work of a processor that switches must be this many times as old as one's own. The least
/// whole number that leaves equals alone; it is the factor before a task's fair share in the bound
/// that `cargo test --test promise` asserts.
pub const MARGIN: u64 = 2;

/// Other work must be at least this much older than one's own. Twice a batch: ages are known to
/// within a batch, and younger work is on its way. It follows from the batch, and no benchmark sets
/// it apart from that.
pub const LEAST_AGE: u64 = 2 * super::batch::BATCH;

/// The work of a processor that stands still is taken by force if it is this much older than twice
/// one's own. Two processors with polls about as long as a batch look to each other as if they
/// stood still; by the age alone of one's own they would take each other's queues by turns. The
/// simulated machines of `cargo test --test promise` set it: 39 heavy fences where there were
/// 16,296.
pub const STUCK_AGE: u64 = 8 * LEAST_AGE;

/// What to do about another processor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Help {
    /// Nothing.
    No,
    /// Ask it for part of its queue; it will answer at its next push or pop.
    Ask,
    /// It is inside a long poll and will not answer: take its queue.
    Take,
}

/// Decides whether to help `other`, from one's own view `own`.
///
/// # Examples
/// ```
/// use evenkeel_policy::{Look, helping::{Help, help}};
/// let busy = Look { ready: 100, head_age: 5_000, mean_wait: 5_000, switched: true, ..Look::default() };
/// let behind = Look { head_age: 500_000, mean_wait: 300_000, ..busy };
/// assert_eq!(help(&busy, &busy), Help::No);
/// assert_eq!(help(&busy, &behind), Help::Ask);
/// assert_eq!(help(&busy, &Look { switched: false, ..behind }), Help::Take);
/// ```
#[inline]
#[must_use]
pub fn help(own: &Look, other: &Look) -> Help {
    if !other.has_work() {
        return Help::No;
    }
    let own = smoothed_age(own);
    if !other.switched {
        // Its own average says nothing of a processor that stands still: only the head's age does.
        let age = other.head_age;
        return if (other.ready == 0 && other.inbox)
            || super::stealing::is_stranded(other)
            || age > own.saturating_mul(MARGIN).saturating_add(STUCK_AGE)
        {
            Help::Take
        } else if other.ready > 0 && age > own.saturating_add(LEAST_AGE) {
            Help::Ask
        } else {
            Help::No
        };
    }
    let threshold = own.saturating_mul(MARGIN).saturating_add(LEAST_AGE);
    if other.ready > 0 && smoothed_age(other) > threshold { Help::Ask } else { Help::No }
}

/// The age of the head, three parts, and the average wait, one part: the weights of C∀.
fn smoothed_age(look: &Look) -> u64 {
    super::smooth(look.head_age, look.mean_wait)
}
