//! Sleeps: tasks that do nothing but sleep for some microseconds, by timers of the finest
//! resolution. For a simulation, beside which they are measured: no peer has such timers.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use evenkeel::time::{advance, sleep};

use super::crew;
use super::steps::median;
use suite::kit::fault::Fault;
use suite::kit::random::Random;
use suite::kit::runtime::evenkeel::Evenkeel;
use suite::kit::runtime::{Lost, Runtime};

/// The finest resolution of timers.
const RESOLUTION: Duration = Duration::from_micros(1);

/// Turns of the driver of [`step`]. The first tenth of them does not count.
const TURNS: usize = 400;

/// How long its followers sleep, by a clock that stands in between.
const PERIOD: Duration = Duration::from_micros(100);

fn builder(workers: usize) -> evenkeel::Builder {
    evenkeel::Builder::new().workers(workers).timer_resolution(RESOLUTION)
}

fn start(builder: evenkeel::Builder) -> Result<Evenkeel, Fault> {
    builder.build().map(Evenkeel).map_err(|error| Fault::Start(error.into()))
}

/// Has `tasks` for each of `procs` workers sleep for up to `longest` each time, for this time.
/// Returns the nanoseconds of a sleep and worker: where the tasks are many enough that the workers
/// are never without one, what it costs.
///
/// # Errors
/// If a task does not start, sleep or end.
pub fn once(
    procs: usize,
    tasks: usize,
    longest: u64,
    time: Duration,
    seed: u64,
) -> Result<f64, Fault> {
    let runtime = start(builder(procs))?;
    let crew = crew::muster(&runtime, procs * tasks, move |number, mut meter| async move {
        meter.gather::<Evenkeel>().await;
        let mut random = Random::new(seed, number);
        loop {
            sleep(Duration::from_nanos(1 + random.below(longest as usize) as u64)).await;
            if !meter.count(1) {
                break meter.tally();
            }
        }
    })?;
    crew.begin()?;
    thread::sleep(crew::warm_up(time));
    let started = crew.mark();
    thread::sleep(time);
    let elapsed = started.elapsed();
    let ops = crew::outcome(&crew.end(|| ())?, elapsed)?.ops;
    if ops == 0 {
        return Fault::check("no sleep ended in the measured time");
    }
    Ok(elapsed.as_nanos() as f64 * procs as f64 / ops as f64)
}

/// Returns the nanoseconds of a step: arming a timer, its fire, and the poll that follows. The
/// *driver* moves the clock of a runtime with one worker beyond the deadlines of all its
/// *followers*, which sleep again.
///
/// # Errors
/// If a follower does not sleep, or does not end.
pub fn step(tasks: usize) -> Result<f64, Fault> {
    // A relief that is preempted inside a follower would keep it from a turn.
    let runtime = start(builder(1).start_paused(true).reliefs(0))?;
    let driver = async move {
        let (slept, is_over) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicBool::new(false)));
        let follower = |_| {
            let (slept, is_over) = (slept.clone(), is_over.clone());
            Evenkeel::spawn(async move {
                while !is_over.load(Ordering::Relaxed) {
                    sleep(PERIOD).await;
                    slept.fetch_add(1, Ordering::Relaxed);
                }
            })
        };
        let followers: Vec<_> = (0..tasks).map(follower).collect();
        Evenkeel::yield_now().await;
        let mut times = Vec::with_capacity(TURNS);
        for _ in 0..TURNS {
            let begun = Instant::now();
            advance(2 * PERIOD).await;
            times.push(begun.elapsed().as_nanos() as f64 / tasks as f64);
        }
        is_over.store(true, Ordering::Relaxed);
        advance(2 * PERIOD).await;
        for follower in followers {
            follower.await?;
        }
        Ok::<_, Lost>((times, slept.load(Ordering::Relaxed)))
    };
    let (mut times, slept) = runtime.block_on(async { Evenkeel::spawn(driver).await })??;
    if slept != (TURNS + 1) * tasks {
        return Fault::check(format!("{slept} sleeps have ended, and not {}", (TURNS + 1) * tasks));
    }
    Ok(median(times.split_off(TURNS / 10)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sleeps_end_and_take_time() {
        assert!(step(10).unwrap() > 0.0);
        for procs in [1, 2] {
            let found = once(procs, 20, 10_000, Duration::from_millis(20), 1).unwrap();
            assert!(found > 0.0, "{found}");
        }
    }
}
