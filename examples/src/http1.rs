//! HTTP/1 of hyper on streams of evenkeel, or on what wraps them.

use crate::Fault;
use evenkeel::net::{HyperExecutor, HyperTimer, TcpStream};
use evenkeel::task::CancellationToken;
use http_body_util::{BodyExt, Empty};
use hyper::body::{Body, Bytes, Incoming};
use hyper::rt::{Executor, Read, Write};
use hyper::service::Service;
use hyper::{Request, Response, StatusCode};
use std::net::SocketAddr;
use std::pin::pin;

/// Serves the requests of a connection. When the server stops, the connection ends after the
/// request that is under way, and at once if there is none.
pub async fn serve<I, S, B>(stream: I, stop: CancellationToken, service: S) -> Result<(), Fault>
where
    I: Read + Write + Unpin,
    S: Service<Request<Incoming>, Response = Response<B>, Error: Into<Fault>>,
    B: Body<Error: Into<Fault>> + 'static,
{
    let mut http = hyper::server::conn::http1::Builder::new();
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

/// Makes a request on a connection of its own, and returns the answer.
pub async fn get(server: SocketAddr, path: &str) -> Result<(StatusCode, String), Fault> {
    let stream = TcpStream::connect(server).await?;
    let (mut client, connection) = hyper::client::conn::http1::handshake(stream).await?;
    HyperExecutor.execute(async { drop(connection.await) });
    let request = Request::get(path).header("host", "localhost").body(Empty::<Bytes>::new())?;
    let answer = client.send_request(request).await?;
    let status = answer.status();
    let body = answer.into_body().collect().await?.to_bytes();
    Ok((status, String::from_utf8(body.to_vec())?))
}
