//! Objects for tests, and the workers of their operations.

use evenkeel::fork_join::worker_index;
use evenkeel::object::{Object, Placement};
use evenkeel::{Builder, JoinHandle, Runtime, block_on};
use futures::channel::oneshot;

/// Starts a runtime of `workers` workers, which has no reliefs: operations tell their workers.
pub(crate) fn runtime(workers: usize) -> Runtime {
    Builder::new().workers(workers).reliefs(0).build().expect("the runtime starts")
}

/// An object at home at worker `number` of `runtime`.
pub(crate) fn at<T>(runtime: &Runtime, number: usize, value: T) -> Object<T> {
    runtime.block_on(async { Object::new(value).placed("at home", Placement::Home).at(number) })
}

/// An object of `runtime` in place.
#[allow(dead_code, reason = "some tests have objects at homes alone")]
pub(crate) fn in_place<T>(runtime: &Runtime, value: T) -> Object<T> {
    runtime.block_on(async { Object::new(value).placed("in place", Placement::InPlace) })
}

/// The caller's worker.
#[allow(dead_code, reason = "some tests do not ask")]
pub(crate) fn worker() -> usize {
    worker_index().expect("it is a worker")
}

/// The results of tasks, none of which may fail.
#[allow(dead_code, reason = "in some tests they do not")]
pub(crate) fn join<T>(tasks: impl IntoIterator<Item = JoinHandle<T>>) -> Vec<T> {
    tasks.into_iter().map(|task| block_on(task).expect("the task ends well")).collect()
}

/// Enters an object until an operation on it is at its home: an object loses its home while the
/// system keeps that worker off its core.
#[allow(dead_code, reason = "some tests have objects in place alone")]
pub(crate) async fn comes_home<T: Send>(object: &Object<T>) {
    while object.with(|_| worker()).await.ok() != object.home() {}
}

/// A task that is inside an object, across awaits, until it is told to leave.
#[allow(dead_code, reason = "some tests hold nothing")]
pub(crate) struct Holding {
    leave: oneshot::Sender<()>,
    pub(crate) task: JoinHandle<()>,
}

#[allow(dead_code, reason = "some tests hold nothing")]
impl Holding {
    /// Returns once the task is inside.
    pub(crate) fn of<T: Send + 'static>(runtime: &Runtime, object: &Object<T>) -> Self {
        let (leave, told) = oneshot::channel();
        let (entered, inside) = oneshot::channel();
        let object = object.clone();
        let task = runtime.spawn(async move {
            let held = object.enter_held().await.expect("it is whole");
            entered.send(()).expect("the test waits for it");
            told.await.expect("it is told");
            drop(held);
        });
        block_on(inside).expect("it gets in");
        Self { leave, task }
    }

    /// Returns once the task has left.
    pub(crate) fn leave(self) {
        self.leave.send(()).expect("it waits to be told");
        block_on(self.task).expect("the task ends well");
    }
}
