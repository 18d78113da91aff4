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
