//! Monitors: entry, waits, signals, and their order.

#[path = "../common"]
mod common {
    pub(crate) mod counting;
    pub(crate) mod noted;
    pub(crate) mod op;
    pub(crate) mod places;
    pub(crate) mod polling;
    pub(crate) mod until;
    pub(crate) mod watchdog;
    pub(crate) mod weather;
}

mod barrier;
mod blocking;
mod buffer;
mod cancel;
mod drops;
mod entry;
mod examples;
mod extend;
mod external;
mod free;
mod internal;
mod mix;
mod order;
mod owned;
mod parts;
mod prepared;
mod server;
mod time;
mod ucpp;
mod wakers;
