//! Directions that the system calls closed although an operation would block there.

use super::{must_wait, on_workers};
use evenkeel::net::{AsyncFd, UnixDatagram};
use evenkeel::time::{Duration, timeout};
use std::io::{Read, Write};
use std::net::Shutdown;

/// A pipe loses its last writer and gets another one, by its name among the process's descriptors.
#[cfg(target_os = "linux")]
#[test]
fn the_reader_of_a_pipe_waits_for_the_next_writer_after_the_last_one() {
    use std::os::fd::AsRawFd;
    on_workers(|runtime| {
        runtime.block_on(async {
            let (reader, mut writer) = std::io::pipe().unwrap();
            rustix::io::ioctl_fionbio(&reader, true).unwrap();
            let name = format!("/proc/self/fd/{}", reader.as_raw_fd());
            let reader = AsyncFd::new(reader);
            let mut byte = [0];
            let mut read = std::pin::pin!(reader.read_with(|mut pipe| pipe.read(&mut byte)));
            must_wait(read.as_mut()).await;
            writer.write_all(b"a").unwrap();
            assert_eq!(read.await.unwrap(), 1);
            let mut end = std::pin::pin!(reader.read_with(|mut pipe| pipe.read(&mut [0])));
            must_wait(end.as_mut()).await;
            drop(writer);
            assert_eq!(end.await.unwrap(), 0);
            let mut next = std::fs::OpenOptions::new().write(true).open(name).unwrap();
            let mut byte = [0];
            let mut read = std::pin::pin!(reader.read_with(|mut pipe| pipe.read(&mut byte)));
            must_wait(read.as_mut()).await;
            assert!(timeout(Duration::from_millis(2), read.as_mut()).await.is_err());
            next.write_all(b"b").unwrap();
            assert_eq!(read.await.unwrap(), 1);
            drop(next);
            assert_eq!(reader.read_with(|mut pipe| pipe.read(&mut [0])).await.unwrap(), 0);
        });
    });
}

/// Linux lets a receive of datagrams wait though its direction was shut down: others end it.
#[test]
fn a_receive_from_a_direction_that_was_shut_down_lets_its_task_go_on() {
    on_workers(|runtime| {
        runtime.block_on(async {
            let (one, _other) = UnixDatagram::pair().unwrap();
            one.shutdown(Shutdown::Read).unwrap();
            let mut buffer = [0; 8];
            let received = timeout(Duration::from_millis(2), one.recv(&mut buffer)).await;
            assert!(received.is_err() == cfg!(target_os = "linux"), "{received:?}");
        });
    });
}
