//! Nodes with actors on them, several in one process.

#[path = "../common/altered.rs"]
mod altered;
mod asks;
mod bad_peers;
mod basics;
mod brittle;
mod collective;
mod ending;
mod events;
mod faults;
mod floods;
mod handed_on;
mod host_panics;
mod idle;
mod inbound;
mod leases;
mod leaving;
mod link_storms;
mod links;
mod losses;
mod names;
mod order;
mod references;
mod returns;
mod starts;
mod third_nodes;
mod told_references;
mod watches;
mod world;
