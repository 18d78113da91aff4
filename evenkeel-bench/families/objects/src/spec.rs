//! The cases that can be asked for, and the sizes that are usual.

use std::time::Duration;

use super::bench::{Access, Bench, Popularity};
use super::work::{COUNTER_BYTES, DIRECTORY_BYTES, HEAP_BYTES, map_bytes};
use suite::asked::Usage;
use suite::case::{Case, Fields};
use suite::family;
use suite::named::{NAMELESS, Named};
use suite::words;

/// KiB of all directories, unless it is said: one core's L2 cache holds the first, one last-level
/// cache hardly the last.
const DIRECTORY_KIB: [usize; 4] = [256, 2 << 10, 8 << 10, 32 << 10];
/// KiB of all objects that are scanned.
const SCAN_KIB: [usize; 1] = [8 << 10];
/// Bytes of an object that is scanned.
const SCAN_BYTES: [usize; 5] = [512, 8 << 10, 32 << 10, 128 << 10, 512 << 10];
const COUNTERS: [usize; 4] = [1, 4, 16, 64];
const MAPS: [usize; 2] = [1, 16];
const HEAPS: [usize; 1] = [1];
/// Keys of a map, and events of a heap.
const KEYS: [usize; 2] = [1 << 10, 64 << 10];
/// How often what is in use changes, unless it is said.
const PERIOD: Duration = Duration::from_millis(40);

/// The most bytes of all maps or heaps: above it a mistyped number exhausts the memory.
const MOST_BYTES: usize = 4 << 30;

/// What is asked for. An empty list stands for what is usual.
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
    pub(super) time: Duration,
}

/// Objects, what is done to them, and by how many.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Spec {
    pub(super) bench: Bench,
    pub(super) workers: usize,
    /// `None` where nobody who is asked for has tasks.
    pub(super) tasks_per_core: Option<usize>,
    pub(super) objects: usize,
    /// Bytes of one of them.
    pub(super) object_bytes: usize,
    /// Keys of a map, events of a heap; 0 where there are none.
    pub(super) keys: usize,
    pub(super) access: Access,
    pub(super) popularity: Popularity,
    /// How often what is in use changes.
    pub(super) period: Duration,
    /// Measured time.
    pub(super) time: Duration,
}

/// What tells cases apart.
pub(super) const SETTINGS: [&str; 7] =
    ["tasks_per_core", "objects", "bytes", "keys", "access", "popularity", "period_ms"];

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
            .with("period_ms", period);
        Case { settings, ..Case::new(self.bench.name(), NAMELESS, self.workers) }
    }
}

fn or_usual<'a, T>(asked: &'a [T], usual: &'a [T]) -> &'a [T] {
    if asked.is_empty() { usual } else { asked }
}

/// What is asked for of that which an experiment has, the first of which is usual. One that has no
/// choice is not meant.
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

/// The cases of an experiment, or why there are none.
pub(super) fn specs(bench: Bench, wanted: &Wanted) -> Result<Vec<Spec>, Usage> {
    let accesses = chosen(bench, "access", &wanted.access, bench.accesses())?;
    let popularities = chosen(bench, "popularity", &wanted.popularity, bench.popularities())?;
    let tasks: Vec<Option<usize>> = match or_usual(&wanted.tasks_per_core, bench.usual_tasks()) {
        _ if !wanted.has_tasks => vec![None],
        tasks => tasks.iter().copied().map(Some).collect(),
    };
    let (period, time) = (wanted.period.unwrap_or(PERIOD), wanted.time);
    let mut specs = Vec::new();
    for &workers in &wanted.workers {
        for (objects, object_bytes, keys) in sizes(bench, wanted, workers)? {
            for &access in &accesses {
                for &popularity in &popularities {
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
                        time,
                    }));
                }
            }
        }
    }
    Ok(specs)
}

/// How many objects, of how many bytes, with how many keys.
fn sizes(
    bench: Bench,
    wanted: &Wanted,
    workers: usize,
) -> Result<Vec<(usize, usize, usize)>, Usage> {
    let filling = |kib: usize, bytes: usize| match (kib << 10) / bytes {
        0 => Err(Usage(format!("{kib} KiB hold no object of {bytes} bytes: raise --kib"))),
        objects => Ok((objects, bytes, 0)),
    };
    let keyed = |usual, bytes: fn(usize) -> usize| {
        let each = or_usual(&wanted.objects, usual).iter().flat_map(|&objects| {
            or_usual(&wanted.keys, &KEYS).iter().map(move |&keys| (objects, bytes(keys), keys))
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
        Bench::Counters => {
            let all = or_usual(&wanted.objects, &COUNTERS).iter();
            Ok(all.map(|&objects| (objects, COUNTER_BYTES, 0)).collect())
        }
        Bench::Map => keyed(&MAPS, map_bytes),
        Bench::Heap => keyed(&HEAPS, |keys| keys * HEAP_BYTES),
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
    fn each_number_of_tasks_is_a_case_unless_nobody_has_tasks() {
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
            "scan has no access `found`: known are read, all"
        );
        assert_eq!(
            error(Bench::Directory, Wanted { kib: vec![31], ..wanted() }),
            "31 KiB hold no object of 32000 bytes: raise --kib"
        );
        assert_eq!(
            error(Bench::Travel, Wanted { workers: vec![1], ..wanted() }),
            "travel goes from home to home: it needs 2 workers at least, not 1"
        );
        let many = Wanted { objects: vec![1 << 20], keys: vec![1 << 24], ..wanted() };
        assert!(error(Bench::Heap, many).ends_with("lower --keys or --objects"));
    }
}
