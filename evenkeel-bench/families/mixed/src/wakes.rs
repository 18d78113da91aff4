//! Wakes beside computations that keep every worker busy.
//!
//! **Roles.** *Drivers*, one thread per worker, request one computation after another. Tasks come
//! in *pairs*, parked. The *controller*, which is no worker, wakes the first task of a random pair
//! after each of many random pauses; that task wakes its partner, and the partner reports the pair
//! free.
//!
//! **Stamps.** The waker records the time just before the wake, and the woken task compares it with
//! the time when it runs. A pair has one wake at a time, to which the stamp belongs.
//!
//! **Every wake counts.** At the end the controller waits until all pairs are free, while
//! computations go on. The run fails unless the tasks then have as many latencies as the controller
//! sent wakes.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::thread;
use std::time::{Duration, Instant};

use super::pool::Pool;
use super::stream::{self, Done};
use super::{Outcome, Spec, Tasks};
use scheduling::crew::{self, Meter};
use suite::kit::fault::Fault;
use suite::kit::latency::Latencies;
use suite::kit::random::Random;
use suite::kit::runtime::{Parker, Runtime};

/// The pauses between wakes from outside, in microseconds. They are long enough that a wake rarely
/// meets the previous one, since 99 in 100 take less than 20 µs on quiet cores. They are random, so
/// that they fall into step with nothing.
pub(crate) const PAUSES: std::ops::Range<usize> = 50..350;

/// How long a wake may take before it counts as lost.
const LIMIT: Duration = Duration::from_secs(10);

/// How often the controller looks for a free pair if there is none.
const LOOK: Duration = Duration::from_micros(100);

/// Two tasks and the wake under way between them.
#[derive(Default)]
struct Pair {
    /// A wake is under way. Set by the controller, cleared by the second task.
    busy: AtomicBool,
    /// When the first and the second task were woken, in nanoseconds of the run.
    woken: [AtomicU64; 2],
}

/// State of the controller and the tasks. Task `2 i` is the first of pair `i`.
struct Pairs<R: Runtime> {
    pairs: Box<[Pair]>,
    tokens: Box<[R::Parker]>,
    /// Filled once all tasks have reported.
    unparkers: OnceLock<Vec<<R::Parker as Parker>::Unparker>>,
    began: Instant,
}

impl<R: Runtime> Pairs<R> {
    fn new(tasks: usize) -> Self {
        Self {
            pairs: (0..tasks / 2).map(|_| Pair::default()).collect(),
            tokens: (0..tasks).map(|_| R::Parker::default()).collect(),
            unparkers: OnceLock::new(),
            began: Instant::now(),
        }
    }

    fn now(&self) -> u64 {
        u64::try_from(self.began.elapsed().as_nanos()).unwrap_or(u64::MAX)
    }

    fn unparkers(&self) -> &[<R::Parker as Parker>::Unparker] {
        self.unparkers.get_or_init(|| self.tokens.iter().map(Parker::unparker).collect())
    }

    fn wake(&self, task: usize) {
        let unparker = &self.unparkers()[task];
        self.pairs[task / 2].woken[task % 2].store(self.now(), Ordering::Release);
        R::Parker::unpark(unparker);
    }

    /// The body of a task: returns the latencies of its wakes in nanoseconds.
    async fn live(&self, task: usize, mut meter: Meter) -> Vec<u64> {
        let mut latencies = Vec::new();
        self.tokens[task].attach().await;
        meter.report();
        loop {
            self.tokens[task].park().await;
            if meter.stopped() {
                return latencies;
            }
            let pair = &self.pairs[task / 2];
            let woken = pair.woken[task % 2].load(Ordering::Acquire);
            latencies.push(self.now().saturating_sub(woken));
            if task.is_multiple_of(2) {
                self.wake(task + 1);
            } else {
                pair.busy.store(false, Ordering::Release);
            }
        }
    }

    fn is_free(&self, pair: usize) -> bool {
        !self.pairs[pair].busy.load(Ordering::Acquire)
    }

    /// Wakes the first tasks of random pairs for `time`, and returns the number of wakes.
    fn send(&self, time: Duration, seed: u64) -> u64 {
        let mut random = Random::new(seed, 0);
        let started = Instant::now();
        let mut sent = 0;
        while started.elapsed() < time {
            let pause = PAUSES.start + random.below(PAUSES.len());
            thread::sleep(Duration::from_micros(pause as u64));
            let count = self.pairs.len();
            let first = random.below(count);
            // If no pair is free, the latencies show it.
            if let Some(pair) = (first..first + count).map(|i| i % count).find(|&i| self.is_free(i))
            {
                self.pairs[pair].busy.store(true, Ordering::Relaxed);
                self.wake(2 * pair);
                sent += 1;
            }
        }
        sent
    }

    /// Waits until no wake is under way.
    fn drain(&self) -> Result<(), Fault> {
        let started = Instant::now();
        loop {
            let late = (0..self.pairs.len()).filter(|&pair| !self.is_free(pair)).count();
            if late == 0 {
                return Ok(());
            }
            if started.elapsed() > LIMIT {
                return Fault::check(format!("{late} wakes have not arrived after {LIMIT:?}"));
            }
            thread::sleep(LOOK);
        }
    }
}

pub(super) fn run<P: Pool>(spec: &Spec, right: u64) -> Result<Outcome, Fault> {
    let pool = P::start(spec.workers).map_err(Fault::Start)?;
    let pairs = Arc::new(Pairs::<P::Tasks>::new(spec.tasks));
    let shared = pairs.clone();
    let crew = crew::muster(pool.tasks(), spec.tasks, move |task, meter| {
        let pairs = shared.clone();
        async move { pairs.live(task, meter).await }
    })?;
    crew.begin()?;
    let over = AtomicBool::new(false);
    let forks = pool.forks();
    let drive = || stream::run(forks, spec, right, || !over.load(Ordering::Relaxed));
    let (started, ended, sent, drained, done) = thread::scope(|scope| {
        let drivers: Vec<_> = (0..spec.workers).map(|_| scope.spawn(drive)).collect();
        thread::sleep(crew::warm_up(spec.time));
        let started = crew.mark();
        let sent = pairs.send(spec.time, spec.seed);
        let ended = Instant::now();
        let drained = pairs.drain();
        over.store(true, Ordering::Relaxed);
        let join = |driver: thread::ScopedJoinHandle<'_, _>| match driver.join() {
            Ok(done) => done,
            Err(panic) => std::panic::resume_unwind(panic),
        };
        let done: Vec<Result<Vec<Done>, Fault>> = drivers.into_iter().map(join).collect();
        (started, ended, sent, drained, done)
    });
    let left =
        crew.end(|| pairs.unparkers().iter().for_each(<P::Tasks as Runtime>::Parker::unpark))?;
    drained?;
    let mut computations = Latencies::default();
    for done in done {
        let within = |done: &Done| (started..ended).contains(&done.at);
        done?.into_iter().filter(within).for_each(|done| computations.add(done.took));
    }
    let (outside, relayed) = latencies(&left, sent)?;
    let seconds = (ended - started).as_secs_f64();
    Ok(Outcome { seconds, computations, tasks: Tasks::Wakes { outside, relayed } })
}

/// Returns the latencies of first and of second tasks, if there are as many of each as wakes.
fn latencies(left: &[Vec<u64>], sent: u64) -> Result<(Latencies, Latencies), Fault> {
    let (mut outside, mut relayed) = (Latencies::default(), Latencies::default());
    for pair in left.chunks(2) {
        outside.extend(pair[0].iter().copied());
        relayed.extend(pair[1].iter().copied());
    }
    if (outside.count(), relayed.count()) != (sent, sent) {
        return Fault::check(format!(
            "of {sent} wakes {} arrived, and {} of those that follow them",
            outside.count(),
            relayed.count()
        ));
    }
    Ok((outside, relayed))
}
