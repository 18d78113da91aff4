//! Objects for tests, and where their operations run.

use evenkeel::fork_join::worker_index;
use evenkeel::object::{Object, Placement};
use evenkeel::{Builder, JoinHandle, Runtime, block_on};
use futures::channel::oneshot;

/// A runtime of so many workers.
pub(crate) fn runtime(workers: usize) -> Runtime {
    Builder::new().workers(workers).build().expect("the runtime starts")
}

/// An object whose home is worker `number` of `runtime`.
pub(crate) fn at<T>(runtime: &Runtime, number: usize, value: T) -> Object<T> {
    runtime.block_on(async { Object::new(value).placed("at home", Placement::Home).at(number) })
}

/// An object of `runtime` that is entered in place.
#[allow(dead_code, reason = "some tests have objects at homes alone")]
pub(crate) fn in_place<T>(runtime: &Runtime, value: T) -> Object<T> {
    runtime.block_on(async { Object::new(value).placed("in place", Placement::InPlace) })
}

/// The worker that the caller runs on.
#[allow(dead_code, reason = "some tests do not ask")]
pub(crate) fn worker() -> usize {
    worker_index().expect("it is a worker")
}

/// The results of tasks, which all end well.
#[allow(dead_code, reason = "in some tests they do not")]
pub(crate) fn join<T>(tasks: impl IntoIterator<Item = JoinHandle<T>>) -> Vec<T> {
    tasks.into_iter().map(|task| block_on(task).expect("the task ends well")).collect()
}

/// Enters an object until an operation on it is at its home: a worker that the system has taken off
/// its core for a while has lost it.
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
    /// It is inside.
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

    /// It has left.
    pub(crate) fn leave(self) {
        self.leave.send(()).expect("it waits to be told");
        block_on(self.task).expect("the task ends well");
    }
}
