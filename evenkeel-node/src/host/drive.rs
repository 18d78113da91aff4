//! The loop around a host's turns.

use super::super::policy::{self, Idle};
use super::super::{Transport, TransportWaker};
use super::{Deliver, Host, Progress};
use std::pin::pin;
use std::sync::Arc;
use std::task::{Poll, Wake, Waker};
use std::thread::{self, Thread};
use std::time::{Duration, Instant};

/// Turns without work between two looks at the clock, while the host spins. An estimate: about a
/// microsecond, less the time for which another process has the core; no benchmark sets it.
const LOOK: u32 = 8;

/// A waker that ends the wait of a host's thread, in the transport or outside.
struct OfThread(TransportWaker, Thread);

impl Wake for OfThread {
    fn wake(self: Arc<Self>) {
        (self.0)();
        // If the thread is not parked, this may end a later park. The thread then looks round and
        // parks again.
        self.1.unpark();
    }
}

impl<T: Transport, D: Deliver> Host<T, D> {
    /// Drives the transport on this thread until the multiplexer has been
    /// [closed](super::Multiplexer::close), everything is sent and the transport has ended. Drops
    /// the transport on this thread.
    ///
    /// # Examples
    /// ```
    /// # use evenkeel_node::host::Deliver;
    /// # use evenkeel_node::{DownReason, NodeId, Refusal};
    /// use evenkeel_node::host::Host;
    /// use evenkeel_node::in_process::{Faults, network};
    /// use evenkeel_node::multiplexer::Multiplexer;
    /// use evenkeel_node::policy::Packing;
    /// use std::sync::Arc;
    /// use std::thread;
    ///
    /// # struct Nothing;
    /// # impl Deliver for Nothing {
    /// #     fn frame(&mut self, _: NodeId, frame: Vec<u8>) -> Option<Vec<u8>> { Some(frame) }
    /// #     fn up(&mut self, _: NodeId) {}
    /// #     fn down(&mut self, _: NodeId, _: DownReason, _: u64) {}
    /// #     fn refused(&mut self, _: NodeId, _: u32, _: Refusal) {}
    /// # }
    /// let (_control, mut ends) = network(2, Faults::default());
    /// let multiplexer = Multiplexer::new(NodeId::new(0), 2, 1, Packing::default());
    /// let (end, of_host) = (ends.remove(0), Arc::clone(&multiplexer));
    /// // A transport that is bound to its thread is made there.
    /// let host = thread::spawn(move || Host::new(end, of_host, Nothing).run());
    /// multiplexer.close();
    /// host.join().unwrap();
    /// ```
    pub fn run(mut self) {
        let waker = Waker::from(Arc::new(OfThread(self.transport.waker(), thread::current())));
        loop {
            match self.step(policy::YIELD) {
                None => return,
                Some(Idle::Spin) => std::hint::spin_loop(),
                Some(Idle::Yield) => thread::yield_now(),
                Some(Idle::Wait(most)) => {
                    // While the transport is still sending, the host waits for its progress, in
                    // short steps at first.
                    if self.multiplexer.park_host(&waker) || self.is_closed {
                        let most = Duration::from_nanos(most);
                        match self.is_full {
                            false => self.transport.wait(most),
                            true if self.deliver.has_room() => continue,
                            true => thread::park_timeout(most),
                        }
                        self.multiplexer.flush_old();
                    }
                }
            }
        }
    }

    /// Drives the transport from a task, for runtimes with a single worker that is also the
    /// transport's thread. The task yields after every turn, so that ready tasks run in between,
    /// also during the end: however long the transport waits for other nodes before it can be
    /// dropped, its worker goes on. A host that is [the flusher](Self::flushing) offers its core to
    /// other processes between looks that find nothing, while no other task is ready, [as long as
    /// one takes it](super::super::policy::Offers); and each host does once in a longer silence.
    /// With no offer a node uses up its share of a core for which its peer waits. With one in each
    /// turn of a longer silence either node runs for moments only, in which the other does not.
    ///
    /// # Cancel safety
    /// A dropped future ends like a host that panics: for its own senders this node has left.
    ///
    /// # Examples
    /// ```
    /// # use evenkeel_node::host::Deliver;
    /// # use evenkeel_node::{DownReason, NodeId, Refusal};
    /// use evenkeel_node::host::Host;
    /// use evenkeel_node::in_process::{Faults, network};
    /// use evenkeel_node::multiplexer::Multiplexer;
    /// use evenkeel_node::policy::Packing;
    /// use std::sync::Arc;
    ///
    /// # struct Nothing;
    /// # impl Deliver for Nothing {
    /// #     fn frame(&mut self, _: NodeId, frame: Vec<u8>) -> Option<Vec<u8>> { Some(frame) }
    /// #     fn up(&mut self, _: NodeId) {}
    /// #     fn down(&mut self, _: NodeId, _: DownReason, _: u64) {}
    /// #     fn refused(&mut self, _: NodeId, _: u32, _: Refusal) {}
    /// # }
    /// let (_control, mut ends) = network(2, Faults::default());
    /// let multiplexer = Multiplexer::new(NodeId::new(0), 2, 1, Packing::default());
    /// let runtime = evenkeel::Builder::new().workers(1).build().unwrap();
    /// runtime.block_on(async {
    ///     let host = Host::new(ends.remove(0), Arc::clone(&multiplexer), Nothing).flushing();
    ///     let host = evenkeel::spawn(host.drive());
    ///     evenkeel::yield_now().await;
    ///     multiplexer.close();
    ///     host.await.unwrap();
    /// });
    /// ```
    pub async fn drive(mut self) {
        // Whether the core has been offered in this silence.
        let mut has_offered = false;
        loop {
            match self.step(policy::YIELD_OF_TASK) {
                None => return,
                Some(Idle::Spin) => {
                    has_offered = false;
                    evenkeel::yield_now().await;
                }
                Some(Idle::Yield) => {
                    // The peer may wait for the core; no other task of this worker does.
                    if !has_offered && evenkeel::internal::is_alone() {
                        has_offered = true;
                        _ = self.offer_core();
                    }
                    evenkeel::yield_now().await;
                }
                Some(Idle::Wait(most)) => {
                    let mut most = Duration::from_nanos(most);
                    let mut sleep = pin!(evenkeel::time::sleep(most));
                    std::future::poll_fn(|context| {
                        if !self.multiplexer.park_host(context.waker()) && !self.is_closed {
                            return Poll::Ready(());
                        }
                        if self.is_full && self.deliver.has_room() {
                            return Poll::Ready(());
                        }
                        if self.flushes {
                            self.multiplexer.flush_as(context.waker());
                        }
                        // The last look at the transport leaves the waker in the same step.
                        let waits = !self.is_full && !self.is_ending;
                        let due = if waits { self.transport.wakes(context.waker()) } else { None };
                        if due == Some(Duration::ZERO) {
                            return Poll::Ready(());
                        }
                        if let Some(due) = due.filter(|&due| due < most) {
                            most = due;
                            sleep.set(evenkeel::time::sleep(most));
                        }
                        sleep.as_mut().poll(context)
                    })
                    .await;
                    self.multiplexer.flush_old();
                }
            }
        }
    }

    fn has_worked(&mut self) -> Idle {
        // The clock is read when there is nothing to do.
        self.worked = 0;
        self.spins = true;
        Idle::Spin
    }

    /// Looks at the transport again while no other task of the worker is ready: all senders of this
    /// worker have sent, and a way through its loop takes as long as a look. Between two looks the
    /// peer may have the core. Returns whether anything has come.
    fn looks_again(&mut self) -> bool {
        for _ in 0..policy::LOOKS_ALONE {
            if !evenkeel::internal::is_alone() {
                return false;
            }
            let was_long = self.offers.are_due() && self.offer_core();
            if self.receive() {
                return true;
            }
            if was_long {
                self.spins = false;
                return false;
            }
        }
        false
    }

    /// Offers the core to other processes. Returns whether one had it for long.
    fn offer_core(&mut self) -> bool {
        let before = Instant::now();
        thread::yield_now();
        self.offers.note(before.elapsed())
    }

    /// Makes one turn and returns what to do after it; `None` after the last turn. The host yields
    /// for `yields` nanoseconds before it waits.
    fn step(&mut self, yields: u64) -> Option<Idle> {
        match self.turn() {
            Progress::Worked => Some(self.has_worked()),
            Progress::Idle
                if self.flushes && self.spins && !self.is_ending && self.looks_again() =>
            {
                Some(self.has_worked())
            }
            // A few quick turns share one look at the clock.
            Progress::Idle if !self.turns.is_multiple_of(LOOK) && self.spins => Some(Idle::Spin),
            Progress::Idle => {
                let now = evenkeel::internal::now();
                if self.worked == 0 {
                    self.worked = now;
                }
                // The clock of a worker may be ahead by a little, and later not.
                let idle = policy::idle(now.saturating_sub(self.worked), yields);
                self.spins = idle == Idle::Spin;
                Some(idle)
            }
            Progress::Finished => None,
        }
    }
}
