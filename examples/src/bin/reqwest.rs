//! reqwest: a client on Tokio's sockets, in tasks of evenkeel, by `evenkeel-compat`.

use evenkeel::task::JoinSet;
use evenkeel_compat::CompatExt;
use evenkeel_examples::{Fault, Server, serve};
use http_body_util::{BodyExt, Full};
use hyper::body::{Bytes, Incoming};
use hyper::service::service_fn;
use hyper::{Request, Response, StatusCode};
use serde_json::{Value, json};
use std::future::pending;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

/// Requests that have come and are not answered.
static NEVER: AtomicUsize = AtomicUsize::new(0);

/// Returns what it gets, or nothing, ever.
async fn answer(request: Request<Incoming>) -> Result<Response<Full<Bytes>>, Fault> {
    if request.uri().path() == "/never" {
        NEVER.fetch_add(1, Ordering::Relaxed);
        pending::<()>().await;
    }
    let body = request.into_body().collect().await?.to_bytes();
    Ok(Response::new(Full::new(body)))
}

#[evenkeel::main(workers = 2)]
async fn main() -> Result<(), Fault> {
    let server = Server::start(Duration::from_secs(10), |stream, stop| {
        serve(stream, stop, service_fn(answer))
    })
    .await?;
    let url = format!("http://{}", server.address());
    // A client may be made anywhere; its calls need the context.
    let client = reqwest::Client::builder().no_proxy().build()?;

    let mut tasks = JoinSet::new();
    for n in 0..20 {
        let (client, url) = (client.clone(), url.clone());
        let task = async move {
            let deck = std::thread::current().name().map(str::to_owned);
            assert!(deck.is_some_and(|deck| deck.starts_with("evenkeel-")), "evenkeel polls it");
            for k in 0..5 {
                let sent = json!({ "task": n, "request": k });
                let answer = client.post(format!("{url}/echo")).json(&sent).send().await?;
                assert_eq!(answer.status(), StatusCode::OK);
                assert_eq!(answer.json::<Value>().await?, sent);
            }
            Ok::<_, Fault>(5)
        };
        tasks.spawn(task.compat());
    }
    let mut requests = 0;
    while let Some(count) = tasks.join_next().await {
        requests += count??;
    }

    // Its own limit of time is Tokio's. `send` starts that timer in the call, and not in the first
    // poll, so the call is inside the block that is wrapped.
    let limit = Duration::from_millis(20);
    while NEVER.load(Ordering::Relaxed) == 0 {
        let limited = async { client.get(format!("{url}/never")).timeout(limit).send().await };
        assert!(limited.compat().await.is_err_and(|error| error.is_timeout()));
    }
    // The limit may be evenkeel's: it drops the request, inside the context.
    let request = async { client.get(format!("{url}/never")).send().await };
    assert!(evenkeel::time::timeout(limit, request.compat()).await.is_err());

    let report = server.stop().await;
    // The server noticed that the peer of these requests has left.
    report.assert(NEVER.load(Ordering::Relaxed));
    println!("reqwest: {requests} requests, two more ended by their limits; {report}");
    Ok(())
}
