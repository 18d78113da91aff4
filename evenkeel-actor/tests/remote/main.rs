//! Nodes with actors on them, several in one process.

mod asks;
mod bad_peers;
mod basics;
mod collective;
mod ending;
mod handed_on;
mod leaving;
mod losses;
mod names;
mod order;
mod starts;
mod watches;
mod world;
