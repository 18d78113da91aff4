//! What it costs to send a task to another core: the unit of everything else.
//!
//! Each core measures its own hops, of which it knows both ends: the time at which the task was pushed travels with it, and the core that polls it knows
//! for how long it has lain in the inbox although it could have been fetched, and how many came with it. Two numbers come of that. The *latency* is how long a
//! task is away; it is what a hop costs a core that has nothing else to run. The *cost* is what a hop takes from the cores while other tasks run: the
//! flight shared among those that flew together, and what both ends do for each task; where the ends measure what they [spend](Hop::spent), it is that.
//!
//! Measured, one way: the latency is 100 ns between near cores and 500 between far ones; the cost 13 and 58 with 16 tasks per core, 9 and 34 with 64.

/// What both ends do for each task, whatever flies with it, in nanoseconds. Measured between near cores with 256 tasks per core, where the flight has no part in it:
/// 8.5 for a hop, of which the flight of a batch of 8 is some 4.
pub const HANDLING: u64 = 5;

/// The latency that is believed before the first measurement, in nanoseconds: that between far cores, so that nothing is sent for a guess.
pub const FIRST_GUESS: u64 = 500;

/// A new value has one part in so many of an average: as many hops as a batch or two. An estimate; no benchmark sets it.
const WEIGHT: u64 = 16;

/// A flight counts as at most so many times the average: a worker that was preempted meanwhile says nothing about hops, and cores that
/// have moved apart are believed after a few.
pub(super) const OUTLIER: u64 = 4;

/// Steps of a nanosecond in which the averages are kept.
const STEPS: u64 = 256;

/// Bounds of what is believed, in nanoseconds.
const LEAST: u64 = 10;
const MOST: u64 = 1_000_000;

/// One task that has come from another core. Times are nanoseconds of one clock.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Flight {
    /// When the task was pushed.
    pub pushed: u64,
    /// When it was polled for the first time.
    pub polled: u64,
    /// For how much of that it has waited for other tasks: until its batch was published, until its new core came to look, and
    /// in the queue there.
    pub waited: u64,
    /// How many tasks were published together.
    pub batch: u32,
}

/// The averages of what a hop costs, of one core.
///
/// # Examples
/// ```
/// use evenkeel::policy::object::{Flight, Hop};
/// let mut hop = Hop::default();
/// for n in 0..100 {
///     hop.add(Flight { pushed: n * 1_000, polled: n * 1_000 + 700, waited: 500, batch: 8 });
/// }
/// assert_eq!((hop.latency(), hop.cost()), (200, 30));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hop {
    /// In [`STEPS`].
    latency: u64,
    cost: u64,
    flights: u32,
    /// What either end spends, the sender first; 0 if not known.
    spent: [u64; 2],
}

/// The two ends of a hop.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum End {
    /// Pushes the task.
    Sender = 0,
    /// Fetches it.
    Receiver = 1,
}

impl Default for Hop {
    fn default() -> Self {
        let guess = FIRST_GUESS * STEPS;
        Self { latency: guess, cost: guess, flights: 0, spent: [0; 2] }
    }
}

impl Hop {
    /// Takes a flight into account.
    pub fn add(&mut self, flight: Flight) {
        // Clocks of two cores may differ by a little, so that a task can be polled before it was pushed.
        let flown = flight.polled.saturating_sub(flight.pushed).saturating_sub(flight.waited);
        let bound = if self.flights == 0 { MOST } else { OUTLIER * self.latency() };
        let flown = flown.clamp(LEAST, bound.clamp(LEAST, MOST));
        let cost = flown / u64::from(flight.batch.max(1)) + HANDLING;
        self.flights = self.flights.saturating_add(1);
        let weight = u64::from(self.flights).min(WEIGHT);
        let toward = |mean: u64, value: u64| mean - mean / weight + value * STEPS / weight;
        self.latency = toward(self.latency, flown);
        self.cost = toward(self.cost, cost);
    }

    /// Takes into account that this core has spent so many nanoseconds on one task as one end of a hop; of a batch, its part of it. Optional: what the
    /// flights say is too much where cores have something else to do meanwhile, as they have between cores that do not wait for each other's lines.
    ///
    /// # Examples
    /// ```
    /// use evenkeel::policy::object::{Hop, hop::End};
    /// let mut hop = Hop::default();
    /// hop.spent(End::Sender, 20);
    /// assert_eq!(hop.cost(), 500, "of the other end nothing is known");
    /// hop.spent(End::Receiver, 30);
    /// assert_eq!(hop.cost(), 50);
    /// ```
    pub fn spent(&mut self, end: End, nanos: u64) {
        let mean = &mut self.spent[end as usize];
        let bound = if *mean == 0 { MOST } else { (OUTLIER * *mean / STEPS).max(LEAST) };
        let value = nanos.clamp(1, bound.min(MOST)) * STEPS;
        *mean = if *mean == 0 { value } else { *mean - *mean / WEIGHT + value / WEIGHT };
    }

    /// The same where one core is the one end of one hop and the other end of another, and does not know which has taken what.
    ///
    /// # Examples
    /// ```
    /// use evenkeel::policy::object::Hop;
    /// let mut hop = Hop::default();
    /// assert_eq!(hop.measured(), None);
    /// hop.spent_in_all(60);
    /// assert_eq!((hop.cost(), hop.measured()), (60, Some(60)));
    /// ```
    pub fn spent_in_all(&mut self, nanos: u64) {
        self.spent(End::Sender, nanos / 2);
        self.spent(End::Receiver, nanos - nanos / 2);
    }

    /// The [cost](Self::cost), unless it is a guess.
    #[must_use]
    pub fn measured(&self) -> Option<u64> {
        let is_measured = self.flights > 0 || self.spent.iter().all(|&nanos| nanos > 0);
        is_measured.then(|| self.cost())
    }

    /// How long a task is away, in nanoseconds.
    #[must_use]
    pub fn latency(&self) -> u64 {
        (self.latency + STEPS / 2) / STEPS
    }

    /// What a hop takes from the cores while other tasks run, in nanoseconds; never 0.
    #[must_use]
    pub fn cost(&self) -> u64 {
        let [sender, receiver] = self.spent;
        let cost = if sender > 0 && receiver > 0 { sender + receiver } else { self.cost };
        ((cost + STEPS / 2) / STEPS).max(1)
    }

    /// How many flights were taken into account, up to [`u32::MAX`].
    #[must_use]
    pub fn flights(&self) -> u32 {
        self.flights
    }
}

/// How many hops a time is worth, rounded down: the unit in which reports state costs.
///
/// # Examples
/// ```
/// use evenkeel::policy::object::hop::in_hops;
/// assert_eq!(in_hops(900, 30), 30);
/// assert_eq!(in_hops(900, 0), 900);
/// ```
#[must_use]
pub fn in_hops(nanos: u64, cost: u64) -> u64 {
    nanos / cost.max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn flight(nanos: u64) -> Flight {
        Flight { pushed: 0, polled: nanos, waited: 0, batch: 1 }
    }

    fn after(flights: impl IntoIterator<Item = u64>) -> Hop {
        let mut hop = Hop::default();
        flights.into_iter().for_each(|nanos| hop.add(flight(nanos)));
        hop
    }

    #[test]
    fn the_guess_is_gone_with_the_first_flight() {
        assert_eq!(Hop::default().cost(), FIRST_GUESS);
        assert_eq!(after([100]).latency(), 100);
    }

    #[test]
    fn a_preempted_worker_hardly_moves_the_average() {
        let steady = after([100; 50]);
        let mut disturbed = steady;
        disturbed.add(flight(4_000_000));
        assert!(disturbed.latency() <= 120, "{disturbed:?}");
    }

    #[test]
    fn cores_that_have_moved_apart_are_believed_soon() {
        let flights = [40; 50].into_iter().chain([200; 64]);
        assert!(after(flights).latency() > 190);
    }

    #[test]
    fn what_the_ends_spend_follows_and_is_not_led_astray() {
        let mut hop = Hop::default();
        for nanos in [[10; 50], [40; 50]].concat() {
            hop.spent(End::Sender, nanos);
            hop.spent(End::Receiver, nanos);
        }
        assert!((70..=80).contains(&hop.cost()), "{hop:?}");
        hop.spent(End::Receiver, u64::MAX);
        assert!(hop.cost() < 90, "{hop:?}");
    }

    #[test]
    fn clocks_that_disagree_and_ends_of_the_range_do_no_harm() {
        let mut hop = Hop::default();
        hop.add(Flight { pushed: 10, polled: 5, waited: u64::MAX, batch: 0 });
        hop.add(Flight { pushed: 0, polled: u64::MAX, waited: 0, batch: u32::MAX });
        assert!(hop.cost() >= 1);
    }
}
