//! Actors: five experiments on this project's actors and on those of others.

#[cfg_attr(not(test), expect(dead_code, reason = "the runner of the experiments uses it"))]
pub(crate) mod foreign;
