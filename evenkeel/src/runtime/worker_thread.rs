//! How a worker gets a thread.

use super::error::BuildError;
use super::handle::Handle;
use crate::primitives::clock;
use crate::processor::context::Context;
use crate::processor::current;
use crate::processor::entered;
use crate::processor::meter::Doing;
use crate::processor::seat::Seat;
use crate::processor::shared::Shared;
use crate::scheduler::{broadcast, work};
use crate::topology::Distance;
use std::cell::OnceCell;
use std::fmt;
use std::sync::{Arc, mpsc};

/// A worker that has no thread yet: see [`Builder::build_with`](crate::Builder::build_with).
///
/// If it is dropped, it never runs, and its runtime does without it: the next worker runs its parts
/// of broadcasts. If all workers of a runtime have been dropped, the runtime runs nothing, and a
/// caller that waits for its tasks, timers or sockets waits for ever.
///
/// # Examples
/// Threads of the program's own, with the name and the stack that the builder was asked for:
/// ```
/// use std::thread;
/// let (mut started, mut threads) = (Vec::new(), Vec::new());
/// let builder = evenkeel::Builder::new().workers(2).name("deck").stack_size(1 << 20);
/// let runtime = builder.build_with(|worker| {
///     started.push(worker.index());
///     let mut thread = thread::Builder::new().name(worker.name().to_owned());
///     if let Some(bytes) = worker.stack_size() {
///         thread = thread.stack_size(bytes);
///     }
///     threads.push(thread.spawn(move || worker.run())?);
///     Ok(())
/// })?;
/// assert_eq!(started, [0, 1]);
/// let names = runtime.handle().broadcast(|_| thread::current().name().map(str::to_owned));
/// assert_eq!(names, [Some("deck-0".to_owned()), Some("deck-1".to_owned())]);
/// drop(runtime);
/// for thread in threads {
///     thread.join().unwrap();
/// }
/// # Ok::<(), evenkeel::BuildError>(())
/// ```
#[must_use = "a worker that is dropped never runs"]
pub struct WorkerThread {
    handle: Handle,
    /// None once the worker runs.
    seat: Option<Seat>,
    index: usize,
    name: String,
    cpu: Option<usize>,
    /// Tells the builder how the worker has started, if the builder listens.
    started: Option<mpsc::Sender<Result<(), BuildError>>>,
}

impl WorkerThread {
    pub(super) fn new(
        handle: Handle,
        seat: Seat,
        name: String,
        cpu: Option<usize>,
        started: Option<mpsc::Sender<Result<(), BuildError>>>,
    ) -> Self {
        let index = seat.me();
        Self { handle, seat: Some(seat), index, name, cpu, started }
    }

    /// Returns the worker's number, from zero.
    #[must_use]
    pub fn index(&self) -> usize {
        self.index
    }

    /// Returns the name that its thread should have: the [`name`](crate::Builder::name) and the
    /// number.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the size of the stack that its thread should have, in bytes, if
    /// [one](crate::Builder::stack_size) was asked for.
    #[must_use]
    pub fn stack_size(&self) -> Option<usize> {
        self.handle.shared().hooks.threads.stack_size
    }

    /// Runs the worker on this thread until its runtime is over.
    ///
    /// # Panics
    /// If the thread is a worker already.
    #[track_caller]
    pub fn run(mut self) {
        assert!(
            !entered::is_inside(),
            "WorkerThread::run: this thread is a worker already: run each worker on a thread of its own"
        );
        let cpu = self.cpu;
        let pinned = cpu.map_or(Ok(()), |cpu| {
            pin(cpu).map_err(|source| BuildError::Pin { worker: self.index, cpu, source })
        });
        let refused = pinned.is_err();
        if let Some(started) = self.started.take() {
            // The builder reads until all senders are gone.
            let _ = started.send(pinned);
        }
        if refused {
            return;
        }
        let _entered = current::enter(self.handle.shared());
        let seat = self.seat.take().expect("a worker runs once");
        drop(self);
        work::work(seat);
    }

    /// Makes this thread the worker, for as long as the thread lives, and returns at once. What the
    /// thread forks and spawns is then at once in reach of the others, without a change of threads.
    ///
    /// The thread may block, also by [`block_on`](crate::block_on()) and as that of a
    /// current-thread runtime; but not inside the closures of fork-join, where another worker would
    /// be refused it. As it runs no worker's loop, it takes part in the work of others and in
    /// broadcasts only while it waits for a fork, a scope or a broadcast, or
    /// [yields](crate::fork_join::yield_now). It polls no tasks, fires no timers and looks at no
    /// sockets: the other workers do that for it. They poll the tasks that it spawns, and take over
    /// those that come to it. If no other worker runs, what waits for a task, a timer or a socket
    /// of the runtime waits for ever, also in `block_on`: wait in another runtime. The others take
    /// this worker for awake: while all of them sleep, one of them looks around every 8 ms. When
    /// the thread ends, the next worker runs what is left of its parts of broadcasts, and later
    /// ones. The hooks of the builder do not run, and the runtime shuts down without this worker.
    /// If this thread shuts it down, the report is [detached](crate::ShutdownReport::detached). The
    /// runtime's memory is never freed.
    ///
    /// # Errors
    /// If the thread is a worker already.
    ///
    /// # Examples
    /// ```
    /// use evenkeel::{AlreadyWorker, Builder, fork_join};
    /// let mut first = None;
    /// let runtime = Builder::new().workers(2).build_with(|worker| {
    ///     match worker.index() {
    ///         0 => first = Some(worker),
    ///         _ => drop(std::thread::spawn(move || worker.run())),
    ///     }
    ///     Ok(())
    /// })?;
    /// first.unwrap().settle()?;
    /// // The program's main thread forks as a worker.
    /// assert_eq!(fork_join::worker_index(), Some(0));
    /// assert_eq!(fork_join::join(|| 1, || 2), (1, 2));
    ///
    /// let other = Builder::new().workers(1).build_with(|worker| {
    ///     assert_eq!(worker.settle(), Err(AlreadyWorker));
    ///     Ok(())
    /// })?;
    /// other.detach();
    /// assert!(runtime.shutdown(evenkeel::Shutdown::Abort).detached);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn settle(mut self) -> Result<(), AlreadyWorker> {
        if entered::is_inside() {
            return Err(AlreadyWorker);
        }
        let seat = self.seat.take().expect("a worker runs once");
        let shared = seat.shared().clone();
        shared.idle.sit(self.index);
        std::mem::forget(current::enter(self.handle.shared()));
        let context = Box::leak(Box::new(Context::new(seat, clock::now())));
        // Whatever the thread does between two waits counts as its work.
        context.switch(Doing::Running(Distance::Same), context.now.get());
        context.settle();
        let settled = Settled { shared: shared.clone(), index: self.index };
        // The thread was no worker, so it has not settled before. If the thread is exiting already,
        // `settled` is dropped here.
        let _ = SETTLED.try_with(|place| place.set(settled));
        shared.note_left(true);
        Ok(())
    }
}

impl Drop for WorkerThread {
    /// The ender waits for every worker, and a broadcast for each part: neither must wait for a
    /// worker that never runs.
    fn drop(&mut self) {
        if self.seat.is_some() {
            let shared = self.handle.shared();
            broadcast::bequeath(shared, self.index);
            shared.note_left(true);
        }
    }
}

thread_local! {
    /// The worker that the thread has settled as.
    static SETTLED: OnceCell<Settled> = const { OnceCell::new() };
}

/// A worker on a thread without a worker's loop. It is dropped when the thread ends.
struct Settled {
    shared: Arc<Shared>,
    index: usize,
}

impl Drop for Settled {
    fn drop(&mut self) {
        broadcast::bequeath(&self.shared, self.index);
    }
}

impl fmt::Debug for WorkerThread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WorkerThread")
            .field("index", &self.index)
            .field("name", &self.name)
            .field("stack_size", &self.stack_size())
            .finish_non_exhaustive()
    }
}

/// The thread that is to become a worker is one already.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AlreadyWorker;

impl fmt::Display for AlreadyWorker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(
            "this thread is a worker of a runtime already: settle the worker on another thread",
        )
    }
}

impl std::error::Error for AlreadyWorker {}

#[cfg(target_os = "linux")]
fn pin(cpu: usize) -> std::io::Result<()> {
    use rustix::thread::{CpuSet, sched_setaffinity};
    if cpu >= CpuSet::MAX_CPU {
        return Err(std::io::ErrorKind::InvalidInput.into());
    }
    let mut set = CpuSet::new();
    set.set(cpu);
    Ok(sched_setaffinity(None, &set)?)
}

#[cfg(not(target_os = "linux"))]
fn pin(_cpu: usize) -> std::io::Result<()> {
    Err(std::io::ErrorKind::Unsupported.into())
}
