//! Runtimes without worker threads: which thread drives them, what runs there, and how they end.

#[path = "../common"]
mod common {
    pub(crate) mod panics;
    pub(crate) mod until;
    pub(crate) mod watchdog;
}

mod driving;
mod ends;
mod inside;

use evenkeel::{Builder, Runtime};
use std::thread::{self, ThreadId};

fn runtime() -> Runtime {
    Builder::new_current_thread().build().expect("the runtime is built")
}

fn paused() -> Runtime {
    Builder::new_current_thread().start_paused(true).build().expect("the runtime is built")
}

fn here() -> ThreadId {
    thread::current().id()
}
