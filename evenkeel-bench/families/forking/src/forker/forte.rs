//! forte: the calling thread is one of its workers. The worker is an argument, which its
//! documentation calls the fastest form of its operations.

use anyhow::ensure;

use super::Forker;

/// forte's pools are static. The thread that made [`Forte`] has set the size.
static POOL: forte::ThreadPool = forte::ThreadPool::new();

/// The pool, with its own threads.
pub(crate) struct Forte;

impl Forker for Forte {
    type Cx<'a, 'w>
        = &'w forte::Worker
    where
        'w: 'a;

    fn start(workers: usize) -> anyhow::Result<Self> {
        let threads = workers - 1;
        // Made first, so that the threads end even if the size is wrong.
        let forte = Forte;
        let started = POOL.resize_to(threads);
        ensure!(
            started == threads,
            "forte's pool has {started} threads of {threads}: it has 32 seats"
        );
        Ok(forte)
    }

    fn run<R: Send>(&self, f: impl for<'w> FnOnce(&'w forte::Worker) -> R + Send) -> R {
        POOL.with_worker(f)
    }

    #[inline(always)]
    fn join<RA: Send, RB: Send>(
        cx: &mut &forte::Worker,
        a: impl for<'w> FnOnce(&'w forte::Worker) -> RA + Send,
        b: impl for<'w> FnOnce(&'w forte::Worker) -> RB + Send,
    ) -> (RA, RB) {
        cx.join(a, b)
    }

    fn lend<R>(cx: &mut &forte::Worker, f: impl for<'w> FnOnce(&'w forte::Worker) -> R) -> R {
        f(cx)
    }
}

impl Drop for Forte {
    fn drop(&mut self) {
        POOL.depopulate();
    }
}
