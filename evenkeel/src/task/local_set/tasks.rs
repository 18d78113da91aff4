//! The tasks of a set, and their polls. The [set](super) has the protocol.

use super::body;
use super::handle::LocalJoinHandle;
use super::ready::{Member, Place, Ready};
use super::waking::Waking;
use crate::primitives::slab::Slab;
use crate::processor::entered;
use crate::raw_task::id::{self, Id};
use crate::raw_task::party;
use crate::raw_task::report::TaskInfo;
use crate::task::budget;
use crate::task::error::Failure;
use crate::task::outcome::Outcome;
use std::any::{Any, type_name};
use std::cell::RefCell;
use std::collections::VecDeque;
use std::future::Future;
use std::mem;
use std::panic::{AssertUnwindSafe, Location, catch_unwind};
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

/// The most tasks that a driver polls in one poll of its own. An estimate; no benchmark sets it.
pub(super) const POLLS: usize = 64;

/// No cell is borrowed while a caller's code runs.
pub(super) struct Tasks {
    slots: RefCell<Slab<Slot>>,
    /// Tasks that a driver has taken out of the queue.
    batch: RefCell<VecDeque<Member>>,
    ready: Arc<Ready>,
}

enum Slot {
    Idle(Task),
    /// A driver has it.
    Polled {
        id: Id,
        /// Whether its number has come up meanwhile.
        again: bool,
    },
}

struct Task {
    /// None once it is dropped.
    future: Option<Pin<Box<dyn Future<Output = ()>>>>,
    ending: Arc<dyn Ending>,
    waking: Arc<Waking>,
    waker: Waker,
    about: About,
}

/// The end of a task whose output's type is not known.
trait Ending {
    /// Ends the task without an output.
    fn fail(&self, failure: Failure);
}

impl<T> Ending for Outcome<Result<T, Failure>> {
    fn fail(&self, failure: Failure) {
        self.complete(Err(failure));
    }
}

/// What reports say of a task.
#[derive(Clone)]
struct About {
    id: Id,
    name: Option<Rc<str>>,
    site: &'static Location<'static>,
    type_name: &'static str,
}

impl Tasks {
    pub(super) fn new() -> Self {
        Self {
            slots: RefCell::new(Slab::new()),
            batch: RefCell::new(VecDeque::new()),
            ready: Arc::new(Ready::new()),
        }
    }

    pub(super) fn len(&self) -> usize {
        self.slots.borrow().len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Makes the place of a new driver.
    pub(super) fn place(&self) -> Place {
        Place::new(self.ready.clone())
    }

    /// Spawns a task, or cancels it at once if the set is over.
    pub(super) fn spawn<F>(
        &self,
        future: F,
        name: Option<Box<str>>,
        site: &'static Location<'static>,
    ) -> LocalJoinHandle<F::Output>
    where
        F: Future + 'static,
        F::Output: 'static,
    {
        let id = id::take_one();
        let slot = self.slots.borrow_mut().insert(Slot::Polled { id, again: false });
        let member = Member { slot, id };
        let waking = Arc::new(Waking::new(self.ready.clone(), member));
        let outcome = Arc::new(Outcome::new());
        let about = About { id, name: name.map(Rc::from), site, type_name: type_name::<F>() };
        let body = {
            let (waking, outcome, about) = (waking.clone(), outcome.clone(), about.clone());
            async move {
                // The future is dropped before the joiner learns of its end.
                let result = body::run(future).await;
                waking.finish();
                outcome.complete(result.map_err(|payload| about.panic(payload)));
            }
        };
        let handle = LocalJoinHandle::new(outcome.clone(), waking.clone());
        let task = Task {
            future: Some(Box::pin(body)),
            ending: outcome,
            waker: Waker::from(waking.clone()),
            waking,
            about,
        };
        if self.ready.is_over() {
            self.slots.borrow_mut().remove(slot);
            task.cancel();
            return handle;
        }
        let waker = task.waker.clone();
        self.put(member, task);
        waker.wake();
        handle
    }

    /// Polls tasks that are ready, and then has `waker` called when there are more.
    pub(super) fn drive(&self, place: &mut Place, waker: &Waker) {
        for _ in 0..POLLS {
            match self.next() {
                Some(member) => self.poll(member),
                None if place.wait(waker) => return,
                None => {}
            }
        }
        let _: Poll<()> = budget::yield_to(waker);
    }

    /// Takes the number of the task that became ready first.
    fn next(&self) -> Option<Member> {
        let mut batch = self.batch.borrow_mut();
        if batch.is_empty() {
            self.ready.take(&mut batch);
        }
        batch.pop_front()
    }

    fn poll(&self, member: Member) {
        let Some(mut task) = self.take(member) else { return };
        if !task.waking.begin() {
            self.slots.borrow_mut().remove(member.slot);
            task.cancel();
            return;
        }
        let turn = turn_of(member.id);
        let polled = task.poll();
        drop(turn);
        match polled {
            Poll::Pending => self.put(member, task),
            Poll::Ready(()) => {
                party::end(member.id);
                self.slots.borrow_mut().remove(member.slot);
            }
        }
    }

    /// Takes a task out of its slot.
    fn take(&self, member: Member) -> Option<Task> {
        let mut slots = self.slots.borrow_mut();
        let slot = slots.get_mut(member.slot).filter(|slot| slot.id() == member.id)?;
        match mem::replace(slot, Slot::Polled { id: member.id, again: false }) {
            Slot::Idle(task) => Some(task),
            Slot::Polled { id, .. } => {
                *slot = Slot::Polled { id, again: true };
                None
            }
        }
    }

    /// Puts a task into the slot that is kept for it.
    fn put(&self, member: Member, task: Task) {
        let waking = task.waking.clone();
        let before = match self.slots.borrow_mut().get_mut(member.slot) {
            Some(slot) => mem::replace(slot, Slot::Idle(task)),
            None => unreachable!("a task that is polled keeps its slot"),
        };
        if matches!(before, Slot::Polled { again: true, .. }) {
            waking.requeue();
        }
    }

    /// Ends the set: drops all futures, and takes no more tasks.
    pub(super) fn close(&self) {
        self.ready.close();
        self.batch.borrow_mut().clear();
        let slots = self.slots.borrow_mut().take_all();
        for slot in slots {
            if let Slot::Idle(task) = slot {
                task.cancel();
            }
        }
    }
}

/// Returns the turn of a party of a set that is polled outside of tasks. All that a task polls is a
/// part of the task.
pub(super) fn turn_of(party: Id) -> Option<party::Turn> {
    let is_in_task = entered::with(|context| context.is_some_and(|own| own.task().is_some()));
    (!is_in_task).then(|| party::Turn::of(party))
}

impl Slot {
    fn id(&self) -> Id {
        match self {
            Self::Idle(task) => task.about.id,
            Self::Polled { id, .. } => *id,
        }
    }
}

impl Task {
    /// Polls the future, which contains its panics.
    fn poll(&mut self) -> Poll<()> {
        let future = self.future.as_mut().expect("a task with a slot has its future");
        future.as_mut().poll(&mut Context::from_waker(&self.waker))
    }

    /// Drops the future, and ends the task as cancelled; or, if the drop panics, with the panic.
    fn cancel(mut self) {
        let future = self.future.take();
        let turn = turn_of(self.about.id);
        let dropped = catch_unwind(AssertUnwindSafe(|| drop(future)));
        drop(turn);
        party::end(self.about.id);
        self.waking.finish();
        self.ending.fail(match dropped {
            Ok(()) => Failure::Cancelled,
            Err(payload) => self.about.panic(payload),
        });
    }
}

impl About {
    fn panic(&self, payload: Box<dyn Any + Send>) -> Failure {
        let Self { id, site: spawn_site, type_name, .. } = *self;
        let name = self.name.as_deref().map(str::to_owned);
        Failure::panic_of(TaskInfo { id, name, spawn_site, type_name }, payload)
    }
}
