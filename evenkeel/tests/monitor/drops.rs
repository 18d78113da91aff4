//! Monitors with randomly dropped futures: nothing is lost, no task hangs, and two tasks are never
//! inside together.
//!
//! `EVENKEEL_DROPS` sets the number of operations for each number of workers, with and without
//! yields, with and without restless futures: `EVENKEEL_DROPS=1000000 cargo test --release -p
//! evenkeel --test monitor drops`.
//!
//! Restless futures are polled without wakes, and may find by themselves what a lost wake would
//! have told them; where all are calm a lost wake is a hang.

use crate::common::op::{F, G, Op};
use crate::common::watchdog::{watchdog, watchdog_within};
use crate::common::weather::{Weather, in_all_weathers, join};
use evenkeel::sync::monitor::{
    self, Accepted, Clause, Condition, Held, Monitor, Set, call, lock_all,
};
use evenkeel::{spawn, yield_now};
use evenkeel_policy::random::Random;
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

/// The fate of an operation.
#[derive(Clone, Copy)]
struct Fate {
    /// After this number of polls it is dropped instead of polled.
    life: u64,
    /// This number of times it is polled again without a wake; from then on it is polled only after
    /// wakes.
    restless: u64,
}

impl Fate {
    fn draw(random: &mut Random, calm: bool) -> Self {
        match random.below(if calm { 2 } else { 4 }) {
            0 => Self { life: u64::MAX, restless: 0 },
            1 => Self { life: random.below(4), restless: 0 },
            2 => Self { life: u64::MAX, restless: random.below(30) },
            _ => Self { life: random.below(20), restless: u64::MAX },
        }
    }

    /// Whether it ends even without a wake.
    fn ends(self) -> bool {
        self.life <= self.restless
    }
}

/// An operation with its fate. A planned panic also ends it.
struct Doomed<F> {
    future: Option<Pin<Box<F>>>,
    fate: Fate,
}

/// The payload of planned panics.
struct Planned;

impl<F: Future<Output = ()>> Future for Doomed<F> {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        let this = &mut *self;
        let future = this.future.as_mut().expect("it is not polled after its end");
        if this.fate.life == 0 {
            this.future = None;
            return Poll::Ready(());
        }
        this.fate.life -= 1;
        let poll = catch_unwind(AssertUnwindSafe(|| future.as_mut().poll(context)));
        match poll {
            Ok(Poll::Pending) => {
                if this.fate.restless > 0 {
                    this.fate.restless -= 1;
                    context.waker().wake_by_ref();
                }
                return Poll::Pending;
            }
            Ok(Poll::Ready(())) => {}
            Err(panic) if <dyn Any>::is::<Planned>(&*panic) => {}
            Err(panic) => resume_unwind(panic),
        }
        this.future = None;
        Poll::Ready(())
    }
}

/// Ready after some polls. `None` once it has been ready.
struct Countdown(Option<u64>);

impl Countdown {
    fn draw(random: &mut Random) -> Self {
        Self(Some(random.below(10)))
    }
}

impl Future for Countdown {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        let left = self.0.expect("it is not polled after its end");
        self.0 = left.checked_sub(1);
        if self.0.is_none() {
            return Poll::Ready(());
        }
        context.waker().wake_by_ref();
        Poll::Pending
    }
}

/// A condition, and the fate of its signals.
#[derive(Default)]
struct Queue {
    condition: Condition<u64>,
    /// Signals that certainly found a waiter.
    sent: AtomicUsize,
    /// The same, plus signals with an unknown result because the signaller was dropped.
    sent_at_most: AtomicUsize,
    waits: AtomicUsize,
    /// Waits that a signal has ended.
    signalled: AtomicUsize,
    /// Waits that ended otherwise, but not by a drop.
    timed_out: AtomicUsize,
    /// Named calls that have begun.
    calls: AtomicUsize,
}

const MONITORS: usize = 3;

/// A set of monitors is a number; its bits select the monitors.
#[derive(Default)]
struct World {
    monitors: [Monitor<u64>; MONITORS],
    busy: [AtomicBool; MONITORS],
    queues: [Queue; 1 << MONITORS],
}

fn add(count: &AtomicUsize, number: usize) {
    count.fetch_add(number, Ordering::AcqRel);
}

/// Marks the monitors of a set as occupied.
struct Inside<'a>(&'a World, usize);

impl<'a> Inside<'a> {
    fn new(world: &'a World, set: usize) -> Self {
        for index in Self::members(set) {
            assert!(!world.busy[index].swap(true, Ordering::Relaxed), "two are inside");
        }
        Self(world, set)
    }

    fn members(set: usize) -> impl Iterator<Item = usize> {
        (0..MONITORS).filter(move |index| set & (1 << index) != 0)
    }
}

impl Drop for Inside<'_> {
    fn drop(&mut self) {
        for index in Self::members(self.1) {
            self.0.busy[index].store(false, Ordering::Relaxed);
        }
    }
}

impl World {
    /// Enters a random set in a random way, and does random things there.
    async fn operation(&self, seed: u64, fate: Fate, weather: Weather) {
        let mut random = Random::new(seed);
        let set = 1 + random.below((1 << MONITORS) - 1) as usize;
        let all: Vec<_> = Inside::members(set).map(|index| &self.monitors[index]).collect();
        let op = Op(random.below(2) as u32);
        let named = random.below(2) == 0;
        macro_rules! enter {
            ($set:expr) => {
                if named {
                    call($set, op, |held| self.inside(held, set, true, fate, weather, &mut random))
                        .await
                } else {
                    let held = lock_all($set).await;
                    self.inside(held, set, false, fate, weather, &mut random).await;
                }
            };
        }
        match all[..] {
            [one] if random.below(10) == 0 => {
                let held = one.end().await;
                self.inside(held, set, false, fate, weather, &mut random).await;
            }
            [one] if named && random.below(2) == 0 => {
                let held = one.enter_as(op).await;
                self.inside(held, set, true, fate, weather, &mut random).await;
            }
            [one] => enter!(one),
            [one, two] if random.below(2) == 0 => enter!((two, one)),
            [one, two] => enter!((one, two)),
            _ => enter!(&all[..]),
        }
    }

    async fn inside<S: Set>(
        &self,
        mut held: Held<S>,
        set: usize,
        called: bool,
        fate: Fate,
        weather: Weather,
        random: &mut Random,
    ) {
        let queue = &self.queues[set];
        if called {
            add(&queue.calls, 1);
        }
        for _ in 0..1 + random.below(3) {
            self.work(set, weather, random).await;
            held = match random.below(6) {
                0 => self.wait(held, queue, random).await,
                1 => {
                    if queue.condition.signal(&mut held) {
                        add(&queue.sent, 1);
                        add(&queue.sent_at_most, 1);
                    }
                    held
                }
                2 => {
                    let number = queue.condition.signal_all(&mut held);
                    add(&queue.sent, number);
                    add(&queue.sent_at_most, number);
                    held
                }
                3 => {
                    add(&queue.sent_at_most, 1);
                    let (held, some) = queue.condition.signal_block(held).await;
                    if some {
                        add(&queue.sent, 1);
                    } else {
                        queue.sent_at_most.fetch_sub(1, Ordering::AcqRel);
                    }
                    held
                }
                4 => Self::accept(held, queue, fate, random).await,
                _ => held,
            };
        }
        self.work(set, weather, random).await;
        if random.below(50) == 0 {
            resume_unwind(Box::new(Planned));
        }
        drop(held);
    }

    async fn work(&self, set: usize, weather: Weather, random: &mut Random) {
        let _inside = Inside::new(self, set);
        weather.pass(random).await;
    }

    async fn wait<S: Set>(&self, held: Held<S>, queue: &Queue, random: &mut Random) -> Held<S> {
        add(&queue.waits, 1);
        let datum = random.below(100);
        let (held, signalled) = if random.below(2) == 0 {
            let until = Countdown::draw(random);
            queue.condition.wait_until(held, datum, until).await
        } else {
            (queue.condition.wait_with(held, datum).await, true)
        };
        add(if signalled { &queue.signalled } else { &queue.timed_out }, 1);
        held
    }

    async fn accept<S: Set>(
        held: Held<S>,
        queue: &Queue,
        fate: Fate,
        random: &mut Random,
    ) -> Held<S> {
        let before = queue.calls.load(Ordering::Acquire);
        let [f, end] = [4, 2].map(|often| random.below(often) > 0);
        let clauses = [Clause::new(F).when(f), Clause::new(G), Clause::new(monitor::End).when(end)];
        let (held, accepted) = match random.below(3) {
            0 => Held::accept_or_else(held, clauses).await,
            // There may be no call.
            1 if fate.ends() => Held::accept(held, clauses).await,
            _ => Held::accept_until(held, clauses, Countdown::draw(random)).await,
        };
        // Calls of the end are not counted.
        if matches!(accepted, Accepted::Call(0 | 1)) {
            assert!(queue.calls.load(Ordering::Acquire) > before, "a call has begun");
        }
        held
    }

    /// Signals tasks that wait for ever.
    async fn clean_up(&self) {
        for (set, queue) in self.queues.iter().enumerate().skip(1) {
            let all: Vec<_> = Inside::members(set).map(|index| &self.monitors[index]).collect();
            let number = match all[..] {
                [one] => queue.condition.signal_all(&mut one.enter().await),
                [one, two] => queue.condition.signal_all(&mut lock_all((one, two)).await),
                _ => queue.condition.signal_all(&mut lock_all(&all[..]).await),
            };
            add(&queue.sent, number);
            add(&queue.sent_at_most, number);
        }
    }

    fn check(&self) {
        for (monitor, busy) in self.monitors.iter().zip(&self.busy) {
            assert!(monitor.try_enter().is_some(), "every task has left");
            assert!(!busy.load(Ordering::Relaxed));
        }
        for queue in &self.queues {
            let read = |count: &AtomicUsize| count.load(Ordering::Acquire);
            let signalled = read(&queue.signalled);
            let dropped = read(&queue.waits) - signalled - read(&queue.timed_out);
            assert!(signalled <= read(&queue.sent_at_most), "there is no spurious wake");
            assert!(read(&queue.sent) <= signalled + dropped, "no signal is lost");
        }
    }
}

/// Counts a task out, however it ends.
struct End(Arc<AtomicUsize>);

impl Drop for End {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::AcqRel);
    }
}

/// A limit for one operation, far above what it takes on a busy machine.
const LIMIT: Duration = Duration::from_millis(20);

#[test]
fn everything_is_dropped_at_random() {
    const TASKS: u64 = 16;
    const OPERATIONS: u64 = 20_000;
    const RUNS: u32 = 12;
    let asked = std::env::var("EVENKEEL_DROPS").ok();
    let asked: Option<u64> = asked.map(|count| count.parse().expect("a number of operations"));
    let most = u32::try_from(asked.unwrap_or(OPERATIONS)).expect("fewer than four billion");
    let _watchdog = watchdog_within(LIMIT * RUNS * most);
    in_all_weathers(|runtime, weather| {
        for calm in [false, true] {
            let operations = asked.unwrap_or(OPERATIONS);
            let world = Arc::new(World::default());
            let left = Arc::new(AtomicUsize::new(TASKS as usize));
            let tasks = (0..TASKS).map(|task| {
                let (world, left) = (world.clone(), left.clone());
                runtime.spawn(async move {
                    let _end = End(left);
                    let mut random = Random::new(task + 1);
                    for _ in 0..operations.div_ceil(TASKS) {
                        let fate = Fate::draw(&mut random, calm);
                        let operation = world.operation(random.below(1 << 40), fate, weather);
                        Doomed { future: Some(Box::pin(operation)), fate }.await;
                    }
                })
            });
            let tasks: Vec<_> = tasks.collect();
            runtime.block_on(async {
                while left.load(Ordering::Acquire) > 0 {
                    world.clean_up().await;
                    yield_now().await;
                }
            });
            join(runtime, tasks);
            world.check();
        }
    });
}

/// In each round there are as many signals as waiters that stay, and other waiters leave at random:
/// each waiter that stays is signalled.
#[test]
fn signals_pass_over_waiters_that_go_away() {
    const STAY: usize = 3;
    const GO: usize = 5;
    let _watchdog = watchdog();
    in_all_weathers(|runtime, weather| {
        // The number of staying tasks that have begun to wait.
        let world = Arc::new((Monitor::new(0_usize), Condition::new()));
        runtime.block_on(async {
            for round in 0..300 {
                let waiter = |index| {
                    let world = world.clone();
                    let mut random = Random::new(round * 100 + index as u64);
                    // In a different order each time.
                    let goes = (index + round as usize) % (STAY + GO) < GO;
                    spawn(async move {
                        weather.pass(&mut random).await;
                        let mut held = world.0.enter().await;
                        *held += usize::from(!goes);
                        let mut wait = Box::pin(world.1.wait(held));
                        if goes {
                            assert!(futures::poll!(wait.as_mut()).is_pending());
                            for _ in 0..random.below(30) {
                                yield_now().await;
                            }
                        } else {
                            drop(wait.await);
                        }
                    })
                };
                let waiters: Vec<_> = (0..STAY + GO).map(waiter).collect();
                let mut random = Random::new(round);
                let mut sent = 0;
                while sent < STAY {
                    let mut held = world.0.enter().await;
                    if *held == STAY {
                        assert!(world.1.signal(&mut held), "a staying task waits");
                        sent += 1;
                    }
                    drop(held);
                    weather.pass(&mut random).await;
                    yield_now().await;
                }
                for waiter in waiters {
                    waiter.await.expect("it is signalled, or has gone");
                }
                let mut held = world.0.enter().await;
                assert!(world.1.is_empty(&held));
                *held = 0;
            }
        });
    });
}
