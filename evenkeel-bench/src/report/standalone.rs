//! A picture in a file of its own, for a page that has no styles for it.
//!
//! The picture has its colours in a style of its own, for both colour schemes, taken from the
//! styles of the report.

use std::fs;
use std::path::Path;

use anyhow::Context;

use super::{drawn, ink, writable};
use suite::entry::Measured;
use suite::picture::Picture;
use suite::rows::rows;

/// The width in pixels, and the room for the caption and around all.
const WIDTH: u32 = 860;
const CAPTION: u32 = 62;
const MARGIN: u32 = 10;

/// Checks that the file can be written.
pub(crate) fn prepare(file: &Path) -> anyhow::Result<()> {
    let why = || format!("cannot write `{}`; name a file that can be written", file.display());
    writable(file).with_context(why)
}

/// Writes the last picture that a family makes of the rows with the most workers. Returns whether
/// it makes one: of some figures there is nothing to draw.
pub(crate) fn write(file: &Path, measured: &Measured) -> anyhow::Result<bool> {
    let mut rows = rows(&measured.of, &measured.records, &measured.absent);
    let most = rows.iter().map(|row| row.case.workers).max();
    rows.retain(|row| Some(row.case.workers) == most);
    let all = rows.chunk_by(|a, b| a.experiment.name == b.experiment.name);
    let pictures: Vec<Picture> = all.flat_map(|rows| (measured.of.pictures)(rows)).collect();
    let Some(picture) = pictures.last() else { return Ok(false) };
    fs::write(file, render(picture)?)
        .with_context(|| format!("cannot write `{}`", file.display()))?;
    Ok(true)
}

/// Draws a picture with its caption and its colours.
fn render(picture: &Picture) -> anyhow::Result<String> {
    let svg = drawn::svg(picture, WIDTH - 2 * MARGIN)?;
    let (_, size) = svg.split_once("viewBox=\"0 0 ").context("a drawing has a size")?;
    let mut size = size.split(['"', ' ']).map(str::parse::<u32>);
    let (Some(Ok(width)), Some(Ok(height))) = (size.next(), size.next()) else {
        anyhow::bail!("a drawing has a size");
    };
    let margin = ink::scaled(MARGIN);
    let caption = ink::scaled(CAPTION);
    let (all, down) = (width + 2 * margin, height + caption + margin);
    let (pixels, tall) = (all / ink::UNIT as u32, down / ink::UNIT as u32);
    let title = escaped(&picture.caption);
    let inner = svg.replacen(
        "<svg ",
        &format!(r#"<svg x="{margin}" y="{caption}" width="{width}" height="{height}" "#),
        1,
    );
    let says = escaped(&says(picture));
    let text = format!(
        "<svg viewBox=\"0 0 {all} {down}\" width=\"{pixels}\" height=\"{tall}\" \
         xmlns=\"http://www.w3.org/2000/svg\" font-family=\"sans-serif\" role=\"img\" \
         aria-label=\"{title}\">\n<title>{title}</title>\n{style}\
         <rect width=\"{all}\" height=\"{down}\" fill=\"var(--paper)\"/>\n\
         <text x=\"{margin}\" y=\"250\" font-size=\"170\" font-weight=\"bold\" \
         fill=\"var(--ink)\">{title}</text>\n\
         <text x=\"{margin}\" y=\"450\" font-size=\"130\" fill=\"var(--soft)\">{says}</text>\n\
         {inner}</svg>\n",
        style = style()?,
    );
    Ok(classes(&text))
}

/// What a reader must know of the picture.
fn says(picture: &Picture) -> String {
    match picture.shape {
        suite::picture::Shape::Ranges { .. } => format!(
            "marker: median; stroke: 99 of 100; end of the bar and figure: 999 of 1,000; {}",
            picture.says
        ),
        _ => format!("{}; {}", picture.figure, picture.says),
    }
}

/// The variables of the report's styles that a picture uses.
const USED: [&str; 5] = ["paper", "ink", "soft", "axis", "grid"];

/// Returns rules for both colour schemes, of the report's own colours.
fn style() -> anyhow::Result<String> {
    let css = include_str!("style.css");
    let (light, dark) = css.split_once("prefers-color-scheme: dark").context("two schemes")?;
    let series = (0..ink::SLOTS).map(|slot| format!("series-{slot}"));
    let names: Vec<String> = USED.map(str::to_owned).into_iter().chain(series).collect();
    let rules = |css: &str| {
        let rule = |name: &String| {
            let (_, value) = css.split_once(&format!("--{name}: "))?;
            let (value, _) = value.split_once(';')?;
            let rim =
                if name == "paper" { format!("text{{stroke:{value}}}") } else { String::new() };
            Some(format!(".fill-{name}{{fill:{value}}}.stroke-{name}{{stroke:{value}}}{rim}"))
        };
        names.iter().map(rule).collect::<Option<String>>().context("a colour is not in the styles")
    };
    let (light, dark) = (rules(light)?, rules(dark)?);
    // A rim in the colour of the background keeps lines out of the letters.
    let rim = "text{paint-order:stroke;stroke-width:40px;stroke-linejoin:round}";
    Ok(format!("<style>{rim}{light}\n@media (prefers-color-scheme: dark){{{dark}}}</style>\n"))
}

/// Replaces variables by classes: programs that draw SVG outside of a page know no variables.
fn classes(svg: &str) -> String {
    let mut text = svg.to_owned();
    for kind in ["fill", "stroke"] {
        let variable = format!("{kind}=\"var(--");
        let mut parts = text.split(&variable);
        let mut done = parts.next().unwrap_or_default().to_owned();
        for part in parts {
            done.push_str(&format!("class=\"{kind}-{}", part.replacen(')', "", 1)));
        }
        text = done;
    }
    text
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::families;
    use crate::report::ranges;
    use suite::case::{Case, Fields};
    use suite::kit::fake;
    use suite::picture::Shape;
    use suite::record::Record;

    #[test]
    fn a_picture_alone_has_its_caption_and_the_colours_of_both_schemes() {
        let shape = Shape::Ranges { groups: ranges::tests::groups(), line: None };
        let picture =
            Picture { caption: "Wakes & runs".to_owned(), says: "lower", figure: "µs", shape };
        let svg = render(&picture).unwrap();
        for words in ["Wakes &amp; runs", "#d55e00", "#ee7524", "class=\"stroke-series-0\""] {
            assert!(svg.contains(words), "{words} is missing from {svg}");
        }
        assert!(!svg.contains("var("), "{svg}");
        // One class for each element, or the second would be lost.
        assert!(!svg.lines().any(|line| line.matches("class=").count() > 1), "{svg}");
    }

    #[test]
    fn the_picture_is_of_the_most_workers_and_rows_may_have_none() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("picture.svg");
        let entry = families::named("objects").unwrap();
        let mut measured = Measured::nothing(entry);
        for (workers, tasks) in [(4, 1), (4, 16), (2, 1), (2, 16)] {
            measured.records.push(Record {
                runtime: "home".into(),
                case: Case::new("travel", "-", workers).with("tasks_per_core", tasks),
                repeat: 0,
                figures: Fields::new().with("core_ns", 80.0),
                dnc: false,
                quiet: fake::quiet("near"),
            });
        }
        assert!(write(&file, &measured).unwrap());
        let svg = fs::read_to_string(&file).unwrap();
        assert!(svg.contains("4 workers") && !svg.contains("2 workers"), "{svg}");
        fs::remove_file(&file).unwrap();
        for record in &mut measured.records {
            record.case = Case::new("counters", "-", 2);
        }
        assert!(!write(&file, &measured).unwrap());
        assert!(!file.exists());
    }

    #[test]
    fn a_file_that_cannot_be_written_is_refused_before_anything_is_measured() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("latency.svg");
        prepare(&file).unwrap();
        assert!(!file.exists());
        prepare(folder.path()).unwrap_err();
        prepare(&folder.path().join("no such folder/latency.svg")).unwrap_err();
        // A folder in which no file can be made.
        #[cfg(target_os = "linux")]
        prepare(Path::new("/proc/latency.svg")).unwrap_err();
    }
}
