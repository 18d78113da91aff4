//! The experiments, and the ways in which they are run.

use suite::named;
use suite::peer::{Peer, Role};

named! {
    /// An experiment.
    pub(crate) enum Bench as "experiment" {
        /// Lookups in directories.
        Directory = "directory": "directories of 1,000 entries of 32 bytes: one lookup (--access read, found, all; --popularity uniform, oscillating)",
        /// Increments of few small counters.
        Counters = "counters": "counters that all increment: one increment",
        /// A value of a hash map is changed.
        Map = "map": "hash maps: one value is read, changed and written",
        /// The least of a heap is replaced.
        Heap = "heap": "binary heaps: one pop and one push",
        /// Objects are read or written from end to end.
        Scan = "scan": "whole objects: one is summed, or incremented word by word (--access read, all)",
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
        /// Tasks, and a lock that lets readers in together.
        TasksRwLock = "tasks+rwlock": "evenkeel's tasks, and a parking_lot::RwLock per object, which those that only look read-lock",
        /// Tasks, and objects that are entered where the task is.
        InPlace = "in-place": "evenkeel's tasks, objects entered where the task is: Placement::InPlace",
        /// Tasks, and objects that are entered at home.
        Home = "home": "evenkeel's tasks, objects entered at their homes: Placement::Home",
        /// Tasks, and a class that finds out.
        Automatic = "automatic": "evenkeel's tasks, whichever of both is measured to be better: Placement::Automatic",
        /// Pinned threads, and atomic additions.
        Atomic = "atomic": "a pinned thread per core, and fetch_add; counters only",
        /// Pinned threads, and the standard library's lock.
        Mutex = "mutex": "a pinned thread per core, and std::sync::Mutex; counters only",
        /// Pinned threads, and parking_lot's.
        ParkingLot = "parking_lot": "a pinned thread per core, and parking_lot::Mutex; counters only",
        /// One pinned thread, and no lock.
        OneThread = "one-thread": "one pinned thread on one core, which has all objects to itself: no lock",
    }
}

named! {
    /// What an operation does to what it looks at.
    pub(crate) enum Access as "access" {
        /// Nothing to choose.
        Only = "-",
        /// It writes nothing.
        Read = "read",
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
        match self {
            Bench::Counters => &Mode::ALL,
            Bench::Travel => &[Mode::Home],
            Bench::Directory | Bench::Map | Bench::Heap | Bench::Scan => &[
                Mode::Spin,
                Mode::TasksParkingLot,
                Mode::TasksRwLock,
                Mode::InPlace,
                Mode::Home,
                Mode::Automatic,
                Mode::OneThread,
            ],
        }
    }

    /// What its operations can do; the first is the usual one.
    pub(crate) fn accesses(self) -> &'static [Access] {
        match self {
            Bench::Directory => &[Access::Read, Access::Found, Access::All],
            Bench::Scan => &[Access::Read, Access::All],
            Bench::Counters | Bench::Map | Bench::Heap | Bench::Travel => &[Access::Only],
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
        use Mode::{Atomic, Mutex, OneThread, ParkingLot, Spin};
        !matches!(self, Spin | Atomic | Mutex | ParkingLot | OneThread)
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
