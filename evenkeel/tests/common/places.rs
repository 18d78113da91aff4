//! Places for the parts of a test: threads, and tasks of two runtimes.

use super::weather::{Weather, in_all_weathers};
use evenkeel::{Builder, JoinHandle, Runtime};
use evenkeel_policy::random::Random;
use std::future::Future;
use std::thread;

/// Where a part of a test runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// A thread that blocks on it, outside all runtimes.
    Thread,
    /// A thread that blocks on it inside the first runtime.
    Inside,
    /// A thread of the first runtime's blocking pool, which blocks on it.
    Blocking,
    /// A task of the first runtime.
    Task,
    /// A task of the second runtime.
    Foreigner,
}

/// Two runtimes, and the weather.
pub(crate) struct World<'a> {
    pub(crate) runtimes: [&'a Runtime; 2],
    pub(crate) weather: Weather,
}

/// A running part of a test.
pub(crate) enum Running<T> {
    Thread(thread::JoinHandle<T>),
    Task(JoinHandle<T>),
}

impl<T> Running<T> {
    /// Returns its result.
    pub(crate) fn join(self) -> T {
        match self {
            Self::Thread(thread) => thread.join().expect("the thread ends well"),
            Self::Task(task) => evenkeel::block_on(task).expect("the task ends well"),
        }
    }
}

impl World<'_> {
    /// Starts a part of the test.
    pub(crate) fn run<F>(&self, place: Place, future: F) -> Running<F::Output>
    where
        F: Future<Output: Send> + Send + 'static,
    {
        let [first, second] = self.runtimes;
        match place {
            Place::Thread => Running::Thread(thread::spawn(|| evenkeel::block_on(future))),
            Place::Inside => {
                let handle = first.handle();
                Running::Thread(thread::spawn(move || handle.block_on(future)))
            }
            Place::Blocking => Running::Task(first.spawn_blocking(|| evenkeel::block_on(future))),
            Place::Task => Running::Task(first.spawn(future)),
            Place::Foreigner => Running::Task(second.spawn(future)),
        }
    }

    /// A random way to pass the time, for a part of the test.
    pub(crate) fn passing(&self, seed: u64) -> Passing {
        Passing { random: Random::new(seed), weather: self.weather }
    }
}

/// A random way to pass the time.
pub(crate) struct Passing {
    pub(crate) random: Random,
    weather: Weather,
}

impl Passing {
    /// Yields up to nine times, or never.
    pub(crate) async fn pass(&mut self) {
        self.weather.pass(&mut self.random).await;
    }
}

/// Runs a test with two runtimes of one, two and four workers, with and without yields.
pub(crate) fn in_all_worlds(test: impl Fn(&World<'_>)) {
    in_all_weathers(|first, weather| {
        let second = Builder::new().workers(weather.workers).build().expect("the runtime starts");
        test(&World { runtimes: [first, &second], weather });
    });
}

/// The same, with each pair of places that differ in how one part wakes the other.
pub(crate) fn in_all_places(test: impl Fn(&World<'_>, [Place; 2])) {
    use Place::{Blocking, Foreigner, Inside, Task, Thread};
    in_all_worlds(|world| {
        let threads = [[Thread, Task], [Task, Thread], [Inside, Thread], [Blocking, Task]];
        for places in threads.into_iter().chain([[Task, Foreigner]]) {
            test(world, places);
        }
    });
}
