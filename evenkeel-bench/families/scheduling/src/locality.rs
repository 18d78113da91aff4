//! Locality: does a woken task belong where its waker runs, or where it last ran?
//!
//! The spots are semaphores, as many as tasks less processors. The first tasks, one per spot, begin
//! by waiting there. In one operation, a running task makes random increments in its array and
//! draws a spot. It does V on the spot, which wakes the task that waits there, and takes that
//! task's place by P. In `share` the array travels with the permit, so the data is warm on the
//! waker's processor; in `noshare` each task keeps its own, which is warm where it last ran.
//!
//! At the stop one V per spot releases the last waiters; in `share` it brings an array of zeros.
//! Each V has then met its P: no permit may be left, and the cells of all arrays must add up to the
//! number of increments.

use std::future::Future;
use std::sync::Arc;

use super::crew;
use super::{Outcome, Spec, Variant};
use suite::kit::fault::Fault;
use suite::kit::random::Random;
use suite::kit::runtime::{Array, Runtime, Semaphores};

pub(super) fn run<R: Runtime>(spec: &Spec) -> Result<Outcome, Fault> {
    if spec.variant == Variant::Share {
        passing::<R, R::Arrays, Share>(spec)
    } else {
        passing::<R, R::Permits, Keep>(spec)
    }
}

/// What travels with a permit.
trait Passing: 'static {
    type Datum: Send + 'static;

    /// The array of a task before its first operation; `waits` if that begins with P.
    fn first(words: usize, waits: bool) -> Array;
    fn give(own: &mut Array) -> Self::Datum;
    fn take(own: &mut Array, datum: Self::Datum);
    fn spare(words: usize) -> Self::Datum;
}

/// The array goes to the woken task.
struct Share;

impl Passing for Share {
    type Datum = Array;

    fn first(words: usize, waits: bool) -> Array {
        if waits { Array::default() } else { array(words) }
    }

    #[inline]
    fn give(own: &mut Array) -> Array {
        std::mem::take(own)
    }

    #[inline]
    fn take(own: &mut Array, datum: Array) {
        *own = datum;
    }

    fn spare(words: usize) -> Array {
        array(words)
    }
}

/// Each task keeps its array.
struct Keep;

impl Passing for Keep {
    type Datum = ();

    fn first(words: usize, _waits: bool) -> Array {
        array(words)
    }

    #[inline]
    fn give(_own: &mut Array) {}

    #[inline]
    fn take(_own: &mut Array, (): ()) {}

    fn spare(_words: usize) {}
}

/// The smallest array: two cache lines, so that tasks share a line only on purpose.
const FEWEST_CELLS: usize = 16;

fn array(words: usize) -> Array {
    vec![0; words.max(FEWEST_CELLS)].into_boxed_slice()
}

fn passing<R, S, P>(spec: &Spec) -> Result<Outcome, Fault>
where
    R: Runtime,
    S: Semaphores<P::Datum>,
    P: Passing,
{
    let (tasks, seed, words, touch) = (spec.tasks(), spec.seed, spec.words, spec.touch);
    let spots = tasks.saturating_sub(spec.procs).max(1);
    let row = Arc::new(S::new(spots, tasks));
    let shared = row.clone();
    let runtime = crew::start::<R>(spec)?;
    let crew = crew::muster(&runtime, tasks, move |number, mut meter| {
        let row = shared.clone();
        let mut seat = row.seat(number);
        let mut random = Random::new(seed, number);
        let waits = number < spots;
        let mut own = P::first(words, waits);
        async move {
            if !waits {
                meter.gather::<R>().await;
            } else {
                meter.report();
                let datum = row.acquire(number, &mut seat).await;
                P::take(&mut own, datum);
            }
            loop {
                increment(&mut own[..words], touch, &mut random);
                if !meter.count(1) {
                    break (meter.tally(), own);
                }
                let spot = random.below(spots);
                row.release(spot, P::give(&mut own));
                let datum = row.acquire(spot, &mut seat).await;
                P::take(&mut own, datum);
            }
        }
    })?;
    let (left, elapsed) = measure::<R, S, P, _>(crew, spec, &row, spots)?;
    for spot in 0..spots {
        let free = row.available(spot);
        if free != 0 {
            return Fault::check(format!("spot {spot} ends with {free} permits instead of none"));
        }
    }
    let (tallies, arrays): (Vec<_>, Vec<_>) = left.into_iter().unzip();
    let sum: u64 = arrays.iter().flatten().sum();
    let made: u64 = tallies.iter().map(|tally| tally.total * touch as u64).sum();
    if sum != made {
        return Fault::check(format!("the cells add up to {sum} after {made} increments"));
    }
    crew::outcome(&tallies, elapsed)
}

type Left = (crew::Tally, Array);

fn measure<R, S, P, J>(
    crew: crew::Crew<'_, R, J>,
    spec: &Spec,
    row: &S,
    spots: usize,
) -> Result<(Vec<Left>, std::time::Duration), Fault>
where
    R: Runtime,
    S: Semaphores<P::Datum>,
    P: Passing,
    J: Future<Output = Result<Left, suite::kit::runtime::Lost>>,
{
    crew.measure(spec, || {
        for spot in 0..spots {
            row.release(spot, P::spare(spec.words));
        }
    })
}

#[inline]
pub(super) fn increment(cells: &mut [u64], times: usize, random: &mut Random) {
    for _ in 0..times {
        cells[random.below(cells.len())] += 1;
    }
}
