//! Runtimes without worker threads: which thread drives them, what runs there, and how they end.

#[path = "../common"]
mod common {
    pub(crate) mod until;
    pub(crate) mod watchdog;
}

mod driving;
mod ends;
mod inside;

use evenkeel::{Builder, Runtime};
use std::any::Any;
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

fn message(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or_default()
}
