//! Measures one row: its peers take turns, round by round, until each has enough runs that count.
//!
//! A planned round runs all peers. A run can change the one after it, so the order [changes](turns)
//! from round to round until each peer has followed each other equally often. A further round runs
//! the peers that lack runs, and always the subject beside them: a machine that drifts must not
//! drift between the two that are compared. If only the subject lacks runs, all peers run again.

use std::time::{Duration, Instant};

use super::enough::{Bound, Counts, counts, is_disturbed, regime};
use super::record::{Quiet, Record};
use crate::affinity;
use crate::disturbance::{Past, Watch};
use crate::regime::{bounce, name};

/// The peers of a row.
pub struct Peers<'a> {
    /// Their names.
    pub names: &'a [&'static str],
    /// The name of the subject.
    pub subject: Option<&'static str>,
    /// Whether the row depends on the distance of the cores.
    pub is_bound: bool,
}

/// The outcome of one run of one peer.
pub enum Run {
    /// It left a record.
    Kept(Box<Record>),
    /// It gave up: the peer is not asked again.
    GaveUp(String),
}

/// Measures a row. `once` runs the peer at a place in a round; `each` receives each outcome.
pub fn row(
    peers: &Peers<'_>,
    bound: &mut Bound,
    once: &mut dyn FnMut(usize, usize) -> anyhow::Result<Run>,
    each: &mut dyn FnMut(usize, Run) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    let mut kept: Vec<Record> = Vec::new();
    let mut left: Vec<usize> = (0..peers.names.len()).collect();
    let (mut time, mut runs) = (Duration::ZERO, 0);
    for round in 0..bound.rounds + bound.extra {
        let is_planned = round < bound.rounds;
        let mut asked = if is_planned { left.clone() } else { again(peers, bound, &kept, &left) };
        let expected = time / runs.max(1) * asked.len() as u32;
        if asked.is_empty() || !is_planned && !bound.grants(expected) {
            break;
        }
        let began = Instant::now();
        asked = turns(asked.len(), round).into_iter().map(|place| asked[place]).collect();
        for &place in &asked {
            let run = once(place, round)?;
            match &run {
                Run::Kept(record) => {
                    kept.push(Record::clone(record));
                    let is_over = cannot(&kept, &record.runtime, bound.needed());
                    left.retain(|&other| other != place || !is_over);
                }
                Run::GaveUp(_) => left.retain(|&other| other != place),
            }
            each(place, run)?;
        }
        let took = began.elapsed();
        if is_planned {
            bound.planned(took)
        } else {
            bound.spent(took)
        }
        (time, runs) = (time + took, runs + asked.len() as u32);
    }
    Ok(())
}

/// Returns whether a peer has shown that it does not complete: in as many runs as a row needs, and
/// without one that completed. Disturbed runs do not count for this.
fn cannot(kept: &[Record], runtime: &str, needed: usize) -> bool {
    let own = kept.iter().filter(|record| record.runtime == runtime && !is_disturbed(record));
    own.clone().all(|record| record.dnc) && own.count() >= needed
}

/// Returns the order of `peers` peers in a round, by their places.
///
/// In twice as many rounds as there are peers, each peer follows each other twice, not counting the
/// last run of a round (Williams, "Experimental Designs Balanced for the Estimation of Residual
/// Effects of Treatments", Australian Journal of Scientific Research A 2, 1949). The first order
/// goes to and fro: 0, 1, n - 1, 2, n - 2 and so on. The other orders are the first one, shifted by
/// one for every second round and reversed in every other.
pub fn turns(peers: usize, round: usize) -> Vec<usize> {
    let to_and_fro = |step: usize| match step % 2 {
        0 => peers - step / 2,
        _ => step / 2 + 1,
    };
    let place = |step| (to_and_fro(step) + round / 2) % peers;
    let order = (0..peers).map(place);
    if round.is_multiple_of(2) { order.collect() } else { order.rev().collect() }
}

/// Returns the peers that run in a further round; none if all have enough runs.
fn again(peers: &Peers<'_>, bound: &Bound, kept: &[Record], left: &[usize]) -> Vec<usize> {
    let kept: Vec<&Record> = kept.iter().collect();
    let regime = if peers.is_bound { regime(&kept, peers.subject) } else { None };
    let lacks = |place: usize| {
        let own = kept.iter().filter(|record| record.runtime == peers.names[place]);
        own.filter(|record| counts(record, regime) == Counts::Yes).count() < bound.needed()
    };
    let is_subject = |place: usize| Some(peers.names[place]) == peers.subject;
    let asked: Vec<usize> =
        left.iter().copied().filter(|&place| lacks(place) || is_subject(place)).collect();
    match asked.as_slice() {
        [subject] if is_subject(*subject) => {
            if lacks(*subject) {
                left.to_vec()
            } else {
                Vec::new()
            }
        }
        _ => asked,
    }
}

/// Runs `work` within the first `workers` cores, and returns how quiet they were.
///
/// The line between two cores is bounced before and after, unless it was `read` already: for one
/// worker the distance of the cores makes no difference, so one reading for all its runs is enough.
/// The time of a `child` that does the work counts as this process's. The `past` is that of the
/// row.
pub fn watched<T>(
    workers: usize,
    read: Option<f64>,
    child: Option<u32>,
    past: &mut Past,
    work: impl FnOnce() -> T,
) -> (T, Quiet) {
    let line_ns_before = read.unwrap_or_else(bounce);
    let (done, cpu_share) = affinity::confined(workers, || {
        let watch = Watch::beside(affinity::cores(), child, past);
        let done = work();
        (done, watch.share())
    });
    let line_ns_after = read.unwrap_or_else(bounce);
    let regime = name(line_ns_before, line_ns_after).into();
    (done, Quiet { line_ns_before, line_ns_after, regime, cpu_share })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kit::fake::run;

    const NAMES: [&str; 3] = ["ours", "b", "c"];

    /// The outcome of each run of each peer, in order; further runs are quiet.
    type Script<'a> = [&'a [&'static str]; 3];

    /// Runs a row by the script. Returns the peers that ran, round by round.
    fn asked(script: Script<'_>, is_bound: bool, bound: &mut Bound) -> Vec<String> {
        let peers = Peers { names: &NAMES, subject: Some(NAMES[0]), is_bound };
        let mut done = [0; 3];
        let mut rounds: Vec<String> = Vec::new();
        let mut once = |place: usize, round: usize| {
            rounds.resize(round + 1, String::new());
            rounds[round].push_str(&NAMES[place][..1]);
            let mut record = run(NAMES[place], 2, 20.0);
            match script[place].get(done[place]).copied().unwrap_or("near") {
                "gave up" => return Ok(Run::GaveUp("too long".to_owned())),
                "dnc" => record.dnc = true,
                "disturbed dnc" => (record.dnc, record.quiet.cpu_share) = (true, 0.55),
                "disturbed" => record.quiet.cpu_share = 0.55,
                regime => record.quiet.regime = regime.into(),
            }
            done[place] += 1;
            Ok(Run::Kept(Box::new(record)))
        };
        row(&peers, bound, &mut once, &mut |_, _| Ok(())).unwrap();
        rounds
    }

    #[test]
    fn each_peer_follows_each_other_as_often() {
        for peers in 2..=10 {
            let mut pairs = vec![0; peers * peers];
            for round in 0..2 * peers {
                let order = turns(peers, round);
                order.windows(2).for_each(|pair| pairs[pair[0] * peers + pair[1]] += 1);
            }
            for (pair, times) in pairs.iter().enumerate() {
                let due = if pair % (peers + 1) == 0 { 0 } else { 2 };
                assert_eq!(*times, due, "{pair} of {peers} peers");
            }
        }
        let rounds = asked([&[], &[], &[]], true, &mut Bound::rows(6));
        assert_eq!(rounds, ["obc", "cbo", "bco", "ocb", "cob", "boc"]);
    }

    #[test]
    fn a_disturbed_run_is_repeated_with_the_subject_beside_it() {
        let rounds = asked([&[], &["near", "disturbed"], &[]], true, &mut Bound::rows(3));
        assert_eq!(rounds, ["obc", "cbo", "bco", "ob"]);
    }

    #[test]
    fn runs_off_the_regime_are_repeated_and_changed_ones_too() {
        let rounds = asked([&[], &["far", "mixed"], &[]], true, &mut Bound::rows(3));
        assert_eq!(rounds, ["obc", "cbo", "bco", "ob", "ob"]);
        // On one worker the distance of the cores does not matter.
        let rounds = asked([&[], &["far", "mixed"], &[]], false, &mut Bound::rows(3));
        assert_eq!(rounds, ["obc", "cbo", "bco"]);
    }

    #[test]
    fn all_run_again_if_the_subject_alone_lacks_runs() {
        let rounds = asked([&["disturbed"], &[], &[]], true, &mut Bound::rows(3));
        assert_eq!(rounds, ["obc", "cbo", "bco", "ocb"]);
    }

    #[test]
    fn a_peer_that_gives_up_or_has_not_completed_often_enough_is_not_asked_again() {
        let rounds = asked([&[], &["dnc"; 9], &["near", "gave up"]], true, &mut Bound::rows(5));
        assert_eq!(rounds, ["obc", "cbo", "bo", "o", "o"]);
        // One run that did not complete proves nothing: it counts like one that did.
        let rounds = asked([&[], &["dnc"], &[]], true, &mut Bound::rows(3));
        assert_eq!(rounds, ["obc", "cbo", "bco"]);
        // A peer that was disturbed may complete the next time.
        let rounds = asked([&[], &["disturbed dnc"], &[]], true, &mut Bound::rows(3));
        assert_eq!(rounds, ["obc", "cbo", "bco", "ob"]);
        let rounds = asked([&["dnc"; 9], &["dnc"; 9], &["dnc"; 9]], true, &mut Bound::rows(5));
        assert_eq!(rounds, ["obc", "cbo", "bco"]);
    }

    #[test]
    fn further_rounds_are_bounded_in_number_and_in_time() {
        let always = ["disturbed"; 20];
        let rounds = asked([&[], &always, &[]], true, &mut Bound::rows(2));
        assert_eq!(rounds, ["obc", "cbo", "bo", "ob"]);
        let mut bound = Bound::session(2);
        bound.spent(Duration::MAX);
        // Two planned rounds of no length earn too little for a further one.
        let rounds = asked([&[], &always, &[]], true, &mut bound);
        assert!(rounds.len() <= 3, "{rounds:?}");
    }

    #[test]
    fn one_round_is_enough_where_one_was_asked_for() {
        assert_eq!(asked([&[], &[], &[]], true, &mut Bound::rows(1)), ["obc"]);
    }

    #[test]
    fn an_error_ends_the_row() {
        let peers = Peers { names: &NAMES, subject: None, is_bound: false };
        let mut once = |_, _| anyhow::bail!("a wrong result");
        let error = row(&peers, &mut Bound::rows(1), &mut once, &mut |_, _| Ok(())).unwrap_err();
        assert_eq!(error.to_string(), "a wrong result");
    }

    #[test]
    fn a_reading_of_the_line_serves_a_run_that_does_not_depend_on_it() {
        let (cores, quiet) =
            watched(1, Some(40.0), None, &mut Past::default(), || affinity::cores().len());
        assert_eq!((cores, quiet.line_ns_before, quiet.line_ns_after), (1, 40.0, 40.0));
        assert_eq!(quiet.regime, "near");
        assert!((0.0..=1.0).contains(&quiet.cpu_share));
    }
}
