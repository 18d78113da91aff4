//! Runtimes with forks that pass no context: they find their worker themselves.

use evenkeel::metrics::Times;

use super::Forker;

/// A runtime with a join of two closures without arguments.
pub(crate) trait Plain: Sized {
    /// Starts a runtime of `workers` workers.
    fn start(workers: usize) -> anyhow::Result<Self>;

    /// Runs `f` on a worker and waits for it.
    fn install<R: Send>(&self, f: impl FnOnce() -> R + Send) -> R;

    /// Runs both closures.
    fn join<RA: Send, RB: Send>(
        a: impl FnOnce() -> RA + Send,
        b: impl FnOnce() -> RB + Send,
    ) -> (RA, RB);

    /// Runs both closures, which touch `bytes` bytes together.
    #[inline(always)]
    fn join_sized<RA: Send, RB: Send>(
        _bytes: usize,
        a: impl FnOnce() -> RA + Send,
        b: impl FnOnce() -> RB + Send,
    ) -> (RA, RB) {
        Self::join(a, b)
    }

    /// The times of each worker so far, if the runtime reports them.
    fn times(&self) -> Vec<Times> {
        Vec::new()
    }
}

impl<P: Plain> Forker for P {
    type Cx<'a, 'w>
        = ()
    where
        'w: 'a;

    fn start(workers: usize) -> anyhow::Result<Self> {
        P::start(workers)
    }

    fn run<R: Send>(&self, f: impl FnOnce(()) -> R + Send) -> R {
        self.install(|| f(()))
    }

    #[inline(always)]
    fn join<RA: Send, RB: Send>(
        _cx: &mut (),
        a: impl FnOnce(()) -> RA + Send,
        b: impl FnOnce(()) -> RB + Send,
    ) -> (RA, RB) {
        P::join(|| a(()), || b(()))
    }

    fn lend<R>(_cx: &mut (), f: impl FnOnce(()) -> R) -> R {
        f(())
    }

    #[inline(always)]
    fn join_sized<RA: Send, RB: Send>(
        _cx: &mut (),
        bytes: usize,
        a: impl FnOnce(()) -> RA + Send,
        b: impl FnOnce(()) -> RB + Send,
    ) -> (RA, RB) {
        P::join_sized(bytes, || a(()), || b(()))
    }

    fn times(&self) -> Vec<Times> {
        P::times(self)
    }
}
