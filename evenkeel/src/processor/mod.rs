//! A processor: a seat at the machine, with a ready queue, an inbox and its statistics. It is not
//! its worker: the thread that holds its [`Seat`](self::seat::Seat) is its worker and runs it.

pub(crate) mod blocking;
mod calls;
pub(crate) mod context;
pub(crate) mod counters;
mod cpu;
pub(crate) mod current;
pub(crate) mod driving;
pub(crate) mod entered;
pub(crate) mod errands;
pub(crate) mod forks;
pub(crate) mod meter;
pub(crate) mod neighbours;
mod row;
pub(crate) mod runtimes;
pub(crate) mod seat;
pub(crate) mod shared;
pub(crate) mod slice;
pub(crate) mod spares;

use self::counters::Counters;
use self::meter::Meter;
use self::shared::Shared;
use super::deque::Home;
use super::idle::Absence;
use super::timers::{Lease, NEVER, Rules};
use super::travel::{Arrivals, Departures};
use crate::deque::closures::Closures;
use crate::deque::fifo::Fifo;
use crate::policy::stealing::STRANDED;
use crate::policy::together::Mark;
use crate::policy::{Look, batch};
use crate::primitives::atomic::{AtomicBool, AtomicU32, AtomicU64, AtomicUsize, Ordering};
use crate::primitives::clock;
use crate::queue::biased::Biased;
use crate::queue::gift::Gift;
use crate::queue::inbox::Inbox;
use crate::queue::keep::{Bell, Keep};
use crate::queue::registry::Registry;
use crate::queue::ring::Entry;
use crate::queue::ring::{Ends, NO_HEAD, Ring};
use crate::raw_task::header::Header;
use crate::raw_task::rights::{Held, Runnable};
use crate::raw_task::state::Polled;
use crate::travel::inside::Inside;
use crate::travel::visitors::Visitors;
use cpu::Cpu;
use crossbeam_utils::CachePadded;
pub(crate) use row::Row;
use std::ptr;
use std::sync::Weak;
// No protocol waits for the address, so models need not try each order of its changes.
use std::sync::atomic::AtomicPtr;

/// The fields that the processor's owner uses all the time.
#[derive(Debug, Default)]
pub(crate) struct Local {
    /// The tasks that can run, oldest first; its ends are in [`Published`].
    pub(crate) ready: Ring,
    /// The ready tasks that are here for the sake of an object: no other worker takes them while
    /// this one switches.
    pub(crate) visitors: Visitors,
    /// The tasks that are kept here.
    pub(crate) keep: Keep,
    /// The tasks that have been spawned here and are not complete.
    pub(crate) registry: Registry,
    /// The tasks that are about to travel from here.
    pub(crate) departures: Departures,
}

/// The figures that others read without a lock: the thread that has [`Local`] writes them by plain
/// stores. In the order of declaration, on two cache lines: the first has what changes in each
/// poll or batch, so that a look takes a single line from the thread.
#[derive(Debug)]
#[repr(C)]
pub(crate) struct Published {
    /// The number of tasks in the ready queue, and since when they wait.
    pub(crate) ready: Ends,
    /// The task that the thread polls or, until the end of the batch, has polled last; null between
    /// two batches, and once the worker begins to give tasks away. No other thread may follow it: a
    /// store for each poll, for reports.
    pub(crate) polled: AtomicPtr<Header>,
    /// The moving averages of wait, poll and work per task, once per batch.
    pub(crate) mean_wait: AtomicU64,
    pub(crate) mean_poll: AtomicU64,
    pub(crate) mean_work: AtomicU64,
    /// When the last batch began, or the last sleep ended.
    pub(crate) batch: AtomicU64,
    /// As `ready`, of the visitors. Without shared objects there are none.
    pub(crate) visitors: Ends,
    /// The [`Mark`] by which thieves leave the processor's tasks together, written by a thief after
    /// a failed trial, and by a worker that gives its tasks to this one. A hint: its parts may be
    /// those of two marks.
    together_until: AtomicU64,
    together_most: AtomicU64,
    /// Whether tasks are about to travel from here.
    pub(crate) departing: AtomicBool,
    /// Whether tasks may be [kept](crate::queue::keep) here.
    pub(crate) keeps: AtomicBool,
    /// Whether sockets have woken tasks here before the worker's last sleep ended.
    pub(crate) serves: AtomicBool,
    /// Until when threads that are no workers want the workers' cores, by the last worker that has
    /// lost its core to one. A hint.
    pub(crate) contended_until: AtomicU64,
    /// The aborted task whose future the thread drops, or null: it is the `polled` one then.
    pub(crate) drops: std::sync::atomic::AtomicPtr<Header>,
}

// The models' atomics are larger, and those of 32 bits smaller.
#[cfg(all(target_pointer_width = "64", not(any(loom, shuttle))))]
const _: () = assert!(std::mem::offset_of!(Published, visitors) == 64);

/// The work per task that is assumed until some are complete: worth the move.
const UNKNOWN_WORK: u64 = u64::MAX;

/// One processor.
#[derive(Debug)]
pub(crate) struct Processor {
    /// The scheduler that it belongs to.
    pub(crate) shared: Weak<Shared>,
    pub(crate) local: Biased<Local>,
    pub(crate) published: CachePadded<Published>,
    /// Tasks that other threads have made ready or spawned.
    pub(crate) inbox: CachePadded<Inbox<Runnable>>,
    /// By which signallers say that they have signalled a task that may be kept here.
    pub(crate) bell: CachePadded<Bell>,
    /// Tasks that have travelled here.
    pub(crate) arrivals: Arrivals,
    /// The notes of the shared objects that its worker reads.
    pub(crate) inside: CachePadded<Inside>,
    /// Complete tasks of this processor's registry that other processors polled last.
    pub(crate) returned: CachePadded<Inbox<Held>>,
    pub(crate) gift: CachePadded<Gift>,
    pub(crate) counters: CachePadded<Counters>,
    /// The time that its worker spends on each occupation.
    pub(crate) meter: CachePadded<Meter>,
    /// The fork-join jobs of its worker.
    pub(crate) deque: Home,
    /// Whether its worker is away or stuck: see [`absence`](crate::idle).
    pub(crate) absence: Absence,
    /// The root of the stolen job that the worker runs: a scope's number, or zero.
    pub(crate) root: AtomicU64,
    /// The number of [guests](crate::scheduler::guest) on its worker's stack.
    pub(crate) guests: AtomicU32,
    /// Its worker's parts of broadcasts.
    pub(crate) parts: Closures,
    /// Detached jobs, which begin in the order in which they were spawned here.
    pub(crate) fifo: Fifo,
    /// The number, from one, of a worker that naps until this one publishes jobs; of several the
    /// last one. A hint.
    pub(crate) napper: AtomicUsize,
    /// The hardware thread that its worker is on.
    pub(crate) cpu: Cpu,
    /// The timers that were armed here.
    pub(crate) timers: Lease,
}

impl Processor {
    /// Makes one of the `processors` of `shared`, with a worker or without one.
    pub(crate) fn new(
        shared: Weak<Shared>,
        processors: usize,
        has_worker: bool,
        rules: Rules,
    ) -> Self {
        Self {
            shared,
            local: Biased::new(Local::default()),
            published: CachePadded::new(Published {
                ready: Ends::new(),
                polled: AtomicPtr::new(ptr::null_mut()),
                mean_wait: AtomicU64::new(0),
                mean_poll: AtomicU64::new(batch::BATCH),
                mean_work: AtomicU64::new(UNKNOWN_WORK),
                batch: AtomicU64::new(0),
                visitors: Ends::new(),
                together_until: AtomicU64::new(0),
                together_most: AtomicU64::new(0),
                departing: AtomicBool::new(false),
                keeps: AtomicBool::new(false),
                serves: AtomicBool::new(false),
                contended_until: AtomicU64::new(0),
                drops: std::sync::atomic::AtomicPtr::new(ptr::null_mut()),
            }),
            inbox: CachePadded::new(Inbox::new()),
            bell: CachePadded::new(Bell::new()),
            arrivals: Arrivals::new(processors),
            inside: CachePadded::new(Inside::new()),
            returned: CachePadded::new(Inbox::new()),
            gift: CachePadded::new(Gift::new()),
            counters: CachePadded::new(Counters::default()),
            meter: CachePadded::new(Meter::new(clock::now())),
            deque: if has_worker { Home::new() } else { Home::full() },
            absence: Absence::new(),
            root: AtomicU64::new(0),
            guests: AtomicU32::new(0),
            parts: Closures::default(),
            fifo: Fifo::new(0),
            napper: AtomicUsize::new(0),
            cpu: Cpu::nowhere(),
            timers: Lease::new(rules),
        }
    }

    /// Looks at the processor at the time `now`. `departures` is the value of [`Ends::departures`]
    /// at the last look, and gets the present value. Only the scheduler's `View` knows for how long
    /// the processor has stalled.
    pub(crate) fn look(&self, now: u64, departures: &mut usize) -> Look {
        let published = &self.published;
        let before = std::mem::replace(departures, published.departures());
        let backlog = self.look_at_backlog(published.ready.len(), now);
        Look {
            visitors: self.visitors(),
            head_age: self.head_age(now),
            mean_wait: published.mean_wait.load(Ordering::Relaxed),
            inbox: !self.inbox.is_empty() || self.bell.has_rung() || self.gift.has_tasks(),
            switched: *departures != before,
            ..backlog
        }
    }

    /// Ends the polls of all tasks that are kept here. The caller has the lock.
    pub(crate) fn settle(&self, local: &mut Local, now: u64) {
        let Local { keep, ready, .. } = local;
        self.end_into(ready, keep.drain(), now);
        self.published.keeps.store(false, Ordering::Relaxed);
    }

    /// Ends the polls of the tasks for which the bell has rung. The caller has the lock.
    pub(crate) fn answer_bell(&self, local: &mut Local, now: u64) {
        let Local { keep, ready, .. } = local;
        if let Some(rung) = self.bell.answer() {
            self.end_into(ready, keep.signalled(rung), now);
        }
    }

    /// Ends the polls of those tasks kept here that were signalled, or have been here since the
    /// last call. The caller has the lock. Returns their number.
    pub(crate) fn end_old(&self, local: &mut Local, now: u64) -> usize {
        let Local { keep, ready, .. } = local;
        self.end_into(ready, keep.old(), now)
    }

    /// Ends polls. The tasks that were signalled meanwhile go into the queue.
    fn end_into(&self, ready: &mut Ring, tasks: impl Iterator<Item = Runnable>, now: u64) -> usize {
        end_all(tasks, |task| {
            ready.push(&self.published.ready, Entry { task, since: now });
        })
    }

    /// Moves the visitors, the arrivals and the departures to `entries`. The caller has the lock,
    /// and with it `local`.
    pub(crate) fn drain_travellers(&self, local: &mut Local, now: u64, entries: &mut Vec<Entry>) {
        let mut take = |task| entries.push(Entry { task, since: now });
        self.arrivals.receive(|task, _| take(task));
        local.departures.take(&mut take);
        local.visitors.drain(&self.published.visitors, entries);
        self.published.departing.store(false, Ordering::Relaxed);
    }

    /// Returns whether tasks wait here for which another thread is to come, because the worker does
    /// not. Visitors are left to a worker that runs fork-join for a while: most come back soon.
    pub(crate) fn is_to_be_relieved(&self, now: u64) -> bool {
        let look = self.look(now, &mut 0);
        // What is about to travel from a relief is all that it has of visitors.
        let is_left = self.absence.is_inside_poll()
            || !self.arrivals.has_senders()
            || now >= self.stranded_from();
        look.has_work() || (look.visitors > 0 && is_left)
    }

    /// Returns from when on its visitors are not left to its worker, which is away; [`NEVER`] if
    /// there are none, or if the worker is here.
    pub(crate) fn stranded_from(&self) -> u64 {
        if !self.absence.is_away() || self.visitors() == 0 {
            return NEVER;
        }
        // A worker begins a batch before each job, part or errand.
        self.published.batch.load(Ordering::Relaxed).saturating_add(STRANDED)
    }

    /// Returns the approximate number of tasks that are here for the sake of an object, or are
    /// about to leave for one.
    fn visitors(&self) -> usize {
        self.published.visitors.len()
            + usize::from(self.arrivals.has_rung())
            + usize::from(self.published.departing.load(Ordering::Relaxed))
    }

    /// Looks at its `ready` tasks, without what a [`look`](Self::look) says of their age and of
    /// other queues.
    pub(crate) fn look_at_backlog(&self, ready: usize, now: u64) -> Look {
        let published = &self.published;
        Look {
            ready,
            mean_poll: published.mean_poll.load(Ordering::Relaxed),
            mean_work: published.mean_work.load(Ordering::Relaxed),
            together: published.are_together(now),
            serves: self.serves(),
            contended: now < published.contended_until.load(Ordering::Relaxed),
            ..Look::default()
        }
    }

    /// Returns whether sockets wake its tasks, and its worker comes to them.
    fn serves(&self) -> bool {
        self.published.serves.load(Ordering::Relaxed) && !self.absence.is_away()
    }

    /// Returns for how long the oldest task in the ready queue or, if that is empty, in the inbox
    /// has waited.
    pub(crate) fn head_age(&self, now: u64) -> u64 {
        match self.published.head_since() {
            NO_HEAD if self.inbox.is_empty() => 0,
            NO_HEAD => now.saturating_sub(self.inbox.since()),
            since => now.saturating_sub(since),
        }
    }
}

/// Ends the polls of tasks that were kept, and gives `put` those that were signalled meanwhile.
/// Returns the number of polls.
fn end_all(tasks: impl Iterator<Item = Runnable>, mut put: impl FnMut(Runnable)) -> usize {
    tasks.map(|task| task.end(Polled::KEPT).map(&mut put)).count()
}

impl Published {
    /// Returns when the oldest task became ready; [`NO_HEAD`] if there is none.
    fn head_since(&self) -> u64 {
        self.ready.head_since().min(self.visitors.head_since())
    }

    /// Returns a number that changes whenever a task leaves.
    pub(crate) fn departures(&self) -> usize {
        self.ready.departures().wrapping_add(self.visitors.departures())
    }

    /// Returns the number of tasks that can run.
    pub(crate) fn len(&self) -> usize {
        self.ready.len() + self.visitors.len()
    }

    /// Returns whether thieves leave the tasks together.
    #[inline]
    pub(crate) fn are_together(&self, now: u64) -> bool {
        self.together_until.load(Ordering::Relaxed) > now
    }

    /// Returns the mark by which thieves leave the tasks together.
    pub(crate) fn mark(&self) -> Mark {
        Mark {
            until: self.together_until.load(Ordering::Relaxed),
            most: self.together_most.load(Ordering::Relaxed),
        }
    }

    /// Makes thieves leave the tasks together, by `mark`.
    pub(crate) fn leave_together(&self, mark: Mark) {
        self.together_most.store(mark.most, Ordering::Relaxed);
        self.together_until.store(mark.until, Ordering::Relaxed);
    }
}
