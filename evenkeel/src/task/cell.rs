//! A task's one allocation: its header, its future or output, its footer, its name.

#![allow(unsafe_code, reason = "a task's type is erased")]

use super::error::Failure;
use super::join::JoinHandle;
use super::waker;
use crate::detect;
use crate::primitives::cell::UnsafeCell;
use crate::primitives::unwind::{contain, unwinding};
use crate::processor::entered;
use crate::raw_task::berth::{After, Part, Right};
use crate::raw_task::blocks::Birth;
use crate::raw_task::blocks::{self, Room, Size, allocate};
use crate::raw_task::header::{Footer, Header, Joined, Live, TaskPtr, Vtable};
use crate::raw_task::rights::Runnable;
use crate::raw_task::state::State;
use std::alloc::Layout;
use std::any::type_name;
use std::future::Future;
use std::mem::{ManuallyDrop, offset_of};
use std::panic::{AssertUnwindSafe, Location, catch_unwind};
use std::pin::Pin;
use std::ptr::NonNull;
use std::task::{Context, Poll};

/// A task's future or its output: the task's state says which of the two is there. Both begin where
/// the union begins, so a pointer to it is cast to either.
#[repr(C)]
union Stage<F: Future> {
    future: ManuallyDrop<F>,
    output: ManuallyDrop<Result<F::Output, Failure>>,
}

/// The footer of a task, with or without a slot for a joiner.
trait Tail: From<Footer> + 'static {}

impl Tail for Footer {}
impl Tail for Joined {}

/// A task's name. Unnamed tasks pay nothing for it.
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

/// The beginning of a task: its header and, where it has one, its [public part](super::public).
#[repr(C)]
pub(crate) struct Front<S> {
    header: Header,
    pub(crate) public: S,
}

/// The allocation.
#[repr(C)]
struct Cell<S, F: Future, N, T> {
    front: Front<S>,
    stage: UnsafeCell<Stage<F>>,
    footer: T,
    name: N,
}

struct Table<S, F, N, T>(std::marker::PhantomData<(S, F, N, T)>);

impl<S, F: Future, N, T> Table<S, F, N, T> {
    const SIZE: Size = Size::of(Layout::new::<Cell<S, F, N, T>>());
}

impl<S: Part, F: Future + 'static, N: Name, T: Tail> Table<S, F, N, T> {
    const PADDED: Vtable = Vtable { free: free_padded::<S, F, N, T>, ..Self::COMPACT };

    const COMPACT: Vtable = Vtable {
        poll: poll::<S, F, N, T>,
        cancel: cancel::<S, F, N, T>,
        drop_output: drop_output::<S, F, N, T>,
        take_output: take_output::<S, F, N, T>,
        unpark: unpark::<S, F, N, T>,
        free: free_compact::<S, F, N, T>,
        name: name::<S, F, N, T>,
        footer: offset_of!(Cell<S, F, N, T>, footer),
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
    let id = birth.id;
    let task = place::<(), _, _, Joined>(State::new(), || (), |_| future, name, site, birth);
    // SAFETY: a new task has a handle by its state, and this is the only one made of it.
    let handle = unsafe { JoinHandle::new(task, id) };
    // SAFETY: the task is new and queued, and this is its only `Runnable`.
    (unsafe { Runnable::new(task) }, handle)
}

/// The references to the public part of a new task: the future's and the caller's.
pub(super) const FIRST: u64 = 2;

/// Makes a task with a public part, which is queued and has no handle; [`FIRST`] references to the
/// part are counted. The future is made when the task's address is known, and must not follow the
/// address before it is polled.
#[inline]
pub(crate) fn make_public<S, F, N>(
    public: impl FnOnce() -> S,
    future: impl FnOnce(TaskPtr) -> F,
    name: N,
    site: &'static Location<'static>,
    birth: Birth,
) -> (Runnable, TaskPtr)
where
    S: Part,
    F: Future + Send + 'static,
    F::Output: Send + 'static,
    N: Name,
{
    let task =
        place::<S, _, _, Footer>(State::with_public(FIRST), public, future, name, site, birth);
    // SAFETY: the task is new and queued, and this is its only `Runnable`.
    (unsafe { Runnable::new(task) }, task)
}

/// Puts a new task into a block, field by field, each made where it lies. A cell that is made as a
/// whole is made on the stack and copied, and loads that do not match the pieces in which it was
/// stored have to wait: 10 of 106 ns per actor of `evenkeel-bench run --bench actor_spawn`. If
/// making one of the fields panics, the block is leaked.
#[inline(always)]
fn place<S: Part, F: Future + 'static, N: Name, T: Tail>(
    state: State,
    public: impl FnOnce() -> S,
    future: impl FnOnce(TaskPtr) -> F,
    name: N,
    site: &'static Location<'static>,
    birth: Birth,
) -> TaskPtr {
    detect::spawned(birth.id);
    let layout = Layout::new::<Cell<S, F, N, T>>();
    let (block, vtable) = match birth.room {
        Room::Padded => {
            let size = Table::<S, F, N, T>::SIZE;
            let block = entered::with(|context| match context {
                Some(context) => context.take_block(size),
                None => blocks::take_outside(size),
            });
            (block.unwrap_or_else(|| allocate(layout, Room::Padded)), &Table::<S, F, N, T>::PADDED)
        }
        Room::Compact => (allocate(layout, Room::Compact), &Table::<S, F, N, T>::COMPACT),
    };
    let task = TaskPtr::new(block.cast::<Header>());
    // SAFETY: the block has been allocated for this type, and no other thread has its address.
    unsafe {
        put(
            block,
            offset_of!(Cell<S, F, N, T>, front.header),
            Header::new(state, vtable, birth.home),
        )
    };
    // SAFETY: as above.
    unsafe { put(block, offset_of!(Cell<S, F, N, T>, front.public), public()) };
    let stage = Stage { future: ManuallyDrop::new(future(task)) };
    // SAFETY: as above.
    unsafe { put(block, offset_of!(Cell<S, F, N, T>, stage), UnsafeCell::new(stage)) };
    // SAFETY: as above.
    unsafe {
        put(block, offset_of!(Cell<S, F, N, T>, footer), T::from(Footer { id: birth.id, site }))
    };
    // SAFETY: as above.
    unsafe { put(block, offset_of!(Cell<S, F, N, T>, name), name) };
    task
}

/// Puts a field of a new cell into its place.
///
/// # Safety
/// The block is that of a cell which has such a field there, and only the caller uses it.
#[inline(always)]
unsafe fn put<V>(block: NonNull<u8>, offset: usize, value: V) {
    // SAFETY: the field lies in the block.
    let place = unsafe { block.byte_add(offset) };
    // SAFETY: it is a field of this type, and only the caller uses it.
    unsafe { place.cast::<V>().write(value) };
}

/// The allocation that a task's address is the beginning of.
///
/// # Safety
/// The task has been made by `make::<S, F, N, T>`, and is not freed while the result is used.
unsafe fn cell<'a, S, F: Future, N, T>(task: TaskPtr) -> &'a Cell<S, F, N, T> {
    let cell: NonNull<Cell<S, F, N, T>> = task.as_non_null().cast();
    // SAFETY: the header is the first field of a `repr(C)` struct, and the caller promises the
    // rest.
    unsafe { cell.as_ref() }
}

/// # Safety
/// As [`Vtable::poll`].
unsafe fn poll<S: Part, F: Future + 'static, N: Name, T: Tail>(task: TaskPtr) -> Poll<()> {
    // SAFETY: the caller has the task's `Runnable`.
    let cell = unsafe { cell::<S, F, N, T>(task) };
    // SAFETY: the waker is borrowed for the poll, while the task is registered.
    let waker = unsafe { waker::borrowed(task) };
    let mut context = Context::from_waker(&waker);
    let outcome = catch_unwind(AssertUnwindSafe(|| {
        cell.stage.with_mut(|stage| {
            let poll = |future: &mut *mut F| {
                // SAFETY: a task with a `Runnable` has its future, and the `Runnable` is the right
                // to it.
                let future = unsafe { &mut **future };
                // SAFETY: the future lies in the allocation until it is dropped there.
                let future = unsafe { Pin::new_unchecked(future) };
                future.poll(&mut context)
            };
            // SAFETY: as above; the poll is over, and the future is dropped once: the panic takes
            // its place.
            unwinding(stage.cast::<F>(), poll, |future| unsafe { future.drop_in_place() })
        })
    }));
    match outcome {
        Ok(Poll::Pending) => {
            // SAFETY: the caller still has the task's `Runnable`.
            let right = Right::new(unsafe { Live::new(task) });
            match cell.front.public.after_poll(right) {
                After::Wait => {}
                // From here on another thread may poll or free the task.
                after => entered::with(|context| {
                    let context = context.expect("a task with a public part is polled by a worker");
                    context.set_after(after);
                }),
            }
            Poll::Pending
        }
        Ok(Poll::Ready(output)) => {
            // SAFETY: as for `cell`; the future is there and will not be polled again.
            unsafe { replace::<S, F, N, T>(task, Ok(output)) };
            Poll::Ready(())
        }
        Err(payload) => {
            let output = ManuallyDrop::new(Err(panicked(task, payload)));
            // SAFETY: the place is this thread's, and the unwinding has dropped what was there.
            cell.stage.with_mut(|stage| unsafe { stage.write(Stage { output }) });
            Poll::Ready(())
        }
    }
}

/// # Safety
/// As [`Vtable::unpark`].
unsafe fn unpark<S: Part, F: Future + 'static, N: Name, T: Tail>(task: TaskPtr) -> bool {
    // SAFETY: the caller's promise.
    let cell = unsafe { cell::<S, F, N, T>(task) };
    cell.front.public.with_berth(|berth| berth.take().is_some())
}

/// # Safety
/// As [`Vtable::cancel`].
unsafe fn cancel<S: Part, F: Future + 'static, N: Name, T: Tail>(task: TaskPtr) {
    // SAFETY: the caller has the task's `Runnable`; the future is there and will not be polled
    // again.
    unsafe { replace::<S, F, N, T>(task, Err(Failure::Cancelled)) };
}

/// Makes the failure of a task that has panicked while it was polled or cancelled; it takes the
/// place of the output.
fn panicked(task: TaskPtr, payload: Box<dyn std::any::Any + Send>) -> Failure {
    // SAFETY: the caller has the task's `Runnable`.
    Failure::panic(unsafe { Live::new(task) }, payload)
}

/// Drops the future and puts the output in its place, or, if the drop panics, the panic.
///
/// # Safety
/// The caller has the task's `Runnable`, and the future is there.
#[inline]
unsafe fn replace<S: Part, F: Future + 'static, N: Name, T: Tail>(
    task: TaskPtr,
    output: Result<F::Output, Failure>,
) {
    // SAFETY: the caller has the task's `Runnable`.
    let cell = unsafe { cell::<S, F, N, T>(task) };
    cell.stage.with_mut(|stage| {
        let dropped = catch_unwind(AssertUnwindSafe(|| {
            // SAFETY: the `Runnable` is the right to the future, which is there and is dropped
            // once: whether or not the drop panics, the output takes its place.
            unsafe { stage.cast::<F>().drop_in_place() };
        }));
        let output = match (dropped, output) {
            (Ok(()), output) => output,
            (Err(payload), lost) => output_of_panic(task, lost, payload),
        };
        // SAFETY: the place is this thread's, and what was there has been dropped.
        unsafe { stage.write(Stage { output: ManuallyDrop::new(output) }) };
    });
}

/// The output of a task after its future, complete or cancelled, has panicked as it was dropped:
/// the panic. The original output is lost.
#[cold]
#[inline(never)]
fn output_of_panic<R>(
    task: TaskPtr,
    lost: Result<R, Failure>,
    payload: Box<dyn std::any::Any + Send>,
) -> Result<R, Failure> {
    let output = Err(panicked(task, payload));
    // The lost output may panic in its destructor too: that panic stays here.
    contain(|| drop(lost));
    output
}

/// # Safety
/// As [`Vtable::drop_output`].
unsafe fn drop_output<S: Part, F: Future + 'static, N: Name, T: Tail>(task: TaskPtr) {
    // SAFETY: the caller's promise.
    let cell = unsafe { cell::<S, F, N, T>(task) };
    cell.stage.with_mut(|stage| {
        // A panic in the output's destructor has no joiner left to go to; the process's panic hook
        // has reported it.
        contain(|| {
            // SAFETY: the output is there and the caller's alone, and it is dropped once.
            unsafe { stage.cast::<Result<F::Output, Failure>>().drop_in_place() };
        });
    });
}

/// # Safety
/// As [`Vtable::take_output`].
unsafe fn take_output<S: Part, F: Future + 'static, N: Name, T: Tail>(
    task: TaskPtr,
    to: NonNull<()>,
) {
    // SAFETY: the caller's promise.
    let cell = unsafe { cell::<S, F, N, T>(task) };
    let output = cell.stage.with_mut(|stage| {
        // SAFETY: the output is there and the caller's alone, and it is taken once.
        unsafe { stage.cast::<Result<F::Output, Failure>>().read() }
    });
    let to: NonNull<Result<F::Output, Failure>> = to.cast();
    // SAFETY: the caller provides room for this type.
    unsafe { to.write(output) };
}

/// # Safety
/// As [`Vtable::free`], of a padded task.
unsafe fn free_padded<S: Part, F: Future + 'static, N: Name, T: Tail>(task: TaskPtr) {
    // SAFETY: the caller's promise.
    let block = unsafe { empty::<S, F, N, T>(task) };
    let kept = entered::with(|context| {
        // SAFETY: `make` has allocated the block, padded and of this size, and it is empty.
        context
            .is_some_and(|context| unsafe { context.keep_block(block, Table::<S, F, N, T>::SIZE) })
    });
    if !kept {
        // SAFETY: as above.
        unsafe { blocks::free(block, Layout::new::<Cell<S, F, N, T>>(), Room::Padded) }
    }
}

/// # Safety
/// As [`Vtable::free`], of a compact task.
unsafe fn free_compact<S: Part, F: Future + 'static, N: Name, T: Tail>(task: TaskPtr) {
    // SAFETY: the caller's promise.
    let block = unsafe { empty::<S, F, N, T>(task) };
    // SAFETY: `make` has allocated the block for this layout, and it is empty.
    unsafe { blocks::free(block, Layout::new::<Cell<S, F, N, T>>(), Room::Compact) }
}

/// Drops what is left in a task, and returns its block.
///
/// # Safety
/// As [`Vtable::free`].
unsafe fn empty<S: Part, F: Future + 'static, N: Name, T: Tail>(task: TaskPtr) -> NonNull<u8> {
    let cell: NonNull<Cell<S, F, N, T>> = task.as_non_null().cast();
    // SAFETY: the task has been made by `make::<S, F, N, T>`, and no other thread can reach it. Of
    // the stage, a union, nothing is dropped.
    unsafe { cell.drop_in_place() };
    cell.cast()
}

fn name<S: Part, F: Future + 'static, N: Name, T: Tail>(task: Live<'_>) -> Option<&str> {
    // SAFETY: the task has this vtable, so it was made by `make::<S, F, N, T>`; it is not freed
    // meanwhile.
    let cell = unsafe { cell::<S, F, N, T>(task.ptr()) };
    cell.name.get()
}
