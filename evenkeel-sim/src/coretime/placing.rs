//! Which directory has its home where, by the runtime's own policy, whole: homes dealt in turn,
//! given away by heat, and a trial of both ways.

use evenkeel_policy::object::rebalance::{self, give_away, partner};
use evenkeel_policy::object::sample::{Looks, ONE_IN};
use evenkeel_policy::object::{Mode, Trial, Verdict, per_mille};

use super::memory::CORES;

/// Cycles per nanosecond.
pub const CYCLES: u64 = 2;

/// Cycles between two looks at the balance.
pub(super) const PERIOD: u64 = rebalance::PERIOD * CYCLES;

/// What is known of all directories, and their homes.
pub(super) struct Placing {
    homes: Vec<usize>,
    /// From which core each is to be given to which in this period.
    given: Vec<Option<(usize, usize)>>,
    /// The time that was lately spent in each, as far as samples say.
    heats: Vec<u64>,
    /// Which operations of each core are looked at.
    looks: Vec<Looks>,
    trial: Trial,
    pub(super) moves: u64,
}

impl Placing {
    /// So many directories, all of them in place.
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

    /// The core at which a directory is entered, if operations travel now.
    pub(super) fn host(&self, directory: usize) -> Option<usize> {
        match self.trial.mode() {
            Mode::InPlace => None,
            Mode::AtHome => Some(self.homes[directory]),
            Mode::AtOneHome => Some(0),
        }
    }

    /// Goes on with the trial at this time, after so many operations.
    pub(super) fn step(&mut self, now: u64, operations: u64) {
        self.trial.step(now / CYCLES, operations, || None);
    }

    /// What the trials have come to.
    pub(super) fn verdict(&self) -> Verdict {
        self.trial.verdict()
    }

    /// Whether the operation that begins now on this core is sampled.
    pub(super) fn is_sampled(&mut self, core: usize) -> bool {
        self.looks[core].count()
    }

    /// The end of an operation, and how many nanoseconds it has taken if it was sampled.
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

    /// The end of a period, in which the cores were busy for these cycles.
    pub(super) fn period(&mut self, busy: &[u64; CORES]) {
        if self.trial.mode() == Mode::AtHome {
            self.rebalance(busy);
        }
        self.heats.iter_mut().for_each(|heat| *heat /= 2);
    }

    /// Each core by itself gives what it has too much to its partner.
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
