//! Signals of the system: Ctrl-C, a request to terminate, and what other programs send.
//!
//! [`ctrl_c()`] waits for one Ctrl-C. [`unix::signal`] returns a listener for any kind of signal,
//! which misses none between two waits. Both work on each kind of runtime, and outside of one: a
//! listener belongs to the process. On systems that are not Unix the module is not there.
//!
//! # What the first listener changes
//! A signal has a default action, such as to end the process. The first listener of a kind replaces
//! that action *for the rest of the process*: dropping the listener does not bring it back. A
//! program that has once listened for Ctrl-C ends only by its own code from then on, or by another
//! signal. Handlers that were there before are called too, as are those of other libraries that
//! register theirs through `signal-hook-registry`, such as Tokio.
//!
//! # Children
//! A child process that a command starts has the default actions again. A child that is forked
//! without starting another program has no thread that wakes, so its listeners stay asleep.
//!
//! # Cost
//! The first listener starts one thread for the process, which sleeps until a signal comes, and
//! then wakes what waits for it. A signal costs one system call in its handler. Nothing polls.
//!
//! # Examples
//! ```no_run
//! # async fn serve() {}
//! # fn main() -> std::io::Result<()> {
//! let runtime = evenkeel::Runtime::new().expect("the runtime starts");
//! let server = runtime.spawn(serve());
//! runtime.block_on(evenkeel::signal::ctrl_c())?;
//! server.abort();
//! # Ok(())
//! # }
//! ```

mod count;
#[cfg(not(loom))]
mod ctrl_c;
#[cfg(not(loom))]
mod handler;
#[cfg(not(loom))]
mod hub;
#[cfg(not(loom))]
mod kind;
#[cfg(not(loom))]
mod listener;
#[cfg(loom)]
mod model;
#[cfg(loom)]
mod modelled;
#[cfg(not(loom))]
mod pipe;
mod post;
#[cfg(not(loom))]
pub mod unix;
mod waiters;

#[cfg(not(loom))]
pub use ctrl_c::ctrl_c;
// A model has a pipe of its own.
#[cfg(loom)]
use modelled as pipe;
