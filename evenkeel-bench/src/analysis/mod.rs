//! Analyses runs with chance taken into account: the two-factor full factorial design with
//! replications.
//!
//! The statistics are those of R. Jain, *The Art of Computer Systems Performance Analysis* (1991),
//! chapters 21 and 22, with which the Cilk Locality runtime was evaluated. Rows (factor A) are the
//! settings of runs: benchmark, size, workers and any other field that tells runs apart; columns
//! (factor B) are the runtimes. Each cell holds the same number of replications, and
//!
//! > response = mean + row's effect + column's effect + their interaction + error.
//!
//! The multiplicative model is the same for the logarithm of the response: its effects are factors.
//!
//! Steps: [`input`] reads lines as fields, so that it also reads records of future experiments;
//! [`selection`] takes the wanted ones; [`factors`] finds the rows, and [`response`] the figure, by
//! the families' descriptions ([`known`]) of their own records; [`design`] makes cells of them or
//! reports what is missing; [`model`] splits each observation into effects and error; [`variance`],
//! [`effects`], [`contrast`] and [`residuals`] judge them; [`tables`] puts the results into words,
//! which [`text`] prints and [`crate::report`] draws.
//!
//! *Invariant:* nothing is pooled or left out in silence. A setting that tells runs apart becomes
//! part of the rows, unless the user names it on the command line, and then a remark repeats that.

pub(crate) mod compare;
mod contrast;
mod design;
mod distribution;
mod effects;
mod error;
mod factors;
pub(crate) mod fields;
pub(crate) mod input;
mod known;
pub(crate) mod model;
pub(crate) mod numbers;
mod options;
pub(crate) mod residuals;
pub(crate) mod response;
mod selection;
pub(crate) mod tables;
#[cfg(test)]
mod tests;
pub(crate) mod text;
pub(crate) mod variance;

pub(crate) use contrast::Contrast;
pub(crate) use design::{Cells, Design};
pub(crate) use effects::{Effects, Estimate};
pub(crate) use error::Error;
pub(crate) use model::{Fit, Model};
use options::Choice;
pub(crate) use options::Options;
pub(crate) use residuals::Checks;
pub(crate) use variance::Variance;

use crate::report;
use suite::output::last;
use suite::table;

/// One model of a design, with everything that follows from it.
pub(crate) struct Analysis {
    pub(crate) model: Model,
    /// The confidence of intervals and of tabled F values, between 0 and 1.
    pub(crate) confidence: f64,
    pub(crate) fit: Fit,
    pub(crate) variance: Variance,
    pub(crate) effects: Effects,
    pub(crate) contrasts: Vec<Contrast>,
    pub(crate) checks: Checks,
}

impl Analysis {
    /// Analyses a design under a model. `pairs` are the columns to compare, by index.
    pub(crate) fn of(
        design: &Design,
        model: Model,
        confidence: f64,
        pairs: &[(usize, usize)],
    ) -> Result<Self, Error> {
        let cells = model.transformed(design)?;
        let fit = Fit::of(cells);
        let variance = Variance::of(&fit, confidence)?;
        let effects = Effects::of(&fit, variance.errors.mean_square, confidence);
        let contrast = |pair: &(usize, usize)| {
            Contrast::of(&fit, variance.errors.mean_square, confidence, *pair)
        };
        let contrasts = pairs.iter().map(contrast).collect();
        let checks = Checks::of(&fit);
        Ok(Self { model, confidence, fit, variance, effects, contrasts, checks })
    }
}

/// Reads and analyses the files, prints the result, and draws a page if asked to.
pub(crate) fn run(options: &Options) -> anyhow::Result<()> {
    options.each_once()?;
    if let Some(folder) = &options.report {
        report::prepare(folder)?;
    }
    let lines = input::read(&options.files)?;
    let analysed = options
        .responses()
        .into_iter()
        .map(|response| analyse(lines.clone(), options, response))
        .collect::<Result<Vec<Analysed>, Error>>()?;
    let page = options.report.as_ref();
    // The page is kept even if the text has no reader.
    let page = page.map(|folder| report::analysis::write(folder, &analysed));
    let render = |(design, of): &Analysed| text::render(design, of, table::width());
    let texts: Vec<String> = analysed.iter().map(render).collect();
    let line = page.iter().map(report::lines).collect::<String>();
    last(&(texts.join("\n") + &line), page.transpose().map(drop))
}

/// The analyses of one response.
pub(crate) type Analysed = (Design, Vec<Analysis>);

/// Analyses a response under the requested models.
fn analyse(
    lines: Vec<input::Line>,
    options: &Options,
    response: Option<&str>,
) -> Result<Analysed, Error> {
    let selection = selection::select(lines, options)?;
    let mut design = factors::design(selection, options, response)?;
    let pairs = contrast::pairs(&design.columns, &options.contrast)?;
    let confidence = options.confidence / 100.0;
    let has_logarithms = Model::Multiplicative.transformed(&design).is_ok();
    let models = options.model.models(has_logarithms);
    if options.model == Choice::Both && !has_logarithms {
        design.remarks.push(NO_LOGARITHMS.to_owned());
    }
    let analyse = |model: &Model| Analysis::of(&design, *model, confidence, &pairs);
    let analyses = models.iter().map(analyse).collect::<Result<_, _>>()?;
    Ok((design, analyses))
}

/// The remark on a missing multiplicative model.
const NO_LOGARITHMS: &str =
    "Some responses are not above zero and have no logarithm: the additive model alone is fitted.";
