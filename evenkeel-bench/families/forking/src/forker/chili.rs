//! chili, with a pool of its own. The calling thread is one of its workers.

use std::num::NonZero;

use super::Forker;

/// A pool.
pub(crate) struct Chili(chili::ThreadPool);

impl Forker for Chili {
    type Cx<'a, 'w>
        = &'a mut chili::Scope<'w>
    where
        'w: 'a;

    fn start(workers: usize) -> anyhow::Result<Self> {
        let config = chili::Config { thread_count: NonZero::new(workers), ..Default::default() };
        Ok(Chili(chili::ThreadPool::with_config(config)))
    }

    fn run<R: Send>(&self, f: impl for<'a, 'w> FnOnce(&'a mut chili::Scope<'w>) -> R + Send) -> R {
        f(&mut self.0.scope())
    }

    #[inline(always)]
    fn join<RA: Send, RB: Send>(
        cx: &mut &mut chili::Scope<'_>,
        a: impl for<'a, 'w> FnOnce(&'a mut chili::Scope<'w>) -> RA + Send,
        b: impl for<'a, 'w> FnOnce(&'a mut chili::Scope<'w>) -> RB + Send,
    ) -> (RA, RB) {
        cx.join(a, b)
    }

    fn lend<R>(
        cx: &mut &mut chili::Scope<'_>,
        f: impl for<'a, 'w> FnOnce(&'a mut chili::Scope<'w>) -> R,
    ) -> R {
        f(cx)
    }
}
