//! Tokio: an actor is a task that receives from an mpsc channel, as Tokio's users write them.
//!
//! The channel is unbounded: a bounded one takes a semaphore's lock for each message. Fan-in into a
//! bounded one took 75 ns per message (batches: 51), and into this one 44 (23), on one worker of a
//! virtual machine with an EPYC.

use std::future::Future;

use tokio::runtime::Runtime;
use tokio::sync::mpsc::{self, UnboundedReceiver, UnboundedSender};

use crate::system::{Actor, Flow, System};
use suite::kit::runtime::tokio_hand::builder;

/// Messages that `tokio-batch` receives at once.
const BATCH: usize = 64;

/// A running Tokio runtime; for one worker it has one thread, its best form there.
pub(crate) struct Tokio<const BATCHED: bool>(OnTokio);

/// The runtime of all systems in which an actor is a Tokio task.
pub(super) struct OnTokio {
    runtime: Runtime,
    alone: bool,
}

impl OnTokio {
    pub(super) fn start(workers: usize) -> anyhow::Result<OnTokio> {
        Ok(OnTokio { runtime: builder(workers).build()?, alone: workers == 1 })
    }

    pub(super) fn run<T, F>(&self, work: F) -> Option<T>
    where
        T: Send + 'static,
        F: Future<Output = T> + Send + 'static,
    {
        // The calling thread is the worker of a runtime of one, and no worker of a larger runtime.
        match self.alone {
            true => Some(self.runtime.block_on(work)),
            false => self.runtime.block_on(self.runtime.spawn(work)).ok(),
        }
    }
}

async fn one_by_one<A: Actor>(mut actor: A, mut inbox: UnboundedReceiver<A::Message>) {
    while let Some(message) = inbox.recv().await {
        if actor.handle(message).await == Flow::Stop {
            return;
        }
    }
}

async fn in_batches<A: Actor>(mut actor: A, mut inbox: UnboundedReceiver<A::Message>) {
    let mut messages = Vec::new();
    while inbox.recv_many(&mut messages, BATCH).await > 0 {
        for message in messages.drain(..) {
            if actor.handle(message).await == Flow::Stop {
                return;
            }
        }
    }
}

impl<const BATCHED: bool> System for Tokio<BATCHED> {
    const CREDIT: Option<u32> = Some(super::CREDIT);

    type Spawner = ();
    type Ref<A: Actor> = UnboundedSender<A::Message>;

    fn start(workers: usize) -> anyhow::Result<Self> {
        OnTokio::start(workers).map(Self)
    }

    fn run<T, F>(&self, work: impl FnOnce(()) -> F) -> Option<T>
    where
        T: Send + 'static,
        F: Future<Output = T> + Send + 'static,
    {
        self.0.run(work(()))
    }

    async fn spawn<A: Actor>((): &(), _place: usize, actor: A) -> UnboundedSender<A::Message> {
        let (sender, inbox) = mpsc::unbounded_channel();
        // The handle is dropped: the experiment counts its actors itself.
        if BATCHED {
            drop(tokio::spawn(in_batches(actor, inbox)));
        } else {
            drop(tokio::spawn(one_by_one(actor, inbox)));
        }
        sender
    }

    fn post<A: Actor>(to: &UnboundedSender<A::Message>, message: A::Message) {
        drop(to.send(message));
    }
}
