//! The header, with which every task begins, and the footer, which follows its future.
//!
//! A task is one allocation: this header, then its future or its output, then a footer. Header and
//! footer are all that the scheduler knows of a task. [`TaskPtr`] is a task's bare address, which
//! proves nothing; a thread that accesses a task holds one of the [`rights`](super::rights) to it.

#![allow(unsafe_code, reason = "tasks are shared by their addresses")]

use super::id::Id;
use super::state::{Pending, State};
use crate::primitives::atomic::{AtomicPtr, AtomicU8, AtomicU16, AtomicU32, Ordering};
use crate::primitives::cell::UnsafeCell;
use crate::primitives::unwind;
use std::marker::PhantomData;
use std::mem;
use std::ops::Deref;
use std::panic::Location;
use std::ptr::NonNull;
use std::task::{Poll, Waker};

/// The functions and figures that differ between tasks of different futures.
pub(crate) struct Vtable {
    /// Polls the future once; on `Ready` the output, or the panic, is in the future's place. A
    /// future that panics is dropped while the panic unwinds. The caller has the task's
    /// [`Runnable`](super::rights::Runnable), and the future is in its place.
    pub(crate) poll: unsafe fn(TaskPtr) -> Poll<()>,
    /// Drops the future and puts *cancelled* in place of the output. As for `poll`.
    pub(crate) cancel: unsafe fn(TaskPtr),
    /// Drops the output. The task is complete, or about to be; its output is there, and only the
    /// caller may access it.
    pub(crate) drop_output: unsafe fn(TaskPtr),
    /// Moves the output to where the second argument points, which is room for a
    /// `Result<T, Failure>` of the task's `T`. As for `drop_output`.
    pub(crate) take_output: unsafe fn(TaskPtr, NonNull<()>),
    /// Takes the right to poll the task out of its berth, if it is there: then the caller has it.
    pub(crate) unpark: unsafe fn(TaskPtr) -> bool,
    /// Frees the memory. No other right to the task is left, and neither future nor output is
    /// there.
    pub(crate) free: unsafe fn(TaskPtr),
    /// The task's name.
    pub(crate) name: for<'a> fn(Live<'a>) -> Option<&'a str>,
    /// Where the [`Footer`] is, in bytes from the header.
    pub(crate) footer: usize,
    /// The type of the future, for reports.
    pub(crate) type_name: fn() -> &'static str,
}

/// The place of a task that no registry holds yet.
pub(crate) const UNREGISTERED: u32 = u32::MAX;

/// The beginning of every task: 40 bytes.
#[repr(C)]
pub(crate) struct Header {
    pub(crate) state: State,
    pub(crate) vtable: &'static Vtable,
    /// The next task in an inbox.
    pub(crate) next: AtomicPtr<Header>,
    /// The processor that keeps the task in its registry, by an address that stays valid until the
    /// task is complete; null for a task of the blocking pool. Only the scheduler follows it.
    home: AtomicPtr<()>,
    /// The task's place in the registry of its home, or [`UNREGISTERED`]. Only that registry uses
    /// it.
    pub(crate) slot: AtomicU32,
    /// The processor that last polled it, and [`KEPT`].
    last: AtomicU16,
    /// Wakers and `Task`s that the poller has made less those it has dropped, not yet in `state`.
    /// Only the poller uses it.
    references: AtomicU8,
    /// The poller's other changes that are not yet in `state`. The lower two bits are the tokens it
    /// has consumed. Above them are the references to the public part that it has made, less those
    /// it has dropped.
    deferred: AtomicU8,
}

/// Says in `last` that the processor may [keep](crate::queue::keep) the task.
const KEPT: u16 = 1 << 15;

/// The bits of the tokens in `deferred`, and one of the references to the public part.
const TOKENS: u8 = 0b11;
const PUBLIC: i8 = 0b100;

impl Header {
    /// Returns a number for the type of the task's future: the address of its table.
    pub(crate) fn kind(&self) -> usize {
        std::ptr::from_ref(self.vtable).addr()
    }

    pub(crate) fn new(state: State, vtable: &'static Vtable, home: *const ()) -> Self {
        Self {
            state,
            vtable,
            next: AtomicPtr::new(std::ptr::null_mut()),
            home: AtomicPtr::new(home.cast_mut()),
            slot: AtomicU32::new(UNREGISTERED),
            last: AtomicU16::new(0),
            references: AtomicU8::new(0),
            deferred: AtomicU8::new(0),
        }
    }

    #[inline(always)]
    pub(crate) fn home(&self) -> *const () {
        self.home.load(Ordering::Relaxed).cast_const()
    }

    /// Returns the number of the processor that last polled it.
    pub(crate) fn last(&self) -> usize {
        usize::from(self.last.load(Ordering::Relaxed) & !KEPT)
    }

    /// Notes that processor `me` polls it or, if it is new, will.
    #[inline(always)]
    pub(crate) fn set_last(&self, me: usize) {
        self.last.store(me as u16, Ordering::Relaxed);
    }

    /// Notes that processor `me` keeps it.
    #[inline(always)]
    pub(crate) fn set_keeper(&self, me: usize) {
        self.last.store(me as u16 | KEPT, Ordering::Relaxed);
    }

    /// Notes that it is not kept any more. The caller has its `Runnable`.
    #[inline(always)]
    pub(crate) fn forget_keeper(&self) {
        self.last.store(self.last.load(Ordering::Relaxed) & !KEPT, Ordering::Relaxed);
    }

    /// Returns the number of the processor that may keep it. A hint.
    #[inline(always)]
    pub(crate) fn keeper(&self) -> Option<usize> {
        let last = self.last.load(Ordering::Relaxed);
        (last & KEPT != 0).then_some(usize::from(last & !KEPT))
    }

    /// Takes back one of the tokens that the poller has consumed, in place of a new one. Returns
    /// false, and changes nothing, if there is none. The caller has the right to poll the task.
    #[inline(always)]
    pub(crate) fn return_token(&self) -> bool {
        let deferred = self.deferred.load(Ordering::Relaxed);
        let has_consumed = deferred & TOKENS != 0;
        if has_consumed {
            self.deferred.store(deferred - 1, Ordering::Relaxed);
        }
        has_consumed
    }

    /// Gives the task another home, before it has been registered anywhere.
    pub(crate) fn set_home(&self, home: *const ()) {
        self.home.store(home.cast_mut(), Ordering::Relaxed);
    }

    /// Defers a change of the number of wakers and `Task`s. The caller polls the task. Returns
    /// false, and changes nothing, if the count is full.
    #[inline(always)]
    pub(crate) fn defer_reference(&self, change: i8) -> bool {
        let references = self.references.load(Ordering::Relaxed) as i8;
        match references.checked_add(change) {
            Some(sum) => {
                self.references.store(sum as u8, Ordering::Relaxed);
                true
            }
            None => false,
        }
    }

    /// Does the same for a reference to the public part that was made or dropped.
    #[inline(always)]
    pub(crate) fn defer_public(&self, made: bool) -> bool {
        let deferred = self.deferred.load(Ordering::Relaxed) as i8;
        match deferred.checked_add(if made { PUBLIC } else { -PUBLIC }) {
            Some(sum) => {
                self.deferred.store(sum as u8, Ordering::Relaxed);
                true
            }
            None => false,
        }
    }

    /// Returns the references to the public part that the poller has made less those it has
    /// dropped, not yet in `state`. The caller polls the task.
    #[inline(always)]
    pub(crate) fn pending_publics(&self) -> i8 {
        self.deferred.load(Ordering::Relaxed) as i8 >> PUBLIC.trailing_zeros()
    }

    /// Takes the token, if there is one. The caller polls the task.
    #[inline(always)]
    pub(crate) fn take_token(&self) -> bool {
        let deferred = self.deferred.load(Ordering::Relaxed);
        match self.state.take_token(deferred & TOKENS) {
            Some(consumed) => {
                // A count of consumed tokens is at most two.
                self.deferred.store(deferred & !TOKENS | consumed, Ordering::Relaxed);
                true
            }
            None => false,
        }
    }

    /// Returns the changes that the poller has deferred. The caller polls the task.
    #[inline(always)]
    pub(crate) fn pending(&self) -> Pending {
        let deferred = self.deferred.load(Ordering::Relaxed);
        Pending {
            references: self.references.load(Ordering::Relaxed) as i8,
            publics: deferred as i8 >> PUBLIC.trailing_zeros(),
            tokens: deferred & TOKENS,
        }
    }

    /// Declares that the next change of `state` folds [`pending`](Self::pending) in. The caller
    /// polls the task, and calls this before that change: after it another worker may have the
    /// task.
    #[inline(always)]
    pub(crate) fn set_pending(&self, pending: Pending) {
        self.references.store(pending.references as u8, Ordering::Relaxed);
        let publics = (pending.publics << PUBLIC.trailing_zeros()) as u8;
        self.deferred.store(publics | pending.tokens, Ordering::Relaxed);
    }
}

/// The fields after the future, which a switch does not touch. Kept apart from the [`Header`], so
/// that the header and the first words of the future share a cache line.
#[derive(Debug)]
pub(crate) struct Footer {
    pub(crate) id: Id,
    pub(crate) site: &'static Location<'static>,
}

/// The footer of a task with a handle, and the slot for its joiner.
#[repr(C)]
pub(crate) struct Joined {
    footer: Footer,
    /// The joiner's waker. `state` says whether joiner or completer may access it.
    joiner: UnsafeCell<Option<Waker>>,
}

// SAFETY: `joiner` belongs to one thread at a time, as `state` says; the rest is constant.
unsafe impl Sync for Joined {}

impl From<Footer> for Joined {
    fn from(footer: Footer) -> Self {
        Self { footer, joiner: UnsafeCell::new(None) }
    }
}

impl Joined {
    /// Puts the joiner's waker into its slot.
    ///
    /// # Safety
    /// The caller may access the slot: it is the joiner and `JOINER` is not set.
    #[inline]
    pub(crate) unsafe fn put_joiner(&self, waker: Option<Waker>) {
        let before = self.joiner.with_mut(|slot| {
            // SAFETY: the caller's promise: no other thread accesses the slot.
            unsafe { mem::replace(&mut *slot, waker) }
        });
        if let Some(before) = before {
            // A foreign waker may panic.
            unwind::contain(|| drop(before));
        }
    }

    /// Takes the joiner's waker out of its slot.
    ///
    /// # Safety
    /// The caller may access the slot: it has made the task complete or given the handle up, and
    /// found `JOINER` set; or it is the joiner and `JOINER` is not set.
    pub(crate) unsafe fn take_joiner(&self) -> Option<Waker> {
        self.joiner.with_mut(|slot| {
            // SAFETY: the caller's promise: no other thread accesses the slot.
            unsafe { mem::take(&mut *slot) }
        })
    }
}

/// A task's address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TaskPtr(NonNull<Header>);

// SAFETY: any thread may have an address; only following it needs a right.
unsafe impl Send for TaskPtr {}
// SAFETY: as above.
unsafe impl Sync for TaskPtr {}

impl TaskPtr {
    pub(crate) fn new(header: NonNull<Header>) -> Self {
        Self(header)
    }

    pub(crate) fn as_ptr(self) -> *mut Header {
        self.0.as_ptr()
    }

    pub(crate) fn as_non_null(self) -> NonNull<Header> {
        self.0
    }

    /// The header behind the address.
    ///
    /// # Safety
    /// The task is not freed for as long as the result is used.
    #[inline(always)]
    pub(crate) unsafe fn header<'a>(self) -> &'a Header {
        // SAFETY: the caller's promise.
        unsafe { self.0.as_ref() }
    }

    /// Frees the task.
    ///
    /// # Safety
    /// The caller has seen [`Release::Last`](super::state::Release::Last), and the output is gone.
    #[inline]
    pub(crate) unsafe fn free(self) {
        // SAFETY: the caller's promise: the task is not freed yet.
        let header = unsafe { self.header() };
        // SAFETY: the caller's promise: no other right to the task is left.
        unsafe { (header.vtable.free)(self) }
    }
}

/// A task that is not freed for as long as the lifetime lasts. It gives the header, and an address
/// that is valid for the whole allocation, which a `&Header` would not be.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Live<'a>(TaskPtr, PhantomData<&'a Header>);

impl<'a> Live<'a> {
    /// # Safety
    /// The task is not freed within the lifetime.
    #[inline(always)]
    pub(crate) unsafe fn new(task: TaskPtr) -> Self {
        Self(task, PhantomData)
    }

    #[inline(always)]
    pub(crate) fn ptr(self) -> TaskPtr {
        self.0
    }

    pub(crate) fn footer(self) -> &'a Footer {
        // SAFETY: the offset lies within the task's allocation, for all of which the address is
        // valid.
        let footer = unsafe { self.0.0.byte_add(self.vtable.footer) };
        // SAFETY: a task has a footer from its creation on, which is not freed within the lifetime.
        unsafe { footer.cast::<Footer>().as_ref() }
    }

    /// The slot for the joiner.
    ///
    /// # Safety
    /// The task has, or has had, a handle.
    pub(crate) unsafe fn joined(self) -> &'a Joined {
        let footer: NonNull<Footer> = self.footer().into();
        // SAFETY: the footer of such a task is the first field of a `Joined`.
        unsafe { self.0.0.with_addr(footer.addr()).cast::<Joined>().as_ref() }
    }

    pub(crate) fn name(self) -> Option<&'a str> {
        (self.vtable.name)(self)
    }
}

impl Deref for Live<'_> {
    type Target = Header;

    #[inline(always)]
    fn deref(&self) -> &Header {
        // SAFETY: the task is not freed within the lifetime.
        unsafe { self.0.header() }
    }
}
