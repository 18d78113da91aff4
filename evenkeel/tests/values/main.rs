//! Functions of plain values, below all threads: the topology of a machine.

mod topology;
