//! The command line of `run`, in the form that every family reads.

use std::fmt::Display;
use std::ops::RangeInclusive;
use std::str::FromStr;
use std::time::Duration;

use clap::ArgMatches;

use super::description::{Description, Experiment};
use super::family::Found;
use super::peer::Peer;
use crate::named::{NAMELESS, Named, named_twice};
use crate::words;

/// A contradiction on the command line that the parser cannot detect.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct Usage(pub String);

/// The options that several families share, and the rest of the command line.
#[derive(Clone, Debug)]
pub struct Asked {
    /// The experiments, all of one family.
    pub benches: Vec<String>,
    /// The peers; empty for all that are found.
    pub runtimes: Vec<String>,
    /// The variants; empty for all.
    pub variants: Vec<String>,
    /// The numbers of workers.
    pub workers: Vec<usize>,
    /// Sizes by number, or numbers of rounds; empty for the defaults.
    pub n: Vec<usize>,
    /// The total number of tasks.
    pub tasks: Option<u32>,
    /// The measured time of each run.
    pub time: Duration,
    /// The seed of the random choices in the first round.
    pub seed: u64,
    /// The names of the options on the command line, without dashes.
    pub given: Vec<String>,
    /// The whole command line, from which a family reads its own options.
    pub line: ArgMatches,
}

/// Options that every experiment takes.
const ALWAYS: [&str; 7] = ["bench", "runtime", "repeats", "seed", "json", "report", "picture"];

impl Asked {
    /// Returns whether an option is on the command line.
    pub fn is_given(&self, option: &str) -> bool {
        self.given.iter().any(|given| given == option)
    }

    /// Returns an error if no chosen experiment has one of the options, if an experiment lacks one
    /// of the variants, or if a name occurs twice.
    pub fn check(&self, of: &Description) -> Result<(), Usage> {
        let chosen: Vec<&Experiment> = self.benches.iter().flat_map(|b| of.experiment(b)).collect();
        let has = |given: &&String| {
            let given = given.as_str();
            let always = ALWAYS.contains(&given) || given == "variant";
            always || chosen.iter().any(|experiment| experiment.options.contains(&given))
        };
        if let Some(odd) = self.given.iter().find(|given| !has(given)) {
            let names: Vec<&str> = chosen.iter().map(|experiment| experiment.name).collect();
            let (odd, names) = (odd.replace('_', "-"), words::and(&names));
            return Err(Usage(format!("--{odd} is not for {names}")));
        }
        for Experiment { name, variants, .. } in chosen {
            let is_known = |asked: &&String| variants.contains(&asked.as_str());
            match self.variants.iter().find(|asked| !is_known(asked)) {
                None => {}
                Some(odd) if variants.is_empty() => {
                    return Err(Usage(format!("{name} has no variants, so not `{odd}` either")));
                }
                Some(odd) => {
                    let known = variants.join(", ");
                    let why = format!("{name} has no variant `{odd}`: known are {known}");
                    return Err(Usage(why));
                }
            }
        }
        // An alias may stand for an experiment that is named as well.
        match named_twice(&self.benches) {
            Some(twice) => Err(Usage(format!("`{twice}` is named twice by --bench"))),
            None => self.given.iter().try_for_each(|option| self.names_each_once(option)),
        }
    }

    fn names_each_once(&self, option: &str) -> Result<(), Usage> {
        let Ok(Some(values)) = self.line.try_get_raw(option) else { return Ok(()) };
        let values: Vec<_> = values.map(|value| value.to_string_lossy()).collect();
        match named_twice(&values) {
            None => Ok(()),
            Some(twice) => {
                let option = option.replace('_', "-");
                Err(Usage(format!("`{twice}` is named twice by --{option}")))
            }
        }
    }

    /// Returns the chosen experiments.
    pub fn benches<B: Named>(&self) -> Result<Vec<B>, Usage> {
        parsed(&self.benches)
    }

    /// Returns the chosen variants of an experiment.
    pub fn variants<V: Named>(&self, known: &[V]) -> Vec<V> {
        let is_asked = |variant: &V| self.variants.iter().any(|asked| asked == variant.name());
        let all = self.variants.is_empty() || known.iter().all(|one| one.name() == NAMELESS);
        known.iter().copied().filter(|variant| all || is_asked(variant)).collect()
    }

    /// Returns the chosen peers, found or not; empty if all found peers are meant.
    pub fn named_peers<P: Peer>(&self) -> Result<Vec<P>, Usage> {
        parsed(&self.runtimes)
    }

    /// Returns the peers to measure: those in `asked`, or all that were found if it is empty.
    pub fn peers<P: Peer>(asked: Vec<P>, found: &Found<P>) -> Result<Vec<P>, Usage> {
        if asked.is_empty() {
            return Ok(found.there.iter().map(|(peer, _)| *peer).collect());
        }
        match found.missing.iter().find(|(missing, _)| asked.contains(missing)) {
            Some((peer, install)) => Err(Usage(format!("{peer} was not found: {install}"))),
            None => Ok(asked),
        }
    }
}

/// Parses names.
fn parsed<T: FromStr<Err: Display>>(names: &[String]) -> Result<Vec<T>, Usage> {
    let parse = |name: &String| name.parse().map_err(|error: T::Err| Usage(error.to_string()));
    names.iter().map(parse).collect()
}

/// Parses a whole number within bounds; the error says what `number` expects.
pub fn number<T: Copy + Display + FromStr + PartialOrd>(
    text: &str,
    bounds: RangeInclusive<T>,
    what: &str,
) -> Result<T, String> {
    let (least, most) = (bounds.start(), bounds.end());
    match text.parse() {
        Ok(number) if bounds.contains(&number) => Ok(number),
        _ => Err(format!("`{text}` is not a whole number ({what}) from {least} to {most}")),
    }
}
