//! What a session knows of a family of experiments.

use super::effort::Effort;
use crate::report::Session;

/// Experiments that are planned, measured and shown together.
pub(super) trait Part {
    /// Builds what runs in other languages, or begins to, beside the others.
    fn build(&mut self) -> anyhow::Result<()> {
        Ok(())
    }

    /// Waits for what was begun. It is called whatever the builds came to.
    fn built(&mut self) -> anyhow::Result<()> {
        Ok(())
    }

    /// Measures all of it, and notes what the reader should know. What was measured before a failure is kept.
    fn measure(&mut self, effort: Effort, notes: &mut Vec<String>) -> anyhow::Result<()>;

    /// The table of what was measured.
    fn table(&self) -> String;

    /// Leaves what was measured to the report.
    fn leave(self: Box<Self>, session: &mut Session);
}
