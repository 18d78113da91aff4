//! Streams by the traits of other crates.

/// The same tests by the traits of `futures_io` and of Tokio: what a caller of either crate has in
/// scope is `$crate_io`, and its name for the end of a write half is `$close`.
#[cfg(any(feature = "futures-io", feature = "tokio-io"))]
macro_rules! by_traits {
    ($name:ident, $close:ident, $split:expr, use $($import:tt)*) => {
        mod $name {
            use crate::{on_workers, pair};
            use evenkeel::net::{TcpListener, TcpStream, UnixStream};
            use evenkeel::time::{Duration, sleep, timeout};
            use evenkeel::{spawn, yield_now};
            use std::io::{ErrorKind, IoSlice};
            use std::sync::Arc;
            use $($import)*;

            const BIG: usize = 3 << 20;

            fn payload(seed: usize) -> Vec<u8> {
                (0..BIG).map(|at| (at * 31 / 7 + seed) as u8).collect()
            }

            /// Sends a payload each way at once, through the halves of a split.
            async fn both_ways<S>(one: S, other: S)
            where
                S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
            {
                let halves = [(one, 1), (other, 2)].map(|(stream, seed)| {
                    let (mut reader, mut writer) = $split(stream);
                    let writes = spawn(async move {
                        writer.write_all(&payload(seed)).await.unwrap();
                        writer.flush().await.unwrap();
                        writer.$close().await.unwrap();
                        writer.$close().await.unwrap();
                    });
                    let reads = spawn(async move {
                        let mut all = Vec::new();
                        reader.read_to_end(&mut all).await.unwrap();
                        all
                    });
                    (reads, writes, 3 - seed)
                });
                for (reads, writes, seed) in halves {
                    writes.await.unwrap();
                    assert!(reads.await.unwrap() == payload(seed));
                }
            }

            #[test]
            fn big_payloads_go_both_ways_at_once() {
                on_workers(|runtime| {
                    runtime.block_on(async {
                        let (one, other) = pair().await.unwrap();
                        both_ways(one, other).await;
                        let (one, other) = UnixStream::pair().unwrap();
                        both_ways(one, other).await;
                    });
                });
            }

            /// The halves of the stream itself, lent and owned, without a lock.
            #[test]
            fn halves_read_and_write() {
                async fn answer(
                    mut reader: impl AsyncRead + Unpin,
                    mut writer: impl AsyncWrite + Unpin,
                ) {
                    let mut all = Vec::new();
                    reader.read_to_end(&mut all).await.unwrap();
                    writer.write_all(&all).await.unwrap();
                    writer.$close().await.unwrap();
                }
                on_workers(|runtime| {
                    runtime.block_on(async {
                        for is_owned in [false, true] {
                            let (one, other) = pair().await.unwrap();
                            let answers = spawn(async move {
                                if is_owned {
                                    let (reader, writer) = TcpStream::into_split(one);
                                    answer(reader, writer).await;
                                } else {
                                    let (reader, writer) = TcpStream::split(&one);
                                    answer(reader, writer).await;
                                }
                            });
                            let (front, back) = UnixStream::pair().unwrap();
                            let passes = spawn(async move {
                                if is_owned {
                                    let (reader, writer) = UnixStream::into_split(back);
                                    answer(reader, writer).await;
                                } else {
                                    let (reader, writer) = UnixStream::split(&back);
                                    answer(reader, writer).await;
                                }
                            });
                            let (mut to_tcp, mut to_unix) = (&other, &front);
                            let mut all = Vec::new();
                            AsyncWriteExt::write_all(&mut to_tcp, b"question").await.unwrap();
                            AsyncWriteExt::$close(&mut to_tcp).await.unwrap();
                            AsyncReadExt::read_to_end(&mut to_tcp, &mut all).await.unwrap();
                            AsyncWriteExt::write_all(&mut to_unix, &all).await.unwrap();
                            AsyncWriteExt::$close(&mut to_unix).await.unwrap();
                            all.clear();
                            AsyncReadExt::read_to_end(&mut to_unix, &mut all).await.unwrap();
                            assert_eq!(all, b"question");
                            answers.await.unwrap();
                            passes.await.unwrap();
                        }
                    });
                });
            }

            /// A reader waits through one reference, a writer fills the connection through another:
            /// each is woken by its own direction.
            #[test]
            fn a_reader_and_a_writer_keep_their_own_wakers() {
                on_workers(|runtime| {
                    runtime.block_on(async {
                        let (one, other) = pair().await.unwrap();
                        let one = Arc::new(one);
                        let shared = one.clone();
                        let reader = spawn(async move {
                            let mut word = [0; 4];
                            AsyncReadExt::read_exact(&mut &*shared, &mut word).await.unwrap();
                            word
                        });
                        sleep(Duration::from_millis(1)).await;
                        let shared = one.clone();
                        let writer = spawn(async move {
                            AsyncWriteExt::write_all(&mut &*shared, &payload(0)).await.unwrap();
                        });
                        // Until it waits for room.
                        while one.try_write(&[]).is_ok() && !writer.is_finished() {
                            yield_now().await;
                        }
                        sleep(Duration::from_millis(1)).await;
                        other.write_all(b"word").await.unwrap();
                        assert_eq!(&reader.await.unwrap(), b"word");
                        let mut all = vec![0; BIG];
                        other.read_exact(&mut all).await.unwrap();
                        writer.await.unwrap();
                        assert!(all == payload(0));
                    });
                });
            }

            #[test]
            fn a_read_that_was_cancelled_loses_nothing() {
                on_workers(|runtime| {
                    runtime.block_on(async {
                        let (mut one, other) = pair().await.unwrap();
                        let mut buffer = [0; 8];
                        for round in 0..20 {
                            let read = AsyncReadExt::read(&mut one, &mut buffer);
                            let read = timeout(Duration::from_millis(1), read).await;
                            assert!(read.is_err(), "there is nothing to read");
                            other.write_all(&[round]).await.unwrap();
                            let n = AsyncReadExt::read(&mut one, &mut buffer).await.unwrap();
                            assert_eq!((n, buffer[0]), (1, round));
                        }
                    });
                });
            }

            #[test]
            fn buffers_without_room_and_vectors() {
                on_workers(|runtime| {
                    runtime.block_on(async {
                        let (mut one, mut other) = pair().await.unwrap();
                        assert_eq!(AsyncReadExt::read(&mut one, &mut []).await.unwrap(), 0);
                        assert_eq!(AsyncWriteExt::write(&mut one, &[]).await.unwrap(), 0);
                        let parts = [IoSlice::new(b"ab"), IoSlice::new(b""), IoSlice::new(b"cde")];
                        let n = AsyncWriteExt::write_vectored(&mut one, &parts).await.unwrap();
                        assert_eq!(n, 5);
                        let mut word = [0; 5];
                        AsyncReadExt::read_exact(&mut other, &mut word).await.unwrap();
                        assert_eq!(&word, b"abcde");
                        AsyncWriteExt::$close(&mut one).await.unwrap();
                        assert_eq!(AsyncReadExt::read(&mut other, &mut word).await.unwrap(), 0);
                        let late = AsyncWriteExt::write(&mut one, b"x").await;
                        assert_eq!(late.unwrap_err().kind(), ErrorKind::BrokenPipe);
                        other.write_all(b"still").await.unwrap();
                        AsyncReadExt::read_exact(&mut one, &mut word).await.unwrap();
                        assert_eq!(&word, b"still");
                    });
                });
            }

            #[test]
            fn a_reset_is_told_once_and_the_end_succeeds_after_it() {
                on_workers(|runtime| {
                    runtime.block_on(async {
                        let (mut one, other) = pair().await.unwrap();
                        let read = spawn(async move {
                            let read = AsyncReadExt::read(&mut one, &mut [0; 8]).await;
                            (read, AsyncWriteExt::$close(&mut one).await, one)
                        });
                        sleep(Duration::from_millis(1)).await;
                        other.set_linger(Some(Duration::ZERO)).unwrap();
                        drop(other);
                        let (read, closed, mut one) = read.await.unwrap();
                        assert_eq!(read.unwrap_err().kind(), ErrorKind::ConnectionReset);
                        closed.unwrap();
                        assert_eq!(AsyncReadExt::read(&mut one, &mut [0; 8]).await.unwrap(), 0);
                        let late = AsyncWriteExt::write(&mut one, b"x").await;
                        assert_eq!(late.unwrap_err().kind(), ErrorKind::BrokenPipe);
                    });
                });
            }

            /// The future of the stream's own `read` waits beside the task of the trait.
            #[test]
            fn futures_of_the_stream_wait_beside_a_trait() {
                on_workers(|runtime| {
                    runtime.block_on(async {
                        let (one, other) = pair().await.unwrap();
                        let one = Arc::new(one);
                        let shared = one.clone();
                        let by_trait = spawn(async move {
                            AsyncReadExt::read(&mut &*shared, &mut [0; 1]).await.unwrap()
                        });
                        let by_future = spawn(async move { one.read(&mut [0; 1]).await.unwrap() });
                        sleep(Duration::from_millis(1)).await;
                        other.write_all(b"ab").await.unwrap();
                        assert_eq!(by_trait.await.unwrap() + by_future.await.unwrap(), 2);
                    });
                });
            }

            #[test]
            fn a_generic_echo_serves_many_connections() {
                on_workers(|runtime| {
                    runtime.block_on(async {
                        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
                        let address = listener.local_addr().unwrap();
                        let server = spawn(async move {
                            let mut echoes = Vec::new();
                            for _ in 0..20 {
                                let (stream, _) = listener.accept().await.unwrap();
                                echoes.push(spawn(async move {
                                    let (mut reader, mut writer) = $split(stream);
                                    let mut all = Vec::new();
                                    reader.read_to_end(&mut all).await.unwrap();
                                    writer.write_all(&all).await.unwrap();
                                    writer.$close().await.unwrap();
                                }));
                            }
                            for echo in echoes {
                                echo.await.unwrap();
                            }
                        });
                        let clients = (0..20_u8).map(|me| async move {
                            let mut stream = TcpStream::connect(address).await.unwrap();
                            AsyncWriteExt::write_all(&mut stream, &[me; 999]).await.unwrap();
                            AsyncWriteExt::$close(&mut stream).await.unwrap();
                            let mut back = Vec::new();
                            AsyncReadExt::read_to_end(&mut stream, &mut back).await.unwrap();
                            assert_eq!(back, [me; 999]);
                        });
                        futures::future::join_all(clients).await;
                        server.await.unwrap();
                    });
                });
            }
        }
    };
}

#[cfg(feature = "futures-io")]
by_traits!(futures_io, close, AsyncReadExt::split, use futures::io::{
    AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt,
});

#[cfg(feature = "tokio-io")]
by_traits!(tokio_io, shutdown, tokio::io::split, use tokio::io::{
    AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt,
});

#[cfg(feature = "tokio-io")]
mod buffers_of_tokio {
    use crate::{on_workers, pair};
    use evenkeel::spawn;
    use std::mem::MaybeUninit;
    use std::pin::pin;
    use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, ReadBuf};

    #[test]
    fn what_a_buffer_holds_is_kept_and_its_room_is_filled() {
        on_workers(|runtime| {
            runtime.block_on(async {
                let (mut one, other) = pair().await.unwrap();
                assert!(one.is_write_vectored());
                other.write_all(b"world").await.unwrap();
                let mut memory = [MaybeUninit::uninit(); 8];
                let mut buffer = ReadBuf::uninit(&mut memory);
                buffer.put_slice(b"hello ");
                std::future::poll_fn(|cx| pin!(&one).poll_read(cx, &mut buffer)).await.unwrap();
                assert_eq!(buffer.filled(), b"hello wo");
                let mut rest = Vec::with_capacity(1 << 20);
                assert_eq!(one.read_buf(&mut rest).await.unwrap(), 3);
                assert_eq!(rest, b"rld");
            });
        });
    }

    #[test]
    fn a_proxy_copies_both_ways() {
        on_workers(|runtime| {
            runtime.block_on(async {
                let (client, mut front) = pair().await.unwrap();
                let (mut back, server) = pair().await.unwrap();
                let proxy = spawn(async move {
                    tokio::io::copy_bidirectional(&mut front, &mut back).await.unwrap()
                });
                let serves = spawn(crate::echo(server));
                let client = std::sync::Arc::new(client);
                let shared = client.clone();
                let writes = spawn(async move {
                    shared.write_all(&vec![7; 1 << 20]).await.unwrap();
                    shared.shutdown(std::net::Shutdown::Write).unwrap();
                });
                let mut all = Vec::new();
                AsyncReadExt::read_to_end(&mut &*client, &mut all).await.unwrap();
                assert!(all == vec![7; 1 << 20]);
                writes.await.unwrap();
                assert_eq!(serves.await.unwrap().unwrap(), 1 << 20);
                assert_eq!(proxy.await.unwrap(), (1 << 20, 1 << 20));
            });
        });
    }
}

#[cfg(feature = "hyper")]
mod hyper {
    use crate::on_workers;
    use ::hyper::body::{Body, Incoming};
    use ::hyper::rt::{Executor, Timer};
    use ::hyper::service::service_fn;
    use ::hyper::{Method, Request, Response, client, server};
    use evenkeel::net::{HyperExecutor, HyperTimer, TcpListener, TcpStream, UnixStream};
    use evenkeel::time::{Duration, Instant};
    use std::convert::Infallible;
    use std::future::poll_fn;
    use std::pin::{Pin, pin};

    async fn text(body: Incoming) -> String {
        let mut body = pin!(body);
        let mut all = Vec::new();
        while let Some(frame) = poll_fn(|cx| body.as_mut().poll_frame(cx)).await {
            all.extend_from_slice(&frame.unwrap().into_data().unwrap());
        }
        String::from_utf8(all).unwrap()
    }

    async fn answer(request: Request<Incoming>) -> Result<Response<String>, Infallible> {
        let path = request.uri().path().to_owned();
        Ok(Response::new(format!("{path}:{}", text(request.into_body()).await)))
    }

    async fn serve(stream: impl ::hyper::rt::Read + ::hyper::rt::Write + Unpin + Send + 'static) {
        let mut builder = server::conn::http1::Builder::new();
        builder.timer(HyperTimer).header_read_timeout(Duration::from_secs(60));
        builder.serve_connection(stream, service_fn(answer)).await.unwrap();
    }

    async fn ask(stream: impl ::hyper::rt::Read + ::hyper::rt::Write + Unpin + Send + 'static) {
        let (mut sender, connection) = client::conn::http1::handshake(stream).await.unwrap();
        HyperExecutor.execute(connection);
        for round in 0..20 {
            // From a few bytes to what no socket takes at once.
            let sent = "x".repeat(1 << round);
            sender.ready().await.unwrap();
            let request = Request::builder().method(Method::POST).uri(format!("/{round}"));
            let response = sender.send_request(request.body(sent.clone()).unwrap()).await.unwrap();
            assert_eq!(response.status(), 200);
            assert!(text(response.into_body()).await == format!("/{round}:{sent}"));
        }
    }

    #[test]
    fn a_server_answers_clients_over_tcp_and_unix_streams() {
        on_workers(|runtime| {
            runtime.block_on(async {
                let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
                let address = listener.local_addr().unwrap();
                let server = evenkeel::spawn(async move {
                    loop {
                        let (stream, _) = listener.accept().await.unwrap();
                        HyperExecutor.execute(serve(stream));
                    }
                });
                let clients =
                    (0..4).map(async |_| ask(TcpStream::connect(address).await.unwrap()).await);
                futures::future::join_all(clients).await;
                server.abort();
                let (one, other) = UnixStream::pair().unwrap();
                HyperExecutor.execute(serve(one));
                ask(other).await;
            });
        });
    }

    #[test]
    fn timers_follow_the_clock_and_are_reset_in_place() {
        let runtime = evenkeel::Builder::new().workers(1).start_paused(true).build().unwrap();
        runtime.block_on(async {
            let start = Instant::now();
            let mut sleep = HyperTimer.sleep(Duration::from_secs(10));
            let at: *const () = (&raw const *sleep).cast();
            HyperTimer.reset(&mut sleep, HyperTimer.now() + Duration::from_secs(100));
            assert_eq!(at, (&raw const *sleep).cast());
            sleep.as_mut().await;
            assert_eq!(start.elapsed(), Duration::from_secs(100));
            HyperTimer.sleep_until(HyperTimer.now() + Duration::from_secs(5)).await;
            assert_eq!(start.elapsed(), Duration::from_secs(105));
            let mut foreign: Pin<Box<dyn ::hyper::rt::Sleep>> = Box::pin(Never);
            HyperTimer.reset(&mut foreign, HyperTimer.now() + Duration::from_secs(1));
            foreign.await;
            assert_eq!(start.elapsed(), Duration::from_secs(106));
        });
    }

    /// A sleep of another timer.
    struct Never;

    impl Future for Never {
        type Output = ();

        fn poll(self: Pin<&mut Self>, _: &mut std::task::Context<'_>) -> std::task::Poll<()> {
            std::task::Poll::Pending
        }
    }

    impl ::hyper::rt::Sleep for Never {}
}
