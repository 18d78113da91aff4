//! The global pool, and the pool of a caller.

use crate::{ThreadPool, ThreadPoolBuildError, ThreadPoolBuilder};
use evenkeel::{Builder, Handle, fork_join};
use std::sync::{Mutex, OnceLock, PoisonError};

static GLOBAL: OnceLock<ThreadPool> = OnceLock::new();

/// Returns the pool of callers outside of any pool. It is built at the first need, unless
/// [`ThreadPoolBuilder::build_global`] was faster, and lasts as long as the process.
fn global() -> &'static ThreadPool {
    let built = match GLOBAL.get() {
        Some(_) => Ok(()),
        None => build_global(|| ThreadPoolBuilder::new().build()),
    };
    match (GLOBAL.get(), built) {
        (Some(pool), _) => pool,
        (None, Err(error)) => panic!("the global thread pool cannot be built: {error}"),
        (None, Ok(())) => unreachable!("it has been built"),
    }
}

/// Makes the result of `build` the global pool, if there is none yet.
pub(crate) fn build_global(
    build: impl FnOnce() -> Result<ThreadPool, ThreadPoolBuildError>,
) -> Result<(), ThreadPoolBuildError> {
    static BUILDING: Mutex<()> = Mutex::new(());
    let _building = BUILDING.lock().unwrap_or_else(PoisonError::into_inner);
    if GLOBAL.get().is_some() {
        return Err(ThreadPoolBuildError::global_already_initialized());
    }
    GLOBAL.set(build()?).map_err(|_| ThreadPoolBuildError::global_already_initialized())
}

/// Returns the runtime of the global pool.
pub(crate) fn outside() -> Handle {
    global().handle().clone()
}

/// Returns the caller's runtime, if it is a worker or has entered one, or else that of the global
/// pool; that too if the caller's takes no more work from it.
pub(crate) fn handle() -> Handle {
    fork_join::handle_or(outside)
}

/// Returns the number of threads of the caller's pool, or else of the global one.
///
/// # Examples
/// ```
/// let pool = rayon_core::ThreadPoolBuilder::new().num_threads(3).build().unwrap();
/// assert_eq!(pool.install(rayon_core::current_num_threads), 3);
/// ```
#[must_use]
pub fn current_num_threads() -> usize {
    if fork_join::is_worker() { fork_join::worker_count() } else { handle().workers() }
}

/// Returns the most threads of a pool. A builder that is asked for more makes this many.
#[must_use]
pub fn max_num_threads() -> usize {
    Builder::MOST_WORKERS
}
