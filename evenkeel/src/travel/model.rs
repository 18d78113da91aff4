//! Models of travelling, on the scheduler's own types.

use super::*;
use crate::primitives::mutation::{check, check_without};
use crate::processor::context::Context;
use crate::processor::shared::Shared;
use crate::raw_task::id::Id;
use crate::scheduler::journeys::announce;
use crate::scheduler::model::{drain, orphan, two_seats};
use crate::scheduler::{handover, run};
use std::sync::Arc;

/// Processor 0, which sends tasks to processor 1 in lines of one.
struct Sender {
    shared: Arc<Shared>,
    departures: Departures,
}

impl Sender {
    fn new(shared: &Arc<Shared>) -> Self {
        open(shared);
        Self { shared: shared.clone(), departures: Departures::default() }
    }

    fn send(&mut self, task: Runnable) {
        self.send_at_once([task]);
    }

    fn send_at_once(&mut self, tasks: impl IntoIterator<Item = Runnable>) {
        for task in tasks {
            let is_time = self.departures.keep(2, 1, task, usize::MAX);
            assert!(!is_time, "there is room for more, and more is to come");
        }
        let receiver = &self.shared.processors[1];
        let sent = self.departures.send(0, 1, (&receiver.arrivals, &receiver.inbox));
        if self.shared.has_to_tell(1, sent) {
            announce(&self.shared, 1);
        }
    }
}

/// Makes the passage from processor 0 to processor 1: loom knows nothing of `OnceLock`.
fn open(shared: &Shared) {
    shared.processors[1].arrivals.from[0].set(Passage::new()).expect("nothing has travelled");
}

/// Takes the tasks that have come to processor 1.
fn receive(shared: &Shared, received: &mut Vec<Id>) -> usize {
    shared.processors[1].arrivals.receive(|task, _| received.push(complete(task)))
}

/// Completes a task, and returns its number.
fn complete(task: Runnable) -> Id {
    let id = task.live().footer().id;
    run::run_elsewhere(task);
    id
}

/// Sends one line more than there is room for, line by line or at once.
fn overflow(at_once: bool) {
    let (seat, _receiver) = two_seats();
    let shared = seat.shared().clone();
    let tasks: Vec<_> = (0..=LINES).map(|_| orphan(None)).collect();
    let sent: Vec<_> = tasks.iter().map(|task| task.live().footer().id).collect();
    let mut sender = Sender::new(&shared);
    let sender = loom::thread::spawn(move || {
        if at_once {
            sender.send_at_once(tasks);
        } else {
            tasks.into_iter().for_each(|task| sender.send(task));
        }
    });
    let mut received = Vec::new();
    for _ in 0..2 {
        receive(&shared, &mut received);
    }
    sender.join().unwrap();
    receive(&shared, &mut received);
    received.extend(shared.processors[1].inbox.take().map(complete));
    assert_eq!(received, sent, "the last alone may have gone another way");
}

#[test]
fn tasks_arrive_once_in_their_order_or_in_the_inbox() {
    use Edge::{TravelReceive, TravelRoom, TravelSend, TravelTaken};
    check(&[TravelSend, TravelReceive, TravelTaken, TravelRoom], || overflow(false));
}

#[test]
fn so_do_those_that_are_sent_at_once() {
    check(&[Edge::TravelSend, Edge::TravelReceive], || overflow(true));
}

/// The last lines of one send find no room.
#[test]
fn a_full_passage_leaves_all_to_the_inbox() {
    check(&[], || {
        let (seat, _receiver) = two_seats();
        let shared = seat.shared().clone();
        let tasks: Vec<_> = (0..LINES + 3).map(|_| orphan(None)).collect();
        let sent: Vec<_> = tasks.iter().map(|task| task.live().footer().id).collect();
        let mut sender = Sender::new(&shared);
        let mut tasks = tasks.into_iter();
        sender.send(tasks.next().expect("there are more"));
        let rung = shared.processors[1].arrivals.bell.rung.load(Ordering::Relaxed);
        sender.send_at_once(tasks.by_ref().take(LINES as usize + 1));
        let arrivals = &shared.processors[1].arrivals;
        let full = arrivals.bell.rung.load(Ordering::Relaxed);
        sender.send_at_once(tasks);
        assert!(rung != full && full == arrivals.bell.rung.load(Ordering::Relaxed));
        let mut received = Vec::new();
        assert_eq!(receive(&shared, &mut received), LINES as usize);
        received.extend(shared.processors[1].inbox.take().map(complete));
        assert_eq!(received, sent);
    });
}

#[test]
fn a_receiver_that_hears_the_bell_finds_what_has_been_sent() {
    check(&[Edge::TravelRing, Edge::TravelHeard], || {
        let (seat, _receiver) = two_seats();
        let shared = seat.shared().clone();
        let mut sender = Sender::new(&shared);
        let tasks = [orphan(None), orphan(None)];
        let sender = loom::thread::spawn(move || sender.send_at_once(tasks));
        let arrivals = &shared.processors[1].arrivals;
        let mut received = Vec::new();
        if arrivals.has_rung() {
            assert_eq!(receive(&shared, &mut received), 2, "it rings when all are there");
        }
        sender.join().unwrap();
        receive(&shared, &mut received);
        assert_eq!(received.len(), 2);
    });
}

/// Processor 1 falls asleep while processor 0 sends a line to it, after `lines` others.
fn fall_asleep(lines: usize) {
    let (seat, _receiver) = two_seats();
    let shared = seat.shared().clone();
    let mut sender = Sender::new(&shared);
    let mut received = Vec::new();
    for _ in 0..lines {
        sender.send(orphan(None));
        assert_eq!(receive(&shared, &mut received), 1);
    }
    let sender = loom::thread::spawn(move || sender.send(orphan(None)));
    let idle = &shared.idle;
    idle.sit(1);
    idle.announce(1);
    if shared.processors[1].arrivals.look_before_sleep() {
        idle.cancel(1);
    } else {
        while !idle.sleep(1, None, false).is_woken {}
    }
    assert_eq!(receive(&shared, &mut received), 1);
    sender.join().unwrap();
}

/// Nothing has ever travelled to the sleeper, so it makes no heavy fence.
#[test]
fn a_sleeper_or_its_first_sender_sees_the_other() {
    check_without(&[Edge::TravelSleep], &[Edge::TravelSent, Edge::IdleSleep], || fall_asleep(0));
}

/// The fence of the announcement is left out: it does not pair with the sender's light fence.
#[test]
fn a_sleeper_or_a_later_sender_sees_the_other() {
    check_without(&[Edge::IdleSleep], &[Edge::TravelSent, Edge::TravelSleep], || fall_asleep(1));
}

/// The sender of a task takes the receiver's queue by force, while the receiver receives.
#[test]
fn what_has_been_sent_is_received_or_taken_by_force() {
    use Edge::{BiasedBusy, BiasedClaimed, BiasedFenced, BiasedHeavy, BiasedLeave};
    use Edge::{BiasedLight, BiasedUnclaim};
    let fences = [BiasedLight, BiasedHeavy, BiasedFenced, BiasedClaimed];
    check(&[&fences[..], &[BiasedLeave, BiasedBusy, BiasedUnclaim]].concat(), || {
        let (sender, receiver) = two_seats();
        open(sender.shared());
        let receiver = loom::thread::spawn(move || {
            receiver.receive(0);
            receiver
        });
        let _ = sender.depart(orphan(Some(&sender)), 1);
        sender.send_departed(|target| announce(sender.shared(), target));
        let context = Context::new(sender, 0);
        handover::force(&context, 1, false);
        let taken = drain(&context.seat);
        let receiver = receiver.join().unwrap();
        receiver.receive(0);
        assert_eq!(taken + drain(&receiver), 1);
    });
}

/// The sender is held up between the departure and the end of its batch.
#[test]
fn what_is_about_to_leave_is_sent_or_taken_by_force() {
    use Edge::{BiasedBusy, BiasedClaimed, BiasedFenced, BiasedHeavy, BiasedLeave, BiasedLight};
    check(
        &[BiasedLight, BiasedHeavy, BiasedFenced, BiasedClaimed, BiasedLeave, BiasedBusy],
        || {
            let (sender, receiver) = two_seats();
            open(sender.shared());
            let _ = sender.depart(orphan(Some(&sender)), 1);
            let sender = loom::thread::spawn(move || {
                sender.send_departed(|target| announce(sender.shared(), target));
            });
            let context = Context::new(receiver, 0);
            handover::force(&context, 0, false);
            let taken = drain(&context.seat);
            sender.join().unwrap();
            context.seat.receive(0);
            assert_eq!(taken + drain(&context.seat), 1);
        },
    );
}
