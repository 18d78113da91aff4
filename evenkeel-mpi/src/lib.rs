//! Carries the nodes of `evenkeel-actor` past one machine: an [`evenkeel_node::Transport`] over
//! MPI.
//!
//! A program that `mpiexec -n 4 program` starts is four nodes; a node's number is its rank in
//! `MPI_COMM_WORLD`.
//!
//! # Actors
//! A `Node` is started with a closure that starts the transport, on the thread that drives it then:
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
//! Below actors, and without them, it moves bytes:
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
//! It needs an MPI library with its compiler wrapper, and libclang to build (Debian:
//! `libopenmpi-dev`, `openmpi-bin`, `libclang-dev`). `mpiexec` of Open MPI refuses to run as root,
//! as in most containers, unless the environment has both `OMPI_ALLOW_RUN_AS_ROOT=1` and
//! `OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1`.
//!
//! # Threads
//! MPI is initialised with `MPI_THREAD_FUNNELED`: the thread that calls [`MpiTransport::start`] is
//! the one that drives the transport and drops it. The transport is neither `Send` nor `Sync`, so
//! the compiler sees to that; other threads have its waker. `MPI_THREAD_MULTIPLE` is granted by
//! most libraries and takes their lock in each call.
//!
//! # Waiting
//! MPI has no file descriptor and no call that waits for "a message or a word from another thread",
//! and moves nothing while nobody calls it. So [`wait`](evenkeel_node::Transport::wait) looks again
//! and again, at first without a pause, then with growing ones: [`Pause`] is the rule. A transport
//! that has been idle for long looks once a millisecond ([`Config::longest_nap`]).
//!
//! # Room
//! A library of MPI takes small messages for a rank that does not ask for them, without a bound,
//! into the memory of that rank. Here one of every few frames to a node is sent synchronously
//! (`MPI_Issend`, which is complete when it has been matched), and there is no next one of these
//! before it is. So each other node has at most
//! [`Config::window`] frames under way to a node that does not poll; a sender of more gets
//! [`Full`](evenkeel_node::Refusal::Full).
//!
//! # Memory
//! A frame that is sent stays where it is until MPI is done with it, and comes back by
//! [`Sent`](evenkeel_node::Event::Sent); MPI copies it itself where that is cheaper. One that is
//! received is given in a buffer of its length. Frames of up to 4000 bytes are copied out of
//! buffers that are always ready for them, longer ones are announced and received in place.
//!
//! # Ends
//! - **Orderly:** each node calls [`leave`](evenkeel_node::Transport::leave) and drops the
//!   transport. `MPI_Finalize` is collective and spins, so the end first takes and throws away what
//!   still comes, in growing pauses, until all have left: by
//!   [`ended`](evenkeel_node::Transport::ended), which does not block and which a node calls
//!   between other work, and else by the drop. A transport that is dropped without `leave` leaves
//!   then. So `Node::leave` returns when all nodes have left, and tasks and actors go on meanwhile.
//! - **A panic** that drops the transport ends the job: a line on the standard error says which
//!   rank it was, then `MPI_Abort`. The others could wait for it for ever.
//! - **An error of MPI** about one node, or about all, becomes
//!   [`Event::Down`](evenkeel_node::Event::Down) with
//!   [`DownReason::Lost`](evenkeel_node::DownReason::Lost) in the words of the library. The drop
//!   then says so and calls `MPI_Abort`, because a collective end with a lost rank does not come.
//! - **A process that is killed, or exits without the drop,** ends the job: before version 5 Open
//!   MPI is fail-stop. `mpiexec` says which rank it was and kills the rest; no
//!   [`Event::Down`](evenkeel_node::Event::Down) is to be expected. A program that must outlive the
//!   loss of a node needs another transport.

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
