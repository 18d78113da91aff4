//! This project's actors, with their bounded mailboxes.

use std::future::Future;
use std::pin::Pin;
use std::task::{self, Poll};

use evenkeel_actor::{ActorRef, Builder, Context, Handled};
use pin_project_lite::pin_project;

use crate::system::{self, Flow, System};

/// Room of the mailboxes of those who are sent messages without waiting: more than any experiment
/// has under way to one actor. Storage appears with the messages, so it costs nothing.
const ROOM: usize = 1 << 20;

/// Room of a mailbox that holds senders back.
const BOUND: usize = 1_024;

/// A running runtime of this project.
pub(crate) struct Evenkeel(evenkeel::Runtime);

/// An actor of the experiment as one of this project.
struct Host<A>(A);

impl<A: system::Actor> evenkeel_actor::Actor for Host<A> {
    type Message = A::Message;

    fn handle(
        &mut self,
        message: A::Message,
        context: &mut Context<Self>,
    ) -> impl Future<Output = Handled> + Send {
        Handling { inner: self.0.handle(message), context }
    }
}

pin_project! {
    /// The experiment's handler as one of this project: by hand, as it would be if the experiment
    /// were written for it. An `async` block around it has states of its own, 2 of 11 ns per
    /// message of `pingpong`.
    struct Handling<'a, F, A>
    where
        A: system::Actor,
    {
        #[pin]
        inner: F,
        context: &'a mut Context<Host<A>>,
    }
}

impl<F: Future<Output = Flow>, A: system::Actor> Future for Handling<'_, F, A> {
    type Output = Handled;

    #[inline]
    fn poll(self: Pin<&mut Self>, task: &mut task::Context<'_>) -> Poll<Handled> {
        let this = self.project();
        this.inner.poll(task).map(|flow| {
            if flow == Flow::Stop {
                this.context.stop();
            }
            Ok(())
        })
    }
}

fn spawn<A: system::Actor>(actor: A, room: usize) -> ActorRef<A::Message> {
    Builder::new().capacity(room).spawn(Host(actor)).expect("the room is within bounds")
}

impl System for Evenkeel {
    const CREDIT: Option<u32> = None;

    type Spawner = ();
    type Ref<A: system::Actor> = ActorRef<A::Message>;
    type Bounded<A: system::Actor> = ActorRef<A::Message>;

    fn start(workers: usize) -> anyhow::Result<Self> {
        Ok(Evenkeel(evenkeel::Builder::new().workers(workers).build()?))
    }

    fn run<T, F>(&self, work: impl FnOnce(()) -> F) -> Option<T>
    where
        T: Send + 'static,
        F: Future<Output = T> + Send + 'static,
    {
        let work = work(());
        self.0.block_on(async { evenkeel::task::spawn(work).await }).ok()
    }

    async fn spawn<A: system::Actor>((): &(), _place: usize, actor: A) -> ActorRef<A::Message> {
        spawn(actor, ROOM)
    }

    async fn spawn_bounded<A: system::Actor>(
        (): &(),
        _place: usize,
        actor: A,
    ) -> ActorRef<A::Message> {
        spawn(actor, BOUND)
    }

    fn post<A: system::Actor>(to: &ActorRef<A::Message>, message: A::Message) {
        drop(to.try_send(message));
    }

    async fn send<A: system::Actor>(to: &ActorRef<A::Message>, message: A::Message) {
        drop(to.send(message).await);
    }
}
