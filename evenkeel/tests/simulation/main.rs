//! The policy on simulated machines: processors in virtual time that decide by the functions of
//! [`evenkeel_policy`], as the workers do, under loads that are made to be unfair.
//!
//! A failing run says how to repeat it.

mod arrivals;
mod audit;
mod bound;
mod handover;
mod idle;
mod machine;
mod random;
mod task;
mod worker;

use arrivals::{Kind, Scenario};
use bound::{NEGLECT, beyond_share};
use evenkeel_policy::helping::Help;
use machine::{Machine, Policy};

/// Sizes of machines, and how many seeds each gets: what takes some seconds in all.
const SIZES: [(usize, u64); 9] =
    [(1, 200), (2, 500), (3, 500), (4, 300), (8, 200), (16, 60), (32, 30), (64, 15), (256, 6)];

/// Runs one load on machines of all sizes, or the one run that the environment names.
fn check(kind: Kind) {
    let number = |name| std::env::var(name).ok().and_then(|text| text.parse().ok());
    if let (Some(seed), Some(processors)) = (number("SEED"), number("PROCESSORS")) {
        check_one(kind, seed, processors as usize);
        return;
    }
    for (processors, seeds) in SIZES {
        for seed in 0..seeds {
            check_one(kind, seed, processors);
        }
    }
}

fn check_one(kind: Kind, seed: u64, processors: usize) {
    let scenario = Scenario::new(kind, seed, processors);
    let machine = Machine::new(&scenario, Policy::default()).run(&scenario);
    let again = format!(
        "{scenario:?}; repeat with SEED={seed} PROCESSORS={processors} \
         cargo test -p evenkeel --test simulation {}",
        kind.test(),
    );
    let (audit, limit) = (&machine.audit, beyond_share(&scenario));
    assert!(
        audit.worst <= limit,
        "{again}\ntask {} has waited {} ns at {}, with {} ns of work ahead: {} beyond its share, and \
         {limit} are allowed; {:?}",
        audit.task,
        audit.wait,
        audit.at,
        audit.ahead,
        audit.worst,
        machine.counters,
    );
    // A queue that is left together is one that nobody is woken for.
    assert!(
        kind == Kind::Together || audit.neglect <= NEGLECT,
        "{again}\na backlog beside a sleeper for {} ns, and nobody woken; {:?}",
        audit.neglect,
        machine.counters,
    );
}

#[test]
fn one_queue() {
    check(Kind::OneQueue);
}

#[test]
fn greedy() {
    check(Kind::Greedy);
}

#[test]
fn stuck() {
    check(Kind::Stuck);
}

#[test]
fn stuck_alone() {
    check(Kind::StuckAlone);
}

#[test]
fn bursts() {
    check(Kind::Bursts);
}

#[test]
fn unequal() {
    check(Kind::Unequal);
}

#[test]
fn pairs() {
    check(Kind::Pairs);
}

#[test]
fn together() {
    check(Kind::Together);
}

/// The assertion has teeth: without helping, tasks behind a stuck poll starve beside busy processors.
#[test]
fn without_helping_the_bound_is_exceeded() {
    let policy = Policy { help: |_, _| Help::No };
    let exceeded = (0..20).filter(|&seed| {
        let scenario = Scenario::new(Kind::Stuck, seed, 4);
        let machine = Machine::new(&scenario, policy).run(&scenario);
        machine.audit.worst > 10 * beyond_share(&scenario)
    });
    let exceeded = exceeded.count();
    assert!(exceeded >= 10, "{exceeded} of 20 runs exceed ten times the bound");
}
