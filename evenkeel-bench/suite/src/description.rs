//! What tables, pages and the command line know of a family of experiments.

use super::case::Case;
use super::peer::{Known, Role};
use super::picture::Picture;
use super::published::Published;
use super::quantity::Quantity;
use super::rows::Row;

/// An experiment, as the command line, the tables and the page know it.
#[derive(Clone, Debug)]
pub struct Experiment {
    /// Its name, which no other experiment of any family has.
    pub name: &'static str,
    /// What it does, in one line.
    pub what: &'static str,
    /// Its variants, in the order of the tables; empty if it has only one.
    pub variants: Vec<&'static str>,
    /// The settings that tell its cases apart, beside the variant and the number of workers.
    pub settings: &'static [&'static str],
    /// Options of `run` that mean something to it, beside those that all experiments have.
    pub options: &'static [&'static str],
    /// What is shown of its runs. What a record lacks is no line of the table.
    pub quantities: &'static [Quantity],
    /// Whether figures of several workers depend on the distance of the cores.
    pub depends_on_distance: bool,
}

impl Experiment {
    /// Whether the rows of a case are of one regime of the cores. One worker has no distance.
    pub fn is_bound(&self, case: &Case) -> bool {
        self.depends_on_distance && case.workers > 1
    }
}

/// A name that stands for several experiments of a family.
#[derive(Clone, Debug)]
pub struct Alias {
    /// The name, which no experiment has.
    pub name: &'static str,
    /// What it stands for, in one line.
    pub what: &'static str,
    /// The experiments.
    pub of: Vec<&'static str>,
}

/// A family of experiments.
#[derive(Clone, Debug)]
pub struct Description {
    /// The name of its file of records, and its place on the page.
    pub name: &'static str,
    /// Its heading.
    pub title: &'static str,
    /// What a reader of its figures must know.
    pub about: &'static str,
    /// Its experiments.
    pub experiments: Vec<Experiment>,
    /// Names for several of them.
    pub aliases: Vec<Alias>,
    /// Its peers.
    pub peers: Vec<Known>,
    /// What a list adds to the words for an experiment.
    pub listed: fn(&str) -> Option<String>,
    /// What is to be said of some rows beside their figures.
    pub remarks: fn(&[Row<'_>]) -> Vec<String>,
    /// What `run` prints behind the tables.
    pub appendix: fn(&[Row<'_>]) -> String,
    /// What others have published of a case.
    pub published: fn(&Case) -> Vec<Published>,
    /// Why a case is shown and not compared, in words; `None` if it is compared.
    pub removed: fn(&Case) -> Option<&'static str>,
    /// Its own pictures of the rows of one experiment.
    pub pictures: fn(&[Row<'_>]) -> Vec<Picture>,
}

impl Description {
    /// The experiment of this name.
    pub fn experiment(&self, name: &str) -> Option<&Experiment> {
        self.experiments.iter().find(|experiment| experiment.name == name)
    }

    /// The experiments that some names stand for.
    pub fn named(&self, names: &[String]) -> Vec<String> {
        let of = |name: &String| match self.aliases.iter().find(|alias| alias.name == name) {
            Some(alias) => alias.of.iter().map(|&name| name.to_owned()).collect(),
            None => vec![name.clone()],
        };
        names.iter().flat_map(of).collect()
    }

    /// The names by which `run` takes its experiments, in the order of the tables.
    pub fn names(&self) -> Vec<&'static str> {
        let names = self.experiments.iter().map(|experiment| experiment.name);
        names.chain(self.aliases.iter().map(|alias| alias.name)).collect()
    }

    /// The name of the peer that the rows are about.
    pub fn subject(&self) -> Option<&'static str> {
        self.peers.iter().find(|peer| peer.role == Role::Subject).map(|peer| peer.name)
    }
}
