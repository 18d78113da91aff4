//! A socket of quinn: batches of datagrams by `quinn-udp`, readiness by evenkeel.

use crate::poller::Poller;
use evenkeel::net::AsyncFd;
use quinn::udp::{RecvMeta, Transmit, UdpSocketState};
use quinn::{AsyncUdpSocket, UdpPoller};
use std::io::{ErrorKind, IoSliceMut, Result};
use std::net::{SocketAddr, UdpSocket};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

/// Errors that are left out in one poll. An estimate; no benchmark sets it.
const MOST_ERRORS: usize = 16;

#[derive(Debug)]
pub(crate) struct Socket {
    fd: AsyncFd<UdpSocket>,
    /// What the system can do with several datagrams at once.
    state: UdpSocketState,
}

impl Socket {
    pub(crate) fn new(socket: UdpSocket) -> Result<Self> {
        socket.set_nonblocking(true)?;
        let state = UdpSocketState::new((&socket).into())?;
        Ok(Self { fd: AsyncFd::new(socket), state })
    }

    /// Waits until there may be room to write.
    pub(crate) async fn writable(&self) -> Result<()> {
        self.fd.writable().await
    }
}

impl AsyncUdpSocket for Socket {
    fn create_io_poller(self: Arc<Self>) -> Pin<Box<dyn UdpPoller>> {
        Box::pin(Poller::new(self))
    }

    fn try_send(&self, transmit: &Transmit<'_>) -> Result<()> {
        self.fd.try_write_with(|socket| self.state.send(socket.into(), transmit))
    }

    fn poll_recv(
        &self,
        cx: &mut Context<'_>,
        buffers: &mut [IoSliceMut<'_>],
        meta: &mut [RecvMeta],
    ) -> Poll<Result<usize>> {
        // The driver of the endpoint is the only task that receives. An error is that of a datagram
        // that was sent, as a rule, which a connection finds out for itself; and with an error the
        // endpoint would end, with all its connections. Quinn's own runtimes leave them out too.
        for _ in 0..MOST_ERRORS {
            let receive = |socket: &UdpSocket| match self.state.recv(socket.into(), buffers, meta) {
                Err(error) if error.kind() == ErrorKind::WouldBlock => Err(error),
                result => Ok(result),
            };
            if let Ok(count) = ready!(self.fd.poll_read_with(cx, receive))? {
                return Poll::Ready(Ok(count));
            }
        }
        // The system tells such an error once: this is another one, which stays.
        self.fd.poll_read_with(cx, |socket| self.state.recv(socket.into(), buffers, meta))
    }

    fn local_addr(&self) -> Result<SocketAddr> {
        self.fd.get_ref().local_addr()
    }

    fn max_transmit_segments(&self) -> usize {
        self.state.max_gso_segments()
    }

    fn max_receive_segments(&self) -> usize {
        self.state.gro_segments()
    }

    fn may_fragment(&self) -> bool {
        self.state.may_fragment()
    }
}
