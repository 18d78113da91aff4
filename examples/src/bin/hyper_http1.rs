//! hyper, HTTP/1: a server and a client, and a stop while requests are under way.

use evenkeel::net::{HyperExecutor, TcpStream};
use evenkeel::sync::Semaphore;
use evenkeel::task::{CancellationToken, JoinSet};
use evenkeel_examples::{Fault, Server, get, serve};
use http_body_util::{BodyExt, Full};
use hyper::body::{Bytes, Incoming};
use hyper::rt::Executor;
use hyper::service::service_fn;
use hyper::{Request, Response, StatusCode};
use std::future::pending;
use std::time::Duration;

type Answer = Response<Full<Bytes>>;

/// Has a permit for each request that has reached the server.
static BEGUN: Semaphore = Semaphore::new(0);

/// Answers a request.
async fn answer(request: Request<Incoming>, stop: CancellationToken) -> Result<Answer, Fault> {
    let text = match request.uri().path() {
        "/length" => request.into_body().collect().await?.to_bytes().len().to_string(),
        // An answer that takes longer than the server lasts.
        "/slow" => {
            stop.cancelled().await;
            "at last".to_owned()
        }
        "/stuck" => pending().await,
        path => match path.strip_prefix("/square/").and_then(|n| n.parse::<u64>().ok()) {
            Some(n) => (n * n).to_string(),
            None => {
                let missing = Response::builder().status(StatusCode::NOT_FOUND);
                return Ok(missing.body(Full::default())?);
            }
        },
    };
    Ok(Response::new(text.into()))
}

/// Makes requests one after the other on one connection.
async fn client(server: std::net::SocketAddr, first: u64) -> Result<u64, Fault> {
    let stream = TcpStream::connect(server).await?;
    stream.set_nodelay(true)?;
    let (mut client, connection) = hyper::client::conn::http1::handshake(stream).await?;
    HyperExecutor.execute(async { drop(connection.await) });
    for n in first..first + 20 {
        let request = Request::get(format!("/square/{n}")).body(Full::default())?;
        client.ready().await?;
        let answer = client.send_request(request).await?.into_body().collect().await?;
        assert_eq!(answer.to_bytes(), (n * n).to_string());
    }
    let body: Full<Bytes> = vec![b'x'; 300_000].into();
    client.ready().await?;
    let answer = client.send_request(Request::post("/length").body(body)?).await?;
    assert_eq!(answer.into_body().collect().await?.to_bytes(), "300000");
    Ok(21)
}

#[evenkeel::main(workers = 2)]
async fn main() -> Result<(), Fault> {
    let server = Server::start(Duration::from_secs(1), move |stream, stop| {
        let told = stop.clone();
        let service = service_fn(move |request: Request<Incoming>| {
            BEGUN.add_permits(1);
            answer(request, told.clone())
        });
        serve(stream, stop, service)
    })
    .await?;
    let address = server.address();

    let mut clients = JoinSet::new();
    for n in 0..10 {
        clients.spawn(client(address, n * 1_000));
    }
    let mut requests = 0;
    while let Some(count) = clients.join_next().await {
        requests += count??;
    }
    assert_eq!(get(address, "/nowhere").await?.0, StatusCode::NOT_FOUND);
    requests += 1;

    // Three connections at the stop: one that is idle, one with a request that ends, one stuck.
    let stream = TcpStream::connect(address).await?;
    let (mut client, idle) = hyper::client::conn::http1::handshake(stream).await?;
    let idle = evenkeel::spawn(idle);
    client.send_request(Request::get("/square/2").body(Full::<Bytes>::default())?).await?;
    let slow = evenkeel::spawn(get(address, "/slow"));
    let stuck = evenkeel::spawn(get(address, "/stuck"));
    requests += 3;
    for _ in 0..requests {
        BEGUN.acquire().await.forget();
    }
    let report = server.stop().await;
    assert_eq!(slow.await??, (StatusCode::OK, "at last".to_owned()));
    assert!(stuck.await?.is_err(), "the stuck request is cut");
    idle.await??;
    assert!(client.is_closed(), "the idle connection is closed");
    assert_eq!((report.failed, report.cut), (0, 1), "{:?}", report.last_failure);
    println!("hyper_http1: {requests} requests, two of them under way at the stop; {report}");
    Ok(())
}
