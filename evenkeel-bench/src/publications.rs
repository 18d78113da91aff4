//! The publications whose systems the runtime unites: their machines and figures, and what runs
//! here of their experiments.
//!
//! Figures are the publications' own. Where one shows a picture whose values are not stated, only
//! its statements are here.

pub(crate) mod agreement;
pub(crate) mod differences;
pub(crate) mod statements;

use crate::analysis::tables::Table;

/// A publication.
pub(crate) struct Publication {
    /// The name of its part of the page.
    pub(crate) id: &'static str,
    pub(crate) title: &'static str,
    /// Its author, and where it was published.
    pub(crate) source: &'static str,
    /// What it measured on.
    pub(crate) machine: &'static str,
    /// The options of `run` that measure its experiments here, of one family: a call for each.
    pub(crate) run: &'static [&'static str],
    /// What is not to be had here, in a sentence; may be empty.
    pub(crate) missing: &'static str,
    /// Whether its experiment also runs on several [ranks](crate::ranks).
    pub(crate) has_ranks: bool,
    /// The simulation that belongs to it.
    pub(crate) simulation: Option<Simulation>,
    /// Its figures.
    pub(crate) published: fn() -> Vec<Table>,
}

/// A simulation of a publication's experiments at their own scale.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Simulation {
    /// C∀'s experiments at 1 to 256 processors.
    Scheduling,
    /// Figure 4 of CoreTime.
    CoreTime,
    /// The four programs of Cilk Locality.
    Locality,
}

/// All five; and growth, which none of them measured and all depend on.
pub(crate) static PUBLICATIONS: [Publication; 6] = [
    Publication {
        id: "scheduler",
        title: "The scheduler of C∀",
        source: "Thierry Delisle, PhD thesis, University of Waterloo, 2022",
        machine: "4 Intel Xeon Platinum 8160 with 24 cores of two threads each, and 2 AMD EPYC 7662 with 64 cores of two threads each; 15 runs",
        run: &[
            "--bench cycle,yield,churn,locality,transfer --runtime evenkeel,tokio-hand,go-hand --seconds 0.1 --repeats 3",
        ],
        missing: "libfibre, a peer of the thesis, is not measured",
        has_ranks: false,
        simulation: Some(Simulation::Scheduling),
        published: transfers,
    },
    Publication {
        id: "concurrency",
        title: "Concurrency in C∀",
        source: "Thierry Delisle, MMath thesis, University of Waterloo, 2018",
        machine: "4 AMD Opteron 6380 at 2.5 GHz with 8 cores of two threads each; one processor is used",
        run: &["--bench ctxswitch,mutex,schedint,schedext,creation --seconds 0.1 --repeats 3"],
        missing: "",
        has_ranks: false,
        simulation: None,
        published: Vec::new,
    },
    Publication {
        id: "thorium",
        title: "Thorium",
        source: "The BIOSAL project, mailing list, November 2014",
        machine: "32 cores of Intel Xeon E7-4830 at 2.13 GHz; one thread of each node is not a worker",
        run: &["--bench latency_probe --runtime evenkeel,actix,tokio,tokio-batch,go --repeats 3"],
        missing: "",
        has_ranks: true,
        simulation: None,
        published: thorium,
    },
    Publication {
        id: "coretime",
        title: "CoreTime",
        source: "Silas Boyd-Wickizer, Robert Morris and M. Frans Kaashoek, \"Reinventing scheduling for multicore systems\", HotOS 2009",
        machine: "4 quad-core AMD Opterons at 2 GHz with 16 MB of caches in all",
        run: &[
            "--bench directory --tasks-per-core 16 --access found --popularity uniform,oscillating --seconds 0.2 --repeats 3",
        ],
        missing: "",
        has_ranks: false,
        simulation: Some(Simulation::CoreTime),
        published: Vec::new,
    },
    Publication {
        id: "locality",
        title: "Cilk Locality",
        source: "Shuck, 2017",
        machine: "4 Intel Xeon E5-4620 at 2.2 GHz with 8 cores each; 32 workers, 5 runs",
        run: &[
            "--bench matmul,transpose,heat,cilksort --runtime serial,evenkeel,rayon,serial-cpp,openmp --repeats 3",
        ],
        missing: "its runtime, which pins tasks to levels of memory, runs on the simulated machine alone; the rules of evenkeel's own, one by one, which `--locality all --size caches` measures",
        has_ranks: false,
        simulation: Some(Simulation::Locality),
        published: Vec::new,
    },
    Publication {
        id: "growth",
        title: "Growth",
        source: "None of the five: what they all depend on",
        machine: "none",
        run: &[
            "--bench growth_tasks,growth_timers --n 10,1000,100000 --repeats 3",
            "--bench growth_tasks,growth_timers --n 1000000 --repeats 1",
            "--bench growth_tasks,growth_timers --n 10000000 --runtime evenkeel --repeats 1",
        ],
        missing: "ten million tasks and timers of Tokio, of which the tasks take 7 GB; growth with the number of workers, which the simulation of C∀'s scheduler has",
        has_ranks: false,
        simulation: None,
        published: Vec::new,
    },
];

fn table(title: &str, heading: &[&str], lines: &[&[&str]], note: &str) -> Table {
    let owned = |words: &[&str]| words.iter().map(|&word| word.to_owned()).collect();
    Table {
        title: title.to_owned(),
        heading: owned(heading),
        lines: lines.iter().map(|line| owned(line)).collect(),
        note: note.to_owned(),
    }
}

/// The thesis's table of Transfer.
fn transfers() -> Vec<Table> {
    let heading = [
        "published",
        "Intel park, 2",
        "Intel park, 192",
        "Intel yield, 2",
        "Intel yield, 192",
        "AMD park, 2",
        "AMD park, 256",
        "AMD yield, 2",
        "AMD yield, 256",
    ];
    vec![table(
        "Published: Transfer, time of a transfer",
        &heading,
        &[
            &[
                "C∀", "106 µs", "19.9 ms", "68.4 µs", "1.2 ms", "174 µs", "28.4 ms", "78.8 µs",
                "1.21 ms",
            ],
            &["libfibre", "127 µs", "33.5 ms", "DNC", "DNC", "156 µs", "36.7 ms", "DNC", "DNC"],
            &[
                "Go", "106 µs", "64.0 ms", "24.6 ms", "74.3 ms", "271 µs", "121.6 ms", "1.21 ms",
                "117.4 ms",
            ],
            &["Tokio", "289 µs", "180.6 ms", "DNC", "DNC", "157 µs", "111.0 ms", "DNC", "DNC"],
        ],
        "100 tasks a processor; means of 100,000 transfers, of Go 1,000; DNC: none within 5 s. The thesis counts what is within a factor of ten as equal. Its other experiments are \
         pictures.",
    )]
}

/// The figures of the mailing list on `latency_probe`.
fn thorium() -> Vec<Table> {
    vec![table(
        "Published: latency_probe, 100 actors a worker with one ping in flight each, 40,000 messages an actor",
        &[
            "published",
            "workers",
            "messages",
            "time, s",
            "computation, messages/s",
            "worker, messages/s",
            "worker latency, ns",
        ],
        &[
            &[
                "4 x 8 threads, before",
                "28",
                "112,000,000",
                "196.96",
                "568,655",
                "20,309",
                "about 50,000",
            ],
            &[
                "4 x 8, multiplexing in workers",
                "28",
                "112,000,000",
                "107.12",
                "1,045,539",
                "37,341",
                "",
            ],
            &["4 x 8, latest", "28", "112,000,000", "89.49", "1,251,591", "44,700", "22,371"],
            &["1 x 4", "3", "12,000,000", "49.62", "241,856", "80,619", "about 12,000"],
        ],
        "Only pings count as messages. Its aim is that 4 x 8 has the worker latency of 1 x 4.",
    )]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_of_a_published_table_is_as_long_as_its_heading() {
        for publication in &PUBLICATIONS {
            for table in (publication.published)() {
                for line in &table.lines {
                    assert_eq!(line.len(), table.heading.len(), "{}: {line:?}", table.title);
                }
            }
        }
    }

    #[test]
    fn parts_of_the_page_have_names_of_their_own() {
        let mut ids: Vec<&str> = PUBLICATIONS.iter().map(|one| one.id).collect();
        ids.sort_unstable();
        ids.dedup();
        assert_eq!(ids.len(), PUBLICATIONS.len());
    }
}
