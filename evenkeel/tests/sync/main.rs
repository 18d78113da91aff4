//! What tasks wait for besides monitors: the semaphore, and primitives of others that know no
//! runtime.

#[path = "../common"]
mod common {
    pub(crate) mod until;
    pub(crate) mod watchdog;
}

mod neutral;
mod semaphore;
