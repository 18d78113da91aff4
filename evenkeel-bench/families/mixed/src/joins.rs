//! A sequence of computations, requested from outside, beside tasks that keep the pool busy.
//!
//! Each task repeatedly works for about 2 µs and yields. Meanwhile the controller, which is no
//! worker, requests one computation after another.

use std::time::Instant;

use super::pool::Pool;
use super::{Outcome, Spec, Tasks, stream};
use scheduling::crew::{self, Tally};
use suite::kit::fault::Fault;
use suite::kit::latency::Latencies;
use suite::kit::runtime::Runtime;
use suite::kit::work;

/// The work of one poll: about 2 µs.
type Work = work::Work<1_500>;

pub(super) fn run<P: Pool>(spec: &Spec, right: u64) -> Result<Outcome, Fault> {
    let seed = spec.seed;
    let pool = P::start(spec.workers).map_err(Fault::Start)?;
    let crew = crew::muster(pool.tasks(), spec.tasks, move |number, mut meter| async move {
        let mut work = Work::new(seed, number);
        meter.gather::<P::Tasks>().await;
        loop {
            work.go();
            if !meter.count(1) {
                break (meter.tally(), work);
            }
            P::Tasks::yield_now().await;
        }
    })?;
    crew.begin()?;
    let compute = |time| {
        let started = Instant::now();
        stream::run(pool.forks(), spec, right, || started.elapsed() < time)
    };
    let warm = compute(crew::warm_up(spec.time));
    let started = crew.mark();
    let all = compute(spec.time);
    let seconds = started.elapsed().as_secs_f64();
    let left = crew.end(|| ())?;
    warm?;
    let mut computations = Latencies::default();
    all?.iter().for_each(|done| computations.add(done.took));
    let polls = polls(&left)?;
    Ok(Outcome { seconds, computations, tasks: Tasks::Polls(polls) })
}

/// Returns the polls in the measured time, if all tasks have done the work of all their polls.
fn polls(left: &[(Tally, Work)]) -> Result<u64, Fault> {
    match left.iter().position(|(tally, work)| !work.is_right(tally.total)) {
        Some(task) => Fault::check(format!(
            "task {task} has not done the work of {} polls",
            left[task].0.total
        )),
        None => Ok(left.iter().map(|(tally, _)| tally.measured).sum()),
    }
}
