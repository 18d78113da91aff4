//! Supervisors and their children.

#[path = "../common"]
mod common {
    pub(crate) mod until;
    pub(crate) mod workers;
}

mod restarts;
mod storm;
mod supervised;
mod trees;
mod waited;
