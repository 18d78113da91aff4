//! What tables, pages and the command line know of a family of experiments.

use super::case::{Case, Fields};
use super::named::NAMELESS;
use super::peer::{Known, Role};
use super::picture::Picture;
use super::published::Published;
use super::quantity::{Quantity, Read};
use super::record::{Quiet, Record};
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

    /// The figures of a record by which it is compared.
    pub fn compared(&self) -> impl Iterator<Item = &'static str> {
        self.quantities.iter().filter(|quantity| quantity.is_compared()).filter_map(source)
    }

    /// The figure by which a record that has these is analysed: the first of those that are
    /// compared, or if it has none, of those that are shown. Seconds are such a figure only if they
    /// are shown: else they say how long something was measured.
    pub fn analysed(&self, has: impl Fn(&str) -> bool) -> Option<&'static str> {
        let shown = self.quantities.iter().filter_map(source);
        self.compared().chain(shown).find(|figure| has(figure))
    }

    /// The quantity that is read from this figure of a record.
    pub fn quantity_of(&self, figure: &str) -> Option<&'static Quantity> {
        let is_source = |quantity: &&Quantity| source(quantity) == Some(figure);
        self.quantities.iter().find(is_source)
    }
}

/// The time of a run.
const SECONDS: &str = "seconds";

/// The figure of a record that a quantity is read from. One that is made of several has none.
fn source(quantity: &Quantity) -> Option<&'static str> {
    match quantity.read {
        Read::Field(name) => Some(name),
        Read::Derived(figure) => figure(&timed(), &[]).map(|_| SECONDS),
    }
}

/// A run of which nothing but its seconds is known.
fn timed() -> Record {
    let regime = NAMELESS.into();
    Record {
        runtime: NAMELESS.into(),
        case: Case::new(NAMELESS, NAMELESS, 1),
        repeat: 0,
        figures: Fields::new().with(SECONDS, 1.0),
        dnc: false,
        quiet: Quiet { line_ns_before: 0.0, line_ns_after: 0.0, regime, cpu_share: 1.0 },
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::quantity::{Better, Drawn};

    const LESS: Better = Better::Less("faster", "slower");

    const fn quantity(read: Read, better: Better) -> Quantity {
        Quantity { name: "a figure", read, better, drawn: Drawn::No }
    }

    /// An experiment that shows these.
    fn showing(quantities: &'static [Quantity]) -> Experiment {
        Experiment {
            name: "cycle",
            what: "rings pass a token",
            variants: Vec::new(),
            settings: &[],
            options: &[],
            quantities,
            depends_on_distance: true,
        }
    }

    /// The first that a record with these figures is analysed by.
    fn analysed(experiment: &Experiment, figures: &[&str]) -> Option<&'static str> {
        experiment.analysed(|figure| figures.contains(&figure))
    }

    #[test]
    fn a_record_is_analysed_by_the_first_figure_that_is_compared() {
        const ALL: [Quantity; 4] = [
            quantity(Read::Derived(|_, _| None), LESS),
            quantity(Read::Field("ops"), Better::Neither),
            quantity(Read::Field("ns"), LESS),
            quantity(Read::Field("mops"), Better::More("more", "less")),
        ];
        let cycle = showing(&ALL);
        assert_eq!(analysed(&cycle, &["seconds", "mops", "ns", "ops"]), Some("ns"));
        assert_eq!(analysed(&cycle, &["seconds", "mops", "ops"]), Some("mops"));
        // What is only shown comes last, and what is not shown never.
        assert_eq!(analysed(&cycle, &["seconds", "ops"]), Some("ops"));
        assert_eq!(analysed(&cycle, &["seconds"]), None);
        let better = |figure| cycle.quantity_of(figure).map(|quantity| quantity.better);
        assert_eq!((better("ns"), better("seconds")), (Some(LESS), None));
    }

    #[test]
    fn seconds_are_a_figure_where_they_are_shown_by_themselves() {
        const MS: Quantity = quantity(
            Read::Derived(|record, _| Some(record.figures.number(SECONDS)? * 1e3)),
            Better::Neither,
        );
        const RATE: Quantity = quantity(
            Read::Derived(|record, _| {
                Some(record.figures.number("ops")? / record.figures.number(SECONDS)?)
            }),
            LESS,
        );
        const BOTH: [Quantity; 2] = [RATE, MS];
        assert_eq!(analysed(&showing(&BOTH), &["ops", "seconds"]), Some("seconds"));
        assert_eq!(analysed(&showing(&BOTH[..1]), &["ops", "seconds"]), None);
    }
}
