//! Buffers without room or bytes: reads where there is nothing to read, and several in front of
//! others.

use super::{must_wait, on_workers, pair};
use evenkeel::net::UnixStream;
use std::future::poll_fn;
use std::io::{ErrorKind, IoSlice, IoSliceMut};

/// Polls each way to read once: none waits.
macro_rules! reads_nothing {
    ($stream:expr) => {{
        let stream = $stream;
        assert_eq!(poll_once(stream.read(&mut [])), 0);
        assert_eq!(poll_once(poll_fn(|cx| stream.poll_read(cx, &mut []))), 0);
        assert_eq!(stream.try_read(&mut []).unwrap(), 0);
        let (mut one, mut other) = ([], []);
        let mut both = [IoSliceMut::new(&mut one), IoSliceMut::new(&mut other)];
        for buffers in [&mut [][..], &mut both[..]] {
            assert_eq!(poll_once(stream.read_vectored(buffers)), 0);
            assert_eq!(poll_once(poll_fn(|cx| stream.poll_read_vectored(cx, buffers))), 0);
            assert_eq!(stream.try_read_vectored(buffers).unwrap(), 0);
        }
        assert_eq!(poll_once(stream.read_exact(&mut [])), 0);
    }};
}

fn poll_once(read: impl Future<Output = std::io::Result<usize>>) -> usize {
    futures::FutureExt::now_or_never(read).expect("it does not wait").unwrap()
}

#[test]
fn a_read_into_a_buffer_without_room_returns_at_once() {
    on_workers(|runtime| {
        runtime.block_on(async {
            let (tcp, _peer) = pair().await.unwrap();
            let (unix, other) = UnixStream::pair().unwrap();
            // The sockets have waited nowhere yet.
            reads_nothing!(&tcp);
            reads_nothing!(&unix);
            assert_eq!(poll_once(tcp.peek(&mut [])), 0);
            must_wait(tcp.read(&mut [0])).await;
            must_wait(unix.read(&mut [0])).await;
            reads_nothing!(&tcp);
            reads_nothing!(&unix);
            assert_eq!(poll_once(tcp.peek(&mut [])), 0);
            assert_eq!(poll_once(poll_fn(|cx| tcp.poll_peek(cx, &mut []))), 0);
            other.write_all(b"x").await.unwrap();
            reads_nothing!(&unix);
            let (reader, _writer) = unix.into_split();
            reads_nothing!(&reader);
            assert_eq!(reader.read(&mut [0; 2]).await.unwrap(), 1, "nothing was taken");
        });
    });
}

/// More of them than a system call takes.
#[test]
fn buffers_without_room_or_bytes_hide_none_behind_them() {
    const EMPTY: usize = 2_000;
    on_workers(|runtime| {
        runtime.block_on(async {
            let (one, other) = UnixStream::pair().unwrap();
            let mut room = [0; 4];
            let mut buffers: Vec<_> = (0..EMPTY).map(|_| IoSliceMut::new(&mut [])).collect();
            buffers.push(IoSliceMut::new(&mut room));
            must_wait(one.read_vectored(&mut buffers)).await;
            must_wait(poll_fn(|cx| one.poll_read_vectored(cx, &mut buffers))).await;
            let error = one.try_read_vectored(&mut buffers).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::WouldBlock);

            let mut parts = [IoSlice::new(&[]); EMPTY + 1];
            parts[EMPTY] = IoSlice::new(b"x");
            assert_eq!(other.write_vectored(&parts).await.unwrap(), 1);
            assert_eq!(one.read_vectored(&mut buffers).await.unwrap(), 1);
            assert_eq!(poll_fn(|cx| other.poll_write_vectored(cx, &parts)).await.unwrap(), 1);
            assert_eq!(poll_fn(|cx| one.poll_read_vectored(cx, &mut buffers)).await.unwrap(), 1);
            assert_eq!(other.try_write_vectored(&parts).unwrap(), 1);
            assert_eq!(one.try_read_vectored(&mut buffers).unwrap(), 1);
            assert_eq!(room[0], b'x');
        });
    });
}
