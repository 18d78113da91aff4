//! This project's runtime, with its own primitives and its defaults.

use std::future::{self, Future};
use std::pin::Pin;
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll};

use crossbeam_utils::CachePadded;
use evenkeel::sync::Semaphore;
use evenkeel::task;

use super::{Array, Lost, Parker, Runtime, Semaphores};

/// A running runtime of this project. It forks too.
pub struct Evenkeel(pub evenkeel::Runtime);

impl Runtime for Evenkeel {
    const NAME: &'static str = "evenkeel";

    type Parker = Token;
    type Permits = Row<()>;
    type Arrays = Row<Array>;

    fn start(procs: usize) -> anyhow::Result<Self> {
        Ok(Evenkeel(evenkeel::Builder::new().workers(procs).build()?))
    }

    fn block_on<F: Future>(&self, future: F) -> F::Output {
        self.0.block_on(future)
    }

    fn spawn<F>(future: F) -> impl Future<Output = Result<F::Output, Lost>> + Send + 'static
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        Join(task::spawn(future))
    }

    #[inline]
    fn yield_now() -> impl Future<Output = ()> + Send {
        task::yield_now()
    }
}

struct Join<T>(evenkeel::JoinHandle<T>);

impl<T: Send + 'static> Future for Join<T> {
    type Output = Result<T, Lost>;

    #[inline]
    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        Pin::new(&mut self.0).poll(cx).map_err(|error| Lost(error.to_string()))
    }
}

/// A task's own token; through this cell other tasks find the task.
#[derive(Clone, Default)]
pub struct Token(Arc<OnceLock<task::Task>>);

impl Parker for Token {
    type Unparker = task::Task;

    #[inline]
    fn attach(&self) -> impl Future<Output = ()> + Send {
        self.0.get_or_init(task::current);
        future::ready(())
    }

    #[inline]
    fn park(&self) -> impl Future<Output = ()> + Send {
        task::park()
    }

    #[inline]
    fn unparker(&self) -> task::Task {
        self.0.get().expect("the token is attached before it is used").clone()
    }

    #[inline]
    fn unpark(task: &task::Task) {
        task.unpark();
    }
}

/// The runtime's semaphores, each on cache lines of its own.
pub struct Row<D>(Box<[CachePadded<Semaphore<D>>]>);

impl<D: Send + 'static> Semaphores<D> for Row<D> {
    type Seat = ();

    fn new(spots: usize, _tasks: usize) -> Self {
        Row((0..spots).map(|_| CachePadded::new(Semaphore::empty())).collect())
    }

    #[inline]
    fn seat(self: &Arc<Self>, _task: usize) {}

    #[inline]
    fn release(&self, spot: usize, datum: D) {
        self.0[spot].hand_over(datum);
    }

    #[inline]
    fn acquire(&self, spot: usize, (): &mut ()) -> impl Future<Output = D> + Send {
        self.0[spot].take()
    }

    fn available(&self, spot: usize) -> usize {
        self.0[spot].available_permits()
    }
}
