//! Nodes with actors on them, several in one process.

mod asks;
mod bad_peers;
mod basics;
mod collective;
mod events;
mod faults;
mod floods;
mod link_storms;
mod links;
mod losses;
mod order;
mod returns;
mod starts;
mod watches;
mod world;
