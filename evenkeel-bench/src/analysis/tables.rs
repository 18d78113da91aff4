//! Makes every table of an analysis, in words: the same for print and page.

use super::effects::Estimate;
use super::numbers::{figure, interval, probability, within};
use super::variance::{Component, Test};
use super::{Analysis, Contrast, Design, Model};
use suite::quantity::Better;
use suite::words::count;

/// The mark of an effect that could be zero.
pub(crate) const MAYBE: &str = "~";

/// A table: the first column names the lines, the others are figures.
pub(crate) struct Table {
    pub(crate) title: String,
    pub(crate) heading: Vec<String>,
    pub(crate) lines: Vec<Vec<String>>,
    /// A note for the reader; may be empty.
    pub(crate) note: String,
}

/// Reasons that the note of a table lists, each once.
#[derive(Default)]
pub(crate) struct Reasons(Vec<&'static str>);

impl Reasons {
    /// Returns the mark that stands for a reason in the table.
    pub(crate) fn mark(&mut self, why: &'static str) -> String {
        let known = self.0.iter().position(|known| *known == why);
        let place = known.unwrap_or_else(|| {
            self.0.push(why);
            self.0.len() - 1
        });
        format!("({})", place + 1)
    }

    /// Returns the lines of the note, each after a line break.
    pub(crate) fn note(&self) -> String {
        let line = |(place, why): (usize, &&str)| format!("\n({}) {why}", place + 1);
        self.0.iter().enumerate().map(line).collect()
    }
}

/// Describes the design in one sentence.
pub(crate) fn design(design: &Design) -> String {
    let (rows, columns) = (design.rows.levels.len(), design.columns.levels.len());
    let mut shown = match design.response.unit.as_str() {
        "" => String::new(),
        unit => format!(", in {unit}"),
    };
    shown.extend(design.response.better.map(|better| format!(" ({})", better.says())));
    format!(
        "{} ({}) x {} ({}) x {} = {} of {}{shown}",
        count(rows, "row"),
        design.rows.name(),
        count(columns, "column"),
        design.columns.name(),
        count(design.replications, "replication"),
        count(design.observations(), "observation"),
        design.response.field,
    )
}

/// Returns the settings shared by all runs, and all remarks.
pub(crate) fn notes(design: &Design) -> Vec<String> {
    let same = (!design.everywhere.is_empty())
        .then(|| format!("Everywhere: {}.", design.everywhere.join(", ")));
    same.into_iter().chain(design.remarks.iter().cloned()).collect()
}

/// Returns a model as a formula.
pub(crate) fn formula(model: Model) -> &'static str {
    match model {
        Model::Additive => "response = mean + row + column + interaction + error",
        Model::Multiplicative => {
            "response = mean x row x column x interaction x error, by decimal logarithms"
        }
    }
}

/// Makes the table of the arithmetic means of all cells.
pub(crate) fn means(design: &Design) -> Table {
    let mean = |values: &mut dyn Iterator<Item = f64>| {
        let (sum, number) = values.fold((0.0, 0), |(sum, number), v| (sum + v, number + 1));
        figure(sum / f64::from(number.max(1)))
    };
    let mut heading = vec![design.rows.name()];
    heading.extend(design.columns.levels.iter().cloned());
    heading.push("mean".to_owned());
    let mut lines = Vec::new();
    for (name, cells) in design.rows.levels.iter().zip(&design.cells) {
        let mut line = vec![name.clone()];
        line.extend(cells.iter().map(|cell| mean(&mut cell.iter().copied())));
        line.push(mean(&mut cells.iter().flatten().copied()));
        lines.push(line);
    }
    let mut last = vec!["mean".to_owned()];
    for column in 0..design.columns.levels.len() {
        last.push(mean(&mut design.cells.iter().flat_map(|line| line[column].iter().copied())));
    }
    last.push(mean(&mut design.cells.iter().flatten().flatten().copied()));
    lines.push(last);
    let title = format!("Means{}", design.response.bracketed());
    Table { title, heading, lines, note: String::new() }
}

/// Makes all tables of one model.
pub(crate) fn of(design: &Design, analysis: &Analysis) -> Vec<Table> {
    let mut tables = vec![variance(design, analysis), effects(design, analysis)];
    tables.push(interactions(design, analysis));
    tables.push(contrasts(design, analysis));
    tables
}

/// Returns the verdicts on the assumptions.
pub(crate) fn checks(design: &Design, analysis: &Analysis) -> Vec<String> {
    let range = super::residuals::range(design.cells.iter().flatten().flatten().copied());
    analysis.checks.words(analysis.model, range, |row, column| design.name(row, column))
}

fn variance(design: &Design, analysis: &Analysis) -> Table {
    let v = &analysis.variance;
    let table = format!("F[{}]", percent(analysis.confidence / 100.0, 4));
    let heading = [
        "component",
        "sum of squares",
        "% of variation",
        "freedom",
        "mean square",
        "F computed",
        &table,
        "p",
    ];
    let sum = |name: &str, squares: f64, share: &str, freedom: usize| {
        vec![name.to_owned(), figure(squares), share.to_owned(), freedom.to_string()]
    };
    let component = |name: String, c: &Component| {
        let share = percent(c.share, 2);
        vec![name, figure(c.squares), share, c.freedom.to_string(), figure(c.mean_square)]
    };
    let test = |name: String, test: &Test| {
        let mut line = component(name, &test.component);
        line.extend([figure(test.f), figure(test.f_table), probability(test.p)]);
        line
    };
    let lines = vec![
        sum("y", v.y, "", v.observations),
        sum("mean of y", v.mean, "", 1),
        sum("y - mean of y", v.total, "100.00", v.observations - 1),
        test(format!("A: {}", design.rows.name()), &v.rows),
        test(format!("B: {}", design.columns.name()), &v.columns),
        test("AB: interactions".to_owned(), &v.interactions),
        component("errors".to_owned(), &v.errors),
    ];
    let words = |name: &str, test: &Test| {
        let verb = if test.is_significant() { "significant" } else { "not significant" };
        format!("{name} {verb}")
    };
    let deviation = v.errors.mean_square.sqrt();
    let deviation = match analysis.model {
        Model::Additive => {
            format!("{} {}", figure(deviation), design.response.unit).trim_end().to_owned()
        }
        Model::Multiplicative => {
            format!("{}, a factor of {:.4}", figure(deviation), 10f64.powf(deviation))
        }
    };
    let note = format!(
        "At {} % confidence: {}, {}, {}. Standard deviation of the errors: {deviation}.",
        percent(analysis.confidence, 4),
        words("A", &v.rows),
        words("B", &v.columns),
        words("AB", &v.interactions),
    );
    let title = match analysis.model {
        Model::Additive => "Analysis of variance",
        Model::Multiplicative => "Analysis of variance of the logarithms",
    };
    let title = title.to_owned();
    Table { title, heading: heading.map(str::to_owned).to_vec(), lines, note }
}

/// Formats a share in percent, with `decimals` decimals; if these are more than two, without
/// trailing zeros.
fn percent(share: f64, decimals: usize) -> String {
    let text = format!("{:.decimals$}", share * 100.0);
    if decimals > 2 { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

fn effects(design: &Design, analysis: &Analysis) -> Table {
    let logs = analysis.model == Model::Multiplicative;
    let confidence = percent(analysis.confidence, 4);
    let unit = design.response.bracketed();
    let mut heading = vec!["effect", if logs { "log10" } else { "value" }, "low", "high"];
    if logs {
        heading.extend(["factor", "low", "high"]);
    }
    heading.push("");
    let line = |name: String, estimate: &Estimate| {
        let mut line = vec![name];
        line.extend(interval(estimate));
        if logs {
            line.extend(interval(&estimate.as_factor()));
        }
        line.push(if estimate.includes_zero() { MAYBE.to_owned() } else { String::new() });
        line
    };
    let effects = &analysis.effects;
    let mut lines = vec![line("mean".to_owned(), &effects.mean)];
    for (factor, effects) in [(&design.rows, &effects.rows), (&design.columns, &effects.columns)] {
        let named = factor.levels.iter().zip(effects);
        lines.extend(named.map(|(name, effect)| line(name.clone(), effect)));
    }
    let (title, note) = match logs {
        false => (
            format!("Effects{unit} with {confidence} % confidence intervals"),
            format!("{MAYBE} the interval includes zero: the level may be an average one."),
        ),
        true => (
            format!("Effects with {confidence} % confidence intervals"),
            format!(
                "{MAYBE} the interval includes the factor 1: the level may be an average one. The mean's \
                 factor is the geometric mean{unit}."
            ),
        ),
    };
    Table { title, heading: heading.into_iter().map(str::to_owned).collect(), lines, note }
}

fn interactions(design: &Design, analysis: &Analysis) -> Table {
    let logs = analysis.model == Model::Multiplicative;
    let all = &analysis.effects.interactions;
    let half = (all[0][0].high - all[0][0].low) / 2.0;
    let factor = 10f64.powf(half);
    let shown = |estimate: &Estimate| {
        let text = match logs {
            false => within(estimate.value, half),
            true => within(10f64.powf(estimate.value), factor - 1.0),
        };
        // The mark keeps its position, so that figures stay aligned.
        format!("{text} {}", if estimate.includes_zero() { MAYBE } else { " " })
    };
    let mut heading = vec![design.rows.name()];
    heading.extend(design.columns.levels.iter().map(|level| format!("{level}  ")));
    let line = |(name, line): (&String, &Vec<Estimate>)| {
        let mut texts = vec![name.clone()];
        texts.extend(line.iter().map(shown));
        texts
    };
    let lines = design.rows.levels.iter().zip(all).map(line).collect();
    let confidence = percent(analysis.confidence, 4);
    let (title, half) = match logs {
        false => (
            format!("Interactions{}", design.response.bracketed()),
            format!("plus or minus {}", within(half, half)),
        ),
        true => {
            let factor = within(factor, factor - 1.0);
            ("Interactions as factors".to_owned(), format!("times or over {factor}"))
        }
    };
    let note =
        format!("Each {half} with {confidence} % confidence. {MAYBE} there may be no interaction.");
    Table { title, heading, lines, note }
}

fn contrasts(design: &Design, analysis: &Analysis) -> Table {
    let logs = analysis.model == Model::Multiplicative;
    let shown = |estimate: &Estimate| {
        let [value, low, high] = interval(&if logs { estimate.as_factor() } else { *estimate });
        let mark = if estimate.includes_zero() { MAYBE } else { " " };
        format!("{value} [{low}, {high}] {mark}")
    };
    // Two columns for the marks.
    let name = |contrast: &Contrast| format!("{}  ", pair(design, analysis.model, contrast));
    let contrasts = &analysis.contrasts;
    let mut heading = vec![design.rows.name()];
    heading.extend(contrasts.iter().map(name));
    let mut lines = vec![vec!["all rows".to_owned()]];
    lines[0].extend(contrasts.iter().map(|contrast| shown(&contrast.overall)));
    for (row, level) in design.rows.levels.iter().enumerate() {
        let mut line = vec![level.clone()];
        line.extend(contrasts.iter().map(|contrast| shown(&contrast.rows[row])));
        lines.push(line);
    }
    let confidence = percent(analysis.confidence, 4);
    let (title, less, none) = match logs {
        false => (format!("Contrasts{}", design.response.bracketed()), "Below zero", "zero"),
        true => ("Contrasts as ratios".to_owned(), "Below 1", "1"),
    };
    let smaller = match design.response.better {
        Some(Better::Less(..)) => ", which is the better one",
        Some(Better::More(..)) => ", which is the worse one",
        Some(Better::Neither) | None => "",
    };
    let note = format!(
        "{less}: the first has the smaller response{smaller}. Each interval holds with {confidence} % confidence by \
         itself, not all together. {MAYBE} it includes {none}: no difference is shown."
    );
    Table { title, heading, lines, note }
}

/// Returns the name of a contrast, such as `evenkeel / rayon`.
pub(crate) fn pair(design: &Design, model: Model, contrast: &Contrast) -> String {
    let (one, other) = contrast.pair;
    let sign = if model == Model::Additive { "-" } else { "/" };
    format!("{} {sign} {}", design.columns.levels[one], design.columns.levels[other])
}

/// Formats an estimate for its picture.
pub(crate) fn value(estimate: &Estimate, model: Model) -> String {
    let estimate = if model == Model::Additive { *estimate } else { estimate.as_factor() };
    let [value, ..] = interval(&estimate);
    value
}
