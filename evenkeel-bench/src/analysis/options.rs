//! The command line of `analyse`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::{Error, Model};
use suite::named::named_twice;

/// Judge runs by a two-factor full factorial design with replications.
///
/// Reads the lines that `run --json` prints. Rows (factor A) are the benchmarks together with whatever else tells runs
/// apart: variant, size, workers or processors, tasks, and every other field of text, whole numbers or true and false that
/// varies and is no result. Columns (factor B) are the runtimes. Numbers with a fraction, lists, and the
/// fields of inner objects (`steals.far`) are results.
///
/// Runs in which the cores lay nearer or farther (`regime`) are never mixed: the regime becomes part of the rows too, unless
/// there was one worker. To count it as chance instead, use `--pool regime`; a remark will say so. Serial runs are left out
/// unless `--where runtime=serial,...` names them. Every cell needs the same number of replications.
///
/// The additive model is about differences. The multiplicative one takes logarithms and is about ratios: choose it when
/// rows differ by more than a few times.
#[derive(Debug, Args)]
pub(crate) struct Options {
    /// Files of records, one JSON object per line; `-` is standard input. Several are joined
    #[arg(value_name = "FILE", required = true)]
    pub(crate) files: Vec<PathBuf>,
    /// Fields that make the rows, separated by commas [default: all that tell runs apart]
    #[arg(long, value_name = "FIELD", value_delimiter = ',')]
    pub(crate) rows: Vec<String>,
    /// The field that makes the columns
    #[arg(long, value_name = "FIELD", default_value = "runtime")]
    pub(crate) columns: String,
    /// The figure to analyse: a number, or a list of them whose items are replications. Several,
    /// separated by commas, are analysed one after the other [default: seconds of fork-join
    /// programs, else µs per transfer, bytes per task or ns per operation per processor]
    #[arg(long, value_name = "FIELD", value_delimiter = ',')]
    pub(crate) response: Vec<String>,
    /// The four metrics of the Cilk Locality evaluation, one after the other: time, work inflation,
    /// scheduling and idle time, of records that have them, measured or simulated
    #[arg(long, conflicts_with = "response")]
    pub(crate) metrics: bool,
    /// Takes only records in which FIELD has one of these values, or with `FIELD!=VALUE` none of them; may be given several
    /// times
    #[arg(long = "where", value_name = "FIELD=VALUE[,VALUE]", value_parser = condition)]
    pub(crate) conditions: Vec<Condition>,
    /// Fields whose differences count as chance: such runs are replications of each other
    #[arg(long, value_name = "FIELD", value_delimiter = ',')]
    pub(crate) pool: Vec<String>,
    /// Confidence of intervals and of tabled F values, in percent
    #[arg(long, value_name = "PERCENT", default_value = "90", value_parser = percent)]
    pub(crate) confidence: f64,
    /// How effects combine
    #[arg(long, value_enum, default_value = "both")]
    pub(crate) model: Choice,
    /// Two columns to compare; may be given several times [default: evenkeel with every other one]
    #[arg(long, value_name = "RUNTIME1,RUNTIME2", value_parser = pair)]
    pub(crate) contrast: Vec<Pair>,
    /// Also writes every table and picture into this folder, as analysis.html
    #[arg(long, value_name = "DIR")]
    pub(crate) report: Option<PathBuf>,
}

/// The four metrics, as records name them.
pub(super) const METRICS: [&str; 4] =
    ["seconds", "inflation_seconds", "scheduling_seconds", "idle_seconds"];

impl Options {
    /// The figures to analyse; `None` is the usual one of the records.
    pub(super) fn responses(&self) -> Vec<Option<&str>> {
        match (self.metrics, &self.response[..]) {
            (true, _) => METRICS.map(Some).to_vec(),
            (false, []) => vec![None],
            (false, asked) => asked.iter().map(|field| Some(field.as_str())).collect(),
        }
    }

    /// An error if a file, a field or a contrast is named twice: a file that is read twice would
    /// have twice its replications.
    pub(super) fn each_once(&self) -> Result<(), Error> {
        let paths = self.files.iter().map(|file| file.display().to_string()).collect();
        let pairs = self.contrast.iter().map(|Pair(one, other)| format!("{one},{other}")).collect();
        let lists: [(&'static str, Vec<String>); 5] = [
            ("--response", self.response.clone()),
            ("FILE", paths),
            ("--rows", self.rows.clone()),
            ("--pool", self.pool.clone()),
            ("--contrast", pairs),
        ];
        let twice = lists.iter().find_map(|(option, list)| Some((*option, named_twice(list)?)));
        match twice {
            None => Ok(()),
            Some((option, name)) => Err(Error::NamedTwice { name: name.clone(), option }),
        }
    }
}

/// Which models to fit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Choice {
    /// Effects add
    Additive,
    /// Effects multiply: the additive model of the logarithms
    Multiplicative,
    /// One after the other; the additive one alone where a response is not above zero
    Both,
}

impl Choice {
    /// The models to fit to responses that have logarithms, or have none.
    pub(crate) fn models(self, has_logarithms: bool) -> &'static [Model] {
        match (self, has_logarithms) {
            (Self::Multiplicative, _) => &[Model::Multiplicative],
            (Self::Both, true) => &[Model::Additive, Model::Multiplicative],
            (Self::Additive, _) | (Self::Both, false) => &[Model::Additive],
        }
    }
}

/// A field and the values that it may have, or may not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Condition {
    pub(crate) field: String,
    pub(crate) values: Vec<String>,
    /// Whether these are the values of records that are left out.
    pub(crate) without: bool,
}

/// Two columns by name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Pair(pub(crate) String, pub(crate) String);

fn condition(text: &str) -> Result<Condition, String> {
    let parts = text.split_once('=').map(|(field, values)| match field.strip_suffix('!') {
        Some(field) => (field, values, true),
        None => (field, values, false),
    });
    match parts {
        Some((field, values, without)) if !field.is_empty() && !values.is_empty() => {
            Ok(Condition {
                field: field.to_owned(),
                values: values.split(',').map(str::to_owned).collect(),
                without,
            })
        }
        _ => Err(format!(
            "`{text}` is not of the form FIELD=VALUE or FIELD!=VALUE, such as bench=fib,heat"
        )),
    }
}

fn pair(text: &str) -> Result<Pair, String> {
    match text.split(',').collect::<Vec<_>>()[..] {
        [one, other] if !one.is_empty() && !other.is_empty() && one != other => {
            Ok(Pair(one.to_owned(), other.to_owned()))
        }
        _ => Err(format!("`{text}` is not two names, such as evenkeel,rayon")),
    }
}

fn percent(text: &str) -> Result<f64, String> {
    // The bounds exclude what is not a number, too.
    match text.parse::<f64>() {
        Ok(percent) if (50.0..100.0).contains(&percent) => Ok(percent),
        _ => Err(format!("`{text}` is not a percentage from 50 to below 100")),
    }
}
