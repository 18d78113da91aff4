//! For tests: a transport that wraps another and alters a few of its calls.
//!
//! ```
//! use evenkeel_node::altered::{Alter, Altered};
//! use evenkeel_node::in_process::{Faults, InProcess, network};
//! use evenkeel_node::{NodeId, Refused, Transport};
//!
//! /// Counts the frames that are sent.
//! struct Counting(u32);
//!
//! impl Alter<InProcess> for Counting {
//!     fn send(&mut self, inner: &mut InProcess, to: NodeId, frame: Vec<u8>) -> Result<(), Refused> {
//!         self.0 += 1;
//!         inner.send(to, frame)
//!     }
//! }
//!
//! let (_control, mut nodes) = network(2, Faults::default());
//! let mut first = Altered { inner: nodes.remove(0), by: Counting(0) };
//! first.send(NodeId::new(1), vec![0; 8]).unwrap();
//! assert_eq!((first.by.0, first.nodes()), (1, 2));
//! ```

use crate::{Event, NodeId, Refused, Transport, TransportWaker};
use std::task::Waker;
use std::time::Duration;

/// Replaces some calls of a transport. A call without an implementation here goes to `inner`.
pub trait Alter<T: Transport> {
    /// Replaces [`Transport::send`].
    fn send(&mut self, inner: &mut T, to: NodeId, frame: Vec<u8>) -> Result<(), Refused> {
        inner.send(to, frame)
    }

    /// Replaces [`Transport::poll`].
    fn poll(&mut self, inner: &mut T) -> Option<Event> {
        inner.poll()
    }

    /// Replaces [`Transport::wait`].
    fn wait(&mut self, inner: &mut T, most: Duration) {
        inner.wait(most);
    }

    /// Replaces [`Transport::wakes`].
    fn wakes(&mut self, inner: &mut T, waker: &Waker) -> Option<Duration> {
        inner.wakes(waker)
    }

    /// Replaces [`Transport::is_sending`].
    fn is_sending(&self, inner: &T) -> bool {
        inner.is_sending()
    }

    /// Replaces [`Transport::leave`].
    fn leave(&mut self, inner: &mut T) {
        inner.leave();
    }

    /// Replaces [`Transport::ended`].
    fn ended(&mut self, inner: &mut T) -> bool {
        inner.ended()
    }
}

/// The transport `inner` with some calls replaced by `by`.
#[derive(Debug)]
pub struct Altered<T, A> {
    /// The transport that does the work.
    pub inner: T,
    /// The replacements of some calls.
    pub by: A,
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
