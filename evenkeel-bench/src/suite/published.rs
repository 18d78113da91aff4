//! What others have published of a case, beside what is measured here.

use super::description::Description;
use super::rows::Row;

/// A figure that was published of a case. Nothing is compared with it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Published {
    /// Whose it is: the heading of its column.
    pub(crate) system: &'static str,
    /// The figure, as it was published.
    pub(crate) figure: String,
}

/// The systems of which there is a figure in any of these rows.
pub(crate) fn systems(of: &Description, rows: &[Row<'_>]) -> Vec<&'static str> {
    let mut systems = Vec::new();
    for Published { system, .. } in rows.iter().flat_map(|row| (of.published)(row.case)) {
        if !systems.contains(&system) {
            systems.push(system);
        }
    }
    systems
}

/// The figure of a system, if there is one of this row.
pub(crate) fn figure(of: &Description, row: &Row<'_>, system: &str) -> Option<String> {
    let mut published = (of.published)(row.case).into_iter();
    published.find(|one| one.system == system).map(|one| one.figure)
}
