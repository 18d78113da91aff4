//! Which peer runs what: one entry for each cell of the tables. This project has all cells. A cell
//! that a peer lacks is a dash in the tables.

use std::time::Duration;

use super::bench::{Bench, Variant};
use super::contended::{Contention, Outcome};
use super::coroutines::{self, corosensei, genawaiter};
use super::host::Evenkeel;
use super::host::{self, Threads};
use super::peer::Peer;
use super::program::Language;
use super::rendezvous::{self, Role as Meeting};
use super::schedint::Role;
use super::{contended, creation, ctxswitch, monitors, mutex, notify, schedint};
use suite::kit::fault::Fault;

/// How to run a cell.
#[derive(Clone, Copy)]
pub(crate) enum Cell {
    /// Makes a number of rounds, each checked; returns their time.
    Rounds(fn(u64) -> Result<Duration, Fault>),
    /// Runs for a given time.
    Contended(fn(Contention) -> Result<Outcome, Fault>),
    /// A program of its own runs it.
    Program(Language),
}

/// An expression for each number of monitors; nothing for other numbers.
macro_rules! by_number {
    ($monitors:expr, $number:ident => $cell:expr) => {
        match $monitors {
            1 => {
                const $number: usize = 1;
                Some($cell)
            }
            2 => {
                const $number: usize = 2;
                Some($cell)
            }
            4 => {
                const $number: usize = 4;
                Some($cell)
            }
            _ => None,
        }
    };
}

/// Yields of `parties` parties.
macro_rules! yields {
    ($host:ty, $parties:literal) => {
        Some(Cell::Rounds(|n| {
            let parts = ctxswitch::parts::<$host>(n, $parties);
            ctxswitch::check(n, &<$host>::run(1, parts, ctxswitch::go::<$host>)?)
        }))
    };
}

/// Spawns and joins.
macro_rules! spawns {
    ($host:ty) => {
        Some(Cell::Rounds(|n| creation::check(n, <$host>::run(1, vec![n], creation::go::<$host>)?)))
    };
}

/// Entries of several monitors.
macro_rules! entries {
    ($host:ty, $monitors:ident, $number:expr) => {
        by_number!($number, M => Cell::Rounds(|n| {
            mutex::check(n, <$host>::run(1, vec![n], mutex::go::<monitors::$monitors<M>, M>)?)
        }))
    };
}

/// Wait and signal inside several monitors.
macro_rules! signals {
    ($host:ty, $monitors:ident, $number:expr, $timed:expr) => {
        by_number!($number, M => Cell::Rounds(|n| {
            let parts = schedint::parts::<$host, monitors::$monitors<M>, M>(n);
            let go = schedint::go::<$host, monitors::$monitors<M>, M>;
            schedint::check(n, $timed, &<$host>::run(1, parts, go)?)
        }))
    };
}

/// Accepts and calls.
macro_rules! calls {
    ($host:ty, $place:ty, $timed:expr) => {
        Cell::Rounds(|n| {
            let parts = rendezvous::parts::<$host, $place>(n);
            let go = rendezvous::go::<$host, $place>;
            rendezvous::check(n, $timed, &<$host>::run(1, parts, go)?)
        })
    };
}

/// Entries of one monitor that all parties want.
macro_rules! contention {
    ($host:ty, $monitors:ident) => {
        Some(Cell::Contended(|contention| {
            let parts = contended::parts::<$host, monitors::$monitors<1>>(contention);
            let go = contended::go::<$host, monitors::$monitors<1>>;
            contended::check(&<$host>::run(contention.procs, parts, go)?)
        }))
    };
}

/// How a peer runs an experiment, if it can.
pub(crate) fn find(peer: Peer, bench: Bench, variant: Variant, monitors: usize) -> Option<Cell> {
    match peer {
        Peer::Evenkeel => evenkeel(bench, variant, monitors),
        Peer::Tokio => tokio(bench, variant, monitors),
        Peer::TokioNotify => tokio_notify(bench, variant, monitors),
        Peer::AsyncLock => async_lock(bench, variant, monitors),
        Peer::Flume => flume(bench, variant, monitors),
        Peer::Genawaiter => genawaiter(bench, variant),
        Peer::Corosensei => corosensei(bench, variant),
        Peer::ParkingLot => parking_lot(bench, variant, monitors),
        Peer::Std => std(bench, variant, monitors),
        Peer::Call => match (bench, monitors) {
            (Bench::Mutex, 1) => Some(Cell::Rounds(mutex::calls)),
            _ => None,
        },
        Peer::Pthread => program(Language::C, bench, variant, monitors),
        Peer::Go => program(Language::Go, bench, variant, monitors),
    }
}

fn evenkeel(bench: Bench, variant: Variant, monitors: usize) -> Option<Cell> {
    let coroutines = match (bench, variant) {
        (Bench::Ctxswitch, Variant::Coroutine) => coroutines::evenkeel::switch,
        (Bench::Ctxswitch, Variant::CoroutineKept) => coroutines::evenkeel::switch_kept,
        (Bench::Ctxswitch, Variant::CoroutineBoxed) => coroutines::evenkeel::switch_boxed,
        (Bench::Creation, Variant::CoroutineLazy) => coroutines::evenkeel::create,
        (Bench::Creation, Variant::CoroutineEager) => coroutines::evenkeel::create_and_run,
        (Bench::Creation, Variant::CoroutineEagerBoxed) => {
            coroutines::evenkeel::create_and_run_boxed
        }
        _ => return evenkeel_tasks(bench, variant, monitors),
    };
    Some(Cell::Rounds(coroutines))
}

fn evenkeel_tasks(bench: Bench, variant: Variant, monitors: usize) -> Option<Cell> {
    match (bench, variant) {
        (Bench::Ctxswitch, Variant::Task) => yields!(Evenkeel, 1),
        (Bench::Ctxswitch, _) => yields!(Evenkeel, 2),
        (Bench::Mutex, _) => entries!(Evenkeel, Evenkeel, monitors),
        (Bench::Schedint, Variant::Waiter) => signals!(Evenkeel, Evenkeel, monitors, Role::Waiter),
        (Bench::Schedint, _) => signals!(Evenkeel, Evenkeel, monitors, Role::Signaller),
        (Bench::Schedext, Variant::Acceptor) => by_number!(monitors, M => {
            calls!(Evenkeel, rendezvous::Evenkeel<M>, Meeting::Acceptor)
        }),
        (Bench::Schedext, _) => by_number!(monitors, M => {
            calls!(Evenkeel, rendezvous::Evenkeel<M>, Meeting::Caller)
        }),
        (Bench::Creation, _) => spawns!(Evenkeel),
        (Bench::Contended, _) => contention!(Evenkeel, Evenkeel),
    }
}

fn tokio(bench: Bench, variant: Variant, monitors: usize) -> Option<Cell> {
    match (bench, variant) {
        (Bench::Ctxswitch, Variant::Task) => yields!(host::Tokio, 1),
        (Bench::Ctxswitch, Variant::TwoTasks) => yields!(host::Tokio, 2),
        (Bench::Mutex, _) => entries!(host::Tokio, Tokio, monitors),
        (Bench::Schedint, Variant::Waiter) => signals!(host::Tokio, Tokio, monitors, Role::Waiter),
        (Bench::Schedint, _) => signals!(host::Tokio, Tokio, monitors, Role::Signaller),
        (Bench::Schedext, Variant::Acceptor) if monitors == 1 => {
            Some(calls!(host::Tokio, rendezvous::Tokio, Meeting::Acceptor))
        }
        (Bench::Schedext, _) if monitors == 1 => {
            Some(calls!(host::Tokio, rendezvous::Tokio, Meeting::Caller))
        }
        (Bench::Creation, Variant::Task) => spawns!(host::Tokio),
        (Bench::Contended, _) => contention!(host::Tokio, Tokio),
        _ => None,
    }
}

fn tokio_notify(bench: Bench, variant: Variant, monitors: usize) -> Option<Cell> {
    match (bench, variant, monitors) {
        (Bench::Schedint, Variant::Waiter, 1) => {
            Some(Cell::Rounds(|n| schedint::check(n, Role::Waiter, &notify::run(n)?)))
        }
        (Bench::Schedint, _, 1) => {
            Some(Cell::Rounds(|n| schedint::check(n, Role::Signaller, &notify::run(n)?)))
        }
        _ => None,
    }
}

fn async_lock(bench: Bench, variant: Variant, monitors: usize) -> Option<Cell> {
    match (bench, variant) {
        (Bench::Mutex, _) => entries!(Evenkeel, AsyncLock, monitors),
        (Bench::Schedint, Variant::Waiter) => {
            signals!(Evenkeel, AsyncLock, monitors, Role::Waiter)
        }
        (Bench::Schedint, _) => signals!(Evenkeel, AsyncLock, monitors, Role::Signaller),
        (Bench::Contended, _) => contention!(Evenkeel, AsyncLock),
        _ => None,
    }
}

fn flume(bench: Bench, variant: Variant, monitors: usize) -> Option<Cell> {
    match (bench, variant, monitors) {
        (Bench::Schedext, Variant::Acceptor, 1) => {
            Some(calls!(Evenkeel, rendezvous::Flume, Meeting::Acceptor))
        }
        (Bench::Schedext, _, 1) => Some(calls!(Evenkeel, rendezvous::Flume, Meeting::Caller)),
        _ => None,
    }
}

fn genawaiter(bench: Bench, variant: Variant) -> Option<Cell> {
    let run = match (bench, variant) {
        (Bench::Ctxswitch, Variant::Coroutine) => genawaiter::switch,
        (Bench::Ctxswitch, Variant::CoroutineKept) => genawaiter::switch_kept,
        (Bench::Ctxswitch, Variant::CoroutineBoxed) => genawaiter::switch_boxed,
        (Bench::Creation, Variant::CoroutineLazy) => genawaiter::create,
        (Bench::Creation, Variant::CoroutineEager) => genawaiter::create_and_run,
        (Bench::Creation, Variant::CoroutineEagerBoxed) => genawaiter::create_and_run_boxed,
        _ => return None,
    };
    Some(Cell::Rounds(run))
}

fn corosensei(bench: Bench, variant: Variant) -> Option<Cell> {
    let run = match (bench, variant) {
        // It has a stack of its own, which no compiler removes: both rows run the same code.
        (Bench::Ctxswitch, Variant::Coroutine | Variant::CoroutineKept) => corosensei::switch,
        (Bench::Creation, Variant::CoroutineLazy) => corosensei::create,
        (Bench::Creation, Variant::CoroutineEager) => corosensei::create_and_run,
        _ => return None,
    };
    Some(Cell::Rounds(run))
}

fn parking_lot(bench: Bench, variant: Variant, monitors: usize) -> Option<Cell> {
    match (bench, variant) {
        (Bench::Mutex, _) => entries!(Threads, ParkingLot, monitors),
        (Bench::Schedint, Variant::Waiter) => signals!(Threads, ParkingLot, monitors, Role::Waiter),
        (Bench::Schedint, _) => signals!(Threads, ParkingLot, monitors, Role::Signaller),
        (Bench::Contended, _) => contention!(Threads, ParkingLot),
        _ => None,
    }
}

fn std(bench: Bench, variant: Variant, monitors: usize) -> Option<Cell> {
    match (bench, variant) {
        (Bench::Ctxswitch, Variant::Task) => yields!(Threads, 1),
        (Bench::Ctxswitch, Variant::TwoTasks) => yields!(Threads, 2),
        (Bench::Mutex, _) => entries!(Threads, Std, monitors),
        (Bench::Schedint, Variant::Waiter) => signals!(Threads, Std, monitors, Role::Waiter),
        (Bench::Schedint, _) => signals!(Threads, Std, monitors, Role::Signaller),
        (Bench::Creation, Variant::Task) => spawns!(Threads),
        (Bench::Contended, _) => contention!(Threads, Std),
        _ => None,
    }
}

fn program(language: Language, bench: Bench, variant: Variant, monitors: usize) -> Option<Cell> {
    let has = match (bench, variant) {
        (Bench::Ctxswitch, Variant::Task | Variant::TwoTasks) => true,
        (Bench::Mutex | Bench::Schedint, _) => true,
        (Bench::Schedext, _) => language == Language::Go && monitors == 1,
        (Bench::Creation, Variant::Task) => true,
        _ => false,
    };
    has.then_some(Cell::Program(language))
}
