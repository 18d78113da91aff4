//! The description of a family of experiments that tables, pages and the command line use.

use super::case::{Case, Fields};
use super::named::NAMELESS;
use super::peer::{Known, Role};
use super::picture::Picture;
use super::published::Published;
use super::quantity::{Quantity, Read};
use super::record::{Quiet, Record};
use super::rows::Row;

/// An experiment, as the command line, the tables and the page show it.
#[derive(Clone, Debug)]
pub struct Experiment {
    /// Its name, unique among the experiments of all families.
    pub name: &'static str,
    /// What it does, in one line.
    pub what: &'static str,
    /// Its variants, in the order of the tables; empty if it has only one.
    pub variants: Vec<&'static str>,
    /// The settings that tell its cases apart, beside the variant and the number of workers.
    pub settings: &'static [&'static str],
    /// The options of `run` that it takes, beside those that all experiments have.
    pub options: &'static [&'static str],
    /// The quantities shown of its runs. A quantity that a record lacks has no line in the table.
    pub quantities: &'static [Quantity],
    /// Whether figures of several workers depend on the distance between the cores.
    pub depends_on_distance: bool,
}

impl Experiment {
    /// Returns whether the rows of a case belong to one regime of the cores. One worker has no
    /// distance.
    pub fn is_bound(&self, case: &Case) -> bool {
        self.depends_on_distance && case.workers > 1
    }

    /// Returns the figures of a record by which runs are compared.
    pub fn compared(&self) -> impl Iterator<Item = &'static str> {
        self.quantities.iter().filter(|quantity| quantity.is_compared()).filter_map(source)
    }

    /// Returns the figure by which `analyse` analyses a record: the first figure of the record that
    /// is compared, or else the first that is shown. Seconds are such a figure only if a quantity
    /// shows them; else they are just the duration of the measurement.
    pub fn analysed(&self, has: impl Fn(&str) -> bool) -> Option<&'static str> {
        let shown = self.quantities.iter().filter_map(source);
        self.compared().chain(shown).find(|figure| has(figure))
    }

    /// Returns the quantity that is read from this figure of a record.
    pub fn quantity_of(&self, figure: &str) -> Option<&'static Quantity> {
        let is_source = |quantity: &&Quantity| source(quantity) == Some(figure);
        self.quantities.iter().find(is_source)
    }
}

/// The field with the duration of a run.
const SECONDS: &str = "seconds";

/// Returns the figure of a record from which a quantity is read; `None` if it is computed from
/// several.
fn source(quantity: &Quantity) -> Option<&'static str> {
    match quantity.read {
        Read::Field(name) => Some(name),
        Read::Derived(figure) => figure(&timed(), &[]).map(|_| SECONDS),
    }
}

/// Returns a run with no figure but its seconds.
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
    /// The name, different from that of every experiment.
    pub name: &'static str,
    /// Its meaning, in one line.
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
    /// What a reader must know to understand its figures.
    pub about: &'static str,
    /// Its experiments.
    pub experiments: Vec<Experiment>,
    /// Names for several of them.
    pub aliases: Vec<Alias>,
    /// Its peers.
    pub peers: Vec<Known>,
    /// Returns the text that a list adds to an experiment's description.
    pub listed: fn(&str) -> Option<String>,
    /// Returns remarks on rows, beside their figures.
    pub remarks: fn(&[Row<'_>]) -> Vec<String>,
    /// Returns the text that `run` prints below the tables.
    pub appendix: fn(&[Row<'_>]) -> String,
    /// Returns published figures of a case.
    pub published: fn(&Case) -> Vec<Published>,
    /// Returns why a case is shown and not compared, in words; `None` if it is compared.
    pub removed: fn(&Case) -> Option<&'static str>,
    /// Whether the family draws pictures of its own.
    pub draws: bool,
    /// Returns the family's own pictures of the rows of one experiment.
    pub pictures: fn(&[Row<'_>]) -> Vec<Picture>,
}

impl Description {
    /// Returns the experiment of this name.
    pub fn experiment(&self, name: &str) -> Option<&Experiment> {
        self.experiments.iter().find(|experiment| experiment.name == name)
    }

    /// Resolves names and aliases to the experiments that they stand for.
    pub fn named(&self, names: &[String]) -> Vec<String> {
        let of = |name: &String| match self.aliases.iter().find(|alias| alias.name == name) {
            Some(alias) => alias.of.iter().map(|&name| name.to_owned()).collect(),
            None => vec![name.clone()],
        };
        names.iter().flat_map(of).collect()
    }

    /// Returns the names that `run` accepts, in the order of the tables.
    pub fn names(&self) -> Vec<&'static str> {
        let names = self.experiments.iter().map(|experiment| experiment.name);
        names.chain(self.aliases.iter().map(|alias| alias.name)).collect()
    }

    /// Returns the name of the peer that the rows are about.
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

    /// An experiment that shows these quantities.
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

    /// The figure by which a record with these figures is analysed.
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
        // Figures that are only shown come last; figures that are not shown are never used.
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
