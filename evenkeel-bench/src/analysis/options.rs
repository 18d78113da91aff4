//! The command line of `analyse`.

use std::fmt;
use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::{Error, Model};
use suite::named::named_twice;

/// Judge runs by a two-factor full factorial design with replications.
///
/// Reads the lines that `run --json` prints. Rows (factor A) are the benchmarks together with all
/// other settings that tell runs apart: variant, size, workers or processors, tasks, and every
/// other field of text, whole numbers or true and false that varies and is no result. Columns
/// (factor B) are the runtimes. Numbers with a fraction, lists, and the fields of inner objects
/// (`steals.far`) are results.
///
/// Runs that do not count in the tables of `run` are left out here too: runs that other processes
/// disturbed, and runs during which the distance of the cores changed; `--keep` takes them. Records
/// without these fields, such as those of other programs, count.
///
/// Runs in which the cores were nearer or farther (`regime`) are never mixed: the regime becomes
/// part of the rows too, unless there was one worker, and `--where regime=near` takes one regime,
/// with all runs of one worker. To count it as chance instead, use `--pool regime`; a remark will
/// say so. Serial runs are left out unless `--where runtime=serial,...` names them. Every cell
/// needs two replications, and half as many as any other; further ones are left out.
///
/// The additive model is about differences. The multiplicative one takes logarithms and is about
/// ratios: choose it when rows differ by more than a few times.
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
    /// The figure to analyse: a number, or a list of replications. Several, separated by commas,
    /// are analysed one after the other [default: the first figure by which the tables compare the
    /// experiment, or else that they show; for experiments unknown to this suite, any figure by
    /// which the tables compare, or seconds]
    #[arg(long, value_name = "FIELD", value_delimiter = ',')]
    pub(crate) response: Vec<String>,
    /// The four metrics of the Cilk Locality evaluation, one after the other: time, work inflation,
    /// scheduling and idle time, of measured or simulated records that have them
    #[arg(long, conflicts_with = "response")]
    pub(crate) metrics: bool,
    /// Takes only records in which FIELD has one of these values, or with `FIELD!=VALUE` none of
    /// them; may be given several times
    #[arg(long = "where", value_name = "FIELD=VALUE[,VALUE]", value_parser = condition)]
    pub(crate) conditions: Vec<Condition>,
    /// Also takes runs that do not count in the tables, separated by commas
    #[arg(long, value_enum, value_name = "LIST", value_delimiter = ',')]
    pub(crate) keep: Vec<Doubt>,
    /// Fields with differences that count as chance: such runs are replications of each other
    #[arg(long, value_name = "FIELD", value_delimiter = ',')]
    pub(crate) pool: Vec<String>,
    /// Confidence of intervals and of tabled F values, in percent
    #[arg(long, value_name = "PERCENT", default_value = "90", value_parser = percent)]
    pub(crate) confidence: f64,
    /// How effects combine
    #[arg(long, value_enum, default_value = "both")]
    pub(crate) model: Choice,
    /// Two columns to compare; may be given several times [default: the family's subject, mostly
    /// evenkeel, with every other one]
    #[arg(long, value_name = "RUNTIME1,RUNTIME2", value_parser = pair)]
    pub(crate) contrast: Vec<Pair>,
    /// Also writes every table and picture into this folder, as analysis.html
    #[arg(long, value_name = "DIR")]
    pub(crate) report: Option<PathBuf>,
}

/// The four metrics, by their fields in records.
pub(super) const METRICS: [&str; 4] =
    ["seconds", "inflation_seconds", "scheduling_seconds", "idle_seconds"];

impl Options {
    /// Returns the figures to analyse; `None` is the default of the records.
    pub(super) fn responses(&self) -> Vec<Option<&str>> {
        match (self.metrics, &self.response[..]) {
            (true, _) => METRICS.map(Some).to_vec(),
            (false, []) => vec![None],
            (false, asked) => asked.iter().map(|field| Some(field.as_str())).collect(),
        }
    }

    /// Returns an error if a file, a field, a value or a contrast is named twice: a file that is
    /// read twice would have twice its replications. A field has one part in the design.
    pub(super) fn each_once(&self) -> Result<(), Error> {
        let paths = self.files.iter().map(|file| file.display().to_string()).collect();
        // A pair in the opposite order is the same contrast.
        let pair = |Pair(one, other): &Pair| format!("{},{}", one.min(other), one.max(other));
        let values = |Condition { field, values, without }: &Condition| {
            let is = if *without { "!=" } else { "=" };
            values.iter().map(|value| format!("{field}{is}{value}")).collect::<Vec<_>>()
        };
        let parts = self.rows.iter().chain(&self.pool).chain([&self.columns]).cloned().collect();
        let lists: [(&'static str, Vec<String>); 8] = [
            ("--response", self.response.clone()),
            ("FILE", paths),
            ("--rows", self.rows.clone()),
            ("--pool", self.pool.clone()),
            ("--rows, --pool and --columns", parts),
            ("--contrast", self.contrast.iter().map(pair).collect()),
            ("--where", self.conditions.iter().flat_map(values).collect()),
            ("--keep", self.keep.iter().map(Doubt::to_string).collect()),
        ];
        let twice = lists.iter().find_map(|(option, list)| Some((*option, named_twice(list)?)));
        match twice {
            None => Ok(()),
            Some((option, name)) => Err(Error::NamedTwice { name: name.clone(), option }),
        }
    }
}

/// Why a run does not count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Doubt {
    /// Other processes took time of its cores
    Disturbed,
    /// The distance of the cores changed during it
    Mixed,
}

impl Doubt {
    pub(super) const ALL: [Self; 2] = [Self::Disturbed, Self::Mixed];
}

impl fmt::Display for Doubt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Disturbed => "disturbed",
            Self::Mixed => "mixed",
        })
    }
}

/// Which models to fit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Choice {
    /// Effects add
    Additive,
    /// Effects multiply: the additive model of the logarithms
    Multiplicative,
    /// One after the other; only the additive one if a response is not above zero
    Both,
}

impl Choice {
    /// Returns the models to fit to responses with or without logarithms.
    pub(crate) fn models(self, has_logarithms: bool) -> &'static [Model] {
        match (self, has_logarithms) {
            (Self::Multiplicative, _) => &[Model::Multiplicative],
            (Self::Both, true) => &[Model::Additive, Model::Multiplicative],
            (Self::Additive, _) | (Self::Both, false) => &[Model::Additive],
        }
    }
}

/// A field with values that are required, or excluded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Condition {
    pub(crate) field: String,
    pub(crate) values: Vec<String>,
    /// Whether records with these values are left out.
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
    // The bounds also exclude NaN. Intervals of more confidence end at infinity, by rounding.
    match text.parse::<f64>() {
        Ok(percent) if (50.0..=99.99).contains(&percent) => Ok(percent),
        _ => Err(format!("`{text}` is not a percentage from 50 to 99.99")),
    }
}
