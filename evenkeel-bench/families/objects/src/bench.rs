//! The experiments, and the ways in which they are run.

use suite::named;
use suite::peer::{Peer, Role};

named! {
    /// An experiment.
    pub(crate) enum Bench as "experiment" {
        /// Lookups in directories.
        Directory = "directory": "directories of 1,000 entries of 32 bytes: one lookup (--access read, alone, found, all; --popularity uniform, oscillating)",
        /// Increments of few small counters.
        Counters = "counters": "counters that all increment: one increment",
        /// A value of a hash map is changed.
        Map = "map": "hash maps: one value is read, changed and written",
        /// The least of a heap is replaced.
        Heap = "heap": "binary heaps: one pop and one push",
        /// Objects are read or written from end to end.
        Scan = "scan": "whole objects: one is summed, or incremented word by word (--access read, alone, all)",
        /// Amounts are transferred between two accounts.
        Bank = "bank": "accounts, of which few are busy: one transfer between two of them (--zipf)",
        /// Random walks over a graph's vertices.
        Graph = "graph": "vertices of a graph, side by side in memory: one step of a random walk, which counts its visit",
        /// A cache that is cut into shards.
        Cache = "cache": "the shards of a hash map: one value is read, or changed (--read-percent, --zipf)",
        /// Buckets of a histogram.
        Histogram = "histogram": "the buckets of a histogram, those in the middle the most used: one increment",
        /// Much work of one's own between operations on one object.
        Own = "own": "a counter that all increment after some work of their own (--steps): one increment",
        /// Objects of several classes.
        Classes = "classes": "a counter, a map and a heap, each of a class of its own: one operation on each in turn",
        /// Tasks go from home to home.
        Travel = "travel": "tasks go from home to home for an increment: one journey there and back",
    }
}

named! {
    /// How an experiment is run.
    pub(crate) enum Mode as "runtime of objects" {
        /// Pinned threads, and a lock that is spun on.
        Spin = "threads+spin": "a pinned thread per core, and a TTAS spin lock per object",
        /// Tasks, and parking_lot's lock.
        TasksParkingLot = "tasks+parking_lot": "evenkeel's tasks, and a parking_lot::Mutex per object",
        /// Tasks, and parking_lot's lock in an allocation of its own.
        TasksArc = "tasks+arc": "evenkeel's tasks, and an Arc<parking_lot::Mutex> per object: each allocated by itself, as objects are",
        /// Tasks, and a lock that lets readers in together.
        TasksRwLock = "tasks+rwlock": "evenkeel's tasks, and a parking_lot::RwLock per object, which operations that only look read-lock",
        /// Tasks whose operations are made by those that are inside already.
        TasksCombining = "tasks+combining": "evenkeel's tasks, which publish their operations where another task is inside; that one makes them (flat combining; a prototype)",
        /// Tasks whose operations go to the object's home without them.
        TasksShipping = "tasks+shipping": "evenkeel's tasks, which publish their operations, and tasks of the object's home make them (a prototype)",
        /// Tasks, and objects that are entered where the task is.
        InPlace = "in-place": "evenkeel's tasks, objects entered where the task is: Placement::InPlace",
        /// Tasks, and objects that are entered at home.
        Home = "home": "evenkeel's tasks, objects entered at their homes: Placement::Home",
        /// Tasks, and a class that finds out.
        Automatic = "automatic": "evenkeel's tasks, whichever of both is measured to be better: Placement::Automatic",
        /// Pinned threads, and atomic additions.
        Atomic = "atomic": "a pinned thread per core, and fetch_add; counters and histogram only",
        /// Pinned threads, and the standard library's lock.
        Mutex = "mutex": "a pinned thread per core, and std::sync::Mutex; counters only",
        /// Pinned threads, and parking_lot's.
        ParkingLot = "parking_lot": "a pinned thread per core, and parking_lot::Mutex; counters only",
        /// Pinned threads, and DashMap.
        DashMap = "dashmap": "a pinned thread per core, and dashmap::DashMap, which has shards of its own; cache only",
        /// One pinned thread, and no lock.
        OneThread = "one-thread": "one pinned thread on one core, which has all objects to itself: no lock",
    }
}

named! {
    /// What an operation does to what it looks at.
    pub(crate) enum Access as "access" {
        /// Nothing to choose.
        Only = "-",
        /// It writes nothing, and others may read meanwhile.
        Read = "read",
        /// It writes nothing, and is alone inside, as lookups are in CoreTime's benchmark.
        Alone = "alone",
        /// It writes what it has found.
        Found = "found",
        /// It writes all that it looks at.
        All = "all",
    }
}

named! {
    /// Which objects are in use.
    pub(crate) enum Popularity as "popularity" {
        /// All alike.
        Uniform = "uniform",
        /// All, and a sixteenth, in turns.
        Oscillating = "oscillating",
    }
}

impl Bench {
    /// How it can be run, in the order of the tables.
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
            // Nothing that only looks: a lock that lets readers in together is but a slower lock.
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

    /// What its operations can do; the first is the usual one.
    pub(crate) fn accesses(self) -> &'static [Access] {
        match self {
            Bench::Directory => &[Access::Read, Access::Alone, Access::Found, Access::All],
            Bench::Scan => &[Access::Read, Access::Alone, Access::All],
            _ => &[Access::Only],
        }
    }

    /// Which objects can be in use; the first is the usual one.
    pub(crate) fn popularities(self) -> &'static [Popularity] {
        match self {
            Bench::Directory => &Popularity::ALL,
            _ => &[Popularity::Uniform],
        }
    }

    /// Tasks for each core, unless it is said.
    pub(crate) fn usual_tasks(self) -> &'static [usize] {
        match self {
            Bench::Travel => &[1, 2, 4, 8, 16, 64, 256],
            _ => &[1, 8, 16, 64],
        }
    }
}

impl Mode {
    /// Whether it runs tasks. Otherwise there is one thread per core, or one in all.
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

    fn describe(self) -> &'static str {
        Mode::describe(self)
    }
}
