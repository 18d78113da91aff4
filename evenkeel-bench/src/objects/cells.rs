//! What is asked for, and the cells that this makes.

use std::time::Duration;

use super::bench::{Access, Bench, Mode, Popularity};
use super::work::{DIRECTORY_BYTES, HEAP_BYTES, map_bytes};

/// KiB of all directories, unless it is said: one core's L2 cache holds the first, one last-level cache hardly the last.
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
/// A counter, and its word.
const COUNTER_BYTES: usize = size_of::<u64>();
/// How often what is in use changes, unless it is said.
pub(crate) const PERIOD: Duration = Duration::from_millis(40);

/// What is asked for. An empty list stands for what is usual.
#[derive(Clone, Debug, Default)]
pub(crate) struct Asked {
    pub(crate) modes: Vec<Mode>,
    pub(crate) tasks_per_core: Vec<usize>,
    pub(crate) workers: Vec<usize>,
    pub(crate) kib: Vec<usize>,
    pub(crate) object_bytes: Vec<usize>,
    pub(crate) objects: Vec<usize>,
    pub(crate) keys: Vec<usize>,
    pub(crate) access: Vec<Access>,
    pub(crate) popularity: Vec<Popularity>,
    pub(crate) period: Option<Duration>,
    pub(crate) time: Duration,
    pub(crate) seed: u64,
}

/// A mode, and how many tasks for each core it has, if any.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Contender {
    pub(crate) mode: Mode,
    pub(crate) tasks_per_core: Option<usize>,
}

/// Objects, what is done to them, and in which modes, which take turns.
#[derive(Clone, Debug)]
pub(crate) struct Cell {
    pub(crate) bench: Bench,
    pub(crate) objects: usize,
    /// Bytes of one of them.
    pub(crate) object_bytes: usize,
    /// Keys of a map, events of a heap; 0 where there are none.
    pub(crate) keys: usize,
    pub(crate) access: Access,
    pub(crate) popularity: Popularity,
    /// How often what is in use changes.
    pub(crate) period: Duration,
    pub(crate) workers: usize,
    /// Measured time.
    pub(crate) time: Duration,
    /// Where the random choices begin. Each repeat adds its number.
    pub(crate) seed: u64,
    pub(crate) contenders: Vec<Contender>,
}

/// What cannot be run.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Impossible {
    #[error("{bench} has no mode `{mode}`: known are {known}", known = names(bench.modes().iter().map(|mode| mode.name())))]
    Mode { bench: Bench, mode: Mode },
    #[error("{bench} has no access `{access}`: known are {known}", known = names(bench.accesses().iter().map(|access| access.name())))]
    Access { bench: Bench, access: Access },
    #[error("{kib} KiB hold no object of {bytes} bytes: raise --kib")]
    Small { kib: usize, bytes: usize },
    #[error(
        "maps or heaps of {keys} keys take {bytes} bytes in all, more than {most}: lower --keys or --objects"
    )]
    Large { keys: usize, bytes: usize, most: usize },
    #[error("{bench} goes from home to home: it needs 2 workers at least, not {workers}")]
    OneWorker { bench: Bench, workers: usize },
    #[error("--tasks-per-core is for {known}: none of them is asked for", known = names(Mode::ALL.into_iter().filter(|mode| mode.has_tasks()).map(Mode::name)))]
    NoTasks,
}

/// The most bytes of all maps or heaps: above it a mistyped number exhausts the memory.
const MOST_BYTES: usize = 4 << 30;

fn names(names: impl Iterator<Item = &'static str>) -> String {
    names.collect::<Vec<_>>().join(", ")
}

fn or_usual<'a, T>(asked: &'a [T], usual: &'a [T]) -> &'a [T] {
    if asked.is_empty() { usual } else { asked }
}

/// The cells of an experiment, or why there are none.
pub(crate) fn of(bench: Bench, asked: &Asked) -> Result<Vec<Cell>, Impossible> {
    let contenders = contenders(bench, asked)?;
    // What an experiment has no choice of is about the others that are asked for.
    let known = bench.accesses();
    let has_choice = known.len() > 1;
    if let Some(&access) = asked.access.iter().find(|access| has_choice && !known.contains(access))
    {
        return Err(Impossible::Access { bench, access });
    }
    let accesses = or_usual(if has_choice { &asked.access } else { &[] }, &known[..1]);
    let known = bench.popularities();
    let popularities = or_usual(if known.len() > 1 { &asked.popularity } else { &[] }, &known[..1]);
    let mut cells = Vec::new();
    for &workers in &asked.workers {
        for (objects, object_bytes, keys) in sizes(bench, asked, workers)? {
            for &access in accesses {
                for &popularity in popularities {
                    cells.push(Cell {
                        bench,
                        objects,
                        object_bytes,
                        keys,
                        access,
                        popularity,
                        period: asked.period.unwrap_or(PERIOD),
                        workers,
                        time: asked.time,
                        seed: asked.seed,
                        contenders: contenders.clone(),
                    });
                }
            }
        }
    }
    Ok(cells)
}

/// The modes, those without tasks once and the others in turns for each number of tasks.
fn contenders(bench: Bench, asked: &Asked) -> Result<Vec<Contender>, Impossible> {
    let modes = or_usual(&asked.modes, bench.modes());
    if let Some(&mode) = modes.iter().find(|mode| !bench.modes().contains(mode)) {
        return Err(Impossible::Mode { bench, mode });
    }
    let (with, without): (Vec<Mode>, Vec<Mode>) = modes.iter().partition(|mode| mode.has_tasks());
    if with.is_empty() && !asked.tasks_per_core.is_empty() {
        return Err(Impossible::NoTasks);
    }
    let alone = without.into_iter().map(|mode| Contender { mode, tasks_per_core: None });
    let tasks = or_usual(&asked.tasks_per_core, bench.usual_tasks());
    let in_turns = tasks.iter().flat_map(|&tasks| {
        with.iter().map(move |&mode| Contender { mode, tasks_per_core: Some(tasks) })
    });
    Ok(alone.chain(in_turns).collect())
}

/// How many objects, of how many bytes, with how many keys.
fn sizes(
    bench: Bench,
    asked: &Asked,
    workers: usize,
) -> Result<Vec<(usize, usize, usize)>, Impossible> {
    let filling = |kib: usize, bytes: usize| match (kib << 10) / bytes {
        0 => Err(Impossible::Small { kib, bytes }),
        objects => Ok((objects, bytes, 0)),
    };
    let keyed = |usual, bytes: fn(usize) -> usize| {
        let each = or_usual(&asked.objects, usual).iter().flat_map(|&objects| {
            or_usual(&asked.keys, &KEYS).iter().map(move |&keys| (objects, bytes(keys), keys))
        });
        each.map(|(objects, bytes, keys)| match objects.saturating_mul(bytes) {
            all if all > MOST_BYTES => {
                Err(Impossible::Large { keys, bytes: all, most: MOST_BYTES })
            }
            _ => Ok((objects, bytes, keys)),
        })
        .collect()
    };
    match bench {
        Bench::Directory => {
            let all = or_usual(&asked.kib, &DIRECTORY_KIB).iter();
            all.map(|&kib| filling(kib, DIRECTORY_BYTES)).collect()
        }
        Bench::Scan => {
            let all = or_usual(&asked.kib, &SCAN_KIB).iter();
            let bytes = or_usual(&asked.object_bytes, &SCAN_BYTES);
            all.flat_map(|&kib| bytes.iter().map(move |&bytes| filling(kib, bytes))).collect()
        }
        Bench::Counters => {
            let all = or_usual(&asked.objects, &COUNTERS).iter();
            Ok(all.map(|&objects| (objects, COUNTER_BYTES, 0)).collect())
        }
        Bench::Map => keyed(&MAPS, map_bytes),
        Bench::Heap => keyed(&HEAPS, |keys| keys * HEAP_BYTES),
        Bench::Travel if workers < 2 => Err(Impossible::OneWorker { bench, workers }),
        Bench::Travel => Ok(vec![(workers, COUNTER_BYTES, 0)]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked() -> Asked {
        Asked { workers: vec![2], time: Duration::from_millis(1), ..Asked::default() }
    }

    fn sizes_of(bench: Bench, asked: &Asked) -> Vec<(usize, usize, usize)> {
        let cells = of(bench, asked).unwrap();
        cells.iter().map(|cell| (cell.objects, cell.object_bytes, cell.keys)).collect()
    }

    #[test]
    fn modes_take_turns_and_those_without_tasks_run_once() {
        let asked = Asked { tasks_per_core: vec![1, 16], ..asked() };
        let seen: Vec<_> = of(Bench::Heap, &asked).unwrap()[0]
            .contenders
            .iter()
            .map(|contender| (contender.mode.name(), contender.tasks_per_core.unwrap_or(0)))
            .collect();
        let right = [
            ("threads+spin", 0),
            ("in-place", 1),
            ("home", 1),
            ("automatic", 1),
            ("in-place", 16),
            ("home", 16),
            ("automatic", 16),
        ];
        assert_eq!(seen, right);
    }

    #[test]
    fn sizes_are_those_of_the_published_experiments_unless_asked() {
        let directories: Vec<usize> =
            sizes_of(Bench::Directory, &asked()).iter().map(|(objects, ..)| *objects).collect();
        assert_eq!(directories, [8, 65, 262, 1_048]);
        assert_eq!(sizes_of(Bench::Heap, &asked()), [(1, 8 << 10, 1 << 10), (1, 8 << 16, 1 << 16)]);
        assert_eq!(sizes_of(Bench::Map, &asked()).len(), 4);
        assert_eq!(sizes_of(Bench::Travel, &asked()), [(2, 8, 0)]);
        let scans = Asked { kib: vec![1], object_bytes: vec![512, 1024], ..asked() };
        assert_eq!(sizes_of(Bench::Scan, &scans), [(2, 512, 0), (1, 1024, 0)]);
    }

    #[test]
    fn what_an_experiment_has_no_choice_of_is_about_others() {
        let asked = Asked {
            access: vec![Access::Read, Access::All],
            popularity: vec![Popularity::Oscillating],
            ..asked()
        };
        let seen = |bench| -> Vec<_> {
            let cells = of(bench, &asked).unwrap();
            let mut seen: Vec<_> =
                cells.iter().map(|cell| (cell.access.name(), cell.popularity.name())).collect();
            seen.dedup();
            seen
        };
        assert_eq!(seen(Bench::Counters), [("-", "uniform")]);
        assert_eq!(seen(Bench::Directory)[..2], [("read", "oscillating"), ("all", "oscillating")]);
        let usual = &of(Bench::Scan, &Asked { access: Vec::new(), ..asked }).unwrap()[0];
        assert_eq!((usual.access, usual.popularity), (Access::Read, Popularity::Uniform));
    }

    #[test]
    fn what_cannot_be_run_is_said() {
        let error = |bench, asked: Asked| of(bench, &asked).unwrap_err().to_string();
        assert_eq!(
            error(Bench::Map, Asked { modes: vec![Mode::Atomic], ..asked() }),
            "map has no mode `atomic`: known are threads+spin, in-place, home, automatic"
        );
        assert_eq!(
            error(Bench::Scan, Asked { access: vec![Access::Found], ..asked() }),
            "scan has no access `found`: known are read, all"
        );
        assert_eq!(
            error(Bench::Directory, Asked { kib: vec![31], ..asked() }),
            "31 KiB hold no object of 32000 bytes: raise --kib"
        );
        assert_eq!(
            error(Bench::Travel, Asked { workers: vec![1], ..asked() }),
            "travel goes from home to home: it needs 2 workers at least, not 1"
        );
        let many = Asked { objects: vec![1 << 20], keys: vec![1 << 24], ..asked() };
        assert!(error(Bench::Heap, many).ends_with("lower --keys or --objects"));
        let alone = Asked { modes: vec![Mode::Spin], tasks_per_core: vec![8], ..asked() };
        assert_eq!(
            error(Bench::Heap, alone),
            "--tasks-per-core is for in-place, home, automatic: none of them is asked for"
        );
    }
}
