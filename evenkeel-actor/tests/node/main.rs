//! What is below the actors of several nodes: frames, and nodes on runtimes.

#[path = "../common"]
mod common {
    pub(crate) mod messages;
}

mod frames;
mod runtimes;
