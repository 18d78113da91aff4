//! The colours and markers of runtimes.

/// The number of colours and markers for runtimes. A runtime has those of its place among the peers
/// of its family, its [`slot`](crate::peer::Known::slot).
pub const SLOTS: usize = 8;
