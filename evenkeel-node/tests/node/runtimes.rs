//! Two nodes on two runtimes: flushers, hosts on threads and as tasks, and the end.

use evenkeel::Runtime;
use evenkeel_node::frame::Frame;
use evenkeel_node::host::{Deliver, Host};
use evenkeel_node::in_process::{Faults, InProcess, network};
use evenkeel_node::multiplexer::{Link, Multiplexer, PutError, Trail};
use evenkeel_node::policy::Packing;
use evenkeel_node::wire::{Message, write_tell};
use evenkeel_node::{DownReason, NodeId, Refusal, Slot};
use std::convert::Infallible;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};

const PINGS: u32 = 2_000;
const SENDERS: u32 = 20;

/// Sends arriving messages back to their sender, or to the test.
struct Inbound(To);

enum To {
    Back(Link),
    Test(Sender<(u32, u32)>),
}

impl Deliver for Inbound {
    fn frame(&mut self, _from: NodeId, frame: Vec<u8>) -> Option<Vec<u8>> {
        for message in Frame::read(&frame, 1 << 20).unwrap().messages() {
            let Message::Tell { to, .. } = message.unwrap().message else {
                panic!("an echo of something else");
            };
            match &self.0 {
                To::Back(link) => put(link, to).unwrap(),
                To::Test(test) => test.send((to.index, to.generation)).unwrap(),
            }
        }
        Some(frame)
    }

    fn up(&mut self, _node: NodeId) {}

    fn down(&mut self, _node: NodeId, reason: DownReason, lost: u64) {
        assert_eq!((reason, lost), (DownReason::Left, 0));
    }

    fn refused(&mut self, to: NodeId, messages: u32, why: Refusal) {
        panic!("{messages} messages for node {to}: {why}");
    }
}

fn put(link: &Link, to: Slot) -> Result<(), PutError<Infallible>> {
    link.try_put(|out| {
        write_tell(to, None, out);
        Ok(())
    })
}

/// A node with a runtime of its own. Dropping the runtime waits for the flushers, so the node is
/// closed before.
struct Node {
    runtime: Runtime,
    multiplexer: Arc<Multiplexer>,
    host: Host<InProcess, Inbound>,
}

fn node(end: InProcess, number: u32, to: impl FnOnce(&Arc<Multiplexer>) -> To) -> Node {
    let runtime = Runtime::new().unwrap();
    let workers = runtime.metrics().processors.len();
    let multiplexer = Multiplexer::new(NodeId::new(number), 2, workers, Packing::default());
    for flusher in multiplexer.flushers() {
        drop(runtime.spawn(flusher));
    }
    let inbound = Inbound(to(&multiplexer));
    let host = Host::new(end, Arc::clone(&multiplexer), inbound);
    Node { runtime, multiplexer, host }
}

/// Returns the asking node with the receiver of its echoes, and the answering node.
fn nodes() -> (Node, Receiver<(u32, u32)>, Node) {
    let (_control, mut ends) = network(2, Faults::default());
    let (test, echoes) = channel();
    let answers = node(ends.pop().unwrap(), 1, |m| To::Back(m.link(NodeId::new(0)).unwrap()));
    let asks = node(ends.pop().unwrap(), 0, |_| To::Test(test));
    (asks, echoes, answers)
}

/// Makes many tasks send at once, each with a trail, on any worker.
fn send_all(node: &Node) {
    for sender in 0..SENDERS {
        let link = node.multiplexer.link(NodeId::new(1)).unwrap();
        drop(node.runtime.spawn(async move {
            let trail = Trail::new();
            let mut sends = pin!(async {
                for number in 0..PINGS {
                    let to = Slot { index: sender, generation: number };
                    link.put(|out| {
                        write_tell(to, None, out);
                        Ok::<_, Infallible>(())
                    })
                    .await
                    .unwrap();
                    if number % 10 == 0 {
                        evenkeel::yield_now().await;
                    }
                }
            });
            std::future::poll_fn(|context| trail.under(|| sends.as_mut().poll(context))).await;
        }));
    }
}

/// Asserts that all echoes come, those of each sender in order, in fewer frames than messages.
fn assert_echoed(echoes: &Receiver<(u32, u32)>, multiplexer: &Multiplexer) {
    let mut next = [0; SENDERS as usize];
    for _ in 0..SENDERS * PINGS {
        let (sender, number) = echoes.recv().unwrap();
        assert_eq!(number, next[sender as usize], "of sender {sender}");
        next[sender as usize] += 1;
    }
    let traffic = multiplexer.traffic(NodeId::new(1));
    assert_eq!(traffic.messages_out, u64::from(SENDERS * PINGS));
    assert!(traffic.frames_out < traffic.messages_out);
}

#[test]
fn echoes_by_hosts_on_threads() {
    let (asks, echoes, answers) = nodes();
    send_all(&asks);
    let Node { runtime, multiplexer, host } = asks;
    std::thread::scope(|scope| {
        scope.spawn(|| host.run());
        scope.spawn(|| answers.host.run());
        assert_echoed(&echoes, &multiplexer);
        multiplexer.close();
        answers.multiplexer.close();
    });
    drop((runtime, answers.runtime));
}

#[test]
fn echoes_by_hosts_that_are_tasks() {
    let (asks, echoes, answers) = nodes();
    send_all(&asks);
    let ended = Arc::new(AtomicU32::new(0));
    let drive = |runtime: &Runtime, host: Host<InProcess, Inbound>| {
        let ended = Arc::clone(&ended);
        runtime.spawn(async move {
            host.drive().await;
            ended.fetch_add(1, Ordering::SeqCst);
        })
    };
    let handles = [drive(&asks.runtime, asks.host), drive(&answers.runtime, answers.host)];
    assert_echoed(&echoes, &asks.multiplexer);
    asks.multiplexer.close();
    answers.multiplexer.close();
    for handle in handles {
        evenkeel::block_on(handle).unwrap();
    }
    assert_eq!(ended.load(Ordering::SeqCst), 2);
}

#[test]
fn a_message_that_comes_after_a_long_silence_ends_the_hosts_wait() {
    let (asks, echoes, answers) = nodes();
    let Node { runtime, multiplexer, host } = asks;
    std::thread::scope(|scope| {
        scope.spawn(|| host.run());
        scope.spawn(|| answers.host.run());
        let link = multiplexer.link(NodeId::new(1)).unwrap();
        for number in 0..20 {
            // From a thread that is no worker: by the common lane, which wakes its flusher.
            put(&link, Slot { index: 0, generation: number }).unwrap();
            assert_eq!(echoes.recv().unwrap(), (0, number));
            // Each silence is longer than the one before, up to several of the host's waits.
            std::thread::park_timeout(std::time::Duration::from_micros(100 << (number / 2)));
        }
        multiplexer.close();
        answers.multiplexer.close();
    });
    drop((runtime, answers.runtime));
}
