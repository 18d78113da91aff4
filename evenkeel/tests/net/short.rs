//! Reads that end before all that there is.
#![cfg(target_os = "linux")]

use super::{must_wait, on_workers, pair};
use evenkeel::net::UnixStream;
use evenkeel::time::{Duration, sleep};
use rustix::net::{SendAncillaryBuffer, SendAncillaryMessage, SendFlags, send, sendmsg};
use std::io::IoSlice;
use std::mem::MaybeUninit;
use std::os::fd::AsFd;

/// A read ends with the bytes that came with a descriptor.
#[test]
fn bytes_after_those_with_a_descriptor_are_read() {
    on_workers(|runtime| {
        runtime.block_on(async {
            let (one, other) = UnixStream::pair().unwrap();
            let mut buffer = [0; 64];
            must_wait(one.read(&mut buffer)).await;
            let fds = [other.as_fd()];
            let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
            let mut with = SendAncillaryBuffer::new(&mut space);
            assert!(with.push(SendAncillaryMessage::ScmRights(&fds)));
            let first = [IoSlice::new(b"aft")];
            assert_eq!(sendmsg(&other, &first, &mut with, SendFlags::empty()).unwrap(), 3);
            other.write_all(b"bow").await.unwrap();
            // The set has its note of both.
            sleep(Duration::from_millis(2)).await;
            assert_eq!(one.read(&mut buffer).await.unwrap(), 3);
            assert_eq!(one.read(&mut buffer).await.unwrap(), 3);
            assert_eq!(&buffer[..3], b"bow");
        });
    });
}

/// A read ends before urgent data.
#[test]
fn bytes_after_urgent_ones_are_read() {
    on_workers(|runtime| {
        runtime.block_on(async {
            let (one, other) = pair().await.unwrap();
            let mut buffer = [0; 64];
            must_wait(one.read(&mut buffer)).await;
            other.write_all(b"aft").await.unwrap();
            assert_eq!(send(&other, b"!", SendFlags::OOB).unwrap(), 1);
            other.write_all(b"bow").await.unwrap();
            sleep(Duration::from_millis(2)).await;
            let mut all = Vec::new();
            while all.len() < 6 {
                let n = one.read(&mut buffer).await.unwrap();
                all.extend_from_slice(&buffer[..n]);
            }
            assert_eq!(all, b"aftbow");
        });
    });
}
