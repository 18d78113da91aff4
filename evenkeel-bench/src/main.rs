//! `evenkeel-bench`: the suite.
fn main() {}
