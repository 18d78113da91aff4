//! A transport around another, which a test alters in a few calls and hands on in all others.

use evenkeel_actor::node::{Event, NodeId, Refused, Transport, TransportWaker};
use std::task::Waker;
use std::time::Duration;

/// What is another in some calls of a transport: those that are not written hand on to `inner`.
pub(crate) trait Alter<T: Transport> {
    fn send(&mut self, inner: &mut T, to: NodeId, frame: Vec<u8>) -> Result<(), Refused> {
        inner.send(to, frame)
    }

    fn poll(&mut self, inner: &mut T) -> Option<Event> {
        inner.poll()
    }

    fn wait(&mut self, inner: &mut T, most: Duration) {
        inner.wait(most);
    }

    fn wakes(&mut self, inner: &mut T, waker: &Waker) -> Option<Duration> {
        inner.wakes(waker)
    }

    fn is_sending(&self, inner: &T) -> bool {
        inner.is_sending()
    }

    fn leave(&mut self, inner: &mut T) {
        inner.leave();
    }

    fn ended(&mut self, inner: &mut T) -> bool {
        inner.ended()
    }
}

/// The transport `inner`, altered by `by`.
pub(crate) struct Altered<T, A> {
    pub(crate) inner: T,
    pub(crate) by: A,
}

impl<T: Transport, A: Alter<T>> Transport for Altered<T, A> {
    fn local(&self) -> NodeId {
        self.inner.local()
    }

    fn nodes(&self) -> u32 {
        self.inner.nodes()
    }

    fn longest_frame(&self) -> usize {
        self.inner.longest_frame()
    }

    fn send(&mut self, to: NodeId, frame: Vec<u8>) -> Result<(), Refused> {
        self.by.send(&mut self.inner, to, frame)
    }

    fn poll(&mut self) -> Option<Event> {
        self.by.poll(&mut self.inner)
    }

    fn wait(&mut self, most: Duration) {
        self.by.wait(&mut self.inner, most);
    }

    fn waker(&self) -> TransportWaker {
        self.inner.waker()
    }

    fn wakes(&mut self, waker: &Waker) -> Option<Duration> {
        self.by.wakes(&mut self.inner, waker)
    }

    fn buffer(&mut self) -> Vec<u8> {
        self.inner.buffer()
    }

    fn recycle(&mut self, buffer: Vec<u8>) {
        self.inner.recycle(buffer);
    }

    fn is_sending(&self) -> bool {
        self.by.is_sending(&self.inner)
    }

    fn leave(&mut self) {
        self.by.leave(&mut self.inner);
    }

    fn ended(&mut self) -> bool {
        self.by.ended(&mut self.inner)
    }
}
