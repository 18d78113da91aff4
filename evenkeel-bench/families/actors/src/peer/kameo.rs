//! kameo: actors are tasks of Tokio; a message is boxed, and so is the future that handles it.
//!
//! Mailboxes have no bound: with one, fan-in was equal on one worker and a fifth slower on two.

use std::convert::Infallible;
use std::future::Future;

use kameo::actor::{ActorRef, Spawn as _};
use kameo::mailbox;
use kameo::message::{Context, Message};

use super::tokio::OnTokio;
use crate::system::{self, Flow, System};

/// A running Tokio runtime.
pub(crate) struct Kameo(OnTokio);

/// Wraps an actor of the experiment for kameo.
pub(crate) struct Host<A>(A);

/// Wraps a message of the experiment for kameo.
struct Letter<M>(M);

impl<A: system::Actor> kameo::Actor for Host<A> {
    type Args = Self;
    type Error = Infallible;

    async fn on_start(host: Self, _myself: ActorRef<Self>) -> Result<Self, Infallible> {
        Ok(host)
    }
}

impl<A: system::Actor> Message<Letter<A::Message>> for Host<A> {
    type Reply = ();

    async fn handle(
        &mut self,
        Letter(message): Letter<A::Message>,
        context: &mut Context<Self, ()>,
    ) {
        if self.0.handle(message).await == Flow::Stop {
            context.stop();
        }
    }
}

impl System for Kameo {
    const CREDIT: Option<u32> = Some(super::CREDIT);

    type Spawner = ();
    type Ref<A: system::Actor> = ActorRef<Host<A>>;

    fn start(workers: usize) -> anyhow::Result<Self> {
        OnTokio::start(workers).map(Kameo)
    }

    fn run<T, F>(&self, work: impl FnOnce(()) -> F) -> Option<T>
    where
        T: Send + 'static,
        F: Future<Output = T> + Send + 'static,
    {
        self.0.run(work(()))
    }

    async fn spawn<A: system::Actor>((): &(), _place: usize, actor: A) -> ActorRef<Host<A>> {
        Host::spawn_with_mailbox(Host(actor), mailbox::unbounded())
    }

    fn post<A: system::Actor>(to: &ActorRef<Host<A>>, message: A::Message) {
        drop(to.tell(Letter(message)).try_send());
    }
}
