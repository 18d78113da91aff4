//! The runtime of quinn on the current runtime of evenkeel.

use crate::socket::Socket;
use crate::timer::Timer;
use evenkeel::time;
use quinn::{AsyncTimer, AsyncUdpSocket, Runtime};
use std::future::Future;
use std::io;
use std::net::UdpSocket;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Instant;

/// The runtime of quinn on the current runtime of evenkeel: that of the task which makes the
/// endpoint, and then of quinn's own tasks.
///
/// # Panics
/// [`spawn`](Runtime::spawn) panics outside of any runtime of evenkeel.
///
/// # Examples
/// See [the crate](crate).
#[derive(Clone, Copy, Debug, Default)]
pub struct QuinnRuntime;

impl Runtime for QuinnRuntime {
    fn new_timer(&self, deadline: Instant) -> Pin<Box<dyn AsyncTimer>> {
        Box::pin(Timer::new(deadline))
    }

    /// Spawns a task, and detaches it. A panic in it goes to the runtime's `on_task_panic`.
    fn spawn(&self, future: Pin<Box<dyn Future<Output = ()> + Send>>) {
        drop(evenkeel::spawn(future));
    }

    fn wrap_udp_socket(&self, socket: UdpSocket) -> io::Result<Arc<dyn AsyncUdpSocket>> {
        Ok(Arc::new(Socket::new(socket)?))
    }

    /// Returns the time of the runtime's clock, which a test may pause.
    fn now(&self) -> Instant {
        time::Instant::now().into()
    }
}
