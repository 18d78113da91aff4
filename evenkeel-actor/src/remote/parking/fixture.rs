//! What the tests and the models of parking share: a node with a transport that is not driven, and
//! an actor that notes what it gets.

use super::super::askers::Askers;
use super::super::deliver::deliver;
use super::super::inner::{Inner, Peer, Standing};
use crate::node::in_process::{Faults, network};
use crate::node::policy::Packing;
use crate::node::{NodeId, Slot, payload};
use crate::{Actor, Context, Handled, System};
use evenkeel::Handle;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

/// The numbers that an actor has been given, in order. No other thread has a turn under the lock.
pub(super) type Given = Arc<Mutex<Vec<u64>>>;

/// Notes each number, once `may` is set.
pub(super) struct Notes {
    pub(super) given: Given,
    pub(super) may: Arc<AtomicBool>,
}

impl Actor for Notes {
    type Message = u64;

    async fn handle(&mut self, number: u64, _context: &mut Context<Self>) -> Handled {
        loop {
            #[cfg(shuttle)]
            shuttle::thread::yield_now();
            evenkeel::yield_now().await;
            if self.may.load(Ordering::SeqCst) {
                break;
            }
        }
        self.given.lock().expect("nothing panics under it").push(number);
        Ok(())
    }
}

/// A node of a job of two, and its peer.
pub(super) fn peer(handle: &Handle) -> (&'static Inner, &'static Peer) {
    let (_control, mut ends) = network(2, Faults::default());
    let packing = Packing { frame: 256, ..Packing::default() };
    let builder = crate::remote::Node::builder().system(System::new()).packing(packing);
    // A host that flushes: so porters are the node's only tasks.
    let (node, host) = builder.build(ends.remove(0), handle.clone(), 2, true);
    let inner = node.inner();
    // Messages to the peer are not examined, and neither node leaves.
    std::mem::forget((node, host));
    let peer = inner.peer(NodeId::new(1)).expect("there are two nodes");
    assert!(peer.greets());
    assert_eq!(peer.standing(), Standing::Greeted);
    (inner, peer)
}

/// Reads a number for an actor, as a reader does, unless the peer is down.
pub(super) fn read(peer: &'static Peer, to: Slot, number: u64) {
    if peer.standing() == Standing::Greeted {
        let mut bytes = Vec::new();
        payload::put(&number, &mut bytes).expect("a number can be written");
        deliver(peer, to, Askers::default(), &bytes);
    }
}
