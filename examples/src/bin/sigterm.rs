//! SIGTERM: a service that ends within its limits, though one of its handlers blocks.

use evenkeel::signal::unix::{SignalKind, signal};
use evenkeel::{Builder, Shutdown};
use evenkeel_examples::{Fault, Report, Server, get, serve};
use http_body_util::Full;
use hyper::body::{Bytes, Incoming};
use hyper::service::service_fn;
use hyper::{Request, Response};
use std::process::Command;
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::sync::Semaphore;

type Gate = Arc<Mutex<Receiver<()>>>;

/// Handlers that block their threads.
static BLOCKED: Semaphore = Semaphore::const_new(0);

/// Blocks in its poll, as no handler should, until the sender of the gate is gone.
async fn answer(_request: Request<Incoming>, gate: Gate) -> Result<Response<Full<Bytes>>, Fault> {
    BLOCKED.add_permits(1);
    assert!(gate.lock().unwrap().recv().is_err(), "nothing is sent");
    Ok(Response::default())
}

/// Serves until the system tells the program to end.
async fn run(gate: Gate) -> Result<Report, Fault> {
    // From here on the signal does not end the process by itself.
    let mut terminate = signal(SignalKind::terminate())?;
    let server = Server::start(Duration::from_millis(20), move |stream, stop| {
        let gate = gate.clone();
        serve(stream, stop, service_fn(move |request| answer(request, gate.clone())))
    })
    .await?;
    let client = evenkeel::spawn(get(server.address(), "/"));
    BLOCKED.acquire().await?.forget();

    // A service manager does the same.
    let kill = format!("kill -s TERM {}", std::process::id());
    assert!(Command::new("sh").args(["-c", &kill]).status()?.success());
    terminate.recv().await;
    let report = server.stop().await;
    client.abort();
    Ok(report)
}

fn main() -> Result<(), Fault> {
    let runtime = Builder::new().workers(2).build()?;
    // Declared after the runtime, so dropped before it: the handler returns where anything fails.
    let (open, gate) = channel();
    let report = runtime.block_on(run(Arc::new(Mutex::new(gate))))?;
    // The server has given its connections their time.
    let (deadline, grace) = (Duration::ZERO, Duration::from_secs(1));
    let left = runtime.shutdown(Shutdown::DeadlineAndGrace { deadline, grace });
    eprint!("{report}; what was left in the runtime:\n{left}");

    assert_eq!((report.completed, report.failed, report.cut), (0, 0, 1));
    assert_eq!(left.stuck.len(), 1, "the handler");
    println!("sigterm: the service has ended beside a handler that blocks; {report}");
    // Not before here does the handler return.
    drop(open);
    Ok(())
}
