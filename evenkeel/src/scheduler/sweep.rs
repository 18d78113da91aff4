//! Sweeping: when a runtime ends by a deadline, this takes tasks from workers that are stuck.
//!
//! # Roles
//! The *ender* is the thread that ends the runtime. It is not a worker, and has no processor. An
//! *owner* is a worker, or a relief. It may be stuck inside a poll, or slow, or gone. A *late
//! spawner* is a thread that spawns after the ender's last pass, perhaps an owner inside its poll.
//!
//! # Protocol
//! The phase is *aborting*, so tasks that are spawned from here on are aborted from the start.
//! 1. The ender claims the queues of each processor in turn, and collects its registered tasks that
//!    are neither complete nor aborted. Outside of the lock it aborts them: tasks that wait go into
//!    an inbox.
//! 2. It takes all tasks in queues, inboxes, passages and gifts, as a thief
//!    [does](super::handover::force) from a stuck victim, and marks each as aborted.
//! 3. It hands these tasks to *reapers*, threads that [cancel](super::run::cancel_elsewhere) them.
//!
//! The ender repeats this until the workers have left or its time is up. Meanwhile it leaves the
//! queues of an owner that has begun another batch since the pass before to that owner. The last
//! passes take from all.
//!
//! # Why nothing is lost, and nothing is dropped twice
//! A task that is not complete is in one of these places: it waits; it is queued; or a thread has
//! its `Runnable` in hand, to poll or to drop it. The first kind becomes the second by step 1. Step
//! 2 takes the `Runnable`s of the second kind, each of which exists once, under the locks that
//! thieves use. So after a pass the third kind is left. A worker that returns from a poll finds its
//! task aborted, and drops the future. A task from outside that no worker has adopted is in no
//! registry, and only step 2 finds it. The next pass finds tasks that are pushed after this one.
//! Before the last pass the ender marks the runtime as left behind. A thread that pushes a task
//! later, from a stuck poll or because it was held up, finds the mark, and [makes a
//! pass](super::spawn) itself.
//!
//! # What a thread has in hand
//! A thread of the third kind may also *move* its task: a worker that empties its inbox, a giver, a
//! thief, a helper, a relief, a waker that has signalled the task and is about to push it. It soon
//! puts the task into a queue, unless the system preempts it, and then the task is queued although
//! no pass finds it. So after its last pass the ender takes none of the third kind for stuck before
//! it [knows](inside) which thread polls it. A worker stores the task's address before it polls the
//! task or drops its future. The address stays until the worker polls another task, begins to give
//! tasks away, or ends its batch, before it empties its inbox. While a task is neither complete,
//! nor with a reaper, nor at such an address, the ender sweeps again. A mover runs no caller's code
//! while it has a task in hand, so this ends once the system lets the mover run; the ender gives it
//! a bounded time. A store at the end of each poll would cost each poll, so the address is stale
//! between two polls. A task there is taken for stuck only if the system has preempted that worker,
//! and also another thread that has this very task in hand.
//!
//! # Why the ender waits for no worker
//! A claim is bounded, and holders keep the other locks for a few moves of words. No caller's code
//! runs under any of these locks, nor on the ender's thread.
//!
//! # Rejected
//! Dropping futures on the ender's thread: a destructor that blocks would keep it beyond its
//! deadline. Processors for the reapers: a runtime has room for a fixed number of processors,
//! and most runtimes end with no worker stuck. The present tasks of the processors, without a
//! search: a task that its worker has taken out of a queue, and is about to poll, would be neither
//! queued nor present. A mark on each processor while its thread moves tasks: a thread that wakes a
//! task from outside has no processor, and a worker may have looked at the phase just before that
//! became *aborting*, so it would need the mark in each phase.

use super::run;
use super::wake;
use crate::primitives::atomic::Ordering;
use crate::primitives::clock;
use crate::processor::Processor;
use crate::processor::shared::Shared;
use crate::raw_task::header::TaskPtr;
use crate::raw_task::rights::{Reference, Runnable};
use crate::raw_task::state::{Signal, Word};
use std::collections::HashMap;
use std::ptr::NonNull;

/// Aborts all registered tasks, and passes those in queues to `take`. Returns false if a processor
/// was locked: that processor is left for the next pass.
pub(crate) fn sweep(shared: &Shared, take: impl FnOnce(Vec<Runnable>)) -> bool {
    sweep_those(shared, |_| true, take)
}

/// Does the same, but takes tasks only from the queues of processors whose number is `wanted`: the
/// owners of the others come to them.
pub(crate) fn sweep_those(
    shared: &Shared,
    wanted: impl Fn(usize) -> bool,
    take: impl FnOnce(Vec<Runnable>),
) -> bool {
    let mut is_whole = true;
    for processor in shared.processors.iter() {
        let is_to_abort = |word: Word| !word.is_complete() && !word.is_aborted();
        match registered(processor, is_to_abort) {
            Some(tasks) => tasks.iter().for_each(|task| wake::signal(task.live(), Signal::Abort)),
            None => is_whole = false,
        }
    }
    let (mut tasks, mut entries) = (Vec::new(), Vec::new());
    let numbered = (0..).zip(shared.processors.iter());
    for (_, processor) in numbered.filter(|(number, _)| wanted(*number)) {
        if let Some(mut local) = processor.local.claim(true) {
            processor.settle(&mut local, clock::now());
            local.ready.drain(&processor.published.ready, usize::MAX, &mut entries);
            processor.drain_travellers(&mut local, clock::now(), &mut entries);
        } else {
            is_whole = false;
        }
        tasks.extend(processor.inbox.take());
        processor.gift.rob(&mut entries);
    }
    tasks.extend(entries.into_iter().map(|entry| entry.task));
    tasks.iter().for_each(run::abort_queued);
    take(tasks);
    is_whole
}

/// Returns when each processor has begun its batch: its owner makes progress if that changes.
pub(crate) fn batches(shared: &Shared) -> Vec<u64> {
    let batch = |processor: &Processor| processor.published.batch.load(Ordering::Relaxed);
    shared.processors.iter().map(batch).collect()
}

/// Returns the tasks in the registry of a processor that are not complete, or `None` if the
/// processor is locked.
pub(crate) fn incomplete(processor: &Processor) -> Option<Vec<Reference>> {
    registered(processor, |word| !word.is_complete())
}

/// Returns the addresses of the tasks that threads poll. A thread may have polled its task a moment
/// ago. Of a task whose future the thread drops instead, also returns for how long the thread does
/// so at the most, in nanoseconds.
pub(crate) fn inside(shared: &Shared) -> HashMap<usize, Option<u64>> {
    let now = clock::now();
    let inside = |processor: &Processor| {
        let published = &processor.published;
        let polled = published.polled.load(Ordering::Acquire);
        let drops = published.drops.load(Ordering::Relaxed) == polled;
        let batch = published.batch.load(Ordering::Relaxed);
        (polled.addr(), drops.then(|| now.saturating_sub(batch)))
    };
    let mut all = HashMap::new();
    for (address, dropped) in shared.processors.iter().map(inside) {
        // Another thread may have polled the task before this one drops it.
        let known = all.entry(address).or_insert(dropped);
        *known = known.or(dropped);
    }
    all
}

/// Returns the task that the thread of `processor` polls, as far as it can be told: a processor
/// that is locked is passed over. The registry in which the task is found keeps it alive meanwhile.
pub(crate) fn polled(shared: &Shared, processor: usize) -> Option<Reference> {
    let polled =
        NonNull::new(shared.processors[processor].published.polled.load(Ordering::Relaxed))?;
    let polled = TaskPtr::new(polled);
    // Most tasks are polled at home.
    let own = std::iter::once(&shared.processors[processor]);
    let others = (0..).zip(shared.processors.iter()).filter(|(other, _)| *other != processor);
    own.chain(others.map(|(_, other)| other)).find_map(|home| {
        let local = home.local.claim(true)?;
        let task = local.registry.find(polled)?;
        let word = task.state.load();
        // A task that waits, or is complete, has been polled before.
        (!word.is_idle() && !word.is_complete()).then(|| Reference::of(task))
    })
}

fn registered(processor: &Processor, wanted: impl Fn(Word) -> bool) -> Option<Vec<Reference>> {
    let local = processor.local.claim(true)?;
    let tasks = local.registry.iter().filter(|task| wanted(task.state.load()));
    Some(tasks.map(Reference::of).collect())
}
