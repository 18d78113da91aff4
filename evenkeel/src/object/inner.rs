//! One object, which its handles share.

#![allow(unsafe_code, reason = "an object is a lock: it gives `&mut` from `&`")]

use super::class::Class;
use super::door::{Door, Refusal};
use super::error::{EnterError, Names};
use super::line::{Line, Turn};
use super::way::Way;
use crate::primitives::cell::UnsafeCell;
use crate::processor::context::Context;
use crate::processor::entered;
use crate::raw_task::id::{self, Id};
use crate::raw_task::{kept, party};
use std::any::type_name;
use std::future::poll_fn;
use std::mem::{self, ManuallyDrop};
use std::pin::pin;
use std::ptr;
use std::sync::Arc;
use std::task::{Poll, Waker};

/// An object: its value, its class and its door. An entry at home reads the class and writes the
/// door: both lie on one line, behind the two counts of an `Arc`, at whatever multiple of 16 the
/// allocation begins. The value comes next, so that an entry to a small one mostly waits for one
/// line. What few entries need is in their class.
#[repr(C)]
pub(super) struct Inner<T> {
    pub(super) class: Arc<Class>,
    pub(super) door: Door,
    pub(super) value: UnsafeCell<T>,
}

// SAFETY: the door lets one thread at a time to the value, so sharing an object moves the value
// between threads. It lets several readers to it, but readers come only where the value is `Sync`.
unsafe impl<T: Send> Send for Inner<T> {}
// SAFETY: as above.
unsafe impl<T: Send> Sync for Inner<T> {}

impl<T> Drop for Inner<T> {
    fn drop(&mut self) {
        self.end();
    }
}

/// Returns the holder of an object that is held here: the number of the task, of the party that is
/// polled outside of tasks, or of the thread, which no task has.
pub(super) fn holder(context: Option<&Context>) -> u64 {
    if let Some(task) = context.and_then(Context::task) {
        return task.footer().id.get();
    }
    let party = Some(party::present()).filter(|party| *party != Id::NONE);
    party.unwrap_or_else(id::of_thread).get()
}

impl<T> Inner<T> {
    pub(super) fn new(value: T, class: Arc<Class>) -> Self {
        Self { class, door: Door::new(), value: UnsafeCell::new(value) }
    }

    /// Ends what is noted elsewhere of the object, by its address. No operation uses it any more.
    fn end(&mut self) {
        self.class.note_moved(self.door.home(), None);
        self.class.lines.forget(self.door.address());
        // By a guard that was forgotten.
        if self.door.is_locked() {
            party::forget(self.door.address());
            kept::forget(self.door.address());
        }
    }

    /// Takes the value out of an object that has no other handle.
    pub(super) fn try_into_value(mut this: Arc<Self>) -> Result<T, Arc<Self>> {
        match Arc::get_mut(&mut this) {
            // Before it leaves its address.
            Some(inner) => inner.end(),
            None => return Err(this),
        }
        let inner = Arc::into_inner(this).expect("there is no other handle to clone");
        // It has had its end: what is left is to drop its fields, and to return the value.
        let inner = ManuallyDrop::new(inner);
        // SAFETY: the whole is not dropped, and the field is not used, after this.
        let _class = unsafe { ptr::read(&inner.class) };
        // SAFETY: as above.
        let _door = unsafe { ptr::read(&inner.door) };
        // SAFETY: as above, and no operation is inside.
        Ok(inner.value.with(|value| unsafe { ptr::read(value) }))
    }

    /// Puts the object into another class, where its home is this worker, or none; `is_chosen` says
    /// whether the caller has chosen the home. No operation uses the object meanwhile.
    pub(super) fn join(&mut self, class: Arc<Class>, home: Option<usize>, is_chosen: bool) {
        self.settle(None);
        self.class.lines.forget(self.door.address());
        self.class = class;
        self.door.pin(is_chosen);
        self.settle(home);
    }

    /// Makes this worker, or none, the home of an object that no operation uses meanwhile.
    pub(super) fn settle(&mut self, home: Option<usize>) {
        self.class.note_moved(self.door.home(), home);
        self.door.set_home(home);
    }

    /// Enters beside other readers: where the object is not shared, only if the caller `counts`
    /// itself.
    #[inline(always)]
    pub(super) fn enter_as_reader(&self, context: &Context, counts: bool) -> Option<Way> {
        self.door.enter_as_reader(&self.class, context, counts)
    }

    /// Whether this read, which its worker examines, has to let all workers read the object at
    /// once: if it is time, and there are workers that would.
    #[cold]
    pub(super) fn is_to_be_shared(&self, context: &Context) -> bool {
        !self.class.processors().is_empty() && context.operations.is_to_share()
    }

    /// Returns what an error says of the object.
    #[cold]
    pub(super) fn names(&self) -> Names {
        Names { class: self.class.name().into(), type_name: type_name::<T>(), task: None }
    }

    /// Waits for the caller's turn in the line before the object. An error if a part of the same
    /// task or party holds the object, or does so at a later poll.
    pub(super) async fn turn(&self) -> Result<Turn, EnterError> {
        let mut turn = pin!(self.line().turn());
        poll_fn(|cx| match entered::with(|context| self.refuse_own(context)) {
            Ok(()) => turn.as_mut().poll(cx).map(Ok),
            Err(error) => Poll::Ready(Err(error)),
        })
        .await
    }

    /// Returns the line before the object.
    #[cold]
    pub(super) fn line(&self) -> Arc<Line> {
        self.class.lines.of(self.door.address())
    }

    /// Enters, if no other operation is inside and the object is not to be entered elsewhere.
    pub(super) fn enter(&self, context: Option<&Context>) -> Result<Way, Refusal> {
        self.door.enter(&self.class, context)
    }

    /// Refuses an entry if this worker's poll, this task or this party of the thread is inside
    /// already, or a party of the thread that the caller must not wait for.
    #[cold]
    pub(super) fn refuse_own(&self, context: Option<&Context>) -> Result<(), EnterError> {
        let me = holder(context);
        let is_own = || !party::may_wait(self.door.address(), me);
        let is_holder = || self.door.is_held() && self.line().is_own(me);
        if (self.door.is_inside(context) && is_own()) || is_holder() {
            return self.refuse(context);
        }
        Ok(())
    }

    /// Returns whether another party is inside whose guard is noted on this thread, or kept across
    /// polls on another one. `waker` is woken when it is gone; in the latter case it is left in the
    /// caller's `place`.
    #[cold]
    pub(super) fn waits<'p>(
        &self,
        context: Option<&Context>,
        waker: &Waker,
        place: impl FnOnce() -> &'p mut Option<kept::Waiter>,
    ) -> bool {
        let address = self.door.address();
        if self.door.is_inside(context) {
            return party::wait(address, holder(context), waker);
        }
        kept::may_wait(address) && kept::wait(address, waker, place())
    }

    /// Returns whether a party of another thread keeps a guard across its polls.
    pub(super) fn is_kept(&self) -> bool {
        kept::is_kept(self.door.address())
    }

    /// Waits for the next release of a guard that a party of another thread keeps across its polls;
    /// not at all if none does.
    #[cold]
    pub(super) async fn release(&self) {
        let (mut waiter, mut is_first) = (None, true);
        poll_fn(|cx| {
            let waits = mem::take(&mut is_first)
                && kept::wait(self.door.address(), cx.waker(), &mut waiter);
            if waits { Poll::Pending } else { Poll::Ready(()) }
        })
        .await;
    }

    /// Refuses an entry of a thread that will block, if any of its parties is inside already.
    pub(super) fn refuse_own_thread(&self) -> Result<(), EnterError> {
        let is_holder = || self.door.is_held() && self.line().is_on_this_thread();
        if self.door.is_inside(None) || is_holder() {
            return self.refuse(None);
        }
        Ok(())
    }

    fn refuse(&self, context: Option<&Context>) -> Result<(), EnterError> {
        let task = context.and_then(Context::task).and_then(|task| task.name().map(Box::from));
        Err(EnterError::inside(self.names(), task))
    }
}
