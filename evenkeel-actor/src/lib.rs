//! Actors on evenkeel: typed references, bounded mailboxes, supervision, on one node or on many.
//!
//! An [`Actor`] is a value that handles messages one at a time, in a task of its own. So actors are
//! as fair as tasks, and share the workers with them. [`spawn`] returns an [`ActorRef`], which
//! sends messages to the actor.
//!
//! ```
//! use evenkeel_actor::{Actor, Context, Handled, ReplyTo, spawn};
//!
//! struct Counter(u64);
//!
//! enum Message {
//!     Add(u64),
//!     Get(ReplyTo<u64>),
//! }
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
//! let runtime = evenkeel::Runtime::new().unwrap();
//! let sum = runtime.block_on(async {
//!     let counter = spawn(Counter(0));
//!     counter.send(Message::Add(40)).await.unwrap();
//!     counter.send(Message::Add(2)).await.unwrap();
//!     counter.ask(Message::Get).await.unwrap()
//! });
//! assert_eq!(sum, 42);
//! ```
//!
//! # Where to find what
//! | | |
//! |---|---|
//! | mailboxes: their capacity, and their policy when they are full | [`Builder`], with [`Wait`], [`Fail`], [`DropNewest`], [`DropOldest`] |
//! | questions and their answers | [`ActorRef::ask`], [`ReplyTo`], [`Request`] |
//! | actors that are restarted when they fail | [`Supervisor`], [`Child`] |
//! | the end of an actor, and how to learn of it | [`ActorRef::stopped`], [`Context::watch`], [`Context::link`], [`System::on_failure`] |
//! | actors by name | [`System::register`], [`System::look_up`], [`System::wait_for`] |
//! | one message to many actors | [`Group`] |
//! | messages after a delay, or periodically | [`Context::send_after`], [`Context::send_every`], [`Context::set_receive_timeout`] |
//! | messages that are kept for later | [`Stash`] |
//! | one reference for actors with different messages | [`Recipient`], [`AnyActor`] |
//! | a reference that keeps no actor | [`WeakActorRef`] |
//! | messages that no actor has handled | [`System::on_dead_letter`], [`DeadLetter`] |
//! | counts and metrics | [`ActorRef::metrics`], [`System::metrics`] |
//! | tests whose order a seed determines | [`kit`] |
//! | actors of several processes | [`remote::Node`] |
//!
//! `serde` serialises messages to actors of other nodes. Such messages derive its `Serialize` and
//! `Deserialize`, so the program has `serde = { version = "1", features = ["derive"] }` among its
//! dependencies.
//!
//! # Features
//! | feature | adds | without it |
//! |---|---|---|
//! | `tracing`, off by default | spans of handlers and events of actors and nodes, for the crate of that name: see the module `trace` | nothing is larger, nothing is executed |
//!
//! With `tracing` and a subscriber, each handled message has a number. It also knows its cause: the
//! number of the message whose handler sent it. So a log shows a chain of messages through actors
//! and nodes.
#![cfg_attr(feature = "tracing", doc = "```")]
#![cfg_attr(not(feature = "tracing"), doc = "```text")]
//! use evenkeel_actor::{Actor, ActorRef, Context, Handled, ReplyTo, spawn};
//! use std::num::NonZeroU64;
//!
//! /// Passes a question on, with the number of its own message.
//! struct Front(ActorRef<Question>);
//!
//! /// Answers with the cause of the question.
//! struct Back;
//!
//! struct Question {
//!     passed_on_by: Option<NonZeroU64>,
//!     reply: ReplyTo<(Option<NonZeroU64>, Option<NonZeroU64>)>,
//! }
//!
//! impl Actor for Front {
//!     type Message = Question;
//!
//!     async fn handle(&mut self, question: Question, context: &mut Context<Self>) -> Handled {
//!         tracing::info!("passed on");
//!         self.0.send(Question { passed_on_by: context.message_id(), ..question }).await?;
//!         Ok(())
//!     }
//! }
//!
//! impl Actor for Back {
//!     type Message = Question;
//!
//!     async fn handle(&mut self, question: Question, context: &mut Context<Self>) -> Handled {
//!         tracing::info!("answered");
//!         question.reply.send((question.passed_on_by, context.cause()));
//!         Ok(())
//!     }
//! }
//!
//! // Each line of the log names the actor and the message, and says what caused it.
//! tracing_subscriber::fmt().with_max_level(tracing::Level::DEBUG).init();
//! let runtime = evenkeel::Runtime::new().unwrap();
//! let (passed_on_by, cause) = runtime.block_on(async {
//!     let front = spawn(Front(spawn(Back)));
//!     front.ask(|reply| Question { passed_on_by: None, reply }).await.unwrap()
//! });
//! assert!(cause.is_some());
//! assert_eq!(cause, passed_on_by);
//! ```

// On docs.rs each item says which feature and system it needs, and nothing of models.
#![cfg_attr(docsrs, feature(doc_cfg))]
#![cfg_attr(docsrs, doc(auto_cfg(hide(shuttle))))]

// Files that unit tests and integration tests share name this crate as a user does.
#[cfg(test)]
extern crate self as evenkeel_actor;

mod actor;
mod kin;
#[cfg(not(shuttle))]
pub mod kit;
mod life;
mod mailbox;
#[cfg(all(test, shuttle))]
mod models;
mod names;
mod policy;
mod primitives;
mod refs;
pub mod remote;
mod supervise;
mod system;
mod ties;
#[cfg(not(feature = "tracing"))]
mod trace;
#[cfg(feature = "tracing")]
pub mod trace;
mod words;

pub use actor::context::Context;
pub use actor::stash::{Stash, StashFull};
pub use actor::{Actor, Handled};
pub use evenkeel_node as node;
pub use kin::control::AnyActor;
pub use kin::stopped::Stopped;
pub use life::builder::{Builder, spawn};
pub use mailbox::overflow::{DropNewest, DropOldest, Fail, Overflow, Wait};
pub use mailbox::timers::TimerId;
pub use names::group::{Group, GroupTypeError, JoinGroupError, Published};
pub use names::registry::{LookUpError, RegisterError, WaitForName};
pub use policy::Priority;
pub use policy::restart::{Restart, Strategy};
pub use refs::actor_ref::{ActorRef, SendFuture, WeakActorRef};
pub use refs::ask::{Ask, Asked, ByClosure, ByRequest, Question, ReplyTo, Request};
pub use refs::recipient::Recipient;
pub use supervise::{
    Child, ChildInfo, Command, Escalated, Supervisor, SupervisorBuilder, SupervisorRef,
};
pub use system::System;
pub use system::failures::{ActorFailure, ActorInfo};
pub use system::metrics::SystemMetrics;
pub use system::subscription::Subscription;
pub use words::dead_letter::{DeadLetter, DeadLetterKind};
pub use words::error::{AskError, SendError, SpawnError, TrySendError};
pub use words::event::Event;
pub use words::exit::{ExitReason, Failure};
pub use words::id::ActorId;
pub use words::metrics::ActorMetrics;

/// Compiles and runs the example of the package's front page.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
