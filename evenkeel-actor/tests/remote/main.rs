//! Nodes with actors on them, several in one process.

mod asks;
mod bad_peers;
mod basics;
mod collective;
mod losses;
mod order;
mod returns;
mod starts;
mod watches;
mod world;
