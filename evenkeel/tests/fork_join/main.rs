//! Fork-join: halves, scopes, pools, forks that are awaited, and how deep it may go.

#[path = "../common"]
mod common {
    pub(crate) mod until;
    pub(crate) mod watchdog;
}

mod basics;
mod full;
mod future;
mod overflow;
mod pool;
mod sized;
mod waiting;
