//! Where operations on objects run: in place, under a lock, on the core of whoever comes, or at the object's home, to which tasks travel.
//!
//! An operation that is sent away costs a [hop]; one that stays costs the fetch of what other cores have written, or have pushed out of the caches.
//! What each costs is [sampled](Sharing). Objects for which the hop is cheaper are
//! [assigned](assign()) a home by [packing](pack()) them into the caches, and are [moved](rebalance()) when a core has too much of it. Whether all that is right for a class of objects, a [trial] says: the samples
//! propose, throughput decides.
//!
//! Like all policies these are functions and small structs of plain values. Times are nanoseconds, sizes bytes, shares per mille. What is called for each
//! operation, or for each sampled one, takes no memory from the allocator; what is called once per period may.
//!
//! # Sources
//! Objects with homes, packing by greedy first fit, and rebalancing by busy and idle time: CoreTime (Boyd-Wickizer, Morris and Kaashoek,
//! "Reinventing scheduling for multicore systems", HotOS 2009). To choose between both ways at run time: SmartPQ (Giannoula, Strati, Siakavaras, Goumas and Koziris,
//! "SmartPQ: an adaptive concurrent priority queue for NUMA architectures", 2024), which has learnt when, where a [trial] tries. Numbers that are "measured" below are from two virtual cores of an AMD EPYC (Zen 5), which
//! are near each other, below one last-level cache, or far, below two.

pub mod assign;
pub mod breadth;
mod caches;
pub mod cluster;
pub mod deafness;
pub mod few;
pub mod gather;
pub mod heat;
pub mod hop;
mod occasion;
pub mod pace;
pub mod pack;
pub mod plan;
pub mod propose;
pub mod rebalance;
pub mod replicate;
pub mod sample;
mod sharing;
pub mod streak;
pub mod trial;
pub mod verdict;
mod window;

pub use assign::{Decision, Evidence, assign};
pub use breadth::{Breadth, Breadths};
pub use caches::Caches;
pub use cluster::Pairs;
pub use few::Few;
pub use gather::Gather;
pub use heat::Heat;
pub use hop::{Flight, Hop};
pub use pack::{Item, Place, pack};
pub use plan::plan;
pub use propose::Proposal;
pub use rebalance::{Load, Move, rebalance};
pub use replicate::{Room, Use, replicate};
pub use sharing::Sharing;
pub use streak::Streak;
pub use trial::Trial;
pub use verdict::{Mode, Verdict};

/// The whole of what a share is of.
pub const WHOLE: u32 = 1_000;

/// A part of a whole in per mille; none of nothing.
///
/// # Examples
/// ```
/// use evenkeel::policy::object::per_mille;
/// assert_eq!(per_mille(1, 2), 500);
/// assert_eq!(per_mille(3, 2), 1_000);
/// assert_eq!(per_mille(0, 0), 0);
/// ```
#[must_use]
pub fn per_mille(part: u64, whole: u64) -> u32 {
    let share = u128::from(part) * u128::from(WHOLE) / u128::from(whole.max(1));
    share.min(u128::from(WHOLE)) as u32
}
