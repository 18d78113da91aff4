//! Ranges from the median to the rarest case, in groups, on a logarithmic axis of time.
//!
//! A bar goes from the median, which has the marker, to the rarest percentile, whose figure stands
//! beside it; a stroke across the bar is the percentile between them. A bar that leaves the axis on
//! the right ends in cases that never happened.

use super::ink::{self, UNIT};
use super::pen::{Pen, time};
use suite::picture::{Group, Range};

/// The height of a range, and of the name above a group with the room before it, in pixels.
const ROW: i32 = 17;
const HEAD: i32 = 32;
/// The room above the groups for the name of the line, and below them for the axis.
const TOP: i32 = 20;
const FOOT: i32 = 28;
/// The room for the names on the left and for words on the right, in pixels.
const LEFT: i32 = 98;
const RIGHT: i32 = 122;
/// Half of the thickness of a bar, and of the stroke across it.
const BAR: i32 = 3;
const ACROSS: i32 = 6;
/// The size of the smaller text: names and figures of ranges.
const SMALL: i32 = 12;
/// The first power of ten of the axis: a microsecond. Shorter times are drawn there.
const FIRST: i32 = 0;
/// The last power of ten of the axis is at least ten milliseconds.
const LEAST: i32 = 4;

/// Draws the groups as SVG of this width in pixels.
pub(super) fn draw(groups: &[Group], line: Option<&(f64, String)>, width: u32) -> String {
    let width = width as i32;
    let rows: i32 = groups.iter().map(|group| HEAD + ROW * group.ranges.len() as i32).sum();
    let height = TOP + rows + FOOT;
    let axis = Axis::of(groups, line, width);
    let mut svg = Pen::new(width, height);
    let bottom = TOP + rows + 4;
    for power in FIRST..=axis.last {
        let x = axis.place(10f64.powi(power));
        svg.line((x, TOP * UNIT), (x, bottom * UNIT), UNIT, "grid");
        svg.text((x, (bottom + 17) * UNIT), ink::TEXT, "middle", &time(10f64.powi(power)));
    }
    let base = bottom * UNIT;
    svg.line((axis.place(1.0), base), (axis.place(10f64.powi(axis.last)), base), UNIT, "axis");
    if let Some((at, name)) = line {
        let x = axis.place(*at);
        svg.dashed((x, TOP * UNIT), (x, base));
        svg.text((x, (TOP - 6) * UNIT), ink::TEXT, "middle", &format!("{name}: {}", time(*at)));
    }
    let mut top = TOP;
    for group in groups {
        svg.heading((LEFT * UNIT, (top + HEAD - 8) * UNIT), &group.name, group.what);
        top += HEAD;
        for range in &group.ranges {
            range_of(&mut svg, &axis, range, (top + ROW / 2) * UNIT);
            top += ROW;
        }
    }
    svg.finish()
}

/// Draws one range at this height.
fn range_of(svg: &mut Pen, axis: &Axis, range: &Range, y: i32) {
    let colour = format!("series-{}", range.slot % ink::SLOTS);
    let baseline = y + SMALL * UNIT / 3;
    svg.text(((LEFT - 10) * UNIT, baseline), SMALL, "end", range.name);
    let ends = (range.marks.first(), range.marks.last());
    let (Some(&first), Some(&last)) = ends else { return };
    let (from, to) = (axis.place(first), axis.place(last));
    svg.bar((from, y), (to, y), 2 * BAR * UNIT, &colour);
    if let [_, middle, _] = range.marks[..]
        && middle.is_finite()
    {
        let x = axis.place(middle);
        svg.bar((x, y - ACROSS * UNIT), (x, y + ACROSS * UNIT), 2 * UNIT, &colour);
    }
    if first.is_finite() {
        svg.marker((from, y), range.slot, &colour);
    }
    if !last.is_finite() {
        svg.arrow((to, y), &colour);
    }
    let figure = if last.is_finite() { time(last) } else { String::new() };
    let words = match &range.never {
        Some(never) if figure.is_empty() => never.clone(),
        Some(never) => format!("{figure}, {never}"),
        None => figure,
    };
    let room = if from == to { 10 } else { 7 };
    let room = if last.is_finite() { room } else { 12 };
    svg.text((to + room * UNIT, baseline), SMALL, "start", &words);
}

/// The axis of time.
struct Axis {
    /// The power of ten at its end.
    last: i32,
    /// Its length in drawing units.
    length: f64,
    /// The position of times beyond its end.
    beyond: i32,
}

impl Axis {
    fn of(groups: &[Group], line: Option<&(f64, String)>, width: i32) -> Self {
        let marks = groups.iter().flat_map(|group| &group.ranges).flat_map(|range| &range.marks);
        let all = marks.copied().chain(line.map(|(at, _)| *at)).filter(|at| at.is_finite());
        let most = all.fold(1.0, f64::max);
        let last = (most.log10().ceil() as i32).max(LEAST);
        let beyond = (width - RIGHT) * UNIT;
        // The times beyond its end have a place of their own.
        Self { last, length: f64::from(beyond - (LEFT + 12) * UNIT), beyond }
    }

    fn place(&self, micros: f64) -> i32 {
        if !micros.is_finite() {
            return self.beyond;
        }
        let share = micros.max(1.0).log10() / f64::from(self.last - FIRST);
        LEFT * UNIT + (share * self.length).round() as i32
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// Two peers, one of which never ran in part.
    pub(in crate::report) fn groups() -> Vec<Group> {
        let range = |name, slot, marks: &[f64], never: Option<&str>| Range {
            name,
            slot,
            marks: marks.to_vec(),
            never: never.map(str::to_owned),
        };
        let ranges = vec![
            range("evenkeel", 0, &[8.0, 40.0, 12_300.0], None),
            range("go", 2, &[700.0, f64::INFINITY, f64::INFINITY], Some("2 % never ran")),
        ];
        vec![Group { name: "compute".to_owned(), what: "tasks compute", ranges }]
    }

    #[test]
    fn ranges_have_their_figure_or_say_what_never_happened() {
        let svg = draw(&groups(), Some(&(15_000.0, "promise <here>".to_owned())), 480);
        for words in ["12.3 ms", "2 % never ran", ">compute<", "promise &lt;here&gt;: 15 ms"] {
            assert!(svg.contains(words), "{words} is missing from {svg}");
        }
        assert!(svg.contains("100 ms") && !svg.contains(">1 s<") && !svg.contains("inf"));
    }

    #[test]
    fn times_lie_at_their_logarithms_and_have_units() {
        let axis = Axis::of(&groups(), None, 480);
        assert_eq!(axis.last, 5);
        let step = axis.place(10.0) - axis.place(1.0);
        assert!((axis.place(1e4) - axis.place(1e3) - step).abs() <= 1);
        assert_eq!(axis.place(0.1), axis.place(1.0));
        assert!(axis.place(f64::INFINITY) > axis.place(1e5));
        assert_eq!([1.0, 84.2, 15_000.0, 1e6].map(time), ["1 µs", "84.2 µs", "15 ms", "1 s"]);
    }
}
