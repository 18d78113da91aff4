//! The policy on simulated machines under adversarial loads: processors in virtual time decide by
//! the functions of [`evenkeel_policy`], as the workers do.
//!
//! A failing run prints how to repeat it.

use evenkeel_policy::Look;
use evenkeel_policy::helping::Help;
use evenkeel_policy::waking::{LONGEST_WATCH, WATCH};
use evenkeel_sim::promise::{Kind, Outcome, Policy, SOCKETS, run};

/// Sizes of machines, and the number of seeds for each: a minute and a half in all.
const SIZES: [(usize, u64); 9] =
    [(1, 200), (2, 500), (3, 500), (4, 300), (8, 200), (16, 200), (32, 200), (64, 200), (256, 200)];

/// The constants of the bound are fitted to the seeds from zero on (`examples/fit.rs`).
const FIRST_SEED: u64 = 1_000_000;

/// Longer than any run, in nanoseconds.
const FOREVER: u64 = u64::MAX / 4;

/// Runs one load on machines of all sizes, or the single run that the environment names.
fn check(kind: Kind) {
    let number = |name| std::env::var(name).ok().and_then(|text| text.parse().ok());
    if let (Some(seed), Some(processors)) = (number("SEED"), number("PROCESSORS")) {
        check_one(kind, seed, processors as usize);
        return;
    }
    for (processors, seeds) in SIZES {
        let (plain, last) = (FIRST_SEED..FIRST_SEED + seeds, FIRST_SEED + seeds / 2);
        let with_sockets = (FIRST_SEED..last).map(|seed| SOCKETS | seed);
        plain.chain(with_sockets).for_each(|seed| check_one(kind, seed, processors));
    }
}

fn check_one(kind: Kind, seed: u64, processors: usize) {
    let outcome = run(kind, seed, processors, Policy::default());
    let again = || {
        let test = std::thread::current().name().unwrap_or_default().to_owned();
        let account = &outcome.account;
        format!(
            "{account}\nrepeat with SEED={seed} PROCESSORS={processors} \
             cargo test -p evenkeel-sim --test promise -- --exact {test}"
        )
    };
    let (waited, allowed, neglected) = (outcome.waited, outcome.allowed, outcome.neglected);
    assert!(waited <= allowed, "{waited} ns beyond the share, {allowed} are allowed\n{}", again());
    assert!(
        outcome.neglect_allowed.is_none_or(|allowed| neglected <= allowed),
        "a backlog lay beside a sleeper for {neglected} ns without a wake-up\n{}",
        again()
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

#[test]
fn all_stuck() {
    check(Kind::AllStuck);
}

#[test]
fn reliefs_stuck() {
    check(Kind::ReliefsStuck);
}

/// Returns how many of 100 runs on four processors are as `is` says.
fn count(kind: Kind, policy: Policy, is: fn(&Outcome) -> bool) -> usize {
    // Half of them with sockets.
    let seeds = (0..50).flat_map(|seed| [seed, SOCKETS | seed]);
    seeds.filter(|&seed| is(&run(kind, seed, 4, policy))).count()
}

fn is_late(outcome: &Outcome) -> bool {
    outcome.waited > outcome.allowed
}

fn is_neglected(outcome: &Outcome) -> bool {
    outcome.neglect_allowed.is_some_and(|allowed| outcome.neglected > allowed)
}

/// The bound is sharp: without helping, tasks behind a stuck poll starve beside busy processors.
#[test]
fn without_helping_the_bound_is_exceeded() {
    let policy = Policy { help: |_, _| Help::No, ..Policy::default() };
    let exceeded = count(Kind::Stuck, policy, |outcome| outcome.waited > 10 * outcome.allowed);
    assert!(exceeded >= 50, "{exceeded} of 100 runs exceed ten times the bound");
}

/// Without the watch, tasks behind a stuck poll starve beside processors that sleep.
#[test]
fn without_the_watch_the_bound_is_exceeded() {
    let policy = Policy { next_watch: |_| FOREVER, ..Policy::default() };
    let late = count(Kind::StuckAlone, policy, is_late);
    assert!(late >= 50, "{late} of 100 runs exceed the bound");
}

/// The loads reach the watch's longest sleep: with twice that the bound does not hold.
#[test]
fn with_a_watch_that_sleeps_twice_as_long_the_bound_is_exceeded() {
    let next_watch = |slept: u64| (2 * slept).clamp(WATCH, 2 * LONGEST_WATCH);
    let late = count(Kind::StuckAlone, Policy { next_watch, ..Policy::default() }, is_late);
    assert!(late >= 10, "{late} of 100 runs exceed the bound");
}

/// Sleepers come to a backlog because its pusher wakes them.
#[test]
fn without_wake_ups_by_pushers_a_backlog_is_neglected() {
    let never = |_: &Look, _, _| false;
    let policy = Policy { after_push: never, after_batch: never, ..Policy::default() };
    let neglected = count(Kind::Bursts, policy, is_neglected);
    assert!(neglected >= 10, "{neglected} of 50 runs without sockets neglect a backlog");
    // The end of a batch does not come after a push of a poll that does not end.
    let policy = Policy { after_push: never, ..Policy::default() };
    let neglected = count(Kind::StuckAlone, policy, is_neglected);
    assert!(neglected >= 4, "{neglected} of 50 runs without sockets neglect a backlog");
}
