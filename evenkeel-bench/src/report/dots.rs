//! One row per runtime: the median as a marker, a bar from minimum to maximum, the value in words.
//!
//! Transfers take from tens of microseconds to tens of milliseconds, so the axis turns logarithmic
//! when the figures lie far apart. On such an axis the position of a marker is honest; the length
//! of a bar would not be.

use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use super::frame::{self, Plane, Side};
use super::ink::{self, Stroke, UNIT};
use super::ticks::{self, Axis, Ticked};
use suite::summary::Summary;
use suite::words;

/// The ratio above which figures share no linear axis: the smallest would sit on zero.
const FAR_APART: f64 = 20.0;

/// The steps of an axis with labels side by side, each up to six digits wide.
const STEPS: u32 = 4;

/// Height of a row in pixels.
const ROW: u32 = 30;

/// The room for ticks and the title of the axis, in pixels.
const FOOT: u32 = 52;

/// The length in letters from which a text might leave the picture on the right.
const LONG: usize = 9;

/// The room for the names, in pixels: least, most, and per letter at the size on a phone.
const NAMES: (u32, u32, usize) = (124, 250, 10);

/// One row: a runtime, or another name with a figure.
pub(super) struct Dot {
    /// The name.
    pub(super) name: String,
    /// Colour and marker.
    pub(super) slot: usize,
    /// The figure.
    pub(super) value: Summary,
    /// The text beside the marker, or in its place.
    pub(super) text: String,
}

/// The horizontal axis that all pictures of one quantity share.
pub(super) enum Scale {
    /// From zero.
    Linear(Axis),
    /// Between two powers of ten, given by their exponents.
    Log(i32, i32),
    /// Factors around 1, by their logarithms.
    Factors { ends: (f64, f64), ticks: Vec<f64> },
}

impl Scale {
    /// Returns the scale from zero that shows all these figures.
    pub(super) fn from_zero(summaries: &[Summary]) -> Self {
        Self::Linear(Axis::from_zero(extent(summaries).1, STEPS))
    }

    /// Returns the scale on which the smallest and the largest of these figures can be told from
    /// zero, which it has both sides of if a figure is below.
    pub(super) fn fitting(summaries: &[Summary]) -> Self {
        /// The margin, in powers of ten, that keeps markers off the axis.
        const AIR: f64 = 0.06;
        let (min, max) = extent(summaries);
        if min < 0.0 {
            return Self::Linear(Axis::covering(min, max, STEPS));
        }
        if min > 0.0 && max / min > FAR_APART {
            let (low, high) = (min.log10() - AIR, max.log10());
            return Self::Log(low.floor() as i32, high.ceil() as i32);
        }
        Self::from_zero(summaries)
    }

    /// Returns the scale for effects that add, zero within it.
    pub(super) fn around_zero(summaries: &[Summary]) -> Self {
        let ends = summaries.iter().flat_map(|s| [s.min, s.max]);
        let (min, max) = ends.fold((0.0f64, 0.0f64), |(min, max), v| (min.min(v), max.max(v)));
        Self::Linear(Axis::covering(min, max, STEPS))
    }

    /// Returns the scale for effects that multiply, 1 within it.
    pub(super) fn around_one(summaries: &[Summary]) -> Self {
        let ends = summaries.iter().flat_map(|s| [s.min, s.max]);
        let (min, max) = ends.fold((1.0f64, 1.0f64), |(min, max), v| (min.min(v), max.max(v)));
        let ticks = ticks::factors(min, max, STEPS);
        let places: Vec<f64> = ticks.iter().map(|factor| factor.log10()).collect();
        let ends = [places[0].min(min.log10()), places[places.len() - 1].max(max.log10())];
        Self::Factors { ends: (ends[0], ends[1]), ticks: places }
    }

    /// Returns the position of a value on the axis.
    pub(super) fn place(&self, value: f64) -> f64 {
        match self {
            Self::Linear(_) => value,
            Self::Log(..) | Self::Factors { .. } => value.log10(),
        }
    }

    /// Returns the first and the last position.
    pub(super) fn ends(&self) -> (f64, f64) {
        match self {
            Self::Linear(axis) => (axis.start, axis.end),
            Self::Log(low, high) => (f64::from(*low), f64::from(*high)),
            Self::Factors { ends, .. } => *ends,
        }
    }

    /// Returns the position of no effect, if the scale has both sides of it.
    pub(super) fn nothing(&self) -> Option<f64> {
        let (low, _) = self.ends();
        (!matches!(self, Self::Log(..)) && low < 0.0).then_some(0.0)
    }

    /// Returns the positions of the ticks.
    pub(super) fn ticks(&self) -> Vec<f64> {
        match self {
            Self::Linear(axis) => axis.ticks.clone(),
            Self::Log(low, high) => (*low..=*high).map(f64::from).collect(),
            Self::Factors { ticks, .. } => ticks.clone(),
        }
    }

    /// Returns the label of a tick.
    pub(super) fn label(&self, place: f64) -> String {
        match self {
            Self::Linear(axis) => axis.label(place),
            // On an axis of many powers, labels of neighbours would touch.
            Self::Log(low, high) if high - low >= STEPS as i32 && (place as i32 - low) % 2 == 1 => {
                String::new()
            }
            Self::Factors { .. } => ticks::factor(10f64.powf(place)),
            Self::Log(..) => ticks::power(place as i32),
        }
    }

    /// Returns the title of the axis.
    pub(super) fn title(&self, unit: &str) -> String {
        match self {
            Self::Linear(_) => unit.to_owned(),
            Self::Log(..) | Self::Factors { .. } => format!("{unit} (logarithmic axis)"),
        }
    }
}

/// Returns the smallest and the largest figure. Runs that did not complete are shown as words,
/// without a position.
fn extent(summaries: &[Summary]) -> (f64, f64) {
    let ends = summaries.iter().flat_map(|s| [s.min, s.median, s.max]).filter(|v| v.is_finite());
    ends.fold((f64::INFINITY, 0.0f64), |(min, max), v| (min.min(v), max.max(v)))
}

/// Draws the rows as SVG, the first on top.
pub(super) fn draw(unit: &str, scale: &Scale, dots: &[Dot]) -> anyhow::Result<String> {
    let height = ROW * dots.len() as u32 + FOOT;
    let (low, high) = scale.ends();
    // Values are to the right of their markers, the rightmost one beyond the last tick.
    let aside = (high - low) * 0.24;
    // On an axis with two sides, values of the lower side are to the left, clear of the line
    // between.
    let names = room(dots.iter().map(|dot| dot.name.as_str()));
    let lower = scale.nothing().map(|line| {
        let is_lower = |dot: &&Dot| scale.place(dot.value.median) < line;
        dots.iter().filter(is_lower).map(|dot| dot.text.chars().count()).max().unwrap_or(0)
    });
    let start = lower.map_or(low, |letters| low - beside(letters, names, (high - low) + aside));
    let x_range = Ticked::new(start..high + aside, scale.ticks());
    let rows = dots.len() as f64;
    let middle = |row: usize| rows - row as f64 - 0.5;
    let y_range = Ticked::new(0.0..rows, (0..dots.len()).map(middle).collect());
    let name = |y: f64| dots.get((rows - y) as usize).map_or(String::new(), |d| d.name.clone());

    let plane =
        Plane { height, top: 2, right: 4, below: 48, left: names, ranges: (x_range, y_range) };
    let title = scale.title(unit);
    let x = Side { title: &title, label: &|place| scale.label(place), grid: true };
    plane.draw((&x, &Side { title: "", label: &name, grid: false }), |chart| {
        if let Some(nothing) = scale.nothing() {
            frame::rule(chart, [(nothing, 0.0), (nothing, rows)])?;
        }
        let left = Pos::new(HPos::Left, VPos::Center);
        let right = Pos::new(HPos::Right, VPos::Center);
        for (row, dot) in dots.iter().enumerate() {
            let text = dot.text.clone();
            let value = dot.value;
            if !value.completed() {
                let style = ink::text_style().pos(left);
                chart
                    .draw_series([EmptyElement::at((low, middle(row)))
                        + Text::new(text, (10 * UNIT, 0), style)])?;
                continue;
            }
            let style = ink::series(dot.slot, Stroke::Solid);
            let end = if value.max.is_finite() { value.max } else { value.median };
            let bar = [value.min, end].map(|v| (scale.place(v), middle(row)));
            chart.draw_series(LineSeries::new(bar, style.stroke_width(20)))?;
            let marker = ink::marker(dot.slot);
            chart.draw_series([EmptyElement::at((scale.place(value.median), middle(row)))
                + Polygon::new(marker, style.filled())])?;
            // A remark to the right of such a marker would leave the picture.
            let remark = text.chars().count() > LONG && scale.place(end) > f64::midpoint(low, high);
            let lower = scale.nothing().is_some_and(|line| scale.place(value.median) < line);
            let (place, distance, pos) = match remark || lower {
                true => (scale.place(value.min), -12 * UNIT, right),
                false => (scale.place(end), 12 * UNIT, left),
            };
            chart.draw_series([EmptyElement::at((place, middle(row)))
                + Text::new(text, (distance, 0), ink::text_style().pos(pos))])?;
        }
        Ok(())
    })
}

/// Returns the part of the axis that a text of `letters` letters takes on its left, if the part to
/// the right is `rest` long.
fn beside(letters: usize, names: u32, rest: f64) -> f64 {
    /// The pixels of a digit, of the gap between text and marker or axis, and of the margin right
    /// of the axis.
    const DIGIT: u32 = 8;
    const APART: u32 = 20;
    const MARGIN: u32 = 4;
    let text = letters as u32 * DIGIT + APART;
    let plot = ink::WIDTH - names - MARGIN;
    // A text that takes more than half of the picture is cut: nothing else would be visible.
    let text = f64::from(text.min(plot / 2));
    rest * text / (f64::from(plot) - text)
}

/// Returns the room for the longest of the names, in pixels.
pub(super) fn room<'a>(names: impl Iterator<Item = &'a str>) -> u32 {
    let (least, most, letter) = NAMES;
    let longest = names.map(|name| name.chars().count()).max().unwrap_or(0);
    ((longest + 2) * letter).min(most as usize).max(least as usize) as u32
}

/// Returns the text beside the marker of a figure, or in its place.
pub(super) fn text(value: &Summary) -> String {
    match value {
        value if !value.completed() => "did not complete".to_owned(),
        value if value.incomplete > 0 => {
            let (incomplete, runs) = (value.incomplete, value.runs);
            format!("{} ({incomplete} of {runs} did not complete)", words::figure(value.median))
        }
        value => words::figure(value.median),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn far_figures_share_a_logarithmic_axis() {
        let summaries = |values: &[f64]| -> Vec<Summary> {
            values.iter().filter_map(|v| Summary::of(vec![*v])).collect()
        };
        let near = summaries(&[28.0, 500.0]);
        let far = summaries(&[28.0, 25_000.0, f64::INFINITY]);
        assert!(matches!(Scale::fitting(&near), Scale::Linear(_)));
        assert!(matches!(Scale::from_zero(&far), Scale::Linear(_)));
        // What is below zero by chance is on the axis too.
        for below in [[-0.3, 28.0], [-0.3, -0.1], [-0.3, f64::INFINITY]] {
            let scale = Scale::fitting(&summaries(&below));
            let (low, high) = scale.ends();
            assert!(low <= -0.3 && high >= 0.0 && high.is_finite(), "{low} to {high}");
            assert_eq!(scale.nothing(), Some(0.0));
        }
        let scale = Scale::fitting(&far);
        let labels: Vec<String> = scale.ticks().iter().map(|&t| scale.label(t)).collect();
        assert_eq!(labels, ["10", "", "1,000", "", "100,000"]);
        assert_eq!(Scale::Log(-2, 1).label(-2.0), "0.01");
    }

    #[test]
    fn texts_on_the_lower_side_keep_clear_of_the_axis() {
        let names = room(["evenkeel / openmp"].into_iter());
        let plot = f64::from(ink::WIDTH - names - 4);
        for (letters, rest) in [(6, 1.24), (4, 30.0)] {
            let aside = beside(letters, names, rest);
            let pixels = aside / (aside + rest) * plot;
            assert!((pixels - (letters as f64 * 8.0 + 20.0)).abs() < 1e-6, "{pixels}");
        }
        assert!(beside(1_000, names, 1.0) <= 1.0);
    }

    #[test]
    fn what_did_not_complete_is_told_in_words() {
        let of = |values: &[f64]| text(&Summary::of(values.to_vec()).unwrap());
        assert_eq!(of(&[f64::INFINITY, f64::INFINITY, 28.0]), "did not complete");
        assert_eq!(of(&[f64::INFINITY, 28.0, 28.0]), "28.0 (1 of 3 did not complete)");
        assert_eq!(of(&[28.0]), "28.0");
    }
}
