//! What goes wrong, and what the error says.

use super::{on_workers, pair};
use evenkeel::net::{TcpListener, TcpStream, lookup_host};
use evenkeel::{Builder, Runtime, block_on, spawn};
use std::io::ErrorKind;
use std::net::Shutdown;
use std::pin::pin;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

#[test]
fn a_port_in_use_and_a_foreign_address_cannot_be_bound() {
    on_workers(|runtime| {
        runtime.block_on(async {
            let first = TcpListener::bind("127.0.0.1:0").await.unwrap();
            let second = TcpListener::bind(first.local_addr().unwrap()).await;
            assert_eq!(second.unwrap_err().kind(), ErrorKind::AddrInUse);
            let foreign = TcpListener::bind("192.0.2.1:0").await;
            assert_eq!(foreign.unwrap_err().kind(), ErrorKind::AddrNotAvailable);
            let address = first.local_addr().unwrap();
            drop(first);
            TcpListener::bind(address).await.unwrap();
        });
    });
}

#[test]
fn a_connection_is_refused_where_nothing_listens() {
    on_workers(|runtime| {
        runtime.block_on(async {
            let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
            let address = listener.local_addr().unwrap();
            drop(listener);
            let refused = TcpStream::connect(address).await;
            assert_eq!(refused.unwrap_err().kind(), ErrorKind::ConnectionRefused);
            let none = TcpStream::connect(&[][..]).await;
            assert_eq!(none.unwrap_err().kind(), ErrorKind::InvalidInput);
            assert!(TcpStream::connect("no port").await.is_err());
            assert!(lookup_host("localhost:80").await.unwrap().next().is_some());
        });
    });
}

#[test]
fn a_reset_ends_a_read_that_waits() {
    on_workers(|runtime| {
        runtime.block_on(async {
            let (one, other) = pair().await.unwrap();
            let read = spawn(async move { one.read(&mut [0; 8]).await });
            evenkeel::time::sleep(Duration::from_millis(2)).await;
            other.set_linger(Some(Duration::ZERO)).unwrap();
            drop(other);
            assert_eq!(read.await.unwrap().unwrap_err().kind(), ErrorKind::ConnectionReset);
        });
    });
}

#[test]
fn a_half_that_is_closed_leaves_the_other_half() {
    on_workers(|runtime| {
        runtime.block_on(async {
            let (one, other) = pair().await.unwrap();
            one.shutdown(Shutdown::Write).unwrap();
            assert_eq!(other.read(&mut [0; 8]).await.unwrap(), 0);
            assert_eq!(other.read(&mut [0; 8]).await.unwrap(), 0, "it stays closed");
            other.write_all(b"still").await.unwrap();
            let mut buffer = [0; 5];
            one.read_exact(&mut buffer).await.unwrap();
            assert_eq!(&buffer, b"still");
            drop(other);
            let end = one.read_exact(&mut buffer).await;
            assert_eq!(end.unwrap_err().kind(), ErrorKind::UnexpectedEof);
        });
    });
}

#[test]
fn without_a_runtime_an_operation_that_waits_fails() {
    let listener = block_on(TcpListener::bind("127.0.0.1:0")).unwrap();
    let accept = pin!(listener.accept());
    let Poll::Ready(accepted) = accept.poll(&mut Context::from_waker(Waker::noop())) else {
        panic!("it has nothing to wait for");
    };
    let error = accepted.unwrap_err();
    assert!(error.to_string().contains("no runtime"), "{error}");
    let error = block_on(TcpStream::connect("localhost:1")).unwrap_err();
    assert!(error.to_string().contains("no runtime"), "{error}");
}

#[test]
fn a_socket_whose_runtime_is_over_says_so() {
    on_workers(|_| {
        let first = Runtime::new().unwrap();
        let (one, other) = first.block_on(async {
            let (one, other) = pair().await.unwrap();
            // It waits, and so belongs to this runtime.
            assert!(futures::poll!(pin!(one.read(&mut [0; 1]))).is_pending());
            (one, other)
        });
        drop(first);
        let second = Builder::new().workers(1).build().unwrap();
        let error = second.block_on(one.read(&mut [0; 1])).unwrap_err();
        assert!(error.to_string().contains("is over"), "{error}");
        // The other end has waited nowhere yet.
        second.block_on(async {
            assert_eq!(other.try_write(b"x").unwrap(), 1);
        });
    });
}

#[test]
fn a_runtime_ends_although_tasks_wait_for_sockets() {
    on_workers(|runtime| {
        let (one, other) = runtime.block_on(pair()).unwrap();
        let waits = runtime.spawn(async move { one.read(&mut [0; 1]).await });
        std::thread::sleep(Duration::from_millis(2));
        waits.abort();
        assert!(block_on(waits).is_err());
        drop(other);
    });
}

#[test]
fn a_deterministic_run_has_no_sockets() {
    let error = evenkeel::deterministic::run(1, async {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        listener.accept().await.unwrap_err()
    });
    assert!(error.to_string().contains("deterministic"), "{error}");
}

/// The clock stands while a task waits for a socket: timers fire in turn all the same.
#[test]
fn a_clock_that_stands_moves_beside_sockets() {
    on_workers(|runtime| {
        runtime.block_on(async {
            let (one, other) = pair().await.unwrap();
            let read = spawn(async move { one.read(&mut [0; 8]).await });
            evenkeel::time::sleep(Duration::from_millis(1)).await;
            evenkeel::time::pause();
            for _ in 0..10 {
                evenkeel::time::sleep(Duration::from_secs(3_600)).await;
            }
            evenkeel::time::resume();
            other.write_all(b"end").await.unwrap();
            assert_eq!(read.await.unwrap().unwrap(), 3);
        });
    });
}
