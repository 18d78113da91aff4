//! A task's one allocation: its header, its future or output, its footer, its name.

#![allow(unsafe_code, reason = "a task's type is erased")]

use super::birth::Birth;
use super::blocks::{self, Room, Size, allocate};
use super::error::Failure;
use super::header::{Footer, Header, Live, TaskPtr, Vtable};
use super::join::JoinHandle;
use super::rights::Runnable;
use super::waker;
use crate::detect;
use crate::primitives::cell::UnsafeCell;
use crate::primitives::unwind::contain;
use crate::scheduler::context;
use std::alloc::Layout;
use std::any::type_name;
use std::future::Future;
use std::mem::{self, ManuallyDrop, offset_of};
use std::panic::{AssertUnwindSafe, Location, catch_unwind};
use std::pin::Pin;
use std::ptr::NonNull;
use std::task::{Context, Poll};

/// What the task is doing: which of the two is there, its state says. Both begin where the union begins, so a
/// pointer to it is cast to either.
#[repr(C)]
union Stage<F: Future> {
    future: ManuallyDrop<F>,
    output: ManuallyDrop<Result<F::Output, Failure>>,
}

/// What a task may be called. Unnamed tasks pay nothing for it.
pub(crate) trait Name: Send + 'static {
    fn get(&self) -> Option<&str>;
}

impl Name for () {
    fn get(&self) -> Option<&str> {
        None
    }
}

impl Name for Box<str> {
    fn get(&self) -> Option<&str> {
        Some(self)
    }
}

/// The allocation.
#[repr(C)]
struct Cell<F: Future, N> {
    header: Header,
    stage: UnsafeCell<Stage<F>>,
    footer: Footer,
    name: N,
}

struct Table<F, N>(std::marker::PhantomData<(F, N)>);

impl<F: Future, N> Table<F, N> {
    const SIZE: Size = Size::of(Layout::new::<Cell<F, N>>());
}

impl<F: Future + 'static, N: Name> Table<F, N> {
    const PADDED: Vtable = Vtable { free: free_padded::<F, N>, ..Self::COMPACT };

    const COMPACT: Vtable = Vtable {
        poll: poll::<F, N>,
        cancel: cancel::<F, N>,
        drop_output: drop_output::<F, N>,
        take_output: take_output::<F, N>,
        free: free_compact::<F, N>,
        name: name::<F, N>,
        footer: offset_of!(Cell<F, N>, footer),
        type_name: type_name::<F>,
    };
}

/// Makes a task, which is queued, and its handle.
#[inline]
pub(crate) fn make<F, N>(
    future: F,
    name: N,
    site: &'static Location<'static>,
    birth: Birth,
) -> (Runnable, JoinHandle<F::Output>)
where
    F: Future + Send + 'static,
    F::Output: Send + 'static,
    N: Name,
{
    detect::spawned(birth.id);
    let layout = Layout::new::<Cell<F, N>>();
    let (block, vtable) = match birth.room {
        Room::Padded => {
            let block = context::with(|context| context?.take_block(Table::<F, N>::SIZE));
            (block.unwrap_or_else(|| allocate(layout, Room::Padded)), &Table::<F, N>::PADDED)
        }
        Room::Compact => (allocate(layout, Room::Compact), &Table::<F, N>::COMPACT),
    };
    let place: NonNull<Cell<F, N>> = block.cast();
    let cell = Cell {
        header: Header::new(vtable, birth.home),
        stage: UnsafeCell::new(Stage { future: ManuallyDrop::new(future) }),
        footer: Footer::new(birth.id, site),
        name,
    };
    // SAFETY: the block has been allocated for this type, and nobody else uses it.
    unsafe { place.write(cell) };
    let task = TaskPtr::new(place.cast::<Header>());
    // SAFETY: a new task has a handle by its state, and this is the only one made of it.
    let handle = unsafe { JoinHandle::new(task, birth.id) };
    // SAFETY: the task is new and queued, and this is its only `Runnable`.
    (unsafe { Runnable::new(task) }, handle)
}

/// The allocation that a task's address is the beginning of.
///
/// # Safety
/// The task has been made by `make::<F, N>`, and is not freed while the result is used.
unsafe fn cell<'a, F: Future, N>(task: TaskPtr) -> &'a Cell<F, N> {
    let cell: NonNull<Cell<F, N>> = task.as_non_null().cast();
    // SAFETY: the header is the first field of a `repr(C)` struct, and the caller promises the rest.
    unsafe { cell.as_ref() }
}

/// # Safety
/// As [`Vtable::poll`].
unsafe fn poll<F: Future, N: Name>(task: TaskPtr) -> Poll<()> {
    // SAFETY: the caller has the task's `Runnable`.
    let cell = unsafe { cell::<F, N>(task) };
    // SAFETY: the waker is borrowed for the poll, while the task is registered.
    let waker = unsafe { waker::borrowed(task) };
    let mut context = Context::from_waker(&waker);
    let outcome = catch_unwind(AssertUnwindSafe(|| {
        cell.stage.with_mut(|stage| {
            // SAFETY: a task with a `Runnable` has its future, and the `Runnable` is the right to it.
            let future = unsafe { &mut *stage.cast::<F>() };
            // SAFETY: the future lies in the allocation until it is dropped there.
            let future = unsafe { Pin::new_unchecked(future) };
            future.poll(&mut context)
        })
    }));
    let output = match outcome {
        Ok(Poll::Pending) => return Poll::Pending,
        Ok(Poll::Ready(output)) => Ok(output),
        Err(payload) => Err(panicked(task, payload)),
    };
    // SAFETY: as for `cell`; the future is there and will not be polled again.
    unsafe { replace::<F, N>(task, output) };
    Poll::Ready(())
}

/// # Safety
/// As [`Vtable::cancel`].
unsafe fn cancel<F: Future, N: Name>(task: TaskPtr) {
    // SAFETY: the caller has the task's `Runnable`; the future is there and will not be polled again.
    unsafe { replace::<F, N>(task, Err(Failure::Cancelled)) };
}

/// What is in place of the output of a task that is being polled or cancelled and has panicked.
fn panicked(task: TaskPtr, payload: Box<dyn std::any::Any + Send>) -> Failure {
    // SAFETY: the caller has the task's `Runnable`.
    Failure::panic(unsafe { Live::new(task) }, payload)
}

/// Drops the future and puts the output in its place; if the drop panics, the panic.
///
/// # Safety
/// The caller has the task's `Runnable`, and the future is there.
unsafe fn replace<F: Future, N: Name>(task: TaskPtr, mut output: Result<F::Output, Failure>) {
    // SAFETY: the caller has the task's `Runnable`.
    let cell = unsafe { cell::<F, N>(task) };
    cell.stage.with_mut(|stage| {
        let dropped = catch_unwind(AssertUnwindSafe(|| {
            // SAFETY: the `Runnable` is the right to the future, which is there and is dropped once:
            // whatever comes of it, the output takes its place.
            unsafe { stage.cast::<F>().drop_in_place() };
        }));
        if let Err(payload) = dropped {
            let lost = match &output {
                Err(Failure::Panicked(_)) => Err(payload),
                _ => Ok(mem::replace(&mut output, Err(panicked(task, payload)))),
            };
            // What the joiner does not get may panic in its destructor too: that stays here.
            contain(|| drop(lost));
        }
        // SAFETY: the place is this thread's, and what was there has been dropped.
        unsafe { stage.write(Stage { output: ManuallyDrop::new(output) }) };
    });
}

/// # Safety
/// As [`Vtable::drop_output`].
unsafe fn drop_output<F: Future, N: Name>(task: TaskPtr) {
    // SAFETY: the caller's promise.
    let cell = unsafe { cell::<F, N>(task) };
    cell.stage.with_mut(|stage| {
        // A panic in the output's destructor has nobody left to go to; the process's panic hook has
        // told of it.
        contain(|| {
            // SAFETY: the output is there and the caller's alone, and it is dropped once.
            unsafe { stage.cast::<Result<F::Output, Failure>>().drop_in_place() };
        });
    });
}

/// # Safety
/// As [`Vtable::take_output`].
unsafe fn take_output<F: Future, N: Name>(task: TaskPtr, to: NonNull<()>) {
    // SAFETY: the caller's promise.
    let cell = unsafe { cell::<F, N>(task) };
    let output = cell.stage.with_mut(|stage| {
        // SAFETY: the output is there and the caller's alone, and it is taken once.
        unsafe { stage.cast::<Result<F::Output, Failure>>().read() }
    });
    let to: NonNull<Result<F::Output, Failure>> = to.cast();
    // SAFETY: the caller gives room for this type.
    unsafe { to.write(output) };
}

/// # Safety
/// As [`Vtable::free`], of a padded task.
unsafe fn free_padded<F: Future, N: Name>(task: TaskPtr) {
    // SAFETY: the caller's promise.
    let block = unsafe { empty::<F, N>(task) };
    let kept = context::with(|context| {
        // SAFETY: `make` has allocated the block, padded and of this size, and it is empty.
        context.is_some_and(|context| unsafe { context.keep_block(block, Table::<F, N>::SIZE) })
    });
    if !kept {
        // SAFETY: as above.
        unsafe { blocks::free(block, Layout::new::<Cell<F, N>>(), Room::Padded) }
    }
}

/// # Safety
/// As [`Vtable::free`], of a compact task.
unsafe fn free_compact<F: Future, N: Name>(task: TaskPtr) {
    // SAFETY: the caller's promise.
    let block = unsafe { empty::<F, N>(task) };
    // SAFETY: `make` has allocated the block for this layout, and it is empty.
    unsafe { blocks::free(block, Layout::new::<Cell<F, N>>(), Room::Compact) }
}

/// Drops what is left in a task, and gives its block.
///
/// # Safety
/// As [`Vtable::free`].
unsafe fn empty<F: Future, N: Name>(task: TaskPtr) -> NonNull<u8> {
    let cell: NonNull<Cell<F, N>> = task.as_non_null().cast();
    // SAFETY: the task has been made by `make::<F, N>`, and nobody else can reach it. Of the stage, a
    // union, nothing is dropped.
    unsafe { cell.drop_in_place() };
    cell.cast()
}

fn name<F: Future + 'static, N: Name>(task: Live<'_>) -> Option<&str> {
    // SAFETY: the task has this vtable, so it was made by `make::<F, N>`; it is not freed meanwhile.
    let cell = unsafe { cell::<F, N>(task.ptr()) };
    cell.name.get()
}
