//! rayon, with a pool of its own.

use super::plain::Plain;

/// A pool.
pub struct Rayon(rayon::ThreadPool);

impl Plain for Rayon {
    fn start(workers: usize) -> anyhow::Result<Self> {
        Ok(Rayon(rayon::ThreadPoolBuilder::new().num_threads(workers).build()?))
    }

    fn install<R: Send>(&self, f: impl FnOnce() -> R + Send) -> R {
        self.0.install(f)
    }

    #[inline(always)]
    fn join<RA: Send, RB: Send>(
        a: impl FnOnce() -> RA + Send,
        b: impl FnOnce() -> RB + Send,
    ) -> (RA, RB) {
        rayon::join(a, b)
    }
}
