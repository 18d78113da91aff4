//! The pictures of one model: the sources of variation, effects and contrasts with their intervals,
//! interactions, residuals.

use maud::Markup;

use crate::analysis::residuals::quantiles;
use crate::analysis::variance::Test;
use crate::analysis::{Analysis, Contrast, Design, Estimate, Fit, Model, tables};
use crate::report::dots::{self, Dot, Scale};
use crate::report::pictures::figure;
use crate::report::profile::{self, Series};
use crate::report::scatter::{self, Scatter};
use suite::summary::Summary;

/// The colour and marker of series that are not columns.
const PLAIN: usize = 6;

/// Draws all pictures of a model.
pub(super) fn of(design: &Design, analysis: &Analysis) -> anyhow::Result<Vec<Markup>> {
    let mut pictures = vec![
        variation(design, analysis)?,
        effects(design, analysis, false)?,
        effects(design, analysis, true)?,
        interactions(design, analysis)?,
    ];
    let unit = unit_of(design, analysis.model);
    pictures.extend(residuals(&analysis.fit, analysis.model, &unit, &design.slots)?);
    pictures.push(contrasts(design, analysis)?);
    for contrast in &analysis.contrasts {
        pictures.push(contrast_by_row(design, analysis, contrast)?);
    }
    Ok(pictures)
}

fn variation(design: &Design, analysis: &Analysis) -> anyhow::Result<Markup> {
    let variance = &analysis.variance;
    let share = |test: &Test| test.component.share;
    let shares = [
        (format!("A: {}", design.rows.name()), share(&variance.rows)),
        (format!("B: {}", design.columns.name()), share(&variance.columns)),
        ("AB: interactions".to_owned(), share(&variance.interactions)),
        ("errors".to_owned(), variance.errors.share),
    ];
    let dot = |(name, share): (String, f64)| {
        let value = Summary::of(vec![share * 100.0])?;
        Some(Dot { name: short(name), slot: PLAIN, value, text: format!("{:.2}", share * 100.0) })
    };
    let dots: Vec<Dot> = shares.into_iter().filter_map(dot).collect();
    let scale = Scale::from_zero(&Summary::of(vec![100.0]).into_iter().collect::<Vec<_>>());
    let svg = dots::draw("% of the variation around the mean", &scale, &dots)?;
    Ok(figure("Where the variation comes from", "", &svg))
}

/// Draws the effects of the rows, or of the columns.
fn effects(design: &Design, analysis: &Analysis, columns: bool) -> anyhow::Result<Markup> {
    let (factor, estimates) = match columns {
        true => (&design.columns, &analysis.effects.columns),
        false => (&design.rows, &analysis.effects.rows),
    };
    let dot = |(level, estimate): (usize, &Estimate)| Dot {
        slot: if columns { design.slots[level] } else { PLAIN },
        ..whisker(factor.levels[level].clone(), estimate, analysis.model)
    };
    let dots: Vec<Dot> = estimates.iter().enumerate().map(dot).collect();
    let caption = format!("Effects of {}", factor.name());
    intervals(&caption, design, analysis, &dots, estimates)
}

/// Draws every pair over all rows.
fn contrasts(design: &Design, analysis: &Analysis) -> anyhow::Result<Markup> {
    let dot = |contrast: &Contrast| {
        let name = tables::pair(design, analysis.model, contrast);
        let slot = design.slots[contrast.pair.1];
        Dot { slot, ..whisker(name, &contrast.overall, analysis.model) }
    };
    let dots: Vec<Dot> = analysis.contrasts.iter().map(dot).collect();
    let estimates: Vec<Estimate> = analysis.contrasts.iter().map(|c| c.overall).collect();
    intervals("Contrasts over all rows", design, analysis, &dots, &estimates)
}

/// Draws one pair in each row.
fn contrast_by_row(
    design: &Design,
    analysis: &Analysis,
    contrast: &Contrast,
) -> anyhow::Result<Markup> {
    let slot = design.slots[contrast.pair.1];
    let dot = |(name, estimate): (&String, &Estimate)| Dot {
        slot,
        ..whisker(name.clone(), estimate, analysis.model)
    };
    let dots: Vec<Dot> = design.rows.levels.iter().zip(&contrast.rows).map(dot).collect();
    let caption = tables::pair(design, analysis.model, contrast);
    intervals(&caption, design, analysis, &dots, &contrast.rows)
}

fn intervals(
    caption: &str,
    design: &Design,
    analysis: &Analysis,
    dots: &[Dot],
    estimates: &[Estimate],
) -> anyhow::Result<Markup> {
    let summaries: Vec<Summary> =
        estimates.iter().map(|estimate| summary(estimate, analysis.model)).collect();
    let (scale, unit) = scale(design, analysis.model, &summaries);
    let confidence = format!("bars are {:.4} % confidence intervals", analysis.confidence * 100.0);
    let confidence = confidence.replace(".0000", "");
    Ok(figure(caption, &confidence, &dots::draw(&unit, &scale, dots)?))
}

fn scale(design: &Design, model: Model, summaries: &[Summary]) -> (Scale, String) {
    match model {
        Model::Additive => {
            let unit = match design.response.unit.as_str() {
                "" => design.response.field.clone(),
                unit => unit.to_owned(),
            };
            (Scale::around_zero(summaries), unit)
        }
        Model::Multiplicative => (Scale::around_one(summaries), "factor".to_owned()),
    }
}

fn summary(estimate: &Estimate, model: Model) -> Summary {
    let Estimate { value, low, high } = match model {
        Model::Additive => *estimate,
        Model::Multiplicative => estimate.as_factor(),
    };
    Summary { median: value, min: low, max: high, runs: 1, incomplete: 0 }
}

fn whisker(name: String, estimate: &Estimate, model: Model) -> Dot {
    let text = tables::value(estimate, model);
    Dot { name: short(name), slot: PLAIN, value: summary(estimate, model), text }
}

/// Draws each column against the mean of its row, from row to row.
fn interactions(design: &Design, analysis: &Analysis) -> anyhow::Result<Markup> {
    let fit = &analysis.fit;
    let value = |row: usize, column: usize| {
        let value = fit.columns[column] + fit.interactions[row][column];
        if analysis.model == Model::Additive { value } else { 10f64.powf(value) }
    };
    let rows = 0..design.rows.levels.len();
    let series = |column: usize| Series {
        slot: design.slots[column],
        values: rows.clone().map(|row| value(row, column)).collect(),
    };
    // The first column lies on top.
    let all: Vec<Series> = (0..design.columns.levels.len()).rev().map(series).collect();
    let values = all.iter().flat_map(|series| series.values.iter());
    let summaries: Vec<Summary> = values.filter_map(|v| Summary::of(vec![*v])).collect();
    let (scale, unit) = scale(design, analysis.model, &summaries);
    let names: Vec<String> = design.rows.levels.iter().cloned().map(short).collect();
    let svg = profile::draw(&unit, &scale, &names, &all)?;
    Ok(figure("Interactions", "against the mean of each row; straight down: none", &svg))
}

/// Returns the unit of predictions and residuals.
fn unit_of(design: &Design, model: Model) -> String {
    let unit = &design.response.unit;
    match model {
        Model::Additive => unit.clone(),
        Model::Multiplicative if unit.is_empty() => "log10".to_owned(),
        Model::Multiplicative => format!("log10 of {unit}"),
    }
}

fn titled(title: &str, unit: &str) -> String {
    if unit.is_empty() { title.to_owned() } else { format!("{title}, {unit}") }
}

/// Draws the residuals of a fit against its predictions, and their quantiles. `unit` is that of the
/// response, and `slots` are the colours and markers of the columns.
pub(in crate::report) fn residuals(
    fit: &Fit,
    model: Model,
    unit: &str,
    slots: &[usize],
) -> anyhow::Result<[Markup; 2]> {
    Ok([against_prediction(fit, model, unit, slots)?, normality(fit, model, unit, slots)?])
}

fn against_prediction(
    fit: &Fit,
    model: Model,
    unit: &str,
    slots: &[usize],
) -> anyhow::Result<Markup> {
    let points = fit.points().map(|(x, y, column)| (x, y, slots[column]));
    let svg = scatter::draw(&Scatter {
        title_of_x: &titled("prediction", unit),
        title_of_y: &residual(model, unit),
        points: points.collect(),
        slope: 0.0,
    })?;
    Ok(figure("Residuals against predictions", "no trend, no funnel: as assumed", &svg))
}

fn normality(fit: &Fit, model: Model, unit: &str, slots: &[usize]) -> anyhow::Result<Markup> {
    let points = quantiles(fit);
    // Least squares through zero: scores and residuals both have the mean zero.
    let products: f64 = points.iter().map(|(x, y, _)| x * y).sum();
    let squares: f64 = points.iter().map(|(x, ..)| x * x).sum();
    let svg = scatter::draw(&Scatter {
        title_of_x: "quantile of the normal distribution",
        title_of_y: &residual(model, unit),
        points: points.iter().map(|(x, y, column)| (*x, *y, slots[*column])).collect(),
        slope: products / squares,
    })?;
    Ok(figure("Normal quantile-quantile plot", "on the line: normal errors", &svg))
}

fn residual(model: Model, unit: &str) -> String {
    match model {
        Model::Additive => titled("residual", unit),
        Model::Multiplicative => "residual, log10".to_owned(),
    }
}

/// Shortens a name to the room beside a picture. Both ends are kept: neighbours often differ in the
/// last setting only.
fn short(name: String) -> String {
    const LETTERS: usize = 28;
    let letters: Vec<char> = name.chars().collect();
    if letters.len() <= LETTERS {
        return name;
    }
    let (first, last) = (LETTERS / 2 - 1, LETTERS / 2);
    let first = letters[..first].iter();
    first.chain(&['…']).chain(&letters[letters.len() - last..]).collect()
}
