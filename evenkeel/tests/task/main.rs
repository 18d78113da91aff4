//! Tasks: how they begin, wait, are woken and end, and what their handles give.

#[path = "../common"]
mod common {
    pub(crate) mod until;
    pub(crate) mod unwinds;
    pub(crate) mod watchdog;
    pub(crate) mod weather;
}

mod abort;
mod conformance;
mod endings;
mod join;
mod panic;
mod park;
mod waker;
