use std::io::{Read, Write};
use std::net::{Ipv4Addr, TcpListener};
use std::thread;
use std::time::Duration;

use clap::{Parser, Subcommand};

use super::client::{self, ClientArgs};
use super::foreign::go::Go;
use super::peer::Peer;
use super::run::{Client, Host, Outcome, run};
use super::server::{self, ServerArgs};
use super::spec::{Bench, Spec};
use super::*;
use suite::kit::afresh;

fn spec(bench: Bench, workers: usize) -> Spec {
    Spec {
        bench,
        variant: Variant::Plain,
        workers,
        connections: 4,
        bytes: 64,
        rate: 0,
        life: 0,
        warm_up: Duration::from_millis(20),
        patience: Duration::from_secs(120),
        time: Duration::from_millis(100),
        seed: 1,
    }
}

/// The hidden commands of the suite's program.
#[derive(Parser)]
struct Line {
    #[command(subcommand)]
    command: Hidden,
}

#[derive(Subcommand)]
enum Hidden {
    #[command(name = server::COMMAND)]
    Server(ServerArgs),
    #[command(name = client::COMMAND)]
    Client(ClientArgs),
}

/// Stands for the suite's program when tests run it [afresh].
#[test]
fn this_binary_called_afresh() {
    let Some(arguments) = afresh::of_test() else { return };
    let line = ["evenkeel-bench".to_owned()].into_iter().chain(arguments);
    match Line::parse_from(line).command {
        Hidden::Server(args) => server::run(&args).unwrap(),
        Hidden::Client(args) => client::run(&args).unwrap(),
    }
}

/// Calls `each` with every server whose tools are found, but for nginx.
fn every(each: impl Fn(Host<'_>)) {
    [Peer::Evenkeel, Peer::Tokio, Peer::TokioPerCore].map(Host::Own).into_iter().for_each(&each);
    if foreign::look(Peer::Go).is_ok() {
        each(Host::Go(&Go::build().unwrap()));
    }
}

/// Each run checks itself; this checks that there are figures.
fn start(host: Host<'_>, spec: &Spec) -> Outcome {
    let peer = host.peer();
    afresh::by_test("tests::this_binary_called_afresh");
    let outcome = run(host, spec).unwrap_or_else(|error| panic!("{peer}, {spec:?}: {error:#}"));
    let Outcome { seen, server_cpu } = &outcome;
    assert!(seen.requests >= seen.within && seen.within > 0, "{peer}, {spec:?}: {seen:?}");
    assert!(*server_cpu > Duration::ZERO, "{peer}, {spec:?}");
    assert!(seen.delays.p50 > 0.0 && seen.delays.p50 <= seen.delays.max, "{peer}: {seen:?}");
    outcome
}

#[test]
fn every_server_sends_back_all_that_it_receives() {
    let each = |host: Host<'_>| {
        for workers in [1, 2] {
            let spec = Spec { bytes: 20_000, ..spec(Bench::Echo, workers) };
            let seen = start(host, &spec).seen;
            assert_eq!(seen.light, seen.requests);
        }
    };
    every(each);
    each(Host::Own(Peer::Bare));
}

#[test]
fn every_server_answers_every_variant_of_pages() {
    every(|host| {
        for variant in Variant::ALL {
            let rate = if variant.is_open() { 2_000 } else { 0 };
            // Enough connections that one of them reads slowly.
            let spec = Spec { variant, rate, connections: 50, ..spec(Bench::Http, 2) };
            let seen = start(host, &spec).seen;
            assert!(seen.light > 0 && seen.light <= seen.requests, "{variant}: {seen:?}");
            // All of 200 at random times, give or take, however late they are.
            assert!(rate == 0 || (100..400).contains(&seen.requests), "{variant}: {seen:?}");
        }
    });
}

/// Requests that a thread had no connection for would be missing.
#[test]
fn each_thread_of_a_client_has_connections_for_light_and_for_heavy_requests() {
    let variant = Variant::Computing;
    // More threads than there are heavy connections as a rule.
    let time = Duration::from_millis(500);
    let spec = Spec { variant, rate: 2_000, time, connections: 50, ..spec(Bench::Http, 40) };
    start(Host::Own(Peer::Evenkeel), &spec);
    // Of 50 threads the one of the 50th connection reads slowly and has no other.
    let spec = Spec { variant: Variant::Slow, workers: 50, ..spec };
    let error = format!("{:#}", run(Host::Own(Peer::Evenkeel), &spec).unwrap_err());
    assert!(error.contains("has no connection for light requests"), "{error}");
}

#[test]
fn nginx_answers_small_pages_where_it_is_found() {
    if foreign::look(Peer::Nginx).is_err() {
        return;
    }
    for workers in [1, 2] {
        let outcome = start(Host::Nginx, &spec(Bench::Http, workers));
        assert_eq!(outcome.seen.light, outcome.seen.requests);
    }
}

#[test]
fn idle_connections_take_memory_and_still_answer() {
    afresh::by_test("tests::this_binary_called_afresh");
    every(|host| {
        let spec = Spec { connections: 1_000, ..spec(Bench::Idle, 2) };
        let outcome = idle::run(host, &spec).unwrap();
        // Each has a task and a socket, and some of their memory may have been resident.
        assert!(outcome.growth > 1_000 * 128, "{}: {outcome:?}", host.peer());
    });
}

#[test]
fn connections_come_and_go_and_leave_nothing() {
    afresh::by_test("tests::this_binary_called_afresh");
    every(|host| {
        let warm_up = Duration::from_millis(100);
        let spec = Spec { life: 5, warm_up, ..spec(Bench::Soak, 2) };
        let outcome = soak::run(host, &spec).unwrap();
        assert!(outcome.connections > 0, "{outcome:?}");
        assert!(outcome.middle.descriptors >= outcome.end.descriptors, "{outcome:?}");
    });
}

/// Runs a client against a server of one connection that changes what it sends back, and returns
/// why the client ends.
fn fault(answer: impl Fn(usize, &[u8]) -> Option<Vec<u8>> + Send + 'static) -> String {
    afresh::by_test("tests::this_binary_called_afresh");
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let port = listener.local_addr().unwrap().port();
    let server = thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut message = [0; 64];
        for number in 0.. {
            // The client is gone when it has found the fault.
            if stream.read_exact(&mut message).is_err() {
                return;
            }
            let answer = answer(number, &message);
            let Some(answer) = answer else { return };
            if stream.write_all(&answer).is_err() {
                return;
            }
        }
    });
    let patience = Duration::from_millis(100);
    let spec = Spec { connections: 1, patience, ..spec(Bench::Echo, 1) };
    let mut client = Client::start(&spec, port).unwrap();
    let error = client.phase(Duration::from_millis(300)).unwrap_err();
    drop(client);
    server.join().unwrap();
    format!("{error:#}")
}

#[test]
fn a_server_that_changes_a_byte_is_found_out() {
    let error = fault(|number, message| {
        let mut answer = message.to_vec();
        answer[40] ^= u8::from(number == 3);
        Some(answer)
    });
    assert!(error.contains("request 4 ") && error.contains("came back changed"), "{error}");
}

#[test]
fn a_server_that_sends_a_reply_twice_is_found_out() {
    let error = fault(|number, message| Some(message.repeat(1 + usize::from(number == 3))));
    // The second one comes with the first, before the next request, or after it.
    let forms = ["bytes too many came back", "not asked for", "came back changed"];
    assert!(forms.iter().any(|form| error.contains(form)), "{error}");
}

#[test]
fn a_server_that_closes_a_connection_is_found_out() {
    let error = fault(|number, message| (number < 3).then(|| message.to_vec()));
    assert!(error.contains("request 4 ") && error.contains("closed the connection"), "{error}");
}

#[test]
fn a_server_that_drops_a_reply_is_found_out() {
    let error = fault(|number, message| Some(if number == 3 { vec![] } else { message.to_vec() }));
    assert!(error.contains("requests without a reply, of which none has come for"), "{error}");
}
