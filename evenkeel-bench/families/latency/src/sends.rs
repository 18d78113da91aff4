//! What the sender sends when. The times are fixed beforehand: a sender that is late sends at once.

use std::iter;
use std::time::Duration;

use crate::BLOCK_EVERY;
use suite::kit::random::Random;

/// What is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Wakes the parked light task of this number.
    Wake(usize),
    /// Spawns the light task of this number.
    Spawn(usize),
    /// Spawns a task that computes.
    Compute,
    /// Spawns a task that blocks its thread.
    Block,
    /// Spawns a task that wakes the parked light task of this number, and then keeps its worker for
    /// the time.
    Trap(usize, Duration),
}

/// A kind at its time after the first send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Call {
    pub(crate) at: Duration,
    pub(crate) kind: Kind,
}

/// The resolution of the random pauses, as a share of one.
const GRAIN: usize = 1 << 20;

/// What is sent beside the light tasks.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Beside {
    /// Tasks that compute, per second. The pauses between them have an exponential distribution, so
    /// that they come as independent requests do.
    pub(crate) computes: u32,
    /// Tasks that block their threads, at once every [`BLOCK_EVERY`].
    pub(crate) blocks: usize,
}

/// Returns as many wakes as spawns in turns, each `rate` times per second, and what is beside them.
pub(crate) fn steady(events: usize, rate: u32, beside: Beside, seed: u64) -> Vec<Call> {
    let period = 1.0 / f64::from(rate);
    let at = |periods: f64| Duration::from_secs_f64(periods * period);
    let mut sends: Vec<Call> = (0..events)
        .flat_map(|number| {
            let wake = Call { at: at(number as f64), kind: Kind::Wake(number) };
            [wake, Call { at: at(number as f64 + 0.5), kind: Kind::Spawn(number) }]
        })
        .collect();
    let seconds = events as f64 * period;
    sends.extend(arrivals(beside.computes, seconds, seed));
    let rounds = (seconds / BLOCK_EVERY.as_secs_f64()).ceil() as u32;
    let blocks = (0..rounds).flat_map(|round| {
        iter::repeat_n(Call { at: BLOCK_EVERY * round, kind: Kind::Block }, beside.blocks)
    });
    sends.extend(blocks);
    sends.sort_by_key(|send| send.at);
    sends
}

/// Returns tasks that compute, `rate` per second at random times, within these seconds.
fn arrivals(rate: u32, seconds: f64, seed: u64) -> impl Iterator<Item = Call> {
    let (mut random, mut next) = (Random::new(seed, 0), 0.0);
    iter::from_fn(move || {
        let share = (random.below(GRAIN) + 1) as f64 / GRAIN as f64;
        // Without arrivals the first comes after an endless pause, or never: after 0 / 0.
        next -= share.ln() / f64::from(rate);
        let is_within = next < seconds;
        is_within.then(|| Call { at: Duration::from_secs_f64(next), kind: Kind::Compute })
    })
}

/// Returns bursts of `size` sends at once, half of them wakes, every `pause`.
pub(crate) fn bursts(bursts: usize, size: usize, pause: Duration) -> Vec<Call> {
    let each = size / 2;
    let burst = |burst: usize| {
        let number = move |place| burst * each + place;
        let of = move |place| [Kind::Wake(number(place)), Kind::Spawn(number(place))];
        let at = pause * burst as u32;
        (0..each).flat_map(of).map(move |kind| Call { at, kind })
    };
    (0..bursts).flat_map(burst).collect()
}

/// Returns traps that keep a worker for `held` each, one every `pause`.
pub(crate) fn traps(traps: usize, held: Duration, pause: Duration) -> Vec<Call> {
    let trap = |number| Call { at: pause * number as u32, kind: Kind::Trap(number, held) };
    (0..traps).map(trap).collect()
}

/// Returns the numbers of light tasks that are parked beforehand, and of those that are spawned.
pub(crate) fn lights(sends: &[Call]) -> (usize, usize) {
    let of = |is: fn(&Kind) -> bool| sends.iter().filter(|send| is(&send.kind)).count();
    let parked = of(|kind| matches!(kind, Kind::Wake(_) | Kind::Trap(..)));
    (parked, of(|kind| matches!(kind, Kind::Spawn(_))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wakes_and_spawns_take_turns_and_computations_come_at_their_rate() {
        let sends = steady(2_000, 1_000, Beside { computes: 1_400, blocks: 2 }, 1);
        assert_eq!(lights(&sends), (2_000, 2_000));
        let at = |kind| sends.iter().find(|send| send.kind == kind).map(|send| send.at);
        assert_eq!(at(Kind::Wake(3)), Some(Duration::from_millis(3)));
        assert_eq!(at(Kind::Spawn(3)), Some(Duration::from_micros(3_500)));
        let computes = sends.iter().filter(|send| send.kind == Kind::Compute).count();
        assert!((2_600..3_000).contains(&computes), "{computes}");
        let blocks = sends.iter().filter(|send| send.kind == Kind::Block).count();
        assert_eq!(blocks, 2 * 20);
        assert!(sends.is_sorted_by_key(|send| send.at));
        assert_eq!(steady(10, 1_000, Beside::default(), 1).len(), 20);
    }

    #[test]
    fn bursts_and_traps_number_their_light_tasks() {
        let sends = bursts(3, 4, Duration::from_millis(10));
        assert_eq!(lights(&sends), (6, 6));
        assert_eq!(sends[4].at, Duration::from_millis(10));
        assert_eq!((sends[4].kind, sends[5].kind), (Kind::Wake(2), Kind::Spawn(2)));
        let sends = traps(2, Duration::from_millis(1), Duration::from_millis(5));
        assert_eq!(lights(&sends), (2, 0));
    }
}
