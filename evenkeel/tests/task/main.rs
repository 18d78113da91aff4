//! Tasks: how they begin, wait, wake and end, and the results of their handles.

#[path = "../common"]
mod common {
    pub(crate) mod counting;
    pub(crate) mod panics;
    pub(crate) mod polling;
    pub(crate) mod runtime;
    pub(crate) mod until;
    pub(crate) mod unwinds;
    pub(crate) mod watchdog;
    pub(crate) mod weather;
}

mod abort;
mod cancellation;
mod conformance;
mod endings;
mod join;
mod join_set;
mod join_set_local;
mod local;
mod local_enter;
mod local_set;
mod panic;
mod park;
mod tracker;
mod waker;
