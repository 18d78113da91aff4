//! How much of its cores' time a run really had.
//!
//! Time in which the run's cores were busy, but not with this process, a child that it has waited
//! for, or one that does the work of some runs, was taken by other processes; stolen time was taken
//! by the hypervisor.
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

/// The readings of a row's cores, from its first run on, or from that of its newest child.
#[derive(Debug, Default)]
pub struct Past {
    seen: Vec<Seen>,
    /// Children that do the work of some runs, and have not been waited for.
    children: Vec<u32>,
}

/// The ticks used up to a time; `None` where the system does not report them.
#[derive(Clone, Copy, Debug)]
struct Seen {
    at: Instant,
    ticks: Option<Ticks>,
}

/// A run on some cores, under observation.
pub struct Watch<'a> {
    cores: Vec<usize>,
    past: &'a mut Past,
    began: Seen,
}

/// Clock ticks up to a reading.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Ticks {
    /// Ticks in which the watched cores were busy or stolen.
    busy: u64,
    /// Ticks used by this process, by the children it has waited for, and by those of the row.
    own: u64,
}

impl<'a> Watch<'a> {
    /// Begins to watch these cores, and the child process that does the work, if there is one and
    /// it has not been waited for: its time counts as this process's own. All runs with the same
    /// past have the same cores.
    pub fn beside(cores: Vec<usize>, child: Option<u32>, past: &'a mut Past) -> Self {
        if let Some(child) = child.filter(|child| !past.children.contains(child)) {
            // No earlier reading of the row includes its time.
            past.children.push(child);
            past.seen.clear();
        }
        let began = past.look(&cores);
        Watch { cores, past, began }
    }

    /// Returns the share of the time that other processes left to this one, 0 to 1; 1 where the
    /// system does not report it.
    pub fn share(self) -> f64 {
        let Self { cores, past, began } = self;
        let ended = past.look(&cores);
        let share = |from: &Seen| from.share(&ended, cores.len());
        let least = past.before(ended.at).map_or(1.0, share).min(share(&began));
        past.seen.extend([began, ended]);
        least
    }
}

impl Past {
    /// Reads the ticks used up to now. What a child has used that was waited for is this process's
    /// own by then.
    fn look(&mut self, cores: &[usize]) -> Seen {
        self.children.retain(|child| of_child(*child).is_some());
        Seen { at: Instant::now(), ticks: now(cores, &self.children) }
    }

    /// Returns the latest reading that is at least [`LONG`] old, or else the first of all.
    fn before(&self, now: Instant) -> Option<&Seen> {
        let is_long_ago = |seen: &&Seen| now.duration_since(seen.at) >= LONG;
        self.seen.iter().rev().find(is_long_ago).or(self.seen.first())
    }
}

impl Seen {
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

fn now(cores: &[usize], children: &[u32]) -> Option<Ticks> {
    let busy = busy(&fs::read_to_string("/proc/stat").ok()?, cores);
    let this = own(&fs::read_to_string("/proc/self/stat").ok()?)?;
    let children: u64 = children.iter().map(|&child| of_child(child)).sum::<Option<u64>>()?;
    Some(Ticks { busy, own: this + children })
}

/// Returns the ticks that a child process has used; `None` if it has ended.
fn of_child(child: u32) -> Option<u64> {
    own(&fs::read_to_string(format!("/proc/{child}/stat")).ok()?)
}

/// Adds up the time in which these cores were not idle: user, nice, system and stolen time, and
/// that of interrupts, if it is charged to processes. A kernel that measures it
/// (`IRQ_TIME_ACCOUNTING`) charges it to none, so what this process sends over loopback would count
/// as taken by others. By that kernel's figures hard interrupts take time too; by those of the
/// others they hardly ever do.
fn busy(stat: &str, cores: &[usize]) -> u64 {
    /// Positions behind the core's name. The others are idle, waiting, and time of guests, which
    /// user time already includes.
    const COUNTED: [usize; 4] = [0, 1, 2, 7];
    const HARD: usize = 5;
    const SOFT: usize = 6;
    let of_line = |line: &str| -> Option<Vec<u64>> {
        let (name, rest) = line.split_once(' ')?;
        let core = name.strip_prefix("cpu")?.parse().ok()?;
        let fields = rest.split_whitespace().filter_map(|field| field.parse().ok());
        cores.contains(&core).then(|| fields.collect())
    };
    let lines: Vec<Vec<u64>> = stat.lines().filter_map(of_line).collect();
    let sum = |field: usize| -> u64 { lines.iter().filter_map(|line| line.get(field)).sum() };
    let counted = COUNTED.map(sum).into_iter().sum::<u64>();
    if sum(HARD) == 0 { counted + sum(SOFT) } else { counted }
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
    fn busy_counts_the_given_cores_without_idle_interrupts_and_guests() {
        assert_eq!(busy(STAT, &[0]), 60 + 1 + 10 + 3);
        assert_eq!(busy(STAT, &[0, 1]), 74 + 54);
        assert_eq!(busy(STAT, &[7]), 0);
    }

    #[test]
    fn interrupts_that_no_process_is_charged_for_are_taken_by_none() {
        let ticks = |stat: &str| Ticks { busy: busy(stat, &[0, 1]), own: 100 };
        let later = STAT.replace("5 2 1 3", "5 22 41 3").replace("0 0 2 4", "0 0 52 4");
        let second = Duration::from_secs(1);
        assert_eq!(share(ticks(STAT), ticks(&later), 2, second, 100), 1.0);
    }

    #[test]
    fn interrupts_that_processes_are_charged_for_count() {
        let before = "cpu0 60 0 10 400 5 0 1 0\n";
        let later = "cpu0 110 0 10 400 5 0 51 0\n";
        assert_eq!(busy(later, &[0]) - busy(before, &[0]), 100);
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
        let past = Past { seen: runs.collect(), children: Vec::new() };
        let now = seen(400, 20);
        assert_eq!(past.seen[19].share(&now, 1), 1.0);
        let before = past.before(now.at).expect("there are some");
        assert_eq!(before.at, start + Duration::from_millis(140));
        assert!(before.share(&now, 1) < 0.6);
        let first = past.before(start + Duration::from_millis(90)).expect("there are some");
        assert_eq!(first.at, start);
        assert!(Past::default().before(now.at).is_none());
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn the_past_begins_anew_with_each_child_and_goes_on_without_it() {
        let mut past = Past::default();
        let mut run = |child| Watch::beside(vec![0], child, &mut past).share();
        run(None);
        let mut child = std::process::Command::new("sleep").arg("60").spawn().unwrap();
        run(Some(child.id()));
        run(None);
        child.kill().unwrap();
        child.wait().unwrap();
        run(None);
        assert_eq!((past.seen.len(), past.children.len()), (6, 0));
        let mut child = std::process::Command::new("sleep").arg("60").spawn().unwrap();
        let mut run = |child| Watch::beside(vec![0], child, &mut past).share();
        run(Some(child.id()));
        run(None);
        assert_eq!((past.seen.len(), past.children.len()), (4, 1));
        child.kill().unwrap();
        child.wait().unwrap();
    }
}
