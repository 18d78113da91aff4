//! A machine in virtual time: processors, tasks, and the order of what happens.
//!
//! Actions that cost time on a real machine have [costs](Costs) here. Between two of its events a
//! processor does not change, so a run depends on its setup and its load alone.

use super::audit::Audit;
use super::costs::Costs;
use super::gathering::Gathering;
use super::idle::Idle;
use super::load::Load;
use super::random::Random;
use super::relief::Relieving;
use super::task::{Place, Task};
use super::{Arrival, Seat, Setup};
use crate::events::Events;
use evenkeel_policy::helping::{Help, Looks};
use evenkeel_policy::searching::Lulls;
use evenkeel_policy::together::Mark;
use evenkeel_policy::{Look, batch, helping, relieving, waking};
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

/// The decisions that a test may replace, to show that the bound depends on them.
#[derive(Clone, Copy, Debug)]
pub struct Policy {
    /// How a processor helps another, by its views of itself and of the other.
    pub help: fn(&Look, &Look) -> Help,
    /// How long the watch sleeps, after a sleep of this length in which it has found nothing to do.
    pub next_watch: fn(u64) -> u64,
    /// Whether a processor wakes a sleeper after a push, by its view of itself, the number of
    /// sleepers and that of searchers.
    pub after_push: fn(&Look, usize, usize) -> bool,
    /// Whether it does so at the end of a batch.
    pub after_batch: fn(&Look, usize, usize) -> bool,
}

impl Default for Policy {
    fn default() -> Self {
        Self {
            help: helping::help,
            next_watch: waking::next_watch,
            after_push: waking::after_push,
            after_batch: waking::after_batch,
        }
    }
}

/// A task in a ready queue, and its coarse stamp.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Entry {
    pub(crate) task: usize,
    pub(crate) since: u64,
}

/// An open request for work.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Request {
    pub(crate) victim: usize,
    /// When the answer is overdue.
    pub(crate) until: u64,
    pub(crate) switches: u64,
}

/// What a processor does at its next event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// Takes the next task.
    Pop,
    /// Returns from the poll of a task.
    Return(usize),
    EndBatch,
    /// Takes a queue after a heavy fence, while `searching` or helping.
    Take {
        victim: usize,
        switched: bool,
        searching: bool,
    },
    /// Goes round the others once.
    Search,
    /// Gets the answer to a request, or gives up waiting for it.
    Await,
    /// Looks once more before it sleeps.
    LastLook,
    /// Sleeps; the event is the end of a bounded sleep.
    Sleep,
    /// Has been woken, and searches.
    Wake,
    /// A relief that is not needed.
    Rest,
    /// Looks for tasks that no worker comes to.
    Relieve,
}

#[derive(Debug)]
pub(crate) struct Processor {
    pub(crate) ready: VecDeque<Entry>,
    pub(crate) inbox: Vec<usize>,
    pub(crate) inbox_since: u64,
    pub(crate) gift: Option<Vec<Entry>>,
    /// The processor that asks for work.
    pub(crate) asked: Option<usize>,
    /// The time until which a thief keeps the owner out.
    pub(crate) claimed_until: u64,
    pub(crate) request: Option<Request>,
    /// What the processor looked like that a searcher has asked.
    pub(crate) stolen: Option<Look>,
    pub(crate) switches: u64,
    pub(crate) mean_wait: u64,
    pub(crate) mean_poll: u64,
    pub(crate) mean_work: u64,
    /// Fading sums of polls and of complete tasks.
    pub(crate) recent_polls: u64,
    pub(crate) recent_completed: u64,
    pub(crate) polls_per_batch: u32,
    pub(crate) caution: u32,
    /// Polls and complete tasks of this batch, and the wait of the first task.
    pub(crate) polls: u32,
    pub(crate) completed: u64,
    pub(crate) wait: u64,
    /// The coarse clock.
    pub(crate) clock: u64,
    pub(crate) search_start: u64,
    /// For how long it searches.
    pub(crate) patience: u64,
    /// When it has run out of work or, if it has slept since, woken up.
    pub(crate) out_since: u64,
    /// How long it has been without work each time, and its polls when that last began.
    pub(crate) lulls: Lulls,
    pub(crate) polled: Option<u64>,
    /// Whether it has seen tasks, as the watch, that it may take after a while of searching.
    pub(crate) is_to_search: bool,
    /// The last bounded sleep.
    pub(crate) slept: u64,
    pub(crate) step: Step,
    /// Events of older generations are void.
    generation: u32,
    /// The switches of the others at the last look.
    pub(crate) seen: Vec<u64>,
    /// When those were first seen.
    pub(crate) departed: Vec<u64>,
    /// The other workers, nearest first, and how many of them are near.
    pub(crate) others: Vec<usize>,
    pub(crate) near: usize,
    /// Counts its turns to choose another one.
    pub(crate) turn: u64,
    pub(crate) looks: Looks,
    /// The deadlines of its timers, and the tasks that wait for them.
    pub(crate) timers: BinaryHeap<Reverse<(u64, usize)>>,
    /// The number of its last-level cache.
    pub(crate) group: usize,
    /// The other workers on its core.
    pub(crate) siblings: Vec<usize>,
    /// By which thieves leave its tasks together.
    pub(crate) mark: Mark,
    /// Whether sockets wake its tasks.
    pub(crate) serves: bool,
    /// Whether threads that are no workers want its core.
    pub(crate) contended: bool,
    /// The polls of complete batches.
    pub(crate) counted: u64,
    pub(crate) gathering: Gathering,
}

impl Processor {
    /// Makes one of a worker, or of one of the `reliefs`, which are behind the workers.
    fn new(me: usize, seats: &[Seat], reliefs: usize) -> Self {
        let workers = seats.len();
        let processors = workers + reliefs;
        let is_relief = me >= workers;
        let cache = |worker: usize| seats[worker].cache;
        let mut others: Vec<usize> = (1..processors).map(|step| (me + step) % processors).collect();
        others.retain(|&other| other < workers);
        others.sort_by_key(|&other| is_relief || cache(other) != cache(me));
        let is_near = |&&other: &&usize| !is_relief && cache(other) == cache(me);
        let near = others.iter().filter(is_near).count();
        Self {
            ready: VecDeque::new(),
            inbox: Vec::new(),
            inbox_since: 0,
            gift: None,
            asked: None,
            claimed_until: 0,
            request: None,
            stolen: None,
            switches: 0,
            mean_wait: 0,
            mean_poll: batch::BATCH,
            mean_work: u64::MAX,
            recent_polls: 0,
            recent_completed: 0,
            polls_per_batch: 1,
            caution: 0,
            polls: 0,
            completed: 0,
            wait: 0,
            clock: 0,
            search_start: 0,
            patience: 0,
            out_since: 0,
            lulls: Lulls::default(),
            polled: None,
            is_to_search: false,
            slept: 0,
            step: if is_relief { Step::Rest } else { Step::EndBatch },
            generation: 0,
            seen: vec![0; processors],
            departed: vec![0; processors],
            others,
            near,
            turn: me as u64,
            looks: Looks::default(),
            timers: BinaryHeap::new(),
            group: if is_relief { usize::MAX } else { cache(me) },
            siblings: if is_relief { Vec::new() } else { siblings(me, seats) },
            mark: Mark::default(),
            serves: false,
            contended: false,
            counted: 0,
            gathering: Gathering::default(),
        }
    }

    pub(crate) fn head_age(&self, now: u64) -> u64 {
        let since = match self.ready.front() {
            Some(head) => head.since,
            None if self.inbox.is_empty() => return 0,
            None => self.inbox_since,
        };
        now.saturating_sub(since)
    }

    /// Returns when its next timer is due, if there is one.
    pub(crate) fn next_timer(&self) -> Option<u64> {
        self.timers.peek().map(|Reverse((due, _))| *due)
    }

    /// Returns the view of another processor. `switches` is the count at the last look.
    pub(crate) fn look(&self, now: u64, switches: u64) -> Look {
        Look {
            ready: self.ready.len(),
            visitors: 0,
            head_age: self.head_age(now),
            mean_wait: self.mean_wait,
            mean_poll: self.mean_poll,
            mean_work: self.mean_work,
            inbox: !self.inbox.is_empty()
                || self.gift.as_ref().is_some_and(|gift| !gift.is_empty()),
            switched: self.switches != switches,
            stalled: 0,
            together: self.mark.until > now,
            serves: self.serves,
            contended: self.contended,
        }
    }

    /// Takes in tasks from another queue, each at its age.
    pub(crate) fn take_in(&mut self, mut entries: Vec<Entry>) -> usize {
        let count = entries.len();
        // Both are in order, so this is a merge.
        entries.extend(self.ready.drain(..));
        entries.sort_by_key(|entry| entry.since);
        self.ready.extend(entries);
        count
    }
}

/// Returns the other workers on the core of worker `me`.
fn siblings(me: usize, seats: &[Seat]) -> Vec<usize> {
    let shares = |&other: &usize| other != me && seats[other].core == seats[me].core;
    (0..seats.len()).filter(shares).collect()
}

/// The number of the lookout among the processors' events.
const LOOKOUT: usize = usize::MAX;

/// Counts of a run.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Counters {
    pub(crate) events: u64,
    pub(crate) polls: u64,
    /// The times that a processor has got tasks of another, by a request or by force.
    pub(crate) moves: u64,
    pub(crate) heavy_fences: u64,
    pub(crate) sleeps: u64,
}

#[derive(Debug)]
pub(crate) struct Machine<L> {
    pub(crate) processors: Vec<Processor>,
    pub(crate) tasks: Vec<Task>,
    pub(crate) idle: Idle,
    pub(crate) relieving: Relieving,
    pub(crate) audit: Audit,
    pub(crate) random: Random,
    pub(crate) policy: Policy,
    pub(crate) costs: Costs,
    pub(crate) load: L,
    pub(crate) counters: Counters,
    /// Whether the workers bring quick tasks together.
    pub(crate) gathers: bool,
    /// Tasks that will complete, and have not.
    pub(crate) unfinished: usize,
    /// The processor of each event, and its generation when the event was scheduled.
    events: Events<(usize, u32)>,
}

impl<L: Load> Machine<L> {
    pub(crate) fn new(setup: Setup, load: L) -> Self {
        let (count, reliefs) = (setup.seats.len(), setup.reliefs);
        let mut machine = Self {
            processors: (0..count + reliefs)
                .map(|me| Processor::new(me, &setup.seats, reliefs))
                .collect(),
            idle: Idle::new(count),
            relieving: Relieving::new(count, reliefs),
            audit: Audit::new(setup.progress, count + reliefs),
            random: Random::new(setup.seed),
            policy: setup.policy,
            costs: setup.costs,
            load,
            counters: Counters::default(),
            gathers: setup.gathers,
            unfinished: setup.tasks.iter().filter(|task| task.is_awaited()).count(),
            tasks: setup.tasks,
            events: Events::default(),
        };
        if setup.together {
            // A mark that nothing ends.
            let mark = Mark { until: u64::MAX, most: u64::MAX };
            machine.processors.iter_mut().for_each(|processor| processor.mark = mark);
        }
        for processor in &mut machine.processors {
            (processor.serves, processor.contended) = (setup.serves, setup.contended);
        }
        for &(processor, task) in &setup.queued {
            machine.push(processor, task, 0);
        }
        // They become ready together: none is first.
        let ahead = machine.audit.ahead(0);
        for &(_, task) in &setup.queued {
            machine.tasks[task].ahead = ahead;
        }
        for me in 0..count {
            // Real workers do not march in step.
            let offset = machine.random.within(0..=batch::BATCH);
            machine.schedule(me, offset, Step::EndBatch);
        }
        if reliefs > 0 {
            let offset = machine.random.within(0..=relieving::LONGEST_NAP);
            machine.schedule_round(offset);
        }
        machine
    }

    /// Runs until `least` has passed and all tasks that can complete have, or to the horizon, and
    /// audits the run. What comes from outside is in the order of its times.
    pub(crate) fn run(mut self, arrivals: &[Arrival], least: u64, horizon: u64) -> Self {
        let mut arrivals = arrivals.iter().peekable();
        let mut now = 0;
        while self.unfinished > 0 || now < least {
            let arrival = arrivals.peek().map_or(u64::MAX, |arrival| arrival.time);
            // What has come from outside precedes the events at its time.
            let limit = arrival.min(horizon + 1);
            let Some((time, (me, generation))) = self.events.take_before(limit) else {
                let due = |next: &&Arrival| next.time <= horizon;
                let Some(arrival) = arrivals.next_if(due) else {
                    // Nothing happens any more, so what is ready waits until the horizon.
                    now = horizon;
                    break;
                };
                now = arrival.time;
                self.send(arrival.processor, arrival.task, now);
                continue;
            };
            now = time;
            if me == LOOKOUT {
                self.round(now);
            } else if self.processors[me].generation == generation {
                self.counters.events += 1;
                self.step(me, now);
            }
        }
        self.finish(now);
        self
    }

    /// Makes the lookout make a round at `time`.
    pub(crate) fn schedule_round(&mut self, time: u64) {
        self.events.add(time, (LOOKOUT, 0));
    }

    /// Makes processor `me` do `step` at `time`, in place of its next event.
    pub(crate) fn schedule(&mut self, me: usize, time: u64, step: Step) {
        let processor = &mut self.processors[me];
        processor.step = step;
        processor.generation += 1;
        self.events.add(time, (me, processor.generation));
    }

    /// Makes processor `me` wait until another processor schedules it.
    pub(crate) fn suspend(&mut self, me: usize, step: Step) {
        let processor = &mut self.processors[me];
        processor.step = step;
        processor.generation += 1;
    }

    /// Records that a task has become ready, with the stamp `since`.
    pub(crate) fn ready(&mut self, task: usize, now: u64, since: u64) {
        let random = &mut self.random;
        let task = &mut self.tasks[task];
        assert_ne!(task.place, Place::Ready, "a task is ready twice");
        task.place = Place::Ready;
        task.next_poll = random.scaled(&task.polls);
        task.ready_at = now;
        task.stamp = since;
        task.readied += 1;
        task.ahead = self.audit.ahead(now);
        self.audit.queued(task);
    }

    /// Puts a task to the back of a processor's queue.
    pub(crate) fn push(&mut self, me: usize, task: usize, now: u64) -> usize {
        let since = self.processors[me].clock;
        self.ready(task, now, since);
        self.processors[me].ready.push_back(Entry { task, since });
        self.processors[me].ready.len()
    }

    /// Audits the end of the run.
    fn finish(&mut self, now: u64) {
        self.audit.check_backlogs(now);
        let mut found = vec![0_u32; self.tasks.len()];
        for processor in &self.processors {
            let given = processor.gift.iter().flatten();
            for entry in processor.ready.iter().chain(given) {
                found[entry.task] += 1;
            }
            for &task in &processor.inbox {
                found[task] += 1;
            }
        }
        for (index, task) in self.tasks.iter().enumerate() {
            let waits = u32::from(task.place == Place::Ready);
            assert_eq!(found[index], waits, "how often task {index} is queued: {task:?}");
            let polls = task.polled + u64::from(waits);
            assert_eq!(polls, task.readied, "task {index} is polled once each time: {task:?}");
            if task.place == Place::Ready {
                self.audit.waited(index, task, now);
            }
        }
    }
}
