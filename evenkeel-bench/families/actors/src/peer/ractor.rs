//! ractor: actors are tasks of Tokio with four channels each; mailboxes have no bound.

use std::future::Future;
use std::marker::PhantomData;

use ractor::{ActorProcessingErr, ActorRef};

use super::tokio::OnTokio;
use crate::system::{self, Flow, System};

/// A running Tokio runtime.
pub(crate) struct Ractor(OnTokio);

/// Wraps an actor of the experiment for ractor.
struct Host<A>(PhantomData<fn() -> A>);

impl<A: system::Actor> ractor::Actor for Host<A> {
    type Msg = A::Message;
    type State = A;
    type Arguments = A;

    async fn pre_start(
        &self,
        _myself: ActorRef<A::Message>,
        actor: A,
    ) -> Result<A, ActorProcessingErr> {
        Ok(actor)
    }

    async fn handle(
        &self,
        myself: ActorRef<A::Message>,
        message: A::Message,
        actor: &mut A,
    ) -> Result<(), ActorProcessingErr> {
        if actor.handle(message).await == Flow::Stop {
            myself.stop(None);
        }
        Ok(())
    }
}

impl System for Ractor {
    const CREDIT: Option<u32> = Some(super::CREDIT);

    type Spawner = ();
    type Ref<A: system::Actor> = ActorRef<A::Message>;

    fn start(workers: usize) -> anyhow::Result<Self> {
        OnTokio::start(workers).map(Ractor)
    }

    fn run<T, F>(&self, work: impl FnOnce(()) -> F) -> Option<T>
    where
        T: Send + 'static,
        F: Future<Output = T> + Send + 'static,
    {
        self.0.run(work(()))
    }

    async fn spawn<A: system::Actor>((): &(), _place: usize, actor: A) -> ActorRef<A::Message> {
        let started = ractor::Actor::spawn(None, Host(PhantomData), actor).await;
        let (reference, _join) = started.expect("an actor without a name starts");
        reference
    }

    fn post<A: system::Actor>(to: &ActorRef<A::Message>, message: A::Message) {
        drop(to.send_message(message));
    }
}
