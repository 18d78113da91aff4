//! Which directory has its home where, by the runtime's own policy.

use evenkeel::policy::object::breadth::Recent;
use evenkeel::policy::object::hop::End;
use evenkeel::policy::object::rebalance::{self, Load, rebalance};
use evenkeel::policy::object::sample::{ONE_IN, mark};
use evenkeel::policy::object::{
    Breadths, Caches, Decision, Evidence, Flight, Hop, Item, Mode, Place, Sharing, Trial, Verdict,
    WHOLE, assign, pack, per_mille,
};

use super::memory::{CHIPS, CORES, L2, L3};

/// Cycles per nanosecond.
pub(super) const CYCLES: u64 = 2;

/// Cycles between two looks at the balance.
pub(super) const PERIOD: u64 = rebalance::PERIOD * CYCLES;

/// Directories are packed once in so many of them.
const PACKED_EACH: u64 = 4;

const CACHES: Caches = Caches { own: L2, last: L3, cores: CORES as u32, domains: CHIPS as u32 };

/// Periods for which an operation on a directory that is to be given away is waited for, as in the
/// runtime.
const LOOKS: u64 = 8;

/// What one end of a hop of so many cycles spends on it: both together half of it, and the rest is
/// under way.
pub(super) fn end_of(hop: u64) -> u64 {
    hop / 4
}

/// What a core knows.
#[derive(Clone, Default)]
struct Core {
    /// Operations that it has begun.
    begun: u32,
    hop: Hop,
    /// The directories of the operations that were sampled.
    recent: Recent,
}

/// A directory that is to be given away.
#[derive(Clone, Copy)]
struct Gift {
    from: usize,
    to: usize,
    since: u64,
}

/// What is known of all directories, and their homes.
pub(super) struct Placing {
    homes: Vec<Option<usize>>,
    /// From which core each is to be given to which, and in which period that was decided.
    given: Vec<Option<Gift>>,
    /// The time that was lately spent in each, as far as samples say, and the core that was the last
    /// one inside.
    heats: Vec<u64>,
    last: Vec<Option<usize>>,
    bytes: u64,
    cores: Vec<Core>,
    class: Sharing,
    /// Samples of the class when it was looked at last.
    seen: u32,
    decision: Decision,
    trial: Trial,
    breadths: Breadths,
    periods: u64,
    pub(super) moves: u64,
}

impl Placing {
    /// So many directories of so many bytes, all of them in place. `hop` is what one takes in
    /// cycles, if nothing is in its way.
    pub(super) fn new(directories: usize, bytes: u64, hop: u64) -> Self {
        let mut core = Core::default();
        // Tasks that are woken from other cores have told it before.
        core.hop.add(Flight { pushed: 0, polled: hop / CYCLES, waited: 0, batch: 1 });
        for end in [End::Sender, End::Receiver] {
            core.hop.spent(end, end_of(hop) / CYCLES);
        }
        Self {
            homes: vec![None; directories],
            given: vec![None; directories],
            heats: vec![0; directories],
            last: vec![None; directories],
            bytes,
            cores: vec![core; CORES],
            class: Sharing::default(),
            seen: 0,
            decision: Decision::TooFewSamples,
            trial: Trial::default(),
            breadths: Breadths::default(),
            periods: 0,
            moves: 0,
        }
    }

    /// The home of a directory, if operations go there now.
    pub(super) fn home(&self, directory: usize) -> Option<usize> {
        self.homes[directory].filter(|_| self.trial.mode() == Mode::AtHome)
    }

    /// Goes on with the trial at this time, after so many operations.
    pub(super) fn step(&mut self, now: u64, operations: u64) {
        let seen = self.cores.iter().map(|core| core.recent.seen());
        let (looks, hits) = seen.fold((0, 0), |sum, seen| (sum.0 + seen.0, sum.1 + seen.1));
        let standing = self.trial.is_held().then(|| self.trial.mode());
        if self.breadths.has_changed(standing, looks, hits) {
            self.trial.note_change();
        }
        let is_proposed = matches!(self.decision, Decision::Home { .. });
        self.trial.verify(is_proposed, now / CYCLES, operations);
    }

    /// What the trials have come to.
    pub(super) fn verdict(&self) -> Verdict {
        self.trial.verdict()
    }

    /// A task has come to this core.
    pub(super) fn hopped(&mut self, core: usize, flight: Flight) {
        self.cores[core].hop.add(flight);
    }

    /// A core has spent so many cycles on a task that comes or goes.
    pub(super) fn spent(&mut self, core: usize, end: End, cycles: u64) {
        self.cores[core].hop.spent(end, cycles / CYCLES);
    }

    /// Whether the operation that begins now on this core is sampled.
    pub(super) fn is_sampled(&mut self, core: usize) -> bool {
        let core = &mut self.cores[core];
        core.begun = core.begun.wrapping_add(1);
        mark(core.begun) < u32::MAX / ONE_IN
    }

    /// The end of an operation, and how many nanoseconds it has taken if it was sampled.
    pub(super) fn operated(&mut self, core: usize, directory: usize, nanos: Option<u64>) {
        let is_in_place = self.home(directory).is_none();
        if self.home(directory) == Some(core)
            && let Some(gift) = self.given[directory].take()
            && gift.from == core
            && self.is_pending(&gift)
        {
            self.homes[directory] = Some(gift.to);
            self.moves += 1;
        }
        let before = self.last[directory].replace(core);
        let Some(nanos) = nanos else { return };
        self.cores[core].recent.look(directory as u64 + 1);
        if let Some(before) = before.filter(|_| is_in_place) {
            self.class.add(before != core, nanos);
        }
        self.heats[directory] += nanos * u64::from(ONE_IN);
    }

    /// The end of a period, in which the cores were busy for these shares, with so many runnable
    /// tasks on each in the mean.
    pub(super) fn period(&mut self, busy: &[u64; CORES], runnable: u32) {
        if self.periods % PACKED_EACH == PACKED_EACH - 1 {
            self.pack(runnable);
        }
        self.periods += 1;
        self.rebalance(busy);
        self.heats.iter_mut().for_each(|heat| *heat /= 2);
    }

    fn pack(&mut self, runnable: u32) {
        let hop = self.cores.iter().map(|core| core.hop.cost()).sum::<u64>() / CORES as u64;
        let remote = self.class.remote();
        self.decision = assign(&Evidence {
            saving: self.class.cost().unwrap_or(0) * u64::from(remote) / u64::from(WHOLE),
            remote,
            // There and back.
            hop: 2 * hop,
            samples: self.class.samples(),
            runnable,
        });
        if self.class.samples() > self.seen {
            // Evidence follows what is in use; where all is at home there is none that is new.
            self.class.age();
        }
        self.seen = self.class.samples();
        if !matches!(self.decision, Decision::Home { .. }) {
            return;
        }
        let item = |(heat, home): (&u64, &Option<usize>)| Item {
            heat: *heat,
            bytes: self.bytes,
            cluster: None,
            place: home.map_or(Place::Nowhere, Place::At),
        };
        let items: Vec<Item> = self.heats.iter().zip(&self.homes).map(item).collect();
        self.homes = pack(&items, &[CACHES.budget(); CORES]);
    }

    fn rebalance(&mut self, busy: &[u64; CORES]) {
        let mut objects = vec![Vec::new(); CORES];
        for (directory, home) in self.homes.iter().enumerate() {
            if let Some(core) = home {
                objects[*core].push((directory as u64, self.heats[directory]));
            }
        }
        let loads: Vec<Load<'_>> = busy
            .iter()
            .zip(&objects)
            .map(|(busy, objects)| Load {
                busy: per_mille(*busy, PERIOD),
                objects,
                heat: objects.iter().map(|object| object.1).sum(),
            })
            .collect();
        let mut waits = [false; CORES];
        let pending = self.given.iter().flatten().filter(|gift| self.is_pending(gift));
        pending.for_each(|gift| waits[gift.from] = true);
        // Whoever has not given what was chosen last chooses nothing new.
        for step in rebalance(&loads).into_iter().filter(|step| !waits[step.from]) {
            let gift = Gift { from: step.from, to: step.to, since: self.periods };
            self.given[step.object as usize] = Some(gift);
        }
    }

    fn is_pending(&self, gift: &Gift) -> bool {
        self.periods - gift.since <= LOOKS
    }
}
