//! The form of Tokio that the hand-made and the native primitives run on: the best form for a
//! number of processors.
//!
//! For one processor that is Tokio's current-thread runtime, driven by a thread of its own, so that
//! the calling thread is no worker here either. From two processors on it is the multi-thread
//! runtime. Neither has drivers: a lone task that yields would otherwise pay for checking them each
//! time.

use std::future::Future;
use std::thread::{self, JoinHandle};

use anyhow::Context;
use tokio::runtime::{Builder, Handle, Runtime};
use tokio::sync::oneshot;

/// A running Tokio runtime. Dropping the value ends the runtime and its threads.
pub(in crate::kit::runtime) struct Form {
    handle: Handle,
    _kept: Kept,
}

/// The value that keeps the runtime running.
enum Kept {
    Driven { _driver: Driver },
    Workers { _runtime: Runtime },
}

/// Returns a builder of the best form of Tokio for this many workers: that of one thread for one,
/// and else that of as many threads. It has no driver.
pub fn builder(workers: usize) -> Builder {
    if workers == 1 {
        return Builder::new_current_thread();
    }
    let mut builder = Builder::new_multi_thread();
    builder.worker_threads(workers);
    builder
}

impl Form {
    pub(in crate::kit::runtime) fn start(procs: usize) -> anyhow::Result<Form> {
        let runtime = builder(procs).build()?;
        let handle = runtime.handle().clone();
        let kept = match procs {
            1 => Kept::Driven { _driver: Driver::start(runtime)? },
            _ => Kept::Workers { _runtime: runtime },
        };
        Ok(Form { handle, _kept: kept })
    }

    /// Runs a future on the calling thread, which runs no tasks meanwhile.
    pub(in crate::kit::runtime) fn block_on<F: Future>(&self, future: F) -> F::Output {
        self.handle.block_on(future)
    }
}

/// The thread that runs the tasks of a current-thread runtime. It has the cores of the thread that
/// starts it, as other workers have.
struct Driver {
    /// Dropping it stops the thread.
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Driver {
    fn start(runtime: Runtime) -> anyhow::Result<Driver> {
        let (stop, stopped) = oneshot::channel();
        // The runtime ends with the thread, and drops the remaining tasks.
        let drive = move || drop(runtime.block_on(stopped));
        let thread = thread::Builder::new().name("tokio-driver".to_owned()).spawn(drive);
        let thread = thread.context("cannot start a thread for Tokio")?;
        Ok(Driver { stop: Some(stop), thread: Some(thread) })
    }
}

impl Drop for Driver {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            // Panics of tasks are in their handles; a destructor cannot report others.
            drop(thread.join());
        }
    }
}
