//! actix: an actor stays on the thread that started it; each worker has an arbiter.

use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context as Polling, Poll, Waker};

use actix::{
    Actor as _, ActorContext as _, Addr, Arbiter, ArbiterHandle, Context, Handler, SystemRunner,
};
use tokio::sync::oneshot;

use crate::system::{self, Flow, System};

/// A running system.
pub(crate) struct Actix {
    /// The system's own thread, the only worker of a system of one.
    runner: SystemRunner,
    /// The threads of several workers.
    arbiters: Vec<Arbiter>,
}

/// Wraps an actor of the experiment for actix.
pub(crate) struct Host<A>(A);

/// Wraps a message of the experiment for actix.
pub(crate) struct Letter<M>(M);

impl<M: 'static> actix::Message for Letter<M> {
    type Result = ();
}

impl<A: system::Actor> actix::Actor for Host<A> {
    type Context = Context<Self>;
}

impl<A: system::Actor> Handler<Letter<A::Message>> for Host<A> {
    type Result = ();

    fn handle(&mut self, Letter(message): Letter<A::Message>, context: &mut Context<Self>) {
        // Its handlers are plain functions, and with `do_send` no experiment waits in one.
        let handled = pin!(self.0.handle(message));
        match handled.poll(&mut Polling::from_waker(Waker::noop())) {
            Poll::Ready(Flow::Go) => {}
            Poll::Ready(Flow::Stop) => context.stop(),
            Poll::Pending => unreachable!("a send that does not wait has waited"),
        }
    }
}

impl System for Actix {
    const CREDIT: Option<u32> = Some(super::CREDIT);

    /// The threads of several workers; empty if actors start on the spawning thread.
    type Spawner = Arc<[ArbiterHandle]>;
    type Ref<A: system::Actor> = Addr<Host<A>>;

    fn start(workers: usize) -> anyhow::Result<Self> {
        let runner = actix::System::new();
        let arbiters = match workers {
            1 => Vec::new(),
            _ => (0..workers).map(|_| Arbiter::new()).collect(),
        };
        Ok(Actix { runner, arbiters })
    }

    fn run<T, F>(&self, work: impl FnOnce(Self::Spawner) -> F) -> Option<T>
    where
        T: Send + 'static,
        F: Future<Output = T> + Send + 'static,
    {
        let work = work(self.arbiters.iter().map(Arbiter::handle).collect());
        let Some(first) = self.arbiters.first() else {
            return Some(self.runner.block_on(work));
        };
        let (done, result) = oneshot::channel();
        first.spawn(async move { drop(done.send(work.await)) });
        self.runner.block_on(result).ok()
    }

    async fn spawn<A: system::Actor>(
        spawner: &Self::Spawner,
        place: usize,
        actor: A,
    ) -> Addr<Host<A>> {
        match spawner.len() {
            0 => Host(actor).start(),
            workers => Host::start_in_arbiter(&spawner[place % workers], |_| Host(actor)),
        }
    }

    fn post<A: system::Actor>(to: &Addr<Host<A>>, message: A::Message) {
        to.do_send(Letter(message));
    }
}

impl Drop for Actix {
    fn drop(&mut self) {
        for arbiter in self.arbiters.drain(..) {
            arbiter.stop();
            // A thread that panicked has reported it.
            drop(arbiter.join());
        }
    }
}
