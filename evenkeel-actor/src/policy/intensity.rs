//! How often a supervisor restarts children before it gives up, and how long it waits in between.

use std::collections::VecDeque;
use std::time::Duration;

/// The limit: at most `restarts` restarts within a window that ends at present.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Limit {
    pub(crate) restarts: u32,
    pub(crate) window: Duration,
}

/// The recent restarts.
#[derive(Debug)]
pub(crate) struct Intensity {
    limit: Limit,
    /// Their times, oldest first: never more than the limit.
    recent: VecDeque<Duration>,
}

impl Intensity {
    pub(crate) fn new(limit: Limit) -> Self {
        Self { limit, recent: VecDeque::new() }
    }

    /// Admits one more restart if it is within the limit, and counts it. `now` is counted from any
    /// beginning and never goes back.
    pub(crate) fn admit(&mut self, now: Duration) -> bool {
        let window = self.limit.window;
        while self.recent.front().is_some_and(|&then| now.saturating_sub(then) > window) {
            self.recent.pop_front();
        }
        let within = self.recent.len() < self.limit.restarts as usize;
        if within {
            self.recent.push_back(now);
        }
        within
    }
}

/// Waiting before a restart: longer after each failure, up to a bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Backoff {
    pub(crate) first: Duration,
    pub(crate) most: Duration,
}

impl Backoff {
    /// Returns the wait after `failures` consecutive failures, at least one: it doubles with each.
    pub(crate) fn after(self, failures: u32) -> Duration {
        let doublings = failures.saturating_sub(1).min(31);
        self.first.saturating_mul(1 << doublings).min(self.most)
    }

    /// Returns whether a child that was up for this long has recovered, so that the next failure is
    /// the first again.
    pub(crate) fn is_recovered(self, up: Duration) -> bool {
        up >= self.most
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const S: Duration = Duration::from_secs(1);

    fn admitted(restarts: u32, window: u32, at: &[u32]) -> Vec<bool> {
        let mut intensity = Intensity::new(Limit { restarts, window: S * window });
        at.iter().map(|&second| intensity.admit(S * second)).collect()
    }

    #[test]
    fn a_window_has_as_many_as_the_limit() {
        assert_eq!(admitted(3, 5, &[0, 0, 0, 0]), [true, true, true, false]);
        assert_eq!(admitted(0, 5, &[0, 100]), [false, false]);
        assert_eq!(admitted(1, 0, &[0, 0, 1]), [true, false, true]);
    }

    #[test]
    fn the_window_slides() {
        // The first is forgotten when more than the window has passed.
        assert_eq!(admitted(2, 5, &[0, 3, 5]), [true, true, false]);
        assert_eq!(admitted(2, 5, &[0, 3, 6, 8, 9]), [true, true, true, false, true]);
    }

    #[test]
    fn any_window_has_at_most_the_limit() {
        for restarts in 0..4_u32 {
            for window in 0..6_u32 {
                // Every pattern of 10 moments.
                for pattern in 0..1_u32 << 10 {
                    let at: Vec<u32> = (0..10).filter(|n| pattern & (1 << n) != 0).collect();
                    let admitted = admitted(restarts, window, &at);
                    let kept: Vec<u32> =
                        at.iter().zip(&admitted).filter(|(_, ok)| **ok).map(|(&n, _)| n).collect();
                    for &end in &kept {
                        let within = kept.iter().filter(|&&n| n <= end && n + window >= end);
                        assert!(within.count() <= restarts as usize);
                    }
                    // And none is refused without need.
                    for (&n, &ok) in at.iter().zip(&admitted) {
                        let before = kept.iter().filter(|&&k| k < n && k + window >= n).count();
                        assert_eq!(ok, before < restarts as usize);
                    }
                }
            }
        }
    }

    #[test]
    fn waits_double_up_to_the_bound() {
        let backoff = Backoff { first: S, most: S * 10 };
        let waits: Vec<_> = (1..=6).map(|n| backoff.after(n).as_secs()).collect();
        assert_eq!(waits, [1, 2, 4, 8, 10, 10]);
        assert_eq!(backoff.after(u32::MAX), S * 10);
        assert!(backoff.is_recovered(S * 10));
        assert!(!backoff.is_recovered(S * 9));
    }
}
