//! How much of the machine's time a run really had.
//!
//! What was busy on the run's cores and is not this process, nor a child that it has waited for,
//! was taken by others; stolen time was taken by the hypervisor.

use std::fs;
use std::time::{Duration, Instant};

/// What a reader must know of it.
pub const MEANING: &str = "a run counts if others took less than 4 % of its cores' time, which the \
    system counts in hundredths of a second: of a run shorter than a quarter of a second they can \
    take more unseen";

/// A run that had less than this share of its time was disturbed, and does not count.
pub const ENOUGH: f64 = 0.96;

/// A stretch of time on some cores.
pub struct Watch {
    cores: Vec<usize>,
    /// A child whose time is this process's own.
    child: Option<u32>,
    started: Instant,
    /// Absent where the system does not tell.
    before: Option<Ticks>,
}

/// Clock ticks so far.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Ticks {
    /// Busy or stolen on the watched cores.
    busy: u64,
    /// Used by this process and the children it has waited for.
    own: u64,
}

impl Watch {
    /// Begins to watch these cores, and a child that is not waited for yet if that does the work.
    pub fn beside(cores: Vec<usize>, child: Option<u32>) -> Watch {
        let before = now(&cores, child);
        Watch { cores, child, started: Instant::now(), before }
    }

    /// The share of the time since the start that others left to this process, 0 to 1; 1 where the
    /// system does not tell.
    pub fn share(&self) -> f64 {
        let Some((before, after)) = self.before.zip(now(&self.cores, self.child)) else {
            return 1.0;
        };
        let per_second = rustix::param::clock_ticks_per_second();
        share(before, after, self.cores.len(), self.started.elapsed(), per_second)
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
}
