//! What the system's part of a scheduler costs: to wake a thread that sleeps, to have all running
//! threads pass a fence, and to join a thread.

use std::hint;
use std::panic::resume_unwind;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use rustix::thread::{MembarrierCommand, membarrier};

use super::steps::median;
use suite::affinity;

/// Wakes, and fences, of which the median counts.
const TURNS: usize = 100;

/// How long a thread sleeps until it is woken: its core is idle by then.
pub(crate) const ASLEEP: Duration = Duration::from_micros(100);

/// Threads that end before the one that joins them begins, in a turn.
const ENDED: usize = 8;

/// Nanoseconds: medians of the turns.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Threads {
    /// The call that wakes a thread on another core.
    pub unpark: f64,
    /// From that call until the thread runs.
    pub unpark_latency: f64,
    /// `membarrier`, while another thread runs; 0 where the system has none, and schedulers do
    /// without.
    pub heavy_fence: f64,
    /// From a thread's last own step until another one, which waits for its end, has joined it.
    pub end: f64,
    /// A join of a thread that has ended.
    pub join: f64,
}

/// Measures all of them, on the first two cores; on the only one, if there are no two.
#[must_use]
pub fn measure() -> Threads {
    let cores = affinity::cores();
    // On a thread of its own, so that the caller keeps its cores.
    let here = || {
        cores.first().copied().map(affinity::settle_on);
        let there = cores.get(1).or(cores.first()).copied();
        let (unpark, unpark_latency) = wakes(there);
        let heavy_fence = fences(there).unwrap_or_default();
        Threads { unpark, unpark_latency, heavy_fence, end: ends(there), join: joins(there) }
    };
    thread::scope(|scope| scope.spawn(here).join()).unwrap_or_else(|panic| resume_unwind(panic))
}

fn wakes(there: Option<usize>) -> (f64, f64) {
    let turns: Vec<OnceLock<Instant>> = (0..TURNS).map(|_| OnceLock::new()).collect();
    let is_asked: Vec<AtomicBool> = (0..TURNS).map(|_| AtomicBool::new(false)).collect();
    let mut times = Vec::with_capacity(TURNS);
    thread::scope(|scope| {
        let sleeper = scope.spawn(|| {
            there.map(affinity::settle_on);
            for (turn, is_asked) in turns.iter().zip(&is_asked) {
                while !is_asked.load(Ordering::Acquire) {
                    thread::park();
                }
                turn.get_or_init(Instant::now);
            }
        });
        for (turn, is_asked) in turns.iter().zip(&is_asked) {
            thread::sleep(ASLEEP);
            let begun = Instant::now();
            is_asked.store(true, Ordering::Release);
            sleeper.thread().unpark();
            let called = begun.elapsed();
            let woken = loop {
                match turn.get() {
                    Some(woken) => break *woken,
                    None => hint::spin_loop(),
                }
            };
            times.push((called, woken.saturating_duration_since(begun)));
        }
    });
    let of = |one: fn(&(Duration, Duration)) -> Duration| {
        median(times.iter().map(|times| one(times).as_nanos() as f64).collect())
    };
    (of(|times| times.0), of(|times| times.1))
}

fn fences(there: Option<usize>) -> Option<f64> {
    membarrier(MembarrierCommand::RegisterPrivateExpedited).ok()?;
    let is_over = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            there.map(affinity::settle_on);
            while !is_over.load(Ordering::Relaxed) {
                hint::spin_loop();
            }
        });
        // The other thread is there by then.
        thread::sleep(10 * ASLEEP);
        let fence = |_| {
            let begun = Instant::now();
            membarrier(MembarrierCommand::PrivateExpedited).ok()?;
            Some(begun.elapsed().as_nanos() as f64)
        };
        let times: Option<Vec<f64>> = (0..TURNS).map(fence).collect();
        is_over.store(true, Ordering::Relaxed);
        times.map(median)
    })
}

fn ends(there: Option<usize>) -> f64 {
    let end = |_| {
        let ending = thread::spawn(move || {
            there.map(affinity::settle_on);
            // The other thread waits by then.
            thread::sleep(ASLEEP);
            Instant::now()
        });
        let last = ending.join().unwrap_or_else(|panic| resume_unwind(panic));
        last.elapsed().as_nanos() as f64
    };
    median((0..TURNS).map(end).collect())
}

fn joins(there: Option<usize>) -> f64 {
    let join = |_| {
        let thread = |_| thread::spawn(move || _ = there.map(affinity::settle_on));
        let ended: Vec<_> = (0..ENDED).map(thread).collect();
        while !ended.iter().all(thread::JoinHandle::is_finished) {
            thread::yield_now();
        }
        // The system's part of the end comes after that.
        thread::sleep(ASLEEP);
        let begun = Instant::now();
        for thread in ended {
            thread.join().unwrap_or_else(|panic| resume_unwind(panic));
        }
        begun.elapsed().as_nanos() as f64 / ENDED as f64
    };
    median((0..TURNS).map(join).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_system_does_takes_time() {
        let Threads { unpark, unpark_latency, heavy_fence, end, join } = measure();
        assert!(unpark > 0.0 && unpark_latency > 0.0, "{unpark} {unpark_latency}");
        assert!(end > 0.0 && join > 0.0, "{end} {join}");
        assert!(heavy_fence >= 0.0);
    }
}
