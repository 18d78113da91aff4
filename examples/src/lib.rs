//! What the programs share: a server on a loopback port that stops gracefully, and HTTP/1 on it.

mod http1;
mod server;

pub use http1::{get, serve};
pub use server::{Report, Server, drain, handshake};

/// Any error, as the crates of others give them.
pub type Fault = Box<dyn std::error::Error + Send + Sync>;
