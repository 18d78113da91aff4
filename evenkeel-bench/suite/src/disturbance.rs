//! How much of the machine's time a run really had.
//!
//! What was busy on the run's cores and is not this process, nor a child that it has waited for,
//! was taken by others; stolen time was taken by the hypervisor.
//!
//! The system counts in ticks of a hundredth of a second, so a run of a few of them says nothing of
//! itself. It is judged by what was taken of the [time](LONG) up to its end, in which other runs of
//! its row fall: whatever goes on taking time is seen after the first runs of a row.

use std::fs;
use std::time::{Duration, Instant};

/// What a reader must know of it.
pub const MEANING: &str = "a run counts if others took less than 4 % of its cores' time, which the \
    system counts in hundredths of a second; of a run shorter than a quarter of a second so much \
    time up to its end is looked at, within its row, so of the first ones they can take more unseen";

/// As long as tells the [share](ENOUGH) that matters from a tick for each core.
const LONG: Duration = Duration::from_millis(250);

/// A run that had less than this share of its time was disturbed, and does not count.
pub const ENOUGH: f64 = 0.96;

/// The cores of a row, from its first run on.
#[derive(Debug, Default)]
pub struct Past(Vec<Seen>);

/// What had been used at a time; nothing is known where the system does not tell.
#[derive(Clone, Copy, Debug)]
struct Seen {
    at: Instant,
    ticks: Option<Ticks>,
}

/// A run on some cores.
pub struct Watch<'a> {
    cores: Vec<usize>,
    /// A child whose time is this process's own.
    child: Option<u32>,
    past: &'a mut Past,
    began: Seen,
}

/// Clock ticks so far.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Ticks {
    /// Busy or stolen on the watched cores.
    busy: u64,
    /// Used by this process and the children it has waited for.
    own: u64,
}

impl<'a> Watch<'a> {
    /// Begins to watch these cores, and a child that is not waited for yet if that does the work.
    /// All runs with the same past have the same cores.
    pub fn beside(cores: Vec<usize>, child: Option<u32>, past: &'a mut Past) -> Self {
        let began = Seen::now(&cores, child);
        Watch { cores, child, past, began }
    }

    /// The share of the time that others left to this process until now, 0 to 1; 1 where the system
    /// does not tell.
    pub fn share(self) -> f64 {
        let Self { cores, child, past, began } = self;
        let ended = Seen::now(&cores, child);
        let share = |from: &Seen| from.share(&ended, cores.len());
        // A child's own time is known while it runs: no run beside has counted it.
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
    /// The latest time that is [long](LONG) ago, or else the first of all.
    fn before(&self, now: Instant) -> Option<&Seen> {
        let is_long_ago = |seen: &&Seen| now.duration_since(seen.at) >= LONG;
        self.0.iter().rev().find(is_long_ago).or(self.0.first())
    }
}

impl Seen {
    fn now(cores: &[usize], child: Option<u32>) -> Self {
        Self { at: Instant::now(), ticks: now(cores, child) }
    }

    /// What others left of the time until then.
    fn share(&self, then: &Self, cores: usize) -> f64 {
        let Some((before, after)) = self.ticks.zip(then.ticks) else { return 1.0 };
        let per_second = rustix::param::clock_ticks_per_second();
        share(before, after, cores, then.at - self.at, per_second)
    }
}

fn share(before: Ticks, after: Ticks, cores: usize, time: Duration, per_second: u64) -> f64 {
    let busy = after.busy.saturating_sub(before.busy);
    let own = after.own.saturating_sub(before.own);
    // The counters are whole ticks, so a difference of one per core says nothing.
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

/// Adds up what was not idle on these cores: user, nice, system, interrupts and stolen time.
fn busy(stat: &str, cores: &[usize]) -> u64 {
    /// Positions behind the core's name; the others are idle, waiting, and time of guests that is
    /// part of user time already.
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

/// User and system time of the process and of its children. The fields are counted from the end of
/// the program's name, which may contain anything.
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
        // Others take half of a core: nothing is to be seen of it in any run of 20 ms.
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
