//! The experiments and the modes in which they run.

use suite::named;
use suite::peer::{Peer, Role};

named! {
    /// An experiment.
    pub(crate) enum Bench as "experiment" {
        /// Lookups in directories.
        Directory = "directory": "directories of 1,000 entries of 32 bytes: one lookup (--access read, alone, found, all; --popularity uniform, oscillating)",
        /// Increments of a few small counters.
        Counters = "counters": "counters that all increment: one increment",
        /// One value of a hash map changes.
        Map = "map": "hash maps: one value is read, changed and written",
        /// The least event of a heap is replaced.
        Heap = "heap": "binary heaps: one pop and one push",
        /// An operation reads or writes a whole object.
        Scan = "scan": "whole objects: one is summed, or incremented word by word (--access read, alone, all)",
        /// Transfers between two accounts.
        Bank = "bank": "accounts, of which few are busy: one transfer between two of them (--zipf)",
        /// Random walks over a graph's vertices.
        Graph = "graph": "vertices of a graph, side by side in memory: one step of a random walk, which counts its visit",
        /// A cache in shards.
        Cache = "cache": "the shards of a hash map: one value is read, or changed (--read-percent, --zipf)",
        /// Buckets of a histogram.
        Histogram = "histogram": "the buckets of a histogram, those in the middle the most used: one increment",
        /// A party works for itself for long between operations on one object.
        Own = "own": "a counter that all increment after some work of their own (--steps): one increment",
        /// Objects of several classes.
        Classes = "classes": "a counter, a map and a heap, each of a class of its own: one operation on each in turn",
        /// Tasks travel from home to home.
        Travel = "travel": "tasks go from home to home for an increment: one journey there and back",
    }
}

named! {
    /// How an experiment runs.
    pub(crate) enum Mode as "runtime of objects" {
        /// Pinned threads and a spin lock.
        Spin = "threads+spin": "a pinned thread per core, and a TTAS spin lock per object",
        /// Tasks and parking_lot's lock.
        TasksParkingLot = "tasks+parking_lot": "evenkeel's tasks, and a parking_lot::Mutex per object",
        /// Tasks and parking_lot's lock, each lock in its own allocation.
        TasksArc = "tasks+arc": "evenkeel's tasks, and an Arc<parking_lot::Mutex> per object: each allocated by itself, as objects are",
        /// Tasks and a lock that admits several readers.
        TasksRwLock = "tasks+rwlock": "evenkeel's tasks, and a parking_lot::RwLock per object, which operations that only look read-lock",
        /// Tasks; the task inside an object makes the operations of those that wait (flat
        /// combining).
        TasksCombining = "tasks+combining": "evenkeel's tasks, which publish their operations where another task is inside; that one makes them (flat combining; a prototype)",
        /// Tasks; their operations go to the object's home without them.
        TasksShipping = "tasks+shipping": "evenkeel's tasks, which publish their operations, and tasks of the object's home make them (a prototype)",
        /// Tasks and objects that they enter in place.
        InPlace = "in-place": "evenkeel's tasks, objects entered where the task is: Placement::InPlace",
        /// Tasks and objects that they enter at home.
        Home = "home": "evenkeel's tasks, objects entered at their homes: Placement::Home",
        /// Tasks and a class that chooses its placement by trial.
        Automatic = "automatic": "evenkeel's tasks, whichever of both is measured to be better: Placement::Automatic",
        /// Pinned threads and atomic additions.
        Atomic = "atomic": "a pinned thread per core, and fetch_add; counters and histogram only",
        /// Pinned threads and the standard library's lock.
        Mutex = "mutex": "a pinned thread per core, and std::sync::Mutex; counters only",
        /// Pinned threads and parking_lot's lock.
        ParkingLot = "parking_lot": "a pinned thread per core, and parking_lot::Mutex; counters only",
        /// Pinned threads and DashMap.
        DashMap = "dashmap": "a pinned thread per core, and dashmap::DashMap, which has shards of its own; cache only",
        /// One pinned thread and no lock.
        OneThread = "one-thread": "one pinned thread on one core, which has all objects to itself: no lock",
    }
}

named! {
    /// What an operation does to the data that it examines.
    pub(crate) enum Access as "access" {
        /// The experiment has no choice.
        Only = "-",
        /// It writes nothing and shares the object with other readers.
        Read = "read",
        /// It writes nothing and is alone inside, as lookups are in CoreTime's benchmark.
        Alone = "alone",
        /// It writes the entry that it finds.
        Found = "found",
        /// It writes all that it examines.
        All = "all",
    }
}

named! {
    /// Which objects are in use.
    pub(crate) enum Popularity as "popularity" {
        /// All equally.
        Uniform = "uniform",
        /// All and a sixteenth, in turns.
        Oscillating = "oscillating",
    }
}

impl Bench {
    /// The modes that this experiment has, in the order of the tables.
    pub(crate) fn modes(self) -> &'static [Mode] {
        use Mode::{
            Atomic, Automatic, DashMap, Home, InPlace, Mutex, OneThread, ParkingLot, Spin,
            TasksArc, TasksCombining, TasksParkingLot, TasksRwLock, TasksShipping,
        };
        match self {
            Bench::Counters => &[
                Spin,
                TasksParkingLot,
                TasksArc,
                TasksCombining,
                TasksShipping,
                InPlace,
                Home,
                Automatic,
                Atomic,
                Mutex,
                ParkingLot,
                OneThread,
            ],
            Bench::Histogram => {
                &[Spin, TasksParkingLot, TasksArc, InPlace, Home, Automatic, Atomic, OneThread]
            }
            Bench::Travel => &[Home],
            Bench::Directory | Bench::Scan => {
                &[Spin, TasksParkingLot, TasksArc, TasksRwLock, InPlace, Home, Automatic, OneThread]
            }
            Bench::Cache => &[
                Spin,
                TasksParkingLot,
                TasksArc,
                TasksRwLock,
                InPlace,
                Home,
                Automatic,
                DashMap,
                OneThread,
            ],
            // Each operation writes, so a lock that admits several readers is only a slower lock.
            Bench::Map | Bench::Heap | Bench::Own => &[
                Spin,
                TasksParkingLot,
                TasksArc,
                TasksCombining,
                TasksShipping,
                InPlace,
                Home,
                Automatic,
                OneThread,
            ],
            Bench::Bank | Bench::Graph | Bench::Classes => {
                &[Spin, TasksParkingLot, TasksArc, InPlace, Home, Automatic, OneThread]
            }
        }
    }

    /// What its operations can do, the usual access first.
    pub(crate) fn accesses(self) -> &'static [Access] {
        match self {
            Bench::Directory => &[Access::Read, Access::Alone, Access::Found, Access::All],
            Bench::Scan => &[Access::Read, Access::Alone, Access::All],
            _ => &[Access::Only],
        }
    }

    /// Which objects can be in use, the usual popularity first.
    pub(crate) fn popularities(self) -> &'static [Popularity] {
        match self {
            Bench::Directory => &Popularity::ALL,
            _ => &[Popularity::Uniform],
        }
    }

    /// Tasks for each core, unless the command line says otherwise.
    pub(crate) fn usual_tasks(self) -> &'static [usize] {
        match self {
            Bench::Travel => &[1, 2, 4, 8, 16, 64, 256],
            _ => &[1, 8, 16, 64],
        }
    }
}

impl Mode {
    /// Whether this mode runs tasks. Other modes run one thread per core, or one in all.
    pub(crate) fn has_tasks(self) -> bool {
        use Mode::{Atomic, DashMap, Mutex, OneThread, ParkingLot, Spin};
        !matches!(self, Spin | Atomic | Mutex | ParkingLot | DashMap | OneThread)
    }
}

impl Peer for Mode {
    fn role(self) -> Role {
        match self {
            Mode::Automatic => Role::Subject,
            Mode::InPlace | Mode::Home => Role::Own,
            _ => Role::Peer,
        }
    }
}
