//! Plain calls: what the others are compared with.

use super::plain::Plain;

/// No workers at all.
pub(crate) struct Serial;

impl Plain for Serial {
    fn start(_workers: usize) -> anyhow::Result<Self> {
        Ok(Serial)
    }

    fn install<R: Send>(&self, f: impl FnOnce() -> R + Send) -> R {
        f()
    }

    #[inline(always)]
    fn join<RA: Send, RB: Send>(
        a: impl FnOnce() -> RA + Send,
        b: impl FnOnce() -> RB + Send,
    ) -> (RA, RB) {
        (a(), b())
    }
}
