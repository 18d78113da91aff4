//! The quantities that a row shows of its runs, and which of two figures is better.

use super::record::Record;

/// One figure of an experiment's runs.
#[derive(Clone, Copy, Debug)]
pub struct Quantity {
    /// Its name in a table, with its unit: `late p99.9, µs`.
    pub name: &'static str,
    /// Its source.
    pub read: Read,
    /// Which of two figures is better. Only compared quantities count in a tally, so an experiment
    /// with several quantities compares only the one or two that it is about.
    pub better: Better,
    /// How a page draws it.
    pub drawn: Drawn,
}

/// How a page draws a figure.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Drawn {
    /// It is not drawn.
    No,
    /// A row of dots for each case.
    Dots,
    /// Lines over the number of workers, where there are several; else a row of dots.
    Lines,
    /// A point of a curve: this share of the measured values is not above it.
    Percentile(f64),
}

/// The source of a figure.
#[derive(Clone, Copy, Debug)]
pub enum Read {
    /// A figure of the record.
    Field(&'static str),
    /// Computed from the record and, where it is relative to others, from all records of the
    /// family.
    Derived(fn(&Record, &[Record]) -> Option<f64>),
}

/// Which of two figures is better, and the words for a better and a worse one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Better {
    /// The smaller one: `("faster", "slower")`.
    Less(&'static str, &'static str),
    /// The larger one.
    More(&'static str, &'static str),
    /// It is shown, and not compared.
    Neither,
}

impl Quantity {
    /// Returns a figure of the record, which is neither compared nor drawn.
    pub const fn shown(name: &'static str, field: &'static str) -> Self {
        Self { name, read: Read::Field(field), better: Better::Neither, drawn: Drawn::No }
    }

    /// Returns a computed figure, which is neither compared nor drawn.
    pub const fn derived(
        name: &'static str,
        figure: fn(&Record, &[Record]) -> Option<f64>,
    ) -> Self {
        Self { name, read: Read::Derived(figure), better: Better::Neither, drawn: Drawn::No }
    }

    /// Returns a figure of the record that is a point of a curve: this share of the measured values
    /// is not above it.
    pub const fn share(name: &'static str, field: &'static str, share: f64) -> Self {
        Self::shown(name, field).drawn(Drawn::Percentile(share))
    }

    /// Returns it as one by which rows are compared.
    pub const fn compared(self, better: Better) -> Self {
        Self { better, ..self }
    }

    /// Returns it as one that pages draw.
    pub const fn drawn(self, drawn: Drawn) -> Self {
        Self { drawn, ..self }
    }

    /// Returns the figure of a run: infinitely bad if the run did not complete, and `None` if it
    /// has none.
    pub fn of(&self, record: &Record, all: &[Record]) -> Option<f64> {
        match (record.dnc, self.better) {
            (true, Better::Less(..)) => return Some(f64::INFINITY),
            (true, Better::More(..)) => return Some(f64::NEG_INFINITY),
            (true, Better::Neither) | (false, _) => {}
        }
        let figure = match self.read {
            Read::Field(name) => record.figures.number(name),
            Read::Derived(figure) => figure(record, all),
        };
        figure.filter(|figure| figure.is_finite())
    }

    /// Returns whether rows are compared by it.
    pub fn is_compared(&self) -> bool {
        self.better != Better::Neither
    }
}

impl Better {
    /// Returns whether `a` is better than `b`; always `false` if they are not compared.
    pub fn is_better(self, a: f64, b: f64) -> bool {
        match self {
            Better::Less(..) => a < b,
            Better::More(..) => a > b,
            Better::Neither => false,
        }
    }

    /// Returns a phrase for the caption of a picture.
    pub fn says(self) -> &'static str {
        match self {
            Better::Less(..) => "lower is better",
            Better::More(..) => "higher is better",
            Better::Neither => "not compared",
        }
    }
}
