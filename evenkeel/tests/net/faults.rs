//! What goes wrong, and what the error says.

use super::common::watchdog::watchdog;
use super::{must_wait, on_workers, pair};
use evenkeel::budget::unconstrained;
use evenkeel::net::{TcpListener, TcpStream, UnixStream, lookup_host};
use evenkeel::time::sleep;
use evenkeel::{Builder, Handle, Runtime, block_on, spawn, yield_now};
use rustix::io::Errno;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use std::future::poll_fn;
use std::io::ErrorKind;
use std::net::Shutdown;
use std::os::fd::AsRawFd;
use std::pin::pin;
use std::process::Command;
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
            let none = none.unwrap_err();
            assert_eq!(none.kind(), ErrorKind::InvalidInput);
            assert!(none.to_string().contains("the list is empty"), "{none}");
            for text in ["no port", "localhost", "127.0.0.1", "localhost:65536", "localhost:"] {
                let refused = TcpStream::connect(text).await.unwrap_err();
                assert_eq!(refused.kind(), ErrorKind::InvalidInput);
                let words = format!("\"{text}\" ends with no port of 0 to 65535: write one");
                assert!(refused.to_string().starts_with(&words), "{refused}");
            }
            assert!(lookup_host("localhost:80").await.unwrap().next().is_some());
        });
    });
}

#[test]
fn a_reset_ends_a_read_that_must_wait() {
    on_workers(|runtime| {
        runtime.block_on(async {
            let (one, other) = pair().await.unwrap();
            let read = spawn(async move { one.read(&mut [0; 8]).await });
            evenkeel::time::sleep(Duration::from_millis(2)).await;
            other.set_zero_linger().unwrap();
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
            must_wait(one.read(&mut [0; 1])).await;
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
    for how in [evenkeel::Shutdown::Abort, evenkeel::Shutdown::Deadline(Duration::from_millis(1))] {
        let runtime = Builder::new().workers(2).build().unwrap();
        let (one, other) = runtime.block_on(pair()).unwrap();
        let waits = runtime.spawn(async move { one.read(&mut [0; 1]).await });
        std::thread::sleep(Duration::from_millis(2));
        runtime.shutdown(how);
        assert!(block_on(waits).unwrap_err().is_cancelled());
        drop(other);
    }
}

#[test]
fn a_deterministic_run_has_no_sockets() {
    let error = evenkeel::deterministic::run(1, async {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        listener.accept().await.unwrap_err()
    });
    assert!(error.to_string().contains("deterministic"), "{error}");
}

#[test]
fn a_deterministic_run_looks_up_no_names() {
    evenkeel::deterministic::run(1, async {
        assert_eq!(lookup_host("127.0.0.1:80").await.unwrap().count(), 1);
        let error = lookup_host("localhost:80").await.unwrap_err();
        assert!(error.to_string().contains("deterministic"), "{error}");
    });
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

/// Runs the test `name` of this program again, in a process of its own.
fn in_a_process_of_its_own(name: &str, test: impl FnOnce()) {
    const CHILD: &str = "EVENKEEL_TEST_CHILD";
    if std::env::var_os(CHILD).is_some() {
        return test();
    }
    let mut command = Command::new(std::env::current_exe().unwrap());
    let output = command.args(["--exact", name]).env(CHILD, "1").output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && said.contains("1 passed"), "{said}");
}

/// Has the process open no more descriptors than those that it has, but for `more`.
fn leave_descriptors(more: u64) {
    let next = std::fs::File::open("/dev/null").unwrap().as_raw_fd() as u64;
    let limit = getrlimit(Resource::Nofile);
    setrlimit(Resource::Nofile, Rlimit { current: Some(next + more), ..limit }).unwrap();
}

#[test]
fn without_descriptors_accept_says_so_and_loses_no_connection() {
    let name = "faults::without_descriptors_accept_says_so_and_loses_no_connection";
    in_a_process_of_its_own(name, || {
        on_workers(|runtime| {
            let former = getrlimit(Resource::Nofile);
            runtime.block_on(async {
                let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
                let address = listener.local_addr().unwrap();
                let clients: Vec<_> =
                    (0..8).map(|_| std::net::TcpStream::connect(address).unwrap()).collect();
                // The listener is in its set from now on.
                let mut accepted = vec![listener.accept().await.unwrap()];
                accepted.push(listener.accept().await.unwrap());
                leave_descriptors(2);
                let mut refusals = 0;
                while accepted.len() < clients.len() {
                    match listener.accept().await {
                        Ok(connection) => accepted.push(connection),
                        Err(error) => {
                            assert_eq!(error.raw_os_error(), Some(Errno::MFILE.raw_os_error()));
                            refusals += 1;
                        }
                    }
                    if refusals == 3 {
                        setrlimit(Resource::Nofile, former).unwrap();
                    }
                }
                assert_eq!(refusals, 3);
                for (client, (server, peer)) in clients.iter().zip(&accepted) {
                    assert_eq!(client.local_addr().unwrap(), *peer);
                    server.write_all(b"!").await.unwrap();
                }
                // By functions too.
                let late = std::net::TcpStream::connect(address).unwrap();
                leave_descriptors(0);
                poll_fn(|cx| listener.poll_accept(cx)).await.unwrap_err();
                let mut cx = Context::from_waker(Waker::noop());
                assert!(
                    listener.poll_accept(&mut cx).is_pending(),
                    "it waits before it tries again"
                );
                setrlimit(Resource::Nofile, former).unwrap();
                let (_server, peer) = poll_fn(|cx| listener.poll_accept(cx)).await.unwrap();
                assert_eq!(peer, late.local_addr().unwrap());
            });
        });
    });
}

/// A worker needs descriptors for its set. Outside of workers, a socket's number says which worker
/// it first waits at: of the two ends of a pair one goes to each.
#[test]
fn without_descriptors_a_socket_waits_at_a_worker_that_has_a_set() {
    let name = "faults::without_descriptors_a_socket_waits_at_a_worker_that_has_a_set";
    in_a_process_of_its_own(name, || {
        let _watchdog = watchdog();
        let runtime = Builder::new().workers(2).build().unwrap();
        let former = getrlimit(Resource::Nofile);
        runtime.block_on(async {
            let (first, _peer) = UnixStream::pair().unwrap();
            let pairs: Vec<_> = (0..4).map(|_| UnixStream::pair().unwrap()).collect();
            leave_descriptors(0);
            let error = first.read(&mut [0]).await.unwrap_err();
            assert_eq!(error.raw_os_error(), Some(Errno::MFILE.raw_os_error()));
            setrlimit(Resource::Nofile, former).unwrap();
            must_wait(first.read(&mut [0])).await;
            leave_descriptors(0);
            for (one, other) in pairs.iter().flat_map(|(one, other)| [(one, other), (other, one)]) {
                let mut byte = [0];
                let mut read = pin!(one.read(&mut byte));
                must_wait(read.as_mut()).await;
                other.write_all(b"x").await.unwrap();
                assert_eq!(read.await.unwrap(), 1);
            }
            setrlimit(Resource::Nofile, former).unwrap();
        });
    });
}

/// Then the system polls not even one descriptor. The worker sleeps among its sockets, and a timer
/// is due soon.
#[test]
fn a_process_that_may_have_no_descriptors_sleeps_until_its_timers_are_due() {
    let name = "faults::a_process_that_may_have_no_descriptors_sleeps_until_its_timers_are_due";
    in_a_process_of_its_own(name, || {
        let _watchdog = watchdog();
        let runtime = Builder::new().workers(1).build().unwrap();
        let former = getrlimit(Resource::Nofile);
        let task = runtime.spawn(async move {
            let (one, other) = UnixStream::pair().unwrap();
            let reader = spawn(async move { one.read(&mut [0]).await });
            yield_now().await;
            setrlimit(Resource::Nofile, Rlimit { current: Some(0), ..former }).unwrap();
            let wake_ups = || Handle::current().metrics().processors[0].wake_ups;
            let before = wake_ups();
            for _ in 0..10 {
                sleep(Duration::from_millis(5)).await;
            }
            let wake_ups = wake_ups() - before;
            other.write_all(b"x").await.unwrap();
            assert_eq!(reader.await.unwrap().unwrap(), 1);
            wake_ups
        });
        let wake_ups = runtime.block_on(task).unwrap();
        assert!(wake_ups <= 100, "{wake_ups} wake-ups for ten timers");
    });
}

/// The first runtime's clock is an hour ahead.
#[test]
fn a_pause_for_want_of_descriptors_ends_with_its_runtime() {
    let name = "faults::a_pause_for_want_of_descriptors_ends_with_its_runtime";
    in_a_process_of_its_own(name, || {
        let _watchdog = watchdog();
        let former = getrlimit(Resource::Nofile);
        let listener = block_on(TcpListener::bind("127.0.0.1:0")).unwrap();
        let pause = || {
            let mut accept = Box::pin(listener.accept());
            let first = Builder::new().workers(1).start_paused(true).build().unwrap();
            first.block_on(async {
                evenkeel::time::advance(Duration::from_secs(3_600)).await;
                leave_descriptors(0);
                poll_fn(|cx| listener.poll_accept(cx)).await.unwrap_err();
                let mut cx = Context::from_waker(Waker::noop());
                assert!(listener.poll_accept(&mut cx).is_pending(), "it pauses");
                assert!(accept.as_mut().poll(&mut cx).is_pending());
                setrlimit(Resource::Nofile, former).unwrap();
            });
            (first, accept)
        };
        let address = listener.local_addr().unwrap();
        let _clients = [(); 5].map(|()| std::net::TcpStream::connect(address).unwrap());
        let second = Builder::new().workers(1).build().unwrap();
        // In a runtime that ends meanwhile.
        let (first, accept) = pause();
        let over = first.handle();
        drop(first);
        over.block_on(poll_fn(|cx| listener.poll_accept(cx))).unwrap();
        over.block_on(accept).unwrap();
        // In another runtime, and in none.
        let _first = pause();
        second.block_on(poll_fn(|cx| listener.poll_accept(cx))).unwrap();
        let _first = pause();
        second.block_on(listener.accept()).unwrap();
        let _first = pause();
        block_on(listener.accept()).unwrap();
    });
}

/// Programs in Rust ignore the signal, as a rule; here it is counted.
#[cfg(feature = "signal")]
#[test]
fn a_write_to_a_closed_connection_is_an_error_and_no_signal() {
    use evenkeel::signal::unix::{SignalKind, signal};

    let name = "faults::a_write_to_a_closed_connection_is_an_error_and_no_signal";
    in_a_process_of_its_own(name, || {
        on_workers(|runtime| {
            let mut broken = signal(SignalKind::pipe()).unwrap();
            runtime.block_on(async {
                let (one, other) = UnixStream::pair().unwrap();
                drop(other);
                assert_eq!(one.try_write(b"x").unwrap_err().kind(), ErrorKind::BrokenPipe);
                assert_eq!(one.write(b"x").await.unwrap_err().kind(), ErrorKind::BrokenPipe);
                // The signal would come to this thread before the write returns.
                assert!(futures::poll!(pin!(unconstrained(broken.recv()))).is_pending());
            });
        });
    });
}
