//! The loop of a run: it chooses what to poll next, until the future is complete.

use super::failure::{Cause, Failure, Step};
use super::options::{Finished, Options};
use crate::Runtime;
use crate::detect::{self, Alarm, Blocking, Deadlock};
use crate::policy::interleaving;
use crate::primitives::lock;
use crate::primitives::unwind::{self, unwinding};
use crate::processor::current;
use crate::processor::entered;
use crate::processor::shared::Hooks;
use crate::raw_task::id::Id;
use crate::raw_task::party;
use crate::raw_task::report::{TaskPanic, message};
use crate::scheduler::interleave::{self, Interleaver};
use std::any::Any;
use std::cell::Cell;
use std::collections::VecDeque;
use std::future::Future;
use std::panic::{AssertUnwindSafe, Location, catch_unwind};
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;

/// The initial time of the clock, in nanoseconds: an hour, so that a program may compute earlier
/// times.
const START: u64 = 3_600_000_000_000;

/// Steps that are kept for a failure's text. An estimate; no benchmark sets it.
const KEPT: usize = 20;

thread_local! {
    /// The seed of this thread's run, and how many random numbers the run has drawn.
    static RUN: Cell<Option<(u64, u64)>> = const { Cell::new(None) };
}

/// Draws a random number of this thread's run: returns the seed, and how many numbers were drawn
/// before.
pub(super) fn draw() -> Option<(u64, u64)> {
    let (seed, count) = RUN.get()?;
    RUN.set(Some((seed, count + 1)));
    Some((seed, count))
}

/// This thread's run. Its drop ends the run's random numbers, also if the run panics.
struct Run;

impl Run {
    fn begin(seed: u64) -> Self {
        RUN.set(Some((seed, 0)));
        Self
    }
}

impl Drop for Run {
    fn drop(&mut self) {
        RUN.set(None);
    }
}

/// The first failure that a hook has reported.
#[derive(Default)]
struct Noted {
    is_there: AtomicBool,
    cause: Mutex<Option<Cause>>,
}

impl Noted {
    fn note(&self, cause: Cause) {
        lock(&self.cause).get_or_insert(cause);
        // Relaxed: the lock orders the cause.
        self.is_there.store(true, Ordering::Relaxed);
    }

    fn take(&self) -> Option<Cause> {
        if self.is_there.load(Ordering::Relaxed) { lock(&self.cause).take() } else { None }
    }
}

/// Wakes the future of the run.
struct Signal(AtomicBool);

impl Wake for Signal {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        // Release, and acquire below: the future sees what came before its wake, as in `block_on`,
        // which has a model. Models do not build this.
        self.0.store(true, Ordering::Release);
    }
}

impl Alarm for Signal {
    fn is_woken(&self) -> bool {
        self.0.load(Ordering::Acquire)
    }
}

impl Options {
    /// Runs a future to its end on this thread.
    ///
    /// # Errors
    /// If the run fails: see [the module](super).
    ///
    /// # Panics
    /// If the caller is a task.
    ///
    /// # Examples
    /// See [`Options`] and [`Failure`].
    #[track_caller]
    pub fn run<F: Future>(&self, future: F) -> Result<Finished<F::Output>, Failure> {
        drive(self, future)
    }

    /// Runs a program twice and compares all steps.
    ///
    /// # Errors
    /// [`Cause::Differs`] with the first step that was not the same; or the failure of the first
    /// run, or of a second one with the same steps.
    ///
    /// # Panics
    /// If the caller is a task.
    ///
    /// # Examples
    /// ```
    /// use evenkeel::deterministic::{Cause, Options};
    /// use std::cell::Cell;
    /// Options::new(1).verify(|| async { evenkeel::yield_now().await }).unwrap();
    /// // What one run leaves to the next.
    /// let runs = Cell::new(0);
    /// let failure = Options::new(1)
    ///     .verify(|| async {
    ///         runs.set(runs.get() + 1);
    ///         for _ in 0..runs.get() {
    ///             evenkeel::yield_now().await;
    ///         }
    ///     })
    ///     .unwrap_err();
    /// assert!(matches!(failure.cause, Cause::Differs { .. }));
    /// ```
    #[track_caller]
    pub fn verify<F: Future>(
        &self,
        mut program: impl FnMut() -> F,
    ) -> Result<Finished<F::Output>, Failure> {
        let recording = self.clone().record(true);
        let first = recording.run(async { program().await })?;
        let second = recording.run(async { program().await });
        let (steps, fingerprint) = match &second {
            Ok(run) => (&run.trace, run.fingerprint),
            Err(failure) => (&failure.trace, failure.fingerprint),
        };
        if fingerprint == first.fingerprint && *steps == first.trace {
            return second.and(Ok(first));
        }
        let pairs = first.trace.iter().zip(steps);
        let step = pairs.take_while(|(one, other)| one == other).count();
        let cause = Cause::Differs {
            step: step as u64,
            steps: [first.trace.get(step), steps.get(step)].map(Option::<&Step>::copied),
        };
        let trace = first.trace;
        Err(Failure { seed: self.seed, cause, trace, fingerprint })
    }
}

/// Runs a future to its end.
#[track_caller]
fn drive<F: Future>(options: &Options, future: F) -> Result<Finished<F::Output>, Failure> {
    assert!(
        !entered::is_inside() || entered::is_settled(),
        "a deterministic run is begun inside a task, where it would stop a worker: begin it in the test's own function"
    );
    let noted = Arc::new(Noted::default());
    let (runtime, seat) = Runtime::with_seat(hooks(options, &noted), START);
    let entered = current::enter(runtime.handle().shared());
    let run = Run::begin(options.seed);
    let level = party::Level::begin();
    let main = level.party();
    let result = interleave::work(seat, |interleaver| {
        let mut log = Log::new(options);
        let result = turns(options, interleaver, &mut log, &noted, main, Box::pin(future));
        interleaver.end(|ready| log.choose(ready));
        match (result, noted.take()) {
            (Ok(output), None) => Ok(Finished {
                output,
                steps: log.steps,
                elapsed: log.elapsed,
                fingerprint: log.fingerprint,
                trace: log.trace.into(),
            }),
            (Err(cause), _) => Err(log.failure(cause)),
            (Ok(output), Some(cause)) => {
                unwind::contain(|| drop(output));
                Err(log.failure(cause))
            }
        }
    });
    drop(level);
    drop(run);
    drop(entered);
    drop(runtime);
    result
}

fn hooks(options: &Options, noted: &Arc<Noted>) -> Hooks {
    let mut hooks = Hooks { deterministic: true, ..Hooks::default() };
    let told = noted.clone();
    hooks.deadlock = Some(Arc::new(move |deadlock: &Deadlock| {
        told.note(Cause::Deadlock(deadlock.clone()));
    }));
    if !options.tolerates_panics {
        let told = noted.clone();
        hooks.task_panic = Some(Arc::new(move |panic: &TaskPanic<'_>| {
            let words = message(panic.payload).to_owned();
            told.note(Cause::TaskPanicked { task: Some(panic.task.clone()), words });
        }));
        let told = noted.clone();
        hooks.job_panic = Some(Arc::new(move |payload: Box<dyn Any + Send>| {
            told.note(Cause::TaskPanicked { task: None, words: message(&*payload).to_owned() });
        }));
    }
    hooks
}

/// Has the future and the tasks take turns until the future is complete, and drops it.
fn turns<F: Future>(
    options: &Options,
    interleaver: &mut Interleaver<'_>,
    log: &mut Log,
    noted: &Noted,
    main: Id,
    future: Pin<Box<F>>,
) -> Result<F::Output, Cause> {
    let signal = Arc::new(Signal(AtomicBool::new(true)));
    let waker = Waker::from(signal.clone());
    let blocking = Blocking::begin(&signal);
    let mut future = Some(future);
    let result = loop {
        if let Some(cause) = noted.take() {
            break Err(cause);
        }
        let ready = interleaver.ready();
        let candidates = ready + usize::from(signal.is_woken());
        if candidates == 0 {
            if interleaver.move_clock() {
                continue;
            }
            // It may be a deadlock, which makes the better report.
            detect::look_again();
            break Err(noted
                .take()
                .unwrap_or(Cause::Stalled { waiting: interleaver.incomplete() }));
        }
        if log.steps == options.max_steps {
            break Err(Cause::TooLong { steps: log.steps, elapsed: log.elapsed });
        }
        let now = interleaver.shared().clock.now();
        log.elapsed = Duration::from_nanos(now.saturating_sub(START));
        let chosen = log.choose(candidates);
        let output = if chosen < ready {
            interleaver.poll(chosen, |site, task| log.note(candidates, Some(site), task));
            None
        } else {
            log.note(candidates, None, None);
            signal.0.store(false, Ordering::Relaxed);
            blocking.wake();
            interleaver.begin_poll();
            let poll = |future: &mut &mut Option<Pin<Box<F>>>| {
                let future = future.as_mut().expect("the future is not complete");
                let _turn = party::Turn::of(main);
                future.as_mut().poll(&mut Context::from_waker(&waker))
            };
            // As with a task's future, one that panics is dropped while the panic unwinds.
            let polled = || unwinding(&mut future, poll, |future| **future = None);
            match catch_unwind(AssertUnwindSafe(polled)) {
                Ok(Poll::Pending) => {
                    blocking.sleep(|| interleaver.shared().hooks.deadlock.clone());
                    None
                }
                Ok(Poll::Ready(output)) => Some(Ok(output)),
                Err(payload) => Some(Err(Cause::Panicked { payload })),
            }
        };
        interleaver.run_jobs();
        if let Some(result) = output {
            break result;
        }
    };
    let _turn = party::Turn::of(main);
    match catch_unwind(AssertUnwindSafe(|| future = None)) {
        Ok(()) => result,
        Err(payload) => match result {
            Ok(output) => {
                unwind::contain(|| drop(output));
                Err(Cause::Panicked { payload })
            }
            Err(cause) => {
                unwind::contain(|| drop(payload));
                Err(cause)
            }
        },
    }
}

/// What has been chosen so far.
struct Log {
    seed: u64,
    /// Choices, of which the last ones may have been made for the cancellation at the end.
    choices: u64,
    steps: u64,
    elapsed: Duration,
    fingerprint: u64,
    trace: VecDeque<Step>,
    kept: usize,
}

impl Log {
    fn new(options: &Options) -> Self {
        Self {
            seed: options.seed,
            choices: 0,
            steps: 0,
            elapsed: Duration::ZERO,
            fingerprint: 0,
            trace: VecDeque::new(),
            kept: if options.records { usize::MAX } else { KEPT },
        }
    }

    fn choose(&mut self, candidates: usize) -> usize {
        let bits = interleaving::bits(self.seed, self.choices);
        self.choices += 1;
        interleaving::among(bits, candidates)
    }

    /// Notes a step. The choice follows from the number of candidates.
    fn note(
        &mut self,
        candidates: usize,
        spawn_site: Option<&'static Location<'static>>,
        task: Option<u64>,
    ) {
        self.steps += 1;
        let place =
            spawn_site.map_or(0, |site| u64::from(site.line()) << 32 | u64::from(site.column()));
        let what = candidates as u64 ^ self.elapsed.as_nanos() as u64;
        self.fingerprint = interleaving::bits(self.fingerprint ^ what, place);
        self.fingerprint = interleaving::bits(self.fingerprint, task.map_or(0, |task| task + 1));
        if self.trace.len() == self.kept {
            self.trace.pop_front();
        }
        self.trace.push_back(Step { elapsed: self.elapsed, candidates, spawn_site });
    }

    fn failure(self, cause: Cause) -> Failure {
        let (seed, fingerprint) = (self.seed, self.fingerprint);
        Failure { seed, cause, trace: self.trace.into(), fingerprint }
    }
}
