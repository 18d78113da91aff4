//! The shape of the figure, and invariants of a simulation.

use super::*;

/// A shorter run than those of the figure.
fn short(kib: u64, mode: Mode) -> Setting {
    Setting {
        directories: directories(kib),
        mode,
        seed: 1,
        span: Span { counted: 10 * MILLISECOND, ..SETTING.span },
        ..SETTING
    }
}

fn operations(setting: Setting) -> u64 {
    simulate(setting).operations
}

#[test]
fn above_the_caches_of_a_chip_homes_more_than_double_what_threads_do() {
    let [threads, objects] = MODES.map(|mode| operations(short(8_192, mode)));
    assert!(objects > 2 * threads, "{threads} {objects}");
    let bend = operations(short(2_048, MODES[0]));
    assert!(bend > 2 * threads, "{bend} {threads}");
}

#[test]
fn where_a_chip_holds_everything_objects_do_no_harm() {
    for kib in [256, 1_024] {
        let [threads, objects] = MODES.map(|mode| operations(short(kib, mode)));
        let ratio = objects as f64 / threads as f64;
        assert!(ratio > 0.95, "{kib} KiB: {ratio}");
    }
}

#[test]
fn a_seed_is_one_schedule() {
    for mode in MODES {
        for (unit, phase) in [(Unit::Time, 5 * MILLISECOND), (Unit::Work, 10_000)] {
            let run = |seed| {
                let popularity = Popularity::Oscillating;
                let span = Span { unit, warm_up: 2 * phase, counted: 2 * phase, phase };
                simulate(Setting { seed, popularity, span, ..short(3_072, mode) })
            };
            assert_eq!(run(5), run(5));
            assert_ne!(run(5), run(6));
        }
    }
}

#[test]
fn a_dearer_migration_is_never_better() {
    let of = |migration| operations(Setting { migration, ..short(6_144, MODES[1]) });
    let (cheap, usual, dear) = (of(500), of(2_000), of(20_000));
    assert!(cheap > usual && usual > dear, "{cheap} {usual} {dear}");
}

#[test]
fn one_directory_is_one_lock() {
    for mode in MODES {
        let outcome = simulate(short(32, mode));
        // A resolution compares at least half of the directory's entries, and resolutions exclude
        // each other.
        let most = 10 * MILLISECOND / (SETTING.compare * 500);
        assert!(outcome.operations > most / 2 && outcome.operations < most, "{outcome:?}");
        assert!(outcome.busy <= 1.0 + 1e-3, "{outcome:?}");
    }
}
