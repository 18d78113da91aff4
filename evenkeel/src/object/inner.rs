//! One object, which its handles share.

#![allow(unsafe_code, reason = "an object is a lock: it gives `&mut` from `&`")]

use super::class::Class;
use super::door::{Door, Refusal};
use super::error::{EnterError, Names};
use super::line::{Line, Turn};
use super::way::Way;
use crate::policy::object::Streak;
use crate::primitives::atomic::{AtomicU32, Ordering};
use crate::primitives::cell::UnsafeCell;
use crate::primitives::prefetch;
use crate::scheduler::context::{self, Context};
use crate::task::id;
use once_cell::race::OnceBox;
use std::any::type_name;
use std::future::poll_fn;
use std::pin::pin;
use std::ptr;
use std::sync::Arc;
use std::task::Poll;

/// An object: its value, and what is known of it. An entry in place reads the class and writes the
/// door: both lie on one line, behind the two counts of an `Arc`, at whatever multiple of 16 the
/// allocation begins. The value comes next, so that an entry to a small one waits for one line, or
/// for two that are fetched at once; what few entries need comes last.
#[repr(C)]
pub(super) struct Inner<T> {
    pub(super) class: Arc<Class>,
    pub(super) door: Door,
    pub(super) value: UnsafeCell<T>,
    /// The bits of the [streak](Streak) of reads: changed by who is inside alone, but for what all
    /// readers would write alike.
    streak: AtomicU32,
    /// Where those wait who do not get in at once for long.
    pub(super) line: OnceBox<Line>,
}

// SAFETY: the door lets one thread at a time to the value, so sharing an object moves the value
// between threads. It lets more to it who read, but they come where the value is `Sync`.
unsafe impl<T: Send> Send for Inner<T> {}
// SAFETY: as above.
unsafe impl<T: Send> Sync for Inner<T> {}

impl<T> Drop for Inner<T> {
    fn drop(&mut self) {
        self.class.note_moved(self.door.home(), None);
    }
}

/// Whom an object is held by that is held here: the number of the task, or that of the thread,
/// which no task has.
pub(super) fn holder(context: Option<&Context>) -> u64 {
    match context.and_then(Context::task) {
        Some(task) => task.footer().id.get(),
        None => id::of_thread().get(),
    }
}

impl<T> Inner<T> {
    pub(super) fn new(value: T, class: Arc<Class>) -> Self {
        Self {
            class,
            door: Door::new(),
            value: UnsafeCell::new(value),
            streak: AtomicU32::new(0),
            line: OnceBox::new(),
        }
    }

    /// Makes it one of another class, where its home is this worker, or none, and whether the
    /// caller has chosen that. No operation uses it now.
    pub(super) fn join(&mut self, class: Arc<Class>, home: Option<usize>, is_chosen: bool) {
        self.settle(None);
        self.class = class;
        self.door.pin(is_chosen);
        self.settle(home);
    }

    /// Makes this worker, or none, the home of an object that no operation uses now.
    pub(super) fn settle(&mut self, home: Option<usize>) {
        self.class.note_moved(self.door.home(), home);
        self.door.set_home(home);
    }

    fn streak(&self) -> Streak {
        Streak::from_bits(self.streak.load(Ordering::Relaxed))
    }

    fn set_streak(&self, streak: Streak) {
        self.streak.store(streak.bits(), Ordering::Relaxed);
    }

    /// Notes that it is about to be written. The caller is inside alone, and leaves by the way that
    /// this gives.
    #[inline(always)]
    pub(super) fn begin_write(&self, way: Way) -> Way {
        if !way.is_after_read() {
            return way;
        }
        self.end_streak();
        way.changed()
    }

    #[cold]
    fn end_streak(&self) {
        self.set_streak(self.streak().write());
        self.door.note_read(false);
    }

    /// Notes that reading it beside others has paid. The caller does so.
    #[cold]
    pub(super) fn note_paid(&self) {
        let paid = self.streak().pay();
        // Once: others read it.
        if paid != self.streak() {
            self.set_streak(paid);
        }
    }

    /// Enters beside others who read, if they do.
    #[inline(always)]
    pub(super) fn enter_as_reader(&self, context: Option<&Context>) -> Option<Way> {
        self.door.enter_as_reader(&self.class, context?)
    }

    /// Goes out again after a read: all may read from now on, if this one was the last of many who
    /// were inside alone.
    #[inline(always)]
    pub(super) fn leave_after_read(&self, way: Way, context: Option<&Context>) {
        if way.is_shared() {
            self.door.leave_as_reader(way, context);
            return;
        }
        if self.streak().is_shared() {
            self.end_streak();
        }
        let streak = self.streak().read();
        self.set_streak(streak);
        self.door.note_read(true);
        if streak.is_long() {
            self.share();
        }
        self.leave();
    }

    /// Lets all read it at once, if there are workers who would. The caller is inside alone, has
    /// read it, and leaves.
    #[cold]
    fn share(&self) {
        let streak = self.streak();
        // Before it is shared: those who read it then may write there.
        self.set_streak(streak.share());
        if self.class.processors().is_empty() || !self.door.share() {
            // After twice as many reads: then it may pay.
            self.set_streak(streak.share().write());
        }
        // Readers that know where it is at home go on travelling there until they doubt that.
    }

    /// What an error says of it.
    #[cold]
    pub(super) fn names(&self) -> Names {
        Names { class: self.class.name().into(), type_name: type_name::<T>(), task: None }
    }

    /// Waits for one's turn in the line before it; an error if a part of the same task, or the same
    /// thread, holds it, or does so when it looks again.
    pub(super) async fn turn(&self) -> Result<Turn<'_>, EnterError> {
        let mut turn = pin!(self.line().turn());
        poll_fn(|cx| match context::with(|context| self.refuse_own(context)) {
            Ok(()) => turn.as_mut().poll(cx).map(Ok),
            Err(error) => Poll::Ready(Err(error)),
        })
        .await
    }

    /// Whether a held operation is inside of it, or about to be.
    pub(super) fn is_held(&self) -> bool {
        self.line.get().is_some_and(|line| line.is_held())
    }

    /// The line before it, made if there is none.
    #[cold]
    pub(super) fn line(&self) -> &Line {
        self.line.get_or_init(|| Box::new(Line::new()))
    }

    /// Goes out again. The caller is alone inside.
    #[inline(always)]
    pub(super) fn leave(&self) {
        self.door.leave();
    }

    /// Enters, if nothing is in the way.
    #[inline(always)]
    pub(super) fn enter_at_once(&self, context: &Context) -> Option<Way> {
        // The value may lie on another line than the door: both are fetched at once.
        prefetch::lines(ptr::from_ref(&self.value).cast(), 1);
        self.door.enter_at_once(&self.class, context)
    }

    /// Enters, if nobody else is inside and it is not to be entered elsewhere.
    pub(super) fn enter(&self, context: Option<&Context>) -> Result<Way, Refusal> {
        self.door.enter(&self.class, context)
    }

    /// Refuses an entry if this worker's poll, this task or this thread is inside already.
    #[cold]
    pub(super) fn refuse_own(&self, context: Option<&Context>) -> Result<(), EnterError> {
        let holds = |line: &Line| line.is_holder(holder(context));
        let is_inside = self.door.is_inside(context);
        if !is_inside && !self.line.get().is_some_and(holds) {
            return Ok(());
        }
        let task = context.and_then(Context::task).and_then(|task| task.name().map(Box::from));
        Err(EnterError::inside(self.names(), task))
    }
}
