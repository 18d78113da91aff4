//! Fork-join programs: the four of the evaluation of the Cilk Locality runtime, and four that show the bare
//! cost of a fork.
//!
//! Each is written once, generic over a [`Forker`](forker::Forker), and recurses by binary forks; the serial one makes
//! plain calls instead. Leaves are not inlined into the recursion, and arrays begin at pages, for everyone: both matter more
//! than any runtime. The peers in [C++](cpp) have programs of their own, line by line the same.

pub(crate) mod cpp;
pub(crate) mod family;
mod figures;
pub(crate) mod forker;
mod found;
mod grid;
mod metrics;
mod onetbb;
pub(crate) mod program;
#[cfg(test)]
pub(crate) mod tests;
