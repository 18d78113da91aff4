//! The page of an analysis: every table that the terminal shows, and the pictures for judging the
//! models.

mod page;
mod pictures;
#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};

use crate::analysis::Analysed;
pub(super) use page::table;
pub(super) use pictures::residuals;

/// Writes `analysis.html` into `dir`, beside its other files, and returns its path.
pub(crate) fn write(dir: &Path, analysed: &[Analysed]) -> anyhow::Result<PathBuf> {
    super::write(dir, "analysis", || page::render(analysed))
}
