//! QUIC over the loopback device, on 1 and 2 workers.
#![cfg(unix)]

mod watchdog;

use evenkeel::task::JoinSet;
use evenkeel::time::{Duration, sleep};
use evenkeel::{Builder, Runtime};
use evenkeel_quinn::QuinnRuntime;
use quinn::{
    ClientConfig, Connection, ConnectionError, Endpoint, EndpointConfig, Runtime as _,
    ServerConfig, TransportConfig,
};
use rustls::RootCertStore;
use rustls::pki_types::{CertificateDer, PrivatePkcs8KeyDer};
use std::future::poll_fn;
use std::net::{SocketAddr, UdpSocket};
use std::sync::Arc;

/// The most that a test reads from a stream.
const LIMIT: usize = 10_000_000;

fn on_workers(test: impl Fn(&Runtime)) {
    let _watchdog = watchdog::watchdog();
    for workers in [1, 2] {
        test(&Builder::new().workers(workers).build().unwrap());
    }
}

/// Returns a server, and a client that trusts it.
fn endpoints(transport: TransportConfig) -> (Endpoint, Endpoint, SocketAddr) {
    endpoints_with(&QuinnRuntime::default(), transport)
}

fn endpoints_with(
    of_quinn: &QuinnRuntime,
    transport: TransportConfig,
) -> (Endpoint, Endpoint, SocketAddr) {
    let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    let certificate = CertificateDer::from(made.cert);
    let key = PrivatePkcs8KeyDer::from(made.signing_key.serialize_der());
    let transport = Arc::new(transport);
    let mut server = ServerConfig::with_single_cert(vec![certificate.clone()], key.into()).unwrap();
    server.transport_config(transport.clone());
    let mut roots = RootCertStore::empty();
    roots.add(certificate).unwrap();
    let mut client = ClientConfig::with_root_certificates(Arc::new(roots)).unwrap();
    client.transport_config(transport);

    let endpoint = |server| {
        let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
        let of_quinn = Arc::new(of_quinn.clone());
        Endpoint::new(EndpointConfig::default(), server, socket, of_quinn).unwrap()
    };
    let server = endpoint(Some(server));
    let address = server.local_addr().unwrap();
    let mut from = endpoint(None);
    from.set_default_client_config(client);
    (server, from, address)
}

/// Returns the bytes of each stream that the peer opens, and returns when it closes.
async fn echo(connection: Connection) -> usize {
    let mut streams = JoinSet::new();
    let closed = loop {
        match connection.accept_bi().await {
            Ok((mut send, mut receive)) => {
                streams.spawn(async move {
                    let mut buffer = vec![0; 20_000];
                    while let Some(n) = receive.read(&mut buffer).await.unwrap() {
                        send.write_all(&buffer[..n]).await.unwrap();
                    }
                    send.finish().unwrap();
                });
            }
            Err(error) => break error,
        }
    };
    assert!(matches!(closed, ConnectionError::ApplicationClosed(_)), "{closed}");
    streams.join_all().await.len()
}

#[test]
fn streams_carry_bytes_both_ways() {
    on_workers(|runtime| {
        runtime.block_on(async {
            let (server, client, address) = endpoints(TransportConfig::default());
            let accepted = server.clone();
            let serves = evenkeel::spawn(async move {
                let connection = accepted.accept().await.unwrap().await.unwrap();
                echo(connection).await
            });
            let connection = client.connect(address, "localhost").unwrap().await.unwrap();
            let mut streams = JoinSet::new();
            for n in 0..8_u8 {
                let connection = connection.clone();
                streams.spawn(async move {
                    let sent = vec![n; 300_000];
                    let (mut send, mut receive) = connection.open_bi().await.unwrap();
                    let write = async {
                        send.write_all(&sent).await.unwrap();
                        send.finish().unwrap();
                    };
                    let ((), got) = futures::join!(write, receive.read_to_end(LIMIT));
                    assert!(got.unwrap() == sent, "all comes back");
                });
            }
            assert_eq!(streams.join_all().await.len(), 8);
            connection.close(0_u32.into(), b"done");
            assert_eq!(serves.await.unwrap(), 8);
            client.wait_idle().await;
            server.close(0_u32.into(), b"");
            server.wait_idle().await;
        });
    });
}

/// The system tells a connected socket that nothing listens at its peer's port: by an error of a
/// receive, after which the endpoint goes on.
#[test]
fn an_endpoint_outlives_a_datagram_that_is_refused() {
    on_workers(|runtime| {
        runtime.block_on(async {
            let mut transport = TransportConfig::default();
            transport.max_idle_timeout(Some(Duration::from_millis(300).try_into().unwrap()));
            let (_server, client, _) = endpoints(transport);
            let unused = UdpSocket::bind("127.0.0.1:0").unwrap();
            let nowhere = unused.local_addr().unwrap();
            drop(unused);
            let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
            socket.connect(nowhere).unwrap();
            client.rebind(socket).unwrap();
            let refused = client.connect(nowhere, "localhost").unwrap().await.unwrap_err();
            assert_eq!(refused, ConnectionError::TimedOut);
            client.connect(nowhere, "localhost").expect("the endpoint has not ended");
        });
    });
}

#[test]
fn a_server_opens_streams_and_sends_datagrams() {
    on_workers(|runtime| {
        runtime.block_on(async {
            let (server, client, address) = endpoints(TransportConfig::default());
            let accepted = server.clone();
            let serves = evenkeel::spawn(async move {
                let connection = accepted.accept().await.unwrap().await.unwrap();
                let mut send = connection.open_uni().await.unwrap();
                send.write_all(&[7; 100_000]).await.unwrap();
                send.finish().unwrap();
                assert_eq!(connection.read_datagram().await.unwrap(), "ping");
                connection.send_datagram("pong".into()).unwrap();
                connection.closed().await
            });
            let connection = client.connect(address, "localhost").unwrap().await.unwrap();
            let mut receive = connection.accept_uni().await.unwrap();
            assert!(receive.read_to_end(LIMIT).await.unwrap() == [7; 100_000]);
            connection.send_datagram("ping".into()).unwrap();
            assert_eq!(connection.read_datagram().await.unwrap(), "pong");
            connection.close(3_u32.into(), b"done");
            match serves.await.unwrap() {
                ConnectionError::ApplicationClosed(close) => assert_eq!(close.reason, "done"),
                other => panic!("{other}"),
            }
        });
    });
}

#[test]
fn many_connections_share_a_socket() {
    on_workers(|runtime| {
        runtime.block_on(async {
            let (server, client, address) = endpoints(TransportConfig::default());
            let accepted = server.clone();
            let serves = evenkeel::spawn(async move {
                let mut connections = JoinSet::new();
                for _ in 0..10 {
                    let incoming = accepted.accept().await.unwrap();
                    connections.spawn(async move { echo(incoming.await.unwrap()).await });
                }
                connections.join_all().await.into_iter().sum::<usize>()
            });
            let mut clients = JoinSet::new();
            for n in 0..10_u8 {
                let client = client.clone();
                clients.spawn(async move {
                    let connection = client.connect(address, "localhost").unwrap().await.unwrap();
                    for _ in 0..3 {
                        let (mut send, mut receive) = connection.open_bi().await.unwrap();
                        send.write_all(&[n; 1_000]).await.unwrap();
                        send.finish().unwrap();
                        assert!(receive.read_to_end(LIMIT).await.unwrap() == [n; 1_000]);
                    }
                    connection.close(0_u32.into(), b"done");
                });
            }
            clients.join_all().await;
            assert_eq!(serves.await.unwrap(), 30);
        });
    });
}

#[test]
fn a_peer_that_never_answers_is_given_up_by_a_timer() {
    on_workers(|runtime| {
        runtime.block_on(async {
            let silent = UdpSocket::bind("127.0.0.1:0").unwrap();
            let mut transport = TransportConfig::default();
            // Nothing is given up before three answers are overdue by what is known of the way.
            transport.initial_rtt(Duration::from_millis(1));
            transport.max_idle_timeout(Some(Duration::from_millis(50).try_into().unwrap()));
            let (_server, client, _) = endpoints(transport);
            let connecting = client.connect(silent.local_addr().unwrap(), "localhost").unwrap();
            assert_eq!(connecting.await.unwrap_err(), ConnectionError::TimedOut);
        });
    });
}

#[test]
fn a_thread_without_a_runtime_connects_by_a_handle() {
    on_workers(|runtime| {
        let of_quinn = QuinnRuntime::new(&runtime.handle());
        let (server, client, address) =
            runtime.block_on(async { endpoints_with(&of_quinn, TransportConfig::default()) });
        let connecting = std::thread::spawn({
            let client = client.clone();
            move || client.connect(address, "localhost").unwrap()
        });
        let connecting = connecting.join().unwrap();
        runtime.block_on(async {
            let accepted = evenkeel::spawn(async move {
                let connection = server.accept().await.unwrap().await.unwrap();
                connection.closed().await
            });
            connecting.await.unwrap().close(0_u32.into(), b"done");
            assert!(matches!(accepted.await.unwrap(), ConnectionError::ApplicationClosed(_)));
            client.wait_idle().await;
        });
    });
}

#[test]
fn any_number_of_tasks_wait_for_room_again_and_again() {
    on_workers(|runtime| {
        runtime.block_on(async {
            let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
            let socket = QuinnRuntime::default().wrap_udp_socket(socket).unwrap();
            assert!(format!("{socket:?}").contains("Socket"));
            let mut waits = JoinSet::new();
            for _ in 0..20 {
                let mut poller = socket.clone().create_io_poller();
                waits.spawn(async move {
                    for _ in 0..20 {
                        poll_fn(|cx| poller.as_mut().poll_writable(cx)).await.unwrap();
                        evenkeel::yield_now().await;
                    }
                });
            }
            assert_eq!(waits.join_all().await.len(), 20);
        });
    });
}

#[test]
fn a_runtime_ends_with_endpoints_alive() {
    let _watchdog = watchdog::watchdog();
    for workers in [1, 2] {
        let runtime = Builder::new().workers(workers).build().unwrap();
        let kept = runtime.block_on(async {
            let (server, client, address) = endpoints(TransportConfig::default());
            let accepted = server.clone();
            drop(evenkeel::spawn(async move {
                let connection = accepted.accept().await.unwrap().await.unwrap();
                echo(connection).await
            }));
            let connection = client.connect(address, "localhost").unwrap().await.unwrap();
            let (mut send, receive) = connection.open_bi().await.unwrap();
            send.write_all(&[1; 1_000]).await.unwrap();
            sleep(Duration::from_millis(1)).await;
            (server, client, connection, send, receive)
        });
        drop(runtime);
        drop(kept);
    }
}
