//! The traits of the ecosystem on files: each is a name for operations that files have anyway.

#[cfg(feature = "futures-io")]
mod futures_io;
#[cfg(feature = "tokio-io")]
mod tokio_io;
