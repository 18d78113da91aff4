//! Quantiles and tails of Student's t, Fisher's F and the normal distribution, from `statrs`.

use statrs::distribution::{ContinuousCDF, FisherSnedecor, Normal, StudentsT};
use statrs::function::beta;

/// Returns the t value that a variate with `freedom` degrees of freedom stays within, in either
/// direction, with this confidence.
pub(super) fn t_within(confidence: f64, freedom: usize) -> f64 {
    StudentsT::new(0.0, 1.0, freedom as f64)
        .map_or(f64::NAN, |t| t.inverse_cdf(f64::midpoint(1.0, confidence)))
}

/// Returns the F value that a variate stays below with this confidence, as printed in tables.
pub(super) fn f_below(confidence: f64, numerator: usize, denominator: usize) -> f64 {
    FisherSnedecor::new(numerator as f64, denominator as f64)
        .map_or(f64::NAN, |f| f.inverse_cdf(confidence))
}

/// Returns the probability that an F variate exceeds `f`.
pub(super) fn f_above(f: f64, numerator: usize, denominator: usize) -> f64 {
    let (numerator, denominator) = (numerator as f64, denominator as f64);
    // By the incomplete beta function of the remainder: one minus the distribution function would
    // lose the digits of small probabilities.
    let rest = denominator / (denominator + numerator * f);
    beta::beta_reg(denominator / 2.0, numerator / 2.0, rest)
}

/// Returns the normal score below which this share of the variates lies.
pub(super) fn normal_score(share: f64) -> f64 {
    Normal::standard().inverse_cdf(share)
}

/// Returns the probability that a normal variate exceeds `score`.
pub(super) fn normal_above(score: f64) -> f64 {
    Normal::standard().sf(score)
}
