//! Sockets other than TCP, and waits without an operation.

use super::{must_wait, on_workers, pair};
use evenkeel::net::{AsyncFd, Interest, UdpSocket, UnixDatagram, UnixListener, UnixStream};
use evenkeel::time::{Duration, sleep};
use evenkeel::{block_on, spawn, yield_now};
use futures::poll;
use rustix::net::{RecvFlags, SendFlags, recv, send};
use std::future::poll_fn;
use std::io::{ErrorKind, Read, Result, Write};
use std::os::fd::AsRawFd;
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;

#[test]
fn datagrams_come_whole_and_each_goes_to_one_receiver() {
    on_workers(|runtime| {
        runtime.block_on(async {
            let one = Arc::new(UdpSocket::bind("127.0.0.1:0").await.unwrap());
            let other = UdpSocket::bind("127.0.0.1:0").await.unwrap();
            let to = one.local_addr().unwrap();
            other.connect(to).await.unwrap();
            assert_eq!(other.peer_addr().unwrap(), to);
            let receivers: Vec<_> = (0..3)
                .map(|_| {
                    let one = one.clone();
                    spawn(async move {
                        let mut lengths = Vec::new();
                        for _ in 0..10 {
                            let mut buffer = [0; 64];
                            let (n, from) = one.recv_from(&mut buffer).await.unwrap();
                            one.send_to(&buffer[..n], from).await.unwrap();
                            lengths.push(n);
                        }
                        lengths
                    })
                })
                .collect();
            // One at a time: the system may lose datagrams of which there are many.
            for n in 1..=30 {
                assert_eq!(other.send(&vec![7; n]).await.unwrap(), n);
                assert_eq!(other.recv(&mut [0; 64]).await.unwrap(), n);
            }
            let mut all = Vec::new();
            for receiver in receivers {
                all.extend(receiver.await.unwrap());
            }
            all.sort_unstable();
            assert_eq!(all, (1..=30).collect::<Vec<_>>());
        });
    });
}

#[test]
fn datagrams_are_exchanged_without_waiting_and_by_functions() {
    on_workers(|runtime| {
        runtime.block_on(async {
            let one = UdpSocket::bind("127.0.0.1:0").await.unwrap();
            let other = UdpSocket::bind("127.0.0.1:0").await.unwrap();
            let (here, there) = (one.local_addr().unwrap(), other.local_addr().unwrap());
            one.connect(there).await.unwrap();
            other.connect(here).await.unwrap();
            let mut buffer = [0; 8];
            assert_eq!(one.try_recv(&mut buffer).unwrap_err().kind(), ErrorKind::WouldBlock);
            other.writable().await.unwrap();
            assert_eq!(other.try_send(b"one").unwrap(), 3);
            one.readable().await.unwrap();
            assert_eq!(one.peek(&mut buffer).await.unwrap(), 3);
            assert_eq!(poll_fn(|cx| one.poll_peek(cx, &mut buffer)).await.unwrap(), 3);
            let peeked = poll_fn(|cx| one.poll_peek_from(cx, &mut buffer)).await;
            assert_eq!(peeked.unwrap(), (3, there));
            assert_eq!(one.try_peek(&mut buffer).unwrap(), 3);
            assert_eq!(one.try_peek_from(&mut buffer).unwrap(), (3, there));
            assert_eq!(one.try_peek_from(&mut []).unwrap(), (0, there));
            assert_eq!(one.try_recv_from(&mut buffer).unwrap(), (3, there));
            // One datagram says nothing of the next: a try has to find that there is none.
            assert_eq!(one.try_recv(&mut buffer).unwrap_err().kind(), ErrorKind::WouldBlock);
            assert!(poll_fn(|cx| Poll::Ready(one.poll_recv_ready(cx).is_pending())).await);
            poll_fn(|cx| other.poll_send_ready(cx)).await.unwrap();
            poll_fn(|cx| other.poll_send(cx, b"three")).await.unwrap();
            assert_eq!(poll_fn(|cx| one.poll_recv(cx, &mut buffer)).await.unwrap(), 5);
            assert!(one.take_error().unwrap().is_none());

            let (one, other) = UnixDatagram::pair().unwrap();
            assert!(one.peer_addr().unwrap().is_unnamed());
            assert_eq!(one.try_recv(&mut buffer).unwrap_err().kind(), ErrorKind::WouldBlock);
            assert!(
                poll_fn(|cx| Poll::Ready(one.poll_recv_from(cx, &mut buffer).is_pending())).await
            );
            assert_eq!(other.try_send(b"seven77").unwrap(), 7);
            assert_eq!(poll_fn(|cx| one.poll_recv_from(cx, &mut buffer)).await.unwrap().0, 7);
            let nowhere = other.try_send_to(b"x", "/nowhere/at/all").unwrap_err();
            assert!(matches!(nowhere.kind(), ErrorKind::NotFound | ErrorKind::AlreadyExists));
        });
    });
}

#[test]
fn unix_streams_and_datagrams_go_both_ways() {
    on_workers(|runtime| {
        let name =
            format!("evenkeel-net-{}-{}", std::process::id(), runtime.metrics().processors.len());
        let folder = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&folder).unwrap();
        runtime.block_on(async {
            let path = folder.join("stream");
            assert_eq!(UnixStream::connect(&path).await.unwrap_err().kind(), ErrorKind::NotFound);
            let listener = UnixListener::bind(&path).unwrap();
            assert!(listener.take_error().unwrap().is_none());
            assert_eq!(UnixListener::bind(&path).unwrap_err().kind(), ErrorKind::AddrInUse);
            let server = spawn(async move {
                let (stream, _) = listener.accept().await.unwrap();
                let mut buffer = [0; 4];
                while stream.read_exact(&mut buffer).await.is_ok() {
                    stream.write_all(&buffer).await.unwrap();
                }
            });
            let client = UnixStream::connect(&path).await.unwrap();
            for round in 0..100_u8 {
                client.write_all(&[round; 4]).await.unwrap();
                let mut back = [0; 4];
                client.read_exact(&mut back).await.unwrap();
                assert_eq!(back, [round; 4]);
            }
            drop(client);
            server.await.unwrap();

            let path = folder.join("datagram");
            let one = UnixDatagram::bind(&path).unwrap();
            let other = UnixDatagram::unbound().unwrap();
            let receiver = spawn(async move {
                let mut buffer = [0; 8];
                let (n, from) = one.recv_from(&mut buffer).await.unwrap();
                assert!(from.is_unnamed());
                n
            });
            yield_now().await;
            other.send_to(b"hello", &path).await.unwrap();
            assert_eq!(receiver.await.unwrap(), 5);
        });
        std::fs::remove_dir_all(&folder).unwrap();
    });
}

/// The wait of a reader says nothing about room.
#[test]
fn a_datagram_is_sent_at_once_beside_a_reader_that_has_begun_to_wait() {
    on_workers(|runtime| {
        let sends = runtime.spawn(async {
            let [one, other] = [(); 2].map(|()| UdpSocket::bind("127.0.0.1:0"));
            let (one, other) = (one.await.unwrap(), other.await.unwrap());
            one.connect(other.local_addr().unwrap()).await.unwrap();
            assert_eq!(one.try_send(b"before").unwrap(), 6);
            let mut buffer = [0; 8];
            let mut waits = pin!(one.recv(&mut buffer));
            assert!(poll!(waits.as_mut()).is_pending());
            assert_eq!(one.try_send(b"beside").unwrap(), 6);
        });
        block_on(sends).unwrap();
    });
}

/// While one receiver has no room, there is room at others, and the system tells of no change.
#[test]
fn a_receiver_without_room_holds_no_datagram_to_another_one_back() {
    on_workers(|runtime| {
        let name = format!("evenkeel-room-{}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&folder).unwrap();
        let (to, full) = (folder.join("empty"), folder.join("full"));
        let empty = UnixDatagram::bind(&to).unwrap();
        let _full = UnixDatagram::bind(&full).unwrap();
        let one = UnixDatagram::unbound().unwrap();
        runtime.block_on(async {
            let connected = UnixDatagram::unbound().unwrap();
            connected.connect(&full).unwrap();
            while connected.try_send(b"x").is_ok() {}
            // Both know from now on that there is no room.
            must_wait(connected.send(b"x")).await;
            one.writable().await.unwrap();
            let error = one.try_send_to(b"x", &full).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::WouldBlock);
            for sender in [&one, &connected] {
                assert_eq!(sender.send_to(b"one", &to).await.unwrap(), 3);
                assert_eq!(sender.try_send_to(b"three", &to).unwrap(), 5);
                assert_eq!(empty.recv(&mut [0; 8]).await.unwrap(), 3);
                assert_eq!(empty.recv(&mut [0; 8]).await.unwrap(), 5);
            }
            one.writable().await.unwrap();
        });
        // Outside of any runtime too, but for a wait.
        assert_eq!(block_on(one.send_to(b"four", &to)).unwrap(), 4);
        let error = block_on(one.send_to(b"x", &full)).unwrap_err();
        assert!(error.to_string().contains("no runtime"), "{error}");
        std::fs::remove_dir_all(&folder).unwrap();
    });
}

#[test]
fn a_path_with_a_zero_byte_inside_names_no_other_socket() {
    on_workers(|runtime| {
        let name = format!("evenkeel-zero-{}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&folder).unwrap();
        runtime.block_on(async {
            let _listener = UnixListener::bind(folder.join("one")).unwrap();
            let error = UnixStream::connect(folder.join("one\0other")).await.unwrap_err();
            assert_eq!(error.kind(), ErrorKind::InvalidInput);
        });
        std::fs::remove_dir_all(&folder).unwrap();
    });
}

#[test]
fn a_wait_ends_when_there_is_something_and_waits_again_when_it_is_taken() {
    on_workers(|runtime| {
        runtime.block_on(async {
            let (one, other) = pair().await.unwrap();
            one.writable().await.unwrap();
            let writer = spawn(async move {
                for _ in 0..5 {
                    sleep(Duration::from_millis(1)).await;
                    other.write_all(b"abc").await.unwrap();
                }
            });
            let (mut count, mut waits) = (0, 0);
            loop {
                one.readable().await.unwrap();
                waits += 1;
                match one.try_read(&mut [0; 8]) {
                    Ok(0) => break,
                    Ok(n) => count += n,
                    Err(error) => assert_eq!(error.kind(), ErrorKind::WouldBlock),
                }
            }
            writer.await.unwrap();
            assert_eq!(count, 15);
            assert!(waits < 30, "{waits} waits: they do not wait");
        });
    });
}

/// The system calls are those of a caller, which the socket does not know.
#[test]
fn operations_of_a_caller_wait_and_note_that_they_would_block() {
    macro_rules! check {
        ($one:expr, $other:expr, $send:ident) => {{
            let (one, other) = ($one, $other);
            let mut byte = [0];
            let mut receive = || Ok(recv(&one, &mut byte, RecvFlags::empty())?.0);
            {
                let mut receives = pin!(one.async_io(Interest::READABLE, &mut receive));
                must_wait(receives.as_mut()).await;
                other.$send(b"x").await.unwrap();
                assert_eq!(receives.await.unwrap(), 1);
            }
            other.$send(b"y").await.unwrap();
            one.readable().await.unwrap();
            assert_eq!(one.try_io(Interest::READABLE, &mut receive).unwrap(), 1);
            // What was taken is not noted, and then it is.
            one.readable().await.unwrap();
            let error = one.try_io(Interest::READABLE, &mut receive).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::WouldBlock);
            // The system's word of what was taken may come after that.
            while futures::poll!(pin!(one.readable())).is_ready() {
                let error = one.try_io(Interest::READABLE, &mut receive).unwrap_err();
                assert_eq!(error.kind(), ErrorKind::WouldBlock);
            }
            let is_left = (0..100).any(|_| {
                let mut is_called = false;
                let operation = || {
                    is_called = true;
                    receive()
                };
                let error = one.try_io(Interest::READABLE, operation).unwrap_err();
                assert_eq!(error.kind(), ErrorKind::WouldBlock);
                !is_called
            });
            assert!(is_left, "it is called although the socket is known not to be ready");
            let sent = || Ok(send(&one, b"z", SendFlags::empty())?);
            assert_eq!(one.async_io(Interest::WRITABLE, sent).await.unwrap(), 1);
            assert_eq!(one.try_io(Interest::WRITABLE, sent).unwrap(), 1);
        }};
    }

    on_workers(|runtime| {
        runtime.block_on(async {
            let (one, other) = pair().await.unwrap();
            check!(one, other, write_all);
            let (one, other) = UnixStream::pair().unwrap();
            check!(one, other, write_all);
            let (one, other) = UnixDatagram::pair().unwrap();
            check!(one, other, send);
            let one = UdpSocket::bind("127.0.0.1:0").await.unwrap();
            let other = UdpSocket::bind("127.0.0.1:0").await.unwrap();
            one.connect(other.local_addr().unwrap()).await.unwrap();
            other.connect(one.local_addr().unwrap()).await.unwrap();
            check!(one, other, send);
        });
    });
}

/// Whether an operation may be repeated that a signal has interrupted, its caller knows alone.
#[test]
fn an_interrupted_operation_of_a_caller_is_returned() {
    fn interrupted() -> Result<()> {
        Err(ErrorKind::Interrupted.into())
    }

    fn assert_returned(result: Result<()>) {
        assert_eq!(result.unwrap_err().kind(), ErrorKind::Interrupted);
    }

    on_workers(|runtime| {
        runtime.block_on(async {
            let (fd, mut peer) = std::os::unix::net::UnixStream::pair().unwrap();
            fd.set_nonblocking(true).unwrap();
            let fd = AsyncFd::new(fd);
            let (stream, other) = UnixStream::pair().unwrap();
            // Before they have waited, and after.
            for _ in 0..2 {
                assert_returned(fd.read_with(|_| interrupted()).await);
                assert_returned(fd.write_with(|_| interrupted()).await);
                assert_returned(poll_fn(|cx| fd.poll_read_with(cx, |_| interrupted())).await);
                assert_returned(poll_fn(|cx| fd.poll_write_with(cx, |_| interrupted())).await);
                assert_returned(stream.async_io(Interest::READABLE, interrupted).await);
                assert_returned(stream.async_io(Interest::WRITABLE, interrupted).await);
                peer.write_all(b"x").unwrap();
                other.write_all(b"x").await.unwrap();
                fd.readable().await.unwrap();
                stream.readable().await.unwrap();
            }
        });
    });
}

#[test]
fn other_descriptors_wait_too() {
    on_workers(|runtime| {
        runtime.block_on(async {
            let (one, other) = std::os::unix::net::UnixStream::pair().unwrap();
            one.set_nonblocking(true).unwrap();
            other.set_nonblocking(true).unwrap();
            let (mut one, other) = (AsyncFd::new(one), AsyncFd::new(other));
            assert_eq!(one.get_mut().as_raw_fd(), one.as_raw_fd());
            let would_block = one.try_read_with(|mut fd| fd.read(&mut [0]));
            assert_eq!(would_block.unwrap_err().kind(), ErrorKind::WouldBlock);
            let reader = spawn(async move {
                let mut buffer = [0; 8];
                one.readable().await.unwrap();
                one.read_with(|mut fd| fd.read(&mut buffer)).await.unwrap()
            });
            sleep(Duration::from_millis(1)).await;
            other.write_with(|mut fd| fd.write(b"word")).await.unwrap();
            assert_eq!(reader.await.unwrap(), 4);

            // A file on a disk is always ready, and the system tells nothing of it.
            let file = AsyncFd::new(std::fs::File::open(std::env::current_exe().unwrap()).unwrap());
            let refused = file.readable().await.unwrap_err();
            assert!(refused.to_string().ends_with("which is always ready: use fs"), "{refused}");
            assert_eq!(file.read_with(|mut file| file.read(&mut [0; 4])).await.unwrap(), 4);

            let (fd, _peer) = std::os::unix::net::UnixStream::pair().unwrap();
            fd.set_nonblocking(true).unwrap();
            let (first, second) = (AsyncFd::new(&fd), AsyncFd::new(&fd));
            first.writable().await.unwrap();
            let refused = second.writable().await.unwrap_err();
            assert_eq!(refused.kind(), ErrorKind::AlreadyExists);
            assert!(refused.to_string().ends_with("share that one"), "{refused}");
        });
    });
}

#[test]
fn other_descriptors_are_polled_by_functions() {
    on_workers(|runtime| {
        runtime.block_on(async {
            let (one, other) = std::os::unix::net::UnixStream::pair().unwrap();
            one.set_nonblocking(true).unwrap();
            other.set_nonblocking(true).unwrap();
            let (one, other) = (AsyncFd::new(one), AsyncFd::new(other));
            let reader = spawn(async move {
                let mut all = Vec::new();
                let mut buffer = vec![0; 10_000];
                loop {
                    let read =
                        poll_fn(|cx| one.poll_read_with(cx, |mut fd| fd.read(&mut buffer))).await;
                    match read.unwrap() {
                        0 => return all,
                        n => all.extend_from_slice(&buffer[..n]),
                    }
                }
            });
            sleep(Duration::from_millis(1)).await;
            // More than the system holds, so the writer waits too.
            let sent: Vec<u8> = (0..2_000_000_u32).map(|n| n as u8).collect();
            let mut rest = &sent[..];
            while !rest.is_empty() {
                let write = poll_fn(|cx| other.poll_write_with(cx, |mut fd| fd.write(rest)));
                let n = write.await.unwrap();
                rest = &rest[n..];
            }
            drop(other);
            assert!(reader.await.unwrap() == sent, "all comes, in its order");
        });
    });
}

#[cfg(target_os = "linux")]
#[test]
fn abstract_names_are_bound_and_reached() {
    on_workers(|runtime| {
        runtime.block_on(async {
            // A zero byte inside a name is a part of it.
            let name = |what: &str| format!("\0evenkeel-{}\0{what}", std::process::id());
            let listener = UnixListener::bind(name("stream")).unwrap();
            let client = UnixStream::connect(name("stream")).await.unwrap();
            let (server, _) = listener.accept().await.unwrap();
            client.write_all(b"x").await.unwrap();
            server.read_exact(&mut [0]).await.unwrap();
            let bound = UnixDatagram::bind(name("datagram")).unwrap();
            let sender = UnixDatagram::unbound().unwrap();
            assert_eq!(sender.send_to(b"one", name("datagram")).await.unwrap(), 3);
            assert_eq!(sender.try_send_to(b"two", name("datagram")).unwrap(), 3);
            sender.connect(name("datagram")).unwrap();
            assert_eq!(sender.send(b"three").await.unwrap(), 5);
            for length in [3, 3, 5] {
                assert_eq!(bound.recv(&mut [0; 8]).await.unwrap(), length);
            }
        });
    });
}
