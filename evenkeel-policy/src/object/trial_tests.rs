//! Trials of made-up classes with known rates.

use super::*;
use crate::random::Random;
use std::string::ToString;

const MS: u64 = 1_000_000;
/// Between two steps.
const STEP: u64 = MS / 10;

/// A class with a rate in each mode, in operations per step, which may change with time.
struct Class<F> {
    trial: Trial,
    now: u64,
    ops: u64,
    /// The operations of all steps, had each run in the best mode.
    best: u64,
    rate: F,
    noise: Random,
}

impl<F: Fn(u64, Mode) -> u64> Class<F> {
    fn new(rate: F) -> Self {
        Self { trial: Trial::default(), now: 0, ops: 0, best: 0, rate, noise: Random::new(1) }
    }

    /// Runs until the time in milliseconds, and returns the share of the best that it reached.
    fn until(&mut self, ms: u64) -> f64 {
        let (ops, best) = (self.ops, self.best);
        while self.now < ms * MS {
            self.step();
        }
        (self.ops - ops) as f64 / (self.best - best) as f64
    }

    fn step(&mut self) {
        // A tenth up or down.
        let percent = 90 + self.noise.below(21);
        let of = |rate: u64| rate * percent / 100;
        let modes = Mode::ALL.map(|mode| of((self.rate)(self.now, mode)));
        self.ops += modes[self.trial.mode() as usize];
        self.best += modes.iter().max().unwrap();
        self.now += STEP;
        self.trial.step(self.now, self.ops, || None);
    }
}

fn steady(in_place: u64, at_home: u64) -> Class<impl Fn(u64, Mode) -> u64> {
    Class::new(move |_, mode| if mode != Mode::InPlace { at_home } else { in_place })
}

#[test]
fn the_better_mode_is_found_within_one_trial_and_costs_little_from_then_on() {
    for (in_place, at_home) in [(1_000, 3_000), (1_000, 1_200), (3_000, 1_000), (1_200, 1_000)] {
        let mut class = steady(in_place, at_home);
        class.until(30);
        let better = if in_place > at_home { Mode::InPlace } else { Mode::AtHome };
        assert_eq!(class.trial.verdict().mode, better, "{in_place} {at_home}");
        let soon = class.until(530);
        assert!(soon > 0.97, "{in_place} {at_home}: {soon} in the first half second");
        let later = class.until(20_000);
        assert!(later > 0.99, "{in_place} {at_home}: {later}");
    }
}

#[test]
fn modes_that_are_even_do_not_take_turns() {
    let mut class = steady(1_000, 1_000);
    class.until(30);
    assert_eq!(class.trial.verdict().reason, Reason::NotSlower);
    let mut changes = 0;
    for ms in (40..20_000).step_by(10) {
        let before = class.trial.verdict().mode;
        class.until(ms);
        changes += u32::from(class.trial.verdict().mode != before);
    }
    assert_eq!(changes, 0);
    assert!(class.trial.verdict().stood > 5);
}

/// A class with phases of `phase` milliseconds: at home is better in the even ones, in place in the
/// others.
fn in_turn(phase: u64) -> Class<impl Fn(u64, Mode) -> u64> {
    Class::new(move |now, mode| match (now / (phase * MS) % 2, mode) {
        (0, Mode::AtHome) => 3_000,
        (0, _) => 1_000,
        (_, Mode::AtHome) => 500,
        _ => 1_500,
    })
}

#[test]
fn a_change_that_stays_is_answered_within_some_tens_of_milliseconds() {
    let mut class = in_turn(400);
    class.until(400);
    for phase in 1..20 {
        // The trial of the change before may just have ended.
        class.until(400 * phase + 60);
        let rest = class.until(400 * (phase + 1));
        assert!(rest > 0.95, "{rest} in phase {phase}: {:?}", class.trial);
    }
}

#[test]
fn a_change_is_not_answered_later_than_a_hold_ends() {
    // So slow that four trials take longer than a hold, and three times as fast for good from the
    // millisecond `faster_from` on. Returns the milliseconds in which the second and the third
    // trial end.
    let trials = |faster_from: u64| {
        let mut class = Class::new(move |now, mode| {
            let times = if now > faster_from * MS { 3 } else { 1 };
            times * if mode == Mode::InPlace { 10 } else { 9 }
        });
        let mut end = |from: u64| {
            let before = class.trial.held_until;
            (from..20_000).find(|&ms| {
                class.until(ms);
                class.trial.held_until != before
            })
        };
        let second = end(1).and_then(&mut end).unwrap();
        (second, end(second).unwrap())
    };
    let (second, unchanged) = trials(20_000);
    let (_, changed) = trials(second);
    assert!(changed <= unchanged, "{changed} {unchanged}");
}

#[test]
fn changes_that_leave_the_verdict_cost_little() {
    let mut class = Class::new(|now, mode| {
        let popular = 1 + (now / (40 * MS)) % 2;
        popular * if mode == Mode::AtHome { 1_500 } else { 1_000 }
    });
    class.until(100);
    let share = class.until(4_000);
    assert!(share > 0.93, "{share}");
    assert_eq!(class.trial.verdict().mode, Mode::AtHome);
}

#[test]
fn however_often_the_rate_changes_most_of_the_time_is_not_spent_on_trials() {
    // The rate changes by a half every 3 ms in each mode; the other modes make next to nothing.
    let mut class = Class::new(|now, mode| {
        let swing = 2 + (now / (3 * MS)) % 2;
        swing * if mode == Mode::AtHome { 1_500 } else { 100 }
    });
    class.until(100);
    let share = class.until(4_000);
    assert!(share > 0.78, "{share}");
}

#[test]
fn however_often_the_rate_changes_a_mode_that_was_hopeless_is_tried_after_the_hold() {
    for swing_ms in [500, 1_500, 3_000, 6_000, 1_000_000] {
        // In place makes a tenth of at home until the trials have found that, and then five times
        // as much. All rates change by a half every `swing_ms`.
        let mut class = Class::new(|now, mode| {
            let swing = 2 + now / (swing_ms * MS) % 2;
            swing
                * match mode {
                    Mode::InPlace if now < 2_000 * MS => 100,
                    Mode::InPlace => 5_000,
                    _ => 1_000,
                }
        });
        class.until(2_000);
        assert_eq!(class.trial.verdict().mode, Mode::AtHome, "{swing_ms}");
        class.until(2_000 + 2 * LONGEST_HOLD / MS);
        assert_eq!(class.trial.verdict().mode, Mode::InPlace, "{swing_ms}: {:?}", class.trial);
    }
}

#[test]
fn a_small_change_is_seen_and_noise_is_none() {
    assert_eq!(
        [100, 111, 113, 125, 90, 88, 80].map(|rate| change(100, rate)),
        [0, 0, 1, 2, 0, -1, -2]
    );
}

#[test]
fn what_is_warm_only_after_a_while_at_home_is_not_misjudged() {
    // The first 1.5 ms after each change of mode fetch the objects.
    let changed = std::cell::Cell::new((Mode::InPlace, 0));
    for (at_home, best) in [(1_600, Mode::AtHome), (800, Mode::InPlace)] {
        let mut class = Class::new(|now, mode: Mode| {
            let rate = if mode != Mode::InPlace { at_home } else { 1_000 };
            if now < changed.get().1 + MS { rate / 3 } else { rate }
        });
        for _ in 0..2_000 {
            class.step();
            if class.trial.mode() != changed.get().0 {
                changed.set((class.trial.mode(), class.now));
            }
        }
        assert_eq!(class.trial.verdict().mode, best, "{:?}", class.trial);
    }
}

#[test]
fn challengers_that_are_far_behind_are_tried_ever_more_rarely() {
    let mut class = steady(3_000, 1_000);
    class.until(30);
    let mut probes = 0;
    for _ in 0..20_000 * MS / STEP {
        let before = class.trial.mode();
        class.step();
        probes += u32::from(class.trial.mode() != Mode::InPlace && before == Mode::InPlace);
    }
    // After holds of 240 ms, 960, 3.84 s and so on.
    assert!((5..9).contains(&probes), "{probes}");
}

#[test]
fn one_disturbed_window_does_not_decide() {
    // The first window at home is lost to other load; then at home is better.
    let mut class = Class::new(|now, mode| match (now / MS, mode) {
        (8..12, Mode::AtHome) => 100,
        (_, Mode::AtHome) => 1_500,
        _ => 1_000,
    });
    class.until(40);
    assert_eq!(class.trial.verdict().mode, Mode::AtHome);
}

#[test]
fn an_idle_class_is_left_alone_and_a_slow_one_is_not_judged() {
    let mut class = steady(0, 0);
    class.until(1_000);
    assert_eq!(class.trial.verdict(), Verdict::default());
    // 500 operations per second, and a burst that starts a trial.
    let mut class =
        Class::new(
            |now, _| if now < 6 * MS { 1_000 } else { u64::from(now.is_multiple_of(2 * MS)) },
        );
    class.until(2_000);
    assert_eq!(class.trial.verdict().reason, Reason::TooFew);
    assert_eq!(class.trial.mode(), Mode::InPlace);
}

#[test]
fn late_steps_and_times_at_the_end_do_no_harm() {
    let mut trial = Trial::default();
    for now in [0, 5, 5, 1_000 * MS, u64::MAX / 2, u64::MAX, u64::MAX] {
        trial.step(now, now, || None);
    }
    assert_eq!(hold(u32::MAX), LONGEST_HOLD);
}

/// A class with a rate in each of the three modes, which may run on one core.
fn of_three(rates: [u64; 3]) -> Class<impl Fn(u64, Mode) -> u64> {
    let mut class = Class::new(move |_, mode: Mode| rates[mode as usize]);
    class.trial.set_may_gather(true);
    class
}

#[test]
fn of_three_modes_the_best_is_found_from_wherever_it_begins_and_kept() {
    const BEST: [Mode; 3] = Mode::ALL;
    for (rates, best) in [
        ([2_000, 500, 3_000], BEST[2]),
        ([1_000, 2_000, 3_000], BEST[2]),
        ([1_000, 3_000, 2_000], BEST[1]),
        ([3_000, 1_000, 2_500], BEST[0]),
        ([3_000, 2_500, 1_000], BEST[0]),
    ] {
        let mut class = of_three(rates);
        class.until(80);
        assert_eq!(class.trial.verdict().mode, best, "{rates:?}");
        let share = class.until(20_000);
        assert!(share > 0.98, "{rates:?}: {share}");
        assert_eq!(class.trial.verdict().mode, best, "{rates:?}");
    }
}

#[test]
fn one_home_is_not_tried_where_all_have_the_same() {
    let mut class = of_three([1_000, 2_000, 9_000]);
    class.trial.set_may_gather(false);
    for _ in 0..10_000 {
        class.step();
        assert_ne!(class.trial.mode(), Mode::AtOneHome);
    }
    class.trial.set_may_gather(true);
    class.until(20_000);
    let text = class.trial.verdict().to_string();
    assert!(text.starts_with("at one home: "), "{text}");
}

/// The record of a class in place on two cores: nanoseconds, operations, and misses so far.
fn recorded() -> impl Iterator<Item = [u64; 3]> {
    let lines = include_str!("misses.txt").lines().filter(|line| !line.starts_with('#'));
    lines.map(|line| {
        let mut numbers = line.split(' ').map(|number| number.parse().unwrap());
        std::array::from_fn(|_| numbers.next().unwrap())
    })
}

/// From here on the tasks of the record share their objects.
const SHARED_FROM: u64 = 10 * MS;

/// Replays the record, and returns the trial and the time of its first challenger.
fn follow(has_counter: bool) -> (Trial, Option<u64>) {
    let (mut trial, mut tried) = (Trial::default(), None);
    for [now, ops, misses] in recorded() {
        let mode = trial.step(now, ops, || has_counter.then_some(misses));
        if mode != Mode::InPlace {
            tried = tried.or(Some(now));
        }
    }
    (trial, tried)
}

#[test]
fn what_hardly_misses_the_caches_is_tried_nowhere_else_until_it_does() {
    let (_, tried) = follow(false);
    assert!(tried.is_some_and(|now| now < MS), "time alone: everything is tried, {tried:?}");
    let (trial, tried) = follow(true);
    assert!(tried.is_some_and(|now| now > SHARED_FROM), "{tried:?}");
    assert!(!matches!(trial.phase, Phase::Hold), "the change is being answered");
}

#[test]
fn a_counter_that_says_nothing_changes_nothing() {
    let (mut with, mut without) = (Trial::default(), Trial::default());
    for n in 1..2_000 {
        // As many misses as operations.
        let misses = (n < 1_000).then_some(n * 500);
        without.step(n * STEP, n * 500, || None);
        with.step(n * STEP, n * 500, || misses);
    }
    assert_eq!(with.verdict().mode, without.verdict().mode);
    assert_ne!(with.verdict().reason, Reason::FewMisses);
}

#[test]
fn a_slow_class_is_tried_too_where_misses_are_counted() {
    // 60 operations in each millisecond, with thirty misses each, and a step every 5 ms.
    let mut trial = Trial::default();
    let tried = (1..200).any(|n| {
        let ops = n * 60 * 5;
        trial.step(n * 5 * MS, ops, || Some(30 * ops)) != Mode::InPlace
    });
    assert!(tried, "{:?}", trial.verdict());
}

#[test]
fn a_counter_that_stands_still_is_no_evidence() {
    let mut trial = Trial::default();
    let tried = (1..50).any(|n| trial.step(n * STEP, n * 500, || Some(7)) != Mode::InPlace);
    assert!(tried, "{:?}", trial.verdict());
}
