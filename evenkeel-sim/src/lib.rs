//! Simulated machines on which [evenkeel](https://docs.rs/evenkeel)'s decisions run: processors in
//! virtual time that decide by the functions of [`evenkeel_policy`], as the workers do.
//!
//! A simulation shows what no machine at hand can: hundreds of processors, several packages, and
//! every run again from its seed. What it rests on is stated where it is: costs of single steps,
//! which are measured or published.
//!
//! * [`promise`] asks when to help, steal, wake and sleep. It alone has tasks that become ready
//!   again and again, sleepers, and an audit of each wait.
//! * [`forking`] asks where a job may be taken. It alone has trees of forks.
//! * [`coretime`] asks where an object is at home. It alone has locks, lines on their way, and
//!   memory that has a bandwidth.
//!
//! They are three because their processors do different things at each event: one machine with all
//! of that would be run by programs that use a third of it each. What they share is the order of
//! events, the caches' way to forget, and the decisions.

pub mod coretime;
mod events;
pub mod forking;
mod lru;
pub mod promise;
mod random;
