//! This project's fork-join, in both forms.

use evenkeel::fork_join::{Worker, join, on_worker};

use super::Forker;
pub(crate) use crate::runtime::evenkeel::Evenkeel;

/// `join`.
impl Forker for Evenkeel {
    type Cx<'a> = ();

    fn start(workers: usize) -> anyhow::Result<Self> {
        Ok(Evenkeel(evenkeel::Builder::new().workers(workers).build()?))
    }

    fn run<R: Send>(&self, f: impl for<'a> FnOnce(&mut Self::Cx<'a>) -> R + Send) -> R {
        self.0.install(|| f(&mut ()))
    }

    #[inline(always)]
    fn join<RA: Send, RB: Send>(
        _cx: &mut (),
        a: impl FnOnce(&mut ()) -> RA + Send,
        b: impl FnOnce(&mut ()) -> RB + Send,
    ) -> (RA, RB) {
        join(|| a(&mut ()), || b(&mut ()))
    }
}

/// The form that passes the worker by argument.
pub(crate) struct ByArgument(evenkeel::Runtime);

impl Forker for ByArgument {
    type Cx<'a> = Worker<'a>;

    fn start(workers: usize) -> anyhow::Result<Self> {
        Ok(ByArgument(evenkeel::Builder::new().workers(workers).build()?))
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
