//! Which worker may take which fork-join job, by the caches that they share.
//!
//! A fork that states its footprint is *anchored* to the smallest cache that holds it. Workers that
//! share that cache may take its second half at once. Other workers may too ([`Locality::Biased`]),
//! once they have [seen it](Sight) as the oldest of its deque for a while, which is longer for
//! those farther away. A thief that has found [nothing but such jobs](Restraint) for the time of a
//! search takes any. A worker that takes a job from afar runs all of it, and its forks are anchored
//! to its own caches: one far steal moves a whole subtree.
//!
//! The time counts for each job, not from when the thief ran out of work. At the end of a phase
//! most workers wait for the last one. When the next phase begins, all have been idle for long, and
//! each would take the first job that it sees, away from the worker that has its data. By
//! `evenkeel-bench simulate`, on 4 packages of 8 cores, the stencil on small data then takes more
//! than twice as long, and on medium data a fifth longer.
//!
//! # Sources
//! Anchoring, with a dilation of 0.5: space-bounded schedulers (Simhadri, Blelloch, Fineman,
//! Gibbons and Kyrola, "Experimental analysis of space-bounded schedulers", SPAA 2014). The strict
//! rule: the Cilk Locality runtime (Shuck, "Performance analysis of the Cilk Locality runtime",
//! 2017), whose idle time is what the bias avoids. A preference instead of a ban: NUMA-WS (Deters,
//! Wu, Xu and Lee, IISWC 2018). Offering a subtree to the worker that ran it last: localised work
//! stealing (Leiserson, Schardl and Suksompong, 2018).

use crate::Distance;
use crate::interleaving::mix;

/// How the runtime keeps fork-join jobs near their data. It affects only forks that state their
/// footprint (`join_sized`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Locality {
    /// Every worker takes the oldest job of any other, from the nearest victim first.
    Off,
    /// The same with random victims at any distance: the rule of Cilk Plus, for comparison.
    Random,
    /// Workers that share the cache to which a job is anchored take it first, the others after a
    /// while.
    ///
    /// It is the default because it pays: that is simulated, not measured, on 4 packages of 8 cores
    /// with the four programs of the Cilk Locality evaluation (`evenkeel-bench simulate`). Programs
    /// on data of four times the size of all last-level caches take 3 % less time than with `Off`,
    /// on half their size 13 % less, and on half the size of one package's cache 26 % less. The
    /// stencil gains most, because halves beyond a core's own cache are [public at
    /// once](publishes); the product of small matrices takes 4 % more, since workers idle for
    /// longer. Where all workers share one cache, it matters little.
    #[default]
    Biased,
    /// Only workers that share the cache take the job, as in the Cilk Locality runtime. That has a
    /// deque for each level of memory; here thieves see the oldest job alone. Workers can be idle
    /// beside work: in the same simulation programs take 1.1 to 2.1 times as long as with `Off`.
    Strict,
}

impl Locality {
    /// Returns whether forks that state a footprint are anchored.
    #[inline]
    #[must_use]
    pub fn anchors(self) -> bool {
        match self {
            Self::Off | Self::Random => false,
            Self::Biased | Self::Strict => true,
        }
    }
}

/// A fork is anchored to a cache if it fills at most one part in `DILATION` of it: the other half
/// of a pair of forks, and the runtime's own data, must fit too. The dilation of 0.5 of the
/// space-bounded schedulers.
pub const DILATION: u64 = 2;

/// How long a thief sees a job anchored to a cache that it does not share before it takes it, if it
/// shares the last-level cache with the owner: the data are still near. An estimate,
/// some four looks round; `evenkeel-bench simulate` shows 1 % between 100 ns and 2 µs.
pub const NEAR: u64 = 500;

/// The same if the thief does not share the last-level cache. Set by `evenkeel-bench simulate`, on
/// 4 packages of 8 cores, by the ratio `biased / off`: with 10 µs small data take 2 % longer; with
/// 2 µs medium data take 1 % longer.
pub const FAR: u64 = 5_000;

/// How long a job is left to the worker that ran it last. Set by `evenkeel-bench simulate`: without
/// it the medium stencil takes a fifth longer; 1 µs does as well.
pub const HOLD: u64 = 2_000;

/// What a thief knows of a job before it takes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Offer {
    /// The greatest distance at which workers share the cache to which the fork is anchored.
    pub reach: Distance,
    /// Which worker ran the job when it was last forked, in an earlier phase.
    pub last: Last,
}

/// Which worker ran a job when it was last forked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Last {
    /// The worker that has forked it this time, or none, or an unknown one.
    Owner,
    /// The worker that asks.
    Me,
    /// Another worker.
    Another,
}

impl Offer {
    /// A job of a fork without a footprint: any worker may take it.
    pub const FREE: Self = Self { reach: Distance::Remote, last: Last::Owner };
}

/// Returns the greatest distance at which workers share the smallest of the owner's caches that
/// holds `bytes`. `caches` are the owner's caches, the smallest first: how far the workers are that
/// share one, and its size.
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

/// Returns whether it is worth remembering which worker runs a job of this reach: whether its data
/// lie in a cache that other workers do not share.
///
/// It is not if the data fit into a core's own cache, which takes no time to fill again. Nor if
/// they fit into no cache: the data are gone by the next time, and the job would wait for its
/// worker in vain. By `evenkeel-bench simulate`, on 4 packages of 8 cores, programs on data of four
/// times the size of all caches take 2 % longer if that is remembered too, though those on half
/// their size take 3 % less.
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

/// Returns whether the owner makes a job of this reach public as it forks it, although no thief has
/// asked: whether the halves fill more than a core's own cache.
///
/// They then take some 10 µs, a hundred times as long as it takes to make the job public and to
/// take it back. And a thief need not seize the job from an owner that is inside a long leaf. By
/// `evenkeel-bench simulate`, on 4 packages of 8 cores, the stencil on small data takes less than
/// half the time for it.
///
/// # Examples
/// ```
/// use evenkeel_policy::locality::publishes;
/// use evenkeel_policy::Distance::{Remote, SharedLlc, SmtSibling};
/// assert_eq!([SmtSibling, SharedLlc, Remote].map(publishes), [false, true, true]);
/// ```
#[inline]
#[must_use]
pub fn publishes(reach: Distance) -> bool {
    reach > Distance::SmtSibling
}

/// What a thief without work has seen of one deque: its oldest job, and since when.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sight {
    job: Option<u32>,
    since: u64,
}

impl Sight {
    /// Notes the deque's oldest job at `now`, by a number that tells it from those before and after
    /// it; `None` if there is none. Returns how long ago the thief saw this job first; it may have
    /// worked meanwhile.
    ///
    /// # Examples
    /// ```
    /// use evenkeel_policy::locality::Sight;
    /// let mut sight = Sight::default();
    /// assert_eq!([100, 150].map(|now| sight.see(Some(7), now)), [0, 50]);
    /// assert_eq!([160, 180].map(|now| sight.see(Some(8), now)), [0, 20], "another job");
    /// ```
    #[inline]
    pub fn see(&mut self, job: Option<u32>, now: u64) -> u64 {
        if self.job != job {
            *self = Self { job, since: now };
        }
        now.saturating_sub(self.since)
    }
}

/// Since when a thief has found nothing but jobs that it leaves to workers near their data. An
/// owner whose oldest job changes all the time would else keep it from all of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Restraint(Option<u64>);

impl Restraint {
    /// Returns whether it ends: the thief has left such jobs for the time of a search.
    ///
    /// # Examples
    /// ```
    /// use evenkeel_policy::locality::Restraint;
    /// use evenkeel_policy::searching::SEARCH;
    /// let mut restraint = Restraint::default();
    /// restraint.note(true, 100);
    /// restraint.note(true, 200);
    /// assert!(!restraint.is_over(99 + SEARCH) && restraint.is_over(100 + SEARCH));
    /// restraint.note(false, 300);
    /// assert!(!restraint.is_over(100 + SEARCH));
    /// ```
    #[inline]
    #[must_use]
    pub fn is_over(self, now: u64) -> bool {
        self.0.is_some_and(|since| now.saturating_sub(since) >= super::searching::SEARCH)
    }

    /// Notes at `now` whether a round of looks has left any such job, and taken none.
    #[inline]
    pub fn note(&mut self, leaves: bool, now: u64) {
        self.0 = leaves.then(|| self.0.unwrap_or(now));
    }
}

/// Returns whether a worker at `distance` from the owner may take the job after it has seen it for
/// `seen`.
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
pub fn may_take(locality: Locality, offer: Offer, distance: Distance, seen: u64) -> bool {
    let shares = distance.max(Distance::SmtSibling) <= offer.reach;
    match (locality, offer.last) {
        (Locality::Off | Locality::Random, _) | (Locality::Biased, Last::Me) => true,
        (Locality::Strict, _) => shares,
        (Locality::Biased, Last::Owner) => shares || seen >= patience(distance),
        (Locality::Biased, Last::Another) => {
            seen >= if shares { HOLD } else { patience(distance).max(HOLD) }
        }
    }
}

/// Returns how long a worker at `distance` leaves a job to the workers that share its cache.
fn patience(distance: Distance) -> u64 {
    if distance <= Distance::SharedLlc { NEAR } else { FAR }
}

/// Returns whether a worker at `distance` may ever take the job.
#[inline]
#[must_use]
pub fn may_ever_take(locality: Locality, offer: Offer, distance: Distance) -> bool {
    may_take(locality, offer, distance, u64::MAX)
}

/// Returns the number of the second half of a fork of `bytes` within the part of a recursion with
/// the number `part`; the whole has zero, and no part has. A hash: two parts can have the same
/// number.
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
    mix(part ^ bytes.rotate_left(32)) | 1
}

/// Returns the number of the first half beside a second one.
#[inline]
#[must_use]
pub fn first_part(second: u64) -> u64 {
    mix(second) | 1
}

// A search is long enough for a job that was there when it began.
const _: () = assert!(NEAR < FAR && FAR < super::searching::SEARCH && HOLD < FAR);
