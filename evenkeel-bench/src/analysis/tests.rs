//! Compares the arithmetic with published examples and another package, and checks properties that
//! hold for any data.

use clap::Parser;
use serde_json::Value;

use super::options::Options;
use super::*;
use crate::families;
use suite::kit::random::Random;
use suite::read;

/// The options of the command line.
#[derive(Parser)]
struct Line {
    #[command(flatten)]
    options: Options,
}

fn options(line: &str) -> Options {
    Line::try_parse_from(["analyse", "FILE"].into_iter().chain(line.split_whitespace()))
        .unwrap()
        .options
}

/// Analyses lines of JSON like the command.
fn analysed(text: &str, line: &str) -> Result<(Design, Vec<Analysis>), Error> {
    let options = options(line);
    analyse(input::parse("runs", text)?, &options, options.responses()[0])
}

fn near(found: f64, expected: f64, tolerance: f64, what: &str) {
    let difference = (found - expected).abs() / expected.abs().max(f64::MIN_POSITIVE);
    assert!(difference <= tolerance, "{what}: {found} instead of {expected}");
}

/// R. Jain, *The Art of Computer Systems Performance Analysis*, example 22.1: code sizes of five
/// workloads on four processors. The data are those of table 22.1; their logarithms are in table
/// 22.2.
#[test]
fn the_code_size_study_comes_out_as_published() {
    let text = include_str!("../../tests/data/code-size.jsonl");
    let (design, analyses) =
        analysed(text, "--columns processor --response size --model multiplicative").unwrap();
    assert_eq!(design.columns.levels, ["W", "X", "Y", "Z"]);
    assert_eq!((design.rows.levels.len(), design.replications), (5, 3));
    let Analysis { fit, variance, effects, .. } = &analyses[0];
    // Tables 22.3 and 22.4.
    let close = |found: f64, published: f64| {
        assert!((found - published).abs() < 1.01e-4, "{found} instead of {published}");
    };
    close(fit.mean, 3.9423);
    for (found, published) in fit.rows.iter().zip([0.1520, -0.2475, 0.0047, -0.0599, 0.1507]) {
        close(*found, published);
    }
    for (found, published) in fit.columns.iter().zip([-0.2304, -0.0202, 0.3603, -0.1096]) {
        close(*found, published);
    }
    let published = [
        [-0.0212, 0.0155, 0.0032, 0.0024],
        [0.0399, 0.0333, -0.1069, 0.0337],
        [-0.0447, 0.0475, -0.0051, 0.0023],
        [0.0564, -0.1168, 0.1054, -0.0450],
        [-0.0305, 0.0205, 0.0033, 0.0066],
    ];
    for (found, published) in fit.interactions.iter().flatten().zip(published.iter().flatten()) {
        close(*found, *published);
    }
    // Table 22.5: sum of squares, percentage of variation, degrees of freedom, F computed, F of the
    // table.
    let published = |test: &variance::Test| {
        let variance::Component { squares, share, freedom, .. } = test.component;
        let share = share * 100.0;
        format!("{squares:.2} {share:.2} {freedom} {:.2} {:.2}", test.f, test.f_table)
    };
    assert_eq!(published(&variance.columns), "2.93 65.96 3 1340.01 2.23");
    assert_eq!(published(&variance.rows), "1.33 29.90 4 455.65 2.09");
    assert_eq!(published(&variance.interactions), "0.15 3.48 12 17.70 1.71");
    let errors = &variance.errors;
    assert_eq!(format!("{:.2} {:.2}", errors.squares, errors.share * 100.0), "0.03 0.66");
    assert_eq!((variance.observations, errors.freedom), (60, 40));
    // "Processor W requires a factor of 1.69 less than an average processor", by the rounded 0.23.
    near(effects.columns[0].as_factor().value, 1.0 / 1.69, 0.01, "W");
    let factor = analyses[0].contrasts[0].overall.as_factor().value;
    near(factor, 10f64.powf(-0.2304 + 0.0202), 1e-3, "W / X");
}

/// Crampton's tooth growth of guinea pigs, the data set `ToothGrowth` of R, and what R's `aov(len ~
/// supp * factor(dose))` prints for it.
#[test]
fn tooth_growth_comes_out_as_from_r() {
    let text = include_str!("../../tests/data/tooth-growth.jsonl");
    let line = "--rows supp --columns dose --response len --model additive";
    let (design, analyses) = analysed(text, line).unwrap();
    assert_eq!((design.observations(), design.replications), (60, 10));
    let Variance { rows, columns, interactions, errors, .. } = &analyses[0].variance;
    let printed = |test: &variance::Test, freedom, squares: f64, mean: f64, words| {
        let component = test.component;
        assert_eq!(component.freedom, freedom);
        // One decimal of squares, three of F, three digits of p.
        assert!((component.squares - squares).abs() < 0.051, "{component:?}");
        assert!((component.mean_square - mean).abs() < 0.051, "{component:?}");
        assert_eq!([format!("{:.3}", test.f), format!("{:.2e}", test.p)], words);
    };
    printed(rows, 1, 205.4, 205.4, ["15.572", "2.31e-4"]);
    printed(columns, 2, 2426.4, 1213.2, ["92.000", "4.05e-18"]);
    printed(interactions, 2, 108.3, 54.2, ["4.107", "2.19e-2"]);
    assert_eq!(errors.freedom, 54);
    assert_eq!(format!("{:.1} {:.1}", errors.squares, errors.mean_square), "712.1 13.2");
}

fn estimate(found: &Estimate, expected: &Value, what: &str) {
    // An effect near zero is a difference of figures as large as its interval.
    let number = |name: &str| expected[name].as_f64().unwrap();
    let size = number("value").abs().max(number("high") - number("low"));
    for (found, name) in [(found.value, "value"), (found.low, "low"), (found.high, "high")] {
        let error = (found - number(name)).abs() / size;
        assert!(error < 1e-9, "{what}, {name}: {found} instead of {}", number(name));
    }
}

/// Random data, made and analysed by `tests/data/two_way.py` with statsmodels and scipy.
#[test]
fn random_data_come_out_as_from_statsmodels() {
    let text = include_str!("../../tests/data/two-way.jsonl");
    let expected: Value =
        serde_json::from_str(include_str!("../../tests/data/two-way.expected.json")).unwrap();
    for model in ["additive", "multiplicative"] {
        let expected = &expected[model];
        let (mut design, _) = analysed(text, "").unwrap();
        // The expected figures are in seconds.
        assert_eq!(design.response.unit, "ms");
        for value in design.cells.iter_mut().flatten().flatten() {
            *value /= 1e3;
        }
        let model = options(&format!("--model {model}")).model.models(true)[0];
        let pairs = contrast::pairs(&design.columns, &[]).unwrap();
        let analysis = Analysis::of(&design, model, 0.9, &pairs).unwrap();
        let Analysis { variance, effects, contrasts, checks, .. } = &analysis;
        near(variance.y, expected["ss_y"].as_f64().unwrap(), 1e-9, "y");
        near(variance.mean, expected["ss_mean"].as_f64().unwrap(), 1e-9, "mean");
        let tests = [&variance.rows, &variance.columns, &variance.interactions];
        for (index, test) in tests.iter().enumerate() {
            let expected = &expected["variance"][index];
            let number = |name: &str| expected[name].as_f64().unwrap();
            near(test.component.squares, number("ss"), 1e-9, "squares");
            assert_eq!(test.component.freedom as f64, number("df"));
            near(test.component.mean_square, number("ms"), 1e-9, "mean square");
            near(test.f, number("f"), 1e-9, "F");
            near(test.f_table, number("f_table"), 1e-9, "F of the table");
            near(test.p, number("p"), 1e-9, "p");
        }
        let errors = &expected["variance"][3];
        near(variance.errors.squares, errors["ss"].as_f64().unwrap(), 1e-9, "errors");
        assert_eq!(variance.errors.freedom as f64, errors["df"].as_f64().unwrap());

        estimate(&effects.mean, &expected["effects"]["mean"], "mean");
        for (row, name) in design.rows.levels.iter().enumerate() {
            estimate(&effects.rows[row], &expected["effects"]["rows"][name], name);
            for (column, other) in design.columns.levels.iter().enumerate() {
                let expected = &expected["effects"]["interactions"][name][other];
                estimate(&effects.interactions[row][column], expected, name);
            }
        }
        for (column, name) in design.columns.levels.iter().enumerate() {
            estimate(&effects.columns[column], &expected["effects"]["columns"][name], name);
        }
        assert_eq!(contrasts.len(), 4);
        for contrast in contrasts {
            let expected = &expected["contrasts"][&design.columns.levels[contrast.pair.1]];
            estimate(&contrast.overall, &expected["overall"], "contrast");
            for (row, name) in design.rows.levels.iter().enumerate() {
                estimate(&contrast.rows[row], &expected["rows"][name], name);
            }
        }
        near(checks.normality, expected["normal"].as_f64().unwrap(), 1e-9, "normality");
        near(checks.trend, expected["spread"].as_f64().unwrap(), 1e-6, "spread");
    }
}

/// Cells of random sizes with random responses between 1 and 1,000.
fn random_cells(seed: u64) -> design::Cells {
    let mut random = Random::new(seed, 0);
    let (a, b, r) = (2 + random.below(6), 2 + random.below(5), 2 + random.below(7));
    let mut value = || 1.0 + random.below(999_000) as f64 / 1e3;
    (0..a).map(|_| (0..b).map(|_| (0..r).map(|_| value()).collect()).collect()).collect()
}

#[test]
fn effects_sum_to_zero_and_squares_and_shares_add_up() {
    for seed in 0..200 {
        let fit = Fit::of(random_cells(seed));
        let zero = |sum: f64| assert!(sum.abs() < 1e-9, "seed {seed}: {sum}");
        zero(fit.rows.iter().sum());
        zero(fit.columns.iter().sum());
        fit.interactions.iter().for_each(|line| zero(line.iter().sum()));
        for column in 0..fit.columns.len() {
            zero(fit.interactions.iter().map(|line| line[column]).sum());
        }
        fit.residuals.iter().flatten().for_each(|cell| zero(cell.iter().sum()));

        let Variance { y, mean, total, rows, columns, interactions, errors, observations } =
            Variance::of(&fit, 0.9).unwrap();
        let parts = [rows.component, columns.component, interactions.component, errors];
        let sum: f64 = parts.iter().map(|part| part.squares).sum();
        near(sum, total, 1e-12, "parts");
        near(mean + total, y, 1e-12, "y");
        near(parts.iter().map(|part| part.share * 100.0).sum(), 100.0, 1e-12, "shares");
        let freedom: usize = parts.iter().map(|part| part.freedom).sum();
        assert_eq!(freedom, observations - 1);
        for test in [rows, columns, interactions] {
            assert_eq!(test.is_significant(), test.p < 0.1, "seed {seed}");
        }
    }
}

#[test]
fn the_parts_of_an_observation_add_up_to_it() {
    let fit = Fit::of(random_cells(7));
    for (i, line) in fit.observed.iter().enumerate() {
        for (j, cell) in line.iter().enumerate() {
            for (k, y) in cell.iter().enumerate() {
                let effects = fit.mean + fit.rows[i] + fit.columns[j] + fit.interactions[i][j];
                near(effects + fit.residuals[i][j][k], *y, 1e-12, "observation");
            }
        }
    }
}

/// Two runtimes on two benchmarks with these seconds, as lines of JSON.
fn two_by_two(seconds: [[&str; 2]; 4]) -> String {
    let line = |(runtime, bench), [one, other]: [&str; 2]| {
        format!("{{\"runtime\":\"{runtime}\",\"bench\":\"{bench}\",\"seconds\":[{one},{other}]}}\n")
    };
    let cells = [("a", "x"), ("b", "x"), ("a", "y"), ("b", "y")];
    cells.into_iter().zip(seconds).map(|(cell, seconds)| line(cell, seconds)).collect()
}

#[test]
fn squares_that_overflow_are_refused() {
    let text = two_by_two([["1e200", "2e200"]; 4]);
    let error = analysed(&text, "--model additive").err().unwrap();
    assert!(matches!(error, Error::TooLarge), "{error}");
    assert!(analysed(&text, "--model multiplicative").is_ok());
}

/// Numbers near zero have few digits, and their squares none.
#[test]
fn squares_that_vanish_are_refused_as_too_small() {
    let subnormal = [["5e-324", "1e-310"], ["2e-310", "3e-320"], ["4e-315", "5e-312"]];
    let subnormal = two_by_two([subnormal[0], subnormal[1], subnormal[2], ["1e-311", "7e-318"]]);
    let small = two_by_two([["1e-200", "2e-200"]; 4]);
    // The squares of the responses are normal numbers, and the squares of the errors have few
    // digits.
    let errors_vanish = [["1e-155", "1.000000001e-155"], ["2e-155", "2.000000002e-155"]];
    let errors_vanish =
        two_by_two([errors_vanish[0], errors_vanish[1], ["3e-155"; 2], ["9e-155"; 2]]);
    for text in [subnormal, small, errors_vanish] {
        let error = analysed(&text, "--model additive").err().unwrap();
        assert!(matches!(error, Error::TooSmall), "{error}");
        let words = error.to_string();
        assert!(words.contains("--model multiplicative") && !words.contains("large"), "{words}");
        let (_, analyses) = analysed(&text, "--model multiplicative").unwrap();
        assert!(analyses[0].variance.total > 0.0);
    }
    // Measured values are far from these limits.
    let nanoseconds = two_by_two([["1e-9", "2e-9"]; 4]);
    assert!(analysed(&nanoseconds, "--model additive").is_ok());
}

#[test]
fn responses_with_the_same_logarithm_have_no_errors() {
    let text = two_by_two([["1000", "1000.0000000000002"], ["2000"; 2], ["3000"; 2], ["4000"; 2]]);
    assert!(analysed(&text, "--model additive").is_ok());
    let error = analysed(&text, "--model multiplicative").err().unwrap();
    assert!(matches!(error, Error::ZeroVariance), "{error}");
}

/// A grid of two programs on two runtimes, twice each, with some inflation below zero.
fn metrics() -> String {
    let record = |bench: &str, runtime: &str, seconds: f64| {
        let inflation = seconds - 1.5;
        format!(
            "{{\"bench\":\"{bench}\",\"runtime\":\"{runtime}\",\"seconds\":{seconds},\"inflation_seconds\":{inflation},\
             \"scheduling_seconds\":{seconds},\"idle_seconds\":{seconds}}}\n"
        )
    };
    let runs = [("fib", 1.0), ("fib", 1.1), ("heat", 2.0), ("heat", 2.1)];
    let both = |(bench, seconds)| record(bench, "a", seconds) + &record(bench, "b", seconds + 0.3);
    runs.map(both).concat()
}

#[test]
fn each_of_the_four_metrics_is_analysed() {
    let options = options("--metrics");
    let of = |response| analyse(input::parse("runs", &metrics()).unwrap(), &options, response);
    let analysed: Vec<Analysed> =
        options.responses().into_iter().map(|response| of(response).unwrap()).collect();
    let fields: Vec<&str> = analysed.iter().map(|(of, _)| of.response.field.as_str()).collect();
    assert_eq!(fields, ["seconds", "inflation_seconds", "scheduling_seconds", "idle_seconds"]);
    let models = analysed.iter().map(|(_, analyses)| analyses.len());
    assert!(models.eq([2, 1, 2, 2]), "what is not above zero has no logarithm");
    assert!(analysed[1].0.remarks.iter().any(|remark| remark == NO_LOGARITHMS));
}

#[test]
fn records_without_the_four_metrics_are_left_out_and_counted() {
    let other = "{\"bench\":\"fib\",\"runtime\":\"rayon\",\"seconds\":3.0}\n";
    let (design, _) = analysed(&(metrics() + other), "--metrics").unwrap();
    assert_eq!(design.columns.levels, ["a", "b"]);
    assert!(design.remarks.iter().any(|remark| remark.starts_with("1 record without")));
    let error = analysed(other, "--metrics").err().map(|error| error.to_string()).unwrap();
    assert!(error.contains("no record has a field `inflation_seconds`"), "{error}");
}

/// Files of earlier releases: each family, its records, the figure that they are about, and the
/// number of rows.
const OLD: [(&str, &str, &str, usize); 7] = [
    ("scheduling", include_str!("../../tests/data/old/scheduling.jsonl"), "ns_per_op_per_proc", 3),
    ("mixed", include_str!("../../tests/data/old/mixed.jsonl"), "computations_per_second", 2),
    ("timers", include_str!("../../tests/data/old/timers.jsonl"), "ns_per_timer", 2),
    (
        "concurrency",
        include_str!("../../tests/data/old/concurrency.jsonl"),
        "ns_per_op_per_proc",
        3,
    ),
    ("actors", include_str!("../../tests/data/old/actors.jsonl"), "ns_per_message", 2),
    ("objects", include_str!("../../tests/data/old/objects.jsonl"), "mops", 2),
    ("fork-join", include_str!("../../tests/data/old/fork-join.jsonl"), "seconds", 4),
];

#[test]
fn what_earlier_releases_wrote_of_each_family_stands_beside_what_this_one_writes() {
    for (name, old, response, rows) in OLD {
        // Old records of contended monitors lack the longest wait.
        let line = match name {
            "concurrency" => format!("--response {response} --keep disturbed"),
            _ => "--keep disturbed".to_owned(),
        };
        let (alone, _) = analysed(old, &line).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(alone.response.field, response, "{name}");
        assert_eq!((alone.rows.levels.len(), alone.columns.levels.len()), (rows, 2), "{name}");
        assert!(!alone.rows.fields.iter().any(|field| field == "procs"), "{name}");
        assert_eq!(alone.columns.fields, ["runtime"], "{name}");
        let of = (families::named(name).unwrap_or_else(|| panic!("{name}")).describe)();
        let settings = of.experiments.iter().flat_map(|one| one.settings).copied();
        let settings: Vec<&str> = settings.collect();
        let records = old.lines().flat_map(|line| read::records(line, &settings).unwrap());
        let today = records.map(|record| serde_json::to_string(&record).unwrap() + "\n");
        let both = old.trim_end().to_owned() + "\n" + &today.collect::<String>();
        let (both, _) = analysed(&both, &line).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!((&both.rows, &both.columns), (&alone.rows, &alone.columns), "{name}");
        assert_eq!(both.replications, 2 * alone.replications, "{name}");
    }
}
