//! What an experiment asks of an actor system.
//!
//! Every call is static, so that the compiler sees through it into the peer's own code. A handler
//! is a future that a system polls where it is; where nothing in it waits it is ready at once, and
//! the compiler makes a plain call of it.

use std::future::Future;
use std::sync::OnceLock;

/// The state of an actor, and what it does.
pub(crate) trait Actor: Send + Unpin + 'static {
    /// What it is sent.
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

/// An actor system in this process. Dropping the value stops it.
pub(crate) trait System: Sized + 'static {
    /// Where a sender that nothing holds back stops until the receiver has answered, so that a
    /// queue stays in the cache; `None` if [`send`](System::send) waits for room.
    const CREDIT: Option<u32>;

    /// Spawns actors from within.
    type Spawner: Clone + Send + Sync + 'static;
    /// The address of an actor whose mailbox takes whatever comes.
    type Ref<A: Actor>: Clone + Send + Sync + 'static;
    /// The address of an actor whose mailbox holds senders back, if there are such.
    type Bounded<A: Actor>: Clone + Send + Sync + 'static;

    /// Starts it with so many workers.
    fn start(workers: usize) -> anyhow::Result<Self>;

    /// Runs a future on a worker, and waits for it; `None` if it was lost.
    fn run<T, F>(&self, work: impl FnOnce(Self::Spawner) -> F) -> Option<T>
    where
        T: Send + 'static,
        F: Future<Output = T> + Send + 'static;

    /// Spawns an actor; `place` says on which worker, where actors stay on one.
    fn spawn<A: Actor>(
        spawner: &Self::Spawner,
        place: usize,
        actor: A,
    ) -> impl Future<Output = Self::Ref<A>> + Send;

    /// The same with a mailbox that holds senders back.
    fn spawn_bounded<A: Actor>(
        spawner: &Self::Spawner,
        place: usize,
        actor: A,
    ) -> impl Future<Output = Self::Bounded<A>> + Send;

    /// Sends a message without waiting. One that nobody takes is lost: the run's counts tell.
    fn post<A: Actor>(to: &Self::Ref<A>, message: A::Message);

    /// Sends a message as soon as there is room for it.
    fn send<A: Actor>(
        to: &Self::Bounded<A>,
        message: A::Message,
    ) -> impl Future<Output = ()> + Send;
}

/// The references of all actors of a kind, which are there before the first message. Those who are
/// sent to are found in it by their place, so that no reference is counted on the way.
pub(crate) type Table<S, A> = OnceLock<Box<[<S as System>::Ref<A>]>>;
