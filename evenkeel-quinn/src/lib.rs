//! QUIC on evenkeel: the runtime of [`quinn`], whose tasks, timers and sockets are evenkeel's.
//!
//! [`QuinnRuntime`] is the last argument of [`quinn::Endpoint::new`]. Everything else is quinn's:
//! features that choose the cryptography and certificates are set on `quinn` itself. No Tokio
//! runtime takes part.
//!
//! ```
//! use evenkeel_quinn::QuinnRuntime;
//! use quinn::{Endpoint, EndpointConfig};
//! use std::net::UdpSocket;
//! use std::sync::Arc;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let runtime = evenkeel::Runtime::new()?;
//! runtime.block_on(async {
//!     let socket = UdpSocket::bind("127.0.0.1:0")?;
//!     // A client; a server gives its `ServerConfig` in place of `None`.
//!     let config = EndpointConfig::default();
//!     let endpoint = Endpoint::new(config, None, socket, Arc::new(QuinnRuntime::default()))?;
//!     endpoint.close(0_u32.into(), b"done");
//!     endpoint.wait_idle().await;
//!     Ok(())
//! })
//! # }
//! ```
//!
//! # Panics
//! Quinn spawns tasks when an endpoint is made, when it connects, and when it accepts a connection.
//! With `QuinnRuntime::default()` that happens in the current runtime, and outside of any it
//! panics, as [`evenkeel::spawn`] does. [`QuinnRuntime::new`] names the runtime for all of them.
//!
//! # Platforms
//! Those on which evenkeel has sockets: Unix. Elsewhere this crate is empty.
//!
//! # Cost
//! A socket sends and receives several datagrams in one system call where the system can: quinn's
//! own `quinn-udp` does that. Each task that waits for room to write allocates once per wait.

#![cfg(unix)]
#![forbid(unsafe_code)]

mod poller;
mod runtime;
mod socket;
mod timer;

pub use runtime::QuinnRuntime;

/// Compiles and runs the example of the package's front page.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
