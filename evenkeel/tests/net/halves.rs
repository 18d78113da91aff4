//! Halves of streams, and sockets that are set up by hand.

use super::{on_workers, pair};
use evenkeel::net::{TcpSocket, TcpStream, UnixStream, tcp, unix};
use evenkeel::spawn;
use evenkeel::time::{Duration, sleep};
use std::io::ErrorKind;
use std::net::{Ipv4Addr, Shutdown, SocketAddr};
use std::os::fd::AsRawFd;
use std::pin::pin;

const MUCH: usize = 2 << 20;

/// Runs the same test for halves of both kinds of streams.
macro_rules! both_kinds {
    ($one:ident, $other:ident => $test:block) => {
        on_workers(|runtime| {
            runtime.block_on(async {
                let ($one, $other) = pair().await.unwrap();
                $test
                let ($one, $other) = UnixStream::pair().unwrap();
                $test
            });
        });
    };
}

#[test]
fn lent_halves_work_at_once_in_one_task() {
    both_kinds!(one, other => {
        let (reader, writer) = one.split();
        assert_eq!(reader.as_ref().as_raw_fd(), one.as_raw_fd());
        let echo = spawn(async move {
            let mut buffer = vec![0; 4_096];
            loop {
                match other.read(&mut buffer).await.unwrap() {
                    0 => break,
                    n => other.write_all(&buffer[..n]).await.unwrap(),
                }
            }
        });
        let writes = async {
            writer.write_all(&vec![9; MUCH]).await.unwrap();
            writer.shutdown().await.unwrap();
        };
        let mut back = vec![0; MUCH];
        let ((), read) = futures::join!(writes, reader.read_exact(&mut back));
        read.unwrap();
        assert!(back == vec![9; MUCH]);
        assert_eq!(reader.read(&mut back).await.unwrap(), 0);
        echo.await.unwrap();
    });
}

#[test]
fn what_comes_up_to_the_end_is_appended() {
    both_kinds!(one, other => {
        let (reader, writer) = other.into_split();
        let sent: Vec<u8> = (0..MUCH).map(|n| (n % 251) as u8).collect();
        let expected = sent.clone();
        let writes = spawn(async move { writer.write_all(&sent).await });
        let mut got = vec![7];
        for _ in 0..20 {
            // What a future that is dropped has read is there, and nothing else.
            drop(futures::poll!(pin!(one.read_to_end(&mut got))));
            assert!(got[1..] == expected[..got.len() - 1]);
            evenkeel::yield_now().await;
        }
        let before = got.len();
        assert_eq!(one.read_to_end(&mut got).await.unwrap(), 1 + MUCH - before);
        assert!(got[0] == 7 && got[1..] == expected);
        assert_eq!(one.read_to_end(&mut got).await.unwrap(), 0);
        writes.await.unwrap().unwrap();

        let mut text = "weather: ".to_owned();
        one.write_all("blæst".as_bytes()).await.unwrap();
        one.shutdown(Shutdown::Write).unwrap();
        assert_eq!(reader.read_to_string(&mut text).await.unwrap(), 6);
        assert_eq!(reader.read_to_string(&mut text).await.unwrap(), 0);
        assert_eq!(text, "weather: blæst");
    });
}

#[test]
fn what_is_no_text_leaves_the_text_as_it_was() {
    both_kinds!(one, other => {
        let (reader, _) = one.split();
        other.write_all(b"bl\xe6st").await.unwrap();
        drop(other);
        let mut text = "weather: ".to_owned();
        let error = reader.read_to_string(&mut text).await.unwrap_err();
        assert_eq!((error.kind(), &*text), (ErrorKind::InvalidData, "weather: "));
    });
}

#[test]
fn a_write_half_that_is_dropped_ends_its_direction_alone() {
    both_kinds!(one, other => {
        let (reader, writer) = one.into_split();
        let writes = spawn(async move { writer.write_all(b"last").await });
        let mut word = [0; 4];
        other.read_exact(&mut word).await.unwrap();
        assert_eq!(other.read(&mut word).await.unwrap(), 0);
        writes.await.unwrap().unwrap();
        other.write_all(b"back").await.unwrap();
        assert_eq!(reader.read_exact(&mut word).await.unwrap(), word.len());
        assert_eq!(&word, b"back");
        drop(reader);
        let closed = async {
            // The first write after the close may still be taken.
            loop {
                match other.write(b"x").await {
                    Ok(_) => sleep(Duration::from_millis(1)).await,
                    Err(error) => return error.kind(),
                }
            }
        };
        let closed = closed.await;
        assert!(matches!(closed, ErrorKind::BrokenPipe | ErrorKind::ConnectionReset), "{closed}");
    });
}

#[test]
fn a_write_half_that_is_forgotten_leaves_its_direction_open() {
    both_kinds!(one, other => {
        let (reader, writer) = one.into_split();
        writer.forget();
        assert_eq!(other.try_read(&mut [0]).unwrap_err().kind(), ErrorKind::WouldBlock);
        drop(reader);
        assert_eq!(other.read(&mut [0]).await.unwrap(), 0);
    });
}

#[test]
fn a_shutdown_acts_once_it_is_polled() {
    both_kinds!(one, other => {
        let (reader, writer) = one.into_split();
        drop(writer.shutdown());
        let end = writer.shutdown();
        writer.write_all(b"bye").await.unwrap();
        end.await.unwrap();
        let mut word = [0; 3];
        other.read_exact(&mut word).await.unwrap();
        assert_eq!(&word, b"bye");
        assert_eq!(other.read(&mut word).await.unwrap(), 0);

        let one = reader.reunite(writer).unwrap();
        let (_, writer) = other.split();
        drop(writer.shutdown());
        let end = writer.shutdown();
        writer.write_all(b"bye").await.unwrap();
        end.await.unwrap();
        one.read_exact(&mut word).await.unwrap();
        assert_eq!(one.read(&mut word).await.unwrap(), 0);
    });
}

#[test]
fn halves_of_one_stream_are_reunited_and_those_of_two_are_given_back() {
    on_workers(|runtime| {
        runtime.block_on(async {
            let (one, other) = pair().await.unwrap();
            let ((reader, writer), (foreign_reader, foreign_writer)) =
                (one.into_split(), other.into_split());
            let error = reader.reunite(foreign_writer).unwrap_err();
            assert!(error.to_string().contains("two streams"), "{error}");
            let tcp::ReuniteError(reader, foreign_writer) = error;
            let one: TcpStream = writer.reunite(reader).unwrap();
            let other = foreign_reader.reunite(foreign_writer).unwrap();
            // No direction was shut down.
            one.write_all(b"a").await.unwrap();
            other.read_exact(&mut [0]).await.unwrap();
            other.write_all(b"b").await.unwrap();
            one.read_exact(&mut [0]).await.unwrap();

            let (one, other) = UnixStream::pair().unwrap();
            let (reader, writer) = one.into_split();
            let unix::ReuniteError(_, writer) = other.into_split().0.reunite(writer).unwrap_err();
            reader.reunite(writer).unwrap();
        });
    });
}

#[test]
fn a_read_half_waits_while_its_write_half_moves_to_another_task() {
    on_workers(|runtime| {
        runtime.block_on(async {
            let (one, other) = pair().await.unwrap();
            let (reader, writer) = one.into_split();
            let reads = spawn(async move {
                let mut buffer = [0; 4];
                assert_eq!(reader.peek(&mut buffer).await.unwrap(), 4);
                reader.read_exact(&mut buffer).await.unwrap();
                buffer
            });
            sleep(Duration::from_millis(1)).await;
            spawn(async move { writer.write_all(b"ping").await }).await.unwrap().unwrap();
            let mut word = [0; 4];
            other.read_exact(&mut word).await.unwrap();
            other.write_all(&word).await.unwrap();
            assert_eq!(&reads.await.unwrap(), b"ping");
        });
    });
}

#[test]
fn a_socket_keeps_its_options_when_it_connects_and_listens() {
    on_workers(|runtime| {
        runtime.block_on(async {
            let local = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
            let socket = TcpSocket::new_v4().unwrap();
            socket.set_reuseaddr(true).unwrap();
            assert!(socket.reuseaddr().unwrap());
            socket.bind(local).unwrap();
            let address = socket.local_addr().unwrap();
            assert_ne!(address.port(), 0);
            let listener = socket.listen(u32::MAX).unwrap();
            assert_eq!(listener.local_addr().unwrap(), address);

            let socket = TcpSocket::new_v4().unwrap();
            socket.set_nodelay(true).unwrap();
            socket.set_keepalive(true).unwrap();
            socket.set_linger(Some(Duration::from_secs(3))).unwrap();
            socket.set_send_buffer_size(32_768).unwrap();
            socket.set_recv_buffer_size(16_384).unwrap();
            assert!(socket.nodelay().unwrap() && socket.keepalive().unwrap());
            assert_eq!(socket.linger().unwrap(), Some(Duration::from_secs(3)));
            let resets = TcpSocket::new_v4().unwrap();
            resets.set_zero_linger().unwrap();
            assert_eq!(resets.linger().unwrap(), Some(Duration::ZERO));
            let [one, most] = [1, i32::MAX as u64].map(Duration::from_secs);
            for (set, linger) in [(one / 1_000, one), (one, one), (Duration::MAX, most)] {
                resets.set_linger(Some(set)).unwrap();
                assert_eq!(resets.linger().unwrap(), Some(linger));
            }
            assert!(socket.send_buffer_size().unwrap() >= 32_768);
            assert!(socket.recv_buffer_size().unwrap() >= 16_384);
            socket.bind(local).unwrap();
            let mine = socket.local_addr().unwrap();
            let (connected, accepted) = futures::join!(socket.connect(address), listener.accept());
            let (stream, (server, peer)) = (connected.unwrap(), accepted.unwrap());
            assert_eq!((stream.local_addr().unwrap(), peer), (mine, mine));
            assert!(stream.nodelay().unwrap());
            assert_eq!(stream.linger().unwrap(), Some(Duration::from_secs(3)));
            #[cfg(target_os = "linux")]
            for at_once in [false, true] {
                stream.set_quickack(at_once).unwrap();
                assert_eq!(stream.quickack().unwrap(), at_once);
            }
            stream.write_all(b"x").await.unwrap();
            server.read_exact(&mut [0]).await.unwrap();
        });
    });
}

#[test]
fn sockets_share_a_port_if_both_say_so() {
    on_workers(|runtime| {
        runtime.block_on(async {
            let bind = |address| {
                let socket = TcpSocket::new_v4().unwrap();
                socket.set_reuseport(true).unwrap();
                assert!(socket.reuseport().unwrap());
                socket.bind(address).map(|()| socket)
            };
            let first = bind(SocketAddr::from((Ipv4Addr::LOCALHOST, 0))).unwrap();
            let address = first.local_addr().unwrap();
            let second = bind(address).unwrap();
            let alone = TcpSocket::new_v4().unwrap();
            assert_eq!(alone.bind(address).unwrap_err().kind(), ErrorKind::AddrInUse);
            let (first, second) = (first.listen(8).unwrap(), second.listen(8).unwrap());
            let stream = TcpStream::connect(address).await.unwrap();
            let (first, second) = (pin!(first.accept()), pin!(second.accept()));
            let (accepted, _) = futures::future::select(first, second).await.factor_first();
            assert_eq!(accepted.unwrap().1, stream.local_addr().unwrap());
        });
    });
}

#[test]
fn a_socket_that_is_refused_says_so() {
    on_workers(|runtime| {
        runtime.block_on(async {
            let socket = TcpSocket::new_v4().unwrap();
            socket.bind(SocketAddr::from((Ipv4Addr::LOCALHOST, 0))).unwrap();
            // It is bound, and does not listen.
            let address = socket.local_addr().unwrap();
            let refused = TcpSocket::new_v4().unwrap().connect(address).await;
            assert_eq!(refused.unwrap_err().kind(), ErrorKind::ConnectionRefused);
        });
    });
}
