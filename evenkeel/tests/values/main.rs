//! Functions of plain values, below all threads: what the policies decide, and what is read of a machine.

mod policy;
mod topology;
