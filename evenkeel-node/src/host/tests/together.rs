//! Hosts with a transport that ends only together with others, or with nothing to wait for.

use super::{A, B, Note, Notes, send};
use crate::altered::{Alter, Altered};
use crate::host::{Deliver, Host, Progress};
use crate::in_process::{Faults, InProcess, network};
use crate::multiplexer::Multiplexer;
use crate::policy::Packing;
use crate::{DownReason, Event, NodeId, Refusal, Transport};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::{Duration, Instant};

/// What a test and its transport tell each other.
#[derive(Debug, Default)]
struct Seen {
    /// Whether the others have ended too.
    all_end: AtomicBool,
    /// How often the host called `ended`.
    ends: AtomicU32,
    /// Polls after that.
    polls: AtomicU32,
    waits: AtomicU32,
    dropped: AtomicBool,
}

/// A transport that ends only together with others.
struct Together(Arc<Seen>);

impl Alter<InProcess> for Together {
    fn poll(&mut self, inner: &mut InProcess) -> Option<Event> {
        let is_ending = self.0.ends.load(Ordering::SeqCst) > 0;
        self.0.polls.fetch_add(is_ending.into(), Ordering::SeqCst);
        inner.poll()
    }

    fn wait(&mut self, inner: &mut InProcess, most: Duration) {
        self.0.waits.fetch_add(1, Ordering::SeqCst);
        inner.wait(most);
    }

    fn ended(&mut self, _: &mut InProcess) -> bool {
        self.0.ends.fetch_add(1, Ordering::SeqCst);
        self.0.all_end.load(Ordering::SeqCst)
    }
}

impl Drop for Together {
    fn drop(&mut self) {
        assert!(self.0.all_end.load(Ordering::SeqCst), "the drop would block");
        self.0.dropped.store(true, Ordering::SeqCst);
    }
}

type Driven = Host<Altered<InProcess, Together>, Notes>;

fn together() -> (Arc<Multiplexer>, Arc<Seen>, Driven) {
    let (_control, mut ends) = network(2, Faults::default());
    let multiplexer = Multiplexer::new(A, 2, 1, Packing::default());
    let seen = Arc::<Seen>::default();
    let transport = Altered { inner: ends.remove(0), by: Together(Arc::clone(&seen)) };
    let host = Host::new(transport, Arc::clone(&multiplexer), Notes::default());
    (multiplexer, seen, host)
}

#[test]
fn a_worker_goes_on_while_the_transport_it_drives_waits_for_the_end_of_others() {
    let (multiplexer, seen, host) = together();
    let runtime = evenkeel::Builder::new().workers(1).reliefs(0).build().unwrap();
    let drives = runtime.spawn(host.flushing().drive());
    multiplexer.close();
    let sees = Arc::clone(&seen);
    let works = runtime.spawn(async move {
        while sees.ends.load(Ordering::SeqCst) < 100 {
            evenkeel::yield_now().await;
        }
        sees.all_end.store(true, Ordering::SeqCst);
    });
    evenkeel::block_on(works).unwrap();
    evenkeel::block_on(drives).unwrap();
    assert!(seen.dropped.load(Ordering::SeqCst));
    assert_eq!(seen.polls.load(Ordering::SeqCst), 0);
}

#[test]
fn a_thread_waits_for_the_end_of_others_before_it_drops_its_transport() {
    let (multiplexer, seen, host) = together();
    multiplexer.close();
    std::thread::scope(|scope| {
        scope.spawn(|| host.run());
        while seen.waits.load(Ordering::SeqCst) == 0 {
            std::thread::yield_now();
        }
        seen.all_end.store(true, Ordering::SeqCst);
    });
    assert!(seen.dropped.load(Ordering::SeqCst));
    assert_eq!(seen.polls.load(Ordering::SeqCst), 0);
}

/// A receiver without room for longer than a host spins.
struct Busy {
    notes: Notes,
    begun: Instant,
    has_room: AtomicBool,
    multiplexer: Arc<Multiplexer>,
}

impl Deliver for Busy {
    fn frame(&mut self, from: NodeId, frame: Vec<u8>) -> Option<Vec<u8>> {
        assert!(self.has_room(), "there is no room");
        // It was the only frame.
        self.multiplexer.close();
        self.notes.frame(from, frame)
    }

    fn has_room(&self) -> bool {
        if self.begun.elapsed() > Duration::from_millis(5) {
            self.has_room.store(true, Ordering::SeqCst);
        }
        self.has_room.load(Ordering::SeqCst)
    }

    fn up(&mut self, _node: NodeId) {}

    fn down(&mut self, _node: NodeId, _reason: DownReason, _lost: u64) {}

    fn refused(&mut self, _to: NodeId, _messages: u32, _why: Refusal) {}
}

#[test]
fn a_host_without_room_does_not_wait_in_a_transport_that_has_something() {
    let (_control, mut ends) = network(2, Faults::default());
    let (end, other) = (ends.remove(0), ends.remove(0));
    let sender = Multiplexer::new(B, 2, 1, Packing::default());
    let mut sends = Host::new(other, Arc::clone(&sender), Notes::default());
    send(&sender.link(A).unwrap(), 7).unwrap();
    sender.flush();
    while sends.turn() != Progress::Idle {}

    let multiplexer = Multiplexer::new(A, 2, 1, Packing::default());
    let (seen, notes) = (Arc::<Seen>::default(), Notes::default());
    seen.all_end.store(true, Ordering::SeqCst);
    let deliver = Busy {
        notes: notes.clone(),
        begun: Instant::now(),
        has_room: AtomicBool::new(false),
        multiplexer: Arc::clone(&multiplexer),
    };
    let transport = Altered { inner: end, by: Together(Arc::clone(&seen)) };
    Host::new(transport, multiplexer, deliver).run();
    assert_eq!(notes.take(), [Note::Message(B, 7)]);
    assert_eq!(seen.waits.load(Ordering::SeqCst), 0, "each would have ended at once");
}
