//! The multiplexer with senders that move, simulated and on threads.

use super::super::demultiplexer::Demultiplexer;
use super::super::frame::Frame;
use super::super::wire::{Message, write_tell};
use super::super::{NodeId, Slot};
use super::{Departure, Link, Multiplexer, Packing, PutError, Trail};
use proptest::prelude::*;
use std::collections::{BTreeMap, VecDeque};
use std::convert::Infallible;
use std::pin::pin;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;

/// A waker that counts.
#[derive(Debug, Default)]
struct Count(AtomicUsize);

impl Wake for Count {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

fn small_frames() -> Packing {
    Packing { frame: 64, waiting: usize::MAX, ..Packing::default() }
}

/// Packing in which buffers do not leave because of time: other processes may keep a test from its
/// core.
fn timeless() -> Packing {
    Packing { cap: Duration::from_secs(3_600), ..Packing::default() }
}

fn pair(packing: Packing, workers: usize) -> (Arc<Multiplexer>, Link) {
    let multiplexer = Multiplexer::new(NodeId::new(0), 3, workers, packing);
    let link = multiplexer.link(NodeId::new(1)).unwrap();
    (multiplexer, link)
}

/// Sends the number `number` to the actor that has the sender's number.
fn send(link: &Link, here: u16, sender: u32, number: u32) -> Result<(), PutError<Infallible>> {
    link.try_put_at(here, |out| {
        write_tell(Slot { index: sender, generation: number }, None, out);
        Ok(())
    })
}

fn departures(multiplexer: &Multiplexer) -> VecDeque<Departure> {
    let mut departures = VecDeque::new();
    multiplexer.take_departures(&mut departures);
    departures
}

/// The senders and numbers in a frame.
fn numbers(frame: &[u8]) -> Vec<(u32, u32)> {
    let frame = Frame::read(frame, usize::MAX).unwrap();
    let number = |message| match message {
        Message::Tell { to, .. } => (to.index, to.generation),
        other => panic!("{other:?}"),
    };
    frame.messages().map(|message| number(message.unwrap().message)).collect()
}

/// Reads frames like a node with several workers, any of which may be the slowest.
fn read_in_any_order(
    frames: VecDeque<Departure>,
    mut pick: impl FnMut(usize) -> usize,
) -> Vec<(u32, u32)> {
    let mut waiting = Demultiplexer::new();
    for departure in frames {
        let frame = departure.sealed.frame;
        let (lane, fenced) = {
            let head = Frame::read(&frame, usize::MAX).unwrap();
            (head.lane, head.fenced)
        };
        waiting.came(lane, fenced, frame);
    }
    let (mut reading, mut read) = (Vec::new(), Vec::new());
    while !waiting.is_empty() {
        reading.extend(std::iter::from_fn(|| waiting.next()));
        let (lane, frame) = reading.swap_remove(pick(reading.len()));
        read.extend(numbers(&frame));
        waiting.read(lane);
    }
    read
}

fn assert_in_order(read: &[(u32, u32)], sent: &[u32]) {
    let mut next = BTreeMap::new();
    for &(sender, number) in read {
        let expected = next.entry(sender).or_insert(0);
        assert_eq!(number, *expected, "of sender {sender}");
        *expected += 1;
    }
    for (sender, &sent) in sent.iter().enumerate().filter(|(_, sent)| **sent > 0) {
        assert_eq!(next[&(sender as u32)], sent, "of sender {sender}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    /// Four senders go from worker to worker, with flushers and full frames in between, and the
    /// reader's workers are arbitrarily slow.
    #[test]
    fn each_senders_messages_are_read_in_order(
        steps in proptest::collection::vec((0..5_u32, 0..3_u16, 0..8_u8), 1..120),
        picks in proptest::collection::vec(any::<usize>(), 1..40),
    ) {
        let (multiplexer, link) = pair(small_frames(), 3);
        let trails: Vec<Trail> = (0..4).map(|_| Trail::new()).collect();
        let mut sent = [0; 5];
        for (sender, here, then) in steps {
            let number = sent[sender as usize];
            sent[sender as usize] += 1;
            // The last of the senders has no trail.
            match trails.get(sender as usize) {
                Some(trail) => trail.under(|| send(&link, here, sender, number)).unwrap(),
                None => send(&link, here, sender, number).unwrap(),
            }
            if then == 0 {
                multiplexer.lanes[usize::from(here)].flush(&multiplexer.departures).wake();
            }
        }
        multiplexer.flush();
        let mut picks = picks.iter().cycle();
        let read = read_in_any_order(departures(&multiplexer), |ready| picks.next().unwrap() % ready);
        assert_in_order(&read, &sent);
    }
}

#[test]
fn a_lane_keeps_no_buffer_for_a_node_that_it_sends_nothing_more() {
    const NODES: u32 = 100;
    let multiplexer = Multiplexer::new(NodeId::new(0), NODES + 1, 8, timeless());
    for here in 0..8 {
        Trail::new().under(|| {
            for node in 1..=NODES {
                send(&multiplexer.link(NodeId::new(node)).unwrap(), here, 0, 0).unwrap();
            }
        });
    }
    let memory = || multiplexer.lanes.iter().map(|lane| lane.memory()).sum::<usize>();
    assert!(memory() >= 8 * NODES as usize * Packing::default().frame);
    multiplexer.flush();
    assert_eq!(departures(&multiplexer).len(), 8 * NODES as usize);
    assert_eq!(memory(), 0);
}

#[test]
fn a_multiplexer_that_is_closed_keeps_no_buffer() {
    let (multiplexer, _) = pair(Packing::default(), 1);
    let room = multiplexer.departures.buffer().capacity();
    let used = || multiplexer.recycle(Vec::with_capacity(room + 1));
    used();
    assert!(multiplexer.departures.buffer().capacity() > room, "it keeps one");
    used();
    multiplexer.close();
    used();
    assert_eq!(multiplexer.departures.buffer().capacity(), room);
}

#[test]
fn a_host_flushes_nothing_before_a_cap_of_centuries() {
    // 2^64 nanoseconds.
    let cap = Duration::new(18_446_744_073, 709_551_616);
    let (multiplexer, link) = pair(Packing { cap, ..Packing::default() }, 1);
    send(&link, 0, 0, 0).unwrap();
    multiplexer.flush_old();
    assert!(departures(&multiplexer).is_empty());
}

#[test]
fn without_the_fence_a_sender_that_moves_would_be_read_out_of_order() {
    let (multiplexer, link) = pair(small_frames(), 2);
    // Both lanes have sent their first frames, which are fenced.
    for here in [0, 1] {
        Trail::new().under(|| send(&link, here, 9, 0)).unwrap();
    }
    multiplexer.flush();
    drop(departures(&multiplexer));
    let trail = Trail::new();
    trail.under(|| send(&link, 0, 1, 0)).unwrap();
    // A lane without messages does not hold the sender.
    multiplexer.flush();
    trail.under(|| send(&link, 1, 1, 1)).unwrap();
    multiplexer.flush();
    let mut frames = departures(&multiplexer);
    let last = |ready| ready - 1;
    assert_eq!(frames.len(), 2);
    let fenced: Vec<_> =
        frames.iter().map(|d| Frame::read(&d.sealed.frame, 1_000).unwrap().fenced).collect();
    assert_eq!(fenced, [false, true]);
    // Without the fence bit, the test above finds a wrong order.
    frames[1].sealed.frame[2] &= !1;
    assert_eq!(read_in_any_order(frames, last), [(1, 1), (1, 0)]);
}

#[test]
fn a_sender_that_comes_to_another_worker_stays_on_its_lane_while_messages_wait_there() {
    let (multiplexer, link) = pair(timeless(), 2);
    let trail = Trail::new();
    let lanes = || {
        for (number, here) in [0, 1, 2, 1].into_iter().enumerate() {
            trail.under(|| send(&link, here, 1, number as u32)).unwrap();
        }
        multiplexer.flush();
        let frames = departures(&multiplexer);
        let head = |frame: &Departure| {
            let frame = Frame::read(&frame.sealed.frame, 1_000).unwrap();
            (frame.lane, frame.messages().count())
        };
        frames.iter().map(head).collect::<Vec<_>>()
    };
    assert_eq!(lanes(), [(0, 4)]);
    assert_eq!(lanes(), [(0, 4)]);
    // Every way to empty a lane ends the stay.
    let waker = Waker::noop();
    let ways: [&dyn Fn(); 4] = [
        &|| multiplexer.flush(),
        &|| multiplexer.flush_as(waker),
        &|| _ = multiplexer.begin_epoch(),
        &|| multiplexer.take_seen(true, &mut Vec::new(), &mut VecDeque::new()),
    ];
    for empty in ways {
        trail.under(|| send(&link, 0, 1, 0)).unwrap();
        empty();
        assert!(!multiplexer.lanes[0].has_any());
        trail.under(|| send(&link, 1, 1, 1)).unwrap();
        assert!(multiplexer.lanes[1].has_any());
        multiplexer.flush();
    }
}

#[test]
fn a_line_goes_by_the_lane_on_which_its_user_stays() {
    let (multiplexer, link) = pair(timeless(), 2);
    let (line, sender) = (Trail::new(), Trail::new());
    // The line has sent by the common lane, which has messages.
    link.put_in_line(&line, |out| {
        write_tell(Slot { index: 0, generation: 0 }, None, out);
        Ok::<_, Infallible>(())
    })
    .unwrap();
    // This sender stays on lane 1, though its thread is no worker now.
    sender.under(|| send(&link, 1, 1, 0)).unwrap();
    let put = || {
        link.put_in_line(&line, |out| {
            write_tell(Slot { index: 0, generation: 1 }, None, out);
            Ok::<_, Infallible>(())
        })
    };
    sender.under(put).unwrap();
    multiplexer.flush();
    let frames = departures(&multiplexer);
    let lanes = |frame: &Departure| Frame::read(&frame.sealed.frame, 1_000).unwrap().lane;
    assert_eq!(frames.iter().map(lanes).collect::<Vec<_>>(), [2, 1]);
    let read = read_in_any_order(frames, |ready| ready - 1);
    assert_eq!(read, [(0, 0), (1, 0), (0, 1)]);
}

#[test]
fn senders_on_threads_that_swap_places_are_read_in_order() {
    const SENDERS: usize = 3;
    const MESSAGES: u32 = 20_000;
    let (multiplexer, link) = pair(small_frames(), 2);
    let is_over = AtomicBool::new(false);
    let mut frames = VecDeque::new();
    std::thread::scope(|scope| {
        let senders: Vec<_> = (0..SENDERS)
            .map(|sender| {
                let link = &link;
                scope.spawn(move || {
                    let trail = Trail::new();
                    for number in 0..MESSAGES {
                        // A few messages here, a few there, never at the same pace as the others.
                        let here = number / (7 + sender as u32) % 3;
                        trail.under(|| send(link, here as u16, sender as u32, number)).unwrap();
                    }
                })
            })
            .collect();
        let flusher = scope.spawn(|| {
            while !is_over.load(Ordering::Relaxed) {
                multiplexer.flush();
                multiplexer.flush_old();
            }
        });
        for sender in senders {
            sender.join().unwrap();
        }
        is_over.store(true, Ordering::Relaxed);
        flusher.join().unwrap();
    });
    multiplexer.flush();
    frames.append(&mut departures(&multiplexer));
    let read = read_in_any_order(frames, |ready| ready - 1);
    assert_in_order(&read, &[MESSAGES; SENDERS]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    /// As above, while epochs begin and older trails are forgotten, as if their senders had sent
    /// nothing.
    #[test]
    fn a_sender_whose_trail_was_forgotten_is_read_in_order(
        steps in proptest::collection::vec((0..4_u32, 0..3_u16, 0..8_u8), 1..120),
        picks in proptest::collection::vec(any::<usize>(), 1..40),
    ) {
        let (multiplexer, link) = pair(small_frames(), 3);
        let mut trails: Vec<Trail> = (0..4).map(|_| Trail::new()).collect();
        let mut sent = [0; 4];
        for (sender, here, then) in steps {
            let number = sent[sender as usize];
            sent[sender as usize] += 1;
            trails[sender as usize].under(|| send(&link, here, sender, number)).unwrap();
            match then {
                0 => multiplexer.lanes[usize::from(here)].flush(&multiplexer.departures).wake(),
                1 => {
                    let begun = multiplexer.begin_epoch();
                    for trail in trails.iter_mut().filter(|trail| trail.remove_before(begun)) {
                        *trail = Trail::new();
                    }
                }
                _ => {}
            }
        }
        multiplexer.flush();
        let mut picks = picks.iter().cycle();
        let read = read_in_any_order(departures(&multiplexer), |ready| picks.next().unwrap() % ready);
        assert_in_order(&read, &sent);
    }
}

#[test]
fn senders_whose_trails_are_forgotten_while_they_send_are_read_in_order() {
    const SENDERS: usize = 3;
    const MESSAGES: u32 = 20_000;
    let (multiplexer, link) = pair(small_frames(), 2);
    let is_over = AtomicBool::new(false);
    let mut frames = VecDeque::new();
    // The places in which the trails of the senders are kept.
    let kept: Vec<_> = (0..SENDERS).map(|_| Mutex::new(Arc::new(Trail::new()))).collect();
    std::thread::scope(|scope| {
        let senders: Vec<_> = (0..SENDERS)
            .map(|sender| {
                let (link, kept) = (&link, &kept[sender]);
                scope.spawn(move || {
                    let mut trail = Arc::clone(&kept.lock().unwrap());
                    for number in 0..MESSAGES {
                        if trail.is_removed() {
                            trail = Arc::clone(&kept.lock().unwrap());
                        }
                        let here = number / (7 + sender as u32) % 3;
                        let keep = |left: Trail| kept.lock().unwrap().take_over(&left);
                        let send = || send(link, here as u16, sender as u32, number);
                        trail.under_or(keep, send).unwrap();
                    }
                })
            })
            .collect();
        let sweeper = scope.spawn(|| {
            while !is_over.load(Ordering::Relaxed) {
                let begun = multiplexer.begin_epoch();
                for kept in &kept {
                    let mut kept = kept.lock().unwrap();
                    if kept.remove_before(begun) {
                        *kept = Arc::new(Trail::new());
                    }
                }
            }
        });
        for sender in senders {
            sender.join().unwrap();
        }
        is_over.store(true, Ordering::Relaxed);
        sweeper.join().unwrap();
    });
    multiplexer.flush();
    frames.append(&mut departures(&multiplexer));
    let read = read_in_any_order(frames, |ready| ready - 1);
    assert_in_order(&read, &[MESSAGES; SENDERS]);
}

#[test]
fn trails_are_forgotten_after_more_epochs_than_32_bits_count() {
    let (multiplexer, link) = pair(timeless(), 1);
    let trail = Trail::new();
    *multiplexer.epoch.lock().unwrap() = (u32::MAX - 2).into();
    for _ in 0..4 {
        let begun = multiplexer.begin_epoch();
        trail.under(|| send(&link, 0, 0, 0)).unwrap();
        assert!(!trail.remove_before(begun), "it has sent in this epoch");
    }
    let begun = multiplexer.begin_epoch();
    assert!(trail.remove_before(begun), "it has sent nothing since");
}

#[test]
fn what_is_put_in_behind_a_fence_to_a_node_is_read_last_and_other_nodes_keep_their_buffers() {
    for last in [false, true] {
        let (multiplexer, link) = pair(timeless(), 2);
        let other = multiplexer.link(NodeId::new(2)).unwrap();
        for here in 0..2 {
            let trail = Trail::new();
            trail.under(|| send(&link, here, here.into(), 0)).unwrap();
            trail.under(|| send(&other, here, 8, 0)).unwrap();
        }
        link.fence();
        // By the common lane.
        send(&link, 2, 2, 0).unwrap();
        link.fence();
        let frames = departures(&multiplexer);
        assert!(frames.iter().all(|frame| frame.to == NodeId::new(1)));
        let read = read_in_any_order(frames, |frames| if last { frames - 1 } else { 0 });
        assert_eq!((read.len(), read[2]), (3, (2, 0)));
        assert_eq!(*multiplexer.epoch.lock().unwrap(), 0);
        multiplexer.flush();
        assert_eq!(departures(&multiplexer).len(), 2, "the frames for the other node");
    }
}

#[test]
fn the_first_message_wakes_the_flusher_and_the_others_do_not() {
    let (multiplexer, link) = pair(timeless(), 1);
    let mut flushers: Vec<_> = multiplexer.flushers().map(Box::pin).collect();
    let count = Arc::new(Count::default());
    let waker = Waker::from(Arc::clone(&count));
    let mut context = Context::from_waker(&waker);
    for flusher in &mut flushers {
        assert!(flusher.as_mut().poll(&mut context).is_pending());
    }
    for number in 0..100 {
        send(&link, 0, 0, number).unwrap();
    }
    assert_eq!(count.0.load(Ordering::SeqCst), 1);
    assert!(departures(&multiplexer).is_empty());
    for flusher in &mut flushers {
        assert!(flusher.as_mut().poll(&mut context).is_pending());
    }
    let frames = departures(&multiplexer);
    assert_eq!(frames.iter().map(|d| d.sealed.messages).collect::<Vec<_>>(), [100]);
    send(&link, 0, 0, 100).unwrap();
    assert_eq!(count.0.load(Ordering::SeqCst), 2);
    multiplexer.close();
    for flusher in &mut flushers {
        assert!(flusher.as_mut().poll(&mut context).is_ready());
    }
    assert_eq!(departures(&multiplexer).len(), 1, "closing sends the packed messages");
    assert_eq!(send(&link, 0, 0, 101), Err(PutError::Leaving));
}

#[test]
fn a_frame_wakes_the_host_that_waits() {
    let (multiplexer, link) = pair(timeless(), 1);
    let count = Arc::new(Count::default());
    let waker = Waker::from(Arc::clone(&count));
    assert!(multiplexer.park_host(&waker));
    send(&link, 0, 0, 0).unwrap();
    assert_eq!(count.0.load(Ordering::SeqCst), 0);
    multiplexer.flush();
    assert_eq!(count.0.load(Ordering::SeqCst), 1);
    assert!(!multiplexer.park_host(&waker), "there is something for it");
    drop(departures(&multiplexer));
    assert!(multiplexer.park_host(&waker));
    multiplexer.close();
    assert_eq!(count.0.load(Ordering::SeqCst), 2);
}

#[test]
fn beyond_the_bound_senders_are_told_or_wait_until_half_has_gone() {
    let (multiplexer, link) = pair(Packing { frame: 1, waiting: 20, ..timeless() }, 1);
    let mut number = 0;
    let error = loop {
        match send(&link, 0, 0, number) {
            Ok(()) => number += 1,
            Err(error) => break error,
        }
    };
    assert_eq!(error, PutError::Full { most: 20 });
    let frames = departures(&multiplexer);
    let queued: usize = frames.iter().map(|d| d.sealed.frame.len()).sum();
    assert!((20..40).contains(&queued), "{queued}");

    let count = Arc::new(Count::default());
    let waker = Waker::from(Arc::clone(&count));
    let mut context = Context::from_waker(&waker);
    let mut put = pin!(link.put(|out| {
        write_tell(Slot { index: 0, generation: number }, None, out);
        Ok::<_, Infallible>(())
    }));
    assert!(put.as_mut().poll(&mut context).is_pending());
    assert!(put.as_mut().poll(&mut context).is_pending(), "once more leaves one waker");
    let mut left = queued;
    for departure in frames {
        assert_eq!(count.0.load(Ordering::SeqCst), 0, "with {left} bytes");
        assert_eq!(send(&link, 0, 7, 0), Err(PutError::Full { most: 20 }), "a sender waits");
        left -= departure.sealed.frame.len();
        multiplexer.taken(NodeId::new(1), departure.sealed.frame.len());
        if left <= 10 {
            break;
        }
    }
    assert_eq!(count.0.load(Ordering::SeqCst), 1);
    assert_eq!(put.as_mut().poll(&mut context), Poll::Ready(Ok(())));
}

#[test]
fn a_node_that_goes_down_wakes_waiters_and_loses_what_is_packed() {
    let (multiplexer, link) = pair(Packing { waiting: 1, ..timeless() }, 1);
    send(&link, 0, 0, 0).unwrap();
    multiplexer.flush();
    let mut put = pin!(link.put(|_| Ok::<_, Infallible>(())));
    let count = Arc::new(Count::default());
    let waker = Waker::from(Arc::clone(&count));
    let mut context = Context::from_waker(&waker);
    assert!(put.as_mut().poll(&mut context).is_pending());
    assert_eq!(multiplexer.node_is_down(NodeId::new(1)), 0);
    assert_eq!(count.0.load(Ordering::SeqCst), 1);
    assert_eq!(put.as_mut().poll(&mut context), Poll::Ready(Err(PutError::Down)));

    let other = multiplexer.link(NodeId::new(2)).unwrap();
    send(&other, 0, 0, 0).unwrap();
    send(&other, 0, 0, 1).unwrap();
    assert_eq!(multiplexer.node_is_down(NodeId::new(2)), 2);
    assert_eq!(multiplexer.traffic(NodeId::new(2)).messages_lost, 2);
    assert_eq!(send(&other, 0, 0, 2), Err(PutError::Down));
    drop(departures(&multiplexer));
    multiplexer.flush();
    assert!(departures(&multiplexer).is_empty(), "no lost message is sent");
}

#[test]
fn a_node_that_leaves_says_so_of_nodes_that_are_down_too() {
    let (multiplexer, link) = pair(timeless(), 1);
    multiplexer.close();
    multiplexer.node_is_down(NodeId::new(1));
    assert_eq!(send(&link, 0, 0, 0), Err(PutError::Leaving));
}

#[test]
fn there_is_no_link_to_this_node_or_to_a_missing_one() {
    let (multiplexer, _) = pair(timeless(), 1);
    assert!(multiplexer.link(NodeId::new(0)).is_none());
    assert!(multiplexer.link(NodeId::new(3)).is_none());
}

#[test]
fn traffic_counts_frames_messages_and_bytes() {
    let (multiplexer, link) = pair(timeless(), 1);
    for number in 0..10 {
        send(&link, 0, 0, number).unwrap();
    }
    multiplexer.flush();
    multiplexer.arrived(NodeId::new(1), 77);
    let traffic = multiplexer.traffic(NodeId::new(1));
    assert_eq!((traffic.frames_out, traffic.messages_out, traffic.bytes_out), (1, 10, 3 + 40));
    assert_eq!((traffic.frames_in, traffic.bytes_in), (1, 77));
}

#[test]
fn buffers_come_back() {
    let (multiplexer, link) = pair(timeless(), 1);
    send(&link, 0, 0, 0).unwrap();
    multiplexer.flush();
    send(&link, 0, 0, 1).unwrap();
    let place = |d: &Departure| d.sealed.frame.as_ptr();
    let first = departures(&multiplexer).pop_front().unwrap();
    let first_place = place(&first);
    // The buffer without memory that each packer begins with is not worth keeping; this one is.
    let mut big = first.sealed.frame;
    big.reserve(8 << 10);
    let big_place = big.as_ptr();
    multiplexer.recycle(big);
    multiplexer.flush();
    send(&link, 0, 0, 2).unwrap();
    multiplexer.flush();
    let places: Vec<_> = departures(&multiplexer).iter().map(place).collect();
    assert!(places.contains(&big_place), "{places:?} after {first_place:?}");
}
