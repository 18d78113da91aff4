//! FIFO counting semaphores with hand-over, at one locked instruction per V or P.
//!
//! **Roles.** Each task has one *seat* for a whole row of semaphores, since it waits at one of them
//! at a time. The seat keeps the task's waker, the link of the waiting queue and the place for the
//! datum, so that waiting allocates nothing and clones nothing. A semaphore is a spin lock around
//! its free permits and the ends of its queue; the queue runs through the seats by number.
//!
//! **Protocol.** P takes a free permit under the lock; without one it queues its seat. V takes the
//! first seat out of the queue under the lock. Then, outside the lock, it puts the datum into the
//! seat, marks the seat `GRANTED` and wakes its owner. Only one V takes a given seat out of a
//! queue, and the owner does not touch the seat until it is marked.
//!
//! **Cancellation.** A wait that is dropped leaves its seat in the queue for good. The experiments
//! cancel no wait; a seat used again after that panics.

#![expect(unsafe_code, reason = "the datum's place in the seat is written by another task")]

use std::cell::UnsafeCell;
use std::collections::VecDeque;
use std::future::Future;
use std::pin::Pin;
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, OnceLock, Weak};
use std::task::{Context, Poll, Waker};

use crossbeam_utils::CachePadded;
use spin::mutex::SpinMutex;

use crate::kit::runtime::Semaphores;

/// No seat.
const NOBODY: u32 = u32::MAX;

const IDLE: u32 = 0;
const WAITING: u32 = 1;
const GRANTED: u32 = 2;

/// A row of semaphores.
pub struct Row<D> {
    spots: Box<[CachePadded<SpinMutex<Spot<D>>>]>,
    places: Box<[Place<D>]>,
}

/// One semaphore. `first` and `last` are `NOBODY` when no seat waits.
struct Spot<D> {
    free: VecDeque<D>,
    first: u32,
    last: u32,
}

/// One task's waiting place. Aligned to a cache line, so that waiting tasks do not share one.
#[repr(align(64))]
struct Place<D> {
    state: AtomicU32,
    /// The seat behind this one; guarded by the lock of the spot with the queue that holds the
    /// seat.
    next: AtomicU32,
    taken: AtomicBool,
    waker: OnceLock<Waker>,
    datum: UnsafeCell<Option<D>>,
}

// SAFETY: all fields but `datum` are `Sync`. The one task that took the place out of a queue writes
// `datum`, and then stores `GRANTED` with release order. The owner of the only `Seat` reads `datum`
// after it has seen `GRANTED` with acquire order. So accesses never overlap, and each datum moves
// from one thread to another once, for which `D: Send` is enough.
unsafe impl<D: Send> Sync for Place<D> {}

/// The only handle of a waiting place.
pub struct Seat<D> {
    number: u32,
    /// The row to which the number belongs. It keeps the row's address, not its permits.
    row: Weak<Row<D>>,
}

impl<D: Send + 'static> Semaphores<D> for Row<D> {
    type Seat = Seat<D>;

    fn new(spots: usize, tasks: usize) -> Self {
        let spot = || Spot { free: VecDeque::new(), first: NOBODY, last: NOBODY };
        let place = || Place {
            state: AtomicU32::new(IDLE),
            next: AtomicU32::new(NOBODY),
            taken: AtomicBool::new(false),
            waker: OnceLock::new(),
            datum: UnsafeCell::new(None),
        };
        Row {
            spots: (0..spots).map(|_| CachePadded::new(SpinMutex::new(spot()))).collect(),
            places: (0..tasks).map(|_| place()).collect(),
        }
    }

    fn seat(self: &Arc<Self>, task: usize) -> Seat<D> {
        let taken = self.places[task].taken.swap(true, Ordering::Relaxed);
        assert!(!taken, "the seat of task {task} is given out once");
        let number = u32::try_from(task).expect("task numbers fit 32 bits");
        Seat { number, row: Arc::downgrade(self) }
    }

    #[inline]
    fn release(&self, spot: usize, datum: D) {
        let mut spot = self.spots[spot].lock();
        if spot.first == NOBODY {
            spot.free.push_back(datum);
            return;
        }
        let place = &self.places[spot.first as usize];
        spot.first = place.next.load(Ordering::Relaxed);
        drop(spot);
        let slot = place.datum.get();
        // SAFETY: this call took the place out of the queue, so it alone may write until it stores
        // `GRANTED`; the owner reads only after that.
        unsafe { *slot = Some(datum) };
        place.state.store(GRANTED, Ordering::Release);
        if let Some(waker) = place.waker.get() {
            waker.wake_by_ref();
        }
    }

    fn acquire(&self, spot: usize, seat: &mut Seat<D>) -> impl Future<Output = D> + Send {
        assert!(ptr::eq(seat.row.as_ptr(), self), "a seat belongs to one row");
        Acquire { row: self, spot, seat, queued: false }
    }

    fn available(&self, spot: usize) -> usize {
        self.spots[spot].lock().free.len()
    }
}

struct Acquire<'row, 'seat, D> {
    row: &'row Row<D>,
    spot: usize,
    seat: &'seat mut Seat<D>,
    queued: bool,
}

impl<D: Send> Future for Acquire<'_, '_, D> {
    type Output = D;

    #[inline]
    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<D> {
        let row = self.row;
        let number = self.seat.number;
        let place = &row.places[number as usize];
        if self.queued {
            if place.state.load(Ordering::Acquire) != GRANTED {
                return Poll::Pending;
            }
            place.state.store(IDLE, Ordering::Relaxed);
            let slot = place.datum.get();
            // SAFETY: `GRANTED` was seen with acquire order, so the writer is done. The place is in
            // no queue, so no other writer can come; the seat's owner is the only reader.
            let datum = unsafe { (*slot).take() };
            return Poll::Ready(datum.expect("a granted place holds its datum"));
        }
        let mut spot = row.spots[self.spot].lock();
        if let Some(datum) = spot.free.pop_front() {
            return Poll::Ready(datum);
        }
        assert!(
            place.state.load(Ordering::Relaxed) == IDLE,
            "a seat waits at one semaphore at a time"
        );
        let waker = place.waker.get_or_init(|| cx.waker().clone());
        // Beside the others no unsafe code rests on this: a wrong waker loses a wake, which each
        // run's check finds.
        debug_assert!(waker.will_wake(cx.waker()), "a seat belongs to one task");
        place.state.store(WAITING, Ordering::Relaxed);
        place.next.store(NOBODY, Ordering::Relaxed);
        if spot.first == NOBODY {
            spot.first = number;
        } else {
            row.places[spot.last as usize].next.store(number, Ordering::Relaxed);
        }
        spot.last = number;
        drop(spot);
        self.queued = true;
        Poll::Pending
    }
}
