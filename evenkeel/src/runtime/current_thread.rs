//! Runtimes without worker threads.

use super::Runtime;
use super::builder::Builder;
use super::error::BuildError;
use super::handle::Handle;
use crate::processor::driving::Driving;
use crate::processor::neighbours::Neighbours;
use crate::processor::seat::Seat;
use crate::topology::Topology;

impl Builder {
    /// Returns a builder of runtimes without worker threads, Tokio's `new_current_thread`. A thread
    /// inside [`block_on`](Runtime::block_on) *drives* such a runtime: beside its own future it
    /// polls the tasks, fires the timers, and waits for the sockets. Building starts no thread.
    ///
    /// # While no thread drives
    /// Tasks make no progress, timers do not fire, and sockets are not looked at. A task can be
    /// spawned, woken and aborted meanwhile, and the next driver finds it.
    ///
    /// # Which thread drives
    /// One at a time. It is the first of those inside [`Runtime::block_on`], [`Handle::block_on`],
    /// or [`evenkeel::block_on`](crate::block_on()) in a runtime that was
    /// [entered](Handle::enter); unlike in Tokio, a handle drives too. While one thread drives,
    /// another polls its own future alone, on its own thread. When the driver's future is complete,
    /// or panics, the thread that has waited longest takes over. A task may so be polled by one
    /// thread after another: it is `Send`, as in a runtime with workers. Tasks of a
    /// [`LocalSet`](crate::task::LocalSet) need not be.
    ///
    /// # What differs
    /// * That no task starves is a promise of a second thread. Here is but one: a poll that
    ///   computes or blocks, one of the driver's own future included, keeps all tasks waiting
    ///   meanwhile. There are no [reliefs](Self::reliefs) and no lookout, and
    ///   [`on_stall`](Self::on_stall) is not called. Between such polls the order is the same, and
    ///   the driver's future, once it is woken, has its turn after the present batch of some 4 µs:
    ///   256 polls at most, also where they turn from short to long. If it yields, it goes behind
    ///   all tasks that are ready.
    /// * The driver's future counts as a task where that matters: it has a
    ///   [budget](crate::budget), and a `block_on` inside it panics.
    /// * [`block_in_place`](crate::task::block_in_place) calls its closure, and no thread takes
    ///   over meanwhile. [`spawn_blocking`](crate::spawn_blocking()) has threads, as always.
    /// * [`fork_join`](crate::fork_join) runs on the driver, one half after the other. While no
    ///   thread drives, a thread outside that calls [`install`](Handle::install), or waits for a
    ///   scope or a broadcast, runs the closures itself. It polls tasks only where it still has to
    ///   wait.
    /// * The hooks of a worker's [start](Self::on_worker_start) and [stop](Self::on_worker_stop)
    ///   are called, with 0, each time that a thread begins and ceases to drive.
    /// * [`metrics`](Runtime::metrics) are those of one processor.
    ///
    /// # Cost
    /// A `block_on` that drives takes some 0.9 µs, where one beside worker threads takes 0.2 µs. To
    /// spawn a task and join it takes 0.2 µs, because no other thread is woken.
    ///
    /// # Shutdown
    /// The thread that drops the runtime or shuts it down drives meanwhile, unless another thread
    /// does: the futures of aborted tasks are dropped there. It looks at a
    /// [deadline](crate::Shutdown::Deadline) between two such batches, and does not come back from
    /// a poll that is stuck. What is left after a deadline, after [`detach`](Runtime::detach), and
    /// where one of its own tasks has dropped the runtime, is driven to its end by a thread called
    /// the [`name`](Self::name) and `driver`, once no thread in `block_on` does.
    ///
    /// # Options
    /// The runtime has one [worker](Self::workers), worker 0. More are refused.
    /// [`pin`](Self::pin), [`keep_apart`](Self::keep_apart), [`topology`](Self::topology) and
    /// [`reliefs`](Self::reliefs) have no effect; [`stack_size`](Self::stack_size) is that of
    /// blocking threads.
    ///
    /// # Examples
    /// ```
    /// use evenkeel::{BuildError, Builder, spawn};
    /// let runtime = Builder::new_current_thread().build()?;
    /// let here = std::thread::current().id();
    /// let early = runtime.spawn(async { std::thread::current().id() });
    /// assert!(!early.is_finished(), "no thread drives");
    /// let (early, late) = runtime.block_on(async {
    ///     (early.await.unwrap(), spawn(async { std::thread::current().id() }).await.unwrap())
    /// });
    /// assert_eq!([early, late], [here, here]);
    ///
    /// let several = Builder::new_current_thread().workers(2).build();
    /// assert!(matches!(several, Err(BuildError::CurrentThread { asked: 2 })));
    /// # Ok::<(), BuildError>(())
    /// ```
    pub fn new_current_thread() -> Self {
        let mut builder = Self::new();
        builder.is_current_thread = true;
        builder
    }

    /// Builds a runtime without worker threads. The machine is not examined: one processor has no
    /// neighbours.
    pub(super) fn build_current_thread(mut self) -> Result<Runtime, BuildError> {
        let rules = self.check(0)?;
        self.hooks.keep_apart = false;
        let neighbours = Neighbours::all(&Topology::flat(1), &[0]);
        let (shared, seats) = Seat::all(neighbours, self.locality, self.hooks, 0, rules);
        if self.paused {
            shared.stop_clock();
        }
        // Each driver makes the seat anew.
        drop(seats);
        shared.driving.set(Driving::default()).expect("it is set here alone");
        Ok(Runtime::new_running(Handle::new(shared)))
    }
}
