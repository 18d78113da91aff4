//! A runtime as most tests need it.

use evenkeel::{Builder, Runtime};

pub(crate) fn runtime(workers: usize) -> Runtime {
    Builder::new().workers(workers).build().expect("the runtime starts")
}
