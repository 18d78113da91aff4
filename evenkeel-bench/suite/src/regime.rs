//! The distance between the cores of a virtual machine, from the time of a bounced cache line.
//!
//! The cores of a virtual machine move between one last-level cache and two within minutes, which
//! changes every figure with traffic between cores by a factor of two to four. A cache line bounced
//! between two cores before and after each run shows the regime of the run, and runs are compared
//! within one regime only.

use std::hint;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use crossbeam_utils::CachePadded;

use crate::affinity;

/// Round trips between two clock reads: a few microseconds of bouncing.
const STRIDE: u32 = 50;
/// How long a line is bounced: thousands of round trips, and short beside any run.
const TIME: Duration = Duration::from_millis(2);
/// The one-way time below which cores are near. Within one last-level cache it is 28 to 70 ns on
/// most current machines, and 65 to 125 ns on the mesh of an Intel Xeon with 300 MiB; between two
/// such caches it is about 200.
const NEAR_NS: f64 = 150.0;
/// The one-way time below which the two virtual cores are threads of one core: 9 to 10 ns, where
/// near cores take 23 ns and more.
const SIBLINGS_NS: f64 = 20.0;

/// The cores are two threads of one core.
const SIBLINGS: &str = "siblings";

/// The cores share a last-level cache. Preferred among equals, so that reports agree.
pub const NEAR: &str = "near";

/// The cores do not share a last-level cache.
const FAR: &str = "far";

/// The two readings of the bounced line disagree: such a run belongs to no regime.
pub const MIXED: &str = "mixed";

/// There is only one core.
const ONE_CORE: &str = "one core";

/// The last value of the ball: the other thread stops.
const OVER: u32 = u32::MAX;

/// Returns whether cores are near whose line takes this long one way, in nanoseconds.
pub fn is_near(line: f64) -> bool {
    (SIBLINGS_NS..NEAR_NS).contains(&line)
}

/// Measures the one-way time of a cache line between the first two cores, in nanoseconds; 0 if
/// there is only one core.
pub fn bounce() -> f64 {
    let cores = affinity::cores();
    let &[here, there, ..] = cores.as_slice() else {
        return 0.0;
    };
    let ball = CachePadded::new(AtomicU32::new(0));
    thread::scope(|scope| {
        scope.spawn(|| {
            affinity::settle_on(there);
            while reply(&ball) {}
        });
        let server = scope.spawn(|| {
            affinity::settle_on(here);
            serve(&ball)
        });
        server.join().unwrap_or(0.0)
    })
}

/// Sends odd numbers and waits for the even ones that follow them.
fn serve(ball: &AtomicU32) -> f64 {
    // The first exchanges wait for the other thread to start.
    exchange(ball, STRIDE);
    let started = Instant::now();
    let mut trips = 0;
    // At least once: a thread that loses its core just after `started` finds the time over.
    loop {
        exchange(ball, STRIDE);
        trips += STRIDE;
        if started.elapsed() >= TIME {
            break;
        }
    }
    let one_way = started.elapsed().as_nanos() as f64 / f64::from(2 * trips);
    ball.store(OVER, Ordering::Release);
    one_way
}

fn exchange(ball: &AtomicU32, trips: u32) {
    for trip in 0..trips {
        ball.store(2 * trip + 1, Ordering::Release);
        while ball.load(Ordering::Acquire) != 2 * trip + 2 {
            hint::spin_loop();
        }
    }
}

/// Answers one ball. Returns `false` after the last one.
fn reply(ball: &AtomicU32) -> bool {
    loop {
        let seen = ball.load(Ordering::Acquire);
        if seen == OVER {
            return false;
        }
        if seen % 2 == 1 {
            ball.store(seen + 1, Ordering::Release);
            return true;
        }
        hint::spin_loop();
    }
}

/// The meaning of the names, for readers of tables.
pub const MEANING: &str = "cores: siblings are two threads of one core (a cache line takes less than 20 ns from one to \
    the other), near ones share a last-level cache (less than 150 ns), far ones do not; mixed: it changed during the run";

/// Returns the regime of one reading.
fn of(line: f64) -> &'static str {
    if line < SIBLINGS_NS {
        SIBLINGS
    } else if line < NEAR_NS {
        NEAR
    } else {
        FAR
    }
}

/// Returns the name of the regime, from the readings before and after a run.
pub fn name(before: f64, after: f64) -> &'static str {
    if before == 0.0 || after == 0.0 {
        return ONE_CORE;
    }
    match (of(before), of(after)) {
        (before, after) if before == after => before,
        _ => MIXED,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_readings_make_a_regime() {
        assert_eq!(name(40.0, 60.0), "near");
        assert_eq!(name(180.0, 210.0), "far");
        assert_eq!(name(40.0, 210.0), "mixed");
        assert_eq!(name(9.0, 10.0), "siblings");
        assert_eq!(name(66.0, 10.0), "mixed");
        assert_eq!(name(0.0, 0.0), "one core");
    }

    #[test]
    fn a_line_takes_time_between_two_cores() {
        let expected = affinity::cores().len() > 1;
        assert_eq!(bounce() > 0.0, expected);
    }
}
