//! The loop around a host's turns.

use super::super::policy::{self, Idle};
use super::super::{Transport, TransportWaker};
use super::{Deliver, Host, Progress};
use std::pin::pin;
use std::sync::Arc;
use std::task::{Poll, Wake, Waker};
use std::thread::{self, Thread};
use std::time::Duration;

/// Turns without work between two looks at the clock, while the host spins. An estimate: about a
/// microsecond; no benchmark sets it.
const LOOK: u32 = 8;

/// Ends the wait of a host's thread as a waker, in the transport or outside.
struct OfThread(TransportWaker, Thread);

impl Wake for OfThread {
    fn wake(self: Arc<Self>) {
        (self.0)();
        // If it is not parked, this may end a later park, which looks at what it waits for and
        // parks again.
        self.1.unpark();
    }
}

impl<T: Transport, D: Deliver> Host<T, D> {
    /// Drives the transport on this thread until the multiplexer has been
    /// [closed](super::Multiplexer::close), everything is sent and the transport has ended. It is
    /// dropped on this thread.
    pub fn run(mut self) {
        let waker = Waker::from(Arc::new(OfThread(self.transport.waker(), thread::current())));
        loop {
            match self.step(policy::YIELD) {
                None => return,
                Some(Idle::Spin) => std::hint::spin_loop(),
                Some(Idle::Yield) => thread::yield_now(),
                Some(Idle::Wait(most)) => {
                    // If the transport is still sending, it is its progress that is waited for, in
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

    /// Drives the transport from a task, for runtimes whose only worker is also the transport's
    /// thread. Every turn is followed by a yield, so that tasks that are ready run in between, to
    /// the end: however long the transport waits for others before it can be dropped, its worker
    /// goes on. Other processes are offered the core once in a silence: with no offer a node uses
    /// up its share of a core that the other waits for, and with one in each turn either is there
    /// for moments only, in which the other is not.
    ///
    /// # Cancel safety
    /// A future that is dropped ends as a host that panics: all other nodes are down for those who
    /// send here.
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
                    // The peer may be what waits for the core; no other task does.
                    if !has_offered && evenkeel::internal::is_alone() {
                        has_offered = true;
                        thread::yield_now();
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
                        // The last look at the transport, which leaves the waker in the same step.
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

    /// Looks at the transport again, as long as no other task of the worker is ready: what would
    /// send has sent, and a way through the worker's loop takes as long as a look. Says whether
    /// anything has come.
    fn looks_again(&mut self) -> bool {
        (0..policy::LOOKS_ALONE).any(|_| evenkeel::internal::is_alone() && self.receive())
    }

    /// One turn, and what to do after it, where the host yields for so long before it waits; `None`
    /// if that was the last.
    fn step(&mut self, yields: u64) -> Option<Idle> {
        match self.turn() {
            Progress::Worked => Some(self.has_worked()),
            Progress::Idle
                if self.flushes && self.spins && !self.is_ending && self.looks_again() =>
            {
                Some(self.has_worked())
            }
            // The clock is not looked at by each of a few quick turns.
            Progress::Idle if !self.turns.is_multiple_of(LOOK) && self.spins => Some(Idle::Spin),
            Progress::Idle => {
                let now = evenkeel::internal::now();
                if self.worked == 0 {
                    self.worked = now;
                }
                // A worker's clock may be ahead by a little, and then not.
                let idle = policy::idle(now.saturating_sub(self.worked), yields);
                self.spins = idle == Idle::Spin;
                Some(idle)
            }
            Progress::Finished => None,
        }
    }
}
