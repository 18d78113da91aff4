//! Waits other than for monitors: the semaphore, and third-party primitives that know no runtime.

#[path = "../common"]
mod common {
    pub(crate) mod counting;
    pub(crate) mod runtime;
    pub(crate) mod until;
    pub(crate) mod watchdog;
}

mod neutral;
mod semaphore;
