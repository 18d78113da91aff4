//! Where operations on objects run: in place, under a lock, on the caller's core, or at the
//! object's home, to which tasks travel.
//!
//! An operation that is sent away costs a journey; one that stays costs the fetch of what other
//! cores have written, or have pushed out of the caches. Which is less, a [trial] finds out for
//! each class of objects: it runs in each mode, and throughput decides. Homes are dealt to the
//! cores in turn, and a core that has [too much](rebalance) of it gives its [hottest](Heat) objects
//! away. What is [read again and again](sharing) is read by all cores at once.
//!
//! Like all policies these are functions and small structs of plain values. Times are nanoseconds,
//! shares per mille. What is called for each operation, or for each sampled one, takes no memory
//! from the allocator; what is called once per period may.
//!
//! # Sources
//! Objects with homes, and rebalancing by busy and idle time: CoreTime (Boyd-Wickizer, Morris and
//! Kaashoek, "Reinventing scheduling for multicore systems", HotOS 2009). It packs objects into the
//! caches, the first that fit; dealt in turn they do as well, simulated on its own machine and
//! measured on ours (`docs/objects.md`). To choose between both ways at run time: SmartPQ
//! (Giannoula, Strati, Siakavaras, Goumas and Koziris, "SmartPQ: an adaptive concurrent priority
//! queue for NUMA architectures", 2024), which has learnt when, where a [trial] tries. That one
//! core serves those that would wait for each other is delegation (Roghanchi, Eriksson and Basu,
//! "ffwd: delegation is (much) faster than you think", SOSP 2017).

pub mod heat;
pub mod rebalance;
pub mod sample;
pub mod sharing;
pub mod trial;
pub mod verdict;

pub use heat::Heat;
pub use trial::Trial;
pub use verdict::{Mode, Verdict};

/// The whole of what a share is of.
pub const WHOLE: u32 = 1_000;

/// A part of a whole in per mille; none of nothing.
///
/// # Examples
/// ```
/// use evenkeel_policy::object::per_mille;
/// assert_eq!(per_mille(1, 2), 500);
/// assert_eq!(per_mille(3, 2), 1_000);
/// assert_eq!(per_mille(0, 0), 0);
/// ```
#[must_use]
pub fn per_mille(part: u64, whole: u64) -> u32 {
    let share = u128::from(part) * u128::from(WHOLE) / u128::from(whole.max(1));
    share.min(u128::from(WHOLE)) as u32
}
