//! The homes of directories, by the policy of the runtime: homes dealt in turn, given away by heat,
//! and a trial of the modes.
//!
//! The heat of each directory is counted exactly. A worker of the runtime has a table of
//! [`Heat`](evenkeel_policy::object::Heat), in which objects that share a place compete, and takes
//! at least its busy time for their sum. Nor does the trial get a count of cache misses.

use evenkeel_policy::object::rebalance::{self, give_away, partner};
use evenkeel_policy::object::sample::{Looks, ONE_IN};
use evenkeel_policy::object::{Mode, Trial, Verdict, per_mille};

use super::memory::CORES;

/// Cycles per nanosecond.
pub const CYCLES: u64 = 2;

/// Cycles between two looks at the balance.
pub(super) const PERIOD: u64 = rebalance::PERIOD * CYCLES;

/// The directories' homes and heats.
pub(super) struct Placing {
    homes: Vec<usize>,
    /// The core that gives each directory away in this period, and the core that gets it.
    given: Vec<Option<(usize, usize)>>,
    /// The recent time in each directory, by samples.
    heats: Vec<u64>,
    /// The sampler of each core.
    looks: Vec<Looks>,
    trial: Trial,
    pub(super) moves: u64,
}

impl Placing {
    /// Creates `directories` directories, all of them in place.
    pub(super) fn new(directories: usize) -> Self {
        let mut trial = Trial::default();
        trial.set_may_gather(directories > 1);
        Self {
            homes: (0..directories).map(|directory| directory % CORES).collect(),
            given: vec![None; directories],
            heats: vec![0; directories],
            looks: vec![Looks::default(); CORES],
            trial,
            moves: 0,
        }
    }

    /// Returns the core at which a directory is entered, if operations travel.
    pub(super) fn host(&self, directory: usize) -> Option<usize> {
        match self.trial.mode() {
            Mode::InPlace => None,
            Mode::AtHome => Some(self.homes[directory]),
            Mode::AtOneHome => Some(0),
        }
    }

    /// Advances the trial to this time, after `operations` operations in all.
    pub(super) fn step(&mut self, now: u64, operations: u64) {
        self.trial.step(now / CYCLES, operations, || None);
    }

    /// Returns the verdict of the trials.
    pub(super) fn verdict(&self) -> Verdict {
        self.trial.verdict()
    }

    /// Returns whether the operation that begins on this core is sampled.
    pub(super) fn is_sampled(&mut self, core: usize) -> bool {
        self.looks[core].count()
    }

    /// Ends an operation, which has taken `nanos` if it was sampled.
    pub(super) fn operated(&mut self, core: usize, directory: usize, nanos: Option<u64>) {
        let Some(nanos) = nanos.filter(|_| self.host(directory) == Some(core)) else { return };
        if let Some((from, to)) = self.given[directory].take()
            && from == core
        {
            self.homes[directory] = to;
            self.moves += 1;
        }
        self.heats[directory] += nanos * u64::from(ONE_IN);
    }

    /// Ends a period in which the cores were busy for these cycles.
    pub(super) fn period(&mut self, busy: &[u64; CORES]) {
        if self.trial.mode() == Mode::AtHome {
            self.rebalance(busy);
        }
        self.heats.iter_mut().for_each(|heat| *heat /= 2);
    }

    /// Each core by itself gives the excess of its directories to its partner.
    fn rebalance(&mut self, busy: &[u64; CORES]) {
        let shares = busy.map(|busy| per_mille(busy, PERIOD));
        let mut objects = vec![Vec::new(); CORES];
        for (directory, &home) in self.homes.iter().enumerate() {
            objects[home].push((directory as u64, self.heats[directory]));
        }
        self.given.fill(None);
        for (from, objects) in objects.iter_mut().enumerate() {
            let Some(to) = partner(&shares, from) else { continue };
            let heat = objects.iter().map(|object| object.1).sum();
            give_away(shares[from], shares[to], heat, objects, |directory| {
                self.given[directory as usize] = Some((from, to));
            });
        }
    }
}
