//! Models of tasks that park in their public part: which thread polls them next, and which frees
//! them.

#![allow(unsafe_code, reason = "a right is given to its task")]

use super::cell::{Name, make_public};
use super::public::{Own, Public};
use crate::policy::Locality;
use crate::policy::timing::RESOLUTION;
use crate::primitives::atomic::Edge;
use crate::primitives::mutation::{check, explore};
use crate::primitives::spin_lock::SpinLock;
use crate::primitives::{self, Mutex};
use crate::processor::context::Context;
use crate::processor::neighbours::Neighbours;
use crate::processor::seat::Seat;
use crate::processor::shared::Hooks;
use crate::raw_task::berth::{After, Berth, Part, Right};
use crate::raw_task::blocks::Birth;
use crate::raw_task::blocks::Room;
use crate::raw_task::id;
use crate::raw_task::rights::Runnable;
use crate::scheduler::run::run;
use crate::task::word_waker::WordWaker;
use crate::timers::Rules;
use loom::cell::UnsafeCell;
use std::future::poll_fn;
use std::mem::ManuallyDrop;
use std::panic::Location;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::task::{Poll, Waker};

/// A mailbox that counts its messages.
struct Counter(SpinLock<(Berth, usize)>);

impl Part for Counter {
    fn after_poll(&self, right: Right<'_>) -> After {
        let mut shared = self.0.lock();
        if shared.1 > 0 { After::Again } else { shared.0.park(right) }
    }

    fn with_berth<R>(&self, f: impl FnOnce(&mut Berth) -> R) -> R {
        f(&mut self.0.lock().0)
    }
}

fn put(to: &Public<Counter>) {
    let mut shared = to.0.lock();
    shared.1 += 1;
    let parked = shared.0.take();
    drop(shared);
    if let Some(parked) = parked {
        // SAFETY: it has lain in this task's berth.
        unsafe { to.resume(parked) };
    }
}

/// The future's reference: the berth is closed before it goes. It counts its end, and the messages
/// that it has left behind.
struct Kept {
    own: Public<Counter>,
    ended: Arc<AtomicUsize>,
    lost: Arc<AtomicUsize>,
}

impl Drop for Kept {
    fn drop(&mut self) {
        // A weakened run that has failed leaves everything in disorder.
        if !std::thread::panicking() {
            let mut shared = self.own.0.lock();
            shared.0.close();
            self.lost.fetch_add(shared.1, Ordering::Relaxed);
        }
        self.ended.fetch_add(1, Ordering::Relaxed);
    }
}

/// A place for what the first poll makes: it is counted only in that poll's closing exchange.
#[derive(Default)]
struct Slot {
    waker: Mutex<Option<Waker>>,
    public: Mutex<Option<Public<Counter>>>,
}

impl Slot {
    fn take_waker(&self) -> Option<Waker> {
        primitives::lock(&self.waker).take()
    }

    fn take_public(&self) -> Option<Public<Counter>> {
        primitives::lock(&self.public).take()
    }
}

/// What the first poll makes, and where it leaves it.
#[derive(Clone, Copy, PartialEq)]
enum Leaves {
    Nothing,
    /// A waker in its own future.
    Inside,
    /// A waker where other threads can take it.
    Waker,
    /// A reference where other threads can take it.
    Public,
    /// Nothing, but it gives way between its two looks: loom remembers one access to an atomic, and
    /// misses a look that the same thread's change follows.
    Way,
    /// Nothing, but it gives way after its looks, for the same reason.
    WayOut,
}

/// What loom watches of a task: which thread polls it, and its end.
struct Watched(UnsafeCell<()>, Arc<AtomicUsize>);

// SAFETY: loom fails a model in which two threads are there at once.
unsafe impl Send for Watched {}

impl Name for Watched {
    fn get(&self) -> Option<&str> {
        self.0.with(|_| ());
        None
    }
}

impl Drop for Watched {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            self.0.with_mut(|_| ());
        }
        self.1.fetch_add(1, Ordering::Relaxed);
    }
}

/// A task that ends with its `ends`th message, or when it is alone; `others` does something with
/// the reference to it meanwhile.
fn meanwhile(ends: usize, others: fn(Public<Counter>) -> Option<Public<Counter>>) {
    leaving(Leaves::Nothing, ends, move |task, _| others(task));
}

/// As [`meanwhile`], with a task that leaves something somewhere. A waker that `others` does not
/// take is dropped when the task has ended.
fn leaving(
    leaves: Leaves,
    ends: usize,
    others: impl FnOnce(Public<Counter>, &Slot) -> Option<Public<Counter>> + 'static,
) {
    let alone = Neighbours::flat(0, 1);
    let (_, mut seats) = Seat::all(
        Box::new([alone]),
        Locality::default(),
        Hooks::default(),
        0,
        Rules::new::<WordWaker>(RESOLUTION),
    );
    let seat = seats.next().expect("there is a processor");
    let (freed, ended) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let (lost, found) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicBool::new(false)));
    let slot = Arc::new(Slot::default());
    let polled = Watched(UnsafeCell::new(()), Arc::default());
    let birth = Birth { home: seat.shared().home(0), id: id::take_one(), room: Room::Compact };
    let part = Counter(SpinLock::new((Berth::new(), 0)));
    let (task, address) = make_public(
        || part,
        |task| {
            let kept = Kept { own: Public::of_new(task), ended: ended.clone(), lost: lost.clone() };
            let (outside, found) = (slot.clone(), found.clone());
            let (mut first, mut inside) = (true, None);
            let mut seen = 0;
            poll_fn(move |context| {
                polled.0.with_mut(|_| ());
                match leaves {
                    Leaves::Inside if first => {
                        drop(inside.replace(context.waker().clone()));
                    }
                    Leaves::Waker if first => {
                        *primitives::lock(&outside.waker) = Some(context.waker().clone());
                    }
                    _ => {}
                }
                // SAFETY: the future has the reference.
                let own = unsafe { Own::of(&kept.own) };
                if std::mem::take(&mut first) && leaves == Leaves::Public {
                    *primitives::lock(&outside.public) = Some(own.public());
                }
                // Asked before the future looks for messages: by then the thread that had the last
                // reference has put its own message in.
                let alone = own.is_alone();
                if leaves == Leaves::Way {
                    loom::thread::yield_now();
                }
                let mut shared = own.0.lock();
                seen += std::mem::take(&mut shared.1);
                let alone = alone && own.desert(&mut shared.0);
                drop(shared);
                if leaves == Leaves::WayOut {
                    loom::thread::yield_now();
                }
                if seen >= ends {
                    return Poll::Ready(());
                }
                found.store(alone, Ordering::Relaxed);
                if alone { Poll::Ready(()) } else { Poll::Pending }
            })
        },
        Watched(UnsafeCell::new(()), freed.clone()),
        Location::caller(),
        birth,
    );
    seat.push_new(task, 0);
    let task = seat.pop(true).expect("it has been pushed").task;
    let reference = Public::of_new(address);
    let other = {
        let slot = slot.clone();
        loom::thread::spawn(move || others(reference, &slot))
    };
    let context = Context::new(seat, 0);
    context.enter(|| {
        run(&context, task);
        let ready = |context: &Context| -> Vec<Runnable> {
            let inbox = context.seat.processor().inbox.take();
            let local = std::iter::from_fn(|| context.seat.pop(true)).map(|entry| entry.task);
            inbox.chain(local).collect()
        };
        ready(&context).into_iter().for_each(|task| run(&context, task));
        let kept = other.join().unwrap();
        drop(slot.take_public());
        loop {
            let tasks = ready(&context);
            if tasks.is_empty() {
                break;
            }
            tasks.into_iter().for_each(|task| run(&context, task));
        }
        let deserted = kept.is_none();
        assert!(deserted || !found.load(Ordering::Relaxed), "there is a reference");
        drop(kept);
    });
    assert_eq!(ended.load(Ordering::Relaxed), 1, "the task ends, whichever thread has a waker");
    assert_eq!(lost.load(Ordering::Relaxed), 0, "a message is left behind");
    drop(slot.take_waker());
    assert_eq!(freed.load(Ordering::Relaxed), 1, "the task ends, and is freed once");
}

#[test]
fn a_message_is_found_by_the_poll_or_finds_the_task_parked() {
    check(&[Edge::SpinLock, Edge::SpinUnlock], || {
        meanwhile(1, |task| {
            // In a weakened run that has failed it is not dropped.
            let task = ManuallyDrop::new(task);
            put(&task);
            Some(ManuallyDrop::into_inner(task))
        });
    });
}

#[test]
fn a_message_with_the_last_reference_is_found() {
    explore(|| {
        leaving(Leaves::Way, 2, |task, _| {
            put(&task);
            drop(task);
            None
        });
    });
}

#[test]
fn each_of_two_messages_is_found() {
    explore(|| {
        meanwhile(2, |task| {
            put(&task);
            put(&task);
            Some(task)
        });
    });
}

#[test]
fn a_task_that_is_aborted_while_it_parks_ends() {
    explore(|| {
        meanwhile(1, |task| {
            task.abort();
            Some(task)
        })
    });
}

#[test]
fn the_last_reference_is_missed_by_the_poll_or_finds_the_task_parked() {
    explore(|| {
        meanwhile(1, |task| {
            drop(task);
            None
        });
    });
}

#[test]
fn references_that_are_made_and_dropped_meanwhile_free_nothing_too_early() {
    explore(|| {
        meanwhile(1, |task| {
            let other = task.clone();
            drop(task);
            drop(other);
            None
        });
    });
}

#[test]
fn a_waker_that_outlives_the_last_reference_keeps_the_memory_alone() {
    explore(|| {
        leaving(Leaves::Waker, 1, |task, _| {
            drop(task);
            None
        });
    });
}

#[test]
fn a_waker_that_the_task_itself_has_does_not_keep_it() {
    explore(|| {
        leaving(Leaves::Inside, 1, |task, _| {
            drop(task);
            None
        });
    });
}

/// The waker is taken, and used up when the reference is gone: by then the task is parked, is
/// polled, has ended.
#[test]
fn a_wake_that_is_under_way_as_the_last_reference_goes_frees_nothing_too_early() {
    explore(|| {
        leaving(Leaves::Waker, 1, |task, slot| {
            let waker = slot.take_waker();
            drop(task);
            waker.into_iter().for_each(Waker::wake);
            None
        });
    });
}

#[test]
fn a_wake_before_the_last_reference_goes_does_not_stand_for_it() {
    explore(|| {
        leaving(Leaves::Waker, 1, |task, slot| {
            slot.take_waker().into_iter().for_each(Waker::wake);
            drop(task);
            None
        });
    });
}

#[test]
fn of_a_waker_and_the_task_the_last_frees_it_after_the_other_has_looked() {
    check(&[Edge::StateRelease], || {
        leaving(Leaves::Nothing, 1, |task, _| {
            let other = ManuallyDrop::new(task.task());
            drop(task);
            assert_eq!(other.name(), None);
            drop(ManuallyDrop::into_inner(other));
            None
        });
    });
}

#[test]
fn references_that_the_task_itself_makes_may_be_gone_before_it_has_counted_them() {
    explore(|| {
        leaving(Leaves::Public, 1, |task, slot| {
            drop(slot.take_public());
            drop(task);
            None
        });
    });
}

#[test]
fn a_reference_that_the_task_itself_makes_keeps_it() {
    explore(|| {
        leaving(Leaves::Public, 1, |task, slot| {
            let other = slot.take_public();
            drop(task);
            other.inspect(put)
        });
    });
}

/// A reference that is used up before its poller has counted it has been borrowed from the
/// references to the part.
#[test]
fn a_waker_that_is_used_up_before_it_is_counted_makes_no_task_alone() {
    explore(|| {
        leaving(Leaves::Waker, 1, |task, slot| {
            slot.take_waker().into_iter().for_each(Waker::wake);
            put(&task);
            Some(task)
        });
    });
}

/// The reference that is upgraded keeps the task until it is gone, and its message is found; or the
/// task has ended for want of references.
#[test]
fn a_weak_reference_is_upgraded_to_one_that_counts_or_finds_the_task_deserted() {
    explore(|| {
        leaving(Leaves::WayOut, 1, |task, _| {
            let weak = task.downgrade();
            drop(task);
            weak.upgrade().inspect(put)
        });
    });
}

/// The task has given it away, and has not counted it yet.
#[test]
fn a_weak_reference_is_upgraded_while_there_is_one_that_is_not_counted() {
    explore(|| {
        leaving(Leaves::Public, 1, |task, slot| {
            let weak = task.downgrade();
            let other = slot.take_public();
            drop(task);
            if other.is_some() {
                let upgraded = weak.upgrade().expect("there is a reference");
                drop(other);
                put(&upgraded);
                Some(upgraded)
            } else {
                None
            }
        });
    });
}

#[test]
fn a_weak_reference_that_outlives_the_task_frees_it() {
    explore(|| {
        meanwhile(1, |task| {
            let weak = task.downgrade();
            let other = weak.clone();
            drop(task);
            drop(weak);
            drop(other);
            None
        });
    });
}
