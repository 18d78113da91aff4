//! Simulated machines on which [evenkeel](https://docs.rs/evenkeel)'s decisions run: processors in
//! virtual time that decide by the functions of [`evenkeel_policy`], as the workers do.
//!
//! A simulation shows what no machine at hand can: hundreds of processors, several packages, and
//! every run again from its seed. What it rests on is stated where it is: costs of single steps,
//! which are measured or published.
//!
//! | machine | whose decisions it asks | what it has, and the others have not |
//! |---|---|---|
//! | [`promise`] | when to help, steal, wake and sleep | tasks that become ready again and again, sleepers, an audit of each wait |
//! | [`forking`] | where a job may be taken | trees of forks, caches by cores and packages |
//! | [`coretime`] | where an object is at home | locks, lines on their way, memory that has a bandwidth |
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
