//! The hooks of a runtime, which its builder sets.

use super::Builder;
use super::stalls::Reporter;
use crate::detect::Deadlock;
use crate::processor::shared::Shared;
use crate::task::{Stall, TaskPanic};
use std::any::Any;
use std::sync::Arc;

impl Builder {
    /// Sets a hook that each worker's thread calls with the worker's number before the worker
    /// begins. A panic in the hook is caught, and the worker goes on. The hook may spawn tasks, but
    /// must not wait for them: its own processor does not run yet. In a
    /// [current-thread](Self::new_current_thread) runtime a thread calls it whenever it begins to
    /// drive.
    pub fn on_worker_start(mut self, hook: impl Fn(usize) + Send + Sync + 'static) -> Self {
        self.hooks.worker_start = Some(Arc::new(hook));
        self
    }

    /// Sets a hook that each worker's thread calls with the worker's number before the thread
    /// exits. A panic in the hook is caught. Tasks that the hook spawns at the end of the runtime
    /// are cancelled, and [jobs](crate::fork_join::spawn()) are run before the thread exits.
    pub fn on_worker_stop(mut self, hook: impl Fn(usize) + Send + Sync + 'static) -> Self {
        self.hooks.worker_stop = Some(Arc::new(hook));
        self
    }

    /// Sets a hook that is called once for each task that panics and has no joiner, on the thread
    /// that drops the task's handle or output. The default prints a line to the standard error. Two
    /// kinds of panic go to the runtime of the calling thread instead, or to the standard error if
    /// the thread belongs to none: that of a task cancelled after its runtime has ended, and that
    /// of a closure which the spawning thread runs or cancels itself.
    ///
    /// # Examples
    /// ```
    /// use evenkeel::task::TaskPanic;
    /// let (sender, receiver) = std::sync::mpsc::channel();
    /// let runtime = evenkeel::Builder::new()
    ///     .on_task_panic(move |panic: &TaskPanic<'_>| sender.send(panic.to_string()).unwrap())
    ///     .build()?;
    /// // The handle is dropped, so the task has no joiner.
    /// drop(runtime.spawn(async { panic!("no more tea") }));
    /// assert!(receiver.recv().unwrap().ends_with("and had no joiner: no more tea"));
    /// # Ok::<(), evenkeel::BuildError>(())
    /// ```
    pub fn on_task_panic(mut self, hook: impl Fn(&TaskPanic<'_>) + Send + Sync + 'static) -> Self {
        self.hooks.task_panic = Some(Arc::new(hook));
        self
    }

    /// Sets a hook that is called for each job of [`fork_join::spawn`](crate::fork_join::spawn) and
    /// its like that panics, on the worker that ran the job, with the panic's payload. The default
    /// drops the payload: the process's panic hook has reported it. A panic in the hook is caught.
    ///
    /// # Examples
    /// ```
    /// let (sender, receiver) = std::sync::mpsc::channel();
    /// let runtime = evenkeel::Builder::new()
    ///     .on_job_panic(move |payload| sender.send(payload).unwrap())
    ///     .build()?;
    /// runtime.handle().spawn_job(|| panic!("man overboard"));
    /// let payload = receiver.recv().unwrap();
    /// assert_eq!(payload.downcast_ref(), Some(&"man overboard"));
    /// # Ok::<(), evenkeel::BuildError>(())
    /// ```
    pub fn on_job_panic(
        mut self,
        hook: impl Fn(Box<dyn Any + Send>) + Send + Sync + 'static,
    ) -> Self {
        self.hooks.job_panic = Some(Arc::new(hook));
        self
    }

    /// Sets a hook that is called for each deadlock that closes on a thread of the runtime, a
    /// worker or a thread inside its `block_on`, in builds that [detect deadlocks](crate::detect).
    /// The default prints the deadlock to the standard error. A panic in the hook is caught. The
    /// thread that calls the hook is needed for other work: the hook must not block.
    ///
    /// # Examples
    /// ```
    /// use evenkeel::sync::monitor::Monitor;
    /// let (sender, receiver) = std::sync::mpsc::channel();
    /// let runtime = evenkeel::Builder::new()
    ///     .on_deadlock(move |deadlock| sender.send(deadlock.to_string()).unwrap())
    ///     .build()?;
    /// let task = runtime.spawn(async {
    ///     let cabin = Monitor::new("cabin");
    ///     let _inside = cabin.enter().await;
    ///     // The task waits for itself.
    ///     let _again = cabin.enter().await;
    /// });
    /// if evenkeel::detect::is_on() {
    ///     assert!(receiver.recv().unwrap().contains("to enter the monitor of &str"));
    /// }
    /// # task.abort();
    /// # Ok::<(), evenkeel::BuildError>(())
    /// ```
    pub fn on_deadlock(mut self, hook: impl Fn(&Deadlock) + Send + Sync + 'static) -> Self {
        self.hooks.deadlock = Some(Arc::new(hook));
        self
    }

    /// Sets a hook that is called for tasks with long polls, once for each place in the source that
    /// spawns such a task: an error of the program in most cases, since no other task runs on that
    /// worker meanwhile. Polls are found from a millisecond on, and none of 10 ms is missed if its
    /// thread has a core. A poll that lasts for a tenth of a second is reported then, and may go
    /// on; the report of a shorter one has its whole duration. Polls that fork or are inside
    /// [`block_in_place`](crate::task::block_in_place) are not reported. Without a hook nothing is:
    /// long polls are only [counted](crate::metrics::ProcessorMetrics::stalls).
    ///
    /// The hook is called on a thread of its own, and may block or panic. While one report is made,
    /// others are not. A shutdown does not wait for it: a report that is under way may come after
    /// the shutdown has returned. The [lookout](Self::reliefs) finds long polls, so without reliefs
    /// there are no reports. With the hook it looks 250 to 1,000 times per second while any worker
    /// is awake, and a worker that wakes while it rests calls it, in 5 to 10 µs.
    ///
    /// There is no backtrace of the stuck thread: the signal that it takes would interrupt system
    /// calls. A debugger finds the thread by [its number](crate::task::Stall::thread).
    ///
    /// # Examples
    /// ```
    /// use evenkeel::task::Stall;
    /// let (sender, receiver) = std::sync::mpsc::channel();
    /// let runtime = evenkeel::Builder::new()
    ///     .workers(1)
    ///     .on_stall(move |stall: &Stall| sender.send(stall.clone()).unwrap())
    ///     .build()?;
    /// let becalmed = std::time::Duration::from_millis(300);
    /// let task = runtime.spawn(async move { std::thread::sleep(becalmed) });
    /// runtime.spawn(async {}).detach();
    /// let stall = receiver.recv().unwrap();
    /// assert_eq!(stall.task.id, task.id());
    /// println!("{stall}");
    /// # Ok::<(), evenkeel::BuildError>(())
    /// ```
    pub fn on_stall(mut self, hook: impl Fn(&Stall) + Send + Sync + 'static) -> Self {
        let reporter = Arc::new(Reporter::new(hook));
        let report = move |shared: &Arc<Shared>, stalled| reporter.report(shared, stalled);
        self.hooks.stall = Some(Arc::new(report));
        self
    }
}
