//! Thorium's latency_probe, on nodes: the actors, and what the leading node does. A program over
//! each transport uses it: `examples/two_nodes` in one process, and an example of `evenkeel-mpi`.
//!
//! Each actor is source and target: it sends an empty ping to an actor that it chooses at random
//! among all, itself included, waits for the empty reply, and does so again. A ping carries the
//! number of its sender in the table of all actors, as a message of Thorium carries its source.

use evenkeel_actor::node::wire::MOST_REFERENCES;
use evenkeel_actor::node::{NodeId, Transport};
use evenkeel_actor::remote::{Hosting, Node};
use evenkeel_actor::{Actor, ActorRef, Builder, Context, Handled, ReplyTo, System};
use evenkeel_sim::random::Random;
use serde::{Deserialize, Serialize};
use std::error::Error;
use std::fmt::Display;
use std::num::NonZero;
use std::process::ExitCode;
use std::str::FromStr;
use std::sync::{Arc, OnceLock};
use std::time::Instant;

/// One in `SAMPLED` round trips is timed.
const SAMPLED: u64 = 64;

/// The options of the command line.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Actors for each worker.
    pub actors_per_worker: u32,
    /// Pings of each actor.
    pub pings: u64,
    /// Workers of each node.
    pub workers: usize,
    /// Whether the transport has its own thread, even beside a single worker.
    pub hosting: Hosting,
    /// Only this number of actors ping, the first of the first node; the others answer.
    pub sources: Option<u32>,
    /// Whether targets are chosen among the actors of other nodes alone.
    pub elsewhere: bool,
}

/// The text of `--help`, also printed after an error of the options.
const OPTIONS: &str = "options, each number 1 or more:
  --actors-per-worker N  actors for each worker (100)
  --pings N              pings of each actor (40000)
  --workers N            workers of each node (1); with 2 or more the transport has a thread besides
  -threads-per-node N    threads of each node, in Thorium's words: N - 1 workers and the transport's,
                         or one that is both
  --sources N            only the first N actors ping (all)
  --elsewhere            targets are on other nodes alone";

impl Options {
    /// Reads the words of a command line; none if they ask for help.
    fn read(mut words: impl Iterator<Item = String>) -> Result<Option<Self>, String> {
        let mut options = Self {
            actors_per_worker: 100,
            pings: 40_000,
            workers: 1,
            hosting: Hosting::Auto,
            sources: None,
            elsewhere: false,
        };
        let mut threads_by = None;
        while let Some(word) = words.next() {
            if let "--workers" | "-threads-per-node" | "--threads-per-node" = &*word
                && let Some(before) = threads_by.replace(word.clone()).filter(|by| *by != word)
            {
                return Err(format!("`{before}` and `{word}` say the same: give one of them"));
            }
            match &*word {
                "--help" | "-h" => return Ok(None),
                "--elsewhere" => options.elsewhere = true,
                "--actors-per-worker" => {
                    options.actors_per_worker = number::<NonZero<u32>>(&word, words.next())?.get();
                }
                "--pings" => options.pings = number::<NonZero<u64>>(&word, words.next())?.get(),
                "--workers" => {
                    options.workers = number::<NonZero<usize>>(&word, words.next())?.get();
                }
                "-threads-per-node" | "--threads-per-node" => {
                    let threads = number::<NonZero<usize>>(&word, words.next())?.get();
                    options.workers = threads.max(2) - 1;
                    options.hosting = if threads > 1 { Hosting::Thread } else { Hosting::Auto };
                }
                "--sources" => {
                    options.sources = Some(number::<NonZero<u32>>(&word, words.next())?.get());
                }
                _ => return Err(format!("`{word}` is no option")),
            }
        }
        Ok(Some(options))
    }
}

fn number<T: FromStr>(option: &str, word: Option<String>) -> Result<T, String> {
    let word = word.ok_or_else(|| format!("{option} needs a number"))?;
    word.parse().map_err(|_| format!("{option} needs a whole number of 1 or more, not `{word}`"))
}

/// Runs a program with the options of the command line, and says what goes wrong: with status 2 if
/// it is an option.
pub fn run(program: impl FnOnce(Options) -> Result<(), Box<dyn Error>>) -> ExitCode {
    let options = match Options::read(std::env::args().skip(1)) {
        Ok(Some(options)) => options,
        Ok(None) => {
            println!("{OPTIONS}");
            return ExitCode::SUCCESS;
        }
        Err(error) => {
            eprintln!("error: {error}\n{OPTIONS}");
            return ExitCode::from(2);
        }
    };
    match program(options) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

/// All actors, by their numbers.
type Table = Arc<OnceLock<Vec<ActorRef<Message>>>>;

#[derive(Serialize, Deserialize)]
enum Message {
    Begin,
    Ping(u32),
    Pong,
    /// Asks how many pings it has answered.
    Answered(ReplyTo<u64>),
}

struct Probe {
    number: u32,
    actors: Table,
    station: ActorRef<Order>,
    left: u64,
    /// The first of the actors that are no targets, and how many there are.
    excluded: (u32, u32),
    random: Random,
    answered: u64,
    since: Option<Instant>,
    samples: Vec<u64>,
}

impl Probe {
    async fn ping(&mut self) -> Handled {
        let Some(actors) = self.actors.get() else { return Ok(()) };
        if self.left == 0 {
            let samples = std::mem::take(&mut self.samples);
            self.station.send(Order::Done(samples)).await?;
            return Ok(());
        }
        self.left -= 1;
        if self.left.is_multiple_of(SAMPLED) {
            self.since = Some(Instant::now());
        }
        let (first, own) = self.excluded;
        let target = ((self.random.next() >> 32) * (actors.len() as u64 - u64::from(own))) >> 32;
        let target = if target < u64::from(first) { target } else { target + u64::from(own) };
        actors[target as usize].send(Message::Ping(self.number)).await?;
        Ok(())
    }
}

impl Actor for Probe {
    type Message = Message;

    async fn handle(&mut self, message: Message, _context: &mut Context<Self>) -> Handled {
        match message {
            Message::Begin => self.ping().await,
            Message::Ping(from) => {
                self.answered += 1;
                let Some(actors) = self.actors.get() else { return Ok(()) };
                actors[from as usize].send(Message::Pong).await?;
                Ok(())
            }
            Message::Answered(reply) => {
                reply.send(self.answered);
                Ok(())
            }
            Message::Pong => {
                if let Some(since) = self.since.take() {
                    self.samples.push(since.elapsed().as_nanos() as u64);
                }
                self.ping().await
            }
        }
    }
}

/// What stations are told.
#[derive(Serialize, Deserialize)]
enum Order {
    /// Makes probes, and names them.
    Make {
        first: u32,
        probes: u32,
        pings: u64,
        sources: u32,
        elsewhere: bool,
        reply: ReplyTo<Vec<ActorRef<Message>>>,
    },
    /// These are the next of `all` probes.
    Actors { next: Vec<ActorRef<Message>>, all: u32, reply: ReplyTo<()> },
    /// Has the probes begin; answers when they are done.
    Run(ReplyTo<Vec<u64>>),
    /// A probe is done.
    Done(Vec<u64>),
    /// Asks how many pings its probes have answered.
    Answered(ReplyTo<u64>),
}

/// Makes the probes of a node and hears when they are done.
#[derive(Default)]
struct Station {
    actors: Table,
    /// The first of them, until all are there.
    named: Vec<ActorRef<Message>>,
    own: Vec<ActorRef<Message>>,
    done: usize,
    samples: Vec<u64>,
    reply: Option<ReplyTo<Vec<u64>>>,
}

impl Actor for Station {
    type Message = Order;

    async fn handle(&mut self, order: Order, context: &mut Context<Self>) -> Handled {
        match order {
            Order::Make { first, probes, pings, sources, elsewhere, reply } => {
                for number in first..first + probes {
                    let probe = Probe {
                        number,
                        actors: Arc::clone(&self.actors),
                        station: context.actor_ref(),
                        left: if number < sources { pings } else { 0 },
                        excluded: if elsewhere { (first, probes) } else { (first, 0) },
                        random: Random::from_state(
                            u64::from(number + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15),
                        ),
                        answered: 0,
                        since: None,
                        samples: Vec::with_capacity((pings / SAMPLED + 1) as usize),
                    };
                    self.own.push(Builder::new().system(context.system()).spawn(probe)?);
                }
                reply.send(self.own.clone());
            }
            Order::Actors { next, all, reply } => {
                self.named.extend(next);
                if self.named.len() == all as usize {
                    drop(self.actors.set(std::mem::take(&mut self.named)));
                }
                reply.send(());
            }
            Order::Run(reply) => {
                self.reply = Some(reply);
                for probe in &self.own {
                    probe.send(Message::Begin).await?;
                }
            }
            Order::Done(samples) => {
                self.samples.extend(samples);
                self.done += 1;
                if self.done == self.own.len()
                    && let Some(reply) = self.reply.take()
                {
                    reply.send(std::mem::take(&mut self.samples));
                }
            }
            Order::Answered(reply) => {
                let mut answered = 0;
                for probe in &self.own {
                    answered += probe.ask(Message::Answered).await?;
                }
                reply.send(answered);
            }
        }
        Ok(())
    }
}

/// Starts a node with these actors.
///
/// # Errors
/// If the transport or the node does not start, or another node is lost before all are ready.
pub async fn node<T, E>(
    transport: impl FnOnce() -> Result<T, E> + Send + 'static,
    system: System,
    hosting: Hosting,
) -> Result<Node, Box<dyn Error + Send + Sync>>
where
    T: Transport + 'static,
    E: Into<Box<dyn Error + Send + Sync>>,
{
    let builder = Node::builder().job("latency_probe").system(system).hosting(hosting);
    let node = builder.start(transport).await?;
    node.register_script("station", |()| Station::default());
    node.ready().await?;
    node.barrier().await?;
    Ok(node)
}

/// One of Thorium's counters, in its unit if it has one.
pub fn line(name: &str, value: &dyn Display, unit: &str) {
    let space = if unit.is_empty() { "" } else { " " };
    println!("PERFORMANCE_COUNTER {name} = {value}{space}{unit}");
}

/// What the first node does: prints the counters. Gives the median of the round trips, in
/// nanoseconds.
///
/// # Errors
/// If a node is lost.
///
/// # Panics
/// If a round trip is missing, or a ping was lost or answered twice.
pub async fn lead(node: &Node, options: Options) -> Result<u64, Box<dyn Error + Send + Sync>> {
    let nodes = node.nodes();
    let each = options.actors_per_worker * options.workers as u32;
    let sources = options.sources.unwrap_or(u32::MAX);
    let (mut stations, mut actors) = (Vec::new(), Vec::new());
    for number in 0..nodes {
        let station = node.spawn_on::<Order, _>(NodeId::new(number), "station", &()).await?;
        let first = number * each;
        let Options { pings, elsewhere, .. } = options;
        let make = |reply| Order::Make { first, probes: each, pings, sources, elsewhere, reply };
        actors.extend(station.ask(make).await?);
        stations.push(station);
    }
    for station in &stations {
        for next in actors.chunks(MOST_REFERENCES) {
            let (next, all) = (next.to_vec(), each * nodes);
            station.ask(|reply| Order::Actors { next, all, reply }).await?;
        }
    }
    let begin = Instant::now();
    // All are begun before the first is waited for.
    let runs: Vec<_> = stations
        .iter()
        .map(|station| {
            let station = station.clone();
            // A node may compute for longer than an ask usually waits; one that is gone ends it.
            evenkeel::spawn(async move { station.ask(Order::Run).no_timeout().await })
        })
        .collect();
    let mut samples = Vec::new();
    for run in runs {
        samples.extend(run.await.map_err(|error| error.to_string())??);
    }
    let seconds = begin.elapsed().as_secs_f64();
    let workers = nodes * options.workers as u32;
    let count = u64::from(each * nodes);
    let pings = count.min(sources.into()) * options.pings;
    // Each actor is done when it has had a reply for each of its pings, and every 64th of them was
    // timed.
    let timed = count.min(sources.into()) * options.pings.div_ceil(SAMPLED);
    assert_eq!(samples.len() as u64, timed, "all round trips are there");
    let mut answered = 0;
    for station in &stations {
        answered += station.ask(Order::Answered).await?;
    }
    assert_eq!(answered, pings, "each ping was answered once");
    let throughput = pings as f64 / seconds;
    let count_of = |name: &str, value: &dyn Display| line(name, value, "");
    let per_second = |name: &str, value: f64| line(name, &value, "messages / s");
    let nanoseconds = |name: &str, value: &dyn Display| line(name, value, "ns");
    count_of("node-count", &nodes);
    count_of("worker-count-per-node", &options.workers);
    count_of("actor-count-per-worker", &options.actors_per_worker);
    count_of("worker-count", &workers);
    count_of("actor-count", &count);
    count_of("message-count-per-actor", &options.pings);
    count_of("message-count", &pings);
    line("elapsed-time", &seconds, "s");
    per_second("computation-throughput", throughput);
    per_second("node-throughput", throughput / f64::from(nodes));
    per_second("worker-throughput", throughput / f64::from(workers));
    nanoseconds("worker-latency", &(1e9 * f64::from(workers) / throughput));
    per_second("actor-throughput", throughput / count as f64);
    nanoseconds("actor-latency", &(1e9 * count as f64 / throughput));
    count_of("ping-and-pong-message-count", &(2 * pings));
    nanoseconds("nanoseconds-per-message", &(1e9 * seconds / (2 * pings) as f64));
    samples.sort_unstable();
    let at = |share: f64| samples[((samples.len() - 1) as f64 * share) as usize];
    for (name, share) in [("median", 0.5), ("p99", 0.99), ("p99.9", 0.999), ("maximum", 1.0)] {
        nanoseconds(&format!("round-trip-{name}"), &at(share));
    }
    // Of the first node, until now; nodes send as much as they receive.
    let metrics = node.metrics();
    count_of("node-messages-out", &metrics.messages_out);
    count_of("node-bytes-out", &metrics.bytes_out);
    count_of("node-frames-out", &metrics.frames_out);
    count_of("node-messages-in", &metrics.messages_in);
    count_of("node-bytes-in", &metrics.bytes_in);
    count_of("node-frames-in", &metrics.frames_in);
    count_of("messages-per-frame", &metrics.packing());
    Ok(at(0.5))
}
