//! Plain calls: what the others are compared with.
//!
//! It is not one of the plain runtimes: their closures around its closures would cost nqueens a
//! third.

use super::Forker;

/// No workers at all.
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
