//! rustls: HTTP/1 of hyper over TLS, by `tokio-rustls` on the streams' traits of Tokio.

use evenkeel::net::TcpStream;
use evenkeel::task::JoinSet;
use evenkeel_examples::{Fault, Server, handshake, serve};
use http_body_util::{BodyExt, Full};
use hyper::body::{Bytes, Incoming};
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use std::sync::Arc;
use std::time::Duration;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivatePkcs8KeyDer, ServerName};
use tokio_rustls::rustls::{ClientConfig, RootCertStore, ServerConfig};
use tokio_rustls::{TlsAcceptor, TlsConnector};

/// Makes a certificate for `localhost`, and the configurations of a server that has it and of a
/// client that trusts it.
fn configure() -> Result<(TlsAcceptor, TlsConnector), Fault> {
    let made = rcgen::generate_simple_self_signed(["localhost".to_owned()])?;
    let certificate = CertificateDer::from(made.cert);
    let key = PrivatePkcs8KeyDer::from(made.signing_key.serialize_der());
    let mut roots = RootCertStore::empty();
    roots.add(certificate.clone())?;
    let client = ClientConfig::builder().with_root_certificates(roots).with_no_client_auth();
    let server = ServerConfig::builder()
        .with_no_client_auth()
        .with_single_cert(vec![certificate], key.into())?;
    Ok((TlsAcceptor::from(Arc::new(server)), TlsConnector::from(Arc::new(client))))
}

#[evenkeel::main(workers = 2)]
async fn main() -> Result<(), Fault> {
    let (acceptor, connector) = configure()?;
    let server = Server::start(Duration::from_secs(10), move |stream, stop| {
        let acceptor = acceptor.clone();
        async move {
            let stream = handshake(&stop, acceptor.accept(stream)).await?;
            let echo = service_fn(async |request: Request<Incoming>| {
                let body = request.into_body().collect().await?.to_bytes();
                Ok::<_, hyper::Error>(Response::new(Full::<Bytes>::new(body)))
            });
            // `TlsStream` has the traits of Tokio, and `TokioIo` makes them those of hyper.
            serve(TokioIo::new(stream), stop, echo).await
        }
    })
    .await?;
    let address = server.address();

    let mut clients = JoinSet::new();
    for n in 0..10_u8 {
        let connector = connector.clone();
        clients.spawn(async move {
            let stream = TcpStream::connect(address).await?;
            stream.set_nodelay(true)?;
            let stream = connector.connect(ServerName::try_from("localhost")?, stream).await?;
            let (mut client, connection) =
                hyper::client::conn::http1::handshake(TokioIo::new(stream)).await?;
            drop(evenkeel::spawn(connection));
            for _ in 0..5 {
                let sent = Bytes::from(vec![n; 50_000]);
                let request = Request::post("/").body(Full::new(sent.clone()))?;
                client.ready().await?;
                let answer = client.send_request(request).await?.into_body().collect().await?;
                assert_eq!(answer.to_bytes(), sent);
            }
            Ok::<_, Fault>(5)
        });
    }
    let mut requests = 0;
    while let Some(count) = clients.join_next().await {
        requests += count??;
    }

    // A client that does not trust the certificate does not get in.
    let (_, stranger) = configure()?;
    let stream = TcpStream::connect(address).await?;
    assert!(stranger.connect(ServerName::try_from("localhost")?, stream).await.is_err());

    let report = server.stop().await;
    report.assert(1);
    println!("rustls: {requests} requests over TLS, a stranger was refused; {report}");
    Ok(())
}
