//! Errors in the description of a machine.
//!
//! Both sources, the textual form and the files below `/sys`, are input from outside. An error
//! therefore shows the input itself, the place in it, and what belongs there.

use std::error::Error;
use std::fmt;
use std::ops::Range;
use std::path::PathBuf;

/// Why no [`Topology`](super::Topology) could be made.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TopologyError {
    /// The textual form is malformed.
    #[non_exhaustive]
    Text {
        /// The whole text.
        text: String,
        /// The bytes of the text that are wrong. It is empty where something is missing.
        span: Range<usize>,
        /// What belongs there.
        expected: String,
    },
    /// A file of the operating system has unexpected content.
    #[non_exhaustive]
    File {
        /// The file.
        path: PathBuf,
        /// Its content.
        content: String,
        /// What belongs there.
        expected: &'static str,
    },
    /// The folder lists no hardware thread that is online.
    #[non_exhaustive]
    NoCpus {
        /// The folder.
        path: PathBuf,
    },
}

impl fmt::Display for TopologyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text { text, span, expected } => {
                let column = text[..span.start].chars().count();
                let width = text[span.clone()].chars().count().max(1);
                writeln!(f, "malformed topology at column {}:", column + 1)?;
                writeln!(f, "  {}", one_line(text))?;
                // A width of a format is limited, and a text is not.
                let (space, carets) = (" ".repeat(column), "^".repeat(width));
                write!(f, "  {space}{carets} expected {expected}")
            }
            Self::File { path, content, expected } => {
                write!(f, "`{}` holds {}, expected {expected}", path.display(), excerpt(content))
            }
            Self::NoCpus { path } => {
                write!(
                    f,
                    "`{}` lists no hardware thread that is online; \
                     describe the machine as text instead",
                    path.display()
                )
            }
        }
    }
}

impl Error for TopologyError {}

/// The text with each control character replaced by a space, so that the caret line stays aligned.
fn one_line(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}

/// The content, quoted, cut to what fits on a line of a terminal.
fn excerpt(content: &str) -> String {
    const LONGEST: usize = 60;
    match content.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{:?} and more", &content[..end]),
        None => format!("{content:?}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_caret_stands_below_the_token_whatever_precedes_it() {
        let error = TopologyError::Text {
            text: "é\t9 coars".to_owned(),
            span: 5..10,
            expected: "a level".to_owned(),
        };
        assert_eq!(
            error.to_string(),
            "malformed topology at column 5:\n  é 9 coars\n      ^^^^^ expected a level"
        );
    }

    #[test]
    fn a_missing_token_gets_one_caret_behind_the_text() {
        let error = TopologyError::Text {
            text: "6".to_owned(),
            span: 1..1,
            expected: "a level".to_owned(),
        };
        assert_eq!(
            error.to_string(),
            "malformed topology at column 2:\n  6\n   ^ expected a level"
        );
    }

    #[test]
    fn a_long_text_has_its_caret_too() {
        for (span, end) in
            [(69_999..70_000, " ^ expected a level"), (0..70_000, "^^ expected a level")]
        {
            let (text, expected) = ("x".repeat(70_000), "a level".to_owned());
            let error = TopologyError::Text { text, span, expected };
            assert!(error.to_string().ends_with(end));
        }
    }

    #[test]
    fn a_long_file_is_cut() {
        let error = TopologyError::File {
            path: PathBuf::from("/sys/x"),
            content: "é".repeat(61),
            expected: "a number",
        };
        assert_eq!(
            error.to_string(),
            format!("`/sys/x` holds \"{}\" and more, expected a number", "é".repeat(60))
        );
    }
}
