//! Plans, which peer runs what, and made-up runs for tables and pages.

use std::time::Duration;

use super::family::{Forking, Spec};
use super::forker::Name;
use super::program::Program;
use suite::case::{Case, Fields};
use suite::effort::Effort;
use suite::entry::Measured;
use suite::family::{Family, Has, Ran, Spec as _};
use suite::kit::fake::quiet;
use suite::peer::SLOTS;
use suite::peer::{Known, Role};
use suite::record::Record;
use suite::rows::Absent;

/// Programs of a size on `workers` workers, with the medians of the first runtimes in milliseconds;
/// 0 for "not run".
pub(crate) fn example(rows: &[(Program, usize, usize, [f64; 9])]) -> Measured {
    let entry = &crate::ENTRY;
    let mut measured = Measured::nothing(entry);
    for &(program, n, workers, medians) in rows {
        let case = Case::new(program.name(), "-", workers).with("n", n);
        for (name, median) in Name::ALL.into_iter().zip(medians) {
            if median == 0.0 {
                let (case, why) = (case.clone(), "it would take too long".to_owned());
                measured.absent.push(Absent { case, runtime: name.name(), why, runs: 0 });
                continue;
            }
            for (repeat, by) in [1.0, 0.98, 1.05].into_iter().enumerate() {
                measured.records.push(Record {
                    runtime: name.name().into(),
                    case: case.clone(),
                    repeat,
                    figures: Fields::new().with("seconds", median * by / 1e3),
                    dnc: false,
                    quiet: quiet("near"),
                });
            }
        }
    }
    measured
}

#[test]
fn each_program_is_measured_at_one_and_all_cores() {
    for (effort, sizes, rounds) in
        [(Effort::Quick, 1, 1), (Effort::Usual, 1, 3), (Effort::Full, 3, 5)]
    {
        let plan = Forking::plan(effort, 4);
        assert_eq!(plan.len(), Program::ALL.len() * sizes * 2);
        let workers: Vec<usize> = plan.iter().take(2).map(|spec| spec.case().workers).collect();
        assert_eq!(workers, [1, 4]);
        assert_eq!(Forking::rounds(effort), rounds);
        // Only cases that would take too long are refused, and only of the largest sizes.
        let is_refused = |spec| Forking::has(Name::Openmp, spec) != Has::Yes;
        assert_eq!(plan.iter().any(is_refused), effort == Effort::Full);
    }
}

#[test]
fn what_would_take_too_long_or_finds_no_seat_is_refused_in_words() {
    let plan = Forking::plan(Effort::Full, 33);
    let refused = |name, case: &str| {
        let spec = plan.iter().find(|spec| spec.case().to_string() == case).unwrap();
        Forking::has(name, spec)
    };
    let why = "it would take too long; 30 is the largest size that it is given";
    assert_eq!(refused(Name::Openmp, "fib, 1 worker, n 35"), Has::Refused(why.to_owned()));
    assert_eq!(refused(Name::Openmp, "fib, 1 worker, n 25"), Has::Yes);
    let why = Has::Refused("its pools have 32 seats".to_owned());
    assert_eq!(refused(Name::Forte, "fib, 33 workers, n 25"), why);
}

#[test]
fn a_wrong_result_is_an_error_and_a_run_over_patience_is_given_up() {
    let family = Forking::new();
    let of = |n, patience| {
        let besides = Vec::new();
        Spec { program: Program::Nqueens, n, workers: 1, patience, besides }
    };
    let spec = of(8, Duration::MAX);
    let mut ready = family.ready(&spec, Name::Serial).unwrap();
    assert!(matches!(family.once(&spec, Name::Serial, &mut ready, 1), Ok(Ran::Done(_))));
    ready.right = 93;
    let error = family.once(&spec, Name::Serial, &mut ready, 1).unwrap_err();
    assert_eq!(error.to_string(), "a wrong result: checksum 0x5c instead of 0x5d");

    let cpp = Name::SerialCpp;
    if family.found_of(&[cpp]).unwrap().there.is_empty() {
        return;
    }
    family.build(&[cpp]).unwrap();
    let spec = of(12, Duration::from_nanos(1));
    // Also if it is slow in the run that warms up.
    let mut ready = family.ready(&spec, cpp).unwrap();
    for _ in 0..2 {
        let Ran::GaveUp(why) = family.once(&spec, cpp, &mut ready, 1).unwrap() else {
            panic!("it is slow")
        };
        assert_eq!(why, "a run took longer than 0.000000001 s");
    }
}

#[test]
fn the_runtimes_of_a_picture_have_colours_of_their_own() {
    let drawn = Known::all::<Name>().into_iter().filter(|known| {
        // Runtimes for a locality are drawn on request, beside few others.
        let name: Name = known.name.parse().unwrap();
        known.role != Role::Floor && name.locality().is_none()
    });
    let mut colours: Vec<usize> = drawn.map(|known| known.slot % SLOTS).collect();
    let all = colours.len();
    colours.sort_unstable();
    colours.dedup();
    assert_eq!(colours.len(), all);
}
