//! Lives of actors: the futures of their tasks, how they begin, and what is seen to at the end.

pub(crate) mod builder;
pub(crate) mod children;
pub(crate) mod end;
mod live;
mod plain;
mod poll;
pub(crate) mod spawn;
pub(crate) mod ward;
