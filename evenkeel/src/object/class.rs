//! A class of objects: those of one kind in one runtime, which share how they are entered.
//!
//! # The route
//! One word says where operations of the class run: where each task is, at each object's home, or
//! at one worker for all objects, whatever their homes are. It is a hint that excludes no task. A
//! task that does not know of a change yet comes in the other way, and [`door`](super::door) says
//! why that is safe. So a change takes one store, and no object moves for it.

use super::ledger::Ledgers;
use super::line::Lines;
use super::steer::Steering;
use crate::policy::object::Mode;
use crate::primitives::atomic::{AtomicUsize, Ordering};
use crate::processor::context::Context;
use crate::processor::shared::Shared;
use crate::processor::{Processor, Row};
use crossbeam_utils::CachePadded;
use std::sync::{Arc, Weak};

/// Where the objects of a class are to be entered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Placement {
    /// Whatever is measured to be best: where each task is, at homes at all workers, or, for
    /// operations that are shorter than journeys, all at one worker. Objects with
    /// [chosen](super::Object::at) homes are not gathered there.
    #[default]
    Automatic,
    /// Every object is entered where the task is.
    InPlace,
    /// Every object is entered at its home: the worker with the fewest objects of its class when it
    /// was made.
    Home,
}

/// Where the objects of a class are entered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Route {
    /// Where each task is.
    InPlace,
    /// At each object's home.
    AtHome,
    /// At this worker, except objects with chosen homes.
    AtWorker(usize),
}

/// [`Route`] in a word: worker 0 and those after it follow.
const IN_PLACE: usize = 0;
const AT_HOME: usize = 1;
const AT_WORKER: usize = 2;

/// What all objects of a class share.
#[derive(Debug)]
pub(super) struct Class {
    route: AtomicUsize,
    name: Box<str>,
    placement: Placement,
    /// What the workers know of objects in use.
    pub(super) ledgers: Ledgers,
    /// The lines of operations that wait before its objects.
    pub(super) lines: Lines,
    /// Steers the class, if it is automatic.
    pub(super) steering: CachePadded<Steering>,
    /// The runtime of the possible hosts; dangling for objects that were made outside of any.
    runtime: Weak<Shared>,
    /// The processors of the runtime. They stay where they are for as long as an object may have
    /// one of them as its home: those of another runtime never have the same addresses.
    processors: Arc<Row>,
    /// How many of its objects have their home at each worker.
    homes: Box<[AtomicUsize]>,
    /// The number of classes that the runtime had before it.
    number: usize,
}

impl Class {
    pub(super) fn new(
        name: &str,
        placement: Placement,
        runtime: Option<&Arc<Shared>>,
        ledgers: Ledgers,
        number: usize,
    ) -> Self {
        let workers = runtime.map_or(0, |runtime| runtime.workers);
        let route = if placement == Placement::Home { AT_HOME } else { IN_PLACE };
        if let Some(runtime) = runtime.filter(|_| route != IN_PLACE) {
            runtime.note_elsewhere(true);
        }
        Self {
            route: AtomicUsize::new(route),
            name: name.into(),
            placement,
            ledgers,
            lines: Lines::default(),
            steering: CachePadded::new(Steering::new(workers)),
            runtime: runtime.map(Arc::downgrade).unwrap_or_default(),
            processors: runtime.map(|runtime| runtime.processors.clone()).unwrap_or_default(),
            homes: (0..workers).map(|_| AtomicUsize::new(0)).collect(),
            number,
        }
    }

    /// Returns where its objects are entered.
    #[inline(always)]
    pub(super) fn route(&self) -> Route {
        match self.route.load(Ordering::Relaxed) {
            IN_PLACE => Route::InPlace,
            AT_HOME => Route::AtHome,
            worker => Route::AtWorker(worker - AT_WORKER),
        }
    }

    /// Has its objects entered in this mode from now on; true if that is a change. The caller
    /// steers the class.
    pub(super) fn set_mode(&self, mode: Mode) -> bool {
        let route = match mode {
            Mode::InPlace => IN_PLACE,
            Mode::AtHome => AT_HOME,
            // Each class takes the worker after that of the class before.
            Mode::AtOneHome => AT_WORKER + self.number % self.homes.len().max(1),
        };
        let before = self.route.load(Ordering::Relaxed);
        if before != route {
            // Only after a change: every entry reads that line.
            self.route.store(route, Ordering::Relaxed);
            let is_to_note = (before == IN_PLACE) != (route == IN_PLACE);
            if let Some(runtime) = self.runtime.upgrade().filter(|_| is_to_note) {
                runtime.note_elsewhere(route != IN_PLACE);
            }
        }
        before != route
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    pub(super) fn placement(&self) -> Placement {
        self.placement
    }

    /// Whether the workers of `shared` are those that may be hosts.
    #[inline(always)]
    pub(super) fn is_of(&self, shared: &Arc<Shared>) -> bool {
        std::ptr::eq(self.runtime.as_ptr(), Arc::as_ptr(shared))
    }

    /// Whether its runtime exists.
    pub(super) fn has_workers(&self) -> bool {
        self.runtime.strong_count() > 0
    }

    /// Whether the objects of both may have the same workers as homes.
    pub(super) fn is_same_runtime(&self, other: &Self) -> bool {
        self.runtime.ptr_eq(&other.runtime)
    }

    /// Returns the processors of the runtime, the reliefs' among them; none for objects that were
    /// made outside of any.
    pub(super) fn processors(&self) -> &[Processor] {
        &self.processors
    }

    /// Returns the home of a new object: the worker with the fewest objects of the class; none in a
    /// class that is never entered at homes. Each class begins with another worker, so that classes
    /// of one object do not meet at the first.
    pub(super) fn home_of_new(&self) -> Option<usize> {
        let workers = self.homes.len();
        let in_turn = (0..workers).map(|turn| (self.number + turn) % workers);
        let fewest = in_turn.min_by_key(|&worker| self.homes[worker].load(Ordering::Relaxed));
        fewest.filter(|_| self.placement != Placement::InPlace)
    }

    /// Notes that an object has moved from one home to another, or from or to none.
    pub(super) fn note_moved(&self, from: Option<usize>, to: Option<usize>) {
        for (worker, change) in [(from, usize::MAX), (to, 1)] {
            if let Some(homes) = worker.and_then(|worker| self.homes.get(worker)) {
                homes.fetch_add(change, Ordering::Relaxed);
            }
        }
    }

    /// Whether its objects have more than one home.
    pub(super) fn may_gather(&self) -> bool {
        self.homes.iter().filter(|homes| homes.load(Ordering::Relaxed) > 0).count() > 1
    }

    /// Returns the number of the runtime's workers; zero for objects that were made outside of any.
    pub(super) fn workers(&self) -> usize {
        self.homes.len()
    }

    /// Counts operations, and steers the class if it is time.
    #[cold]
    pub(super) fn count(&self, context: &Context) {
        let shared = context.shared();
        // Operations at workers of other runtimes are not counted.
        if self.is_of(shared) {
            let is_to_look = self.steering.shares.count(context.seat.me());
            if is_to_look && self.placement == Placement::Automatic {
                let (now, go) = (context.ahead.now(), |mode| self.go(shared, mode));
                self.steering.steer(shared, now, || self.may_gather(), go);
            }
        }
    }

    /// Has its objects entered in this mode. The caller steers the class.
    fn go(&self, shared: &Shared, mode: Mode) {
        if self.set_mode(mode) {
            shared.forget_whereabouts();
        }
    }

    /// Has its objects entered in this mode, whatever the trial says.
    #[cfg(all(test, any(loom, shuttle)))]
    pub(super) fn turn(&self, shared: &Shared, mode: Mode) {
        self.steering.end(|| self.go(shared, mode));
    }

    /// Returns how many of its objects have their home at each worker.
    pub(super) fn homes(&self) -> Vec<usize> {
        self.homes.iter().map(|homes| homes.load(Ordering::Relaxed)).collect()
    }
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use crate::object::Object;
    use crate::policy::object::Mode;

    #[test]
    fn classes_of_one_object_have_their_homes_at_one_worker_after_the_other() {
        let runtime = crate::Builder::new().workers(2).build().unwrap();
        runtime.block_on(async {
            let homes = ["some", "others"].map(|name| Object::new(0).class(name).home());
            assert_ne!(homes[0], homes[1]);
        });
    }

    /// Where the object is entered, if its class is in this mode.
    fn host(object: &Object<u64>, mode: Mode) -> Option<usize> {
        object.inner.class.set_mode(mode);
        object.inner.door.host(&object.inner.class)
    }

    #[test]
    fn a_class_is_gathered_at_one_worker_but_for_homes_that_were_chosen() {
        let runtime = crate::Builder::new().workers(2).build().unwrap();
        runtime.block_on(async {
            let of = |name: &str| Object::new(0).class(name);
            let (first, second) = (of("some"), of("some"));
            let chosen = [0, 1].map(|home| of("some").at(home));
            for object in [&first, &second, &chosen[0], &chosen[1]] {
                assert_eq!(host(object, Mode::InPlace), None);
                assert_eq!(host(object, Mode::AtHome), object.home());
            }
            let one = host(&first, Mode::AtOneHome);
            assert_eq!((one.is_some(), host(&second, Mode::AtOneHome)), (true, one));
            let hosts = [0, 1].map(|home| host(&chosen[home], Mode::AtOneHome));
            assert_eq!(hosts, [Some(0), Some(1)]);
            assert_ne!(host(&of("others"), Mode::AtOneHome), one, "the next class goes elsewhere");
        });
    }
}
