//! Runs that a seed determines: the test kit, and random programs against a model.
//!
//! They are a program of their own, because after one such run the whole process keeps asking
//! whether it is inside one.

mod kit;
mod model;
