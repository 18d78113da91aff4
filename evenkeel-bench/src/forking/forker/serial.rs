//! Plain calls: what the others are compared with.
//!
//! It is not one of the plain runtimes: their closures around its closures would cost nqueens a third.

use super::Forker;

/// No workers at all.
pub(crate) struct Serial;

impl Forker for Serial {
    type Cx<'a> = ();

    fn start(_workers: usize) -> anyhow::Result<Self> {
        Ok(Serial)
    }

    fn run<R: Send>(&self, f: impl for<'a> FnOnce(&mut Self::Cx<'a>) -> R + Send) -> R {
        f(&mut ())
    }

    #[inline(always)]
    fn join<RA: Send, RB: Send>(
        cx: &mut (),
        a: impl FnOnce(&mut ()) -> RA + Send,
        b: impl FnOnce(&mut ()) -> RB + Send,
    ) -> (RA, RB) {
        (a(cx), b(cx))
    }
}
