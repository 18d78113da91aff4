//! One task that waits for room to write, of several.

use crate::socket::Socket;
use quinn::UdpPoller;
use std::fmt;
use std::future::Future;
use std::io::Result;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll};

type Wait = Pin<Box<dyn Future<Output = Result<()>> + Send + Sync>>;

/// Waits again and again for room to write. Each connection has one, and all of them are woken.
pub(crate) struct Poller {
    socket: Arc<Socket>,
    /// The wait that is under way.
    wait: Option<Wait>,
}

impl Poller {
    pub(crate) fn new(socket: Arc<Socket>) -> Self {
        Self { socket, wait: None }
    }
}

impl UdpPoller for Poller {
    fn poll_writable(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<()>> {
        let Self { socket, wait } = &mut *self;
        // There is room, as a rule. quinn asks before each send.
        if wait.is_none()
            && let Poll::Ready(ready) = pin!(socket.writable()).poll(cx)
        {
            return Poll::Ready(ready);
        }
        let under_way = wait.get_or_insert_with(|| {
            let socket = socket.clone();
            Box::pin(async move { socket.writable().await })
        });
        let waited = under_way.as_mut().poll(cx);
        if waited.is_ready() {
            *wait = None;
        }
        waited
    }
}

impl fmt::Debug for Poller {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Poller").field("socket", &self.socket).finish_non_exhaustive()
    }
}
