//! quinn: QUIC on evenkeel's sockets and timers, by `evenkeel-quinn`, and a graceful stop.

use evenkeel::select;
use evenkeel::task::{CancellationToken, JoinSet};
use evenkeel_examples::{Fault, Report, drain, handshake};
use evenkeel_quinn::QuinnRuntime;
use quinn::{
    ClientConfig, Endpoint, EndpointConfig, Incoming, RecvStream, SendStream, ServerConfig,
};
use std::net::UdpSocket;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tokio_rustls::rustls::RootCertStore;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivatePkcs8KeyDer};

const GRACE: Duration = Duration::from_secs(10);
const CLIENTS: usize = 5;
const STREAMS: usize = 10;
/// The most bytes of a request.
const LIMIT: usize = 1_000_000;

/// Makes a certificate for `localhost`, and the configurations of a server that has it and of a
/// client that trusts it.
fn configure() -> Result<(ServerConfig, ClientConfig), Fault> {
    let made = rcgen::generate_simple_self_signed(["localhost".to_owned()])?;
    let certificate = CertificateDer::from(made.cert);
    let key = PrivatePkcs8KeyDer::from(made.signing_key.serialize_der());
    let mut roots = RootCertStore::empty();
    roots.add(certificate.clone())?;
    let server = ServerConfig::with_single_cert(vec![certificate], key.into())?;
    Ok((server, ClientConfig::with_root_certificates(Arc::new(roots))?))
}

/// Makes an endpoint. quinn's own `Endpoint::client` and `Endpoint::server` are for Tokio.
fn endpoint(server: Option<ServerConfig>) -> std::io::Result<Endpoint> {
    let socket = UdpSocket::bind("127.0.0.1:0")?;
    Endpoint::new(EndpointConfig::default(), server, socket, Arc::new(QuinnRuntime::default()))
}

/// Streams that were answered.
static ANSWERS: AtomicUsize = AtomicUsize::new(0);

/// Returns what a stream brings.
async fn answer(mut send: SendStream, mut receive: RecvStream) -> Result<(), Fault> {
    let request = receive.read_to_end(LIMIT).await?;
    send.write_all(&request).await?;
    send.finish()?;
    // The peer has all of it.
    send.stopped().await?;
    ANSWERS.fetch_add(1, Ordering::Relaxed);
    Ok(())
}

/// Answers each stream of a connection, until the server stops or the peer closes. A stream that
/// fails ends no other.
async fn serve(incoming: Incoming, stop: CancellationToken) -> Result<(), Fault> {
    let connection = handshake(&stop, incoming.into_future()).await?;
    let (mut streams, mut report) = (JoinSet::new(), Report::default());
    // An error is the peer's close.
    loop {
        select! {
            accepted = stop.run_until_cancelled(connection.accept_bi()) => match accepted {
                Some(Ok((send, receive))) => drop(streams.spawn(answer(send, receive))),
                _ => break,
            },
            Some(ended) = streams.join_next() => report.count(ended),
        }
    }
    while let Some(ended) = streams.join_next().await {
        report.count(ended);
    }
    connection.close(0_u32.into(), b"stop");
    report.last_failure.take().map_or(Ok(()), |error| Err(error.into()))
}

/// Accepts connections until the server stops, and gives them time to end.
async fn accept(server: Endpoint, stop: CancellationToken) -> Report {
    let (mut connections, mut report) = (JoinSet::new(), Report::default());
    loop {
        select! {
            accepted = stop.run_until_cancelled(server.accept()) => match accepted {
                Some(Some(incoming)) => drop(connections.spawn(serve(incoming, stop.clone()))),
                _ => break,
            },
            Some(ended) = connections.join_next() => report.count(ended),
        }
    }
    // From here on connections are refused.
    let refusing = evenkeel::spawn(async move {
        while let Some(incoming) = server.accept().await {
            incoming.refuse();
        }
    });
    drain(connections, GRACE, &mut report).await;
    refusing.abort();
    report
}

#[evenkeel::main(workers = 2)]
async fn main() -> Result<(), Fault> {
    let (server_config, client_config) = configure()?;
    let server = endpoint(Some(server_config))?;
    let address = server.local_addr()?;
    let stop = CancellationToken::new();
    let accepting = evenkeel::spawn(accept(server.clone(), stop.clone()));

    let mut client = endpoint(None)?;
    client.set_default_client_config(client_config);
    let mut clients = JoinSet::new();
    for n in 0..CLIENTS {
        let connection = client.connect(address, "localhost")?.await?;
        clients.spawn(async move {
            let mut streams = JoinSet::new();
            for _ in 0..STREAMS {
                let (mut send, mut receive) = connection.open_bi().await?;
                streams.spawn(async move {
                    let sent = vec![n as u8; 20_000];
                    send.write_all(&sent).await?;
                    send.finish()?;
                    assert_eq!(receive.read_to_end(LIMIT).await?, sent);
                    Ok::<_, Fault>(())
                });
            }
            while let Some(stream) = streams.join_next().await {
                stream??;
            }
            Ok::<_, Fault>(connection)
        });
    }
    let mut connections = Vec::new();
    while let Some(connection) = clients.join_next().await {
        connections.push(connection??);
    }
    // A client that does not trust the certificate does not get in, and ends no other connection.
    client.set_default_client_config(configure()?.1);
    assert!(client.connect(address, "localhost")?.await.is_err());

    stop.cancel();
    let report = accepting.await?;
    for connection in connections {
        connection.closed().await;
    }
    server.close(0_u32.into(), b"");
    client.close(0_u32.into(), b"");
    server.wait_idle().await;
    report.assert(1);
    let answers = ANSWERS.load(Ordering::Relaxed);
    assert_eq!(answers, CLIENTS * STREAMS);
    println!("quinn: {answers} streams on {CLIENTS} connections, a stranger was refused; {report}");
    Ok(())
}
