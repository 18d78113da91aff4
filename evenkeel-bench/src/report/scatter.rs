//! Points in a plane, to be judged by eye: is there a trend, do they lie on a line?

use super::frame::{self, Plane, Side};
use super::ticks::{Axis, Ticked};

/// Height of the picture in pixels.
const HEIGHT: u32 = 306;

/// The points and the axes of a plane.
pub(super) struct Scatter<'a> {
    pub(super) title_of_x: &'a str,
    pub(super) title_of_y: &'a str,
    /// Both coordinates, and the number of colour and marker.
    pub(super) points: Vec<(f64, f64, usize)>,
    /// The slope of a line through zero, for comparison.
    pub(super) slope: f64,
}

/// Draws the points as SVG.
pub(super) fn draw(scatter: &Scatter<'_>) -> anyhow::Result<String> {
    let axis = |read: fn(&(f64, f64, usize)) -> f64| {
        let values = || scatter.points.iter().map(read);
        let min = values().fold(f64::INFINITY, f64::min);
        Axis::covering(min, values().fold(f64::NEG_INFINITY, f64::max), 5)
    };
    let (x, y) = (axis(|point| point.0), axis(|point| point.1));
    // Markers at the ends need room beside them.
    let pad = (x.end - x.start) * 0.03;
    let x_range = Ticked::new(x.start - pad..x.end + pad, x.ticks.clone());
    let y_range = Ticked::new(y.start..y.end, y.ticks.clone());

    let plane = Plane {
        height: HEIGHT,
        top: 10,
        right: 14,
        below: 44,
        left: 80,
        ranges: (x_range, y_range),
    };
    let side_of_x = Side { title: scatter.title_of_x, label: &|v| x.label(v), grid: false };
    let side_of_y = Side { title: scatter.title_of_y, label: &|v| y.label(v), grid: true };
    plane.draw((&side_of_x, &side_of_y), |chart| {
        frame::rule(chart, within((x.start, x.end), (y.start, y.end), scatter.slope))?;
        let mut slots: Vec<usize> = scatter.points.iter().map(|point| point.2).collect();
        slots.sort_unstable();
        slots.dedup();
        // Later series lie on top.
        for slot in slots.into_iter().rev() {
            let own = scatter.points.iter().filter(|point| point.2 == slot);
            frame::markers(chart, slot, own.map(|(x, y, _)| (*x, *y)))?;
        }
        Ok(())
    })
}

/// Returns the part of a line through zero that lies within both ranges.
fn within(x: (f64, f64), y: (f64, f64), slope: f64) -> [(f64, f64); 2] {
    let (mut first, mut last) = x;
    if slope > 0.0 {
        (first, last) = (first.max(y.0 / slope), last.min(y.1 / slope));
    }
    [(first, first * slope), (last, last * slope)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_stays_in_the_picture() {
        assert_eq!(within((-3.0, 3.0), (-2.0, 4.0), 2.0), [(-1.0, -2.0), (2.0, 4.0)]);
        assert_eq!(within((1.0, 3.0), (-2.0, 4.0), 0.0), [(1.0, 0.0), (3.0, 0.0)]);
    }
}
