//! A server, in a process of its own.
//!
//! **Roles.** The *control*, the process's first thread, answers the lines of its parent. The
//! *host* is a runtime that accepts connections and serves each in a task of its own. A process
//! ends when its parent closes the pipe, or kills it.
//!
//! The listening socket is the same for all hosts, with a backlog that holds all connections.

mod bare;
mod cores;
mod evenkeel;
mod page;
mod tokio;

use std::io::{self, BufRead};
use std::net::{Ipv4Addr, SocketAddr, TcpListener};

use anyhow::{Context, bail, ensure};
use clap::Args;
use serde::Serialize;
use socket2::{Domain, Protocol, Socket, Type};

use crate::limit;
use crate::peer::Peer;
use crate::told::{ADDRESS, Listening, MARK, TIME, Time};
use crate::usage;
use suite::kit::processor_time::processor_time;
use suite::named;
use suite::output::say;

/// The hidden command with which the suite's program calls itself.
pub const COMMAND: &str = "serving-server";

/// Connections that wait to be accepted; the system may have a lower bound.
const BACKLOG: i32 = 16_384;

named! {
    /// What a server does with a connection.
    pub(crate) enum Service as "service" {
        /// It sends back what it receives.
        Echo = "echo",
        /// It answers requests of HTTP/1.1.
        Http = "http",
    }
}

/// The arguments of a server.
#[derive(Clone, Debug, Args)]
pub struct ServerArgs {
    #[arg(long)]
    runtime: Peer,
    #[arg(long)]
    workers: usize,
    #[arg(long)]
    service: Service,
    /// Connections that it may have at once
    #[arg(long)]
    connections: usize,
    /// Bytes of the buffer of each connection of echo
    #[arg(long)]
    buffer: usize,
}

/// The settings that all tasks of a server share.
#[derive(Clone, Copy, Debug)]
struct Serve {
    service: Service,
    buffer: usize,
}

/// Serves until the parent goes.
pub fn run(args: &ServerArgs) -> anyhow::Result<()> {
    limit::raise(args.connections)?;
    let listener = listener()?;
    let port = listener.local_addr()?.port();
    let serve = Serve { service: args.service, buffer: args.buffer };
    match args.runtime {
        Peer::Evenkeel => {
            let _host = evenkeel::start(args.workers, listener, serve)?;
            answer(port)
        }
        Peer::Tokio => {
            let _host = tokio::start(args.workers, listener, serve)?;
            answer(port)
        }
        Peer::TokioPerCore => {
            cores::start(args.workers, listener, serve)?;
            answer(port)
        }
        Peer::Bare => {
            ensure!(args.service == Service::Echo, "{} serves echo only", args.runtime);
            bare::start(listener, args.buffer)?;
            answer(port)
        }
        Peer::Go | Peer::Nginx => bail!("{} is a program of its own", args.runtime),
    }
}

/// Returns a socket that listens on loopback.
fn listener() -> anyhow::Result<TcpListener> {
    let socket = Socket::new(Domain::IPV4, Type::STREAM, Some(Protocol::TCP))?;
    socket.bind(&SocketAddr::from((Ipv4Addr::LOCALHOST, 0)).into())?;
    socket.listen(BACKLOG)?;
    Ok(socket.into())
}

/// Answers each line of the parent until there are no more.
fn answer(port: u16) -> anyhow::Result<()> {
    for line in io::stdin().lock().lines() {
        match line?.as_str() {
            ADDRESS => tell(&Listening { port })?,
            TIME => tell(&Time { cpu_ns: processor_time().as_nanos() as u64 })?,
            MARK => tell(&usage::mark()?)?,
            odd => bail!("a server does not know `{odd}`"),
        }
    }
    Ok(())
}

fn tell(what: &impl Serialize) -> anyhow::Result<()> {
    say!("{}", serde_json::to_string(what).context("an answer has no form")?);
    Ok(())
}
