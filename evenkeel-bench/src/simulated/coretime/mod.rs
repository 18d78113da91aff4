//! Figure 4 of CoreTime on a simulated machine, with the runtime's own policy for objects.
//!
//! Tasks resolve file names in directories, of which more and more are in use. Either each
//! directory has a spin lock and each core a thread, or directories have homes to which tasks
//! travel. The paper's machine has sixteen cores and twenty caches, more than this suite can
//! expect, so its caches are simulated. As in the runtime, [`evenkeel_policy::object`] decides
//! which directories have a home, and where: by trials, homes dealt in turn, heat and rebalancing.
//! All figures are *simulated*, and say so.

pub(crate) mod claims;
pub(crate) mod record;
pub(crate) mod table;
#[cfg(test)]
mod tests;

use evenkeel_sim::coretime::{
    CORES, CYCLES, DIRECTORY, Guesses, MILLISECOND, Mode, Outcome, Popularity, Setting, Span, Unit,
    run as simulate,
};
use rayon::prelude::*;
use record::{Record, median};

/// The assumptions behind the figures.
pub(crate) const ASSUMPTIONS: [&str; 10] = [
    "From the paper: four chips of four cores at 2 GHz in a square; a line takes 14 cycles from the core's 512 KiB, 75 from the chip's 2 MiB, 127 from another core of the \
     chip, 336 from the farthest memory; a migration takes 2,000 cycles; directories have 1,000 entries of 32 bytes, and a lock each.",
    "Each step from chip to chip adds 70 cycles, so that the nearest memory takes 196. Lines that no core has written come from memory, even if another core has them, as is usual with the protocol of these processors, but for the cases that say so; locks come from the core that had them last.",
    "Caches hold pages of 4 KiB, and drop what has not been used for longest; the chip's cache gets what its cores' drop, and keeps what is used from there. The first-level cache is \
     counted as a part of the second.",
    "The hardware prefetches streams: two lines are under way at once, after the first two of a page, which are waited for. Chosen so that homes give the paper's two to three times from 4 MiB on; with four lines under way they give 1.5 times at 4 MiB, \
     2.3 at 6 and 2.7 at 8.",
    "A chip's memory gives a line in 28 cycles (4.6 GB/s, less than half of what two channels of DDR2-667 have at best), and pages are dealt out to the chips. A link takes 36 cycles for a line (3.6 GB/s) and each of the eight 5 for asking all chips \
     about it, as processors without a directory of lines do. Estimates: the paper has latencies only.",
    "A comparison takes 12 cycles, a resolution beside its search 1,000, a switch of tasks 100. The paper does not say; they are chosen so that homes give about 3,300 thousand resolutions per second: the axis of its graph ends at 3,500, and of the graph no values are known.",
    "Without homes a thread runs on each core, and a lock costs the transfer of its line; more waiters do not make a handover slower, so spin locks are flattered.",
    "With homes there are eight tasks for each core, with fewer than which the policy counts the whole time for which a journey is under way; the paper does not say how many threads it had. A task goes to the directory's home and back to its core, as in the \
     paper; half of a migration is under way, the rest keeps a core busy at either end. What stays in place waits for its lock without keeping the core.",
    "The policy is the runtime's: it tries each way by throughput, deals homes to the cores in turn, samples one operation in 64 for their heat, and rebalances every 0.5 ms; a home changes when a sampled operation there is over. It begins with all directories in place. \
     Two parts are simpler: the heat of each directory is counted, where a worker of the runtime has 128 places, for which objects compete, and counts at least its busy time; and cache misses are not counted, by which the runtime may leave a class in place untried. \
     Its constants (how often it samples, how long it rests between trials, which objects are cold) were chosen by simulations of this very machine and program.",
    "40 ms of simulated time are counted after 40 ms. Oscillating, all directories and the first sixteenth of them are in use in turns, and two phases are counted after two: phases of 64,000 resolutions, and of 40 ms. The paper gives no period, nor whether its phases \
     are of resolutions or of time; but its factor of more than two cannot come from phases as long as each other, of which one has a sixteenth of the directories, where homes give next to nothing.",
];

/// The total sizes of all directories, in KiB: the abscissa of the figure.
pub(crate) const SIZES: [u64; 15] = [
    256, 512, 1_024, 1_536, 2_048, 3_072, 4_096, 6_144, 8_192, 10_240, 12_288, 14_336, 16_384,
    18_432, 20_480,
];

/// The modes that are compared.
const MODES: [Mode; 2] = [Mode::Threads, Mode::Objects { tasks: 8 }];

/// The two halves of the figure, the second with phases of both kinds; then both halves under each
/// of two assumptions that the paper leaves open.
const CASES: [(Popularity, Unit, Memories); 7] = [
    (Popularity::Uniform, Unit::Time, Memories::Usual),
    (Popularity::Oscillating, Unit::Work, Memories::Usual),
    (Popularity::Oscillating, Unit::Time, Memories::Usual),
    (Popularity::Uniform, Unit::Time, Memories::FromCaches),
    (Popularity::Oscillating, Unit::Work, Memories::FromCaches),
    (Popularity::Uniform, Unit::Time, Memories::OneAhead),
    (Popularity::Oscillating, Unit::Work, Memories::OneAhead),
];

/// The sources of the lines that a core reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Memories {
    /// As in the other assumptions.
    Usual,
    /// A line may come from any cache that has it, at the paper's 127 cycles and more.
    FromCaches,
    /// One line of a stream is under way at a time: nothing is prefetched.
    OneAhead,
}

impl Memories {
    fn guesses(self) -> Guesses {
        match self {
            Self::Usual => SETTING.guesses,
            Self::FromCaches => Guesses { from_caches: true, ..SETTING.guesses },
            Self::OneAhead => Guesses { ahead: 1, ..SETTING.guesses },
        }
    }
}

const SETTING: Setting = Setting {
    directories: 0,
    popularity: Popularity::Uniform,
    mode: Mode::Threads,
    seed: 0,
    guesses: Guesses {
        ahead: 2,
        exposed: 2,
        per_line: 28,
        per_hop: 36,
        per_probe: 5,
        from_caches: false,
    },
    compare: 12,
    fixed: 1_000,
    migration: 2_000,
    switch: 100,
    span: span(Unit::Time, 1),
};

/// Returns a span of one or more counted phases, after as many uncounted ones.
const fn span(unit: Unit, phases: u64) -> Span {
    let phase = match unit {
        Unit::Time => 40 * MILLISECOND,
        // For sizes in the middle, threads take about as long.
        Unit::Work => 64_000,
    };
    Span { unit, warm_up: phases * phase, counted: phases * phase, phase }
}

/// Returns the number of directories with a total of `kib` KiB; at least one.
fn directories(kib: u64) -> usize {
    ((kib << 10) / DIRECTORY).max(1) as usize
}

/// Runs all cases of the figure at each of these sizes, each with `seeds` seeds. Returns two
/// records per case and size, the one without homes first.
pub(crate) fn run(sizes: &[u64], seeds: u64) -> Vec<Record> {
    let mut settings = Vec::new();
    for (popularity, unit, memories) in CASES {
        for &kib in sizes {
            for mode in MODES {
                let directories = directories(kib);
                let span = span(unit, if popularity == Popularity::Oscillating { 2 } else { 1 });
                let guesses = memories.guesses();
                let setting = Setting { directories, popularity, mode, span, guesses, ..SETTING };
                settings.push((kib, memories, setting));
            }
        }
    }
    let record = |(kib, memories, setting): (u64, Memories, Setting)| {
        let run = |seed| simulate(Setting { seed, ..setting });
        let outcomes: Vec<Outcome> = (1..=seeds).map(run).collect();
        record(kib, memories, &setting, &outcomes)
    };
    settings.into_par_iter().map(record).collect()
}

fn verdict(mode: Mode, outcomes: &[Outcome]) -> String {
    match (mode, outcomes) {
        (Mode::Objects { .. }, [first, ..]) => first.verdict.to_string(),
        _ => String::new(),
    }
}

fn record(kib: u64, memories: Memories, setting: &Setting, outcomes: &[Outcome]) -> Record {
    let rate = |outcome: &Outcome| {
        // Cycles per nanosecond, and a thousand per second is one per million nanoseconds.
        outcome.operations as f64 / outcome.cycles as f64 * CYCLES as f64 * 1e6
    };
    let thousands: Vec<f64> = outcomes.iter().map(rate).collect();
    Record {
        simulated: true,
        runtime: Record::runtime(setting.mode).to_owned(),
        bench: record::NAME.to_owned(),
        variant: Record::variant(setting.popularity, setting.span.unit, memories),
        kib,
        directories: setting.directories,
        workers: CORES,
        reps: outcomes.len(),
        thousands_median: median(outcomes, rate),
        thousands_min: thousands.iter().copied().fold(f64::INFINITY, f64::min),
        thousands_max: thousands.iter().copied().fold(0.0, f64::max),
        thousands,
        busy: median(outcomes, |outcome| outcome.busy),
        moves: median(outcomes, |outcome| outcome.moves as f64),
        verdict: verdict(setting.mode, outcomes),
    }
}
