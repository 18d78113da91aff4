//! Objects with homes on the machine of CoreTime: sixteen cores, twenty caches, tasks that resolve
//! file names in directories.
//!
//! [`evenkeel_policy::object`] makes all decisions about homes, as in the runtime: trials, homes
//! dealt in turn, heat and rebalancing. The unit of time is the cycle.

mod engine;
mod memory;
mod placing;

pub use engine::{DIRECTORY, MILLISECOND, Mode, Outcome, Popularity, Setting, Span, Unit};
pub use memory::{CORES, Guesses};
pub use placing::CYCLES;

/// Runs one setting.
#[must_use]
pub fn run(setting: Setting) -> Outcome {
    engine::Engine::new(setting).run()
}
