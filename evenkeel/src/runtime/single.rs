//! A runtime whose only processor is run by the thread that makes it.

use super::Runtime;
use super::handle::Handle;
use crate::policy::Locality;
use crate::policy::timing::RESOLUTION;
use crate::processor::neighbours::Neighbours;
use crate::processor::seat::Seat;
use crate::processor::shared::Hooks;
use crate::task::word_waker::WordWaker;
use crate::timers::Rules;
use crate::topology::Topology;

impl Runtime {
    /// One of a single processor, whose seat is for the caller to run before the runtime is
    /// dropped, and whose clock stands at `time`.
    ///
    /// The machine is not looked at, so that it makes no difference.
    pub(crate) fn with_seat(hooks: Hooks, time: u64) -> (Self, Seat) {
        let neighbours = Neighbours::all(&Topology::flat(1), &[0]);
        let rules = Rules::new::<WordWaker>(RESOLUTION);
        let (shared, mut seats) = Seat::all(neighbours, Locality::default(), hooks, false, rules);
        shared.begin_clock_at(time);
        let seat = seats.next().expect("there is one processor");
        drop(seats);
        (Self::new_running(Handle::new(shared)), seat)
    }
}
