//! quinn: QUIC on evenkeel's sockets and timers, by `evenkeel-quinn`, and a graceful stop.

use evenkeel::task::{CancellationToken, JoinSet};
use evenkeel::time::timeout;
use evenkeel_examples::Fault;
use evenkeel_quinn::QuinnRuntime;
use quinn::{ClientConfig, Connection, Endpoint, EndpointConfig, ServerConfig};
use std::net::UdpSocket;
use std::sync::Arc;
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

/// Returns what each stream brings, until the server stops or the peer closes.
async fn serve(connection: Connection, stop: CancellationToken) -> Result<usize, Fault> {
    let mut streams = JoinSet::new();
    // An error is the peer's close.
    while let Some(Ok((mut send, mut receive))) =
        stop.run_until_cancelled(connection.accept_bi()).await
    {
        streams.spawn(async move {
            let request = receive.read_to_end(LIMIT).await?;
            send.write_all(&request).await?;
            send.finish()?;
            // The peer has all of it.
            send.stopped().await?;
            Ok::<_, Fault>(())
        });
    }
    let mut answers = 0;
    while let Some(answer) = streams.join_next().await {
        answer??;
        answers += 1;
    }
    connection.close(0_u32.into(), b"stop");
    Ok(answers)
}

#[evenkeel::main(workers = 2)]
async fn main() -> Result<(), Fault> {
    let (server_config, client_config) = configure()?;
    let server = endpoint(Some(server_config))?;
    let address = server.local_addr()?;
    let stop = CancellationToken::new();
    let (listening, stopped) = (server.clone(), stop.clone());
    let accepting = evenkeel::spawn(async move {
        let mut connections = JoinSet::new();
        while let Some(Some(incoming)) = stopped.run_until_cancelled(listening.accept()).await {
            let stop = stopped.clone();
            connections.spawn(async move { serve(incoming.await?, stop).await });
        }
        let (mut answers, mut cut) = (0, 0);
        let drained = timeout(GRACE, async {
            while let Some(ended) = connections.join_next().await {
                answers += ended.expect("no connection panics")?;
            }
            Ok::<_, Fault>(())
        });
        if let Ok(ended) = drained.await {
            ended?;
        } else {
            cut = connections.len();
        }
        Ok::<_, Fault>((answers, cut))
    });

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
    stop.cancel();
    let (answers, cut) = accepting.await??;
    for connection in connections {
        connection.closed().await;
    }
    server.close(0_u32.into(), b"");
    client.close(0_u32.into(), b"");
    server.wait_idle().await;
    assert_eq!((answers, cut), (CLIENTS * STREAMS, 0));
    println!("quinn: {answers} streams on {CLIENTS} connections; {cut} connections cut");
    Ok(())
}
