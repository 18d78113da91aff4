//! What `run` is asked for, as every family reads it.

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

/// A command line that contradicts itself in a way that the parser cannot know.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct Usage(pub String);

/// The options that several families share, and what else stands on the command line.
#[derive(Clone, Debug)]
pub struct Asked {
    /// The experiments, all of one family.
    pub benches: Vec<String>,
    /// The peers; all that are found if there are none.
    pub runtimes: Vec<String>,
    /// The variants; all if there are none.
    pub variants: Vec<String>,
    /// The numbers of workers.
    pub workers: Vec<usize>,
    /// Sizes by number, or numbers of rounds; what is usual if there are none.
    pub n: Vec<usize>,
    /// Tasks in all.
    pub tasks: Option<u32>,
    /// The measured time of each run.
    pub time: Duration,
    /// Where the random choices of the first round begin.
    pub seed: u64,
    /// The options that were given, by their names without dashes.
    pub given: Vec<String>,
    /// The whole command line, of which a family takes its own options.
    pub line: ArgMatches,
}

/// Options that mean something to every experiment.
const ALWAYS: [&str; 6] = ["bench", "runtime", "repeats", "seed", "json", "report"];

impl Asked {
    /// Whether an option is on the command line.
    pub fn is_given(&self, option: &str) -> bool {
        self.given.iter().any(|given| given == option)
    }

    /// An error if an option is given that no chosen experiment has, or a variant that one of them
    /// does not have, or if something is named twice.
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
        // An alias may stand for one that is named as well.
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

    /// The chosen ones of some experiments.
    pub fn benches<B: Named>(&self) -> Result<Vec<B>, Usage> {
        parsed(&self.benches)
    }

    /// The chosen ones of an experiment's variants.
    pub fn variants<V: Named>(&self, known: &[V]) -> Vec<V> {
        let is_asked = |variant: &V| self.variants.iter().any(|asked| asked == variant.name());
        let all = self.variants.is_empty() || known.iter().all(|one| one.name() == NAMELESS);
        known.iter().copied().filter(|variant| all || is_asked(variant)).collect()
    }

    /// The chosen peers, whether they are there or not; none if all that are found are meant.
    pub fn named_peers<P: Peer>(&self) -> Result<Vec<P>, Usage> {
        parsed(&self.runtimes)
    }

    /// The chosen ones of the peers that are found: these, or all if none is named.
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

/// Names as what they are names of.
fn parsed<T: FromStr<Err: Display>>(names: &[String]) -> Result<Vec<T>, Usage> {
    let parse = |name: &String| name.parse().map_err(|error: T::Err| Usage(error.to_string()));
    names.iter().map(parse).collect()
}

/// A whole number within bounds, or which one was wanted.
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
