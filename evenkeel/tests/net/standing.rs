//! Sockets beside a clock that stands.

use super::{echo, pair};
use crate::common::watchdog::watchdog;
use evenkeel::Builder;
use evenkeel::net::{TcpStream, UnixDatagram};
use evenkeel::time::{Duration, Instant, advance, interval, timeout};
use std::future::Future;

const SECOND: Duration = Duration::from_secs(1);
const HOUR: Duration = Duration::from_secs(3_600);

/// Runs `test` in runtimes with 1, 2 and 8 workers, the clocks of which stand.
fn paused<F: Future<Output = ()>>(test: impl Fn() -> F) {
    let _watchdog = watchdog();
    for workers in [1, 2, 8] {
        let runtime = Builder::new().workers(workers).start_paused(true).build().unwrap();
        runtime.block_on(test());
    }
}

async fn exchange(stream: &TcpStream, byte: u8) {
    stream.write_all(&[byte]).await.unwrap();
    let mut back = [0];
    stream.read_exact(&mut back).await.unwrap();
    assert_eq!(back[0], byte);
}

#[test]
fn requests_are_answered_and_do_not_move_it() {
    paused(|| async {
        let start = Instant::now();
        let (client, server) = pair().await.unwrap();
        let server = evenkeel::spawn(echo(server));
        for round in 0..=255 {
            exchange(&client, round).await;
        }
        drop(client);
        assert_eq!(server.await.unwrap().unwrap(), 256);
        assert_eq!(start.elapsed(), Duration::ZERO, "no timer was there to move to");
    });
}

/// What a task has written is ready at the other end, and the clock waits for the task there.
#[test]
fn it_does_not_move_past_what_is_ready() {
    let limited = |stream: TcpStream, begins: bool| async move {
        let mut byte = [0];
        if begins {
            stream.write_all(&byte).await.unwrap();
        }
        for _ in 0..200 {
            timeout(HOUR, stream.read_exact(&mut byte)).await.expect("it is on its way").unwrap();
            stream.write_all(&byte).await.unwrap();
        }
        // The other end may have an answer to come.
        stream
    };
    paused(|| async {
        let start = Instant::now();
        for _ in 0..10 {
            let (client, server) = pair().await.unwrap();
            let server = evenkeel::spawn(limited(server, false));
            let client = evenkeel::spawn(limited(client, true));
            let _ends = (server.await.unwrap(), client.await.unwrap());
        }
        assert_eq!(start.elapsed(), Duration::ZERO);
    });
}

/// The clock does not wait for what is not there yet: it moves from deadline to deadline beside
/// requests.
#[test]
fn it_moves_to_deadlines_and_nowhere_else() {
    paused(|| async {
        let (client, server) = pair().await.unwrap();
        let server = evenkeel::spawn(echo(server));
        let start = Instant::now();
        let ticks = evenkeel::spawn(async move {
            let mut hours = interval(HOUR);
            for hour in 0..50 {
                assert_eq!(hours.tick().await, start + HOUR * hour);
                assert_eq!(start.elapsed(), HOUR * hour);
            }
        });
        for round in 0..200 {
            exchange(&client, round).await;
            let since = start.elapsed().as_nanos();
            assert_eq!(since % HOUR.as_nanos(), 0, "it stands at a tick");
        }
        ticks.await.unwrap();
        assert_eq!(start.elapsed(), HOUR * 49);
        drop(client);
        assert_eq!(server.await.unwrap().unwrap(), 200);
    });
}

#[test]
fn a_limit_on_a_read_ends_it_at_its_time_and_loses_nothing() {
    paused(|| async {
        let (client, server) = pair().await.unwrap();
        for round in 0..10 {
            let start = Instant::now();
            let mut byte = [0];
            assert!(timeout(HOUR, server.read_exact(&mut byte)).await.is_err());
            assert_eq!(start.elapsed(), HOUR);
            client.write_all(&[round]).await.unwrap();
            server.read_exact(&mut byte).await.unwrap();
            assert_eq!(byte[0], round);
            advance(HOUR).await;
            assert_eq!(start.elapsed(), 2 * HOUR);
            exchange_by_hand(&client, &server).await;
            assert_eq!(start.elapsed(), 2 * HOUR);
        }
    });
}

async fn exchange_by_hand(one: &TcpStream, other: &TcpStream) {
    let mut byte = [0];
    one.write_all(b"?").await.unwrap();
    other.read_exact(&mut byte).await.unwrap();
    other.write_all(b"!").await.unwrap();
    one.read_exact(&mut byte).await.unwrap();
    assert_eq!(byte, *b"!");
}

/// The system says of such a sender, at once and each time, that it can send.
#[test]
fn a_limit_ends_a_datagram_for_which_the_receiver_has_no_room() {
    let path = std::env::temp_dir().join(format!("evenkeel-full-{}", std::process::id()));
    paused(|| async {
        let (receiver, sender) =
            (UnixDatagram::bind(&path).unwrap(), UnixDatagram::unbound().unwrap());
        while sender.try_send_to(b"full", &path).is_ok() {}
        let start = Instant::now();
        assert!(timeout(SECOND, sender.send_to(b"late", &path)).await.is_err());
        assert_eq!(start.elapsed(), SECOND);
        let mut datagram = [0; 8];
        let (sent, _) =
            futures::join!(sender.send_to(b"next", &path), receiver.recv(&mut datagram));
        assert_eq!(sent.unwrap(), 4);
        std::fs::remove_file(&path).unwrap();
    });
}

/// Workers that sleep among their sockets sleep anew.
#[test]
fn a_clock_that_comes_to_stand_does_not_move_past_what_is_ready() {
    let _watchdog = watchdog();
    for workers in [1, 2, 8] {
        let runtime = Builder::new().workers(workers).build().unwrap();
        runtime.block_on(async {
            let (client, server) = pair().await.unwrap();
            let server = evenkeel::spawn(echo(server));
            for byte in 0..20 {
                evenkeel::time::sleep(Duration::from_millis(1)).await;
                evenkeel::time::pause();
                let start = Instant::now();
                timeout(HOUR, exchange(&client, byte)).await.expect("the answer is on its way");
                assert_eq!(start.elapsed(), Duration::ZERO);
                evenkeel::time::resume();
            }
            drop(client);
            assert_eq!(server.await.unwrap().unwrap(), 20);
        });
    }
}
