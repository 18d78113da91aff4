//! hyper, HTTP/2: many requests at the same time on one connection.

use evenkeel::net::{HyperExecutor, HyperTimer, TcpStream};
use evenkeel::task::JoinSet;
use evenkeel_examples::{Fault, Server, handshake};
use http_body_util::{BodyExt, Full};
use hyper::body::{Bytes, Incoming};
use hyper::service::service_fn;
use hyper::{Request, Response, Version};
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Barrier;

/// How many requests are under way at the same time: each waits for all others.
const AT_ONCE: usize = 50;

#[evenkeel::main(workers = 2)]
async fn main() -> Result<(), Fault> {
    let barrier = Arc::new(Barrier::new(AT_ONCE));
    let server = Server::start(Duration::from_secs(10), move |stream, stop| {
        let barrier = barrier.clone();
        let service = service_fn(move |request: Request<Incoming>| {
            let barrier = barrier.clone();
            async move {
                assert_eq!(request.version(), Version::HTTP_2);
                let body = request.into_body().collect().await?.to_bytes();
                barrier.wait().await;
                Ok::<_, hyper::Error>(Response::new(Full::<Bytes>::new(body)))
            }
        });
        async move {
            // hyper itself waits without a limit. A client that says nothing at all is not served.
            handshake(&stop, stream.readable()).await?;
            let mut http = hyper::server::conn::http2::Builder::new(HyperExecutor);
            let mut connection = pin!(http.timer(HyperTimer).serve_connection(stream, service));
            match stop.run_until_cancelled(connection.as_mut()).await {
                Some(ended) => ended?,
                None => {
                    connection.as_mut().graceful_shutdown();
                    connection.await?;
                }
            }
            Ok(())
        }
    })
    .await?;

    let stream = TcpStream::connect(server.address()).await?;
    stream.set_nodelay(true)?;
    let (client, connection) = hyper::client::conn::http2::handshake(HyperExecutor, stream).await?;
    let connection = evenkeel::spawn(connection);
    let mut requests = JoinSet::new();
    for n in 0..4 * AT_ONCE {
        let mut client = client.clone();
        requests.spawn(async move {
            let sent = Bytes::from(vec![n as u8; 10_000]);
            let request = Request::post("http://localhost/echo").body(Full::new(sent.clone()))?;
            let got = client.send_request(request).await?.into_body().collect().await?.to_bytes();
            assert_eq!(got, sent);
            Ok::<_, Fault>(())
        });
    }
    let mut answers = 0;
    while let Some(answer) = requests.join_next().await {
        answer??;
        answers += 1;
    }
    // The client stays until the server has said that it stops: one that went at the same time
    // would leave it with words that cannot be sent.
    let report = server.stop().await;
    drop(client);
    connection.await??;
    report.assert(0);
    println!("hyper_http2: {answers} requests, {AT_ONCE} at the same time; {report}");
    Ok(())
}
