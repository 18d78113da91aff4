//! How much of its cores' time a run really had.
//!
//! Time in which the run's cores were busy, but not with this process or a child that it has waited
//! for, was taken by other processes; stolen time was taken by the hypervisor.
//!
//! The system counts in ticks of a hundredth of a second, too coarse for a run of a few ticks. A
//! run is therefore judged by the time that others took in the [period](LONG) up to its end, which
//! covers other runs of its row. A disturbance that goes on is seen after the first runs of a row.

use std::fs;
use std::time::{Duration, Instant};

/// The explanation for readers of a table.
pub const MEANING: &str = "a run counts if others took less than 4 % of its cores' time, which the \
    system counts in hundredths of a second; a run shorter than a quarter of a second is judged by \
    the quarter up to its end, within its row, so others may take more of its first runs unseen";

/// The shortest period in which the [share](ENOUGH) that matters exceeds a tick for each core.
const LONG: Duration = Duration::from_millis(250);

/// The smallest share of its time with which a run counts; with less it was disturbed.
pub const ENOUGH: f64 = 0.96;

/// The readings of a row's cores, from its first run on.
#[derive(Debug, Default)]
pub struct Past(Vec<Seen>);

/// The ticks used up to a time; `None` where the system does not report them.
#[derive(Clone, Copy, Debug)]
struct Seen {
    at: Instant,
    ticks: Option<Ticks>,
}

/// A run on some cores, under observation.
pub struct Watch<'a> {
    cores: Vec<usize>,
    /// A child process that does the work; its time counts as this process's own.
    child: Option<u32>,
    past: &'a mut Past,
    began: Seen,
}

/// Clock ticks up to a reading.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Ticks {
    /// Ticks in which the watched cores were busy or stolen.
    busy: u64,
    /// Ticks used by this process and by the children it has waited for.
    own: u64,
}

impl<'a> Watch<'a> {
    /// Begins to watch these cores, and the child process that does the work, if there is one and
    /// it has not been waited for. All runs with the same past have the same cores.
    pub fn beside(cores: Vec<usize>, child: Option<u32>, past: &'a mut Past) -> Self {
        let began = Seen::now(&cores, child);
        Watch { cores, child, past, began }
    }

    /// Returns the share of the time that other processes left to this one, 0 to 1; 1 where the
    /// system does not report it.
    pub fn share(self) -> f64 {
        let Self { cores, child, past, began } = self;
        let ended = Seen::now(&cores, child);
        let share = |from: &Seen| from.share(&ended, cores.len());
        // The time of a running child is read from the child itself, and no earlier reading of the
        // row includes it.
        let before = if child.is_none() { past.before(ended.at) } else { None };
        let least = before.map_or(1.0, share).min(share(&began));
        match child {
            Some(_) => past.0.clear(),
            None => past.0.extend([began, ended]),
        }
        least
    }
}

impl Past {
    /// Returns the latest reading that is at least [`LONG`] old, or else the first of all.
    fn before(&self, now: Instant) -> Option<&Seen> {
        let is_long_ago = |seen: &&Seen| now.duration_since(seen.at) >= LONG;
        self.0.iter().rev().find(is_long_ago).or(self.0.first())
    }
}

impl Seen {
    fn now(cores: &[usize], child: Option<u32>) -> Self {
        Self { at: Instant::now(), ticks: now(cores, child) }
    }

    /// Returns the share of the time until `then` that others left.
    fn share(&self, then: &Self, cores: usize) -> f64 {
        let Some((before, after)) = self.ticks.zip(then.ticks) else { return 1.0 };
        let per_second = rustix::param::clock_ticks_per_second();
        share(before, after, cores, then.at - self.at, per_second)
    }
}

fn share(before: Ticks, after: Ticks, cores: usize, time: Duration, per_second: u64) -> f64 {
    let busy = after.busy.saturating_sub(before.busy);
    let own = after.own.saturating_sub(before.own);
    // The counters are whole ticks, so a difference of one per core means nothing.
    let others = busy.saturating_sub(own).saturating_sub(cores as u64);
    let all = time.as_secs_f64() * per_second as f64 * cores as f64;
    (1.0 - others as f64 / all.max(1.0)).clamp(0.0, 1.0)
}

fn now(cores: &[usize], child: Option<u32>) -> Option<Ticks> {
    let busy = busy(&fs::read_to_string("/proc/stat").ok()?, cores);
    let this = own(&fs::read_to_string("/proc/self/stat").ok()?)?;
    let child = match child {
        Some(child) => own(&fs::read_to_string(format!("/proc/{child}/stat")).ok()?)?,
        None => 0,
    };
    Some(Ticks { busy, own: this + child })
}

/// Adds up the time in which these cores were not idle: user, nice, system, interrupts and stolen
/// time.
fn busy(stat: &str, cores: &[usize]) -> u64 {
    /// Positions behind the core's name. The others are idle, waiting, and time of guests, which
    /// user time already includes.
    const COUNTED: [usize; 6] = [0, 1, 2, 5, 6, 7];
    let of_line = |line: &str| -> Option<u64> {
        let (name, rest) = line.split_once(' ')?;
        let core = name.strip_prefix("cpu")?.parse().ok()?;
        let fields: Vec<u64> = rest.split_whitespace().filter_map(|f| f.parse().ok()).collect();
        let sum = COUNTED.iter().filter_map(|&field| fields.get(field)).sum();
        cores.contains(&core).then_some(sum)
    };
    stat.lines().filter_map(of_line).sum()
}

/// Returns the user and system time of the process and of its children. The fields are counted from
/// the end of the program's name, which may contain anything.
fn own(stat: &str) -> Option<u64> {
    let (_, rest) = stat.rsplit_once(')')?;
    let fields: Vec<&str> = rest.split_whitespace().collect();
    fields.get(11..15)?.iter().map(|field| field.parse::<u64>().ok()).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    const STAT: &str = "cpu  100 0 20 900 5 0 3 7 0 0\n\
                        cpu0 60 1 10 400 5 2 1 3 50 0\n\
                        cpu1 40 0 10 500 0 0 2 4 0 0\n\
                        intr 12345\n";

    #[test]
    fn busy_counts_the_given_cores_without_idle_and_guests() {
        assert_eq!(busy(STAT, &[0]), 60 + 1 + 10 + 2 + 1 + 3);
        assert_eq!(busy(STAT, &[0, 1]), 77 + 56);
        assert_eq!(busy(STAT, &[7]), 0);
    }

    #[test]
    fn own_time_includes_children_and_survives_odd_names() {
        let line = "42 (a ) b) R 1 2 3 4 5 6 7 8 9 10 11 12 13 14 20 0";
        assert_eq!(own(line), Some(11 + 12 + 13 + 14));
        assert_eq!(own("nothing"), None);
    }

    #[test]
    fn the_share_is_what_others_leave() {
        let second = Duration::from_secs(1);
        let before = Ticks { busy: 1000, own: 500 };
        let quiet = Ticks { busy: 1200, own: 699 };
        assert_eq!(share(before, quiet, 2, second, 100), 1.0);
        let loaded = Ticks { busy: 1200, own: 658 };
        assert_eq!(share(before, loaded, 2, second, 100), 0.8);
    }

    #[test]
    fn a_short_run_is_judged_by_a_quarter_of_a_second() {
        let start = Instant::now();
        let seen = |ms: u64, busy: u64| Seen {
            at: start + Duration::from_millis(ms),
            ticks: Some(Ticks { busy, own: 0 }),
        };
        // Others take half of a core: no single run of 20 ms shows it.
        let runs = (0..20).map(|run| seen(20 * run, run));
        let past = Past(runs.collect());
        let now = seen(400, 20);
        assert_eq!(past.0[19].share(&now, 1), 1.0);
        let before = past.before(now.at).expect("there are some");
        assert_eq!(before.at, start + Duration::from_millis(140));
        assert!(before.share(&now, 1) < 0.6);
        let first = past.before(start + Duration::from_millis(90)).expect("there are some");
        assert_eq!(first.at, start);
        assert!(Past::default().before(now.at).is_none());
    }
}
