//! Colours, strokes and markers, and how a drawing follows the page's colour scheme.
//!
//! Plotters draws in fixed colours and knows neither CSS variables nor dashes. Drawings therefore
//! use agreed colours that stand for an ink and a stroke, and [`finish`] replaces them in the SVG
//! text, so that an inline picture takes its colours from the page's style sheet.

use plotters::prelude::*;

pub(super) use suite::peer::SLOTS;

/// Drawing units per pixel. Plotters' SVG backend places everything at whole units; if a unit were
/// a pixel, markers would look crooked.
pub(super) const UNIT: i32 = 10;

/// Width of every picture in pixels, before the page scales it to its column.
pub(super) const WIDTH: u32 = 480;

/// Size of all text in pixels; the style sheet enlarges it where the page shrinks the picture.
pub(super) const TEXT: i32 = 13;

/// Plotters divides font sizes by this factor when it writes SVG.
const SVG_FONT_FACTOR: f64 = 1.24;

/// The stroke of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stroke {
    /// For the median.
    Solid,
    /// For the maximum.
    Dashed,
    /// For the minimum.
    Dotted,
}

impl Stroke {
    const ALL: [Self; 3] = [Self::Solid, Self::Dashed, Self::Dotted];

    /// Returns the SVG attributes that make the stroke.
    pub(super) fn attributes(self) -> &'static str {
        match self {
            Self::Solid => r#" stroke-linejoin="round""#,
            Self::Dashed => r#" stroke-dasharray="70 45""#,
            Self::Dotted => r#" stroke-dasharray="1 38" stroke-linecap="round""#,
        }
    }
}

/// Returns the agreed colour of a runtime's slot in a stroke.
pub(super) fn series(slot: usize, stroke: Stroke) -> RGBColor {
    RGBColor(0xF0 + stroke as u8, 0xE1, (slot % SLOTS) as u8)
}

/// The agreed colour of text.
pub(super) const INK: RGBColor = RGBColor(0xF8, 0xE1, 0);
/// The agreed colour of axes.
pub(super) const AXIS: RGBColor = RGBColor(0xF8, 0xE1, 1);
/// The agreed colour of grid lines.
pub(super) const GRID: RGBColor = RGBColor(0xF8, 0xE1, 2);
/// The agreed colour of the page, for the rim that separates a marker from the lines below it.
pub(super) const PAPER: RGBColor = RGBColor(0xF8, 0xE1, 3);

/// Replaces the agreed colours by the page's variables, and the fixed size by the column's.
pub(super) fn finish(svg: &str, height: u32) -> String {
    let size = format!(r#"width="{}" height="{}" "#, scaled(WIDTH), scaled(height));
    let mut svg = svg.replacen(&size, "", 1);
    for (colour, variable) in [(INK, "ink"), (AXIS, "axis"), (GRID, "grid"), (PAPER, "paper")] {
        svg = paint(svg, colour, &format!("var(--{variable})"), "");
    }
    for slot in 0..SLOTS {
        for stroke in Stroke::ALL {
            let variable = format!("var(--series-{slot})");
            svg = paint(svg, series(slot, stroke), &variable, stroke.attributes());
        }
    }
    svg.replace(r#" opacity="1""#, "").replace(r#" font-family="sans-serif""#, "")
}

fn paint(svg: String, RGBColor(red, green, blue): RGBColor, paint: &str, stroke: &str) -> String {
    let agreed = format!("#{red:02X}{green:02X}{blue:02X}");
    svg.replace(&format!(r#"stroke="{agreed}""#), &format!(r#"stroke="{paint}"{stroke}"#))
        .replace(&format!(r#"fill="{agreed}""#), &format!(r#"fill="{paint}""#))
}

/// Converts pixels to drawing units.
pub(super) fn scaled(pixels: u32) -> u32 {
    pixels * UNIT as u32
}

/// Returns the style of all text in a drawing.
pub(super) fn text_style() -> TextStyle<'static> {
    let size = f64::from(TEXT * UNIT) * SVG_FONT_FACTOR;
    ("sans-serif", size).into_font().color(&INK)
}

/// Returns a runtime's marker as a polygon around its point, in drawing units.
pub(super) fn marker(slot: usize) -> Vec<(i32, i32)> {
    let regular = |corners: u32, turn: f64, radius: f64| {
        let corner = |i| {
            let angle = std::f64::consts::TAU * (f64::from(i) + turn) / f64::from(corners);
            ((radius * angle.sin()).round() as i32, (-radius * angle.cos()).round() as i32)
        };
        (0..corners).map(corner).collect::<Vec<_>>()
    };
    // The radii give all shapes about the same area. A series beyond the last colour reuses a
    // colour, with another shape.
    match (slot + slot / SLOTS) % SLOTS {
        0 => regular(24, 0.0, 50.0),
        1 => regular(4, 0.5, 62.0),
        2 => regular(3, 0.0, 66.0),
        3 => regular(4, 0.0, 62.0),
        4 => regular(3, 0.5, 66.0),
        5 => regular(5, 0.0, 58.0),
        6 => cross(0.0),
        _ => cross(std::f64::consts::FRAC_PI_4),
    }
}

/// Returns a cross with thick arms, turned by an angle.
fn cross(turn: f64) -> Vec<(i32, i32)> {
    const ARM: f64 = 58.0;
    const HALF: f64 = 20.0;
    let quarter = [(-HALF, -HALF), (-HALF, -ARM), (HALF, -ARM)];
    let point = |quadrant: usize, (x, y): (f64, f64)| {
        let (sin, cos) = (turn + std::f64::consts::FRAC_PI_2 * quadrant as f64).sin_cos();
        ((x * cos - y * sin).round() as i32, (x * sin + y * cos).round() as i32)
    };
    (0..4).flat_map(|quadrant| quarter.map(|p| point(quadrant, p))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agreed_colours_become_variables() {
        let svg = r##"<line opacity="1" stroke="#F1E103"/><circle fill="#F0E102"/>"##;
        let expected = r##"<line stroke="var(--series-3)" stroke-dasharray="70 45"/>"##.to_owned()
            + r##"<circle fill="var(--series-2)"/>"##;
        assert_eq!(finish(svg, 300), expected);
    }

    #[test]
    fn markers_differ() {
        let mut shapes: Vec<_> = (0..SLOTS).map(marker).collect();
        shapes.sort();
        shapes.dedup();
        assert_eq!(shapes.len(), SLOTS);
        assert_eq!(series(SLOTS, Stroke::Solid), series(0, Stroke::Solid));
        assert_ne!(marker(SLOTS), marker(0));
    }
}
