//! The layers below the actors of several nodes: frames, and nodes on runtimes.

mod driver;
mod frames;
mod messages;
mod runtimes;
