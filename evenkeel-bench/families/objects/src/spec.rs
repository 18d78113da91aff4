//! The cases that a command can ask for, and the usual sizes.

use std::time::Duration;

use super::bench::{Access, Bench, Popularity};
use super::work::{
    ACCOUNT_BYTES, COUNTER_BYTES, DIRECTORY_BYTES, HEAP_BYTES, Hundredths, Kind as _, Mixed,
    VERTEX_BYTES, map_bytes,
};
use suite::asked::Usage;
use suite::case::{Case, Fields};
use suite::family;
use suite::named::{NAMELESS, Named};
use suite::words;

/// The usual KiB of all directories: one core's L2 cache holds the first, and one last-level cache
/// barely the last.
const DIRECTORY_KIB: [usize; 4] = [256, 2 << 10, 8 << 10, 32 << 10];
/// KiB of all scanned objects.
const SCAN_KIB: [usize; 1] = [8 << 10];
/// Bytes of a scanned object.
const SCAN_BYTES: [usize; 5] = [512, 8 << 10, 32 << 10, 128 << 10, 512 << 10];
const COUNTERS: [usize; 4] = [1, 4, 16, 64];
const MAPS: [usize; 2] = [1, 16];
const HEAPS: [usize; 1] = [1];
const ACCOUNTS: [usize; 1] = [1 << 10];
const VERTICES: [usize; 1] = [64 << 10];
const SHARDS: [usize; 2] = [1, 16];
const BUCKETS: [usize; 1] = [64];
/// Keys of a map, and events of a heap.
const KEYS: [usize; 2] = [1 << 10, 64 << 10];
/// Keys of all shards of a cache.
const CACHE_KEYS: [usize; 1] = [64 << 10];
/// Keys of a map and events of a heap where both are used in turn.
const CLASS_KEYS: [usize; 1] = [1 << 10];
/// Exponents of Zipf's law, in hundredths: of accounts, and of a cache's keys.
const ACCOUNT_ZIPF: [Hundredths; 1] = [99];
const CACHE_ZIPF: [Hundredths; 1] = [0];
/// Steps of a task's own work: about as long as a journey there and back, and far longer.
const STEPS: [u32; 2] = [200, 700];
/// Reads in a hundred operations on a cache.
const READS: [u32; 1] = [95];
/// The usual time between two changes of the objects in use.
const PERIOD: Duration = Duration::from_millis(40);

/// The most bytes of all maps or heaps: beyond it a mistyped number would exhaust the memory.
const MOST_BYTES: usize = 4 << 30;

/// What a command asks for. An empty list stands for the usual values.
#[derive(Clone, Debug, Default)]
pub(super) struct Wanted {
    pub(super) tasks_per_core: Vec<usize>,
    /// Whether a mode with tasks is asked for.
    pub(super) has_tasks: bool,
    pub(super) workers: Vec<usize>,
    pub(super) kib: Vec<usize>,
    pub(super) object_bytes: Vec<usize>,
    pub(super) objects: Vec<usize>,
    pub(super) keys: Vec<usize>,
    pub(super) access: Vec<Access>,
    pub(super) popularity: Vec<Popularity>,
    pub(super) period: Option<Duration>,
    pub(super) zipf: Vec<Hundredths>,
    pub(super) steps: Vec<u32>,
    pub(super) reads: Vec<u32>,
    pub(super) time: Duration,
}

/// Objects, the operations on them, and the number of parties.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Spec {
    pub(super) bench: Bench,
    pub(super) workers: usize,
    /// `None` where no mode in question has tasks.
    pub(super) tasks_per_core: Option<usize>,
    pub(super) objects: usize,
    /// Bytes of one object.
    pub(super) object_bytes: usize,
    /// Keys of a map or events of a heap; 0 for other objects.
    pub(super) keys: usize,
    pub(super) access: Access,
    pub(super) popularity: Popularity,
    /// The time between two changes of the objects in use.
    pub(super) period: Duration,
    /// The exponent of Zipf's law by which objects or keys are chosen; 0 if all are chosen equally.
    pub(super) zipf: Hundredths,
    /// Steps of a task's own work between two operations.
    pub(super) steps: u32,
    /// Read-only operations of a hundred, where that can be chosen.
    pub(super) reads: u32,
    /// Measured time.
    pub(super) time: Duration,
}

/// The settings that distinguish cases.
pub(super) const SETTINGS: [&str; 10] = [
    "tasks_per_core",
    "objects",
    "bytes",
    "keys",
    "access",
    "popularity",
    "period_ms",
    "zipf",
    "steps",
    "reads",
];

impl family::Spec for Spec {
    fn case(&self) -> Case {
        let period = match self.popularity {
            Popularity::Uniform => 0,
            Popularity::Oscillating => self.period.as_millis() as u64,
        };
        let settings = Fields::new()
            .with_some("tasks_per_core", self.tasks_per_core)
            .with("objects", self.objects)
            .with("bytes", self.objects * self.object_bytes)
            .with("keys", self.keys)
            .with("access", self.access.name())
            .with("popularity", self.popularity.name())
            .with("period_ms", period)
            .with("zipf", if self.zipf == 0 { NAMELESS.into() } else { exponent(self.zipf) })
            .with("steps", self.steps)
            .with("reads", self.reads);
        Case { settings, ..Case::new(self.bench.name(), NAMELESS, self.workers) }
    }
}

/// An exponent as text.
fn exponent(hundredths: Hundredths) -> String {
    format!("{}", f64::from(hundredths) / 100.0)
}

fn or_usual<'a, T>(asked: &'a [T], usual: &'a [T]) -> &'a [T] {
    if asked.is_empty() { usual } else { asked }
}

/// Returns those of the `known` values that were `asked` for, or the first, which is usual. An
/// experiment with one value ignores the question.
fn chosen<T: Named>(bench: Bench, what: &str, asked: &[T], known: &[T]) -> Result<Vec<T>, Usage> {
    match asked.iter().find(|one| !known.contains(one)) {
        _ if known.len() == 1 || asked.is_empty() => Ok(known[..1].to_vec()),
        None => Ok(asked.to_vec()),
        Some(odd) => {
            let names: Vec<&str> = known.iter().map(|known| known.name()).collect();
            let names = names.join(", ");
            Err(Usage(format!("{bench} has no {what} `{odd}`: known are {names}")))
        }
    }
}

/// Returns the cases of an experiment, or the reason why it has none.
pub(super) fn specs(bench: Bench, wanted: &Wanted) -> Result<Vec<Spec>, Usage> {
    let accesses = chosen(bench, "access", &wanted.access, bench.accesses())?;
    let popularities = chosen(bench, "popularity", &wanted.popularity, bench.popularities())?;
    let tasks: Vec<Option<usize>> = match or_usual(&wanted.tasks_per_core, bench.usual_tasks()) {
        _ if !wanted.has_tasks => vec![None],
        tasks => tasks.iter().copied().map(Some).collect(),
    };
    let (period, time) = (wanted.period.unwrap_or(PERIOD), wanted.time);
    let mixes = mixes(bench, wanted);
    let mut specs = Vec::new();
    for &workers in &wanted.workers {
        for (objects, object_bytes, keys) in sizes(bench, wanted, workers)? {
            for &access in &accesses {
                for &popularity in &popularities {
                    for &(zipf, steps, reads) in &mixes {
                        specs.extend(tasks.iter().map(|&tasks_per_core| Spec {
                            bench,
                            workers,
                            tasks_per_core,
                            objects,
                            object_bytes,
                            keys,
                            access,
                            popularity,
                            period,
                            zipf,
                            steps,
                            reads,
                            time,
                        }));
                    }
                }
            }
        }
    }
    Ok(specs)
}

/// Exponents of Zipf's law, steps of own work, and reads in a hundred operations: 0 where an
/// experiment has no such setting.
fn mixes(bench: Bench, wanted: &Wanted) -> Vec<(Hundredths, u32, u32)> {
    let one = |zipf| (zipf, 0, 0);
    match bench {
        Bench::Bank => or_usual(&wanted.zipf, &ACCOUNT_ZIPF).iter().copied().map(one).collect(),
        Bench::Own => or_usual(&wanted.steps, &STEPS).iter().map(|&steps| (0, steps, 0)).collect(),
        Bench::Cache => {
            let zipf = or_usual(&wanted.zipf, &CACHE_ZIPF).iter();
            let reads = or_usual(&wanted.reads, &READS);
            zipf.flat_map(|&zipf| reads.iter().map(move |&reads| (zipf, 0, reads))).collect()
        }
        _ => vec![one(0)],
    }
}

/// Numbers of objects, bytes of each, and numbers of keys.
fn sizes(
    bench: Bench,
    wanted: &Wanted,
    workers: usize,
) -> Result<Vec<(usize, usize, usize)>, Usage> {
    let filling = |kib: usize, bytes: usize| match (kib << 10) / bytes {
        0 => Err(Usage(format!("{kib} KiB hold no object of {bytes} bytes: raise --kib"))),
        objects => Ok((objects, bytes, 0)),
    };
    let keyed = |usual, usual_keys, bytes: &dyn Fn(usize, usize) -> usize| {
        let each = or_usual(&wanted.objects, usual).iter().flat_map(|&objects| {
            let keys = or_usual(&wanted.keys, usual_keys).iter();
            keys.map(move |&keys| (objects, bytes(keys, objects), keys))
        });
        each.map(|(objects, bytes, keys)| match objects.saturating_mul(bytes) {
            all if all > MOST_BYTES => Err(Usage(format!(
                "{} of {} take {all} bytes in all, more than {MOST_BYTES}: lower --keys or \
                 --objects",
                words::count(objects, "object"),
                words::count(keys, "key"),
            ))),
            _ => Ok((objects, bytes, keys)),
        })
        .collect()
    };
    let plain = |usual, bytes| -> Vec<(usize, usize, usize)> {
        or_usual(&wanted.objects, usual).iter().map(|&objects| (objects, bytes, 0)).collect()
    };
    match bench {
        Bench::Directory => {
            let all = or_usual(&wanted.kib, &DIRECTORY_KIB).iter();
            all.map(|&kib| filling(kib, DIRECTORY_BYTES)).collect()
        }
        Bench::Scan => {
            let all = or_usual(&wanted.kib, &SCAN_KIB).iter();
            let bytes = or_usual(&wanted.object_bytes, &SCAN_BYTES);
            all.flat_map(|&kib| bytes.iter().map(move |&bytes| filling(kib, bytes))).collect()
        }
        Bench::Counters => Ok(plain(&COUNTERS, COUNTER_BYTES)),
        Bench::Histogram => Ok(plain(&BUCKETS, COUNTER_BYTES)),
        Bench::Graph => Ok(plain(&VERTICES, VERTEX_BYTES)),
        Bench::Bank => match plain(&ACCOUNTS, ACCOUNT_BYTES) {
            all if all.iter().all(|&(accounts, ..)| accounts >= 2) => Ok(all),
            _ => Err(Usage(format!("{bench} is between two accounts: raise --objects"))),
        },
        Bench::Map => keyed(&MAPS, &KEYS, &|keys, _| map_bytes(keys)),
        Bench::Heap => keyed(&HEAPS, &KEYS, &|keys, _| keys * HEAP_BYTES),
        Bench::Cache => {
            keyed(&SHARDS, &CACHE_KEYS, &|keys, shards| map_bytes(keys.div_ceil(shards)))
        }
        Bench::Own => Ok(vec![(1, COUNTER_BYTES, 0)]),
        Bench::Classes => {
            let keys = or_usual(&wanted.keys, &CLASS_KEYS).iter();
            Ok(keys.map(|&keys| (Mixed::CLASSES.len(), map_bytes(keys), keys)).collect())
        }
        Bench::Travel if workers < 2 => Err(Usage(format!(
            "{bench} goes from home to home: it needs 2 workers at least, not {workers}"
        ))),
        Bench::Travel => Ok(vec![(workers, COUNTER_BYTES, 0)]),
    }
}

#[cfg(test)]
mod tests {
    use super::family::Spec as _;
    use super::*;

    fn wanted() -> Wanted {
        Wanted { workers: vec![2], has_tasks: true, tasks_per_core: vec![16], ..Wanted::default() }
    }

    fn sizes_of(bench: Bench, wanted: &Wanted) -> Vec<(usize, usize, usize)> {
        let specs = specs(bench, wanted).unwrap();
        specs.iter().map(|spec| (spec.objects, spec.object_bytes, spec.keys)).collect()
    }

    #[test]
    fn each_number_of_tasks_is_a_case_unless_no_mode_has_tasks() {
        let tasks = |wanted: &Wanted| -> Vec<Option<usize>> {
            let specs = specs(Bench::Heap, wanted).unwrap();
            specs.iter().map(|spec| spec.tasks_per_core).collect()
        };
        let both = Wanted { tasks_per_core: vec![1, 16], keys: vec![8], ..wanted() };
        assert_eq!(tasks(&both), [Some(1), Some(16)]);
        assert_eq!(tasks(&Wanted { has_tasks: false, ..both }), [None]);
        let usual = Wanted { tasks_per_core: Vec::new(), keys: vec![8], ..wanted() };
        assert_eq!(tasks(&usual), [1, 8, 16, 64].map(Some));
    }

    #[test]
    fn a_case_has_all_that_tells_it_apart() {
        let oscillating = Wanted { popularity: Popularity::ALL.to_vec(), ..wanted() };
        let names: Vec<String> = specs(Bench::Directory, &Wanted { kib: vec![64], ..oscillating })
            .unwrap()
            .iter()
            .map(|spec| spec.case().to_string())
            .collect();
        assert_eq!(
            names,
            [
                "directory, 2 workers, tasks per core 16, objects 2, bytes 64000, access read, \
                 popularity uniform",
                "directory, 2 workers, tasks per core 16, objects 2, bytes 64000, access read, \
                 popularity oscillating, period ms 40",
            ]
        );
        for spec in specs(Bench::Travel, &wanted()).unwrap() {
            let case = spec.case();
            let names: Vec<&str> = case.settings.iter().map(|(name, _)| name).collect();
            assert_eq!(names, SETTINGS);
        }
    }

    #[test]
    fn sizes_are_those_of_the_published_experiments_unless_asked() {
        let directories: Vec<usize> =
            sizes_of(Bench::Directory, &wanted()).iter().map(|(objects, ..)| *objects).collect();
        assert_eq!(directories, [8, 65, 262, 1_048]);
        assert_eq!(
            sizes_of(Bench::Heap, &wanted()),
            [(1, 8 << 10, 1 << 10), (1, 8 << 16, 1 << 16)]
        );
        assert_eq!(sizes_of(Bench::Map, &wanted()).len(), 4);
        assert_eq!(sizes_of(Bench::Travel, &wanted()), [(2, 8, 0)]);
        let scans = Wanted { kib: vec![1], object_bytes: vec![512, 1024], ..wanted() };
        assert_eq!(sizes_of(Bench::Scan, &scans), [(2, 512, 0), (1, 1024, 0)]);
    }

    #[test]
    fn what_is_mixed_is_a_case_where_an_experiment_has_it() {
        let wanted = Wanted { zipf: vec![0, 50], steps: vec![7], reads: vec![10, 90], ..wanted() };
        let mixed = |bench| -> Vec<_> {
            let specs = specs(bench, &wanted).unwrap();
            specs.iter().map(|spec| (spec.zipf, spec.steps, spec.reads)).collect()
        };
        assert_eq!(mixed(Bench::Bank), [(0, 0, 0), (50, 0, 0)]);
        assert_eq!(mixed(Bench::Own), [(0, 7, 0)]);
        let both = [(0, 0, 10), (0, 0, 90), (50, 0, 10), (50, 0, 90)];
        assert_eq!(mixed(Bench::Cache), [both, both].concat(), "1 shard and 16");
        assert_eq!(mixed(Bench::Graph), [(0, 0, 0)]);
        let usual = specs(Bench::Bank, &Wanted { zipf: Vec::new(), ..wanted.clone() }).unwrap();
        assert!(usual[0].case().to_string().ends_with(", zipf 0.99"), "{}", usual[0].case());
        assert_eq!(sizes_of(Bench::Cache, &wanted)[4], (16, map_bytes(4 << 10), 64 << 10));
    }

    #[test]
    fn what_an_experiment_has_no_choice_of_is_about_others() {
        let wanted = Wanted {
            access: vec![Access::Read, Access::All],
            popularity: vec![Popularity::Oscillating],
            ..wanted()
        };
        let seen = |bench| -> Vec<_> {
            let specs = specs(bench, &wanted).unwrap();
            let mut seen: Vec<_> =
                specs.iter().map(|spec| (spec.access.name(), spec.popularity.name())).collect();
            seen.dedup();
            seen
        };
        assert_eq!(seen(Bench::Counters), [("-", "uniform")]);
        assert_eq!(seen(Bench::Directory)[..2], [("read", "oscillating"), ("all", "oscillating")]);
        let usual = &specs(Bench::Scan, &Wanted { access: Vec::new(), ..wanted }).unwrap()[0];
        assert_eq!((usual.access, usual.popularity), (Access::Read, Popularity::Uniform));
    }

    #[test]
    fn what_cannot_be_run_is_said() {
        let error = |bench, wanted: Wanted| specs(bench, &wanted).unwrap_err().to_string();
        assert_eq!(
            error(Bench::Scan, Wanted { access: vec![Access::Found], ..wanted() }),
            "scan has no access `found`: known are read, alone, all"
        );
        assert_eq!(
            error(Bench::Directory, Wanted { kib: vec![31], ..wanted() }),
            "31 KiB hold no object of 32000 bytes: raise --kib"
        );
        assert_eq!(
            error(Bench::Travel, Wanted { workers: vec![1], ..wanted() }),
            "travel goes from home to home: it needs 2 workers at least, not 1"
        );
        assert_eq!(
            error(Bench::Bank, Wanted { objects: vec![1], ..wanted() }),
            "bank is between two accounts: raise --objects"
        );
        let many = Wanted { objects: vec![1 << 20], keys: vec![1 << 24], ..wanted() };
        assert!(error(Bench::Heap, many).ends_with("lower --keys or --objects"));
    }
}
