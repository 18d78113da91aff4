//! Which worker may take which fork-join job, by the caches that they share.
//!
//! A fork that states its footprint is *anchored* to the smallest cache that holds it: workers that
//! share that cache may take its second half at once. Others may too ([`Locality::Biased`]), once
//! they have been without work for a while that is longer for those that are far, so that no worker
//! is idle for longer beside a job. A worker that takes a job from afar runs all of it, and what it
//! forks is anchored to the caches there: one far steal moves a whole subtree.
//!
//! # Sources
//! Anchoring, with a dilation of 0.5: space-bounded schedulers (Simhadri, Blelloch, Fineman,
//! Gibbons and Kyrola, "Experimental analysis of space-bounded schedulers", SPAA 2014). The strict
//! rule: the Cilk Locality runtime (Shuck, "Performance analysis of the Cilk Locality runtime",
//! 2017), whose idle time is what the bias avoids. To prefer and not to forbid: NUMA-WS (Deters,
//! Wu, Xu and Lee, IISWC 2018). Offering a subtree to whoever ran it last: localised work stealing
//! (Leiserson, Schardl and Suksompong, 2018).

use crate::Distance;

/// How fork-join jobs are kept near their data. It matters only for forks that state their
/// footprint (`join_sized`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Locality {
    /// Anybody takes the oldest job of anybody, the nearest victim first.
    Off,
    /// The same with victims at random, whatever the distance: the rule of Cilk Plus, to compare
    /// with.
    Random,
    /// Workers that share the cache that a job is anchored to take it first, the others after a
    /// while.
    ///
    /// It is the default because it pays where data are large, and costs little where they are not.
    /// That is simulated, not measured, on 4 packages of 8 cores with the four programs of the Cilk
    /// Locality evaluation (`evenkeel-bench simulate`). Data of four times the size of all
    /// last-level caches take 2.2 % less time than with `Off`, data of half their size 1.2 % less.
    /// Those of half the size of one package's cache take 1.4 % more, since workers idle for
    /// longer. Where all workers share one cache, it matters little.
    #[default]
    Biased,
    /// Nobody else takes it, as in the Cilk Locality runtime, which has a deque for each level of
    /// memory; here thieves see the oldest job alone. Workers can be idle beside work: in the same
    /// simulation programs take 1.1 to 2.2 times as long as with `Off`.
    Strict,
}

impl Locality {
    /// Whether footprints matter: whether forks that state one are anchored.
    #[inline]
    #[must_use]
    pub fn anchors(self) -> bool {
        match self {
            Self::Off | Self::Random => false,
            Self::Biased | Self::Strict => true,
        }
    }
}

/// A fork is anchored to a cache if it fills no more than one part in so many of it: the other half
/// of a pair of forks, and what the runtime itself needs, have to fit too. The dilation of 0.5 of
/// the space-bounded schedulers.
pub const DILATION: u64 = 2;

/// How long a worker goes without work before it takes a job that is anchored to a cache that it
/// does not share, from a worker with which it shares the last-level cache: the data are still
/// near. An estimate, some four looks round: `evenkeel-bench simulate` does not tell 100 ns from 2
/// µs.
pub const NEAR: u64 = 500;

/// The same where it does not share the last-level cache. Set by `evenkeel-bench simulate`, on 4
/// packages of 8 cores, by the ratio `biased / off`: with 10 µs small data take 2 % longer and
/// medium ones 1 %; with 3 µs the medium stencil gains half as much.
pub const FAR: u64 = 5_000;

/// How long a job is left to whoever ran it the last time. Set by `evenkeel-bench simulate`:
/// without it the medium stencil gains half as much; 1 µs does as well.
pub const HOLD: u64 = 2_000;

/// What is known of a job before it is taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Offer {
    /// How far workers may be to share the cache that the fork is anchored to.
    pub reach: Distance,
    /// Who ran it when it was last forked, in an earlier phase.
    pub last: Last,
}

/// Who ran a job when it was last forked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Last {
    /// Nobody, or whoever has forked it now, or it is not known.
    Owner,
    /// The worker that asks.
    Me,
    /// Another worker.
    Another,
}

impl Offer {
    /// A job whose fork has not stated its footprint: anybody's.
    pub const FREE: Self = Self { reach: Distance::Remote, last: Last::Owner };
}

/// How far workers may be to share the smallest of the owner's caches that holds so many bytes.
/// `caches` are the sizes of the owner's caches, the smallest first, and how far those are that
/// share them.
///
/// # Examples
/// ```
/// use evenkeel_policy::locality::reach;
/// use evenkeel_policy::Distance;
/// let caches = [(Distance::SmtSibling, 1 << 20), (Distance::SharedLlc, 32 << 20)];
/// assert_eq!(reach(400_000, &caches), Distance::SmtSibling);
/// assert_eq!(reach(600_000, &caches), Distance::SharedLlc);
/// assert_eq!(reach(20 << 20, &caches), Distance::Remote);
/// ```
#[inline]
#[must_use]
pub fn reach(bytes: u64, caches: &[(Distance, u64)]) -> Distance {
    let held = caches.iter().find(|&&(_, size)| bytes <= size / DILATION);
    held.map_or(Distance::Remote, |&(distance, _)| distance)
}

/// Whether it is worth knowing who runs a job of this reach, for the next time: whether its data
/// lie in a cache that others do not share.
///
/// Not where they fit into a core's own cache, which takes no time to fill again, nor where they
/// fit into none: then they are gone by the next time, and jobs would be left to somebody for
/// nothing. By `evenkeel-bench simulate`, on 4 packages of 8 cores: data of four times the size of
/// all caches take 1 % longer if that is remembered too.
///
/// # Examples
/// ```
/// use evenkeel_policy::locality::remembers;
/// use evenkeel_policy::Distance::{Remote, SharedLlc, SmtSibling};
/// assert_eq!([SmtSibling, SharedLlc, Remote].map(remembers), [false, true, false]);
/// ```
#[inline]
#[must_use]
pub fn remembers(reach: Distance) -> bool {
    reach > Distance::SmtSibling && reach < Distance::Remote
}

/// Whether a worker at `distance` from the owner may take the job, after it has been without work
/// for `waited`.
///
/// # Examples
/// ```
/// use evenkeel_policy::Locality::{Biased, Off, Random, Strict};
/// use evenkeel_policy::locality::{FAR, Last, Offer, may_take};
/// use evenkeel_policy::Distance::{Remote, SharedLlc};
/// let offer = Offer { reach: SharedLlc, last: Last::Owner };
/// assert!(may_take(Biased, offer, SharedLlc, 0));
/// assert!(may_take(Off, offer, Remote, 0) && may_take(Random, offer, Remote, 0));
/// assert!(!may_take(Biased, offer, Remote, 0));
/// assert!(may_take(Biased, offer, Remote, FAR));
/// assert!(!may_take(Strict, offer, Remote, u64::MAX));
/// ```
#[inline]
#[must_use]
pub fn may_take(locality: Locality, offer: Offer, distance: Distance, waited: u64) -> bool {
    let shares = distance.max(Distance::SmtSibling) <= offer.reach;
    match (locality, offer.last) {
        (Locality::Off | Locality::Random, _) | (Locality::Biased, Last::Me) => true,
        (Locality::Strict, _) => shares,
        (Locality::Biased, Last::Owner) => shares || waited >= patience(distance),
        (Locality::Biased, Last::Another) => {
            waited >= if shares { HOLD } else { patience(distance).max(HOLD) }
        }
    }
}

/// How long a worker so far away leaves a job to those that share its cache.
fn patience(distance: Distance) -> u64 {
    if distance <= Distance::SharedLlc { NEAR } else { FAR }
}

/// Whether a worker at `distance` may ever take the job.
#[inline]
#[must_use]
pub fn may_ever_take(locality: Locality, offer: Offer, distance: Distance) -> bool {
    may_take(locality, offer, distance, u64::MAX)
}

/// The number of the second half of a fork of so many bytes, within the part of a recursion that
/// has the number `part`; the whole is zero. A hash: two parts can have the same number.
///
/// # Examples
/// ```
/// use evenkeel_policy::locality::{first_part, second_part};
/// let second = second_part(0, 4_096);
/// assert_ne!(second, first_part(second));
/// assert_ne!(second, second_part(0, 8_192), "another recursion");
/// assert_ne!(second_part(second, 2_048), second_part(first_part(second), 2_048));
/// ```
#[inline]
#[must_use]
pub fn second_part(part: u64, bytes: u64) -> u64 {
    mix(part ^ bytes.rotate_left(32))
}

/// The number of the first half beside a second one.
#[inline]
#[must_use]
pub fn first_part(second: u64) -> u64 {
    mix(second)
}

/// Spreads bits: the finalizer of SplitMix64 (Steele, Lea and Flood, 2014). Never zero.
fn mix(bits: u64) -> u64 {
    let bits = (bits ^ bits >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let bits = (bits ^ bits >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
    (bits ^ bits >> 31) | 1
}

// No worker falls asleep beside a job that it may take.
const _: () = assert!(NEAR < FAR && FAR < super::searching::SEARCH && HOLD < FAR);
