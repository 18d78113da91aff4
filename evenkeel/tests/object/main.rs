//! Objects: the order of entry, the places of tasks, and cancellation.

#[path = "../common"]
mod common {
    pub(crate) mod counting;
    pub(crate) mod objects;
    pub(crate) mod panics;
    pub(crate) mod polling;
    pub(crate) mod until;
    pub(crate) mod watchdog;
    pub(crate) mod weather;
}

mod cancel;
mod elsewhere;
mod endings;
mod exclusion;
mod held;
mod inside;
mod operations;
mod outliving;
mod parties;
mod poison;
mod read;
mod several;
mod whereabouts;
mod within;
