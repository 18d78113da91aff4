//! Runs that a seed determines: the test kit, and random programs against a model.
//!
//! They are a program of their own, because one such run has the whole process ask from then on
//! whether it is in one.

mod kit;
mod model;
