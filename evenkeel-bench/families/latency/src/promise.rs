//! The command `promise`: measures what the promise depends on, and tries to break it.
//!
//! Each phase puts a load on this project's runtime and sends light tasks from outside, as the
//! experiment does. The longest delay of the phase is put beside its bound, by the formulas of
//! `docs/promise.md`: one is for workers of which some make progress, one for none. A task that
//! does not run is beyond every bound.

use std::fmt;
use std::hint;
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{anyhow, ensure};
use clap::{Args, value_parser};
use evenkeel_policy::budget::SLICE;
use evenkeel_policy::relieving::LONGEST_NAP;

use crate::board::{self, Ran, Run};
use crate::delays::{Sent, micros};
use crate::load::Load;
use crate::sends::{self, Beside, Call};
use crate::{USUAL_RATE, Variant};
use suite::affinity::{self, confined};
use suite::kit::fault::Fault;
use suite::kit::runtime::evenkeel::Evenkeel;
use suite::output::{note, print};
use suite::{interrupt, machine, named, regime, words};

/// Measure what evenkeel's promise depends on, and try to break it: exit status 1 if a light task
/// waits for longer than its bound
#[derive(Debug, Args)]
pub struct Options {
    /// How long to try, in all
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = value_parser!(u32).range(1..=3_600))]
    seconds: u32,
    /// Workers of the runtime [default: all cores]
    #[arg(long, visible_alias = "procs", value_name = "W", value_parser = value_parser!(u16).range(1..=1_024))]
    workers: Option<u16>,
}

/// The constants of the promise, with their letters in `docs/promise.md`.
struct Promise {
    /// `C`: how long it takes until a relief comes where no worker makes progress.
    call: Duration,
    /// How long that relief takes for what each worker has.
    take: Duration,
    /// `H`: how long a worker takes to look at another, for each worker that looks.
    look: Duration,
    /// How often the longest poll counts.
    polls: u32,
    /// How long each worker takes to wake the next.
    wake: Duration,
    /// How often the fair share of the work ahead counts.
    share: f64,
    /// How long the watch sleeps, while the other workers sleep.
    watch: Duration,
}

/// What this project promises.
const PROMISE: Promise = Promise {
    // Two naps of the lookout, and the delays of a kernel.
    call: Duration::from_nanos(2 * LONGEST_NAP + 200_000),
    take: Duration::from_micros(10),
    look: Duration::from_micros(450),
    polls: 6,
    wake: Duration::from_micros(9),
    share: 2.0,
    watch: Duration::from_millis(8),
};

/// Returns the bound of a light task beside a load in which no worker makes progress, on a system
/// that takes no core away; `None` for other loads.
pub(crate) fn stuck(variant: Variant, workers: usize) -> Option<Duration> {
    let phase = match variant {
        Variant::BlockAll => Phase::Blockers,
        // The only worker.
        Variant::BlockOne if workers == 1 => Phase::Blockers,
        Variant::Ready => Phase::Ready,
        Variant::Alone | Variant::Compute | Variant::BlockOne => return None,
    };
    Some(PROMISE.bound(&phase.ahead(workers, &QUIET)))
}

/// What a light task finds.
struct Ahead {
    /// Workers, and those of them that make progress.
    workers: usize,
    progressing: usize,
    /// Ready tasks, and the mean time of their polls.
    ready: usize,
    poll: Duration,
    /// The longest poll that returns, or the longest time for which the system takes a core away.
    longest: Duration,
    /// The workers that make progress may sleep.
    asleep: bool,
}

impl Promise {
    /// The bound of a light task's delay.
    fn bound(&self, ahead: &Ahead) -> Duration {
        let Ahead { workers, progressing, ready, poll, longest, asleep } = *ahead;
        let polls = longest * self.polls + self.wake * workers as u32;
        // If no worker makes progress, one relief does, alone.
        let work = poll.mul_f64(self.share * ready as f64 / progressing.max(1) as f64);
        if progressing == 0 {
            return self.call + self.look + self.take * workers as u32 + polls + work;
        }
        let looks = workers.div_ceil(progressing) as u32;
        let watch = if asleep { self.watch } else { Duration::ZERO };
        self.look * looks + polls + work + watch
    }
}

named! {
    /// An attempt.
    enum Phase as "phase" {
        /// Nothing else runs.
        Quiet = "quiet": "nothing else runs",
        /// Many tasks at once.
        Bursts = "bursts": "100 wakes and 100 spawns at once, every 10 ms",
        /// Endless local wakes.
        Pairs = "pairs": "a pair of tasks for each worker, which wake each other for ever",
        /// A task behind a poll that keeps the worker.
        Trap = "trap": "the task is woken by a poll that then goes on for 20 ms",
        /// Loops of awaits that are always ready.
        Ready = "ready": "two loops of awaits that are always ready, for each worker",
        /// Tasks that block.
        Blockers = "blockers": "a task for each worker that blocks its thread, 100 ms each",
        /// Loops without an await.
        Loops = "loops": "a loop without an await for each worker",
    }
}

/// Sends of a burst, and the pause between bursts.
const BURST: usize = 200;
const BURST_PAUSE: Duration = Duration::from_millis(10);

/// How long a trap keeps its worker, and the pause between traps.
const HELD: Duration = Duration::from_millis(20);
const TRAP_PAUSE: Duration = Duration::from_millis(25);

/// The mean poll of light tasks and of pairs, generously: they do next to nothing.
const POLL: Duration = Duration::from_micros(2);

/// How long after the last send a task may run before it counts as never run: far beyond every
/// bound.
const PATIENCE: Duration = Duration::from_millis(500);

impl Phase {
    /// The load, and what is sent within a time.
    fn run(self, workers: usize, time: Duration) -> (Load, Vec<Call>) {
        let times = |pause: Duration| ((time.as_micros() / pause.as_micros()) as usize).max(1);
        let steady = |blocks| {
            let events = time.as_secs_f64() * f64::from(USUAL_RATE);
            let beside = Beside { computes: 0, blocks };
            sends::steady((events as usize).max(1), USUAL_RATE, beside, 1)
        };
        match self {
            Phase::Quiet => (Load::Nothing, steady(0)),
            Phase::Bursts => (Load::Nothing, sends::bursts(times(BURST_PAUSE), BURST, BURST_PAUSE)),
            Phase::Pairs => (Load::Pairs(workers), steady(0)),
            Phase::Trap => (Load::Nothing, sends::traps(times(TRAP_PAUSE), HELD, TRAP_PAUSE)),
            Phase::Ready => (Load::Ready(workers), steady(0)),
            Phase::Blockers => (Load::Nothing, steady(workers)),
            Phase::Loops => (Load::Loops(workers), steady(0)),
        }
    }

    /// What a light task finds on this system.
    fn ahead(self, workers: usize, system: &System) -> Ahead {
        let all = Ahead {
            workers,
            progressing: workers,
            ready: 2,
            poll: POLL,
            longest: system.gap.max(POLL),
            asleep: false,
        };
        // A relief shares the cores with workers that are stuck and compute.
        let stuck = Ahead { progressing: 0, longest: system.crowded.max(POLL), ..all };
        match self {
            Phase::Quiet => all,
            Phase::Bursts => Ahead { ready: BURST, ..all },
            Phase::Pairs => Ahead { ready: 2 * workers + 2, ..all },
            Phase::Trap if workers == 1 => stuck,
            Phase::Trap => Ahead { progressing: workers - 1, asleep: true, ..all },
            // One loop for each worker yields at the end of its slice.
            Phase::Ready => {
                let poll = Duration::from_nanos(SLICE);
                Ahead { ready: workers + 2, poll, longest: stuck.longest.max(poll), ..stuck }
            }
            Phase::Blockers => Ahead { progressing: 0, ..all },
            Phase::Loops => stuck,
        }
    }
}

/// The command.
pub fn run(options: &Options) -> anyhow::Result<()> {
    let workers = options.workers.map_or_else(|| affinity::cores().len(), usize::from);
    if cfg!(debug_assertions) {
        note!("this is a debug build, whose figures say nothing: run it with `--release`");
    }
    interrupt::begin();
    let before = regime::bounce();
    let mut system = confined(workers, || System::measured(workers));
    let time = Duration::from_secs(options.seconds.into()) / Phase::ALL.len() as u32;
    let mut rows = Vec::new();
    for phase in Phase::ALL {
        note!("{phase}: {}", phase.describe());
        let row = confined(workers, || attempt(phase, workers, time));
        rows.push(row.map_err(|fault| anyhow!("{phase}: {fault}"))?);
        // What the system does may change meanwhile.
        confined(workers, || system.look(workers, LOOK_AGAIN));
        interrupt::check()?;
    }
    if system.gap > DISTURBED {
        note!("other programs use these cores: the bounds are wide");
    }
    for row in &mut rows {
        row.bound = PROMISE.bound(&row.phase.ahead(workers, &system));
    }
    let cores = regime::name(before, regime::bounce());
    print(&format!(
        "{}, {}, cores {cores}\n",
        machine::describe(),
        words::count(workers, "worker")
    ));
    print(&format!("{system}\n{}", table(&rows)));
    let beyond: Vec<&str> = rows.iter().filter(|row| !row.is_within()).map(Row::name).collect();
    ensure!(beyond.is_empty(), "the bound was exceeded: {}", words::and(&beyond));
    Ok(())
}

/// What the system does to threads: constants of the machine on which the promise stands.
#[derive(Clone, Copy, Debug)]
struct System {
    /// The longest time for which a thread that spins on its core did not run.
    gap: Duration,
    /// The same where one thread more than there are workers spins on their cores.
    crowded: Duration,
    /// From the wake of a parked thread to its run: the median and the longest.
    wake: (Duration, Duration),
}

/// How long gaps are looked for at first, and after each phase; and the wakes of a thread.
const LOOK: Duration = Duration::from_millis(300);
const LOOK_AGAIN: Duration = Duration::from_millis(100);
const WAKES: usize = 200;

/// The gap from which the cores are not this program's own: a quiet system takes them for less.
const DISTURBED: Duration = Duration::from_millis(1);

/// A system that takes no core away.
const QUIET: System =
    System { gap: Duration::ZERO, crowded: Duration::ZERO, wake: (Duration::ZERO, Duration::ZERO) };

impl System {
    fn measured(workers: usize) -> Self {
        let mut system = Self { wake: wakes(), ..QUIET };
        system.look(workers, LOOK);
        system
    }

    /// Looks for longer gaps, of both kinds.
    fn look(&mut self, workers: usize, time: Duration) {
        self.gap = self.gap.max(longest_gap(workers, time));
        self.crowded = self.crowded.max(longest_gap(workers + 1, time));
    }
}

/// The longest gap of some threads.
fn longest_gap(threads: usize, time: Duration) -> Duration {
    thread::scope(|scope| {
        let threads: Vec<_> = (0..threads).map(|_| scope.spawn(move || gap(time))).collect();
        let gaps = threads.into_iter().map(|thread| thread.join().unwrap_or_default());
        gaps.max().unwrap_or_default()
    })
}

impl fmt::Display for System {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let us = |time: Duration| words::figure(time.as_secs_f64() * 1e6);
        let (median, longest) = self.wake;
        write!(
            f,
            "the system keeps a busy thread from its core for at most {} µs, and for {} where \
             one more is busy\n\
             a parked thread runs {} µs after its wake, and {} µs at most",
            us(self.gap),
            us(self.crowded),
            us(median),
            us(longest)
        )
    }
}

/// The longest time between two readings of the clock by a thread that only reads it.
fn gap(time: Duration) -> Duration {
    let began = Instant::now();
    let (mut last, mut longest) = (began, Duration::ZERO);
    while last - began < time {
        hint::spin_loop();
        let now = Instant::now();
        longest = longest.max(now - last);
        last = now;
    }
    longest
}

/// The median and the longest time from a wake of a thread to its run.
fn wakes() -> (Duration, Duration) {
    let (send, received) = mpsc::channel::<Instant>();
    let woken =
        thread::spawn(move || received.iter().map(|sent| sent.elapsed()).collect::<Vec<_>>());
    for _ in 0..WAKES {
        thread::sleep(Duration::from_millis(1));
        if send.send(Instant::now()).is_err() {
            break;
        }
    }
    drop(send);
    let mut all = woken.join().unwrap_or_default();
    all.sort_unstable();
    (all.get(all.len() / 2).copied().unwrap_or_default(), all.last().copied().unwrap_or_default())
}

/// The outcome of a phase. Wakes and spawns are pooled.
struct Row {
    phase: Phase,
    /// Light tasks, and those that never ran.
    tasks: usize,
    never: usize,
    /// Median, 99th and 99.9th percentile and longest, in microseconds, of all tasks.
    marks: [Option<f64>; 4],
    bound: Duration,
}

/// Puts the load of a phase on the runtime. The result has no bound yet.
fn attempt(phase: Phase, workers: usize, time: Duration) -> Result<Row, Fault> {
    let (load, sends) = phase.run(workers, time);
    let run = Run { load, sends: &sends, patience: PATIENCE };
    let Ran { wakes, spawns, .. } = board::run::<Evenkeel>(workers, run)?;
    Ok(Row::of(phase, &[wakes, spawns].concat(), Duration::ZERO))
}

impl Row {
    fn of(phase: Phase, sent: &[Sent], bound: Duration) -> Self {
        let mut ran: Vec<u64> = sent.iter().filter_map(|(_, delay)| *delay).collect();
        ran.sort_unstable();
        let (tasks, never) = (sent.len(), sent.len() - ran.len());
        let marks = [0.5, 0.99, 0.999, 1.0].map(|share| micros(&ran, tasks, share));
        Self { phase, tasks, never, marks, bound }
    }

    fn name(&self) -> &'static str {
        self.phase.name()
    }

    /// Whether every task ran within the bound.
    fn is_within(&self) -> bool {
        let bound = self.bound.as_secs_f64() * 1e6;
        self.never == 0 && self.marks[3].is_some_and(|longest| longest <= bound)
    }

    fn cells(&self) -> [String; 9] {
        let mark = |at: usize| self.marks[at].map_or_else(|| "never".to_owned(), words::figure);
        let verdict = if self.is_within() { "within" } else { "BEYOND" };
        [
            self.name().to_owned(),
            words::thousands(self.tasks as i64),
            words::thousands(self.never as i64),
            mark(0),
            mark(1),
            mark(2),
            mark(3),
            words::figure(self.bound.as_secs_f64() * 1e6),
            verdict.to_owned(),
        ]
    }
}

const HEAD: [&str; 9] =
    ["phase", "tasks", "never run", "p50, µs", "p99", "p99.9", "longest", "bound, µs", ""];

/// Renders the rows with their columns aligned.
fn table(rows: &[Row]) -> String {
    let cells: Vec<[String; 9]> =
        std::iter::once(HEAD.map(str::to_owned)).chain(rows.iter().map(Row::cells)).collect();
    let width = |column: usize| {
        cells.iter().map(|row| row[column].chars().count()).max().unwrap_or_default()
    };
    let line = |row: &[String; 9]| {
        let first = format!("{:<w$}", row[0], w = width(0));
        let rest = (1..8).map(|column| format!("  {:>w$}", row[column], w = width(column)));
        format!("{first}{}  {}", rest.collect::<String>(), row[8]).trim_end().to_owned() + "\n"
    };
    cells.iter().map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bound_is_that_of_the_paper() {
        // Its worked example.
        let ahead = |progressing, ready, longest| Ahead {
            workers: 8,
            progressing,
            ready,
            poll: Duration::from_micros(2),
            longest,
            asleep: false,
        };
        let us = |ahead: &Ahead| PROMISE.bound(ahead).as_micros();
        let usual = Duration::from_micros(200);
        assert_eq!(us(&ahead(8, 10_000, usual)), 450 + 1_200 + 72 + 5_000);
        assert_eq!(us(&ahead(6, 10_000, usual)), 900 + 1_200 + 72 + 6_666);
        assert_eq!(us(&ahead(1, 10_000, usual)), 3_600 + 1_200 + 72 + 40_000);
        assert_eq!(us(&ahead(8, 10_000, Duration::from_millis(5))), 450 + 30_000 + 72 + 5_000);
        assert_eq!(us(&ahead(0, 1, usual)), 8_200 + 450 + 80 + 1_200 + 72 + 4);
        let asleep = Ahead { asleep: true, ..ahead(8, 100, usual) };
        assert_eq!(us(&asleep), 450 + 1_200 + 72 + 50 + 8_000);
    }

    #[test]
    fn a_task_that_never_ran_is_beyond_every_bound() {
        let of = |sent: &[Sent]| Row::of(Phase::Ready, sent, Duration::from_micros(10));
        assert!(of(&[(0, Some(1_000)), (5, Some(10_000))]).is_within());
        assert!(!of(&[(0, Some(1_000)), (5, Some(10_001))]).is_within());
        let never = of(&[(0, Some(1_000)), (5, None)]);
        assert!(!never.is_within());
        let text = table(&[never]);
        assert!(text.contains("never") && text.trim_end().ends_with("BEYOND"), "{text}");
        assert!(text.starts_with("phase  tasks"), "{text}");
    }

    #[test]
    fn phases_without_progress_have_the_bound_of_a_relief_which_grows_with_the_gap() {
        let us = |phase: Phase, workers, gap, crowded| {
            let [gap, crowded] = [gap, crowded].map(Duration::from_micros);
            let system = System { gap, crowded, ..QUIET };
            PROMISE.bound(&phase.ahead(workers, &system)).as_micros()
        };
        // Two workers; the polls of two light tasks count six times, and twice.
        let two = 8_200 + 450 + 2 * 10 + 2 * 9 + 2 * 2 * 2;
        for phase in [Phase::Blockers, Phase::Loops] {
            assert_eq!(us(phase, 2, 0, 0), two + 6 * 2, "{phase}");
        }
        assert_eq!(us(Phase::Blockers, 2, 4_000, 9_000), two + 6 * 4_000);
        assert_eq!(us(Phase::Loops, 2, 4_000, 9_000), two + 6 * 9_000);
        // Loops that yield are ahead too, with polls of 50 µs.
        let ready = 8_200 + 450 + 2 * 10 + 2 * 9 + 2 * 4 * 50;
        assert_eq!(us(Phase::Ready, 2, 0, 0), ready + 6 * 50);
        let lines = Variant::ALL.map(|of| stuck(of, 2).map(|line| line.as_micros()));
        assert_eq!(lines, [None, None, None, Some(two + 6 * 2), Some(ready + 6 * 50)]);
        assert_eq!(stuck(Variant::BlockOne, 1), stuck(Variant::BlockAll, 1), "the only worker");
        assert_eq!(us(Phase::Ready, 2, 0, 9_000), ready + 6 * 9_000);
        let one = 8_200 + 450 + 10 + 9 + 2 * 2 * 2;
        assert_eq!(us(Phase::Trap, 1, 0, 9_000), one + 6 * 9_000);
        assert_eq!(us(Phase::Trap, 2, 0, 9_000), 2 * 450 + 2 * 9 + 8 + 6 * 2 + 8_000);
    }

    /// Each phase ends, and has its tasks.
    #[test]
    fn each_phase_ends() {
        for phase in Phase::ALL {
            let row = attempt(phase, 2, Duration::from_millis(60)).unwrap();
            assert!(row.tasks > 0, "{phase}");
        }
    }
}
