//! Every way in which a task ends, with every treatment of its handle.

use crate::common::until::until;
use crate::common::watchdog::watchdog;
use evenkeel::fork_join::worker_index;
use evenkeel::sync::Semaphore;
use evenkeel::task::TaskPanic;
use evenkeel::{Builder, Shutdown};
use std::panic::panic_any;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll};

/// How a task ends.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Ending {
    PanicsInPoll,
    PanicsInDrop,
    Finishes,
}

/// The treatment of the handle.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Treatment {
    Awaited,
    DroppedBefore,
    DroppedAfter,
    Aborted,
    AbortedAndDropped,
}

/// The result of the join.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Outcome {
    Output,
    Panic,
    Cancelled,
    NobodyJoins,
}

/// A future that waits for its gate and then ends as specified.
struct Subject {
    ending: Ending,
    gate: Arc<Semaphore>,
    /// Becomes part of the output.
    output: Option<Arc<()>>,
    drops: Arc<AtomicUsize>,
}

impl Future for Subject {
    type Output = Arc<()>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Arc<()>> {
        if self.gate.try_acquire().is_none() {
            // The future repeatedly tries the gate, so that its drop needs no clean-up.
            context.waker().wake_by_ref();
            return Poll::Pending;
        }
        match self.ending {
            Ending::PanicsInPoll => panic_any("in poll"),
            Ending::PanicsInDrop | Ending::Finishes => {
                Poll::Ready(self.output.take().expect("polled until it is ready"))
            }
        }
    }
}

impl Drop for Subject {
    fn drop(&mut self) {
        self.drops.fetch_add(1, Ordering::AcqRel);
        if self.ending == Ending::PanicsInDrop {
            panic_any("in drop");
        }
    }
}

/// The expected result of the join, and the expected number of calls of the panic hook.
fn expected(ending: Ending, treatment: Treatment) -> (Outcome, usize) {
    match (ending, treatment) {
        (Ending::Finishes, Treatment::Awaited) => (Outcome::Output, 0),
        (Ending::Finishes, Treatment::Aborted) => (Outcome::Cancelled, 0),
        (Ending::Finishes, _) => (Outcome::NobodyJoins, 0),
        // The abort comes before its gate opens.
        (Ending::PanicsInPoll, Treatment::Aborted) => (Outcome::Cancelled, 0),
        (Ending::PanicsInPoll, Treatment::AbortedAndDropped) => (Outcome::NobodyJoins, 0),
        // Its future is dropped in any case.
        (_, Treatment::Awaited | Treatment::Aborted) => (Outcome::Panic, 0),
        (_, Treatment::DroppedBefore | Treatment::DroppedAfter | Treatment::AbortedAndDropped) => {
            (Outcome::NobodyJoins, 1)
        }
    }
}

fn observe(ending: Ending, treatment: Treatment, workers: usize) {
    let reports = Arc::new(AtomicUsize::new(0));
    let told = reports.clone();
    let hook = move |_: &TaskPanic<'_>| {
        told.fetch_add(1, Ordering::AcqRel);
    };
    let runtime = Builder::new().workers(workers).on_task_panic(hook).build().unwrap();
    let (gate, output, drops) =
        (Arc::new(Semaphore::new(0)), Arc::new(()), Arc::new(AtomicUsize::new(0)));
    let handle = runtime.spawn(Subject {
        ending,
        gate: gate.clone(),
        output: Some(output.clone()),
        drops: drops.clone(),
    });
    let joined = match treatment {
        Treatment::Awaited => {
            gate.add_permits(1);
            Some(runtime.block_on(handle))
        }
        Treatment::DroppedBefore => {
            drop(handle);
            gate.add_permits(1);
            None
        }
        Treatment::DroppedAfter => {
            gate.add_permits(1);
            until(|| handle.is_finished());
            drop(handle);
            None
        }
        Treatment::Aborted => {
            handle.abort();
            Some(runtime.block_on(handle))
        }
        Treatment::AbortedAndDropped => {
            handle.abort();
            drop(handle);
            None
        }
    };
    let outcome = match &joined {
        None => Outcome::NobodyJoins,
        Some(Ok(_)) => Outcome::Output,
        Some(Err(error)) if error.is_panic() => Outcome::Panic,
        Some(Err(_)) => Outcome::Cancelled,
    };
    drop(joined);
    assert!(runtime.shutdown(Shutdown::Drain).is_clean());
    let reported = reports.load(Ordering::Acquire);
    let case = format!("{ending:?}, {treatment:?}, {workers} workers");
    assert_eq!((outcome, reported), expected(ending, treatment), "{case}");
    assert_eq!(drops.load(Ordering::Acquire), 1, "{case}: the future is dropped once");
    assert_eq!(Arc::strong_count(&output), 1, "{case}: the output is dropped");
}

#[test]
fn every_ending_meets_every_treatment() {
    let _watchdog = watchdog();
    for ending in [Ending::PanicsInPoll, Ending::PanicsInDrop, Ending::Finishes] {
        for treatment in [
            Treatment::Awaited,
            Treatment::DroppedBefore,
            Treatment::DroppedAfter,
            Treatment::Aborted,
            Treatment::AbortedAndDropped,
        ] {
            for workers in [1, 2] {
                observe(ending, treatment, workers);
            }
        }
    }
}

#[test]
fn a_poll_that_spawns_and_does_not_end_keeps_few_complete_tasks() {
    const TASKS: u64 = 10_000;
    let _watchdog = watchdog();
    let runtime = Builder::new().workers(2).build().unwrap();
    let handle = runtime.handle();
    let kept = runtime.spawn(async move {
        let spawned = || (0..TASKS).map(|_| evenkeel::spawn(async {})).collect::<Vec<_>>();
        let (first, second) = (spawned(), spawned());
        // The other worker polls them, since this poll goes on.
        until(|| first.iter().chain(&second).all(|task| task.is_finished()));
        drop((first, second));
        drop(spawned());
        let own = &handle.metrics().processors[worker_index().unwrap()];
        own.spawned - own.completed
    });
    let kept = runtime.block_on(kept).unwrap();
    assert!(kept <= TASKS + 256, "of {} tasks {kept} are kept", 3 * TASKS);
}
