//! This project's fork-join, in both forms.

use evenkeel::fork_join::{Worker, join, on_worker};

use super::Forker;
use super::plain::Plain;
pub(crate) use crate::runtime::evenkeel::Evenkeel;

/// `join`.
impl Plain for Evenkeel {
    fn start(workers: usize) -> anyhow::Result<Self> {
        Ok(Evenkeel(evenkeel::Builder::new().workers(workers).build()?))
    }

    fn install<R: Send>(&self, f: impl FnOnce() -> R + Send) -> R {
        self.0.install(f)
    }

    #[inline(always)]
    fn join<RA: Send, RB: Send>(
        a: impl FnOnce() -> RA + Send,
        b: impl FnOnce() -> RB + Send,
    ) -> (RA, RB) {
        join(a, b)
    }
}

/// The form that passes the worker by argument.
pub(crate) struct ByArgument(Evenkeel);

impl Forker for ByArgument {
    type Cx<'a> = Worker<'a>;

    fn start(workers: usize) -> anyhow::Result<Self> {
        Ok(ByArgument(Plain::start(workers)?))
    }

    fn run<R: Send>(&self, f: impl for<'a> FnOnce(&mut Self::Cx<'a>) -> R + Send) -> R {
        self.0.install(|| on_worker(|mut worker| f(&mut worker)))
    }

    #[inline(always)]
    fn join<RA: Send, RB: Send>(
        cx: &mut Worker<'_>,
        a: impl for<'a> FnOnce(&mut Worker<'a>) -> RA + Send,
        b: impl for<'a> FnOnce(&mut Worker<'a>) -> RB + Send,
    ) -> (RA, RB) {
        cx.join(|mut worker| a(&mut worker), |mut worker| b(&mut worker))
    }
}
