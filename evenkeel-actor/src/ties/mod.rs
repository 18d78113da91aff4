//! What actors of this process have to do with others, step by step: to watch, link and kill, and
//! the addresses by which they are told. [`kin`](crate::kin) says why nothing is lost.

mod control;
pub(crate) mod own;
pub(crate) mod peer;
pub(crate) mod steps;
