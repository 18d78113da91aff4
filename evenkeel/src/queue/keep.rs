//! The keep: tasks whose poll has returned `Pending`, and whose state does not say so yet.
//!
//! # What it is for
//! One locked instruction ends a poll, and another wakes the task, so that any thread may wake it
//! ([`state`](crate::raw_task::state)). Most tasks are woken by the thread that has polled them
//! last, and soon. So a busy worker leaves out the end of a poll, and keeps the right to poll the
//! task. A wake on the same thread takes that right to the queue: some stores in place of two
//! locked instructions.
//!
//! # Roles
//! The *keeper* is the worker that has polled the task. A *signaller* is a thread that wakes,
//! unparks or aborts the task, and is not the keeper. The *lookout* is that of
//! [`lookout`](crate::scheduler::lookout). A *thief* takes tasks from a processor by force.
//!
//! # States
//! A task is *kept* while its right lies here. Its word says *polled* to signallers, with a count
//! of one wake. Its header names the keeper, as a hint. Its place follows from its place in its
//! registry. `keeps` in [`Published`](crate::processor::Published) says that tasks may lie here.
//! The [`Bell`] says that a signaller has found such a task. Places and `keeps` change under the
//! lock that guards the processor's queue; the keeper alone sets `keeps`.
//!
//! # Steps
//! - *Keep* (keeper, after a poll): if `keeps` is set, the task was woken once since it was last
//!   idle, and its place is free, the keeper notes itself in the header and stores the right.
//!   Otherwise it ends the poll.
//! - *Wake here* (keeper): it takes the right out and puts the task into its queue. What the signal
//!   would change in the word, it notes among what a poller defers: a reference that is used up, or
//!   one consumed token less. If it can't, it changes the word too.
//! - *Signal* (signaller): it changes the word, as it does with any task that is polled. If the
//!   header named a keeper, it *rings*: the bell, by an exchange that also tells for which place
//!   and by which worker; a full fence; then it does what a pusher into the keeper's inbox does. A
//!   bell that has rung counts as a task in the inbox wherever inboxes are looked at.
//! - *Answer* (keeper at the end of a batch, or a thief): it silences the bell by an exchange, and
//!   ends the polls of those tasks that were signalled. If the keeper answers, and one other worker
//!   was the only one that has rung since the last answer, they go into its inbox: to where they
//!   would be, had they not been kept, but later by the rest of the batch. Then the keeper does
//!   what any pusher into that inbox does. Otherwise they go into the keeper's queue.
//! - *Settle* (keeper): it ends the polls of all tasks, and clears `keeps`. It does so before it
//!   searches for work, when a worker sleeps or the lookout rests, when it has few ready tasks
//!   beside other workers, and when too few tasks were woken here. After each
//!   [`PERIOD`](crate::policy::keeping::PERIOD) it ends the polls of those tasks that were
//!   signalled, or have been here for a whole period.
//! - *Settle for* (lookout, ender of the runtime): the same for a worker that is stuck or away.
//!
//! A task that was signalled while it was kept has a count of two, so its next poll is ended at
//! once.
//!
//! # Why no wake is lost
//! The word decides, as without a keep: a poll that ends finds the count changed, or the signal
//! finds the task idle. So it is enough that the poll of each kept task ends some time after a
//! signal. A signaller that finds a keeper named rings, and the proof of the inbox then holds for
//! the bell. The thread that answers has acquired what the signaller released with the bell, and so
//! finds the count changed. What it then pushes into an inbox, and does after it, is covered by the
//! proof of the inbox as well.
//!
//! A signaller may miss the note, because neither thread makes a fence for it. Then the task waits
//! for the end of the period, or until the keeper runs out of work. If the keeper does not come to
//! the end of its batch, because it is stuck in the next poll or goes away, the lookout settles for
//! it. It makes rounds then: the keeper sets `keeps`, makes a light fence, and looks whether the
//! lookout rests. The lookout's rest makes a heavy fence, and looks at `keeps`. It is Dekker's
//! pattern, so it does not rest while tasks are kept; and each round looks at workers that are
//! stuck or away.
//!
//! The right is in one place at a time: the poller's hand, the keep, or a queue. Places change
//! under the lock, so one of keeper, thief and lookout takes it.
//!
//! A push by *wake here* is followed by a light fence alone. The worker is awake, and looks for
//! sleepers at the end of its batch. If it is stuck before, the lookout finds its queue.
//!
//! A signaller that has used up its reference by the signal may not touch the task any more. So it
//! reads the note before, and finds the runtime by the address of the task's home
//! ([`runtimes`](crate::processor::runtimes)).
//!
//! # Rejected
//! A bit of the word that says *kept*: to set it takes the locked instruction that is to be saved.
//! The same without the lock: the lookout could not end the polls of a stuck worker. To keep tasks
//! beside sleepers: a signaller that misses the note would leave its task beside one. A list of
//! free places: a task's place in its registry gives one for nothing. To leave signalled tasks with
//! their keeper: a ring of tasks that a thief has torn apart then stays so, because its parts move
//! on in step, and each of their wakes crosses the cores. Two workers of `evenkeel-bench run
//! --bench cycle --procs 2` take 6 % longer.
//!
//! # Cost
//! `evenkeel-bench run --bench cycle,churn --procs 1`: 34 and 44 to 46 ns for each operation
//! without a keep, 22 to 24 and 36 ns with it; two locked instructions are 15 ns there.

use crate::policy::keeping;
use crate::policy::random::scatter;
use crate::primitives::atomic::{AtomicUsize, Edge, Ordering, edge};
use crate::raw_task::header::{Header, Live};
use crate::raw_task::rights::Runnable;

/// The places of a keep.
pub(crate) const PLACES: usize = if cfg!(any(loom, shuttle)) { 4 } else { keeping::PLACES };

/// The tasks that a processor keeps. The memory is there from the first period on.
#[derive(Debug, Default)]
pub(crate) struct Keep {
    places: Box<[Place]>,
}

#[derive(Debug, Default)]
struct Place {
    task: Option<Runnable>,
    /// Whether the task was here at the last look at all.
    is_old: bool,
}

/// Returns where a keep has its place for a task.
#[inline(always)]
pub(crate) fn place_of(task: &Header) -> usize {
    // Tasks of one home have different slots. Those of several homes begin at places far apart.
    let first = scatter(task.home().addr() as u64);
    (task.slot.load(Ordering::Relaxed) as usize).wrapping_add(first) % PLACES
}

impl Keep {
    /// Makes room.
    #[cold]
    pub(crate) fn open(&mut self) {
        if self.places.is_empty() {
            self.places = (0..PLACES).map(|_| Place::default()).collect();
        }
    }

    /// Keeps a task for processor `me`, or gives it back if its place is taken.
    #[inline(always)]
    pub(crate) fn put(&mut self, task: Runnable, me: usize) -> Result<(), Runnable> {
        match self.places.get_mut(place_of(&task)) {
            Some(place) if place.task.is_none() => {
                task.set_keeper(me);
                *place = Place { task: Some(task), is_old: false };
                Ok(())
            }
            _ => Err(task),
        }
    }

    /// Takes a task out, if it is here.
    #[inline(always)]
    pub(crate) fn take(&mut self, task: Live<'_>) -> Option<Runnable> {
        let place = self.places.get_mut(place_of(&task))?;
        place.take_if(|kept| kept.ptr() == task.ptr())
    }

    /// Takes out all tasks.
    pub(crate) fn drain(&mut self) -> impl Iterator<Item = Runnable> + '_ {
        self.places.iter_mut().filter_map(|place| place.take_if(|_| true))
    }

    /// Takes out those tasks that were signalled while they were kept, where the bell has rung.
    pub(crate) fn signalled(&mut self, rung: Rung) -> impl Iterator<Item = Runnable> + '_ {
        let range = match rung.place {
            Some(place) => place..(place + 1).min(self.places.len()),
            None => 0..self.places.len(),
        };
        let places = self.places.get_mut(range).unwrap_or_default();
        places.iter_mut().filter_map(|place| place.take_if(|task| task.state.is_signalled()))
    }

    /// Takes out the signalled tasks and those that have been here since the last call.
    pub(crate) fn old(&mut self) -> impl Iterator<Item = Runnable> + '_ {
        self.places.iter_mut().filter_map(|place| {
            let was_old = std::mem::replace(&mut place.is_old, true);
            place.take_if(|task| was_old || task.state.is_signalled())
        })
    }
}

impl Place {
    /// Takes the task out, if `condition` holds for it.
    #[inline(always)]
    fn take_if(&mut self, condition: impl FnOnce(&Runnable) -> bool) -> Option<Runnable> {
        let task = self.task.take_if(|task| condition(task))?;
        task.forget_keeper();
        Some(task)
    }
}

/// For which tasks a bell has rung.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Rung {
    /// The place of the task; `None` if there are several.
    pub(crate) place: Option<usize>,
    /// The worker that has signalled it; `None` if there are several, or another thread was one.
    pub(crate) signaller: Option<usize>,
}

impl Rung {
    /// Returns what the bell tells once both have rung.
    fn and(self, other: Self) -> Self {
        let common = |one: Option<usize>, other| one.filter(|_| one == other);
        Self {
            place: common(self.place, other.place),
            signaller: common(self.signaller, other.signaller),
        }
    }
}

/// By which signallers tell a keeper that they have signalled a task that it may keep.
///
/// Its word has one more than the place below one more than the worker, above [`RUNG`]; zero stands
/// for `None`.
#[derive(Debug)]
pub(crate) struct Bell(AtomicUsize);

const SILENT: usize = 0;
/// The bell has rung.
const RUNG: usize = 1;
const PLACE: u32 = RUNG.trailing_zeros() + 1;
const WORKER: u32 = PLACE + (PLACES + 1).next_power_of_two().trailing_zeros();

impl Bell {
    pub(crate) fn new() -> Self {
        Self(AtomicUsize::new(SILENT))
    }

    /// Returns whether the bell has rung.
    #[inline(always)]
    pub(crate) fn has_rung(&self) -> bool {
        self.0.load(Ordering::Relaxed) != SILENT
    }

    /// Rings.
    pub(crate) fn ring(&self, rung: Rung) {
        let mut before = self.0.load(Ordering::Relaxed);
        loop {
            let all = read(before).map_or(rung, |before| before.and(rung));
            // An exchange in any case: the answer acquires from the last one.
            let order = edge(Edge::KeepRing, Ordering::AcqRel);
            match self.0.compare_exchange_weak(before, word(all), order, Ordering::Relaxed) {
                Ok(_) => return,
                Err(actual) => before = actual,
            }
        }
    }

    /// Silences the bell, and returns for which tasks it has rung.
    pub(crate) fn answer(&self) -> Option<Rung> {
        read(self.0.swap(SILENT, edge(Edge::KeepAnswer, Ordering::AcqRel)))
    }
}

fn word(rung: Rung) -> usize {
    let code = |number: Option<usize>| number.map_or(0, |number| number + 1);
    RUNG | code(rung.place) << PLACE | code(rung.signaller) << WORKER
}

fn read(word: usize) -> Option<Rung> {
    let number = |code: usize| code.checked_sub(1);
    let place = number((word & ((1 << WORKER) - 1)) >> PLACE);
    (word != SILENT).then(|| Rung { place, signaller: number(word >> WORKER) })
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use super::*;

    #[test]
    fn a_bell_tells_what_all_that_rang_have_in_common() {
        let bell = Bell::new();
        assert_eq!(bell.answer(), None);
        let rung = |place, signaller| Rung { place, signaller };
        let first = rung(Some(PLACES - 1), Some(usize::from(u16::MAX)));
        bell.ring(first);
        assert!(bell.has_rung());
        bell.ring(first);
        assert_eq!(bell.answer(), Some(first));
        assert!(!bell.has_rung());
        for (second, both) in [
            (rung(Some(0), first.signaller), rung(None, first.signaller)),
            (rung(first.place, Some(0)), rung(first.place, None)),
            (rung(first.place, None), rung(first.place, None)),
            (rung(Some(0), None), rung(None, None)),
        ] {
            bell.ring(first);
            bell.ring(second);
            bell.ring(first);
            assert_eq!(bell.answer(), Some(both));
        }
    }
}
