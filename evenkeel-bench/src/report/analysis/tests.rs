//! The page of an analysis, on an invented design.

use std::fs;

use super::{page, write};
use crate::analysis::{Analysed, Analysis, Design, Model};

fn analysed() -> Analysed {
    let design = Design::example();
    let of = |model| Analysis::of(&design, model, 0.9, &[(0, 1), (0, 2)]).unwrap();
    let analyses = vec![of(Model::Additive), of(Model::Multiplicative)];
    (design, analyses)
}

#[test]
fn the_page_holds_both_models_with_every_table_and_picture() {
    let page = page::render(&[analysed()]).unwrap();
    for words in [
        "Additive model",
        "Multiplicative model",
        "Means (ms)",
        "Where the variation comes from",
        "Effects of bench",
        "Effects of runtime",
        "Interactions",
        "Residuals against predictions",
        "Normal quantile-quantile plot",
        "Contrasts over all rows",
        "Analysis of variance of the logarithms",
        "Contrasts as ratios",
        "Assumptions",
    ] {
        assert!(page.contains(words), "{words} is missing");
    }
    // Per model: six pictures, one of all contrasts and one of each. The legends' swatches come on
    // top.
    assert_eq!(page.matches("<figure>").count(), 2 * (6 + 1 + 2));
    assert!(!page.contains("NaN") && !page.contains("inf"));
}

#[test]
fn several_responses_are_parts_of_one_page() {
    let (mut design, analyses) = analysed();
    design.response.field = "idle_seconds".to_owned();
    let page = page::render(&[analysed(), (design, analyses)]).unwrap();
    assert_eq!(page.matches("<figure>").count(), 2 * 2 * (6 + 1 + 2));
    assert!(page.contains("href=\"#idle_seconds\"") && page.contains("id=\"idle_seconds\""));
}

#[test]
fn pictures_follow_the_page_and_names_are_escaped() {
    let (mut design, analyses) = analysed();
    design.columns.levels[1] = "<script>".to_owned();
    design.rows.levels[0] = "a & b".to_owned();
    let page = page::render(&[(design, analyses)]).unwrap();
    assert!(page.contains("&lt;script&gt;") && page.contains("a &amp; b"));
    assert!(!page.contains("<script") && !page.contains("a & b"));
    let pictures = page.split("<svg").skip(1).filter_map(|rest| rest.split("</svg>").next());
    for picture in pictures {
        assert!(!picture.contains(r##"="#"##), "a colour of its own in {picture}");
    }
}

#[test]
fn the_page_lies_beside_that_of_the_main_job() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("index.html"), "main job").unwrap();
    let page = write(folder.path(), &[analysed()]).unwrap();
    assert_eq!(page, folder.path().join("analysis.html"));
    assert!(fs::read_to_string(page).unwrap().starts_with("<!DOCTYPE html>"));
    assert_eq!(fs::read_to_string(folder.path().join("index.html")).unwrap(), "main job");
}
