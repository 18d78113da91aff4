//! Tokio with the primitives it ships, as its users write programs, and in the same
//! [form](super::tokio_hand::form) as with the hand-made primitives.

use std::collections::VecDeque;
use std::future::Future;
use std::sync::{Arc, Mutex, PoisonError};

use crossbeam_utils::CachePadded;
use tokio::sync::Semaphore;

use super::tokio_hand::Join;
use super::tokio_hand::form::Form;
use super::{Array, Lost, Parker, Runtime, Semaphores};

/// A running Tokio runtime.
pub struct TokioNative(Form);

impl Runtime for TokioNative {
    const NAME: &'static str = "tokio-native";

    type Parker = Token;
    type Permits = Permits;
    type Arrays = Arrays;

    fn start(procs: usize) -> anyhow::Result<Self> {
        Form::start(procs).map(TokioNative)
    }

    fn block_on<F: Future>(&self, future: F) -> F::Output {
        self.0.block_on(future)
    }

    fn spawn<F>(future: F) -> impl Future<Output = Result<F::Output, Lost>> + Send + 'static
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        Join(tokio::spawn(future))
    }

    #[inline]
    fn yield_now() -> impl Future<Output = ()> + Send {
        tokio::task::yield_now()
    }
}

/// Waits until a semaphore of the task's own has a permit, and uses the permit up.
async fn take(semaphore: &Semaphore) {
    match semaphore.acquire().await {
        Ok(permit) => permit.forget(),
        Err(closed) => unreachable!("nothing closes these semaphores: {closed}"),
    }
}

/// A token as a semaphore that only its owner acquires.
#[derive(Clone)]
pub struct Token(Arc<Semaphore>);

impl Default for Token {
    fn default() -> Self {
        Token(Arc::new(Semaphore::new(0)))
    }
}

impl Parker for Token {
    type Unparker = Arc<Semaphore>;

    async fn attach(&self) {}

    #[inline]
    fn park(&self) -> impl Future<Output = ()> + Send {
        take(&self.0)
    }

    #[inline]
    fn unparker(&self) -> Arc<Semaphore> {
        self.0.clone()
    }

    #[inline]
    fn unpark(semaphore: &Arc<Semaphore>) {
        semaphore.add_permits(1);
    }
}

/// Plain Tokio semaphores.
pub struct Permits(Box<[CachePadded<Semaphore>]>);

impl Semaphores<()> for Permits {
    type Seat = ();

    fn new(spots: usize, _tasks: usize) -> Self {
        Permits((0..spots).map(|_| CachePadded::new(Semaphore::new(0))).collect())
    }

    #[inline]
    fn seat(self: &Arc<Self>, _task: usize) {}

    #[inline]
    fn release(&self, spot: usize, (): ()) {
        self.0[spot].add_permits(1);
    }

    #[inline]
    fn acquire(&self, spot: usize, (): &mut ()) -> impl Future<Output = ()> + Send {
        take(&self.0[spot])
    }

    fn available(&self, spot: usize) -> usize {
        self.0[spot].available_permits()
    }
}

/// Semaphores beside queues of arrays: Tokio's semaphore carries nothing, and a queue under a mutex
/// is what a user would put next to it.
pub struct Arrays {
    permits: Permits,
    arrays: Box<[CachePadded<Mutex<VecDeque<Array>>>]>,
}

impl Semaphores<Array> for Arrays {
    type Seat = ();

    fn new(spots: usize, tasks: usize) -> Self {
        Arrays {
            permits: Permits::new(spots, tasks),
            arrays: (0..spots).map(|_| CachePadded::default()).collect(),
        }
    }

    #[inline]
    fn seat(self: &Arc<Self>, _task: usize) {}

    #[inline]
    fn release(&self, spot: usize, array: Array) {
        self.arrays[spot].lock().unwrap_or_else(PoisonError::into_inner).push_back(array);
        self.permits.release(spot, ());
    }

    async fn acquire(&self, spot: usize, seat: &mut ()) -> Array {
        self.permits.acquire(spot, seat).await;
        // There are never fewer arrays than permits, because the array goes in first.
        let mut arrays = self.arrays[spot].lock().unwrap_or_else(PoisonError::into_inner);
        arrays.pop_front().expect("each permit comes with an array")
    }

    fn available(&self, spot: usize) -> usize {
        self.permits.available(spot)
    }
}
