//! This project's actors, with their bounded mailboxes.

use std::future::Future;
use std::pin::Pin;
use std::task::{self, Poll};

use evenkeel_actor::{ActorRef, Builder, Context, Handled};
use pin_project_lite::pin_project;

use crate::system::{self, Flow, System};

/// The capacity of mailboxes whose senders never wait: above the messages under way to one actor in
/// any experiment. Storage comes with the messages, so the capacity costs nothing.
const ROOM: usize = 1 << 20;

/// The capacity of a mailbox with back-pressure.
const BOUND: usize = 1_024;

/// A running runtime of this project.
pub(crate) struct Evenkeel(evenkeel::Runtime);

/// Wraps an actor of the experiment for this project.
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
    /// The experiment's handler as one of this project, written by hand, as for an experiment of
    /// this project alone. An `async` block around it would have states of its own, 2 of 11 ns per
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
