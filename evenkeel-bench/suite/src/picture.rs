//! Pictures that a family makes of several rows, beside those that the page makes of each quantity.

use super::summary::Summary;

/// What is drawn. The page draws it.
#[derive(Clone, Debug)]
pub struct Picture {
    /// What it is of.
    pub caption: String,
    /// What else is to be known, in a few words: which way is better.
    pub says: &'static str,
    /// What stands at the axis of the figures, with their unit.
    pub figure: &'static str,
    /// How they are drawn.
    pub shape: Shape,
}

/// How figures are drawn.
#[derive(Clone, Debug)]
pub enum Shape {
    /// A name, a colour and a figure in each line.
    Dots(Vec<(String, usize, Summary)>),
    /// Lines over a number, on a logarithmic axis.
    Lines {
        /// What stands at that axis, with the unit.
        over: &'static str,
        /// How much of the number a unit is.
        unit: f64,
        /// The lines.
        lines: Vec<Line>,
    },
}

/// One line.
#[derive(Clone, Debug)]
pub struct Line {
    /// Whose it is.
    pub name: &'static str,
    /// Its colour and marker.
    pub slot: usize,
    /// Its points.
    pub points: Vec<Point>,
}

/// One point of a line.
#[derive(Clone, Copy, Debug)]
pub struct Point {
    /// The number, from 1 on.
    pub at: f64,
    /// The figure there.
    pub value: Summary,
}
