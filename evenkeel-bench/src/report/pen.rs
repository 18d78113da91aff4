//! Drawing by hand, where Plotters has no such chart: SVG in the units and colours of the page.

use std::fmt::Write;

use super::ink::{self, UNIT};
use suite::words;

/// Formats a time given in microseconds.
pub(super) fn time(micros: f64) -> String {
    let (value, unit) = match micros {
        us if us < 999.5 => (us, "µs"),
        us if us < 999_500.0 => (us / 1e3, "ms"),
        us => (us / 1e6, "s"),
    };
    if value.fract() == 0.0 {
        return format!("{value:.0} {unit}");
    }
    format!("{} {unit}", words::figure(value))
}

/// SVG in drawing units, in the colours of the page.
pub(super) struct Pen(String);

impl Pen {
    pub(super) fn new(width: i32, height: i32) -> Self {
        let (width, height) = (width * UNIT, height * UNIT);
        Self(format!(
            "<svg viewBox=\"0 0 {width} {height}\" xmlns=\"http://www.w3.org/2000/svg\">\n"
        ))
    }

    pub(super) fn finish(mut self) -> String {
        self.0.push_str("</svg>\n");
        self.0
    }

    fn put(&mut self, element: std::fmt::Arguments<'_>) {
        writeln!(self.0, "{element}").expect("a string takes all that is written");
    }

    pub(super) fn line(
        &mut self,
        (x1, y1): (i32, i32),
        (x2, y2): (i32, i32),
        width: i32,
        colour: &str,
    ) {
        self.put(format_args!(
            r#"<line x1="{x1}" y1="{y1}" x2="{x2}" y2="{y2}" stroke-width="{width}" stroke="var(--{colour})"/>"#
        ));
    }

    pub(super) fn dashed(&mut self, (x1, y1): (i32, i32), (x2, y2): (i32, i32)) {
        self.put(format_args!(
            r#"<line x1="{x1}" y1="{y1}" x2="{x2}" y2="{y2}" stroke-width="15" stroke-dasharray="70 45" stroke="var(--ink)"/>"#
        ));
    }

    /// Draws a line with room around it, so that it stands off the grid.
    pub(super) fn bar(&mut self, from: (i32, i32), to: (i32, i32), width: i32, colour: &str) {
        self.line(from, to, width + 20, "paper");
        self.line(from, to, width, colour);
    }

    /// Fills a rectangle, the more densely the nearer `share` is to 1.
    pub(super) fn fill(
        &mut self,
        (x, y): (i32, i32),
        (w, h): (i32, i32),
        share: f64,
        colour: &str,
    ) {
        self.put(format_args!(
            r#"<rect x="{x}" y="{y}" width="{w}" height="{h}" fill-opacity="{share:.2}" fill="var(--{colour})"/>"#
        ));
    }

    pub(super) fn marker(&mut self, (x, y): (i32, i32), slot: usize, colour: &str) {
        let corners: Vec<String> = ink::marker(slot)
            .into_iter()
            .map(|(dx, dy)| format!("{},{}", x + dx, y + dy))
            .collect();
        let corners = corners.join(" ");
        self.put(format_args!(
            r#"<polygon points="{corners}" stroke-width="20" stroke="var(--paper)"/>"#
        ));
        self.put(format_args!(r#"<polygon points="{corners}" fill="var(--{colour})"/>"#));
    }

    /// Draws the head of an arrow to the right.
    pub(super) fn arrow(&mut self, (x, y): (i32, i32), colour: &str) {
        let corners = format!("{x},{} {},{y} {x},{}", y - 55, x + 80, y + 55);
        self.put(format_args!(r#"<polygon points="{corners}" fill="var(--{colour})"/>"#));
    }

    pub(super) fn text(&mut self, (x, y): (i32, i32), size: i32, anchor: &str, text: &str) {
        let (size, text) = (size * UNIT, escaped(text));
        self.put(format_args!(
            r#"<text x="{x}" y="{y}" font-size="{size}" text-anchor="{anchor}" fill="var(--ink)">{text}</text>"#
        ));
    }

    /// Writes a name in bold, and what it is.
    pub(super) fn heading(&mut self, (x, y): (i32, i32), name: &str, what: &str) {
        let (size, name, what) = (ink::TEXT * UNIT, escaped(name), escaped(what));
        self.put(format_args!(
            r#"<text x="{x}" y="{y}" font-size="{size}" fill="var(--ink)"><tspan font-weight="bold">{name}</tspan>: {what}</text>"#
        ));
    }
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
