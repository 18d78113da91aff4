//! Building pools.

use crate::global;
use crate::thread::ThreadBuilder;
use crate::{ThreadPool, ThreadPoolBuildError};
use evenkeel::{Builder, fork_join};
use std::any::Any;
use std::num::NonZero;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::{env, fmt, io, thread};

type PanicHandler = dyn Fn(Box<dyn Any + Send>) + Send + Sync;
type Handler = dyn Fn(usize) + Send + Sync;

/// Builds a [`ThreadPool`], or the global one.
///
/// # Examples
/// ```
/// let pool = rayon_core::ThreadPoolBuilder::new()
///     .num_threads(2)
///     .thread_name(|index| format!("deck-{index}"))
///     .build()
///     .unwrap();
/// let name = pool.install(|| std::thread::current().name().map(str::to_owned));
/// assert!(name.unwrap().starts_with("deck-"));
/// ```
pub struct ThreadPoolBuilder<S = DefaultSpawn> {
    num_threads: usize,
    use_current_thread: bool,
    panic_handler: Option<Box<PanicHandler>>,
    thread_name: Option<Box<dyn FnMut(usize) -> String>>,
    stack_size: Option<usize>,
    start_handler: Option<Box<Handler>>,
    exit_handler: Option<Box<Handler>>,
    breadth_first: bool,
    spawn_handler: S,
}

/// Makes the threads of a pool. Other crates cannot name this trait, so they cannot implement it.
pub trait ThreadSpawn {
    /// Whether this crate makes the threads, and so may move them.
    #[doc(hidden)]
    const OWN: bool = false;

    /// Makes a thread that runs `thread`.
    #[doc(hidden)]
    fn spawn(&mut self, thread: ThreadBuilder) -> io::Result<()>;
}

/// Makes threads of [`std::thread`].
#[derive(Debug, Default)]
pub struct DefaultSpawn;

impl ThreadSpawn for DefaultSpawn {
    const OWN: bool = true;

    fn spawn(&mut self, thread: ThreadBuilder) -> io::Result<()> {
        builder_for(&thread).spawn(|| thread.run())?;
        Ok(())
    }
}

/// Makes threads by a closure of the program.
#[derive(Debug)]
pub struct CustomSpawn<F>(F);

impl<F> ThreadSpawn for CustomSpawn<F>
where
    F: FnMut(ThreadBuilder) -> io::Result<()>,
{
    fn spawn(&mut self, thread: ThreadBuilder) -> io::Result<()> {
        (self.0)(thread)
    }
}

/// Returns a builder of a thread with the requested name and stack.
fn builder_for(thread: &ThreadBuilder) -> thread::Builder {
    let mut builder = thread::Builder::new();
    if let Some(name) = thread.name() {
        builder = builder.name(name.to_owned());
    }
    if let Some(size) = thread.stack_size() {
        builder = builder.stack_size(size);
    }
    builder
}

impl Default for ThreadPoolBuilder {
    fn default() -> Self {
        Self {
            num_threads: 0,
            use_current_thread: false,
            panic_handler: None,
            thread_name: None,
            stack_size: None,
            start_handler: None,
            exit_handler: None,
            breadth_first: false,
            spawn_handler: DefaultSpawn,
        }
    }
}

impl ThreadPoolBuilder {
    /// Creates a builder with the defaults.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Builds a pool with threads that run `wrapper`, calls `with_pool` with the pool, and returns
    /// when the threads have exited. `wrapper` must call [`ThreadBuilder::run`], and may borrow.
    /// [Spares](crate#what-is-different) do not run it.
    ///
    /// # Errors
    /// The same as [`build`](Self::build).
    ///
    /// # Examples
    /// ```
    /// let cargo = [1, 2, 3];
    /// let sum = rayon_core::ThreadPoolBuilder::new().num_threads(2).build_scoped(
    ///     |thread| {
    ///         assert_eq!(cargo.len(), 3);
    ///         thread.run()
    ///     },
    ///     |pool| pool.install(|| cargo.iter().sum::<i32>()),
    /// );
    /// assert_eq!(sum.unwrap(), 6);
    /// ```
    pub fn build_scoped<W, F, R>(self, wrapper: W, with_pool: F) -> Result<R, ThreadPoolBuildError>
    where
        W: Fn(ThreadBuilder) + Sync,
        F: FnOnce(&ThreadPool) -> R,
    {
        thread::scope(|scope| {
            let wrapper = &wrapper;
            let pool = self
                .spawn_handler(|thread| {
                    builder_for(&thread).spawn_scoped(scope, move || wrapper(thread))?;
                    Ok(())
                })
                .build()?;
            Ok(with_pool(&pool))
        })
    }
}

impl<S> ThreadPoolBuilder<S>
where
    S: ThreadSpawn,
{
    /// Builds a pool.
    ///
    /// # Errors
    /// If a thread cannot be made, or if the calling thread is to be used and is already in a pool.
    ///
    /// # Panics
    /// If a closure for names or threads panics; threads that already run then exit.
    pub fn build(self) -> Result<ThreadPool, ThreadPoolBuildError> {
        if self.use_current_thread && fork_join::is_inside() {
            return Err(ThreadPoolBuildError::already_in_pool());
        }
        let threads = self.threads();
        let panics: Arc<PanicHandler> = Arc::new(or_abort(self.panic_handler));
        let mut builder = Builder::new().workers(threads).keep_apart(S::OWN).on_job_panic({
            let panics = panics.clone();
            move |panic| panics(panic)
        });
        if let Some(handler) = self.start_handler {
            builder = builder.on_worker_start(reporting(handler, panics.clone()));
        }
        if let Some(handler) = self.exit_handler {
            builder = builder.on_worker_stop(reporting(handler, panics));
        }
        if let Some(size) = self.stack_size {
            builder = builder.stack_size(size);
        }
        let (mut name, mut handler) = (self.thread_name, self.spawn_handler);
        let mut current = None;
        let runtime = builder.build_with(|worker| {
            let index = worker.index();
            let thread = ThreadBuilder::new(worker, name.as_mut().map(|name| name(index)));
            if index == 0 && self.use_current_thread {
                current = Some(thread);
                return Ok(());
            }
            handler.spawn(thread)
        })?;
        // Only after all others have threads: this cannot be undone.
        if let Some(thread) = current {
            thread.settle();
        }
        Ok(ThreadPool::of(runtime))
    }

    /// Builds the global pool, which serves callers outside of any pool. Without this it is built
    /// at the first need.
    ///
    /// # Errors
    /// The same as [`build`](Self::build), and if there already is a global pool.
    pub fn build_global(self) -> Result<(), ThreadPoolBuildError> {
        global::build_global(|| self.build())
    }
}

impl<S> ThreadPoolBuilder<S> {
    /// Sets how threads are made: `spawn` makes a thread that calls [`ThreadBuilder::run`]. The
    /// threads exit some time after the pool is dropped. [Spares](crate#what-is-different) are not
    /// made by it.
    pub fn spawn_handler<F>(self, spawn: F) -> ThreadPoolBuilder<CustomSpawn<F>>
    where
        F: FnMut(ThreadBuilder) -> io::Result<()>,
    {
        ThreadPoolBuilder {
            spawn_handler: CustomSpawn(spawn),
            num_threads: self.num_threads,
            use_current_thread: self.use_current_thread,
            panic_handler: self.panic_handler,
            thread_name: self.thread_name,
            stack_size: self.stack_size,
            start_handler: self.start_handler,
            exit_handler: self.exit_handler,
            breadth_first: self.breadth_first,
        }
    }

    /// Sets the names of the threads. Without it they have no names.
    #[must_use]
    pub fn thread_name<F>(mut self, closure: F) -> Self
    where
        F: FnMut(usize) -> String + 'static,
    {
        self.thread_name = Some(Box::new(closure));
        self
    }

    /// Sets the number of threads, at most [`max_num_threads`](crate::max_num_threads). Zero, the
    /// default, stands for the environment variable `RAYON_NUM_THREADS` or, if that is not set or
    /// zero, for the number of processors that the program may use.
    #[must_use]
    pub fn num_threads(mut self, num_threads: usize) -> Self {
        self.num_threads = num_threads;
        self
    }

    /// Makes the calling thread the pool's thread 0. It runs no loop: it takes jobs only while it
    /// waits for a fork, a scope or a broadcast of the pool, or [yields](crate::yield_now). It
    /// stays in the pool for as long as it lives, and the handlers for start and exit do not run on
    /// it.
    #[must_use]
    pub fn use_current_thread(mut self) -> Self {
        self.use_current_thread = true;
        self
    }

    /// Sets the handler for panics without a receiver: those of [`spawn`](crate::spawn())ed jobs
    /// and of the handlers for start and exit. Without it, or if it panics too, the process is
    /// aborted.
    #[must_use]
    pub fn panic_handler<H>(mut self, panic_handler: H) -> Self
    where
        H: Fn(Box<dyn Any + Send>) + Send + Sync + 'static,
    {
        self.panic_handler = Some(Box::new(panic_handler));
        self
    }

    /// Sets the size of the threads' stacks, in bytes.
    #[must_use]
    pub fn stack_size(mut self, stack_size: usize) -> Self {
        self.stack_size = Some(stack_size);
        self
    }

    /// Sets a hint that is ignored.
    #[deprecated(note = "use `scope_fifo` and `spawn_fifo` for similar effect")]
    #[must_use]
    pub fn breadth_first(mut self) -> Self {
        self.breadth_first = true;
        self
    }

    /// Sets a closure that each thread calls with its number before it begins.
    #[must_use]
    pub fn start_handler<H>(mut self, start_handler: H) -> Self
    where
        H: Fn(usize) + Send + Sync + 'static,
    {
        self.start_handler = Some(Box::new(start_handler));
        self
    }

    /// Sets a closure that each thread calls with its number before it exits.
    #[must_use]
    pub fn exit_handler<H>(mut self, exit_handler: H) -> Self
    where
        H: Fn(usize) + Send + Sync + 'static,
    {
        self.exit_handler = Some(Box::new(exit_handler));
        self
    }

    fn threads(&self) -> usize {
        let asked = match self.num_threads {
            0 => from_environment(),
            asked => asked,
        };
        asked.min(crate::max_num_threads())
    }
}

/// Returns the number of threads if the program gives none.
fn from_environment() -> usize {
    let number = |name| env::var(name).ok().and_then(|text| text.parse::<usize>().ok());
    let available = || thread::available_parallelism().map_or(1, NonZero::get);
    match number("RAYON_NUM_THREADS") {
        Some(0) => available(),
        Some(asked) => asked,
        // The older name.
        None => number("RAYON_RS_NUM_CPUS").filter(|&asked| asked > 0).unwrap_or_else(available),
    }
}

/// Returns a panic handler that aborts if `handler` is missing, or panics.
fn or_abort(handler: Option<Box<PanicHandler>>) -> impl Fn(Box<dyn Any + Send>) + Send + Sync {
    move |panic| {
        let handled = handler
            .as_ref()
            .is_some_and(|handler| catch_unwind(AssertUnwindSafe(|| handler(panic))).is_ok());
        if !handled {
            eprintln!(
                "a job or handler of a thread pool has panicked, and no panic_handler has taken the panic; aborting"
            );
            std::process::abort();
        }
    }
}

/// Returns a handler that passes its panics to the panic handler.
fn reporting(
    handler: Box<Handler>,
    panics: Arc<PanicHandler>,
) -> impl Fn(usize) + Send + Sync + 'static {
    move |index| {
        if let Err(panic) = catch_unwind(AssertUnwindSafe(|| handler(index))) {
            panics(panic);
        }
    }
}

impl<S> fmt::Debug for ThreadPoolBuilder<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ThreadPoolBuilder")
            .field("num_threads", &self.num_threads)
            .field("use_current_thread", &self.use_current_thread)
            .field("stack_size", &self.stack_size)
            .field("breadth_first", &self.breadth_first)
            .finish_non_exhaustive()
    }
}
