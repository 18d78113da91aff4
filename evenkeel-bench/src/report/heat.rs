//! Heat maps: how often each time occurred when, a strip for each peer.
//!
//! A strip's columns are parts of a run, its rows powers of two. The colour of a cell is the denser
//! the more times it has, by their logarithm, since a single late one is what a reader looks for.
//! What never happened has a row of its own at the top.

use super::ink::{self, UNIT};
use super::pen::{Pen, time};
use suite::picture::{Cell, Strip};

/// The height of a row, and the rooms above a strip and on its left, in pixels.
const ROW: i32 = 5;
const HEAD: i32 = 24;
const LEFT: i32 = 64;
/// The room on the right.
const RIGHT: i32 = 6;
/// The lowest power of two of nanoseconds that has a row of its own: half a microsecond.
const LOWEST: u32 = 9;
/// The highest has at least 17 ms.
const LEAST: u32 = 24;
/// The least density, at which a single time can be seen.
const FAINT: f64 = 0.25;

/// Draws the strips as SVG of this width in pixels.
pub(super) fn draw(
    columns: u32,
    strips: &[Strip],
    line: Option<&(f64, String)>,
    width: u32,
) -> String {
    let cells = || strips.iter().flat_map(|strip| &strip.cells);
    let highest = cells().filter_map(|cell| cell.power).fold(LEAST, u32::max) + 1;
    let most = cells().map(|cell| cell.count).max().unwrap_or(1).max(2) as f64;
    let never = cells().any(|cell| cell.power.is_none());
    // A row of air parts what never happened from the rest.
    let rows = (highest - LOWEST) as i32 + 1 + if never { 2 } else { 0 };
    let (width, strip) = (width as i32, HEAD + rows * ROW);
    let mut pen = Pen::new(width, strip * strips.len() as i32 + 8);
    let across = (width - LEFT - RIGHT) * UNIT / columns.max(1) as i32;
    let end = LEFT * UNIT + across * columns as i32;
    for (place, Strip { name, slot, cells }) in strips.iter().enumerate() {
        let top = (strip * place as i32 + HEAD) * UNIT;
        let base = top + rows * ROW * UNIT;
        // The lower edge of a power of two.
        let edge = |power: f64| base - ((power - f64::from(LOWEST)) * f64::from(ROW * UNIT)) as i32;
        pen.text((LEFT * UNIT, top - 8 * UNIT), ink::TEXT, "start", name);
        for exponent in (0..=9).step_by(3) {
            let micros = 10f64.powi(exponent);
            let y = edge((micros * 1e3).log2());
            if y >= top {
                pen.line((LEFT * UNIT, y), (end, y), UNIT, "grid");
                pen.text(((LEFT - 6) * UNIT, y + 4 * UNIT), 12, "end", &time(micros));
            }
        }
        if never {
            let y = top + (ROW + 4) * UNIT;
            pen.text(((LEFT - 6) * UNIT, y), 12, "end", "never");
        }
        let colour = format!("series-{}", slot % ink::SLOTS);
        for Cell { column, power, count } in cells {
            let x = LEFT * UNIT + across * *column as i32;
            let y = power.map_or(top, |power| edge(f64::from(power.max(LOWEST)) + 1.0));
            let share = FAINT + (1.0 - FAINT) * (*count as f64).ln() / most.ln();
            pen.fill((x, y), (across, ROW * UNIT), share, &colour);
        }
        pen.line((LEFT * UNIT, base), (end, base), UNIT, "axis");
        if let Some((micros, name)) = line {
            let y = edge((micros * 1e3).log2());
            pen.dashed((LEFT * UNIT, y), (end, y));
            let words = format!("{name}: {}", time(*micros));
            if place == 0 {
                pen.text((end, top - 8 * UNIT), 12, "end", &words);
            }
        }
    }
    pen.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_lie_at_their_time_and_what_never_happened_on_top() {
        let cell = |column, power, count| Cell { column, power, count };
        let cells = vec![cell(0, Some(10), 90), cell(1, Some(20), 1), cell(1, None, 5)];
        let strips = [Strip { name: "go", slot: 2, cells }];
        let svg = draw(2, &strips, Some(&(15_000.0, "promise".to_owned())), 480);
        assert_eq!(svg.matches("<rect").count(), 3);
        for words in ["never", ">1 ms<", "promise: 15 ms", "fill-opacity=\"1.00\""] {
            assert!(svg.contains(words), "{words} is missing from {svg}");
        }
        let height = |line: &&str| -> i32 {
            let (_, y) = line.split_once(" y=\"").unwrap();
            y.split('"').next().unwrap().parse().unwrap()
        };
        let rects: Vec<i32> =
            svg.lines().filter(|line| line.starts_with("<rect")).map(|l| height(&l)).collect();
        assert!(rects[2] < rects[1] && rects[1] < rects[0], "{rects:?}");
    }
}
