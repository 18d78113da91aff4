//! A model of the end of a search.

use super::*;
use crate::policy::Locality;
use crate::policy::timing::RESOLUTION;
use crate::primitives::atomic::Edge;
use crate::primitives::mutation::check;
use crate::processor::context::Context;
use crate::processor::neighbours::Neighbours;
use crate::processor::seat::Seat;
use crate::processor::shared::Hooks;
use crate::scheduler::model::drain;
use crate::scheduler::spawn;
use crate::task::{self, word_waker::WordWaker};
use crate::timers::Rules;
use std::panic::Location;

/// A time that has not come, so that no task has waited.
const READY: u64 = u64::MAX / 2;

fn spawn_here(context: &Context) {
    let make = |birth| task::make(async {}, (), Location::caller(), birth);
    context.enter(|| drop(spawn::on(context.shared(), make)));
}

/// A worker pushes a task, and may leave it to the only searcher, which has found other work. A
/// third worker sleeps.
#[test]
fn a_spawn_wakes_the_sleeper_or_the_last_searcher_does() {
    check(&[Edge::IdlePush, Edge::IdleSleep], || {
        let (shared, mut seats) = Seat::all(
            (0..3).map(|me| Neighbours::flat(me, 3)).collect(),
            Locality::default(),
            Hooks::default(),
            0,
            Rules::new::<WordWaker>(RESOLUTION),
        );
        let mut context = || Context::new(seats.next().expect("there are three"), READY);
        let (pusher, searcher, _sleeper) = (context(), context(), context());
        spawn_here(&pusher);
        shared.idle.announce(2);
        assert!(shared.idle.begin_search(|_| true));
        let pusher = loom::thread::spawn(move || {
            spawn_here(&pusher);
            pusher
        });
        assert!(shared.idle.end_search(), "it is the last");
        Worker::new(&searcher).wake_next();
        let pusher = pusher.join().unwrap();
        assert!(!shared.idle.is_asleep(2));
        drain(&pusher.seat);
    });
}
