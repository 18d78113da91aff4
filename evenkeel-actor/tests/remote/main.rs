//! Nodes with actors on them, several in one process.

mod asks;
mod bad_peers;
mod basics;
mod collective;
mod inbound;
mod losses;
mod order;
mod starts;
mod watches;
mod world;
