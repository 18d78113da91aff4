//! The family of growth.

use super::moves;
use super::probe::{self, Figures};
use super::{Bench, MOST, NUMBERS, Name, Spec, Variant};
use suite::asked::{Asked, Usage};
use suite::case::{Case, Fields};
use suite::description::Experiment;
use suite::effort::Effort;
use suite::family::{self, Family, Has, NoOptions, Ran};
use suite::kit::served::Wordless;
use suite::named::NAMELESS;
use suite::power;
use suite::quantity::{Better, Drawn, Quantity, Read};
use suite::rows::Row;
use suite::words;

/// The family: every run is a process of its own.
pub(crate) struct Growth;

/// Numbers from this one on tell by which power a cost grows: below it a run is over before the
/// caches and the allocator are warm.
const MANY: f64 = 1_000.0;

const FASTER: Better = Better::Less("faster", "slower");
const SMALLER: Better = Better::Less("smaller", "larger");

const TASKS: [Quantity; 6] = [
    quantity("ns/spawn", "spawn_ns", FASTER),
    quantity("ns/wake", "wake_ns", FASTER),
    quantity("ns/step of a chase", "chase_ns", Better::Neither),
    quantity("ns/end", "end_ns", FASTER),
    quantity("bytes/task", "bytes_per_task", SMALLER),
    quantity("of them its future", "future_bytes", Better::Neither),
];

const MOVES: [Quantity; 2] = [
    quantity("ns/move", "move_ns", FASTER),
    quantity("ns/step of a chase", "chase_ns", Better::Neither),
];

const TIMERS: [Quantity; 4] = [
    quantity("ns/arm", "arm_ns", FASTER),
    quantity("ns/cancel", "cancel_ns", FASTER),
    quantity("ns/fire", "fire_ns", FASTER),
    quantity("bytes/timer", "bytes_per_timer", SMALLER),
];

const fn quantity(name: &'static str, field: &'static str, better: Better) -> Quantity {
    Quantity { name, read: Read::Field(field), better, drawn: Drawn::No }
}

impl Family for Growth {
    const NAME: &'static str = "growth";
    const TITLE: &'static str = "Growth";
    const ABOUT: &'static str = "\
        Every run is a process of its own. A spawn counts until the task waits for the first \
        time, a wake until it waits again, an end is its share of the runtime's, the handle that \
        wakes it included; tasks are woken in a random order, a thousand at a time. The chase steps through as much \
        memory in random order, and each step waits for the one before. Tasks move when a poll \
        wakes them and goes on until they have run elsewhere, at a worker without work (steal) or \
        with tasks that only yield (help): a move has its wake and its poll in it. Where none \
        moves for half a second there is no figure. Timers are armed by one task and cancelled in \
        a random order; fires are processor time. Memory is the growth of the resident set, with \
        the allocator's share, and in small runs that of whole pages.";

    type Peer = Name;
    type Options = NoOptions;
    type Spec = Spec;
    type Ready = ();

    fn new() -> Self {
        Growth
    }

    fn experiments() -> Vec<Experiment> {
        let experiment = |bench: Bench| {
            let variants = bench.variants().iter().map(|variant| variant.name());
            Experiment {
                name: bench.name(),
                what: bench.describe(),
                variants: variants.filter(|name| *name != NAMELESS).collect(),
                settings: &["number"],
                options: &["procs", "n"],
                quantities: match bench {
                    Bench::Tasks => &TASKS,
                    Bench::Moves => &MOVES,
                    Bench::Timers => &TIMERS,
                },
                depends_on_distance: bench == Bench::Moves,
            }
        };
        Bench::ALL.map(experiment).to_vec()
    }

    fn asked(asked: &Asked, _: &NoOptions) -> anyhow::Result<Vec<Spec>> {
        if let Some(odd) = asked.n.iter().find(|number| !(1..=MOST).contains(*number)) {
            let most = words::thousands(MOST as i64);
            return Err(Usage(format!("--n is from 1 to {most} for growth, and not {odd}")).into());
        }
        let numbers = if asked.n.is_empty() { &NUMBERS[..] } else { &asked.n };
        let workers = asked.is_given("procs").then_some(&asked.workers[..]);
        let benches = asked.benches::<Bench>()?;
        if benches.contains(&Bench::Moves) && workers.is_some_and(|given| given.contains(&1)) {
            let moves = Bench::Moves.name();
            return Err(Usage(format!(
                "--procs is from 2 for {moves}: tasks move between workers"
            ))
            .into());
        }
        if benches.contains(&Bench::Moves) && numbers.contains(&1) {
            let moves = Bench::Moves.name();
            let why = format!("--n is from 2 for {moves}: the last task need not move");
            return Err(Usage(why).into());
        }
        let each = |&bench: &Bench| {
            let variants = asked.variants(bench.variants());
            specs(bench, &variants, workers.unwrap_or(usual(bench)), numbers)
        };
        Ok(benches.iter().flat_map(each).collect())
    }

    fn plan(effort: Effort, cores: usize) -> Vec<Spec> {
        let each = |&bench: &Bench| specs(bench, bench.variants(), usual(bench), &NUMBERS);
        let planned = Bench::ALL.iter().flat_map(each);
        planned.filter(|spec| effort == Effort::Full && spec.workers <= cores).collect()
    }

    /// One: the runs with ten million of a runtime take up to a minute.
    fn rounds(effort: Effort) -> usize {
        usize::from(effort == Effort::Full)
    }

    fn has(peer: Name, spec: &Spec) -> Has {
        Has::when(peer.has(spec.bench))
    }

    fn ready(&self, _: &Spec, _: Name) -> anyhow::Result<()> {
        Ok(())
    }

    fn once(&self, spec: &Spec, peer: Name, (): &mut (), seed: u64) -> anyhow::Result<Ran> {
        let figures = match probe::call(&Spec { seed, ..*spec }, peer) {
            // A run that does not end, as of Transfer: for evenkeel beside a peer it is a loss.
            Err(error) if is_out_of_memory(&error) => return Ok(Ran::Unfinished(Fields::new())),
            figures => figures?,
        };
        Ok(Ran::Done(match figures {
            Figures::Moves(moves::Figures { move_ns: None, chase_ns }) => {
                return Ok(Ran::Unfinished(Fields::new().with("chase_ns", chase_ns)));
            }
            Figures::Moves(of) => {
                Fields::new().with_some("move_ns", of.move_ns).with("chase_ns", of.chase_ns)
            }
            Figures::Tasks(of) => Fields::new()
                .with("spawn_ns", of.spawn_ns)
                .with("wake_ns", of.wake_ns)
                .with("chase_ns", of.chase_ns)
                .with("end_ns", of.end_ns)
                .with("bytes_per_task", of.bytes_per_task)
                .with("future_bytes", of.future_bytes as f64),
            Figures::Timers(of) => Fields::new()
                .with("arm_ns", of.arm_ns)
                .with("cancel_ns", of.cancel_ns)
                .with("fire_ns", of.fire_ns)
                .with("bytes_per_timer", of.bytes_per_timer),
        }))
    }

    fn remarks(rows: &[Row<'_>]) -> Vec<String> {
        let mut groups: Vec<(&str, &str, usize)> = Vec::new();
        for row in rows {
            let group = (row.experiment.name, &*row.case.variant, row.case.workers);
            if !groups.contains(&group) {
                groups.push(group);
            }
        }
        let of = |&group: &(&str, &str, usize)| {
            let is = |row: &&Row<'_>| {
                (row.experiment.name, &*row.case.variant, row.case.workers) == group
            };
            let rows: Vec<&Row<'_>> = rows.iter().filter(is).collect();
            powers(&rows, group)
        };
        groups.iter().filter_map(of).collect()
    }
}

/// Says by which powers the costs of an experiment grow.
fn powers(rows: &[&Row<'_>], (bench, variant, workers): (&str, &str, usize)) -> Option<String> {
    let bench = if variant == NAMELESS { bench.to_owned() } else { format!("{bench} {variant}") };
    let quantities = rows.first()?.quantities().filter(|quantity| quantity.name.starts_with("ns/"));
    let peers = Name::ALL.map(Name::name);
    let mut parts = Vec::new();
    let mut most = f64::INFINITY;
    for quantity in quantities {
        let points = peers.map(|peer| {
            let point = |row: &&Row<'_>| {
                let number = row.case.settings.number("number")?;
                let cell = row.cell(peer).filter(|cell| cell.counted > 0)?;
                let median = row.summary(quantity, cell)?.median;
                (number >= MANY).then_some((number, median))
            };
            (peer, rows.iter().filter_map(point).collect::<Vec<_>>())
        });
        // Of the numbers that all peers have which are there.
        let largest = |(_, points): &(_, Vec<(f64, f64)>)| {
            points.iter().map(|point| point.0).reduce(f64::max)
        };
        let common = points.iter().filter_map(largest).fold(f64::INFINITY, f64::min);
        most = most.min(common);
        let of = |(peer, points): &(&str, Vec<(f64, f64)>)| {
            let points: Vec<_> = points.iter().copied().filter(|one| one.0 <= common).collect();
            Some(format!("{peer} {:.2}", power::fitted(&points)?))
        };
        let mut fitted: Vec<String> = points.iter().filter_map(of).collect();
        // Its own largest numbers, which no other peer has, would be in no fit.
        if let Some(own) = points.first() {
            let most = largest(own).filter(|most| *most > common);
            let told = |(most, power)| {
                format!("{} up to {} {power:.2}", own.0, words::thousands(most as i64))
            };
            fitted.extend(most.zip(power::fitted(&own.1)).map(told));
        }
        if !fitted.is_empty() {
            let name = quantity.name.trim_start_matches("ns/");
            parts.push(format!("{name}: {}", fitted.join(", ")));
        }
    }
    (!parts.is_empty()).then(|| {
        format!(
            "The powers of the number by which the cost of all grows in {bench}, {}, fitted from \
             1,000 to {}, the largest number that all have: {}. A power of 1 is work that each does for itself; the chase's is that of \
             the caches alone.",
            words::count(workers, "worker"),
            words::thousands(most as i64),
            parts.join("; ")
        )
    })
}

/// Returns whether the process has ended as one does that takes more memory than there is.
fn is_out_of_memory(error: &anyhow::Error) -> bool {
    error.downcast_ref().is_some_and(Wordless::was_killed)
}

impl family::Spec for Spec {
    fn case(&self) -> Case {
        Case::new(self.bench.name(), self.variant.name(), self.workers).with("number", self.number)
    }
}

/// The numbers of workers unless the user says otherwise: with several, a wake includes the way of
/// a line between cores, and a move is nothing else.
fn usual(bench: Bench) -> &'static [usize] {
    if bench == Bench::Moves { &[2] } else { &[1] }
}

fn specs(bench: Bench, variants: &[Variant], workers: &[usize], numbers: &[usize]) -> Vec<Spec> {
    let mut specs = Vec::new();
    for &variant in variants {
        for &workers in workers {
            let spec = |&number| Spec { bench, variant, workers, number, seed: 1 };
            specs.extend(numbers.iter().map(spec));
        }
    }
    specs
}

#[cfg(test)]
mod tests {
    use super::*;
    use suite::kit::fake::quiet;
    use suite::record::Record;
    use suite::rows::rows;

    /// A run in which each task's end takes these nanoseconds.
    fn run(runtime: &'static str, number: usize, nanos: f64, cpu_share: f64) -> Record {
        let bench = Bench::Tasks.name();
        Record {
            runtime: runtime.into(),
            case: Case::new(bench, NAMELESS, 1).with("number", number),
            repeat: 0,
            figures: Fields::new().with("end_ns", nanos),
            dnc: false,
            quiet: suite::record::Quiet { cpu_share, ..quiet("near") },
        }
    }

    fn remark(records: &[Record]) -> String {
        let of = family::describe::<Growth>();
        (of.remarks)(&rows(&of, records, &[])).concat()
    }

    #[test]
    fn runs_that_do_not_count_are_in_no_fit() {
        let mut records = vec![
            run("evenkeel", 1_000, 10.0, 1.0),
            run("evenkeel", 100_000, 10.0, 1.0),
            run("evenkeel", 1_000_000, 10_000.0, 0.1),
        ];
        let told = remark(&records);
        assert!(told.contains("to 100,000,") && told.contains("evenkeel 1.00."), "{told}");
        records.push(run("evenkeel", 1_000_000, 10.0, 1.0));
        let told = remark(&records);
        assert!(told.contains("to 1,000,000,") && told.contains("evenkeel 1.00."), "{told}");
    }

    #[test]
    fn what_evenkeel_alone_has_is_in_a_fit_of_its_own() {
        let numbers = [1_000, 1_000_000, 1_000_000_000];
        let mut records = Vec::new();
        for (number, nanos) in numbers.into_iter().zip([10.0, 10.0, 10_000.0]) {
            records.push(run("evenkeel", number, nanos, 1.0));
            if number < 1_000_000_000 {
                records.push(run("tokio-hand", number, 10.0, 1.0));
            }
        }
        let told = remark(&records);
        let fits = "end: evenkeel 1.00, tokio-hand 1.00, evenkeel up to 1,000,000,000 1.50.";
        assert!(told.contains(fits), "{told}");
    }
}
