//! This project's fork-join, in both forms.

use evenkeel::Locality;
use evenkeel::fork_join::{Worker, join, join_sized, on_worker};
use evenkeel::metrics::Times;

use super::Forker;
use super::plain::Plain;
pub use suite::kit::runtime::evenkeel::Evenkeel;

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

    #[inline(always)]
    fn join_sized<RA: Send, RB: Send>(
        bytes: usize,
        a: impl FnOnce() -> RA + Send,
        b: impl FnOnce() -> RB + Send,
    ) -> (RA, RB) {
        join_sized(bytes, a, b)
    }

    fn times(&self) -> Vec<Times> {
        self.0.metrics().processors.iter().map(|processor| processor.times).collect()
    }
}

/// A runtime with this locality of jobs. Its workers are not pinned, like all others in this
/// family.
pub(crate) fn placed(workers: usize, locality: Locality) -> anyhow::Result<Evenkeel> {
    Ok(Evenkeel(evenkeel::Builder::new().workers(workers).locality(locality).build()?))
}

/// The form with the worker as an argument.
pub(crate) struct ByArgument(Evenkeel);

impl Forker for ByArgument {
    type Cx<'a, 'w>
        = Worker<'a>
    where
        'w: 'a;

    fn start(workers: usize) -> anyhow::Result<Self> {
        Ok(ByArgument(Plain::start(workers)?))
    }

    fn run<R: Send>(&self, f: impl for<'a> FnOnce(Worker<'a>) -> R + Send) -> R {
        self.0.install(|| on_worker(f))
    }

    #[inline(always)]
    fn join<RA: Send, RB: Send>(
        cx: &mut Worker<'_>,
        a: impl for<'a> FnOnce(Worker<'a>) -> RA + Send,
        b: impl for<'a> FnOnce(Worker<'a>) -> RB + Send,
    ) -> (RA, RB) {
        cx.join(a, b)
    }

    #[inline(always)]
    fn join_then<RA: Send, RB: Send, R>(
        cx: &mut Worker<'_>,
        a: impl for<'a> FnOnce(Worker<'a>) -> RA + Send,
        b: impl for<'a> FnOnce(Worker<'a>) -> RB + Send,
        then: impl FnOnce(RA, RB) -> R,
    ) -> R {
        cx.join_then(a, b, then)
    }

    fn lend<R>(cx: &mut Worker<'_>, f: impl for<'a> FnOnce(Worker<'a>) -> R) -> R {
        f(cx.reborrow())
    }

    fn times(&self) -> Vec<Times> {
        Plain::times(&self.0)
    }
}
