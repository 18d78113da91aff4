//! The network in one process: the order it keeps, its faults, and lost nodes.

use super::{Clock, Control, Faults, InProcess, network};
use crate::{DownReason, Event, NodeId, Refusal, Transport};
use std::collections::BTreeSet;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Wake, Waker};
use std::time::Duration;

const A: NodeId = NodeId::new(0);
const B: NodeId = NodeId::new(1);
const C: NodeId = NodeId::new(2);

fn manual(seed: u64) -> Faults {
    let delay = Duration::ZERO..Duration::from_nanos(1_000);
    Faults { seed, delay, clock: Clock::Manual, ..Faults::default() }
}

/// Returns all events at a node, without those of the beginning.
fn events(node: &mut InProcess) -> Vec<Event> {
    std::iter::from_fn(|| node.poll()).filter(|event| !matches!(event, Event::Up { .. })).collect()
}

fn received(from: NodeId, byte: u8) -> Event {
    Event::Received { from, frame: vec![byte] }
}

fn lost(node: NodeId, how: &str) -> Event {
    Event::Down { node, reason: DownReason::Lost(how.to_owned()) }
}

#[test]
fn all_nodes_are_up_at_the_first_polls() {
    let (_control, mut nodes) = network(3, Faults::default());
    let up: BTreeSet<_> = std::iter::from_fn(|| nodes[1].poll())
        .map(|event| match event {
            Event::Up { node } => node,
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(up, BTreeSet::from([A, C]));
}

/// Sends from every node to every other while time passes, and returns what each has received, in
/// order.
fn run(seed: u64) -> Vec<Vec<(u32, u8)>> {
    let (control, mut nodes) = network(4, manual(seed));
    let mut seen = vec![Vec::new(); 4];
    for number in 0..50 {
        for from in 0..4 {
            for to in (0..4).filter(|&to| to != from) {
                nodes[from as usize].send(NodeId::new(to), vec![number]).unwrap();
            }
        }
        control.advance(Duration::from_nanos(30));
        receive(&mut nodes, &mut seen);
    }
    while let Some(due) = control.next_due() {
        control.advance(due);
        receive(&mut nodes, &mut seen);
    }
    seen
}

fn receive(nodes: &mut [InProcess], seen: &mut [Vec<(u32, u8)>]) {
    for (node, seen) in nodes.iter_mut().zip(seen) {
        for event in events(node) {
            match event {
                Event::Received { from, frame } => seen.push((from.number(), frame[0])),
                other => panic!("{other:?}"),
            }
        }
    }
}

#[test]
fn frames_of_one_pair_keep_their_order_and_those_of_others_do_not() {
    let mut overtaken = 0;
    for seed in 0..200 {
        for seen in run(seed) {
            for from in 0..4 {
                let numbers: Vec<_> = seen.iter().filter(|s| s.0 == from).map(|s| s.1).collect();
                assert!(numbers.is_empty() || numbers == (0..50).collect::<Vec<_>>());
            }
            assert_eq!(seen.len(), 150);
            overtaken += seen.windows(2).filter(|pair| pair[1].1 < pair[0].1).count();
        }
    }
    assert!(overtaken > 1_000, "{overtaken} frames were overtaken by others' later ones");
}

#[test]
fn a_run_depends_on_its_seed_alone() {
    assert_eq!(run(7), run(7));
    assert_ne!(run(7), run(8));
}

#[test]
fn survivors_of_a_node_receive_what_is_due_and_then_hear_of_it() {
    let (control, mut nodes) = network(3, manual(1));
    nodes[0].send(B, vec![1]).unwrap();
    control.advance(Duration::from_nanos(1_000));
    nodes[0].send(B, vec![2]).unwrap();
    nodes[2].send(A, vec![3]).unwrap();
    control.kill(A);
    assert_eq!(nodes[1].send(A, vec![4]).unwrap_err().why, Refusal::Down);
    assert_eq!(events(&mut nodes[1]), [received(A, 1), lost(A, "the node was killed")]);
    assert_eq!(events(&mut nodes[2]), [lost(A, "the node was killed")]);
    control.advance(Duration::from_nanos(1_000));
    assert_eq!(events(&mut nodes[1]), [], "the second frame is lost, and nothing comes twice");
    // The others go on.
    nodes[1].send(C, vec![5]).unwrap();
    control.advance(Duration::from_nanos(1_000));
    assert_eq!(events(&mut nodes[2]), [received(B, 5)]);
    // For the dead node all others are down.
    assert_eq!(nodes[0].send(B, vec![6]).unwrap_err().why, Refusal::Down);
    assert_eq!(events(&mut nodes[0]).len(), 2);
    control.kill(A);
    assert_eq!(events(&mut nodes[1]), [], "a dead node does not die again");
}

/// Tries to tell B and C something as soon as its node learns anything.
struct Tells(Mutex<InProcess>, Mutex<Vec<bool>>);

impl Wake for Tells {
    fn wake(self: Arc<Self>) {
        let mut node = self.0.lock().unwrap();
        let told = [B, C].map(|to| node.send(to, vec![1]).is_ok());
        self.1.lock().unwrap().extend(told);
    }
}

#[test]
fn a_lost_node_that_learns_that_the_others_are_down_tells_none_of_it() {
    let (control, mut nodes) = network(3, Faults::default());
    let mut node = nodes.remove(0);
    assert_eq!(events(&mut node), []);
    let tells = Arc::new(Tells(Mutex::new(node), Mutex::default()));
    let waker = Waker::from(tells.clone());
    assert_ne!(tells.0.lock().unwrap().wakes(&waker), Some(Duration::ZERO));
    control.kill(A);
    assert_eq!(*tells.1.lock().unwrap(), [false; 2]);
    for node in &mut nodes {
        assert_eq!(events(node), [lost(A, "the node was killed")]);
    }
}

#[test]
fn what_survives_of_a_lost_node_is_what_it_sent_first() {
    let mut cut_short = 0;
    for seed in 0..300 {
        let (control, mut nodes) = network(2, manual(seed));
        for number in 0..50 {
            nodes[0].send(B, vec![number]).unwrap();
            control.advance(Duration::from_nanos(20));
        }
        control.kill(A);
        let seen = events(&mut nodes[1]);
        let frames: Vec<_> = (0..seen.len() as u8 - 1).map(|number| received(A, number)).collect();
        assert_eq!(seen[..frames.len()], frames, "seed {seed}");
        cut_short += u32::from(frames.len() < 50);
    }
    assert!(cut_short > 100, "only {cut_short} runs lost anything");
}

#[test]
fn a_cut_is_between_two_nodes() {
    let (control, mut nodes) = network(3, Faults::default());
    control.cut(A, B);
    assert_eq!(events(&mut nodes[0]), [lost(B, "the connection was cut")]);
    assert_eq!(events(&mut nodes[1]), [lost(A, "the connection was cut")]);
    assert_eq!(nodes[0].send(B, vec![1]).unwrap_err().why, Refusal::Down);
    nodes[0].send(C, vec![2]).unwrap();
    assert_eq!(events(&mut nodes[2]), [received(A, 2)]);
}

#[test]
fn a_node_that_leaves_is_down_after_its_last_frame() {
    let (control, mut nodes) = network(2, manual(3));
    nodes[0].send(B, vec![1]).unwrap();
    nodes[0].leave();
    assert_eq!(nodes[0].send(B, vec![2]).unwrap_err().why, Refusal::Down);
    drop(nodes.remove(0));
    while let Some(due) = control.next_due().filter(|due| !due.is_zero()) {
        control.advance(due);
    }
    let left = Event::Down { node: A, reason: DownReason::Left };
    assert_eq!(events(&mut nodes[0]), [received(A, 1), left]);
    assert_eq!(nodes[0].send(A, vec![3]).unwrap_err().why, Refusal::Down);
}

#[test]
fn a_node_that_is_dropped_is_lost() {
    let (_control, mut nodes) = network(2, Faults::default());
    drop(nodes.remove(0));
    assert_eq!(events(&mut nodes[0]), [lost(A, "the node has ended without leaving")]);
}

#[test]
fn what_cannot_be_sent_is_given_back() {
    let faults = Faults { under_way: 1, longest_frame: 3, ..Faults::default() };
    let (_control, mut nodes) = network(2, faults);
    for (to, frame, why) in [
        (NodeId::new(2), vec![1], Refusal::Unknown),
        (A, vec![1], Refusal::Unknown),
        (B, vec![1; 4], Refusal::TooLong),
    ] {
        let refused = nodes[0].send(to, frame.clone()).unwrap_err();
        assert_eq!((refused.why, refused.frame), (why, frame));
    }
    nodes[0].send(B, vec![1; 3]).unwrap();
    let refused = nodes[0].send(B, vec![2]).unwrap_err();
    assert_eq!((refused.why, refused.frame), (Refusal::Full, vec![2]));
    assert_eq!(events(&mut nodes[1]).len(), 1);
    nodes[0].send(B, vec![2]).unwrap();
}

#[test]
fn what_comes_does_not_wait_behind_what_was_sent() {
    let (_control, mut nodes) = network(2, Faults::default());
    assert_eq!(events(&mut nodes[0]), []);
    nodes[1].send(A, vec![1]).unwrap();
    for _ in 0..1_000 {
        nodes[0].send(B, vec![2]).unwrap();
    }
    assert_eq!(nodes[0].poll(), Some(received(B, 1)));
    assert_eq!(nodes[0].poll(), None, "no sent buffer is kept");
}

/// Longer than any test: a wait that is not ended hangs.
const FOR_EVER: Duration = Duration::from_secs(3_600);

#[test]
fn a_wait_ends_with_a_frame_with_a_call_and_with_a_loss() {
    let (control, mut nodes) = network(2, Faults::default());
    let mut b = nodes.pop().unwrap();
    let mut a = nodes.pop().unwrap();
    let waker = b.waker();
    std::thread::scope(|scope| {
        let waits = scope.spawn(move || {
            let mut seen = Vec::new();
            while seen.len() < 2 {
                seen.extend(events(&mut b));
                if seen.len() < 2 {
                    b.wait(FOR_EVER);
                }
            }
            (seen, b)
        });
        a.send(B, vec![1]).unwrap();
        control.kill(A);
        let (seen, mut b) = waits.join().unwrap();
        assert_eq!(seen, [received(A, 1), lost(A, "the node was killed")]);
        // A call before the wait is remembered.
        waker();
        b.wait(FOR_EVER);
        let waits = scope.spawn(move || b.wait(FOR_EVER));
        waker();
        waits.join().unwrap();
    });
}

/// Counts how often it is woken.
#[derive(Default)]
struct Woken(AtomicU32);

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

#[test]
fn a_task_that_waits_is_woken_once_by_a_frame_by_a_loss_and_by_the_end_of_the_other() {
    let (control, mut nodes) = network(3, Faults::default());
    let woken = Arc::<Woken>::default();
    let task = Waker::from(Arc::clone(&woken));
    assert_eq!(nodes[0].wakes(&task), Some(Duration::ZERO), "all are up");
    assert_eq!(events(&mut nodes[0]), []);
    let mut times = 0;
    let mut is_woken_by = |nodes: &mut [InProcess], what: &dyn Fn(&mut [InProcess])| {
        assert_eq!(nodes[0].wakes(&task), Some(Duration::MAX), "nothing is under way");
        what(nodes);
        what(nodes);
        times += 1;
        assert_eq!(woken.0.load(Ordering::SeqCst), times);
        assert_eq!(nodes[0].wakes(&task), Some(Duration::ZERO));
        assert!(!events(&mut nodes[0]).is_empty());
    };
    is_woken_by(&mut nodes, &|nodes| nodes[1].send(A, vec![1]).unwrap());
    is_woken_by(&mut nodes, &|nodes| nodes[1].leave());
    is_woken_by(&mut nodes, &|_| control.cut(A, C));
    // A receiver that is gone keeps no task.
    assert_eq!(nodes[0].wakes(&task), Some(Duration::MAX));
    drop(nodes);
    drop(task);
    assert_eq!(Arc::strong_count(&woken), 1);
}

#[test]
fn a_task_that_waits_for_a_frame_with_a_delay_is_told_for_how_long() {
    let delay = Duration::from_secs(100)..Duration::from_secs(200);
    let faults = Faults { delay, ..Faults::default() };
    for clock in [Clock::Real, Clock::Manual] {
        let (control, mut nodes) = network(2, Faults { clock, ..faults.clone() });
        assert_eq!(events(&mut nodes[1]), []);
        let woken = Arc::<Woken>::default();
        let task = Waker::from(Arc::clone(&woken));
        assert_eq!(nodes[1].wakes(&task), Some(Duration::MAX));
        nodes[0].send(B, vec![1]).unwrap();
        assert_eq!(woken.0.load(Ordering::SeqCst), 1, "it looks when the frame is due");
        let left = nodes[1].wakes(&task).unwrap();
        if clock == Clock::Real {
            assert!(left > Duration::ZERO && left < Duration::from_secs(200), "{left:?}");
        } else {
            assert_eq!(left, Duration::MAX, "the clock wakes it");
            control.advance(Duration::from_secs(200));
            assert_eq!(woken.0.load(Ordering::SeqCst), 2);
            assert_eq!(nodes[1].wakes(&task), Some(Duration::ZERO));
        }
    }
}

#[test]
fn a_wait_ends_when_a_frame_is_due_by_either_clock() {
    let delay = Duration::from_micros(200)..Duration::from_micros(201);
    let faults = Faults { delay, ..Faults::default() };
    for clock in [Clock::Real, Clock::Manual] {
        let (control, mut nodes) = network(2, Faults { clock, ..faults.clone() });
        nodes[0].send(B, vec![1]).unwrap();
        assert_eq!(events(&mut nodes[1]), []);
        let advance = |control: &Control| {
            if clock == Clock::Manual {
                control.advance(Duration::from_micros(201));
            }
        };
        std::thread::scope(|scope| {
            let waits = scope.spawn(|| {
                loop {
                    if let [event] = &events(&mut nodes[1])[..] {
                        assert_eq!(*event, received(A, 1));
                        return;
                    }
                    nodes[1].wait(FOR_EVER);
                }
            });
            advance(&control);
            waits.join().unwrap();
        });
    }
}
