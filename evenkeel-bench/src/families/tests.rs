//! Checks that hold for every family in the registry.

use std::collections::BTreeSet;
use std::sync::Mutex;
use std::thread;

use clap::Parser;

use super::FAMILIES;
use crate::analysis::fields::is_setting;
use crate::analysis::{input, response};
use crate::cli;
use suite::description::Description;
use suite::effort::Effort;
use suite::enough::Bound;
use suite::entry::{Entry, Event, Measured};
use suite::kit::afresh;
use suite::named::named_twice;
use suite::peer::Role;
use suite::quantity::{Quantity, Read};
use suite::read;

fn described() -> impl Iterator<Item = Description> {
    FAMILIES.iter().map(|entry| (entry.describe)())
}

#[test]
fn no_name_stands_for_two_things() {
    let (mut files, mut benches) = (BTreeSet::new(), BTreeSet::new());
    for of in described() {
        assert!(files.insert(of.name), "{} is a family twice", of.name);
        let mut peers = BTreeSet::new();
        for peer in &of.peers {
            assert!(peers.insert(peer.name), "{} is a peer of {} twice", peer.name, of.name);
        }
        for experiment in &of.experiments {
            assert!(benches.insert(experiment.name), "{} is there twice", experiment.name);
            let twice = named_twice(&experiment.variants);
            assert_eq!(twice, None, "a variant of {} is there twice", experiment.name);
        }
    }
}

#[test]
fn a_family_has_one_subject_and_says_what_it_is_about() {
    for of in described() {
        let subjects = of.peers.iter().filter(|peer| peer.role == Role::Subject).count();
        assert_eq!(subjects, 1, "{}", of.name);
        let mut compared = 0;
        for experiment in &of.experiments {
            assert!(!experiment.quantities.is_empty(), "{} has no figure", experiment.name);
            compared += experiment.quantities.iter().filter(|one| one.is_compared()).count();
        }
        assert!(compared > 0, "nothing of {} is compared", of.name);
    }
}

/// A new family needs only its line in the registry.
#[test]
fn no_profile_of_the_workspace_names_a_crate_of_the_suite() {
    let workspace = include_str!("../../../Cargo.toml");
    let named = workspace.lines().find(|line| line.contains("package.evenkeel-bench"));
    assert_eq!(named, None);
}

/// Families that no session measures, with short command lines. Moves of few tasks, which take ten
/// seconds beside another family, have a test of their own.
const BESIDE: [(&str, &str); 3] = [
    ("growth", "--bench growth_tasks,growth_timers --n 10,1001"),
    ("growth", "--bench growth_moves --n 1001"),
    ("serving", "--bench echo,http,idle,soak --connections 50 --bytes 64 --procs 1 --seconds 0.1"),
];

/// Runs the shortest session once. A family writes only declared fields, and written records are
/// read back unchanged.
#[test]
fn every_row_of_a_quick_session_is_measured_and_what_it_writes_is_declared() {
    afresh::by_test("families::tests::this_binary_called_afresh");
    let families = Mutex::new(FAMILIES.iter());
    // Each run takes its time, however fast it is: two at once take half of all that.
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                let next = || families.lock().unwrap().next();
                std::iter::from_fn(next).for_each(measure_and_read_back);
            });
        }
    });
}

fn measure_and_read_back(entry: &Entry) {
    let mut measured = Measured::nothing(entry);
    let beside = BESIDE.iter().filter(|(name, _)| *name == measured.of.name);
    let mut parts: Vec<_> = beside.map(|(_, line)| cli::part_of(entry, line)).collect();
    if parts.is_empty() {
        // A family without rows for one core runs on two.
        let planned = [1, 2].map(|cores| (entry.plan)(Effort::Quick, cores).unwrap());
        let mut planned = planned.into_iter();
        parts.extend(planned.find(|part| !part.cases().is_empty()));
        assert!(!parts.is_empty(), "something is measured");
    } else {
        assert_eq!((entry.rounds)(Effort::Quick), 0, "{}", measured.of.name);
    }
    let mut rows = 0;
    let mut each = |event| {
        match event {
            Event::Begins(_) => rows += 1,
            Event::Ran(record) => measured.records.push(*record),
            Event::Absent(absent) => measured.absent.push(absent),
        }
        Ok(())
    };
    let mut expected = 0;
    for part in &mut parts {
        part.build().unwrap();
        part.measure(&mut Bound::rows(1), &mut each).unwrap();
        expected += part.cases().len();
    }
    assert_eq!(rows, expected, "{}", measured.of.name);
    for record in &measured.records {
        let experiment = measured.of.experiment(&record.case.bench).expect("it is declared");
        let variant = record.case.variant.as_ref();
        let variants = &experiment.variants;
        assert!(variants.contains(&variant) || variants.is_empty() && variant == "-");
        let declared = |name: &str| experiment.settings.contains(&name);
        assert!(record.case.settings.iter().all(|(name, _)| declared(name)), "{record:?}");
        let has = |quantity: &&Quantity| match quantity.read {
            Read::Field(name) => record.figures.number(name).is_some(),
            Read::Derived(figure) => figure(record, &measured.records).is_some(),
        };
        let has_figures = experiment.quantities.iter().any(|one| has(&one));
        assert!(record.dnc || has_figures, "{record:?}");
        // A figure that `analyse` took for a setting would split the repeats of a row.
        for (name, value) in record.case.settings.iter() {
            assert!(is_setting(Some(experiment.name), name, value), "{name} = {value}");
        }
        for (name, value) in record.figures.iter() {
            assert!(!is_setting(Some(experiment.name), name, value), "{name} = {value}");
        }
        let line = serde_json::to_string(record).unwrap();
        let read = input::parse("runs", &line).unwrap();
        let analysed = response::usual(&read[0]).and_then(|one| experiment.quantity_of(one));
        assert!(record.dnc || analysed.is_some(), "{record:?} has nothing to analyse");
        let again = read::record(&line, experiment.settings).unwrap();
        assert_eq!((&again.case, &again.quiet.regime), (&record.case, &record.quiet.regime));
    }
}

/// Stands for this binary when it runs itself [afresh].
#[test]
fn this_binary_called_afresh() {
    let Some(arguments) = afresh::of_test() else { return };
    let line = ["evenkeel-bench".to_owned()].into_iter().chain(arguments);
    cli::dispatch(cli::Cli::try_parse_from(line).unwrap()).unwrap();
}
