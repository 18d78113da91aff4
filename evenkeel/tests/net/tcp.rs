//! What a connection carries.

use super::{echo, must_wait, on_workers, pair};
use evenkeel::net::{TcpListener, TcpStream, UnixStream};
use evenkeel::time::{Duration, timeout};
use evenkeel::{block_on, budget, spawn, yield_now};
use futures::future::join_all;
use futures::poll;
use std::io::{ErrorKind, IoSlice, IoSliceMut};
use std::net::Shutdown;
use std::pin::pin;
use std::sync::Arc;

#[test]
fn requests_of_many_connections_come_back() {
    on_workers(|runtime| {
        runtime.block_on(async {
            let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
            let address = listener.local_addr().unwrap();
            let server = spawn(async move {
                let mut echoes = Vec::new();
                for _ in 0..100 {
                    let (stream, _) = listener.accept().await.unwrap();
                    echoes.push(spawn(echo(stream)));
                }
                let mut count = 0;
                for echo in echoes {
                    count += echo.await.unwrap().unwrap();
                }
                count
            });
            let client = |me: u8| {
                spawn(async move {
                    let stream = TcpStream::connect(&address).await.unwrap();
                    for round in 0..50 {
                        let request = [me ^ round; 64];
                        stream.write_all(&request).await.unwrap();
                        let mut answer = [0; 64];
                        stream.read_exact(&mut answer).await.unwrap();
                        assert_eq!(answer, request);
                    }
                })
            };
            for client in (0..100).map(client).collect::<Vec<_>>() {
                client.await.unwrap();
            }
            assert_eq!(server.await.unwrap(), 100 * 50 * 64);
        });
    });
}

/// More than the system's buffers hold, in both directions at the same time, over one stream that
/// two tasks share.
#[test]
fn much_goes_both_ways_at_once() {
    const BYTES: usize = 8 << 20;
    on_workers(|runtime| {
        runtime.block_on(async {
            let (one, other) = pair().await.unwrap();
            let send = |stream: Arc<TcpStream>| async move {
                let data: Vec<u8> = (0..BYTES).map(|n| (n % 251) as u8).collect();
                stream.write_all(&data).await.unwrap();
                stream.shutdown(Shutdown::Write).unwrap();
            };
            let receive = |stream: Arc<TcpStream>| async move {
                let mut data = vec![0; 70_000];
                let mut count = 0;
                loop {
                    let n = stream.read(&mut data).await.unwrap();
                    if n == 0 {
                        return count;
                    }
                    assert!(
                        data[..n].iter().enumerate().all(|(i, &b)| b == ((count + i) % 251) as u8)
                    );
                    count += n;
                }
            };
            let ends = [Arc::new(one), Arc::new(other)];
            let senders: Vec<_> = ends.iter().map(|end| spawn(send(end.clone()))).collect();
            let receivers: Vec<_> = ends.iter().map(|end| spawn(receive(end.clone()))).collect();
            for sender in senders {
                sender.await.unwrap();
            }
            for receiver in receivers {
                assert_eq!(receiver.await.unwrap(), BYTES);
            }
        });
    });
}

#[test]
fn bytes_that_come_one_by_one_are_all_read() {
    on_workers(|runtime| {
        runtime.block_on(async {
            let (one, other) = pair().await.unwrap();
            one.set_nodelay(true).unwrap();
            assert!(one.nodelay().unwrap());
            let writer = spawn(async move {
                for byte in 0..200_u8 {
                    one.write_all(&[byte]).await.unwrap();
                    yield_now().await;
                }
            });
            let mut all = Vec::new();
            let mut buffer = [0; 16];
            loop {
                match other.read(&mut buffer).await.unwrap() {
                    0 => break,
                    n => all.extend_from_slice(&buffer[..n]),
                }
            }
            writer.await.unwrap();
            assert_eq!(all, (0..200).collect::<Vec<u8>>());
        });
    });
}

#[test]
fn several_tasks_accept_from_one_listener() {
    on_workers(|runtime| {
        runtime.block_on(async {
            let listener = Arc::new(TcpListener::bind("127.0.0.1:0").await.unwrap());
            let address = listener.local_addr().unwrap();
            let acceptors: Vec<_> = (0..4)
                .map(|_| {
                    let listener = listener.clone();
                    spawn(async move {
                        for _ in 0..25 {
                            let (stream, _) = listener.accept().await.unwrap();
                            drop(spawn(echo(stream)));
                        }
                    })
                })
                .collect();
            join_all((0..100).map(|_| async {
                let stream = TcpStream::connect(address).await.unwrap();
                stream.write_all(b"x").await.unwrap();
                assert_eq!(stream.read_exact(&mut [0]).await.unwrap(), 1);
            }))
            .await;
            for acceptor in acceptors {
                acceptor.await.unwrap();
            }
        });
    });
}

#[test]
fn a_read_that_was_cancelled_loses_nothing() {
    on_workers(|runtime| {
        runtime.block_on(async {
            let (one, other) = pair().await.unwrap();
            let mut buffer = [0; 8];
            for round in 0..20 {
                let read = timeout(Duration::from_millis(1), one.read(&mut buffer));
                assert!(read.await.is_err(), "there is nothing to read");
                other.write_all(&[round]).await.unwrap();
                assert_eq!(one.read(&mut buffer).await.unwrap(), 1);
                assert_eq!(buffer[0], round);
            }
        });
    });
}

#[test]
fn a_peek_takes_nothing_and_vectors_fill_in_turn() {
    on_workers(|runtime| {
        runtime.block_on(async {
            let (one, other) = pair().await.unwrap();
            let parts = [IoSlice::new(b"ab"), IoSlice::new(b"cde")];
            assert_eq!(one.write_vectored(&parts).await.unwrap(), 5);
            let mut buffer = [0; 8];
            assert_eq!(other.peek(&mut buffer).await.unwrap(), 5);
            let (mut first, mut second) = ([0; 4], [0; 4]);
            let mut slices = [IoSliceMut::new(&mut first), IoSliceMut::new(&mut second)];
            assert_eq!(other.read_vectored(&mut slices).await.unwrap(), 5);
            assert_eq!((&first[..], &second[..1]), (&b"abcd"[..], &b"e"[..]));
        });
    });
}

/// Few bytes are copied into one buffer, and more are not: the bytes are the same, also where the
/// socket has no room for all of them.
#[test]
fn vectors_of_any_length_arrive_as_they_are() {
    const LENGTHS: [&[usize]; 6] =
        [&[0, 0], &[0, 7, 0, 1], &[1_000, 24], &[1_000, 25], &[20; 60], &[64 << 10, 3]];
    on_workers(|runtime| {
        runtime.block_on(async {
            let (one, other) = pair().await.unwrap();
            let fill = |length: &usize| (0..*length).map(|n| (n % 251) as u8).collect::<Vec<_>>();
            let mut sent = Vec::new();
            let all = (0..40).flat_map(|_| LENGTHS);
            let writes: Vec<Vec<_>> = all.map(|all| all.iter().map(fill).collect()).collect();
            let write = async {
                for parts in &writes {
                    let slices: Vec<IoSlice<'_>> =
                        parts.iter().map(|part| IoSlice::new(part)).collect();
                    let n = one.write_vectored(&slices).await.unwrap();
                    let all = parts.concat();
                    assert!(n <= all.len() && (n > 0 || all.is_empty()), "{n} of {}", all.len());
                    sent.extend_from_slice(&all[..n]);
                }
                one.shutdown(Shutdown::Write).unwrap();
            };
            let read = async {
                let (mut got, mut buffer) = (Vec::new(), [0; 4_096]);
                loop {
                    let n = other.read(&mut buffer).await.unwrap();
                    if n == 0 {
                        break got;
                    }
                    got.extend_from_slice(&buffer[..n]);
                }
            };
            let ((), got) = futures::join!(write, read);
            assert!(got == sent, "{} bytes of {}", got.len(), sent.len());
        });
    });
}

/// Vectors without bytes are written also where there is no way for any. Others, short and long,
/// are refused there.
#[test]
fn vectors_for_a_direction_that_is_shut_down_are_refused_unless_they_are_empty() {
    fn check(write: impl Fn(&[IoSlice<'_>]) -> std::io::Result<usize>) {
        let (some, much) = ([7; 100], [7; 2_000]);
        let empty = [IoSlice::new(&[]), IoSlice::new(&[])];
        assert_eq!(write(&empty).unwrap(), 0);
        assert_eq!(write(&[]).unwrap(), 0);
        for bytes in [&some[..], &much] {
            let refused = write(&[IoSlice::new(bytes), IoSlice::new(bytes)]).unwrap_err();
            assert_eq!(refused.kind(), ErrorKind::BrokenPipe);
        }
    }
    on_workers(|runtime| {
        runtime.block_on(async {
            let (one, _other) = pair().await.unwrap();
            one.shutdown(Shutdown::Write).unwrap();
            check(|buffers| block_on(one.write_vectored(buffers)));
            check(|buffers| one.try_write_vectored(buffers));
            let (one, _other) = UnixStream::pair().unwrap();
            one.shutdown(Shutdown::Write).unwrap();
            check(|buffers| block_on(one.write_vectored(buffers)));
        });
    });
}

#[test]
fn operations_that_do_not_wait_say_so() {
    on_workers(|runtime| {
        runtime.block_on(async {
            let (one, other) = pair().await.unwrap();
            assert_eq!(one.try_read(&mut [0]).unwrap_err().kind(), ErrorKind::WouldBlock);
            assert_eq!(other.try_write(b"x").unwrap(), 1);
            assert_eq!(one.read(&mut []).await.unwrap(), 0, "a buffer without room");
            assert_eq!(one.read(&mut [0; 4]).await.unwrap(), 1);
            assert_eq!(one.write(&[]).await.unwrap(), 0);
        });
    });
}

#[test]
fn an_operation_that_has_waited_ends_in_a_slice_that_is_used_up() {
    async fn use_up_slice() {
        yield_now().await;
        while poll!(budget::consume()).is_ready() {}
    }

    on_workers(|runtime| {
        let task = async {
            let (one, other) = pair().await.unwrap();
            let (mut byte, mut word) = ([0; 1], [0; 2]);
            {
                let mut read = pin!(one.read(&mut byte));
                must_wait(read.as_mut()).await;
                other.write_all(b"x").await.unwrap();
                one.readable().await.unwrap();
                use_up_slice().await;
                assert!(poll!(read).is_ready());
            }
            let mut reads = pin!(one.read_exact(&mut word));
            must_wait(reads.as_mut()).await;
            other.write_all(b"xy").await.unwrap();
            one.readable().await.unwrap();
            use_up_slice().await;
            assert!(poll!(reads).is_ready());
        };
        runtime.block_on(runtime.spawn(task)).unwrap();
    });
}
