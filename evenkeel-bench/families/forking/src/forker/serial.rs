//! Plain calls, the base of all comparisons.
//!
//! It does not implement `Plain`: one more layer of closures would cost nqueens a third.

use super::Forker;

/// A runtime without workers.
pub struct Serial;

impl Forker for Serial {
    type Cx<'a, 'w>
        = ()
    where
        'w: 'a;

    fn start(_workers: usize) -> anyhow::Result<Self> {
        Ok(Serial)
    }

    fn run<R: Send>(&self, f: impl FnOnce(()) -> R + Send) -> R {
        f(())
    }

    #[inline(always)]
    fn join<RA: Send, RB: Send>(
        _cx: &mut (),
        a: impl FnOnce(()) -> RA + Send,
        b: impl FnOnce(()) -> RB + Send,
    ) -> (RA, RB) {
        (a(()), b(()))
    }

    fn lend<R>(_cx: &mut (), f: impl FnOnce(()) -> R) -> R {
        f(())
    }
}
