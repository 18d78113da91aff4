//! The colours and markers of runtimes.

/// How many of them there are to tell runtimes apart. A runtime has those of its place among the
/// peers of its family, [`slot`](crate::peer::Known::slot).
pub const SLOTS: usize = 8;
