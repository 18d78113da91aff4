//! The stretches of a run, the conductor that announces them, and the work done in each.
//!
//! The conductor writes the number of each stretch, and sleeps meanwhile. Parties read it before
//! each operation: all caches keep that line until the next stretch begins. So no party reads the
//! clock, and each counts in its own memory.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use crossbeam_utils::CachePadded;

use super::bench::Popularity;
use suite::misses::Misses;

/// For how long after a change of the objects in use a stretch is unsettled.
pub(crate) const UNSETTLED: Duration = Duration::from_millis(10);

/// One in `FEW` objects is in use while few are.
const FEW: usize = 16;

/// A measured stretch goes on until this many parties, or all, are in it: each of them makes an
/// operation. On a crowded machine all parties may have been off the processor.
const LEAST: usize = 2;

/// How long the conductor sleeps between looks at the arrivals.
const WAIT: Duration = Duration::from_millis(1);

/// The number that follows the last stretch.
const OVER: usize = usize::MAX;

/// A part of a run in which the same objects are in use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Stretch {
    /// Its length.
    pub(super) time: Duration,
    /// Whether a sixteenth of the objects is in use, instead of all of them.
    pub(super) few: bool,
    /// Whether it begins with a change of the objects in use.
    pub(super) unsettled: bool,
    /// Whether it counts for the result.
    pub(super) measured: bool,
}

/// The stretches of a run: warm-up for at least `warm`, and measured ones for at least `time`. Both
/// are whole cycles if the popularity oscillates.
pub(super) fn stretches(
    popularity: Popularity,
    period: Duration,
    warm: Duration,
    time: Duration,
) -> Vec<Stretch> {
    let parts = |least: Duration, measured| match popularity {
        Popularity::Uniform => {
            vec![Stretch { time: least, few: false, unsettled: false, measured }]
        }
        Popularity::Oscillating => {
            let cycle = 2 * period.as_nanos().max(1);
            let cycles = least.as_nanos().div_ceil(cycle);
            let settled = period.saturating_sub(UNSETTLED);
            let half = |few| {
                let time = period.min(UNSETTLED);
                let first = Stretch { time, few, unsettled: true, measured };
                [first, Stretch { time: settled, unsettled: false, ..first }]
            };
            (0..cycles).flat_map(|_| [half(false), half(true)]).flatten().collect()
        }
    };
    [parts(warm, false), parts(time, true)].concat()
}

/// The stretches, and the number of the current one.
pub(super) struct Score {
    stretches: Vec<Stretch>,
    objects: usize,
    now: CachePadded<AtomicUsize>,
    /// The number of parties, and how many have arrived at each stretch.
    parties: usize,
    arrived: Vec<AtomicUsize>,
    /// Cache misses of the parties, where the processor counts them.
    misses: Mutex<Option<Misses>>,
}

/// What the conductor has observed.
pub(super) struct Performance {
    /// The length of each stretch.
    times: Vec<Duration>,
    /// The growth of the observed count over the measured stretches.
    pub(super) growth: u64,
    /// Cache misses over the measured stretches, where the processor counts them.
    pub(super) misses: Option<u64>,
}

impl Score {
    pub(super) fn new(stretches: Vec<Stretch>, objects: usize, parties: usize) -> Self {
        let arrived = stretches.iter().map(|_| AtomicUsize::new(0)).collect();
        let now = CachePadded::new(AtomicUsize::new(0));
        Self { stretches, objects, now, parties, arrived, misses: Mutex::new(None) }
    }

    /// Has the conductor read these misses too.
    pub(super) fn counting(self, misses: Option<Misses>) -> Self {
        Self { misses: Mutex::new(misses), ..self }
    }

    /// Misses since the last call.
    fn take_misses(&self) -> Option<u64> {
        self.misses.lock().unwrap_or_else(PoisonError::into_inner).as_mut()?.take()
    }

    /// Records that a party has seen a stretch begin, and makes an operation in it.
    pub(super) fn arrive(&self, stretch: usize) {
        self.arrived[stretch].fetch_add(1, Ordering::Relaxed);
    }

    fn has_begun(&self, stretch: usize) -> bool {
        self.arrived[stretch].load(Ordering::Relaxed) >= self.parties.min(LEAST)
    }

    /// Returns the number of the current stretch.
    #[inline(always)]
    pub(super) fn now(&self) -> usize {
        self.now.load(Ordering::Relaxed)
    }

    /// Returns how many objects, the first ones, are in use in a stretch; `None` when the run is
    /// over.
    pub(super) fn in_use(&self, stretch: usize) -> Option<usize> {
        let few = self.stretches.get(stretch)?.few;
        Some(if few { (self.objects / FEW).max(1) } else { self.objects })
    }

    /// Returns the number of stretches.
    pub(super) fn len(&self) -> usize {
        self.stretches.len()
    }

    /// Announces one stretch after another until the run is over. Calls `look` where the measured
    /// ones begin and where they end.
    pub(super) fn conduct(&self, look: impl Fn() -> u64) -> Performance {
        let mut times = Vec::with_capacity(self.stretches.len());
        let (mut begin, mut first) = (Instant::now(), None);
        for (number, stretch) in self.stretches.iter().enumerate() {
            if stretch.measured && first.is_none() {
                first = Some(look());
                self.take_misses();
            }
            self.now.store(number, Ordering::Relaxed);
            thread::sleep(stretch.time);
            while stretch.measured && !self.has_begun(number) {
                thread::sleep(WAIT);
            }
            let end = Instant::now();
            times.push(end - begin);
            begin = end;
        }
        self.now.store(OVER, Ordering::Relaxed);
        let growth = look() - first.unwrap_or_default();
        Performance { times, growth, misses: self.take_misses() }
    }

    /// Returns how long the stretches before the measured ones took.
    pub(super) fn settled(&self, performance: &Performance) -> Duration {
        let times = self.stretches.iter().zip(&performance.times);
        times.filter(|(stretch, _)| !stretch.measured).map(|(_, time)| *time).sum()
    }

    /// Returns the operations in the measured stretches that are `wanted`, and the time that those
    /// took. `ends` has the operations of each party by the end of each stretch.
    pub(super) fn sum<'a>(
        &self,
        performance: &Performance,
        ends: impl Iterator<Item = &'a [u64]>,
        wanted: impl Fn(&Stretch) -> bool,
    ) -> (u64, f64) {
        let counts = |stretch: &Stretch| stretch.measured && wanted(stretch);
        let of_party = |ends: &[u64]| -> u64 {
            let begins = [0].iter().chain(ends);
            let each = self.stretches.iter().zip(begins.zip(ends));
            each.filter(|(stretch, _)| counts(stretch)).map(|(_, (begin, end))| end - begin).sum()
        };
        let operations = ends.map(of_party).sum();
        let times = self.stretches.iter().zip(&performance.times);
        let time: Duration =
            times.filter(|(stretch, _)| counts(stretch)).map(|(_, time)| *time).sum();
        (operations, time.as_secs_f64())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Duration = Duration::from_millis(1);

    #[test]
    fn a_uniform_run_has_two_stretches() {
        let stretches = stretches(Popularity::Uniform, 40 * MS, 20 * MS, 500 * MS);
        let seen: Vec<_> = stretches.iter().map(|s| (s.time, s.few, s.measured)).collect();
        assert_eq!(seen, [(20 * MS, false, false), (500 * MS, false, true)]);
    }

    #[test]
    fn an_oscillating_run_has_whole_cycles() {
        let stretches = stretches(Popularity::Oscillating, 40 * MS, 20 * MS, 81 * MS);
        let cycle = [(10 * MS, false), (30 * MS, false), (10 * MS, true), (30 * MS, true)];
        let seen: Vec<_> = stretches.iter().map(|s| (s.time, s.few)).collect();
        assert_eq!(seen, [cycle; 3].concat());
        assert!(stretches.iter().all(|s| s.unsettled == (s.time == 10 * MS)));
        assert_eq!(stretches.iter().filter(|s| s.measured).count(), 8);
    }

    #[test]
    fn operations_are_summed_by_what_was_in_use() {
        let all = stretches(Popularity::Oscillating, 20 * MS, MS, MS);
        let score = Score::new(all, 100, 2);
        assert_eq!((score.in_use(0), score.in_use(2), score.in_use(8)), (Some(100), Some(6), None));
        let performance =
            Performance { times: (1..=8).map(|i| i * MS).collect(), growth: 0, misses: None };
        // The first four stretches are the warm-up.
        let ends: [&[u64]; 2] = [&[1, 2, 3, 4, 14, 34, 64, 104], &[0, 0, 0, 0, 100, 100, 100, 100]];
        let sum = |wanted: fn(&Stretch) -> bool| {
            let (operations, seconds) = score.sum(&performance, ends.into_iter(), wanted);
            (operations, (seconds * 1e3).round() as u64)
        };
        assert_eq!(sum(|_| true), (200, 26));
        assert_eq!(sum(|s| s.few), (70, 15));
        assert_eq!(sum(|s| !s.few && !s.unsettled), (20, 6));
        assert_eq!(score.settled(&performance), 10 * MS);
    }

    #[test]
    fn at_least_one_object_is_in_use() {
        let few = Stretch { time: MS, few: true, unsettled: false, measured: true };
        assert_eq!(Score::new(vec![few], 5, 1).in_use(0), Some(1));
    }

    #[test]
    fn what_is_looked_at_is_what_grew_while_it_was_measured() {
        let score = Score::new(stretches(Popularity::Uniform, MS, MS, MS), 1, 0);
        let performance = score.conduct(|| if score.now() == OVER { 17 } else { 10 });
        assert_eq!((performance.growth, performance.times.len()), (7, 2));
        assert_eq!(score.in_use(score.now()), None);
    }

    #[test]
    fn a_stretch_goes_on_until_a_party_is_in_it() {
        let score = Score::new(stretches(Popularity::Uniform, MS, MS, MS), 1, 3);
        thread::scope(|scope| {
            let conductor = scope.spawn(|| score.conduct(|| 0));
            while score.now() == 0 {
                thread::yield_now();
            }
            score.arrive(1);
            assert!(!score.has_begun(1));
            assert_eq!(score.now(), 1);
            score.arrive(1);
            conductor.join().unwrap();
        });
        assert_eq!(score.now(), OVER);
    }
}
