//! Hosts that keep packed messages while their core is shared.

use super::{B, Node, nodes, timeless};
use crate::host::TURNS;
use crate::in_process::Faults;
use crate::multiplexer::{Link, Trail};
use crate::policy::Packing;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Runs `f` in a task of the only worker, with a node that is its flusher, while another task of
/// the worker is ready until the flag is set.
fn beside_a_ready_task<F: Future<Output = ()> + Send + 'static>(
    packing: Packing,
    f: impl FnOnce(Node, Arc<AtomicBool>) -> F + Send + 'static,
) {
    let runtime = evenkeel::Builder::new().workers(1).reliefs(0).build().unwrap();
    let task = runtime.spawn(async move {
        let (_control, mut nodes) = nodes(2, Faults::default(), packing);
        let Node { host, multiplexer, notes } = nodes.remove(0);
        let node = Node { host: host.flushing(), multiplexer, notes };
        let is_over = Arc::new(AtomicBool::new(false));
        let sees = Arc::clone(&is_over);
        let other = evenkeel::spawn(async move {
            while !sees.load(Ordering::SeqCst) {
                evenkeel::yield_now().await;
            }
        });
        f(node, is_over).await;
        other.await.unwrap();
    });
    evenkeel::block_on(task).unwrap();
}

/// Sends a message as an actor of the worker does: by the worker's lane.
fn send(link: &Link, number: u32) {
    Trail::under_new(|| super::send(link, number)).unwrap();
}

impl Node {
    fn frames_out(&self) -> u64 {
        self.multiplexer.traffic(B).frames_out
    }

    /// Makes turns, without those in which every host looks for what is old.
    async fn turn_until(&mut self, is_over: impl Fn(&Self) -> bool) {
        for _ in 0..100_000 {
            if is_over(self) {
                return;
            }
            if (self.host.turns + 1).is_multiple_of(TURNS) {
                self.host.turns += 1;
            }
            _ = self.host.turn();
            evenkeel::yield_now().await;
        }
        panic!("{:?}", self.multiplexer.traffic(B));
    }

    /// Notes that another process has taken the core when the host offered it.
    fn shares_its_core(&mut self) {
        assert!(!self.host.offers.note(Duration::from_micros(10)));
    }
}

#[test]
fn a_host_sends_at_once_where_no_other_process_takes_its_core() {
    beside_a_ready_task(timeless(), |mut node, is_over| async move {
        send(&node.link(B), 0);
        _ = node.host.turn();
        assert_eq!(node.frames_out(), 1);
        is_over.store(true, Ordering::SeqCst);
    });
}

#[test]
fn a_host_that_shares_its_core_sends_once_its_worker_has_nothing_else_to_do() {
    beside_a_ready_task(timeless(), |mut node, is_over| async move {
        node.shares_its_core();
        for number in 0..3 {
            send(&node.link(B), number);
            _ = node.host.turn();
            evenkeel::yield_now().await;
        }
        assert_eq!(node.frames_out(), 0, "another task is ready");
        is_over.store(true, Ordering::SeqCst);
        while !evenkeel::internal::is_alone() {
            evenkeel::yield_now().await;
        }
        _ = node.host.turn();
        assert_eq!((node.frames_out(), node.multiplexer.traffic(B).messages_out), (1, 3));
    });
}

#[test]
fn a_host_that_shares_its_core_sends_what_is_old_beside_ready_tasks() {
    let packing = Packing { cap: Duration::from_nanos(1), ..timeless() };
    beside_a_ready_task(packing, |mut node, is_over| async move {
        node.shares_its_core();
        send(&node.link(B), 0);
        _ = node.host.turn();
        assert_eq!(node.frames_out(), 0, "the first turn keeps it");
        node.turn_until(|node| node.frames_out() == 1).await;
        is_over.store(true, Ordering::SeqCst);
    });
}

/// It would keep them for the cap again and again, though no process waits for the core.
#[test]
fn a_host_whose_worker_is_busy_for_long_keeps_nothing_any_more() {
    let packing = Packing { cap: Duration::from_nanos(1), ..timeless() };
    beside_a_ready_task(packing, |mut node, is_over| async move {
        node.shares_its_core();
        node.turn_until(|node| !node.host.offers.are_due()).await;
        send(&node.link(B), 0);
        _ = node.host.turn();
        assert_eq!(node.frames_out(), 1);
        is_over.store(true, Ordering::SeqCst);
    });
}

#[test]
fn a_host_that_shares_its_core_sends_what_other_threads_have_packed() {
    beside_a_ready_task(timeless(), |mut node, is_over| async move {
        node.shares_its_core();
        let link = node.link(B);
        std::thread::spawn(move || super::send(&link, 0).unwrap()).join().unwrap();
        _ = node.host.turn();
        assert_eq!(node.frames_out(), 1);
        is_over.store(true, Ordering::SeqCst);
    });
}

/// Whatever the cap, and however long the worker has work.
#[test]
fn a_driven_host_that_shares_its_core_sends_in_the_end() {
    beside_a_ready_task(timeless(), |mut node, is_over| async move {
        node.shares_its_core();
        let (link, multiplexer) = (node.link(B), Arc::clone(&node.multiplexer));
        let host = evenkeel::spawn(node.host.drive());
        send(&link, 0);
        while multiplexer.traffic(B).frames_out == 0 {
            evenkeel::yield_now().await;
        }
        is_over.store(true, Ordering::SeqCst);
        multiplexer.close();
        host.await.unwrap();
    });
}
