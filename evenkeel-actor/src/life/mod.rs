//! Lives of actors: the futures of their tasks, from spawn to end, and the steps of the end.

pub(crate) mod builder;
pub(crate) mod children;
pub(crate) mod end;
mod live;
mod plain;
mod poll;
pub(crate) mod spawn;
pub(crate) mod ward;
