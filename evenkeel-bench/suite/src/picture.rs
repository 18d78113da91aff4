//! Pictures of several rows that a family makes, beside those that the page makes of each quantity.

use super::summary::Summary;

/// The data of a picture. The page draws it.
#[derive(Clone, Debug)]
pub struct Picture {
    /// The title.
    pub caption: String,
    /// A few words for the reader: which way is better.
    pub says: &'static str,
    /// The label of the axis of figures, with their unit.
    pub figure: &'static str,
    /// The form of the picture.
    pub shape: Shape,
}

/// The form of a picture.
#[derive(Clone, Debug)]
pub enum Shape {
    /// Dots: a name, a colour and a figure in each line.
    Dots(Vec<(String, usize, Summary)>),
    /// Lines over a number, on a logarithmic axis.
    Lines {
        /// The label of that axis, with the unit.
        over: &'static str,
        /// The amount of the number that makes one unit.
        unit: f64,
        /// The lines.
        lines: Vec<Line>,
    },
    /// Ranges from a common to a rare figure, in groups, on a logarithmic axis of time.
    Ranges {
        /// The groups, from top to bottom.
        groups: Vec<Group>,
        /// A line across all of them, in microseconds, and its name.
        line: Option<(f64, String)>,
    },
    /// How often each time occurred when: a strip for each peer, over the parts of a run.
    Heat {
        /// The parts of a run.
        columns: u32,
        /// The strips, from top to bottom.
        strips: Vec<Strip>,
        /// A line across each of them, in microseconds, and its name.
        line: Option<(f64, String)>,
    },
}

/// The times of one peer.
#[derive(Clone, Debug)]
pub struct Strip {
    /// The name of the peer.
    pub name: &'static str,
    /// Its colour.
    pub slot: usize,
    /// Its times, as often as they occurred.
    pub cells: Vec<Cell>,
}

/// Times of about the same length in one part of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cell {
    /// The part of the run.
    pub column: u32,
    /// They are 2^`power` to 2^(`power` + 1) nanoseconds; `None` if what is timed never happened.
    pub power: Option<u32>,
    /// Their number.
    pub count: u64,
}

/// One group of ranges.
#[derive(Clone, Debug)]
pub struct Group {
    /// Its name.
    pub name: String,
    /// What it is, in a few words.
    pub what: &'static str,
    /// The ranges, from top to bottom.
    pub ranges: Vec<Range>,
}

/// The percentiles of one peer.
#[derive(Clone, Debug)]
pub struct Range {
    /// The name of the peer.
    pub name: &'static str,
    /// Its colour and marker.
    pub slot: usize,
    /// Median, 99th and 99.9th percentile, in microseconds; infinite if it falls on what never
    /// happened. The rarer ones may be missing.
    pub marks: Vec<f64>,
    /// What never happened, in words.
    pub never: Option<String>,
}

/// One line.
#[derive(Clone, Debug)]
pub struct Line {
    /// The name of the peer.
    pub name: &'static str,
    /// Its colour and marker.
    pub slot: usize,
    /// Its points.
    pub points: Vec<Point>,
}

/// One point of a line.
#[derive(Clone, Copy, Debug)]
pub struct Point {
    /// The number, at least 1.
    pub at: f64,
    /// The figure there.
    pub value: Summary,
}
