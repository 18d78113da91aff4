//! tokio-tungstenite: an echo over websockets, and a server that closes them when it stops.

use evenkeel::net::TcpStream;
use evenkeel::task::{CancellationToken, JoinSet};
use evenkeel::time::timeout;
use evenkeel_examples::{Fault, Server, handshake};
use futures_util::{SinkExt, StreamExt};
use std::time::Duration;
use tokio::sync::Barrier;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::protocol::CloseFrame;
use tokio_tungstenite::tungstenite::protocol::frame::coding::CloseCode;
use tokio_tungstenite::{accept_async, client_async};

const CLIENTS: usize = 10;
const MESSAGES: usize = 50;

/// Returns each message to its sender. When the server stops, it says so and waits for the answer.
async fn echo(stream: TcpStream, stop: CancellationToken) -> Result<(), Fault> {
    let mut socket = handshake(&stop, accept_async(stream)).await?;
    loop {
        match stop.run_until_cancelled(socket.next()).await {
            Some(Some(message)) => match message? {
                message @ (Message::Text(_) | Message::Binary(_)) => socket.send(message).await?,
                // The peer closes. The answer to it goes out as the socket is read on.
                Message::Close(_) => break,
                _ => {}
            },
            Some(None) => return Ok(()),
            None => {
                let frame = CloseFrame { code: CloseCode::Away, reason: "stop".into() };
                socket.close(Some(frame)).await?;
                break;
            }
        }
    }
    while let Some(message) = socket.next().await {
        message?;
    }
    Ok(())
}

#[evenkeel::main(workers = 2)]
async fn main() -> Result<(), Fault> {
    let server = Server::start(Duration::from_secs(10), echo).await?;
    let address = server.address();
    let echoed: &'static Barrier = Box::leak(Box::new(Barrier::new(CLIENTS + 1)));

    let mut clients = JoinSet::new();
    for n in 0..CLIENTS {
        clients.spawn(async move {
            let stream = TcpStream::connect(address).await?;
            stream.set_nodelay(true)?;
            let (mut socket, _) = client_async(format!("ws://{address}/echo"), stream).await?;
            for k in 0..MESSAGES {
                let message = match k % 2 {
                    0 => Message::text(format!("{n} says {k}")),
                    _ => Message::binary(vec![n as u8; 20_000]),
                };
                socket.send(message.clone()).await?;
                assert_eq!(socket.next().await.ok_or("the server left")??, message);
            }
            echoed.wait().await;
            // The server closes.
            match socket.next().await.ok_or("the server left")?? {
                Message::Close(Some(frame)) => assert_eq!(frame.code, CloseCode::Away),
                other => return Err(format!("not a close: {other}").into()),
            }
            assert!(socket.next().await.is_none_or(|end| end.is_err()));
            Ok::<_, Fault>(())
        });
    }
    // The error of a client that did not get there is returned below.
    let _ = timeout(Duration::from_secs(20), echoed.wait()).await;
    let report = server.stop().await;
    while let Some(client) = clients.join_next().await {
        client??;
    }
    report.assert(0);
    println!("websocket: {} messages came back; {report}", CLIENTS * MESSAGES);
    Ok(())
}
