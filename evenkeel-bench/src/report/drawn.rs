//! Draws the pictures that families make of their rows.

use maud::Markup;

use super::dots::{self, Dot, Scale};
use super::lines::{self, Abscissa};
use super::{heat, ink, pictures, ranges};
use suite::picture::{Line, Picture, Shape};
use suite::words;

/// The length of a doubling on a logarithmic axis, on which positions are whole numbers.
const DOUBLING: f64 = 1_000.0;

/// Draws a picture with its caption.
pub(super) fn draw(picture: &Picture) -> anyhow::Result<Markup> {
    let caption = match picture.shape {
        Shape::Dots(_) | Shape::Ranges { .. } | Shape::Heat { .. } => picture.caption.clone(),
        Shape::Lines { .. } => format!("{}: {}", picture.caption, picture.figure),
    };
    Ok(pictures::figure(&caption, picture.says, &svg(picture, ink::WIDTH)?))
}

/// Draws a picture alone, of this width where its shape has a choice.
pub(super) fn svg(picture: &Picture, width: u32) -> anyhow::Result<String> {
    Ok(match &picture.shape {
        Shape::Dots(figures) => {
            let all: Vec<_> = figures.iter().map(|(.., value)| *value).collect();
            let dot = |(name, slot, value): &(String, usize, _)| Dot {
                name: name.clone(),
                slot: *slot,
                value: *value,
                text: dots::text(value),
            };
            let drawn: Vec<Dot> = figures.iter().map(dot).collect();
            dots::draw(picture.figure, &Scale::from_zero(&all), &drawn)?
        }
        Shape::Lines { over, unit, lines } => over_logarithms(over, *unit, lines)?,
        Shape::Ranges { groups, line } => ranges::draw(groups, line.as_ref(), width),
        Shape::Heat { columns, strips, line } => heat::draw(*columns, strips, line.as_ref(), width),
    })
}

/// Returns the legend of the lines: each colour and name once, in their order.
pub(super) fn legend(pictures: &[Picture]) -> Vec<(usize, &'static str)> {
    let mut names = Vec::new();
    for picture in pictures {
        if let Shape::Lines { lines, .. } = &picture.shape {
            for line in lines {
                if !names.contains(&(line.slot, line.name)) {
                    names.push((line.slot, line.name));
                }
            }
        }
    }
    names
}

/// Draws lines over the logarithm of a number.
fn over_logarithms(over: &str, unit: f64, lines: &[Line]) -> anyhow::Result<String> {
    let drawn: Vec<lines::Line> = lines
        .iter()
        .map(|line| {
            let mut points: Vec<_> =
                line.points.iter().map(|point| (place(point.at), point.value)).collect();
            points.sort_by_key(|(place, _)| *place);
            lines::Line { slot: line.slot, points }
        })
        .collect();
    let numbers: Vec<f64> =
        lines.iter().flat_map(|line| &line.points).map(|point| point.at).collect();
    let label = |at: f64| {
        let number = numbers.iter().find(|number| place(**number) as f64 == at.round());
        number.map_or(String::new(), |number| named(number / unit))
    };
    let abscissa = Abscissa { title: over, ticks: <[usize]>::to_vec, label: &label };
    lines::draw(&abscissa, &drawn, lines::highest(&drawn))
}

/// Returns the position of a number.
fn place(number: f64) -> usize {
    (number.max(1.0).log2() * DOUBLING).round() as usize
}

/// Formats a number at the axis, which is often whole.
fn named(number: f64) -> String {
    if number.fract() == 0.0 { words::thousands(number as i64) } else { words::figure(number) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use suite::picture::Point;
    use suite::summary::Summary;

    fn lines() -> Picture {
        let value = Summary::of(vec![2.0, 3.0]).unwrap();
        let points = [64.0, 1.0, 16.0].map(|at| Point { at, value }).to_vec();
        Picture {
            caption: "Journeys <there>".to_owned(),
            says: "lower is better",
            figure: "core-ns",
            shape: Shape::Lines {
                over: "tasks",
                unit: 1.0,
                lines: vec![Line { name: "home", slot: 2, points }],
            },
        }
    }

    #[test]
    fn numbers_lie_at_their_logarithms_and_are_named_as_they_are() {
        assert_eq!([1.0, 16.0, 0.0].map(place), [0, 4_000, 0]);
        assert_eq!([0.25, 16.0, 1_024.0].map(named), ["0.25", "16", "1,024"]);
        let page = draw(&lines()).unwrap().into_string();
        for words in ["Journeys &lt;there&gt;", "lower is better", "\n64\n", "\n16\n", "tasks"] {
            assert!(page.contains(words), "{words} is missing from {page}");
        }
    }

    #[test]
    fn lines_have_a_legend_and_dots_have_names() {
        assert_eq!(legend(&[lines(), lines()]), [(2, "home")]);
        let value = Summary::of(vec![40.0]).unwrap();
        let shape = Shape::Dots(vec![("worker 0".to_owned(), 0, value)]);
        let dots = Picture { shape, ..lines() };
        assert!(legend(std::slice::from_ref(&dots)).is_empty());
        assert!(draw(&dots).unwrap().into_string().contains("worker 0"));
    }
}
