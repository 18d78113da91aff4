//! The interface of an actor system to the experiments.
//!
//! Every call is static, so that the compiler sees through it into the peer's own code. A handler
//! is a future that the system polls in place. If it never waits it is ready at once, and the
//! compiler makes it a plain call.

use std::future::Future;
use std::sync::OnceLock;

/// The state and behaviour of an actor.
pub(crate) trait Actor: Send + Unpin + 'static {
    /// Its messages.
    type Message: Send + 'static;

    /// Handles one message.
    fn handle(&mut self, message: Self::Message) -> impl Future<Output = Flow> + Send;
}

/// Whether an actor goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Flow {
    /// It waits for the next message.
    Go,
    /// It ends.
    Stop,
}

/// An actor system in this process. Dropping the value stops the system.
pub(crate) trait System: Sized + 'static {
    /// After this number of messages a sender without back-pressure waits for the receiver's
    /// answer, so that a queue stays in the cache; `None` if [`send`](System::send) waits for room.
    const CREDIT: Option<u32>;

    /// The messages that a sender sends before the first answer: two portions, or all.
    const AHEAD: u32 = match Self::CREDIT {
        Some(portion) => 2 * portion,
        None => u32::MAX,
    };

    /// Spawns actors from inside the system.
    type Spawner: Clone + Send + Sync + 'static;
    /// The address of an actor.
    type Ref<A: Actor>: Clone + Send + Sync + 'static;

    /// Starts the system with `workers` workers.
    fn start(workers: usize) -> anyhow::Result<Self>;

    /// Runs a future on a worker, and waits for it; `None` if the future was lost.
    fn run<T, F>(&self, work: impl FnOnce(Self::Spawner) -> F) -> Option<T>
    where
        T: Send + 'static,
        F: Future<Output = T> + Send + 'static;

    /// Spawns an actor with a mailbox that accepts every message; `place` selects the worker, where
    /// actors stay on one.
    fn spawn<A: Actor>(
        spawner: &Self::Spawner,
        place: usize,
        actor: A,
    ) -> impl Future<Output = Self::Ref<A>> + Send;

    /// The same with a mailbox that applies back-pressure, if the system has such mailboxes.
    fn spawn_bounded<A: Actor>(
        spawner: &Self::Spawner,
        place: usize,
        actor: A,
    ) -> impl Future<Output = Self::Ref<A>> + Send {
        Self::spawn(spawner, place, actor)
    }

    /// Sends a message without waiting. If the actor does not take it, the message is lost, and the
    /// run's counts show it.
    fn post<A: Actor>(to: &Self::Ref<A>, message: A::Message);

    /// Sends a message as soon as there is room for it.
    fn send<A: Actor>(to: &Self::Ref<A>, message: A::Message) -> impl Future<Output = ()> + Send {
        async move { Self::post::<A>(to, message) }
    }
}

/// The references of all actors of a kind, complete before the first message. A message names its
/// receiver by the place here, so that no message counts a reference.
pub(crate) type Table<S, A> = OnceLock<Box<[<S as System>::Ref<A>]>>;
