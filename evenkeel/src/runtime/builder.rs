//! How a runtime is built.

use super::blocking::Pool;
use super::error::{BuildError, MOST_WORKERS};
use super::handle::Handle;
use super::{Runtime, Shutdown, enter};
use crate::policy::Locality;
use crate::scheduler::neighbours::Neighbours;
use crate::scheduler::seat::Seat;
use crate::scheduler::shared::Hooks;
use crate::scheduler::worker;
use crate::task::TaskPanic;
use crate::topology::Topology;
use std::sync::{Arc, mpsc};
use std::thread;

/// Builds a [`Runtime`].
///
/// # Examples
/// ```
/// # fn main() -> Result<(), evenkeel::BuildError> {
/// let runtime = evenkeel::Builder::new().workers(2).name("deck").build()?;
/// assert_eq!(runtime.metrics().processors.len(), 2);
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
#[must_use = "a builder does nothing until it builds"]
pub struct Builder {
    workers: Option<usize>,
    name: String,
    pin: bool,
    stack_size: Option<usize>,
    topology: Option<Topology>,
    locality: Locality,
    hooks: Hooks,
}

impl Default for Builder {
    fn default() -> Self {
        Self::new()
    }
}

impl Builder {
    /// A builder with the defaults: a worker per core in use, not pinned.
    pub fn new() -> Self {
        Self {
            workers: None,
            name: "evenkeel".to_owned(),
            pin: false,
            stack_size: None,
            topology: None,
            locality: Locality::default(),
            hooks: Hooks::default(),
        }
    }

    /// How many processors there are, each with a worker: 1 to 1,024. The default is the number of cores
    /// that the process may use, by its affinity mask and its cgroup's quota. More workers than cores work,
    /// and gain nothing.
    pub fn workers(mut self, workers: usize) -> Self {
        self.workers = Some(workers);
        self
    }

    /// What the threads are called: the name and the worker's number. The default is `evenkeel`.
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.name = name.into();
        self
    }

    /// Whether each worker is pinned to one core. Not by default: pinned workers of two programs may share a
    /// core while others are idle. Pin on a machine that is yours alone, or to measure.
    pub fn pin(mut self, pin: bool) -> Self {
        self.pin = pin;
        self
    }

    /// The size of the workers' stacks, in bytes; the default is that of [`std::thread`]. Polls run on them,
    /// so deep recursion inside a task needs more.
    pub fn stack_size(mut self, bytes: usize) -> Self {
        self.stack_size = Some(bytes);
        self
    }

    /// The machine to build for, instead of the one that is detected: who is near whom, and with
    /// [`pin`](Self::pin) who sits where.
    pub fn topology(mut self, topology: Topology) -> Self {
        self.topology = Some(topology);
        self
    }

    /// How the jobs of forks that [state their footprint](crate::fork_join::join_sized) are kept near their data; the default
    /// is [`Locality::Biased`]. The topology says which workers share a cache and how large it is; who sits where is certain
    /// with [`pin`](Self::pin) alone.
    pub fn locality(mut self, locality: Locality) -> Self {
        self.locality = locality;
        self
    }

    /// Called by each worker's thread with the worker's number before it begins. A panic in it is caught,
    /// and the worker goes on. The hook may spawn tasks, but must not wait for them: its own processor does not
    /// run yet.
    pub fn on_worker_start(mut self, hook: impl Fn(usize) + Send + Sync + 'static) -> Self {
        self.hooks.worker_start = Some(Arc::new(hook));
        self
    }

    /// Called by each worker's thread with the worker's number before it leaves. A panic in it is caught.
    pub fn on_worker_stop(mut self, hook: impl Fn(usize) + Send + Sync + 'static) -> Self {
        self.hooks.worker_stop = Some(Arc::new(hook));
        self
    }

    /// Called once for each task that panics and that nobody joins, wherever its handle or its output is
    /// dropped, on the thread that drops it. The default prints a line to the standard error. What is cancelled
    /// after its runtime has ended, and a closure that the spawning thread runs or cancels itself, is told to the
    /// runtime that the thread belongs to, or to the standard error if it belongs to none.
    pub fn on_task_panic(mut self, hook: impl Fn(&TaskPanic<'_>) + Send + Sync + 'static) -> Self {
        self.hooks.task_panic = Some(Arc::new(hook));
        self
    }

    /// Builds the runtime and starts its workers.
    ///
    /// # Errors
    /// [`BuildError`] if the number of workers is out of range, if no thread can have the name, if the machine
    /// cannot be read, or if the system refuses a thread or a pin. Nothing is left running then.
    pub fn build(self) -> Result<Runtime, BuildError> {
        if let Some(asked) = self.workers
            && !(1..=MOST_WORKERS).contains(&asked)
        {
            return Err(BuildError::Workers { asked });
        }
        if self.name.contains('\0') {
            return Err(BuildError::Name { asked: self.name });
        }
        let topology = match self.topology {
            Some(topology) => topology,
            None => Topology::detect().map_err(BuildError::Topology)?,
        };
        let count = self.workers.unwrap_or_else(|| topology.processors().min(MOST_WORKERS));
        let places = topology.assign(count);
        let (shared, seats) =
            Seat::all(Neighbours::all(&topology, &places), self.locality, self.hooks);
        let pool = Arc::new(Pool::new(shared.clone(), self.name.clone(), self.stack_size));
        let handle = Handle::new(shared.clone(), pool);
        let (started, starts) = mpsc::channel();
        let mut runtime = Runtime { handle, workers: Vec::with_capacity(count) };
        let mut failure = None;
        for (index, seat) in seats.enumerate() {
            let start = Start {
                handle: runtime.handle.clone(),
                cpu: self.pin.then(|| topology.cpus()[places[index]].id),
                seat,
                started: started.clone(),
            };
            let mut builder = thread::Builder::new().name(format!("{}-{index}", self.name));
            if let Some(size) = self.stack_size {
                builder = builder.stack_size(size);
            }
            match builder.spawn(move || start.run()) {
                Ok(thread) => runtime.workers.push(thread),
                Err(source) => {
                    failure = Some(BuildError::Thread { worker: index, source });
                    break;
                }
            }
        }
        drop(started);
        // The channel ends when every worker has said how it started.
        let failure = starts.iter().fold(failure, |failure, start| failure.or(start.err()));
        match failure {
            None => Ok(runtime),
            Some(failure) => {
                // A hook of a worker that did start may have spawned tasks.
                runtime.shutdown(Shutdown::Abort);
                Err(failure)
            }
        }
    }
}

/// What a worker's thread begins with.
struct Start {
    handle: Handle,
    seat: Seat,
    cpu: Option<usize>,
    started: mpsc::Sender<Result<(), BuildError>>,
}

impl Start {
    fn run(self) {
        let Self { handle, seat, cpu, started } = self;
        let worker = seat.me();
        let pinned = cpu.map_or(Ok(()), |cpu| {
            pin(cpu).map_err(|source| BuildError::Pin { worker, cpu, source })
        });
        let refused = pinned.is_err();
        // The builder reads until all senders are gone.
        let _ = started.send(pinned);
        drop(started);
        if refused {
            handle.shared().note_left();
            return;
        }
        let _entered = enter::enter(&handle);
        drop(handle);
        worker::work(seat);
    }
}

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
