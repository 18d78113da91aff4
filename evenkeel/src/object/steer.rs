//! How a class finds out where its operations run best: it tries each way.
//!
//! # Roles
//! Each worker *counts* operations, and with one in [`TURN`](crate::scheduler::operations::TURN) of them looks after the class of that one. Of those that do so at the same time one *steers*.
//!
//! # Steps
//! *To at home, to in place*: a word of the class says where its objects are entered. It says which way tasks take, and excludes nobody: a task that does not know of a change yet comes in the other way.
//! *Between homes at all workers and at one*: said to [those who deal](super::dealing), and then to all workers, which look at all operations for a while. *While objects move for that*: whatever workers know of their whereabouts is forgotten at each step.
//! [`door`](super::door) says what those do that enter meanwhile, and why they exclude each other.
//!
//! What mode there is to be, [`policy::object`](crate::policy::object) says: at home only where enough tasks are ready for the journeys to overlap, where what is saved is worth a journey for which a worker waits, or where one object has nearly all the time; what [samples](super::evidence) of operations in place propose; and then what a
//! trial has shown to be better. So that samples cost nothing where they say nothing new, they are taken [for a while](FRESH) out of each [period](OBSERVED), and when [other objects](crate::policy::object::breadth) are in use; not while something is tried, which they
//! would make slower in place.

use super::class::Class;
use super::look::Look;
use super::shares::Shares;
use crate::policy::object::assign::{ALONE, RUNNABLE, has_enough, remote};
use crate::policy::object::trial::{HOLD, WATCH, WINDOW};
use crate::policy::object::verdict::Reason;
use crate::policy::object::{
    Breadths, Decision, Evidence, Few, Mode as Wanted, Proposal, Trial, Verdict, WHOLE,
};
use crate::policy::smooth;
use crate::primitives::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering};
use crate::primitives::{Mutex, lock};
use crate::scheduler::context::Context;
use crate::scheduler::shared::Shared;
use std::fmt;

/// The least time between two steps, in nanoseconds: a fifth of the shortest window of a trial. An estimate; no benchmark sets it.
const STEP: u64 = 100_000;

/// Ready tasks are averaged in so many parts.
const PARTS: u64 = 16;

/// Samples that are taken in place before what they say is known: some hundred of each kind. An estimate; no benchmark sets it.
const FRESH: u32 = 512;

/// How often that many are taken anew in place, in nanoseconds: as many of the [shortest holds](HOLD) of a verdict. An estimate; no benchmark sets it.
const OBSERVED: u64 = 2 * HOLD;

/// They are taken anew where other objects are in use, but not twice within so many nanoseconds: half of the time from one change to the next in CoreTime's experiment, as `evenkeel-bench` has it. An estimate; no benchmark sets it.
const FORGETS: u64 = 20_000_000;

/// How long objects lose their homes after a class has begun to be entered in place, in nanoseconds: the shortest hold.
const SETTLES: u64 = HOLD;

/// What steers one class.
pub(super) struct Steering {
    /// That of each worker, and of the relief.
    pub(super) shares: Shares,
    /// What is made of operations in place now: a [`Look`].
    look: AtomicU8,
    /// How often the class has turned to be entered at homes, or at others.
    turns: AtomicU64,
    /// Whether homes were last proposed for few tasks.
    is_for_few: AtomicBool,
    /// When to step next.
    next: AtomicU64,
    course: Mutex<Course>,
}

/// What only the one who steers looks at.
#[derive(Default)]
pub(super) struct Course {
    trial: Trial,
    /// The breadth of what is in use.
    breadths: Breadths,
    /// How often workers had begun to look at more operations for its sake, or at fewer.
    changes: u32,
    /// What it is for the sake of few tasks.
    few: Few,
    /// When it was last sampled anew for its sake.
    forgot: u64,
    proposal: Proposal,
    /// Whether it was last, and whether for few tasks, and until when that is believed.
    is_proposed: (bool, bool, u64),
    /// The greatest part that an object has in the time of all, and until when that is believed.
    share: (u32, u64),
    /// When to begin to sample anew, and how many samples there were then.
    observe_at: u64,
    seen: u32,
    /// Since when the mode is what it is, and homes are dealt as they are.
    turned: u64,
    /// When to look again whether its objects may be gathered.
    gathers_at: u64,
    /// How many have been moved because they are dealt in another way.
    moves: usize,
    /// Ready tasks per worker, in parts.
    runnable: u64,
}

impl fmt::Debug for Steering {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Steering").finish_non_exhaustive()
    }
}

impl Steering {
    /// For a class of a runtime with so many processors.
    pub(super) fn new(processors: usize) -> Self {
        Self {
            shares: Shares::new(processors),
            look: AtomicU8::new(Look::Nothing as u8),
            turns: AtomicU64::new(0),
            is_for_few: AtomicBool::new(false),
            next: AtomicU64::new(0),
            course: Mutex::new(Course::default()),
        }
    }

    /// What is made of operations in place now.
    pub(super) fn look(&self) -> Look {
        Look::from_number(self.look.load(Ordering::Relaxed))
    }

    /// Whether processor `me` hears for the first time that the class has turned to be entered at homes.
    pub(super) fn has_turned_home(&self, me: usize) -> bool {
        self.shares.hears_of(me, self.turns.load(Ordering::Relaxed))
    }

    /// Whether journeys to its objects say what a hop costs: they overlap.
    pub(super) fn tells_of_hops(&self) -> bool {
        !self.is_for_few.load(Ordering::Relaxed)
    }

    /// What it costs that operations of the class in place come from several workers, if that is known.
    pub(super) fn sharing_cost(&self) -> Option<u64> {
        self.shares.sharing().cost()
    }

    /// What the trials have come to.
    pub(super) fn verdict(&self) -> Verdict {
        lock(&self.course).trial.verdict()
    }

    /// Steers `class`, whose this is, if it is time.
    pub(super) fn steer(&self, class: &Class, context: &Context, now: u64) {
        self.shares.note_look(context.seat.me(), now, STEP);
        if now < self.next.load(Ordering::Relaxed) {
            return;
        }
        // Whoever has it steers.
        let Ok(mut course) = self.course.try_lock() else { return };
        if now < self.next.load(Ordering::Relaxed) {
            // Somebody has meanwhile, and time never goes back.
            return;
        }
        self.next.store(now.saturating_add(STEP), Ordering::Relaxed);
        course.step(class, context.shared(), now, context.seat.me());
        let look = course.look(class, self, now);
        self.look.store(look as u8, Ordering::Relaxed);
    }

    /// Nobody else steers the class as long as what is returned is kept.
    #[cfg(all(test, not(any(loom, shuttle))))]
    pub(super) fn hold<'a>(&'a self, class: &'a Class, shared: &'a Shared) -> Held<'a> {
        Held { course: std::cell::RefCell::new(lock(&self.course)), class, shared }
    }

    /// Begins the change to `wanted`, or goes on with it, whatever the trial says. True once it is made.
    #[cfg(all(test, any(loom, shuttle)))]
    pub(super) fn turn(&self, class: &Class, shared: &Shared, wanted: Wanted) -> bool {
        turn(class, shared, wanted);
        match wanted {
            Wanted::AtHome | Wanted::AtOneHome => class.is_at_home(),
            Wanted::InPlace => !class.is_at_home(),
        }
    }
}

impl Course {
    fn step(&mut self, class: &Class, shared: &Shared, now: u64, me: usize) {
        if self.has_other_objects(class) {
            self.trial.note_change();
            self.forget(&class.steering, now);
            // What was believed was of others.
            self.is_proposed.2 = 0;
        }
        let workers = &shared.processors[..shared.workers];
        let ready: usize = workers.iter().map(|processor| processor.published.len()).sum();
        // And one that runs.
        let runnable = (ready + workers.len()) as u64 * PARTS / workers.len() as u64;
        self.runnable = smooth(self.runnable, runnable);
        // In the windows in place of a trial most may still be on their way.
        let at_home = class.is_at_home() || !self.stands_in_place();
        let operations = class.steering.shares.operations();
        let are_few = !self.has_enough(at_home) && self.share(class, now, me) < ALONE;
        let wanted = if self.few.ends(are_few, self.stands_in_place(), now) {
            self.trial.rest(Decision::TooFewTasks);
            self.trial.pause(now, operations);
            // What was sampled with many tasks says nothing of few.
            class.steering.shares.forget();
            (self.observe_at, self.seen) = (now, 0);
            Wanted::InPlace
        } else if self.stands_in_place() && !self.is_proposed(class, shared, now, me, are_few) {
            let decision = self.proposal.decision();
            let is_known = matches!(decision, Decision::TooCheap | Decision::TooFewTasks);
            // What a trial has come to says more, and by how often it came to the same the next one is put off.
            if is_known
                && !self.trial.has_concluded()
                && self.trial.verdict().reason != Reason::NotWorth(decision)
            {
                self.trial.rest(decision);
            }
            self.trial.pause(now, operations);
            Wanted::InPlace
        } else {
            if !self.trial.is_held() {
                self.proposal.note_trial(now);
            }
            if now >= self.gathers_at {
                self.gathers_at = now.saturating_add(WATCH);
                let inside = class.steering.shares.inside();
                let hop = self.few.hop(class.ledgers.hop().unwrap_or(0));
                let ceiling = inside.ceiling(hop, shared.workers as u32);
                self.trial.set_ceiling(if class.can_gather() { ceiling } else { 0 });
                if class.is_gathered() && !class.can_stay_gathered() {
                    self.trial.leave_one_home();
                }
            }
            self.trial.step(now, operations)
        };
        self.go(class, shared, wanted, now);
        self.follow(class, shared, now);
    }

    /// Has workers forget where objects were that have been dealt anew, and forgets it itself when that is settled.
    fn follow(&mut self, class: &Class, shared: &Shared, now: u64) {
        let moves = class.dealing().moves();
        if std::mem::replace(&mut self.moves, moves) != moves {
            // Whoever goes to one's old home is sent on, and does not know why: those that are left there may never be told.
            shared.forget_whereabouts();
        }
        if !class.is_gathered() && now.saturating_sub(self.turned) >= SETTLES {
            class.dealing().forget();
        }
    }

    /// Begins the change to `wanted`, or goes on with it, and tells the workers of it.
    fn go(&mut self, class: &Class, shared: &Shared, wanted: Wanted, now: u64) {
        let before = class.is_at_home();
        turn(class, shared, wanted);
        let is_dealt = class.deal_for(wanted);
        if class.is_at_home() != before || is_dealt {
            self.turned = now;
            let turns = u64::from(class.is_at_home());
            class.steering.turns.fetch_add(turns, Ordering::Relaxed);
        }
    }

    /// Whether enough tasks are ready for operations at homes.
    fn has_enough(&self, at_home: bool) -> bool {
        has_enough(((self.runnable + PARTS / 2) / PARTS) as u32, at_home)
    }

    /// Whether the verdict is that operations are in place, and nothing is being tried.
    fn stands_in_place(&self) -> bool {
        self.trial.is_held() && self.trial.mode() == Wanted::InPlace
    }

    /// Whether homes may be worth a trial, as what was sampled in place says.
    fn is_proposed(
        &mut self,
        class: &Class,
        shared: &Shared,
        now: u64,
        me: usize,
        are_few: bool,
    ) -> bool {
        let (is_proposed, were_few, until) = self.is_proposed;
        if now < until && are_few == were_few {
            return is_proposed;
        }
        let (sharing, hop) = (class.steering.shares.sharing(), class.ledgers.hop());
        let share = self.share(class, now, me);
        let saving = sharing.cost().unwrap_or(0);
        let evidence = Evidence {
            saving: saving * u64::from(sharing.remote()) / u64::from(WHOLE),
            remote: remote(shared.workers as u32, share),
            hop: hop.unwrap_or(0),
            samples: sharing.samples(),
            runnable: if are_few { RUNNABLE - 1 } else { RUNNABLE },
        };
        // Where each operation comes from another worker, nothing is known of those that do not.
        let is_known = sharing.cost().is_some() || sharing.remote() < WHOLE / 2;
        let is_measured = hop.is_some() && is_known;
        let is_worth_it = self.proposal.is_worth_a_trial(&evidence, is_measured, now);
        let is_proposed = is_worth_it && self.few.may_propose(are_few, now);
        if is_proposed {
            if self.proposal.has_turned() {
                self.trial.note_change();
            }
            self.few.note_proposal(are_few);
            class.steering.is_for_few.store(are_few, Ordering::Relaxed);
        }
        self.is_proposed = (is_proposed, are_few, now.saturating_add(WINDOW));
        is_proposed
    }

    /// The greatest part that an object has in the time of all, in per mille, as worker `me` sees it.
    fn share(&mut self, class: &Class, now: u64, me: usize) -> u32 {
        if now >= self.share.1 {
            self.share = (class.ledgers.greatest_share(me), now.saturating_add(WINDOW));
        }
        self.share.0
    }

    /// Whether other objects are in use than usual, as those say that were used while the mode stood.
    fn has_other_objects(&mut self, class: &Class) -> bool {
        let (looks, hits) = class.steering.shares.seen();
        let changes = class.steering.shares.changes();
        // Looks that are closer together see more objects twice.
        let are_alike = std::mem::replace(&mut self.changes, changes) == changes;
        let stands = are_alike && self.trial.is_held();
        let standing = stands.then(|| self.trial.mode());
        self.breadths.has_changed(standing, looks, hits)
    }

    /// Has it sampled anew what operations in place cost: other objects are in use. Not too often: that costs something itself.
    fn forget(&mut self, steering: &Steering, now: u64) {
        if self.stands_in_place() && now >= self.forgot.saturating_add(FORGETS) {
            steering.shares.age();
            (self.observe_at, self.seen) = (now, steering.shares.sharing().samples());
            self.forgot = now;
        }
    }

    /// What is to be made of operations in place from now on.
    fn look(&mut self, class: &Class, steering: &Steering, now: u64) -> Look {
        let since = now.saturating_sub(self.turned);
        match class.is_at_home() {
            true => Look::Assign,
            _ if !self.stands_in_place() => Look::Nothing,
            _ if self.is_observed(steering, now) => Look::Observe,
            _ if since < SETTLES => Look::Unassign,
            _ => Look::Nothing,
        }
    }

    /// Whether operations are to be sampled, although nothing is being tried.
    fn is_observed(&mut self, steering: &Steering, now: u64) -> bool {
        if now < self.observe_at {
            return false;
        }
        let samples = steering.shares.sharing().samples();
        if samples.saturating_sub(self.seen) < FRESH {
            return true;
        }
        steering.shares.age();
        (self.observe_at, self.seen) = (now.saturating_add(OBSERVED), samples / 2);
        false
    }
}

/// Has the objects of a class entered as is wanted.
fn turn(class: &Class, shared: &Shared, wanted: Wanted) {
    let was_at_home = class.is_at_home();
    class.set_at_home(wanted.travels());
    if was_at_home && !wanted.travels() {
        shared.forget_whereabouts();
    }
}

/// One who steers a class as he likes.
#[cfg(all(test, not(any(loom, shuttle))))]
pub(super) struct Held<'a> {
    course: std::cell::RefCell<crate::primitives::MutexGuard<'a, Course>>,
    class: &'a Class,
    shared: &'a Shared,
}

#[cfg(all(test, not(any(loom, shuttle))))]
impl Held<'_> {
    /// Has the class entered in this way.
    pub(super) fn go(&self, wanted: Wanted) {
        let (mut course, class) = (self.course.borrow_mut(), self.class);
        course.go(class, self.shared, wanted, 0);
        let look = if wanted.travels() { Look::Assign } else { Look::Nothing };
        class.steering.look.store(look as u8, Ordering::Relaxed);
    }
}
