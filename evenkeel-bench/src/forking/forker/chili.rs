//! chili, with a pool of its own. The calling thread is one of its workers.

use std::num::NonZero;

use super::Forker;

/// A pool.
pub(crate) struct Chili(chili::ThreadPool);

impl Forker for Chili {
    type Cx<'a> = chili::Scope<'a>;

    fn start(workers: usize) -> anyhow::Result<Self> {
        let config = chili::Config { thread_count: NonZero::new(workers), ..Default::default() };
        Ok(Chili(chili::ThreadPool::with_config(config)))
    }

    fn run<R: Send>(&self, f: impl for<'a> FnOnce(&mut Self::Cx<'a>) -> R + Send) -> R {
        f(&mut self.0.scope())
    }

    #[inline(always)]
    fn join<RA: Send, RB: Send>(
        cx: &mut chili::Scope<'_>,
        a: impl for<'a> FnOnce(&mut chili::Scope<'a>) -> RA + Send,
        b: impl for<'a> FnOnce(&mut chili::Scope<'a>) -> RB + Send,
    ) -> (RA, RB) {
        cx.join(|cx| a(cx), |cx| b(cx))
    }
}
