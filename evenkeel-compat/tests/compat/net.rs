//! Tokio's sockets.

use crate::on_workers;
use evenkeel::task::JoinSet;
use evenkeel_compat::CompatExt;
use std::io::Result;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream, UdpSocket};

async fn echo(mut stream: TcpStream) -> Result<()> {
    let (mut reader, mut writer) = stream.split();
    tokio::io::copy(&mut reader, &mut writer).await?;
    writer.shutdown().await
}

#[test]
fn tasks_with_sockets_of_tokio_echo() {
    on_workers(|runtime| {
        let listener = runtime.block_on(TcpListener::bind("127.0.0.1:0").compat()).unwrap();
        let address = listener.local_addr().unwrap();
        let server = runtime.spawn(
            async move {
                let mut connections = JoinSet::new();
                for _ in 0..20 {
                    let (stream, _) = listener.accept().await.unwrap();
                    connections.spawn(echo(stream).compat());
                }
                for ended in connections.join_all().await {
                    ended.unwrap();
                }
            }
            .compat(),
        );
        let clients: Vec<_> = (0..20_u8)
            .map(|n| {
                let client = async move {
                    let mut stream = TcpStream::connect(address).await?;
                    let sent = vec![n; 100_000];
                    let (mut reader, mut writer) = stream.split();
                    let mut got = Vec::new();
                    let write = async {
                        writer.write_all(&sent).await?;
                        writer.shutdown().await
                    };
                    let (written, read) = futures::join!(write, reader.read_to_end(&mut got));
                    written?;
                    read?;
                    Result::Ok(got == sent)
                };
                runtime.spawn(client.compat())
            })
            .collect();
        runtime.block_on(async {
            for client in clients {
                assert!(client.await.unwrap().unwrap(), "all comes back");
            }
            server.await.unwrap();
        });
    });
}

#[test]
fn a_socket_waits_outside_of_the_context_that_it_was_made_in() {
    on_workers(|runtime| {
        runtime.block_on(async {
            let bind = || UdpSocket::bind("127.0.0.1:0").compat();
            let (one, other) = (bind().await.unwrap(), bind().await.unwrap());
            let to = other.local_addr().unwrap();
            let task = evenkeel::spawn(async move {
                let mut buffer = [0; 8];
                let (n, _) = other.recv_from(&mut buffer).await.unwrap();
                buffer[..n].to_vec()
            });
            evenkeel::yield_now().await;
            one.send_to(b"hello", to).await.unwrap();
            assert_eq!(task.await.unwrap(), b"hello");
        });
    });
}

#[test]
fn names_are_looked_up() {
    on_workers(|runtime| {
        let found = async { tokio::net::lookup_host("127.0.0.1:80").await.map(Iterator::count) };
        assert_eq!(runtime.block_on(runtime.spawn(found.compat())).unwrap().unwrap(), 1);
    });
}
