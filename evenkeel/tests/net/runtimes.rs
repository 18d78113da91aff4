//! Sockets between runtimes: of several, of one that ends, and of one that is over.

use super::{must_wait, on_workers, pair};
use evenkeel::net::{TcpListener, TcpStream, UdpSocket, lookup_host};
use evenkeel::{Builder, Runtime, Shutdown, block_on};
use std::io::{Error, Read, Write};
use std::os::fd::AsFd;
use std::sync::Arc;

fn is_over(error: &Error) -> bool {
    error.to_string().contains("is over")
}

/// Has a task of a runtime read a byte, while a task of another one sends it.
fn turn(
    socket: &Arc<TcpStream>,
    reads: &Runtime,
    peer: &Arc<TcpStream>,
    sends: &Runtime,
    byte: u8,
) {
    let (socket, peer) = (socket.clone(), peer.clone());
    let read = reads.spawn(async move {
        let mut read = [0];
        socket.read_exact(&mut read).await.map(|_| read[0])
    });
    let sent = sends.spawn(async move { peer.write_all(&[byte]).await });
    assert_eq!(block_on(read).unwrap().unwrap(), byte);
    block_on(sent).unwrap().unwrap();
}

#[test]
fn a_socket_goes_back_to_the_standard_library_and_on_to_another_runtime() {
    on_workers(|first| {
        let (one, mut other) = first.block_on(async {
            let (one, other) = pair().await.unwrap();
            must_wait(one.read(&mut [0; 1])).await;
            (one.into_std().unwrap(), other.into_std().unwrap())
        });
        other.set_nonblocking(false).unwrap();
        let second = Runtime::new().unwrap();
        let (mut one, mut back) = (TcpStream::try_from(one).unwrap(), [0; 4]);
        for _ in 0..2 {
            other.write_all(b"ping").unwrap();
            one = second.block_on(async {
                one.read_exact(&mut back).await.unwrap();
                one.write_all(&back).await.unwrap();
                one
            });
            other.read_exact(&mut back).unwrap();
            assert_eq!(&back, b"ping");
        }
        let fd = evenkeel::net::AsyncFd::new(one.into_std().unwrap());
        second.block_on(must_wait(fd.readable()));
        drop(second);
        let mut one = fd.into_inner();
        one.set_nonblocking(false).unwrap();
        other.write_all(b"pong").unwrap();
        one.read_exact(&mut back).unwrap();
        assert_eq!(&back, b"pong");
    });
}

#[test]
fn tasks_of_two_runtimes_take_turns_at_a_socket_until_its_own_one_ends() {
    on_workers(|second| {
        let workers = second.metrics().processors.len();
        let first = Builder::new().workers(workers).build().unwrap();
        let (one, other) = first.block_on(async {
            let (one, other) = pair().await.unwrap();
            // Bytes in a row would wait for each other's acknowledgement.
            other.set_nodelay(true).unwrap();
            // It waits here first, so it belongs to this runtime.
            must_wait(one.read(&mut [0; 1])).await;
            (Arc::new(one), Arc::new(other))
        });
        for round in 1..=100 {
            turn(&one, second, &other, &first, round);
            turn(&one, &first, &other, second, round);
            turn(&other, second, &one, second, round);
        }
        // A task of the second runtime waits in the first one when that ends.
        let waits = {
            let one = one.clone();
            second.spawn(async move { one.read(&mut [0; 1]).await })
        };
        second.block_on(evenkeel::time::sleep(evenkeel::time::Duration::from_millis(1)));
        drop(first);
        let error = block_on(waits).unwrap().unwrap_err();
        assert!(is_over(&error), "{error}");
        for error in [
            second.block_on(one.read(&mut [0; 1])).unwrap_err(),
            second.block_on(one.write(b"x")).unwrap_err(),
            second.block_on(one.readable()).unwrap_err(),
            one.try_read(&mut [0; 1]).unwrap_err(),
        ] {
            assert!(is_over(&error), "{error}");
        }
        // The connection is as it was: another socket over it waits in the second runtime.
        let anew = |socket: &TcpStream| {
            let connection = socket.as_fd().try_clone_to_owned().unwrap().into();
            Arc::new(TcpStream::from_std(connection).unwrap())
        };
        let (one, other) = (anew(&one), anew(&other));
        turn(&one, second, &other, second, 7);
        turn(&other, second, &one, second, 8);
    });
}

#[test]
fn a_runtime_that_is_over_and_entered_refuses_waits_and_nothing_else() {
    on_workers(|_| {
        for mode in [Shutdown::Drain, Shutdown::Abort] {
            let runtime = Builder::new().workers(2).build().unwrap();
            let handle = runtime.handle();
            runtime.shutdown(mode);
            let _entered = handle.enter();
            let listener = block_on(TcpListener::bind("127.0.0.1:0")).unwrap();
            let address = listener.local_addr().unwrap();
            let error = block_on(listener.accept()).unwrap_err();
            assert!(is_over(&error), "{error}");
            // What is there already is taken, by a socket that has waited nowhere.
            let listener = block_on(TcpListener::bind("127.0.0.1:0")).unwrap();
            let mut client = std::net::TcpStream::connect(listener.local_addr().unwrap()).unwrap();
            let (stream, _) = block_on(listener.accept()).unwrap();
            client.write_all(b"ahoy").unwrap();
            let mut text = [0; 4];
            loop {
                // Loopback delivers at once or soon; a read that had to wait would be refused.
                match stream.try_read(&mut text) {
                    Ok(n) => break assert_eq!(n, 4),
                    Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => {}
                    Err(error) => panic!("{error}"),
                }
            }
            block_on(stream.write_all(b"ahoy")).unwrap();
            let error = block_on(stream.read(&mut text)).unwrap_err();
            assert!(is_over(&error), "{error}");
            let socket = block_on(UdpSocket::bind("127.0.0.1:0")).unwrap();
            block_on(socket.send_to(b"ahoy", address)).unwrap();
            let error = block_on(socket.recv(&mut text)).unwrap_err();
            assert!(is_over(&error), "{error}");
            // Names are looked up on a blocking thread, and there is none any more.
            assert!(block_on(lookup_host("localhost:1")).is_err());
        }
    });
}
