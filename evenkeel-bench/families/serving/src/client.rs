//! A client, in a process of its own: the same for all servers.
//!
//! **Roles.** The *control*, the process's first thread, answers the lines of its parent. It has as
//! many *threads* as it is told, each with a share of the connections and a readiness set of its
//! own. They run one *phase* at a time: at its end no request is under way, so what a server has
//! used from one phase to the next was for the requests of that phase.
//!
//! **What is checked.** Each request has one reply, with the bytes that it is to have, and no
//! connection is closed by the server. Whatever else happens ends the process with an error.

mod alarm;
mod closed;
mod connection;
mod driver;
pub(crate) mod echo;
mod http;
mod lives;
mod open;
mod wire;

use std::io::{self, BufRead};
use std::iter;
use std::net::{Ipv4Addr, SocketAddr};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, anyhow, bail};
use clap::Args;

use self::connection::{Connection, connect};
use self::driver::{Driver, Tally};
use self::echo::Echo;
use self::http::Http;
use self::lives::Lives;
use self::open::Pace;
use self::wire::Wire;
use crate::Variant;
use crate::limit;
use crate::pages::Page;
use crate::server::Service;
use crate::told::Seen;
use suite::kit::processor_time::processor_time;
use suite::kit::random::Random;
use suite::output::say;

/// The hidden command with which the suite's program calls itself.
pub const COMMAND: &str = "serving-client";

/// The fewest connections of heavy requests, enough that few of them wait for each other.
const HEAVIES: usize = 32;

/// One connection in this many reads slowly.
pub(crate) const SLOW_ONE_IN: usize = 50;

/// The receive buffer of a connection that reads slowly: a small one, so that the server waits.
const SLOW_RECEIVE: usize = 16 << 10;

/// The arguments of a client.
#[derive(Clone, Debug, Args)]
pub struct ClientArgs {
    #[arg(long)]
    service: Service,
    #[arg(long)]
    port: u16,
    #[arg(long)]
    connections: usize,
    #[arg(long)]
    threads: usize,
    /// Bytes of a message of echo
    #[arg(long)]
    bytes: usize,
    /// What is asked for by HTTP
    #[arg(long)]
    variant: Variant,
    /// Requests per second, at fixed times; 0: a closed loop
    #[arg(long)]
    rate: u32,
    /// Requests of a connection before it goes and another one comes; 0: it stays
    #[arg(long)]
    life: u32,
    #[arg(long)]
    seed: u64,
    /// How long it waits for the last replies of a phase while none comes, in milliseconds
    #[arg(long)]
    patience_ms: u64,
}

/// Runs the phases that the parent asks for: a word and a number of milliseconds.
pub fn run(args: &ClientArgs) -> anyhow::Result<()> {
    match args.service {
        Service::Echo => phases(args, || Echo::new(args.bytes)),
        Service::Http => phases(args, Http::default),
    }
}

/// What the connection of this number asks for.
fn page(args: &ClientArgs, connection: usize) -> Page {
    let is_slow = args.variant == Variant::Slow && connection % SLOW_ONE_IN == SLOW_ONE_IN - 1;
    match args.variant {
        _ if is_slow => Page::Large,
        Variant::Computing if connection >= args.connections => Page::Compute,
        Variant::Blocking if connection >= args.connections => Page::Block,
        _ => Page::Light,
    }
}

/// Returns the connections that a client of some threads opens, those of heavy requests included.
/// Of these each thread has one at least.
pub(crate) fn opened(connections: usize, variant: Variant, threads: usize) -> usize {
    let heavies = if variant.heavy_one_in() > 0 { HEAVIES.max(threads) } else { 0 };
    connections.saturating_add(heavies)
}

/// Returns the thread of each connection: as many for each, in an order that is drawn anew for each
/// round of `threads`.
///
/// In turns, a server that deals connections to its own threads in turns would pair these with the
/// threads of the client. The system then puts each pair on one core, and no packet goes from one
/// core to another: a tenth more pages than such a server has with clients that know nothing of its
/// threads.
fn deal(threads: usize, seed: u64) -> impl Iterator<Item = usize> {
    let mut random = Random::new(seed, 0);
    iter::repeat_with(move || {
        let mut round: Vec<_> = (0..threads).collect();
        random.shuffle(&mut round);
        round
    })
    .flatten()
}

/// Returns the thread of each of `all` connections. Those of heavy requests, which come last, begin
/// a round of their own, in which each thread gets one.
fn dealt(connections: usize, all: usize, threads: usize, seed: u64) -> impl Iterator<Item = usize> {
    deal(threads, seed).take(connections).chain(deal(threads, seed).take(all - connections))
}

fn phases<W: Wire>(args: &ClientArgs, wire: impl Fn() -> W) -> anyhow::Result<()> {
    let all = opened(args.connections, args.variant, args.threads);
    limit::raise(all)?;
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, args.port));
    let threads = args.threads.min(args.connections);
    let patience = Duration::from_millis(args.patience_ms);
    let drivers: anyhow::Result<Vec<_>> =
        (0..threads).map(|_| Driver::new(wire(), patience)).collect();
    let mut drivers = drivers?;
    for (number, thread) in dealt(args.connections, all, threads, args.seed).enumerate() {
        let page = page(args, number);
        let stream = connect(address, (page == Page::Large).then_some(SLOW_RECEIVE))?;
        drivers[thread].add(Connection::new(stream, number, page))?;
    }
    let rate = f64::from(args.rate) / threads as f64;
    let pace = |(thread, driver): (usize, &Driver<W>)| {
        let is_open = args.rate > 0;
        is_open.then(|| Pace::new(driver, args.variant, rate, args.seed, thread)).transpose()
    };
    let paces: anyhow::Result<Vec<_>> = drivers.iter().enumerate().map(pace).collect();
    let mut paces = paces?;
    let mut lives: Vec<_> = drivers.iter().map(|_| Lives::new(address, args.life)).collect();
    for line in io::stdin().lock().lines() {
        let time = Duration::from_millis(line?.parse().context("a phase has a time")?);
        let seen = phase(&mut drivers, &mut paces, &mut lives, time)?;
        say!("{}", serde_json::to_string(&seen)?);
    }
    Ok(())
}

/// Runs one phase on all threads.
fn phase<W: Wire>(
    drivers: &mut [Driver<W>],
    paces: &mut [Option<Pace>],
    lives: &mut [Lives],
    time: Duration,
) -> anyhow::Result<Seen> {
    let (began, used) = (Instant::now(), processor_time());
    let until = began + time;
    let tallies: anyhow::Result<Vec<Tally>> = thread::scope(|scope| {
        let threads = drivers.iter_mut().zip(paces).zip(lives);
        let threads = threads.map(|((driver, pace), lives)| {
            scope.spawn(move || match pace {
                Some(pace) => open::run(driver, pace, began, until),
                None => closed::run(driver, lives, until),
            })
        });
        let threads: Vec<_> = threads.collect();
        let tally = |thread: thread::ScopedJoinHandle<'_, _>| {
            thread.join().unwrap_or_else(|_| Err(anyhow!("a thread of the client panicked")))
        };
        threads.into_iter().map(tally).collect()
    });
    let mut tally = Tally::default();
    tallies?.iter().for_each(|one| tally.absorb(one));
    let cpu = processor_time() - used;
    if tally.requests == 0 {
        bail!("no request was sent");
    }
    Ok(seen(&tally, time, cpu))
}

fn seen(tally: &Tally, time: Duration, cpu: Duration) -> Seen {
    Seen {
        seconds: time.as_secs_f64(),
        requests: tally.requests,
        within: tally.within,
        light: tally.delays.count(),
        delays: tally.delays.quantiles(),
        late: tally.late.quantiles(),
        connections: tally.connections,
        cpu_ns: cpu.as_nanos() as u64,
    }
}

#[cfg(test)]
mod tests {
    use super::{HEAVIES, deal, dealt, opened};
    use crate::Variant;

    #[test]
    fn threads_have_as_many_connections_and_none_is_paired_with_a_turn() {
        let threads: Vec<_> = deal(2, 1).take(100).collect();
        assert_eq!(threads.iter().filter(|&&thread| thread == 0).count(), 50);
        let in_turns = threads.iter().enumerate().filter(|&(number, thread)| number % 2 == *thread);
        assert!((30..70).contains(&in_turns.count()));
        assert!(deal(1, 1).take(10).all(|thread| thread == 0));
    }

    #[test]
    fn each_thread_has_a_connection_for_heavy_requests() {
        for threads in [1, 2, HEAVIES, 40, 50] {
            let all = opened(50, Variant::Computing, threads);
            let mut heavies: Vec<_> = dealt(50, all, threads, 1).skip(50).collect();
            assert!(heavies.len() >= HEAVIES);
            heavies.sort_unstable();
            heavies.dedup();
            assert_eq!(heavies.len(), threads);
        }
        assert_eq!(opened(50, Variant::Steady, 40), 50);
    }
}
