//! Fork-join: halves, scopes, pools, awaited forks, and the depth of recursion.

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
