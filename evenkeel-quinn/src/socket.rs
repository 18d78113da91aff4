//! A socket of quinn: batches of datagrams by `quinn-udp`, readiness by evenkeel.

use crate::poller::Poller;
use evenkeel::net::AsyncFd;
use quinn::udp::{RecvMeta, Transmit, UdpSocketState};
use quinn::{AsyncUdpSocket, UdpPoller};
use std::io::{IoSliceMut, Result};
use std::net::{SocketAddr, UdpSocket};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

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
        // The driver of the endpoint is the only task that receives.
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
