//! rayon, with a pool of its own.

use super::Forker;

/// A pool.
pub(crate) struct Rayon(rayon::ThreadPool);

impl Forker for Rayon {
    type Cx<'a> = ();

    fn start(workers: usize) -> anyhow::Result<Self> {
        Ok(Rayon(rayon::ThreadPoolBuilder::new().num_threads(workers).build()?))
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
        rayon::join(|| a(&mut ()), || b(&mut ()))
    }
}
