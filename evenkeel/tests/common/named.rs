//! Tasks with names.

use evenkeel::task::{self, TaskInfo};
use evenkeel::{JoinHandle, Runtime};

/// The names of these tasks, sorted.
pub(crate) fn names(tasks: &[TaskInfo]) -> Vec<&str> {
    let mut names: Vec<_> = tasks.iter().map(|task| task.name.as_deref().unwrap_or("-")).collect();
    names.sort_unstable();
    names
}

/// Spawns a named task, from outside the runtime.
pub(crate) fn named(
    runtime: &Runtime,
    name: &'static str,
    future: impl Future<Output = ()> + Send + 'static,
) -> JoinHandle<()> {
    let spawn = async move { [task::Builder::new().name(name).spawn(future)] };
    let [handle] = runtime.block_on(spawn);
    handle
}
