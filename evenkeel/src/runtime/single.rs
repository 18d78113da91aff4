//! A runtime with one processor, which is run by the thread that makes it.

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
    /// Makes a runtime with a single processor and a clock that stands at `time`. The caller runs
    /// its seat before the runtime is dropped.
    ///
    /// The machine is not examined, so that it makes no difference.
    pub(crate) fn with_seat(hooks: Hooks, time: u64) -> (Self, Seat) {
        let neighbours = Neighbours::all(&Topology::flat(1), &[0]);
        let rules = Rules::new::<WordWaker>(RESOLUTION);
        let (shared, mut seats) = Seat::all(neighbours, Locality::default(), hooks, 0, rules);
        shared.begin_clock_at(time);
        let seat = seats.next().expect("there is one processor");
        drop(seats);
        (Self::new_running(Handle::new(shared)), seat)
    }
}
