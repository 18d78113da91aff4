//! Sockets: TCP, UDP and Unix sockets, and other descriptors, over the workers' own readiness sets.
//!
//! A socket belongs to the worker whose task first has to wait for it: the system tells that
//! worker when it is ready, and the waiting task goes into that worker's queue. A worker without
//! tasks sleeps until one of its sockets is ready. One that has tasks looks at its sockets every
//! 200 µs, between two batches of polls. If a worker is inside a long poll, others look for it.
//!
//! All operations take `&self`, so a socket can be shared by an [`Arc`](std::sync::Arc): one task
//! may read while another one writes. [`TcpStream::split`] and [`TcpStream::into_split`] give a
//! value for each direction. [`TcpSocket`] is for options that are set before a connection.
//!
//! # Errors
//! A socket belongs to a runtime from its first wait on: to that of the task that waits, or the
//! thread's current one. It stays with that one, also when tasks of another runtime use it: if it
//! is a current-thread runtime, they wait until a thread drives it. `into_std` takes it out. An
//! operation that has to wait outside of any runtime fails with an error that says so, and so does
//! one of a socket whose runtime is over, or in a [deterministic](crate::deterministic) run. A
//! runtime that is aborted is over once the blocking closures that are under way have returned: one
//! that waits for a socket in `block_on` keeps its runtime, and gets no error.
//!
//! # Cost
//! An operation that need not wait costs its system call, a unit of the [budget](crate::budget),
//! and a load. The first one that has to wait enters the socket into the worker's set, one system
//! call more.
//!
//! # Traits of other crates
//! Streams have the traits of the ecosystem behind features, so protocols of other crates run on
//! them without an adapter: `futures-io` has those of the crate `futures_io`, `tokio-io` those of
//! `tokio::io` (and no part of Tokio's runtime), and `hyper` those of `hyper::rt`, with
//! `HyperExecutor` and `HyperTimer`. A reference to a stream has them too, because operations take
//! `&self`: one task may read through one reference while another one writes through a second one.
//!
//! Lines, for example, are read by a buffer of Tokio's:
//! ```toml
//! [dependencies]
//! evenkeel = { version = "0.1", features = ["tokio-io"] }
//! tokio = { version = "1", default-features = false, features = ["io-util"] }
//! ```
//! ```
//! # #[cfg(feature = "tokio-io")]
//! # {
//! use evenkeel::net::UnixStream;
//! use tokio::io::{AsyncBufReadExt, BufReader};
//!
//! # evenkeel::Runtime::new()?.block_on(async {
//! let (stream, peer) = UnixStream::pair()?;
//! peer.write_all(b"wind: south\nsea: calm\n").await?;
//! drop(peer);
//! let mut lines = BufReader::new(&stream).lines();
//! while let Some(line) = lines.next_line().await? {
//!     println!("{line}");
//! }
//! # std::io::Result::Ok(())
//! # })?;
//! # }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Examples
//! ```
//! use evenkeel::net::{TcpListener, TcpStream};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let runtime = evenkeel::Runtime::new()?;
//! runtime.block_on(async {
//!     let listener = TcpListener::bind("127.0.0.1:0").await?;
//!     let address = listener.local_addr()?;
//!     evenkeel::spawn(async move {
//!         let (stream, _) = listener.accept().await?;
//!         let mut word = [0; 5];
//!         stream.read_exact(&mut word).await?;
//!         stream.write_all(&word).await
//!     })
//!     .detach();
//!     let stream = TcpStream::connect(address).await?;
//!     stream.write_all(b"hello").await?;
//!     let mut back = [0; 5];
//!     stream.read_exact(&mut back).await?;
//!     assert_eq!(&back, b"hello");
//!     Ok(())
//! })
//! # }
//! ```

mod accepts;
mod addresses;
mod async_fd;
mod halves;
mod interest;
mod io;
mod linger;
mod listener;
mod operations;
mod place;
mod socket;
mod stream;
pub mod tcp;
#[cfg(any(feature = "futures-io", feature = "tokio-io", feature = "hyper"))]
mod traits;
mod udp;
pub mod unix;
mod unix_sockets;

pub use addresses::{Addresses, lookup_host};
pub use async_fd::AsyncFd;
pub use interest::Interest;
pub use listener::TcpListener;
pub use socket::TcpSocket;
pub use stream::TcpStream;
#[cfg(feature = "hyper")]
pub use traits::hyper::{HyperExecutor, HyperTimer};
pub use udp::UdpSocket;
pub use unix_sockets::{UnixDatagram, UnixListener, UnixStream};
