//! A future whose polls and drop are inside the context of a Tokio runtime.

use crate::background;
use crate::context::enter_to_drop;
use crate::handle;
use pin_project_lite::pin_project;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};
use tokio::runtime::Handle;

pin_project! {
    /// A future each poll of which, and whose drop, is inside the context of a Tokio runtime.
    /// Returned by [`CompatExt::compat`].
    ///
    /// The guard of the context is held within a poll only, so the wrapper is `Send` if its future
    /// is. It may be nested, and it may be polled inside of another Tokio runtime: the innermost
    /// context counts.
    ///
    /// # Cancel safety
    /// That of the wrapped future.
    ///
    /// # Panics
    /// A poll panics if its future does. If the handle's runtime is over, Tokio's timers and
    /// sockets panic or fail as they do in such a runtime. If any caller's waker panics on the
    /// thread that drives this crate's runtime, that thread ends, and later polls panic.
    ///
    /// # Examples
    /// ```
    /// use evenkeel_compat::Compat;
    /// use std::future::ready;
    ///
    /// let mut wrapper = Compat::new(ready(3));
    /// *wrapper.get_mut() = ready(4);
    /// assert_eq!(wrapper.get_ref().clone().into_inner(), 4);
    /// // A future that was taken out is polled, and dropped, outside of the context again.
    /// assert_eq!(evenkeel::block_on(wrapper.into_inner()), 4);
    /// ```
    #[must_use = "futures do nothing unless awaited"]
    pub struct Compat<F> {
        // None once it was taken out, or dropped inside the context.
        #[pin]
        future: Option<F>,
        handle: Handle,
    }

    impl<F> PinnedDrop for Compat<F> {
        fn drop(this: Pin<&mut Self>) {
            let mut this = this.project();
            let _context = enter_to_drop(this.handle);
            this.future.set(None);
        }
    }
}

impl<F> Compat<F> {
    /// Wraps a future for this crate's Tokio runtime, as [`CompatExt::compat`] does.
    ///
    /// # Panics
    /// If the runtime cannot be started; [`try_handle`](crate::try_handle) says so by an error.
    #[track_caller]
    pub fn new(future: F) -> Self {
        Self::with(future, handle().clone())
    }

    /// Wraps a future for the Tokio runtime of a handle, as [`CompatExt::compat_with`] does.
    pub fn with(future: F, handle: Handle) -> Self {
        Self { future: Some(future), handle }
    }

    /// Returns the wrapped future.
    pub fn get_ref(&self) -> &F {
        self.future.as_ref().expect(THERE)
    }

    /// Returns the wrapped future, to be changed.
    pub fn get_mut(&mut self) -> &mut F {
        self.future.as_mut().expect(THERE)
    }

    /// Takes the future out of its wrapper. Its drop is then the caller's matter.
    pub fn into_inner(mut self) -> F {
        self.future.take().expect(THERE)
    }
}

/// Only `into_inner` and the destructor take the future, and both consume the wrapper.
const THERE: &str = "the future is there until the wrapper is consumed";

impl<F: Future> Future for Compat<F> {
    type Output = F::Output;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        let this = self.project();
        background::check(this.handle);
        let _context = this.handle.enter();
        this.future.as_pin_mut().expect(THERE).poll(cx)
    }
}

impl<F: fmt::Debug> fmt::Debug for Compat<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Compat").field("future", &self.future).finish_non_exhaustive()
    }
}

/// Wraps futures that need the context of a Tokio runtime. Every future has it.
pub trait CompatExt: Future + Sized {
    /// Wraps this future: each of its polls, and its drop, is inside the context of this crate's
    /// Tokio runtime. The first use starts that runtime.
    ///
    /// # Panics
    /// If the runtime cannot be started; [`try_handle`](crate::try_handle) says so by an error.
    ///
    /// # Examples
    /// ```
    /// use evenkeel_compat::CompatExt;
    /// use tokio::io::AsyncWriteExt;
    /// use tokio::net::{TcpListener, TcpStream};
    ///
    /// let runtime = evenkeel::Runtime::new().unwrap();
    /// let connected = runtime.block_on(
    ///     async {
    ///         let listener = TcpListener::bind("127.0.0.1:0").await?;
    ///         let mut stream = TcpStream::connect(listener.local_addr()?).await?;
    ///         stream.write_all(b"hello").await
    ///     }
    ///     .compat(),
    /// );
    /// connected.unwrap();
    /// ```
    #[track_caller]
    fn compat(self) -> Compat<Self> {
        Compat::new(self)
    }

    /// Wraps this future for a Tokio runtime of the program's own, which something else drives.
    ///
    /// # Examples
    /// ```
    /// use evenkeel_compat::CompatExt;
    /// use tokio::runtime::{Builder, Handle};
    ///
    /// // One that is not driven by its own threads needs a thread inside its `block_on`.
    /// let tokio = Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    /// let handle = tokio.handle().clone();
    /// let here = async { Handle::current().id() }.compat_with(handle.clone());
    /// assert_eq!(evenkeel::block_on(here), handle.id());
    /// ```
    fn compat_with(self, handle: Handle) -> Compat<Self> {
        Compat::with(self, handle)
    }
}

impl<F: Future> CompatExt for F {}
