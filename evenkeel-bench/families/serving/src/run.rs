//! One run: a server and a client, each a process, started and ended here.
//!
//! **Steps.** 1. The server starts, and says its port. 2. The client connects, sends requests for
//! the time of the warm-up, and waits for all replies. 3. The server says what it has used. 4. The
//! client sends requests for the measured time, and waits for all replies. 5. The server says what
//! it has used. Between the two steps in which it is asked, it has served the measured requests and
//! no others.

use std::time::Duration;

use anyhow::{Context, bail, ensure};
use serde::de::DeserializeOwned;

use crate::client;
use crate::foreign::go::Go;
use crate::foreign::nginx::Nginx;
use crate::peer::Peer;
use crate::server::{self, Service};
use crate::spec::{Bench, Spec};
use crate::told::{ADDRESS, Listening, MARK, Mark, Seen, TIME, Time};
use suite::kit::served::Served;

/// How long an answer may take beside the time that it is about: longer than the client's patience.
const PATIENCE: Duration = Duration::from_secs(180);

/// The bytes of the buffer of each connection of an echo server.
const BUFFER: usize = 16 << 10;

/// The measurements of a run.
#[derive(Clone, Debug)]
pub(crate) struct Outcome {
    /// What the client saw in the measured time.
    pub(crate) seen: Seen,
    /// What the server used for it.
    pub(crate) server_cpu: Duration,
}

/// What a server is a process of.
#[derive(Clone, Copy)]
pub(crate) enum Host<'a> {
    /// This program, with the runtime of this peer.
    Own(Peer),
    /// The program in Go.
    Go(&'a Go),
    /// nginx.
    Nginx,
}

impl Host<'_> {
    pub(crate) fn peer(self) -> Peer {
        match self {
            Host::Own(peer) => peer,
            Host::Go(_) => Peer::Go,
            Host::Nginx => Peer::Nginx,
        }
    }
}

/// A server, and what asks it.
pub(crate) enum Server {
    /// It answers lines.
    Told(Served),
    /// It is asked by the system's files.
    Nginx(Nginx),
}

/// A client.
pub(crate) struct Client(Served);

impl Server {
    /// Starts the server of a peer.
    pub(crate) fn start(host: Host<'_>, spec: &Spec, buffer: usize) -> anyhow::Result<Self> {
        let service = service(spec.bench);
        let connections = client::opened(spec.connections, spec.variant, spec.workers);
        let peer = match host {
            Host::Own(peer) => peer,
            Host::Go(program) => {
                return program.start(service, spec.workers, buffer).map(Self::Told);
            }
            Host::Nginx => return Nginx::start(spec.workers, connections).map(Self::Nginx),
        };
        let told = [spec.workers, connections, buffer].map(|number| number.to_string());
        let [workers, connections, buffer] = told.each_ref().map(String::as_str);
        let arguments = [
            server::COMMAND,
            "--runtime",
            peer.name(),
            "--workers",
            workers,
            "--service",
            service.name(),
            "--connections",
            connections,
            "--buffer",
            buffer,
        ];
        Served::afresh(&arguments).map(Self::Told).context("cannot start the server")
    }

    /// Returns its port.
    pub(crate) fn port(&mut self) -> anyhow::Result<u16> {
        match self {
            Self::Told(process) => {
                let answer: Listening = ask(process, ADDRESS, PATIENCE).context("the server")?;
                Ok(answer.port)
            }
            Self::Nginx(nginx) => Ok(nginx.port()),
        }
    }

    /// Returns the processor time that it has used up to now.
    pub(crate) fn time(&mut self) -> anyhow::Result<Duration> {
        let Time { cpu_ns } = match self {
            Self::Told(process) => ask(process, TIME, PATIENCE).context("the server")?,
            Self::Nginx(nginx) => nginx.time()?,
        };
        Ok(Duration::from_nanos(cpu_ns))
    }

    /// Returns what it has.
    pub(crate) fn mark(&mut self) -> anyhow::Result<Mark> {
        match self {
            Self::Told(process) => ask(process, MARK, PATIENCE).context("the server"),
            Self::Nginx(_) => bail!("nginx serves no experiment that asks for this"),
        }
    }
}

impl Client {
    /// Starts a client of the server at this port.
    pub(crate) fn start(spec: &Spec, port: u16) -> anyhow::Result<Self> {
        let Spec {
            bench, variant, workers, connections, bytes, rate, life, patience, seed, ..
        } = spec;
        let pairs = [
            ("--service", service(*bench).to_string()),
            ("--port", port.to_string()),
            ("--connections", connections.to_string()),
            ("--threads", workers.to_string()),
            ("--bytes", bytes.to_string()),
            ("--variant", variant.to_string()),
            ("--rate", rate.to_string()),
            ("--life", life.to_string()),
            ("--seed", seed.to_string()),
            ("--patience-ms", patience.as_millis().to_string()),
        ];
        let pairs = pairs.iter().flat_map(|(name, value)| [*name, value.as_str()]);
        let arguments: Vec<&str> = [client::COMMAND].into_iter().chain(pairs).collect();
        Served::afresh(&arguments).map(Self).context("cannot start the client")
    }

    /// Has it send requests for a time, and returns what it saw when all replies are there.
    pub(crate) fn phase(&mut self, time: Duration) -> anyhow::Result<Seen> {
        let request = time.as_millis().to_string();
        ask(&mut self.0, &request, time + PATIENCE).context("the client")
    }
}

fn service(bench: Bench) -> Service {
    match bench {
        Bench::Echo | Bench::Idle | Bench::Soak => Service::Echo,
        Bench::Http => Service::Http,
    }
}

fn ask<T: DeserializeOwned>(
    process: &mut Served,
    request: &str,
    patience: Duration,
) -> anyhow::Result<T> {
    let answer = process.ask(request, patience)?;
    let answer = answer.with_context(|| format!("it has not answered within {patience:?}"))?;
    serde_json::from_str(&answer).with_context(|| format!("it answered `{answer}`"))
}

/// Runs an experiment once.
pub(crate) fn run(host: Host<'_>, spec: &Spec) -> anyhow::Result<Outcome> {
    let mut server = Server::start(host, spec, BUFFER)?;
    let mut client = Client::start(spec, server.port()?)?;
    client.phase(spec.warm_up)?;
    let before = server.time()?;
    let seen = client.phase(spec.time)?;
    let after = server.time()?;
    ensure!(seen.within > 0, "no reply came within {:?}", spec.time);
    // The client ends first: it would take the end of the server for a fault.
    drop(client);
    Ok(Outcome { seen, server_cpu: after.saturating_sub(before) })
}
