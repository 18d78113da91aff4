//! Trials of made-up classes, whose rates are known.

use super::*;

const MS: u64 = 1_000_000;
/// Between two steps.
const STEP: u64 = MS / 10;

/// A class with a rate in each mode, in operations per step, that may change with time.
struct Class<F> {
    trial: Trial,
    now: u64,
    ops: u64,
    /// What a step would have been in the better mode, summed up.
    best: u64,
    rate: F,
    noise: u64,
}

impl<F: Fn(u64, Mode) -> u64> Class<F> {
    fn new(rate: F) -> Self {
        Self { trial: Trial::default(), now: 0, ops: 0, best: 0, rate, noise: 1 }
    }

    /// Runs until the time, in milliseconds, and gives the share of the best that was reached meanwhile.
    fn until(&mut self, ms: u64) -> f64 {
        let (ops, best) = (self.ops, self.best);
        while self.now < ms * MS {
            self.step();
        }
        (self.ops - ops) as f64 / (self.best - best) as f64
    }

    fn step(&mut self) {
        self.noise = self.noise.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        // A fifth up or down.
        let of = |rate: u64| rate * (80 + (self.noise >> 33) % 41) / 100;
        let modes = Mode::ALL.map(|mode| of((self.rate)(self.now, mode)));
        self.ops += modes[self.trial.mode() as usize];
        self.best += modes.iter().max().unwrap();
        self.now += STEP;
        self.trial.step(self.now, self.ops);
    }
}

fn steady(in_place: u64, at_home: u64) -> Class<impl Fn(u64, Mode) -> u64> {
    Class::new(move |_, mode| if mode.travels() { at_home } else { in_place })
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

#[test]
fn ten_milliseconds_after_a_change_the_better_mode_of_the_phase_runs() {
    // Phases of 40 ms: at home is better in the ones, in place in the others.
    let mut class = Class::new(|now, mode| match (now / (40 * MS) % 2, mode) {
        (0, Mode::AtHome) => 3_000,
        (0, Mode::InPlace) => 2_000,
        (_, Mode::AtHome) => 500,
        _ => 1_000,
    });
    class.until(400);
    for phase in 10..60 {
        class.until(40 * phase + 10);
        let rest = class.until(40 * (phase + 1));
        assert!(rest > 0.95, "{rest} in phase {phase}: {:?}", class.trial);
    }
}

#[test]
fn changes_that_leave_the_verdict_cost_little() {
    let mut class = Class::new(|now, mode| {
        let popular = 1 + (now / (40 * MS)) % 2;
        popular * if mode == Mode::AtHome { 1_500 } else { 1_000 }
    });
    class.until(100);
    let share = class.until(4_000);
    assert!(share > 0.97, "{share}");
    assert_eq!(class.trial.verdict().mode, Mode::AtHome);
}

#[test]
fn a_rate_that_goes_up_and_down_by_itself_is_left_alone() {
    // By a half every 3 ms, whatever the mode, and far behind in place.
    let mut class = Class::new(|now, mode| {
        let swing = 2 + (now / (3 * MS)) % 2;
        swing * if mode == Mode::AtHome { 1_500 } else { 500 }
    });
    class.until(100);
    let share = class.until(4_000);
    assert!(share > 0.96, "{share}");
    // And one that stays is answered, whenever it comes.
    for begin in 1_000..1_040 {
        let mut class = Class::new(|now, mode| match (now / MS < begin, mode) {
            (true, Mode::AtHome) => 1_000 + 500 * (now / (3 * MS) % 2),
            (true, Mode::InPlace) => 100,
            (_, Mode::AtHome) => 500,
            _ => 1_000,
        });
        class.until(begin);
        class.until(begin + 40);
        assert_eq!(class.trial.verdict().mode, Mode::InPlace, "{begin}");
        let rest = class.until(2_000);
        assert!(rest > 0.95, "{rest}");
    }
}

#[test]
fn what_takes_longer_to_settle_at_home_than_a_short_window_is_found_out() {
    // Of all use that comes and goes every 40 ms, the first 1.5 ms at home fetch the objects.
    let came_home = std::cell::Cell::new(0);
    let mut class = Class::new(|now, mode| {
        let popular = 2 + now / (40 * MS) % 2;
        if mode == Mode::InPlace {
            return popular * 1_000;
        }
        popular * if now < came_home.get() + 3 * MS / 2 { 400 } else { 1_600 }
    });
    // It has stood in place for long.
    class.trial.verdict = Verdict { reason: Reason::NotSlower, ..Verdict::default() };
    class.trial.phase = Phase::Hold { until: 4_000 * MS };
    for _ in 0..10_000 {
        let before = class.trial.mode();
        class.step();
        if class.trial.mode() == Mode::AtHome && before == Mode::InPlace {
            came_home.set(class.now);
        }
    }
    assert_eq!(class.trial.verdict().mode, Mode::AtHome, "{:?}", class.trial);
}

/// What of its time a class is at home, and how often it goes there: it makes 1,000 in place and `all` or `few` at home in turn, twice as much of each while few are in use unless that is `hidden` from the rate, half as much at the
/// beginning of a phase for `cold` and two fifths when it comes home for `warm`, in ms, and more and more meanwhile.
fn at_home(all: u64, few: u64, cold: u64, warm: u64, hidden: bool) -> (f64, u32) {
    const PHASE: u64 = 40 * MS;
    let came_home = std::cell::Cell::new(0);
    let mut class = Class::new(|now, mode| {
        let grows = |from: u64, since: u64, time: u64| {
            if since < time { from + (100 - from) * since / time } else { 100 }
        };
        let is_few = now / PHASE % 2 == 1;
        let rate = match mode {
            Mode::InPlace => 1_000,
            _ => {
                let full = if is_few { few } else { all };
                full * grows(40, now - came_home.get(), warm * MS) / 100
            }
        };
        (1 + u64::from(is_few && !hidden)) * rate * grows(50, now % PHASE, cold * MS) / 100
    });
    let (mut time, mut comings, steps) = (0, 0, 40_000);
    for step in 0..steps {
        let before = class.trial.mode();
        class.step();
        if hidden && class.now % PHASE == 2 * MS {
            class.trial.note_change();
        }
        let is_home = class.trial.mode() == Mode::AtHome;
        // From the second half second on.
        time += u32::from(is_home && step >= 5_000);
        if is_home && before == Mode::InPlace {
            came_home.set(class.now);
            comings += 1;
        }
    }
    (f64::from(time) / f64::from(steps - 5_000), comings)
}

#[test]
fn homes_that_fill_slowly_and_caches_that_are_cold_mislead_nobody() {
    for cold in [0, 2, 8] {
        for warm in [0, 1, 2, 3] {
            let (share, _) = at_home(1_600, 1_600, cold, warm, false);
            assert!(share > 0.9, "{share} with {cold} and {warm}");
            let (share, _) = at_home(700, 600, cold, warm, false);
            // To find that out, a third slower.
            assert!(share < 0.15, "{share} with {cold} and {warm}");
            let (share, _) = at_home(600, 2_000, cold, warm, false);
            assert!((0.35..0.65).contains(&share), "{share} with {cold} and {warm}");
        }
    }
}

#[test]
fn what_the_rate_does_not_tell_the_objects_in_use_do() {
    for (all, least, most) in [(1_000, 0.85, 1.0), (600, 0.35, 0.65)] {
        let (share, _) = at_home(all, 2_000, 0, 1, true);
        assert!((least..most).contains(&share), "{share} with {all}");
    }
    // But nobody has tried anything yet.
    let mut trial = Trial::default();
    trial.note_change();
    assert_eq!(trial, Trial::default());
}

#[test]
fn other_objects_are_not_forgotten_while_changes_are_not_looked_at() {
    let mut class = steady(1_000, 600);
    class.until(40);
    class.trial.deafness.note_fruitless(40 * MS, 100);
    (0..3).for_each(|_| class.trial.deafness.note_fruitless(44 * MS, 100));
    class.trial.note_change();
    class.until(59);
    assert!(class.trial.is_held() && class.trial.has_other_objects);
    class.until(75);
    assert!(!class.trial.has_other_objects, "it was found out what they make");
    assert_eq!(class.trial.verdict().reason, Reason::FarAhead);
}

#[test]
fn what_was_made_while_nothing_was_asked_is_not_the_rate_of_today() {
    let mut trial = Trial::default();
    let (mut now, mut ops) = (0, 0);
    let mut go = |trial: &mut Trial, ms: u64, rate: u64, is_proposed: bool| {
        for _ in 0..ms * MS / STEP {
            (now, ops) = (now + STEP, ops + rate);
            trial.verify(is_proposed, now, ops);
        }
    };
    go(&mut trial, 60, 1_000, true);
    assert!(trial.is_held() && trial.verdict().mode == Mode::InPlace);
    trial.note_change();
    go(&mut trial, 1_000, 50, false);
    go(&mut trial, 2, 2_000, true);
    assert!(trial.usual > 19_000_000, "it is twenty million now: {}", trial.usual);
}

#[test]
fn a_small_change_is_seen_and_noise_is_none() {
    assert_eq!(
        [100, 111, 113, 125, 90, 88, 80].map(|rate| change(100, rate)),
        [0, 0, 1, 2, 0, -1, -2]
    );
    // The same at home, and better in place than at home in the other phase.
    let mut class = Class::new(|now, mode| match (now / (40 * MS) % 2, mode) {
        (0, Mode::AtHome) => 3_000,
        (0, Mode::InPlace) => 1_000,
        (_, Mode::AtHome) => 2_500,
        _ => 3_000,
    });
    class.until(400);
    for phase in 10..60 {
        class.until(40 * phase + 10);
        let rest = class.until(40 * (phase + 1));
        assert!(rest > 0.95, "{rest} in phase {phase}: {:?}", class.trial);
    }
}

/// The trial that answers the first change lasts until 111 ms, and by then has seen the second one at home once.
#[test]
fn a_change_in_the_midst_of_a_trial_is_found_out() {
    for change in 0..=36 {
        let (first, second) = (100 * MS, 105 * MS + change * MS / 8);
        let mut class = Class::new(|now, mode| match mode {
            Mode::InPlace => 2_400,
            _ if now < first || now >= second => 3_900,
            _ => 2_000,
        });
        class.until(140);
        let share = class.until(170);
        assert!(share > 0.95, "{share}, changed at {} us: {:?}", second / 1_000, class.trial);
    }
}

#[test]
fn alternations_contradict_each_other_if_one_is_clear_and_another_is_more_than_noise() {
    assert!(contradict(&[100, 120, 100, 120, 160, 120]));
    assert!(contradict(&[160, 120, 100, 105, 100, 120]));
    assert!(!contradict(&[100, 120, 100, 120, 100, 104]), "it was never clear");
    assert!(!contradict(&[160, 120, 100, 104, 130, 130]), "the others say that both are even");
}

#[test]
fn one_disturbed_window_does_not_decide() {
    // The first window at home is lost to somebody else; then it is better.
    let mut class = Class::new(|now, mode| match (now / MS, mode) {
        (4..9, Mode::AtHome) => 100,
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
            |now, _| if now < 3 * MS { 1_000 } else { u64::from(now.is_multiple_of(2 * MS)) },
        );
    class.until(2_000);
    assert_eq!(class.trial.verdict().reason, Reason::TooFew);
    assert_eq!(class.trial.mode(), Mode::InPlace);
}

#[test]
fn a_class_that_is_not_worth_it_rests_in_place_and_says_so() {
    let mut class = steady(1_000, 2_000);
    class.until(100);
    assert_eq!(class.trial.mode(), Mode::AtHome);
    class.trial.rest(Decision::TooCheap);
    assert_eq!(class.trial.mode(), Mode::InPlace);
    let text = class.trial.verdict().to_string();
    assert!(text.starts_with("in place: no object is worth a home (in place: a hop"), "{text}");
}

#[test]
fn late_steps_and_times_at_the_end_do_no_harm() {
    let mut trial = Trial::default();
    for now in [0, 5, 5, 1_000 * MS, u64::MAX / 2, u64::MAX, u64::MAX] {
        trial.step(now, now);
    }
    assert_eq!(hold(u32::MAX), LONGEST_HOLD);
}

/// A class that belongs on one core, perhaps, with its rates in each mode.
fn of_three(rates: [u64; 3]) -> Class<impl Fn(u64, Mode) -> u64> {
    let mut class = Class::new(move |_, mode: Mode| rates[mode as usize]);
    class.trial.set_ceiling(u64::MAX);
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
fn one_home_is_not_tried_where_it_can_not_be_the_best() {
    let mut class = of_three([1_000, 2_000, 9_000]);
    class.trial.set_ceiling(1);
    for _ in 0..100_000 {
        class.step();
        assert_ne!(class.trial.mode(), Mode::AtOneHome);
    }
    assert_eq!(class.trial.verdict().rate(Mode::AtOneHome), 0);
    class.trial.set_ceiling(u64::MAX);
    class.until(20_000);
    assert_eq!(class.trial.verdict().mode, Mode::AtOneHome);
    let text = class.trial.verdict().to_string();
    assert!(text.starts_with("at one home: "), "{text}");
}

#[test]
fn a_change_is_answered_by_whichever_of_three_is_the_better_one() {
    let mut class = Class::new(|now, mode| match (now / (40 * MS) % 2, mode) {
        (0, Mode::AtOneHome) => 3_000,
        (0, _) => 1_000,
        (_, Mode::AtHome) => 6_000,
        _ => 2_000,
    });
    class.trial.set_ceiling(u64::MAX);
    class.until(400);
    for phase in 10..60 {
        class.until(40 * phase + 15);
        let rest = class.until(40 * (phase + 1));
        assert!(rest > 0.9, "{rest} in phase {phase}: {:?}", class.trial);
    }
}

#[test]
fn one_home_that_has_no_room_any_more_is_left_and_what_is_better_found_out() {
    let mut class = of_three([1_000, 2_000, 3_000]);
    class.trial.leave_one_home();
    assert_eq!(class.trial.verdict(), Verdict::default(), "it is not there");
    class.until(100);
    assert_eq!(class.trial.verdict().mode, Mode::AtOneHome);
    class.trial.set_ceiling(1);
    class.trial.leave_one_home();
    assert_eq!(class.trial.mode(), Mode::AtHome);
    let text = class.trial.verdict().to_string();
    assert_eq!(text, "at home: one home has no room for all objects");
    class.until(120);
    assert_eq!(class.trial.verdict().mode, Mode::AtHome);
    assert_eq!(class.trial.verdict().against, Mode::InPlace, "it was found out");
}

#[test]
fn objects_that_come_together_slowly_are_no_change() {
    // Whatever the mode, the first 2 ms make half as much: objects move.
    let moved = std::cell::Cell::new(0);
    let mut class = Class::new(|now, mode| {
        let rate = [1_000, 2_000, 4_000][mode as usize];
        if now < moved.get() + 2 * MS { rate / 2 } else { rate }
    });
    class.trial.set_ceiling(u64::MAX);
    let (mut changes, mut mode) = (0, Mode::InPlace);
    for _ in 0..200_000 {
        class.step();
        if std::mem::replace(&mut mode, class.trial.mode()) != mode {
            moved.set(class.now);
            changes += 1;
        }
    }
    assert_eq!(class.trial.verdict().mode, Mode::AtOneHome);
    // Holds of 60 ms, of 120 and so on, and of 3.84 s: each ends with two probes.
    assert!(changes < 70, "{changes}");
}
