//! The Tokio runtime of the process, and the thread that drives it.
//!
//! # Roles
//! The *starter* is the first thread that asks for the handle. The *driver* is the thread that
//! builds the runtime and drives it to the end of the process. Others wait for the starter.
//!
//! # Steps
//! 1. The starter takes the lock, finds no handle, and starts the driver.
//! 2. The driver builds the runtime, sends the handle or the error to the starter, and drives.
//! 3. The starter publishes the handle. From then on no thread takes the lock.
//!
//! The driver calls the wakers of all futures that wait for its timers and sockets. If one panics,
//! the driver ends, and with it Tokio's own state: it cannot be driven again. Later polls [say
//! so](check).
//!
//! # Rejected
//! *A waker of its own for each wrapped future, which contains panics.* The future's own waits
//! would see a foreign waker, and no longer that of an evenkeel task: each wake would cost more,
//! and the deadlock detector would not know the waits.
//! *A runtime that the starter builds.* If the system then refuses the thread, the starter drops
//! the runtime, and Tokio forbids that inside of its own async code.
//! *A runtime with worker threads of Tokio's.* It is driven without help, but costs a second thread
//! and Tokio's feature for several threads.

use crate::StartError;
use std::future::pending;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::thread;
use tokio::runtime::{Builder, Handle};

/// The name of the driver.
const NAME: &str = "evenkeel-compat";

static HANDLE: OnceLock<Handle> = OnceLock::new();
/// Whether the driver has ended, by a panic.
static HAS_ENDED: AtomicBool = AtomicBool::new(false);
/// Held by the starter.
static STARTS: Mutex<()> = Mutex::new(());

/// Returns the handle of this crate's Tokio runtime, which the first call starts.
///
/// It spawns from any thread, and a `JoinHandle` of Tokio can be awaited anywhere.
///
/// # Panics
/// If the runtime cannot be started; [`try_handle`] says so by an error.
///
/// # Examples
/// ```
/// let sum = evenkeel_compat::handle().spawn(async { 6 * 7 });
/// let runtime = evenkeel::Runtime::new().unwrap();
/// assert_eq!(runtime.block_on(sum).unwrap(), 42);
/// ```
#[track_caller]
pub fn handle() -> &'static Handle {
    match try_handle() {
        Ok(handle) => handle,
        Err(error) => panic!("`evenkeel_compat`: {error}"),
    }
}

/// Returns the handle of this crate's Tokio runtime, which the first call starts.
///
/// A program that cannot do without the runtime calls this at its start, and reports the error
/// there.
///
/// # Errors
/// If the operating system refuses the thread or the runtime. The next call tries again.
///
/// # Examples
/// ```
/// fn main() -> Result<(), evenkeel_compat::StartError> {
///     evenkeel_compat::try_handle()?;
///     Ok(())
/// }
/// ```
pub fn try_handle() -> Result<&'static Handle, StartError> {
    if let Some(handle) = HANDLE.get() {
        return Ok(handle);
    }
    // A starter that panicked has published nothing.
    let _starts = STARTS.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(handle) = HANDLE.get() {
        return Ok(handle);
    }
    let handle = start()?;
    Ok(HANDLE.get_or_init(|| handle))
}

#[cold]
fn start() -> Result<Handle, StartError> {
    let (ready, told) = channel();
    // The driver is never joined: it lasts as long as the process.
    let driver = thread::Builder::new().name(NAME.to_owned());
    driver.spawn(move || drive(&ready)).map_err(StartError::Thread)?;
    // With features that other crates turn on, such as `signal`, Tokio opens more descriptors, and
    // panics if there are none.
    let panicked = |_| Err(io::Error::other("its thread has panicked"));
    told.recv().unwrap_or_else(panicked).map_err(StartError::Runtime)
}

fn drive(ready: &Sender<io::Result<Handle>>) {
    let built = Builder::new_current_thread().enable_all().thread_name(NAME).build();
    let (runtime, answer) = match built {
        Ok(runtime) => {
            let handle = runtime.handle().clone();
            (Some(runtime), Ok(handle))
        }
        Err(error) => (None, Err(error)),
    };
    ready.send(answer).expect("the starter waits for the answer");
    if let Some(runtime) = runtime {
        let _ends = Ends;
        runtime.block_on(pending::<()>());
    }
}

/// Notes the end of the driver.
struct Ends;

impl Drop for Ends {
    fn drop(&mut self) {
        // It comes before nothing else.
        HAS_ENDED.store(true, Ordering::Relaxed);
    }
}

/// Panics if this is a handle of this crate's runtime, and the driver has ended.
pub(crate) fn check(handle: &Handle) {
    let is_own = || HANDLE.get().is_some_and(|own| own.id() == handle.id());
    assert!(
        !HAS_ENDED.load(Ordering::Relaxed) || !is_own(),
        "`evenkeel_compat`: a waker has panicked on the thread that drives Tokio's runtime, and \
         ended it: this future would wait for ever. Find the waker in the output of that thread"
    );
}
