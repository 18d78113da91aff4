//! Functions of plain values, below all threads: what is read of a machine.

mod topology;
