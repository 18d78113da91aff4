//! The publications whose systems the runtime unites: their machines and figures, and what runs
//! here of their experiments.
//!
//! Figures are the publications' own. Where one shows a picture whose values are not stated, only
//! its statements are here.

pub(crate) mod agreement;
pub(crate) mod differences;
mod stated;
pub(crate) mod statement;
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
    /// How it measured, in sentences.
    pub(crate) settings: &'static str,
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
        machine: "4 Intel Xeon Platinum 8160 with 24 cores of two threads each, 192 in use, the third level of caches shared by a socket (3, 96 and 132 MB of the three levels, as given); and 2 AMD EPYC 7662 with 64 cores of two threads each, 256, the third level shared by four cores, where a miss that another such cache of the socket serves is as costly as one of the other socket",
        settings: "A socket is filled first by one thread a core, then by the second, then comes the next socket: second threads are from 25 to 48, 73 to 96, 121 to 144 and 169 to 192 of Intel, and from 65 to 128 and 193 to 256 of AMD. 15 runs each: median, maximum and minimum, as throughput and as processors over throughput. Many tasks are 100 (cycles or tasks) a processor, few are a cycle of five tasks, one task or two tasks.",
        run: &[
            "--bench cycle,yield,churn,locality,transfer --runtime evenkeel,tokio-hand,go-hand --seconds 0.1 --repeats 3",
            "--bench cycle --tasks-per-proc 1 --runtime evenkeel,tokio-hand,go-hand --seconds 0.1 --repeats 3",
            "--bench churn --tasks-per-proc 2 --runtime evenkeel,tokio-hand,go-hand --seconds 0.1 --repeats 3",
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
        machine: "4 AMD Opteron 6380 at 2.5 GHz with 8 cores of two threads each, 8 NUMA nodes, 2 MiB of the second level of caches and 6 MiB of the third",
        settings: "One processor is used. Nanoseconds of the thread's processor time: median, average and standard deviation.",
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
        machine: "32 cores of Intel Xeon E7-4830 at 2.13 GHz",
        settings: "mpiexec -n 4 latency_probe -threads-per-node 8. One thread of each node is not a worker. 100 actors a worker, one ping in flight each, 40,000 messages an actor; a multiplexer waits for up to 100 µs.",
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
        machine: "4 quad-core AMD Opterons at 2 GHz on a square interconnect: 512 KB of the second level of caches a core and 2 MB of the third a chip, 16 MB in all; 3, 14 and 75 cycles to the three levels, 127 to another core of the chip, 336 to the farthest memory, 2,000 for a migration",
        settings: "Directories of 1,000 entries of 32 bytes in a FAT file system in memory, each with a spin lock; a thread a core; 0 to 20 MB. All are chosen alike, or the number in use oscillates between all and a sixteenth. Objects are packed into caches first fit, in n log n; event counters find misses, idle cycles and loads, by which objects leave cores that are busy or bound by memory. The values of its two curves are not known; their axes end at 3,500 and 3,000 thousand resolutions a second.",
        run: &[
            "--bench directory --tasks-per-core 16 --access alone --popularity uniform,oscillating --seconds 0.2 --repeats 3",
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
        machine: "4 Intel Xeon E5-4620 at 2.2 GHz with 8 cores each; its caches are not given: the product has 16 MB of the third level a socket and 256 KB of the second a core",
        settings: "32 workers, 5 runs, three sizes of each program, which are not known. Time is without initialisation; work inflation is the time of all workers in the program's code less that of one worker; scheduling overhead is the time in steals that succeed, idle time that in those that fail. (Here the overhead includes looks that find something, and idle time is what is left.) A full factorial design of two factors with replications and an additive model: effects, analysis of variance, 90 % intervals, contrasts, residuals against predictions, quantiles.",
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
        settings: "It is cost for each task, move and timer, and its power of their number. Growth with the number of workers is in the simulation of C∀'s experiments: polls, wakes, waits, spawns, joins, timers, the end of the runtime. Moves of tasks are counted there, and their cost is in the time of all.",
        run: &[
            "--bench growth_tasks,growth_moves,growth_timers --n 10,1000,100000 --repeats 3",
            "--bench growth_tasks,growth_moves,growth_timers --n 1000000 --repeats 1",
            "--bench growth_tasks,growth_moves,growth_timers --n 10000000 --runtime evenkeel --repeats 1",
        ],
        missing: "ten million tasks and timers of Tokio, of which the tasks take 7 GB",
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
        "100 tasks a processor; means of 100,000 transfers, of Go 1,000; DNC: none within 5 s. The thesis counts what is within a factor of ten as equal. In strict order a transfer \
         would take NT (CSL + SL) / (NP - 1), with NT tasks, NP processors, CSL for a switch and SL for the queue. Its other experiments are pictures.",
    )]
}

/// The figures of the mailing list on `latency_probe`, and those of others that it quotes.
fn thorium() -> Vec<Table> {
    let latency_probe = table(
        "Published: latency_probe, 100 actors a worker with one ping in flight each, 40,000 messages an actor",
        &[
            "published, nodes x threads",
            "workers",
            "actors",
            "messages",
            "time, s",
            "computation, messages/s",
            "node",
            "worker",
            "actor",
            "worker latency, ns",
        ],
        &[
            &[
                "4 x 8, before",
                "28",
                "2,800",
                "112,000,000",
                "196.96",
                "568,655",
                "142,164",
                "20,309",
                "203",
                "about 50,000",
            ],
            &[
                "4 x 8, multiplexing in workers",
                "28",
                "2,800",
                "112,000,000",
                "107.12",
                "1,045,539",
                "261,385",
                "37,341",
                "373",
                "",
            ],
            &[
                "4 x 8, latest",
                "28",
                "2,800",
                "112,000,000",
                "89.49",
                "1,251,591",
                "312,898",
                "44,700",
                "447",
                "22,371",
            ],
            &[
                "1 x 4",
                "3",
                "300",
                "12,000,000",
                "49.62",
                "241,856",
                "241,856",
                "80,619",
                "806",
                "about 12,000",
            ],
        ],
        "Only pings count as messages. The second job makes 80 % more than the first. The latest has an actor latency of 2,237,153 ns. The aim is that 4 x 8 has the worker latency of 1 x 4.",
    );
    let main_loop = table(
        "Published: a turn of a node's main loop, ns",
        &["10 %", "30 %", "50 %", "70 %", "90 %", "98 %", "99 %"],
        &[&["902", "923", "947", "1,032", "2,180", "5,563", "7,723"]],
        "evenkeel's nodes have no such loop: a task or a thread drives the transport, and workers pack.",
    );
    let quoted = table(
        "Quoted there of others: messages a second",
        &["system", "messages/s"],
        &[
            &["Akka, 48 cores, 2 actors a core, batches of 20", "50,000,000"],
            &["LMAX Disruptor", "6,000,000"],
            &["F#, one actor", "4,600,000"],
            &["Akka", "2,000,000"],
            &["Erlang", "1,000,000"],
        ],
        "Quoted, with other machines and programs.",
    );
    vec![latency_probe, main_loop, quoted]
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
