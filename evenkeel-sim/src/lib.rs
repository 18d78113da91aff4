//! Simulated machines on which [evenkeel](https://docs.rs/evenkeel)'s decisions run: processors in
//! virtual time that decide by the functions of [`evenkeel_policy`], as the workers do.
//!
//! A simulation shows what no available machine can: hundreds of processors, several packages, and
//! every run again from its seed. Its assumptions stand beside the code: the costs of single steps,
//! which are measured or published.
//!
//! * [`promise`] simulates when to help, steal, wake and sleep, under adversarial loads, and
//!   [`scheduling`] the published experiments of schedulers. Only their machine has tasks that
//!   become ready again and again, sleepers, and an audit of each wait.
//! * [`forking`] simulates where a job may be taken. Only this machine has trees of forks.
//! * [`coretime`] simulates where an object is at home. Only this machine has locks, cache lines in
//!   transit, and memory with a bandwidth.
//!
//! They are three because their processors do different things at each event: programs would use a
//! third of one common machine each. They share the order of events, the replacement of cache
//! blocks, and the decisions. [`random`] is the suite's too.

pub mod coretime;
mod events;
pub mod forking;
mod lru;
pub mod promise;
pub mod random;
mod runtime;
pub mod scheduling;
