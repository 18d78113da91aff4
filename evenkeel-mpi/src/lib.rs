//! Runs the nodes of `evenkeel-actor` on several machines: an [`evenkeel_node::Transport`] over
//! MPI.
//!
//! `mpiexec -n 4 program` starts four nodes; a node's number is its rank in `MPI_COMM_WORLD`.
//!
//! # Actors
//! A `Node` is started with a closure that starts the transport, on the thread that drives it
//! afterwards:
//!
//! ```no_run
//! use evenkeel_actor::node::NodeId;
//! use evenkeel_actor::remote::Node;
//! use evenkeel_actor::{Actor, Context, Handled, ReplyTo};
//! use evenkeel_mpi::{Config, MpiTransport};
//! use serde::{Deserialize, Serialize};
//!
//! #[derive(Serialize, Deserialize)]
//! enum Message {
//!     Add(u64),
//!     Get(ReplyTo<u64>),
//! }
//!
//! struct Counter(u64);
//!
//! impl Actor for Counter {
//!     type Message = Message;
//!
//!     async fn handle(&mut self, message: Message, _context: &mut Context<Self>) -> Handled {
//!         match message {
//!             Message::Add(n) => self.0 += n,
//!             Message::Get(reply) => reply.send(self.0),
//!         }
//!         Ok(())
//!     }
//! }
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let runtime = evenkeel::Runtime::new()?;
//! runtime.block_on(async {
//!     // Each rank does this.
//!     let builder = Node::builder().script("counter", |from: u64| Counter(from));
//!     let node = builder.start(|| MpiTransport::start(&Config::new())).await?;
//!     node.ready().await?;
//!     if node.id() == NodeId::new(0) {
//!         let last = NodeId::new(node.nodes() - 1);
//!         let counter = node.spawn_on::<Message, _>(last, "counter", &40_u64).await?;
//!         counter.send(Message::Add(2)).await?;
//!         println!("{}", counter.ask(Message::Get).await?);
//!     }
//!     node.barrier().await?;
//!     node.leave().await;
//!     Ok(())
//! })
//! # }
//! ```
//!
//! # Frames
//! The transport itself, without actors, moves bytes:
//!
//! ```no_run
//! use evenkeel_actor::node::{Event, NodeId, Transport};
//! use evenkeel_mpi::{Config, MpiTransport};
//! use std::time::Duration;
//!
//! let mut transport = MpiTransport::start(&Config::new())?;
//! if transport.local() == NodeId::new(0) && transport.nodes() > 1 {
//!     transport.send(NodeId::new(1), b"hello".to_vec()).expect("the first frame finds room");
//! }
//! transport.leave();
//! let mut others = transport.nodes() - 1;
//! while others > 0 {
//!     match transport.poll() {
//!         Some(Event::Received { from, frame }) => println!("{from}: {} bytes", frame.len()),
//!         Some(Event::Down { .. }) => others -= 1,
//!         Some(_) => {}
//!         None => transport.wait(Duration::from_secs(1)),
//!     }
//! }
//! # Ok::<(), evenkeel_mpi::StartError>(())
//! ```
//!
//! # Building and running
//! The build needs an MPI library with its compiler wrapper, and libclang (Debian:
//! `libopenmpi-dev`, `openmpi-bin`, `libclang-dev`). `mpiexec` of Open MPI refuses to run as root,
//! as in most containers, unless the environment has both `OMPI_ALLOW_RUN_AS_ROOT=1` and
//! `OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1`.
//!
//! # Threads
//! MPI is initialised with `MPI_THREAD_FUNNELED`: the thread that calls [`MpiTransport::start`]
//! also drives the transport and drops it. The transport is neither `Send` nor `Sync`, so the
//! compiler enforces that; other threads have its waker. Most libraries grant
//! `MPI_THREAD_MULTIPLE`, but take a lock in each call for it.
//!
//! # Waiting
//! MPI has no file descriptor, no call that waits for a message or a wake-up from another thread,
//! and makes no progress without calls. So [`wait`](evenkeel_node::Transport::wait) looks again and
//! again, at first without pauses, then with growing ones, by the rule of [`Pause`]. A transport
//! that has been idle for long looks once a millisecond ([`Config::longest_nap`]).
//!
//! # Room
//! An MPI library takes small messages into the memory of a rank that does not ask for them,
//! without a bound. Here one of every few frames to a node is sent synchronously (`MPI_Issend`,
//! which completes when it has been matched), and the next such send waits until it is complete. So
//! each other node has at most [`Config::window`] frames, and a few more that have been received
//! into posted buffers, under way to a node that does not poll; a sender of more gets
//! [`Full`](evenkeel_node::Refusal::Full).
//!
//! # Memory
//! A sent frame stays in its buffer until MPI is done with it, and the buffer comes back by
//! [`Sent`](evenkeel_node::Event::Sent); MPI copies the frame itself where that is cheaper. A frame
//! of more than 4,000 bytes is announced, and received into a buffer of its length; shorter ones
//! are copied out of posted buffers. If the host is a task, it gives buffers back, and short frames
//! are copied into these. A host with a thread of its own gives none back, so each frame has a new
//! one.
//!
//! # Ends
//! - **Orderly:** each node calls [`leave`](evenkeel_node::Transport::leave) and drops the
//!   transport. `MPI_Finalize` is collective and spins. So the end first drops all frames that
//!   still come, in growing pauses, until all nodes have left.
//!   [`ended`](evenkeel_node::Transport::ended) does this without blocking, between a node's other
//!   work; otherwise the drop does it. A transport that is dropped without `leave` leaves then. So
//!   `Node::leave` returns when all nodes have left, and tasks and actors go on meanwhile.
//! - **A panic** that drops the transport ends the job: a line on the standard error names the
//!   rank, then `MPI_Abort` follows. Otherwise the other ranks could wait for it for ever.
//! - **An error of MPI** about one node, or about all, becomes
//!   [`Event::Down`](evenkeel_node::Event::Down) with
//!   [`DownReason::Lost`](evenkeel_node::DownReason::Lost) and the library's text. The drop then
//!   prints it and calls `MPI_Abort`, because a collective end with a lost rank never completes.
//! - **A process that is killed, or exits without the drop,** ends the job: before version 5 Open
//!   MPI is fail-stop. `mpiexec` names the rank and kills the rest; no
//!   [`Event::Down`](evenkeel_node::Event::Down) comes. A program that must survive the loss of a
//!   node needs another transport.

mod config;
mod error;
mod peer;
mod raw;
mod transport;
mod wait;

pub use config::Config;
pub use error::{MpiError, StartError};
pub use transport::MpiTransport;
pub use wait::Pause;
