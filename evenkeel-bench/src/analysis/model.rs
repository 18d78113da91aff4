//! The model: each observation is a mean, the effects of its row and of its column, their
//! interaction, and an error.

use super::design::{Cells, Design};
use super::error::Error;

/// How effects combine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Model {
    /// Effects add.
    Additive,
    /// Effects multiply: the additive model of decimal logarithms.
    Multiplicative,
}

impl Model {
    /// Returns the name as a heading.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Additive => "Additive model",
            Self::Multiplicative => "Multiplicative model",
        }
    }

    /// Returns the cells on the model's scale.
    pub(super) fn transformed(self, design: &Design) -> Result<Cells, Error> {
        if self == Self::Additive {
            return Ok(design.cells.clone());
        }
        let mut cells = design.cells.clone();
        for (row, line) in cells.iter_mut().enumerate() {
            for (column, cell) in line.iter_mut().enumerate() {
                for value in cell {
                    if *value <= 0.0 {
                        let (cell, value) = (design.name(row, column), *value);
                        return Err(Error::NoLogarithm { cell, value });
                    }
                    *value = value.log10();
                }
            }
        }
        Ok(cells)
    }
}

/// A fitted model, which splits each observation into effects and an error.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Fit {
    /// The mean of all observations.
    pub(crate) mean: f64,
    /// The effect of each row; the sum is zero, as for all effects.
    pub(crate) rows: Vec<f64>,
    /// The effect of each column.
    pub(crate) columns: Vec<f64>,
    /// The effect of each cell beyond its row and column; the sum is zero along rows and columns.
    pub(crate) interactions: Vec<Vec<f64>>,
    /// Mean of each cell: the model's prediction.
    pub(crate) predicted: Vec<Vec<f64>>,
    /// Errors by row and column; zero in sum within each cell.
    pub(crate) residuals: Cells,
    /// The observations themselves.
    pub(crate) observed: Cells,
    /// Observations per cell.
    pub(crate) replications: usize,
}

impl Fit {
    /// Fits the model to cells with equal numbers of replications.
    pub(super) fn of(cells: Cells) -> Self {
        let predicted: Vec<Vec<f64>> =
            cells.iter().map(|line| line.iter().map(|cell| mean(cell)).collect()).collect();
        let of_rows: Vec<f64> = predicted.iter().map(|line| mean(line)).collect();
        let grand = mean(&of_rows);
        let column = |j: usize| mean(&predicted.iter().map(|line| line[j]).collect::<Vec<_>>());
        let columns: Vec<f64> = (0..predicted[0].len()).map(|j| column(j) - grand).collect();
        let rows: Vec<f64> = of_rows.iter().map(|mean| mean - grand).collect();
        let interaction = |i: usize, j: usize| predicted[i][j] - grand - rows[i] - columns[j];
        let interactions =
            (0..rows.len()).map(|i| (0..columns.len()).map(|j| interaction(i, j)).collect());
        let residual = |(line, means): (&Vec<Vec<f64>>, &Vec<f64>)| {
            let of = |(cell, mean): (&Vec<f64>, &f64)| cell.iter().map(|y| y - mean).collect();
            line.iter().zip(means).map(of).collect()
        };
        Self {
            mean: grand,
            interactions: interactions.collect(),
            residuals: cells.iter().zip(&predicted).map(residual).collect(),
            replications: cells[0][0].len(),
            rows,
            columns,
            predicted,
            observed: cells,
        }
    }

    /// Iterates over each observation's prediction, residual and column.
    pub(crate) fn points(&self) -> impl Iterator<Item = (f64, f64, usize)> + '_ {
        self.residuals.iter().zip(&self.predicted).flat_map(|(line, means)| {
            line.iter().zip(means).enumerate().flat_map(|(column, (cell, mean))| {
                cell.iter().map(move |residual| (*mean, *residual, column))
            })
        })
    }
}

/// Returns the mean, corrected once for the rounding of its sum, so that residuals do sum to zero.
fn mean(values: &[f64]) -> f64 {
    let number = values.len() as f64;
    let rough = values.iter().sum::<f64>() / number;
    rough + values.iter().map(|value| value - rough).sum::<f64>() / number
}
