//! The built binary as a command: its output, its files, and its refusals.

mod actors;
mod analyse;
mod binary;
#[cfg(unix)]
mod builds;
mod cli;
#[cfg(unix)]
mod interrupt;
mod names;
mod objects;
#[cfg(unix)]
mod pipes;
