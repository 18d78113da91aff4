//! Protocols of actors under shuttle: their ties, and groups. The models of parking and of holds
//! are beside the [code](crate::remote).
//!
//! Memory is sequentially consistent here. A wait for ever shows as a deadlock, an end that is told
//! twice or never as a failed assertion.

mod group;
mod kin;

use crate::{Actor, ActorRef, Builder, System};
use evenkeel::{Handle, JoinHandle, block_on};
use shuttle::rand::{Rng, thread_rng};
use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

pub(crate) fn spawn_in<A: Actor>(
    handle: &Handle,
    system: System,
    actor: A,
) -> ActorRef<A::Message> {
    join(handle.spawn(async move {
        Builder::new().capacity(2).system(system).spawn(actor).expect("it has room")
    }))
}

pub(crate) fn join<T>(task: JoinHandle<T>) -> T {
    block_on(task).expect("the task does not panic")
}

/// Waits for a condition, while other tasks run.
pub(crate) async fn until(condition: impl Fn() -> bool) {
    while !condition() {
        shuttle::thread::yield_now();
        evenkeel::yield_now().await;
    }
}

/// How many steps one task may be ahead. An estimate: some dozens are between the end of a turn and
/// a closed mailbox.
const AHEAD: u32 = 32;

/// A meeting of two tasks, after which their next steps race more often than by chance.
#[derive(Clone, Default)]
pub(crate) struct Meeting(Arc<AtomicUsize>);

impl Meeting {
    pub(crate) async fn meet(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
        until(|| self.0.load(Ordering::Relaxed) >= 2).await;
        // One task has a longer way to the race than the other.
        for _ in 0..thread_rng().gen_range(0..AHEAD) {
            shuttle::thread::yield_now();
        }
    }
}

/// Runs all these tasks at once, and waits for them.
pub(crate) fn at_once<const N: usize>(
    handle: &Handle,
    tasks: [std::pin::Pin<Box<dyn Future<Output = ()> + Send>>; N],
) {
    tasks.map(|task| handle.spawn(task)).into_iter().for_each(join);
}
