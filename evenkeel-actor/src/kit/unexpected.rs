//! Violated expectations of tests.

use crate::words::id::ActorId;
use std::error::Error;
use std::fmt;
use std::time::Duration;

/// A message that came, or did not come, against a test's expectation. Its `Debug` is its text, for
/// tests that unwrap.
///
/// # Examples
/// ```
/// use evenkeel_actor::kit;
///
/// kit::run(1, |kit| async move {
///     let mut probe = kit.probe();
///     for n in [1, 2, 3] {
///         probe.actor().send(n).await.unwrap();
///     }
///     kit.settle().await;
///     let error = probe.expect(7).await.unwrap_err();
///     let text = "expected 7, and got 1; behind it in the inbox: 2, 3";
///     assert_eq!(error.to_string(), text);
///     // A test that unwraps shows the same text.
///     assert_eq!(format!("{error:?}"), text);
/// });
/// ```
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Unexpected {
    /// No message came, or none that was fished for.
    Nothing {
        /// What was expected.
        expected: String,
        /// How long the probe waited.
        waited: Duration,
        /// The other messages that came.
        skipped: Vec<String>,
    },
    /// Another message came.
    Other {
        /// What was expected.
        expected: String,
        /// What came.
        came: String,
        /// The messages behind it in the inbox.
        behind: Vec<String>,
    },
    /// A message came where none was expected.
    Message {
        /// What came.
        came: String,
        /// How long the probe waited before it.
        waited: Duration,
        /// The messages behind it in the inbox.
        behind: Vec<String>,
    },
    /// The asker to be answered has given up.
    GivenUp {
        /// What was expected, and has come.
        expected: String,
    },
    /// An actor that was to stop still runs.
    Runs {
        /// The actor.
        actor: ActorId,
        /// How long the test waited.
        waited: Duration,
    },
}

impl fmt::Display for Unexpected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Nothing { expected, waited, skipped } => {
                write!(f, "expected {expected}, and it has not come within {waited:?}")?;
                list(f, "what has come instead", skipped)
            }
            Self::Other { expected, came, behind } => {
                write!(f, "expected {expected}, and got {came}")?;
                list(f, "behind it in the inbox", behind)
            }
            Self::Message { came, waited, behind } => {
                write!(f, "expected no message, and got {came} after {waited:?}")?;
                list(f, "behind it in the inbox", behind)
            }
            Self::GivenUp { expected } => {
                write!(
                    f,
                    "expected {expected}, and it has come, but its sender has given up and takes no answer"
                )
            }
            Self::Runs { actor, waited } => {
                write!(f, "expected actor {actor} to stop, and it still runs after {waited:?}")
            }
        }
    }
}

/// Writes messages in a row, or that there are none.
fn list(f: &mut fmt::Formatter<'_>, what: &str, messages: &[String]) -> fmt::Result {
    write!(f, "; {what}: ")?;
    match messages {
        [] => f.write_str("nothing"),
        [first, others @ ..] => {
            f.write_str(first)?;
            others.iter().try_for_each(|message| write!(f, ", {message}"))
        }
    }
}

impl fmt::Debug for Unexpected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl Error for Unexpected {}
