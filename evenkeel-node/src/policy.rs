//! When a buffer leaves, and what an idle host does: pure functions of plain values.
//!
//! Times are nanoseconds.

use std::time::Duration;

/// How messages are packed, and how many bytes may wait.
///
/// # Examples
/// Small frames, which leave early:
/// ```
/// use evenkeel_node::policy::{Packing, leaves};
/// use std::time::Duration;
///
/// let packing = Packing { frame: 1 << 10, cap: Duration::from_micros(10), ..Packing::default() };
/// assert!(leaves(1 << 10, 0, &packing));
/// assert!(leaves(100, 10_000, &packing));
/// assert!(!leaves(100, 9_999, &packing));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Packing {
    /// The length at which a buffer leaves, in bytes; at least one. A frame is longer by at most
    /// one message.
    pub frame: usize,
    /// The wait of its oldest message after which a buffer leaves, at the next look: at every
    /// [`LOOK`]th message, or by the host, which sleeps for up to [`LONGEST_WAIT`]. A host that
    /// [keeps] messages also goes by it.
    pub cap: Duration,
    /// The longest message, in bytes. Messages between the nodes themselves take up to 555: a node
    /// does not start with less.
    pub longest_message: usize,
    /// The bytes that may wait for the transport, for each node; beyond it, senders get an error,
    /// or wait. Each lane adds at most a frame, since a sender checks the bound before it puts a
    /// message in.
    pub waiting: usize,
}

impl Packing {
    /// Returns the length of the longest frame of this packing: one byte less than full, plus the
    /// longest message. A transport takes frames of this length, and a reader refuses longer ones.
    ///
    /// # Examples
    /// ```
    /// use evenkeel_node::policy::Packing;
    /// assert_eq!(Packing::default().longest_frame(), 16 << 20);
    /// ```
    #[must_use]
    pub fn longest_frame(&self) -> usize {
        // An empty frame has a head of up to five bytes.
        self.frame.max(8).saturating_add(self.longest_message)
    }
}

impl Default for Packing {
    /// Frames of 8 KiB, beyond which packing gains little on shared memory (7.5 ns a message
    /// against 4.8 in frames of 64 KiB, in a stream of messages of 32 bytes by Open MPI); a cap of
    /// 100 µs, as in Thorium; messages that make the [longest frame](Self::longest_frame) 16 MiB
    /// long, and 4 MiB waiting. The last two are estimates that no benchmark sets.
    fn default() -> Self {
        Self {
            frame: 8 << 10,
            cap: Duration::from_micros(100),
            longest_message: (16 << 20) - (8 << 10),
            waiting: 4 << 20,
        }
    }
}

/// Messages between two looks at the clock: a look costs about as much as packing a message. An
/// estimate; no benchmark sets it.
pub const LOOK: u32 = 16;

/// Returns whether to look at the clock at this message of a buffer, of which the first is number
/// 1.
#[must_use]
#[inline]
pub fn looks_at_clock(message: u32) -> bool {
    message.is_multiple_of(LOOK)
}

/// Returns whether a buffer of `length` bytes leaves if its oldest message had waited for `age` at
/// the last look.
///
/// # Examples
/// ```
/// use evenkeel_node::policy::{Packing, leaves};
/// let packing = Packing::default();
/// assert!(!leaves(100, 0, &packing));
/// assert!(leaves(8 << 10, 0, &packing), "full");
/// assert!(leaves(100, 100_000, &packing), "old");
/// ```
#[must_use]
#[inline]
pub fn leaves(length: usize, age: u64, packing: &Packing) -> bool {
    length >= packing.frame || u128::from(age) >= packing.cap.as_nanos()
}

/// What a host does after an idle turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Idle {
    /// Looks again at once.
    Spin,
    /// Yields its core and looks again.
    Yield,
    /// Waits for this many nanoseconds at most.
    Wait(u64),
}

/// Returns whether a host that has handed on a frame looks for another one in the same turn: if it
/// handed on one in the turn before, too.
///
/// Frames that come one by one, with idle turns between them, are answered at once: a vain look
/// would delay each answer by its own time. If each turn finds a frame, more may be there, and the
/// answers to all of them travel together. Without this rule two nodes that have each other's
/// frames queued would read one frame and send one, with few messages in it, in each turn, for
/// ever: `latency_probe` on two ranks then packed 2 messages into a frame, not 20.
///
/// # Examples
/// ```
/// use evenkeel_node::policy::looks_for_more;
/// assert!(!looks_for_more(false, 1), "the first after a silence");
/// assert!(looks_for_more(true, 1), "frames are flowing");
/// assert!(looks_for_more(false, 2), "this is not the first of the turn");
/// ```
#[must_use]
pub fn looks_for_more(came_in_last_turn: bool, frames: u32) -> bool {
    came_in_last_turn || frames > 1
}

/// How many more times a spinning host that is a task looks at its transport in a turn while no
/// other task is ready. A choice: a look takes a twentieth to a tenth of a microsecond, and the
/// worker's own duties, such as timers, wait for all looks, and for the turns of other processes
/// between them, of which [a long one](Offers::note) is the last.
pub const LOOKS_ALONE: u32 = 16;

/// Whether a host that is a task offers its core to other processes before each of its
/// [looks](LOOKS_ALONE): as long as one of them takes it.
///
/// Where Open MPI yields in each look that finds nothing, a rank gives its core away while its
/// actors are ready too: with this rule alone, four ranks of one worker on two cores of an AMD EPYC
/// had 0.91 of that worker latency in `latency_probe`. An offer before each look, also if none is
/// taken, made a message between two ranks with a core each take 1.4 times as long.
///
/// # Examples
/// ```
/// use evenkeel_node::policy::Offers;
/// use std::time::Duration;
///
/// let (at_once, a_moment, a_slice) = (300, 4_000, 3_000_000);
/// let [at_once, a_moment, a_slice] = [at_once, a_moment, a_slice].map(Duration::from_nanos);
/// let mut offers = Offers::default();
/// assert!(!offers.are_due(), "this process has the core to itself");
/// assert!(!offers.note(a_moment) && offers.are_due(), "a peer has taken it");
/// assert!(offers.note(a_slice), "the host looks at the clock: another process computes");
/// (0..7).for_each(|_| _ = offers.note(at_once));
/// assert!(offers.are_due(), "the system may let a thread go on although others wait");
/// assert!(!offers.note(at_once) && !offers.are_due());
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Offers {
    /// How many in a row were not taken.
    in_vain: u32,
}

impl Offers {
    /// An offer that takes this long was taken: another thread has run. A call that finds no other
    /// thread takes some 0.3 µs, and two switches a few. An estimate; no benchmark sets it.
    const TAKEN: Duration = Duration::from_nanos(1_500);

    /// The most offers in a row that were not taken, after which a host makes them in longer
    /// silences alone. With 32, a message between two ranks with a core each took 1.03 times as
    /// long in `latency_probe`: now and then an interrupt makes an offer long.
    const MOST_IN_VAIN: u32 = 8;

    /// Returns whether the host makes one before its next look.
    #[must_use]
    pub fn are_due(self) -> bool {
        self.in_vain < Self::MOST_IN_VAIN
    }

    /// Notes how long one took. Returns whether the host looks at the clock after its next look,
    /// and makes no further one in this turn: another process does not give the core back at once.
    pub fn note(&mut self, length: Duration) -> bool {
        self.in_vain = if length >= Self::TAKEN { 0 } else { self.in_vain.saturating_add(1) };
        length >= Duration::from_nanos(SPIN)
    }
}

impl Default for Offers {
    /// None is due until one in a longer silence is taken.
    fn default() -> Self {
        Self { in_vain: Self::MOST_IN_VAIN }
    }
}

/// Returns whether a host that is a task, and the flusher of the only worker, keeps what that
/// worker has packed in the last `kept` nanoseconds for another turn. It asks while other processes
/// [take its core](Offers), and other tasks of the worker are ready.
///
/// Where processes take turns on a core, a peer does not read before this one has given the core
/// away, and it does when its worker has run out of work. With all messages until then a frame had
/// 50 in place of 12 in `latency_probe` on four ranks of two cores (AMD EPYC), and the worker
/// latency was 0.85 of what it had been. Between ranks with a core each, where a peer waits for
/// every frame, it would have been 1.7 times as high. No message is kept for longer than [`YIELD`],
/// however great the cap: then the worker has work for longer than a peer should wait for.
///
/// # Examples
/// ```
/// use evenkeel_node::policy::{Packing, keeps};
/// let packing = Packing::default();
/// assert!(keeps(0, &packing));
/// assert!(!keeps(100_000, &packing), "what is as old as the cap leaves at this turn");
/// ```
#[must_use]
#[inline]
pub fn keeps(kept: u64, packing: &Packing) -> bool {
    u128::from(kept) < packing.cap.as_nanos().min(YIELD.into())
}

/// A host that had work less than this ago spins: a few round trips of shared memory. An estimate;
/// no benchmark sets it.
pub const SPIN: u64 = 20_000;

/// A host thread that had work less than this ago yields: the default cap of a buffer, after which
/// a peer has sent what it has. An estimate; no benchmark sets it.
pub const YIELD: u64 = 100_000;

/// The same for a host that is a task. Its waits end at ticks of the runtime's
/// [timers](evenkeel::time), so even the shortest may last for more than half a millisecond. If the
/// hosts of two such nodes yielded for less, each would find the other asleep, and fall asleep
/// before the other answers, again and again. So each yields for longer than [the first wait](idle)
/// of the other can last, and meets it. On two ranks that were held up now and then,
/// `latency_probe` slept ten times as often with 100 µs, and took twice as long. A choice, for the
/// usual resolution of timers.
pub const YIELD_OF_TASK: u64 = 1_000_000;

/// The shortest wait. An estimate: the cost of falling asleep and waking up.
pub const SHORTEST_WAIT: u64 = 50_000;

/// The longest wait: the host looks this often at a transport that arriving frames cannot wake. An
/// estimate: a hundred looks a second are no load.
pub const LONGEST_WAIT: u64 = 10_000_000;

/// Returns what a host does that has been without work for `idle`, and yields for `yields`:
/// [`YIELD`] or [`YIELD_OF_TASK`]. A wait is a quarter of all the time without work. So a late
/// frame is late by at most a quarter of that, and looks become rare.
///
/// # Examples
/// ```
/// use evenkeel_node::policy::{Idle, LONGEST_WAIT, YIELD, YIELD_OF_TASK, idle};
/// assert_eq!(idle(1_000, YIELD), Idle::Spin);
/// assert_eq!(idle(50_000, YIELD), Idle::Yield);
/// assert_eq!(idle(100_000, YIELD), Idle::Wait(50_000));
/// assert_eq!(idle(100_000, YIELD_OF_TASK), Idle::Yield);
/// assert_eq!(idle(1_000_000, YIELD_OF_TASK), Idle::Wait(250_000));
/// assert_eq!(idle(3_600_000_000_000, YIELD_OF_TASK), Idle::Wait(LONGEST_WAIT));
/// ```
#[must_use]
pub fn idle(idle: u64, yields: u64) -> Idle {
    if idle < SPIN {
        Idle::Spin
    } else if idle < yields {
        Idle::Yield
    } else {
        Idle::Wait((idle / 4).clamp(SHORTEST_WAIT, LONGEST_WAIT))
    }
}

#[cfg(test)]
mod tests {
    use super::{Idle, YIELD_OF_TASK, idle};
    use evenkeel_policy::timing::{RESOLUTION, tick_bits};

    /// At least twice the delay of a sleeper on Linux.
    const LATE: u64 = 200_000;

    #[test]
    fn a_task_looks_for_longer_than_its_peer_sleeps_at_first() {
        let Idle::Wait(first) = idle(YIELD_OF_TASK, YIELD_OF_TASK) else { panic!("it waits") };
        // The end of a wait is rounded up to a tick.
        let asleep = first + (1 << tick_bits(RESOLUTION)) + LATE;
        assert!(asleep < YIELD_OF_TASK, "{asleep} ns asleep");
    }
}
