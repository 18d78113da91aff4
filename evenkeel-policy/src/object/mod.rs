//! Where operations on objects run: in place, under a lock, on the caller's core, or at the
//! object's home, to which tasks travel.
//!
//! An operation that is sent away costs a journey. One that stays costs the fetch of lines that
//! other cores have written, or have pushed out of the caches. A [trial] finds out which is less
//! for each class of objects: it runs the class in each mode, and throughput decides. Homes are
//! dealt to the cores in turn, and a core with [too much to do](rebalance) gives its
//! [hottest](Heat) objects away. All cores at once read an object that is [read again and
//! again](sharing).
//!
//! Like all policies these are functions and small structs of plain values. Times are nanoseconds,
//! shares are per mille. Functions that are called for each operation, or for each sampled one, do
//! not allocate; those that are called once per period may.
//!
//! # Sources
//! Objects with homes, and rebalancing by busy and idle time: CoreTime (Boyd-Wickizer, Morris and
//! Kaashoek, "Reinventing scheduling for multicore systems", HotOS 2009). CoreTime packs each
//! object into the first cache that has room. Objects dealt in turn do as well, simulated on
//! CoreTime's machine and measured on ours (`docs/objects.md`). A choice between both ways at run
//! time: SmartPQ (Giannoula, Strati, Siakavaras, Goumas and Koziris, "SmartPQ: an adaptive
//! concurrent priority queue for NUMA architectures", 2024), which decides by a trained classifier
//! where a [trial] tries. One core that serves operations which would wait for each other is
//! delegation (Roghanchi, Eriksson and Basu, "ffwd: delegation is (much) faster than you think",
//! SOSP 2017).

pub mod heat;
pub mod rebalance;
pub mod sample;
pub mod sharing;
pub mod trial;
pub mod verdict;

pub use heat::Heat;
pub use trial::Trial;
pub use verdict::{Mode, Verdict};

/// The whole, in the unit of shares: per mille.
pub const WHOLE: u32 = 1_000;

/// Returns a part of a whole in per mille; zero if the whole is zero.
///
/// # Examples
/// ```
/// use evenkeel_policy::object::per_mille;
/// assert_eq!(per_mille(1, 2), 500);
/// assert_eq!(per_mille(3, 2), 1_000);
/// assert_eq!(per_mille(5, 0), 0);
/// ```
#[must_use]
pub fn per_mille(part: u64, whole: u64) -> u32 {
    let share = (u128::from(part) * u128::from(WHOLE)).checked_div(u128::from(whole));
    share.unwrap_or(0).min(u128::from(WHOLE)) as u32
}
