//! A server in a storm of signals, which interrupt what its threads do.
#![cfg(feature = "signal")]

use super::{echo, on_workers};
use evenkeel::net::{TcpListener, TcpStream};
use evenkeel::signal::unix::{SignalKind, signal};
use evenkeel::task::JoinSet;
use evenkeel::time::{Duration, sleep};
use rustix::process::{Signal, getpid, kill_process};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

/// How many signals come at least.
const STORM: usize = 4_000;

fn raise() {
    kill_process(getpid(), Signal::USR1).unwrap();
}

#[test]
fn requests_are_answered_in_a_storm_of_signals() {
    on_workers(|runtime| {
        let mut users = signal(SignalKind::user_defined1()).unwrap();
        let (is_over, raised) = (AtomicBool::new(false), AtomicUsize::new(0));
        thread::scope(|scope| {
            // Two: while one thread of the process handles a signal, another one gets the next.
            for _ in 0..2 {
                scope.spawn(|| {
                    while !is_over.load(Ordering::Acquire) || raised.load(Ordering::Relaxed) < STORM
                    {
                        raise();
                        raised.fetch_add(1, Ordering::Relaxed);
                    }
                });
            }
            runtime.block_on(async {
                let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
                let address = listener.local_addr().unwrap();
                let server = evenkeel::spawn(async move {
                    let mut echoes = JoinSet::new();
                    for _ in 0..8 {
                        echoes.spawn(echo(listener.accept().await.unwrap().0));
                    }
                    echoes.join_all().await
                });
                let mut clients = JoinSet::new();
                for client in 0..8_u8 {
                    clients.spawn(async move {
                        let stream = TcpStream::connect(address).await.unwrap();
                        for round in 0..100_u8 {
                            let sent = [client, round, 1, 2];
                            stream.write_all(&sent).await.unwrap();
                            let mut back = [0; 4];
                            stream.read_exact(&mut back).await.unwrap();
                            assert_eq!(back, sent);
                            if round % 10 == 0 {
                                sleep(Duration::from_millis(1)).await;
                            }
                        }
                    });
                }
                clients.join_all().await;
                for echoed in server.await.unwrap() {
                    assert_eq!(echoed.unwrap(), 400);
                }
                assert_eq!(users.recv().await, Some(()), "the storm is told");
            });
            is_over.store(true, Ordering::Release);
        });
        // All that was sent has come to its handler when a later listener is told.
        let mut last = signal(SignalKind::user_defined1()).unwrap();
        raise();
        assert_eq!(runtime.block_on(last.recv()), Some(()));
        assert_eq!(runtime.block_on(users.recv()), Some(()));
    });
}
