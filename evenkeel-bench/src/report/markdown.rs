//! The session as a Markdown page with every figure and no picture, to be kept beside the source.

use std::fs;
use std::path::Path;

use anyhow::Context;

use super::page::regimes;
use super::{Session, writable};
use crate::builds::build;
use suite::entry::Measured;
use suite::outcome::Outcome;
use suite::regime::MEANING;
use suite::table::markdown::{family, paragraph, point, table};
use suite::words;

/// Fails if no file can be written there. A call before a session spares its user a finished
/// measurement without a page.
pub(crate) fn prepare(file: &Path) -> anyhow::Result<()> {
    writable(file).with_context(|| why(file))
}

/// Writes the page of a session.
pub(crate) fn write(file: &Path, session: &Session) -> anyhow::Result<()> {
    fs::write(file, render(session)).with_context(|| why(file))
}

fn why(file: &Path) -> String {
    format!(
        "cannot write the Markdown page `{}`; make it writable or name another one with \
         --markdown FILE",
        file.display(),
    )
}

fn render(session: &Session) -> String {
    let outcome = Outcome::of(&session.measured);
    let mut text = "# Benchmarks\n\n".to_owned();
    text += &paragraph(
        "The suite has written this page: it holds every figure of one session, the losses too. \
         `cargo run --release -- --markdown docs/benchmarks.md` measures them anew and replaces \
         the page. `docs/experiments.md` says what each experiment is, and why others are ahead \
         where they are, as far as that was looked into.",
    );
    let facts = [
        ("begun", session.started.clone()),
        ("machine", session.machine.clone()),
        ("cores", regimes(session)),
        ("commit", session.commit.clone()),
        ("build", build::VERSION.to_owned()),
    ];
    let facts: Vec<_> = facts.map(|(name, fact)| vec![name.to_owned(), fact]).into();
    text += &table(&["", ""].map(str::to_owned), &facts, 2);
    text += &format!("\n{}", paragraph(&format!("{}.", words::capital(MEANING))));
    for note in &session.notes {
        text += &format!("\n{}", paragraph(note));
    }
    text += "\n## Summary\n";
    let counts = outcome.counts();
    text += &table(&counts.heading, &counts.lines, counts.figures.start);
    if !outcome.losses.is_empty() {
        text += "\n## Where others are ahead\n\n";
        for loss in &outcome.losses {
            text += &point(&format!("**{}**: {}", loss.what, loss.words.to_lowercase()));
        }
    }
    for Measured { of, records, absent } in &session.measured {
        let family = family(of, records, absent);
        if !family.is_empty() {
            text += &format!("\n{family}");
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::super::example::session;
    use super::*;

    #[test]
    fn the_page_names_machine_commit_and_date_and_holds_every_loss() {
        let session = session();
        let text = render(&session);
        for fact in [
            format!("| machine | {} |", session.machine),
            format!("| begun | {} |", session.started),
            format!("| commit | {} |", session.commit),
        ] {
            assert!(text.contains(&fact), "{fact}\n{text}");
        }
        let outcome = Outcome::of(&session.measured);
        let points = text.lines().filter(|line| line.starts_with("* **")).count();
        assert_eq!(points, outcome.losses.len());
        assert!(points > 0, "the invented session has losses");
        for family in &outcome.families {
            assert!(text.contains(&format!("\n## {}\n", family.title)), "{}", family.title);
        }
    }

    #[test]
    fn a_file_that_cannot_be_written_is_named_before_anything_is_measured() {
        let folder = std::env::temp_dir();
        let error = format!("{:#}", prepare(&folder).unwrap_err());
        assert!(error.contains("--markdown FILE"), "{error}");
        assert!(error.contains(&folder.display().to_string()), "{error}");
    }
}
