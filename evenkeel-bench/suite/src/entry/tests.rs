//! A family with prescribed outcomes, behind an entry of the registry.

use std::time::Duration;

use clap::{Args, Command};

use super::*;
use crate::case::Fields;
use crate::description::Experiment;
use crate::named::named;
use crate::quantity::{Better, Drawn, Quantity, Read};

named! {
    /// What beats.
    pub(crate) enum Drum as "drum" {
        /// The peers.
        Ours = "ours",
        /// It gives up.
        Tired = "tired",
        /// It does not complete.
        Endless = "endless",
        /// It is refused.
        Forbidden = "forbidden",
        /// It fails.
        Broken = "broken",
        /// It is not there.
        Lost = "lost",
    }
}

impl Peer for Drum {}

#[derive(Debug, Args)]
#[group(skip)]
struct Options {
    /// How often
    #[arg(long, default_value_t = 4)]
    beats: u64,
}

struct Drums;

#[derive(Clone)]
struct Beat {
    beats: u64,
    workers: usize,
}

impl Spec for Beat {
    fn case(&self) -> Case {
        Case::new("drum", "-", self.workers).with("beats", self.beats)
    }
}

const QUANTITIES: [Quantity; 1] = [Quantity {
    name: "cores",
    read: Read::Field("cores"),
    better: Better::Less("less", "more"),
    drawn: Drawn::No,
}];

impl Family for Drums {
    const NAME: &'static str = "drums";
    const TITLE: &'static str = "Drums";
    const ABOUT: &'static str = "They beat.";

    type Peer = Drum;
    type Options = Options;
    type Spec = Beat;
    type Ready = usize;

    fn new() -> Self {
        Drums
    }

    fn experiments() -> Vec<Experiment> {
        vec![Experiment {
            name: "drum",
            what: "beats",
            variants: Vec::new(),
            settings: &["beats"],
            options: &["procs", "beats"],
            quantities: &QUANTITIES,
            depends_on_distance: false,
        }]
    }

    fn asked(asked: &Asked, options: &Options) -> anyhow::Result<Vec<Beat>> {
        let beat = |&workers: &usize| Beat { beats: options.beats, workers };
        Ok(asked.workers.iter().map(beat).collect())
    }

    fn plan(_: Effort, cores: usize) -> Vec<Beat> {
        vec![Beat { beats: 1, workers: cores }]
    }

    fn found(&self) -> anyhow::Result<Found<Drum>> {
        let there = [Drum::Ours, Drum::Tired, Drum::Endless, Drum::Forbidden];
        let there = there.map(|drum| (drum, Some("1.0".to_owned()))).to_vec();
        Ok(Found { there, missing: vec![(Drum::Lost, "apt-get install drum".to_owned())] })
    }

    fn has(peer: Drum, spec: &Beat) -> Has {
        match peer {
            Drum::Forbidden => Has::Refused("it is too loud".to_owned()),
            Drum::Tired => Has::when(spec.workers == 1),
            _ => Has::Yes,
        }
    }

    fn ready(&self, _: &Beat, _: Drum) -> anyhow::Result<usize> {
        Ok(affinity::cores().len())
    }

    fn once(&self, spec: &Beat, peer: Drum, ready: &mut usize, seed: u64) -> anyhow::Result<Ran> {
        assert_eq!(*ready, affinity::cores().len(), "it was made ready on other cores");
        let figures = Fields::new().with("cores", *ready as f64).with("seed", seed as f64);
        match peer {
            Drum::Tired if spec.beats < LONG || seed > SEED => {
                Ok(Ran::GaveUp("it fell asleep".to_owned()))
            }
            Drum::Endless => Ok(Ran::Unfinished(figures)),
            Drum::Broken => anyhow::bail!("its skin is torn after {} beats", spec.beats),
            _ => Ok(Ran::Done(figures)),
        }
    }
}

/// The seed of the first run, and the beats of which the tired drum keeps one run.
const SEED: u64 = 7;
const LONG: u64 = 50;

/// The request of `--bench drum` and these arguments.
fn of(runtimes: &[&str], arguments: &[&str]) -> Asked {
    let entry = Entry::of::<Drums>();
    let command = (entry.options)(Command::new("run"));
    let line = command.get_matches_from([&["run"], arguments].concat());
    Asked {
        benches: vec!["drum".to_owned()],
        runtimes: runtimes.iter().map(|&name| name.to_owned()).collect(),
        variants: Vec::new(),
        workers: vec![1],
        tasks: None,
        n: Vec::new(),
        time: Duration::ZERO,
        seed: SEED,
        given: Vec::new(),
        line,
    }
}

/// Measures it in one round, and returns its records and absences in words.
fn measured(asked: &Asked) -> anyhow::Result<Vec<String>> {
    measured_in(asked, 1)
}

/// Does the same in as many rounds.
fn measured_in(asked: &Asked, rounds: usize) -> anyhow::Result<Vec<String>> {
    let mut part = (Entry::of::<Drums>().asked)(asked)?;
    part.build()?;
    let mut said = Vec::new();
    let mut each = |event| {
        said.push(match event {
            Event::Begins(case) => case.to_string(),
            Event::Ran(record) => {
                let Record { runtime, repeat, figures, dnc, .. } = *record;
                let seed = figures.number("seed").unwrap_or_default();
                format!("{runtime} {repeat} seed {seed}{}", if dnc { " DNC" } else { "" })
            }
            Event::Absent(Absent { runtime, why, runs: 0, .. }) => format!("{runtime}: {why}"),
            Event::Absent(absent) => absent.to_string(),
        });
        Ok(())
    };
    part.measure(&mut Bound::rows(rounds), &mut each)?;
    Ok(said)
}

#[test]
fn a_row_says_which_peers_ran_which_did_not_and_why() {
    let said = measured(&of(&["ours", "tired", "endless", "forbidden"], &["--beats", "3"]));
    let due = [
        "drum, 1 worker, beats 3",
        "forbidden: it is too loud",
        "ours 0 seed 7",
        "tired: it fell asleep",
        "endless 0 seed 7 DNC",
    ];
    // A busy machine may take more than one round until a run counts.
    assert_eq!(said.unwrap()[..due.len()], due);
}

#[test]
fn a_peer_that_gives_up_after_a_run_has_no_further_one() {
    let said = measured_in(&of(&["ours", "tired"], &["--beats", "50"]), 2).unwrap();
    assert!(said.contains(&"tired 0 seed 7".to_owned()), "{said:?}");
    let due = "tired has no further figure of drum, 1 worker, beats 50: it fell asleep";
    assert!(said.contains(&due.to_owned()), "{said:?}");
}

#[test]
fn a_run_that_fails_names_the_peer_the_case_and_the_seed() {
    let error = measured(&of(&["broken"], &[])).unwrap_err();
    assert_eq!(
        format!("{error:#}"),
        "broken failed drum, 1 worker, beats 4, seed 7: its skin is torn after 4 beats"
    );
}

#[test]
fn what_cannot_be_run_is_refused_before_anything_is_measured() {
    let why = |asked: &Asked| {
        let error = measured(asked).unwrap_err();
        assert!(error.is::<Usage>(), "{error}");
        error.to_string()
    };
    assert_eq!(why(&of(&["lost"], &[])), "lost was not found: apt-get install drum");
    assert_eq!(
        why(&of(&["flute"], &[])),
        "unknown drum `flute`: known are ours, tired, endless, forbidden, broken, lost"
    );
    let crowd = Asked { workers: vec![2], ..of(&["tired"], &[]) };
    assert_eq!(why(&crowd), "tired cannot run drum, 2 workers, beats 4");
    let twice = Asked { workers: vec![1, 1], ..of(&["ours"], &[]) };
    let words =
        "drum, 1 worker, beats 4 is asked for twice: leave out one of the values that mean it";
    assert_eq!(why(&twice), words);
    let odd = Asked { variants: vec!["loud".to_owned()], ..of(&[], &[]) };
    assert_eq!(why(&odd), "drum has no variants, so not `loud` either");
    let odd = Asked { given: vec!["bench".to_owned(), "in_flight".to_owned()], ..of(&[], &[]) };
    assert_eq!(why(&odd), "--in-flight is not for drum");
}

#[test]
fn a_session_measures_the_peers_it_finds_and_names_the_others() {
    let part = (Entry::of::<Drums>().plan)(Effort::Quick, 2).unwrap();
    assert_eq!(part.missing(), [("lost", "apt-get install drum".to_owned())]);
    assert_eq!(part.cases().len(), 1);
    let listed = (Entry::of::<Drums>().found)().unwrap();
    let there: Vec<_> = listed.there.iter().map(|(peer, _)| (peer.name, peer.slot)).collect();
    assert_eq!(there, [("ours", 0), ("tired", 1), ("endless", 2), ("forbidden", 3)]);
}
