//! The family of servers.

use std::num::NonZeroUsize;
use std::sync::OnceLock;
use std::time::Duration;

use anyhow::Context;
use clap::{Args, value_parser};

use super::Variant;
use super::client::echo::LEAST;
use super::client::{SLOW_ONE_IN, opened};
use super::foreign::go::Go;
use super::peer::Peer;
use super::run::{Host, Outcome, run};
use super::spec::{Bench, Spec};
use super::told::Mark;
use super::{foreign, idle, limit, soak};
use suite::asked::{Asked, Usage};
use suite::case::Fields;
use suite::description::Experiment;
use suite::effort::Effort;
use suite::family::{Family, Found, Has, Ran};
use suite::kit::latency::Quantiles;
use suite::output::note;
use suite::quantity::{Better, Drawn, Quantity};

/// The experiments, and the program in Go once it is built.
pub(crate) struct Serving {
    go: OnceLock<Go>,
}

/// The usual measured time.
const USUAL_TIME: Duration = Duration::from_secs(2);

/// The time before it, in which caches, allocators and buffers become what they stay.
const WARM_UP: Duration = Duration::from_millis(300);

/// How long the client waits for the last replies while none comes.
const PATIENCE: Duration = Duration::from_secs(20);

/// The usual numbers of connections of echo. The last one is as many as the limit of descriptors
/// allows, where that is less.
const ECHO_CONNECTIONS: [usize; 3] = [1, 100, 10_000];

/// The usual number of connections of HTTP.
const HTTP_CONNECTIONS: usize = 100;

/// The usual number of connections without traffic.
const IDLE_CONNECTIONS: usize = 1_000;

/// The usual number of connections at once, of those that come and go.
const SOAK_CONNECTIONS: usize = 200;

/// The requests of a connection that comes and goes.
const LIFE: u32 = 10;

/// The usual measured time of a soak, and the longest warm-up of one.
const SOAK_TIME: Duration = Duration::from_secs(60);
const SOAK_WARM_UP: Duration = Duration::from_secs(5);

/// The usual bytes of a message of echo.
const ECHO_BYTES: [usize; 2] = [64, 16 << 10];

/// The most bytes of a message: the buffers of a connection hold as much, so neither side waits for
/// the other one to read before it does.
const MOST_BYTES: u64 = 64 << 10;

/// The usual requests per second and worker, where they begin at fixed times. Those that compute
/// then take a fifth of a core.
const RATE: u32 = 2_000;

/// The most requests per second.
const MOST_RATE: i64 = 1_000_000;

/// The fewest delays of which 1 in 100, and 1 in 1,000, is a figure.
const ENOUGH: (u64, u64) = (100, 1_000);

/// The options that only these experiments have.
#[derive(Debug, Args)]
#[group(skip)]
pub(crate) struct Options {
    /// Serving: connections at once, separated by commas [default: echo: 1, 100, 10,000; http: 100;
    /// idle: 1,000; soak: 200]
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    connections: Vec<NonZeroUsize>,
    /// Echo: bytes of a message, separated by commas [default: 64, 16,384]
    #[arg(long, value_name = "LIST", value_delimiter = ',',
          value_parser = value_parser!(u64).range(LEAST as u64..=MOST_BYTES))]
    bytes: Vec<u64>,
    /// Http: requests per second, of variants with fixed times [default: 2,000 for each worker]
    #[arg(long, value_name = "N", value_parser = value_parser!(u32).range(1..=MOST_RATE))]
    arrivals: Option<u32>,
}

/// Echo is about the cost of a message.
const ECHO: [Quantity; 8] = [
    THROUGHPUT,
    CPU,
    Quantity::share("delay p50, µs", "delay_us_p50", 0.5),
    Quantity::share("delay p99, µs", "delay_us_p99", 0.99),
    Quantity::share("delay p99.9, µs", "delay_us_p999", 0.999),
    Quantity::share("delay max, µs", "delay_us_max", 1.0),
    CLIENT_CPU,
    REQUESTS,
];

/// Of pages at fixed times the delays are compared too. Where each page is asked for when the one
/// before has come, a late server holds back those that would show it: its round trips are not
/// compared.
const HTTP: [Quantity; 12] = [
    THROUGHPUT,
    CPU,
    Quantity::share("delay p50, µs", "delay_us_p50", 0.5),
    Quantity::share("delay p99, µs", "delay_us_p99", 0.99).compared(SOONER),
    Quantity::share("delay p99.9, µs", "delay_us_p999", 0.999).compared(SOONER),
    Quantity::share("delay max, µs", "delay_us_max", 1.0),
    Quantity::share("round trip p99, µs", "round_us_p99", 0.99),
    Quantity::share("round trip p99.9, µs", "round_us_p999", 0.999),
    CLIENT_CPU,
    Quantity::shown("client late p99.9, µs", "client_us_p999"),
    REQUESTS,
    Quantity::shown("light requests", "light_requests"),
];

/// An idle connection has a price in memory, and one in time.
const IDLE: [Quantity; 2] = [
    Quantity::shown("resident bytes/connection", "bytes_per_connection")
        .compared(Better::Less("smaller", "larger"))
        .drawn(Drawn::Dots),
    Quantity::shown("server's CPU, µs/s", "server_us_per_s")
        .compared(Better::Less("less", "more"))
        .drawn(Drawn::Dots),
];

const SOAK: [Quantity; 6] = [
    Quantity::shown("connections/s", "connections_per_s")
        .compared(Better::More("more", "fewer"))
        .drawn(Drawn::Dots),
    Quantity::shown("resident at the start, MiB", "start_mib"),
    Quantity::shown("resident in the middle, MiB", "middle_mib"),
    Quantity::shown("resident at the end, MiB", "end_mib"),
    Quantity::shown("descriptors at the start", "start_descriptors"),
    Quantity::shown("descriptors at the end", "end_descriptors"),
];

const SOONER: Better = Better::Less("sooner", "later");

const THROUGHPUT: Quantity = Quantity::shown("requests/s", "requests_per_s")
    .compared(Better::More("more", "fewer"))
    .drawn(Drawn::Dots);

const CPU: Quantity = Quantity::shown("server's CPU, µs/request", "server_us_per_request")
    .compared(Better::Less("less", "more"))
    .drawn(Drawn::Dots);

const CLIENT_CPU: Quantity = Quantity::shown("client's CPU, µs/request", "client_us_per_request");

const REQUESTS: Quantity = Quantity::shown("requests checked", "requests");

impl Family for Serving {
    const NAME: &'static str = "serving";
    const TITLE: &'static str = "Serving";
    const ABOUT: &'static str = "\
        Server and client are processes that share the cores of the run, connected over loopback. \
        The client, with a thread for each core, is the same for all servers, and its work counts \
        against all alike. Echo: each connection sends a message, waits until all of it has come \
        back, and sends the next. Http: hyper serves small pages by HTTP/1.1, in the same closed \
        loop (plain) or at random times that are fixed beforehand (the others), where a delay \
        counts from when the request was to begin. Of a hundred requests one computes 8 million \
        steps, some 10 ms (computing), of a thousand one blocks its thread for 100 ms within its \
        task (blocking), or of fifty connections one reads pages of 1 MiB slowly (slow); delays \
        are those of the light requests, which have connections of their own. Idle: a first \
        client's connections are there when the growth by a second one's is measured, and each has \
        a buffer of 64 bytes; so the growth is what the runtime has for a connection. All bytes of \
        all replies are compared. The server's processor time is its own, user and system, from \
        the first measured request to the last reply; the system's work for a packet is partly \
        charged to its sender.";

    type Peer = Peer;
    type Options = Options;
    type Spec = Spec;
    type Ready = ();

    fn new() -> Self {
        Serving { go: OnceLock::new() }
    }

    fn experiments() -> Vec<Experiment> {
        let experiment = |bench: Bench| Experiment {
            name: bench.name(),
            what: bench.describe(),
            variants: Vec::new(),
            settings: &["connections", "bytes"],
            options: &["procs", "connections", "bytes", "seconds"],
            quantities: &ECHO,
            depends_on_distance: true,
        };
        let plain = |bench, quantities: &'static [Quantity]| Experiment {
            settings: &["connections"],
            options: &["procs", "connections", "seconds"],
            quantities,
            ..experiment(bench)
        };
        vec![
            experiment(Bench::Echo),
            Experiment {
                variants: Variant::ALL.map(Variant::name).to_vec(),
                settings: &["connections", "rate"],
                options: &["procs", "connections", "arrivals", "seconds"],
                quantities: &HTTP,
                ..experiment(Bench::Http)
            },
            plain(Bench::Idle, &IDLE),
            plain(Bench::Soak, &SOAK),
        ]
    }

    fn asked(asked: &Asked, options: &Options) -> anyhow::Result<Vec<Spec>> {
        let time = asked.is_given("seconds").then_some(asked.time);
        let most = limit::most_connections();
        let connections: Vec<usize> = options.connections.iter().map(|one| one.get()).collect();
        let mut specs = Vec::new();
        for bench in asked.benches::<Bench>()? {
            let usual = usual(bench, most);
            let (time, warm_up, life) = match bench {
                Bench::Soak => (time.unwrap_or(SOAK_TIME), SOAK_WARM_UP, LIFE),
                Bench::Echo | Bench::Http | Bench::Idle => (time.unwrap_or(USUAL_TIME), WARM_UP, 0),
            };
            let connections = if connections.is_empty() { &usual } else { &connections };
            for &workers in &asked.workers {
                for &connections in connections {
                    let spec = Spec {
                        bench,
                        variant: Variant::Plain,
                        workers,
                        connections,
                        bytes: LEAST,
                        rate: 0,
                        life,
                        warm_up: time.min(warm_up),
                        patience: PATIENCE,
                        time,
                        seed: 1,
                    };
                    match bench {
                        Bench::Echo => specs.extend(of_sizes(&spec, &options.bytes)),
                        Bench::Http => {
                            let variants = asked.variants(&Variant::ALL);
                            specs.extend(of_variants(&spec, &variants, options.arrivals));
                        }
                        Bench::Idle | Bench::Soak => specs.push(spec),
                    }
                }
            }
        }
        check(&specs, options.arrivals, most)?;
        Ok(specs)
    }

    fn plan(_: Effort, _: usize) -> Vec<Spec> {
        Vec::new()
    }

    /// None: servers take longer than the main job has.
    fn rounds(_: Effort) -> usize {
        0
    }

    fn found(&self) -> anyhow::Result<Found<Peer>> {
        Ok(Found::by(&Peer::ALL, foreign::look))
    }

    fn has(peer: Peer, spec: &Spec) -> Has {
        Has::when(match peer {
            Peer::Nginx => spec.is_small_pages(),
            Peer::Bare => spec.bench != Bench::Http,
            _ => true,
        })
    }

    fn build(&self, peers: &[Peer]) -> anyhow::Result<()> {
        if peers.contains(&Peer::Go) && self.go.get().is_none() {
            let program = Go::build()?;
            note!("built the program of {}", Peer::Go);
            self.go.get_or_init(|| program);
        }
        Ok(())
    }

    fn ready(&self, _: &Spec, _: Peer) -> anyhow::Result<()> {
        Ok(())
    }

    fn once(&self, spec: &Spec, peer: Peer, (): &mut (), seed: u64) -> anyhow::Result<Ran> {
        let spec = Spec { seed, ..spec.clone() };
        let host = match peer {
            Peer::Evenkeel | Peer::Tokio | Peer::TokioPerCore | Peer::Bare => Host::Own(peer),
            Peer::Go => Host::Go(self.go.get().context("the peer is not built")?),
            Peer::Nginx => Host::Nginx,
        };
        Ok(Ran::Done(match spec.bench {
            Bench::Echo | Bench::Http => figures(&run(host, &spec)?, &spec),
            Bench::Idle => figures_of_idle(&idle::run(host, &spec)?, &spec),
            Bench::Soak => figures_of_soak(&soak::run(host, &spec)?, &spec),
        }))
    }
}

/// Returns the usual numbers of connections, where a process may have `most`.
fn usual(bench: Bench, most: usize) -> Vec<usize> {
    match bench {
        Bench::Echo => {
            let mut all = ECHO_CONNECTIONS.map(|many| many.min(most.max(1))).to_vec();
            all.dedup();
            all
        }
        Bench::Http => vec![HTTP_CONNECTIONS],
        Bench::Idle => vec![IDLE_CONNECTIONS.min((most / 2).max(1))],
        Bench::Soak => vec![SOAK_CONNECTIONS],
    }
}

/// Returns an error if an experiment has too few connections for what it is about, or more than a
/// process may have, or if an option means nothing to any of them.
fn check(specs: &[Spec], arrivals: Option<u32>, most: usize) -> Result<(), Usage> {
    for &Spec { bench, variant, connections, workers, .. } in specs {
        if variant == Variant::Slow && connections < SLOW_ONE_IN {
            return Err(Usage(format!(
                "{variant} has one slow reader in {SLOW_ONE_IN} connections, so none in \
                 {connections}: ask for {SLOW_ONE_IN} or more, or for other variants"
            )));
        }
        let opened = match bench {
            // Two clients have as many each, and the server has both.
            Bench::Idle => connections.saturating_mul(2),
            Bench::Echo | Bench::Http | Bench::Soak => opened(connections, variant, workers),
        };
        if opened > most {
            return Err(Usage(limit::refusal(opened, most)));
        }
    }
    if arrivals.is_some() && specs.iter().all(|spec| spec.rate == 0) {
        let plain = Variant::Plain;
        return Err(Usage(format!("--arrivals is for variants with fixed times, not for {plain}")));
    }
    Ok(())
}

/// A spec for each size of messages.
fn of_sizes(spec: &Spec, bytes: &[u64]) -> Vec<Spec> {
    let bytes = bytes.iter().map(|&bytes| bytes as usize).collect::<Vec<_>>();
    let bytes = if bytes.is_empty() { ECHO_BYTES.to_vec() } else { bytes };
    bytes.into_iter().map(|bytes| Spec { bytes, ..spec.clone() }).collect()
}

/// A spec for each variant.
fn of_variants(spec: &Spec, variants: &[Variant], rate: Option<u32>) -> Vec<Spec> {
    let usual = RATE * spec.workers as u32;
    let rate = |variant: Variant| if variant.is_open() { rate.unwrap_or(usual) } else { 0 };
    let of = |&variant| Spec { variant, rate: rate(variant), ..spec.clone() };
    variants.iter().map(of).collect()
}

fn figures(Outcome { seen, server_cpu }: &Outcome, spec: &Spec) -> Fields {
    let requests = seen.requests as f64;
    let each = |cpu: Duration| cpu.as_secs_f64() * 1e6 / requests;
    let Quantiles { p50, p99, p999, max } = seen.delays;
    let is_closed = spec.rate == 0;
    let (name99, name999) = if is_closed && spec.bench == Bench::Http {
        ("round_us_p99", "round_us_p999")
    } else {
        ("delay_us_p99", "delay_us_p999")
    };
    Fields::new()
        .with("seconds", seen.seconds)
        .with_some("requests_per_s", is_closed.then(|| seen.within as f64 / seen.seconds))
        .with("server_us_per_request", each(*server_cpu))
        .with("delay_us_p50", p50)
        .with_some(name99, (seen.light >= ENOUGH.0).then_some(p99))
        .with_some(name999, (seen.light >= ENOUGH.1).then_some(p999))
        .with("delay_us_max", max)
        .with("client_us_per_request", each(Duration::from_nanos(seen.cpu_ns)))
        .with_some("client_us_p999", (!is_closed).then_some(seen.late.p999))
        .with("requests", requests)
        .with("light_requests", seen.light as f64)
}

fn figures_of_idle(idle::Outcome { growth, server_cpu }: &idle::Outcome, spec: &Spec) -> Fields {
    let seconds = spec.time.as_secs_f64();
    Fields::new()
        .with("seconds", seconds)
        .with("bytes_per_connection", *growth as f64 / spec.connections as f64)
        .with("server_us_per_s", server_cpu.as_secs_f64() * 1e6 / seconds)
}

fn figures_of_soak(outcome: &soak::Outcome, spec: &Spec) -> Fields {
    let soak::Outcome { connections, start, middle, end } = outcome;
    let seconds = spec.time.as_secs_f64();
    let mib = |mark: &Mark| mark.resident as f64 / f64::from(1 << 20);
    Fields::new()
        .with("seconds", seconds)
        .with("connections_per_s", *connections as f64 / seconds)
        .with("start_mib", mib(start))
        .with("middle_mib", mib(middle))
        .with("end_mib", mib(end))
        .with("start_descriptors", start.descriptors as f64)
        .with("end_descriptors", end.descriptors as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::told::Seen;

    fn spec(bench: Bench) -> Spec {
        Spec {
            bench,
            variant: Variant::Plain,
            workers: 2,
            connections: 100,
            bytes: LEAST,
            rate: 0,
            life: 0,
            warm_up: WARM_UP,
            patience: PATIENCE,
            time: USUAL_TIME,
            seed: 1,
        }
    }

    #[test]
    fn sizes_and_variants_make_cases_and_only_those_at_fixed_times_have_a_rate() {
        let sizes = |bytes: &[u64]| {
            let specs = of_sizes(&spec(Bench::Echo), bytes);
            specs.iter().map(|spec| spec.bytes).collect::<Vec<_>>()
        };
        assert_eq!((sizes(&[]), sizes(&[16, 20])), (ECHO_BYTES.to_vec(), vec![16, 20]));
        let rates = |rate| {
            let specs = of_variants(&spec(Bench::Http), &Variant::ALL, rate);
            specs.iter().map(|spec| spec.rate).collect::<Vec<_>>()
        };
        assert_eq!(rates(None), [0, 4_000, 4_000, 4_000, 4_000]);
        assert_eq!(rates(Some(7)), [0, 7, 7, 7, 7]);
    }

    #[test]
    fn connections_are_counted_as_the_experiment_opens_them() {
        assert_eq!((usual(Bench::Echo, 100), usual(Bench::Idle, 100)), (vec![1, 100], vec![50]));
        assert_eq!(usual(Bench::Echo, 20_000), ECHO_CONNECTIONS);
        assert_eq!((usual(Bench::Echo, 0), usual(Bench::Idle, 1)), (vec![1], vec![1]));
        let of = |bench, variant, connections, workers| {
            let spec = Spec { variant, connections, workers, rate: 1, ..spec(bench) };
            check(&[spec], None, 200).map_err(|error| error.0)
        };
        let of_http =
            |variant, connections, workers| of(Bench::Http, variant, connections, workers);
        of(Bench::Echo, Variant::Plain, 200, 2).unwrap();
        of(Bench::Idle, Variant::Plain, 100, 2).unwrap();
        of_http(Variant::Steady, 200, 2).unwrap();
        of_http(Variant::Computing, 168, 2).unwrap();
        let refused = [
            (of(Bench::Echo, Variant::Plain, 201, 2), 201),
            (of(Bench::Idle, Variant::Plain, 101, 2), 202),
            (of_http(Variant::Blocking, 169, 2), 201),
            (of_http(Variant::Computing, 168, 33), 201),
        ];
        for (refused, opened) in refused {
            let why = refused.unwrap_err();
            assert!(why.starts_with(&format!("{opened} connections need more")), "{why}");
        }
        of_http(Variant::Slow, 50, 2).unwrap();
        let why = of_http(Variant::Slow, 49, 2).unwrap_err();
        assert!(why.contains("one slow reader in 50 connections, so none in 49"), "{why}");
    }

    #[test]
    fn arrivals_need_a_variant_with_fixed_times() {
        let of = |variants: &[Variant]| {
            let specs = of_variants(&spec(Bench::Http), variants, Some(7));
            check(&specs, Some(7), 1_000).map_err(|error| error.0)
        };
        of(&[Variant::Plain, Variant::Steady]).unwrap();
        let why = of(&[Variant::Plain]).unwrap_err();
        assert!(why.contains("--arrivals") && why.contains("not for plain"), "{why}");
    }

    #[test]
    fn a_rare_delay_needs_requests_and_a_fixed_rate_is_no_figure() {
        let delays = Quantiles { p50: 1.0, p99: 2.0, p999: 3.0, max: 4.0 };
        let seen = |light| Seen {
            seconds: 2.0,
            requests: 2_000,
            within: 1_990,
            light,
            delays,
            late: delays,
            connections: 0,
            cpu_ns: 6_000_000,
        };
        let of = |light, rate| {
            let outcome = Outcome { seen: seen(light), server_cpu: Duration::from_millis(8) };
            figures(&outcome, &Spec { rate, ..spec(Bench::Http) })
        };
        let all = of(2_000, 0);
        assert_eq!(all.number("requests_per_s"), Some(995.0));
        assert_eq!(all.number("server_us_per_request"), Some(4.0));
        assert_eq!(all.number("client_us_per_request"), Some(3.0));
        assert_eq!((all.number("round_us_p999"), all.number("delay_us_p999")), (Some(3.0), None));
        assert_eq!(all.number("client_us_p999"), None);
        let few = of(999, 1_000);
        assert_eq!((few.number("requests_per_s"), few.number("delay_us_p999")), (None, None));
        assert_eq!(
            (few.number("delay_us_p99"), few.number("client_us_p999")),
            (Some(2.0), Some(3.0))
        );
        assert_eq!(of(99, 1_000).number("delay_us_p99"), None);
    }
}
