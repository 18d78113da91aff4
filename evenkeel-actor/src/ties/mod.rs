//! The steps by which actors of this process watch, link and kill, and the addresses by which they
//! are told. [`kin`](crate::kin) says why no end is told twice, or late.

mod control;
pub(crate) mod own;
pub(crate) mod peer;
pub(crate) mod steps;
