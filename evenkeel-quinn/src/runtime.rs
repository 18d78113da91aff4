//! The runtime of quinn on the current runtime of evenkeel.

use crate::socket::Socket;
use crate::timer::Timer;
use evenkeel::{Handle, time};
use quinn::{AsyncTimer, AsyncUdpSocket, Runtime};
use std::future::Future;
use std::io;
use std::net::UdpSocket;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Instant;

/// The runtime of quinn on a runtime of evenkeel, which spawns quinn's tasks.
///
/// The default one spawns them in the current runtime of the thread that makes an endpoint,
/// connects or accepts. One that is made [from a handle](Self::new) spawns them in that handle's
/// runtime, whichever thread calls.
///
/// # Panics
/// [`spawn`](Runtime::spawn) of the default one panics outside of any runtime of evenkeel, and
/// quinn calls it under a lock of the endpoint, which is broken then: so programs that connect from
/// threads of their own make it from a handle.
///
/// # Examples
/// See [the crate](crate).
#[derive(Clone, Debug, Default)]
pub struct QuinnRuntime {
    handle: Option<Handle>,
}

impl QuinnRuntime {
    /// Makes a runtime of quinn that spawns in the runtime of `handle`.
    ///
    /// # Examples
    /// ```
    /// use evenkeel_quinn::QuinnRuntime;
    /// use std::sync::Arc;
    /// let runtime = evenkeel::Runtime::new().unwrap();
    /// let of_quinn = Arc::new(QuinnRuntime::new(&runtime.handle()));
    /// # drop(of_quinn);
    /// ```
    #[must_use]
    pub fn new(handle: &Handle) -> Self {
        Self { handle: Some(handle.clone()) }
    }
}

impl Runtime for QuinnRuntime {
    fn new_timer(&self, deadline: Instant) -> Pin<Box<dyn AsyncTimer>> {
        Box::pin(Timer::new(deadline))
    }

    /// Spawns a task, and detaches it. A panic in it goes to the runtime's `on_task_panic`.
    fn spawn(&self, future: Pin<Box<dyn Future<Output = ()> + Send>>) {
        drop(match &self.handle {
            Some(handle) => handle.spawn(future),
            None => evenkeel::spawn(future),
        });
    }

    fn wrap_udp_socket(&self, socket: UdpSocket) -> io::Result<Arc<dyn AsyncUdpSocket>> {
        Ok(Arc::new(Socket::new(socket)?))
    }

    /// Returns the time of the clock of the thread's current runtime, which a test may pause: such
    /// a test connects inside its runtime.
    fn now(&self) -> Instant {
        time::Instant::now().into()
    }
}
