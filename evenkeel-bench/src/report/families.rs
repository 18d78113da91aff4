//! The families of experiments that have a part of the page of their own.

use maud::Markup;

use super::{Session, actors, lines};
/// A family: what the page calls it, and what becomes of its runs.
pub(super) struct Family {
    /// What it is called in a sentence.
    pub(super) name: &'static str,
    /// The file of its runs as JSON lines, beside the page.
    pub(super) file: &'static str,
    /// Those lines.
    pub(super) lines: fn(&Session) -> serde_json::Result<String>,
    /// Its part of the page, with its pictures; nothing if none of it was measured.
    pub(super) part: fn(&Session) -> anyhow::Result<Markup>,
}

/// All of them, in the order of the page.
pub(super) const FAMILIES: [Family; 1] = [Family {
    name: "actors",
    file: "actors.jsonl",
    lines: |session| lines(&session.actors),
    part: |session| actors::render(&session.actors),
}];
