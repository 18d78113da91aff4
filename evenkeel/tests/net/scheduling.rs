//! When workers look at sockets, their own and those of a worker that does not come to them.

use super::{on_workers, pair};
use evenkeel::metrics::Delays;
use evenkeel::net::{TcpListener, TcpStream};
use evenkeel::task::park;
use evenkeel::{Builder, block_on, spawn, yield_now};
use std::io::{Read, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::task::{Context, Wake, Waker};
use std::thread;
use std::time::Duration;

/// A thread outside of the runtime and tasks inside take turns.
#[test]
fn threads_outside_and_tasks_take_turns() {
    on_workers(|runtime| {
        let (one, other) = runtime.block_on(pair()).unwrap();
        let echo = runtime.spawn(super::echo(one));
        runtime.block_on(async {
            for round in 0..200_u8 {
                other.write_all(&[round]).await.unwrap();
                let mut back = [0];
                other.read_exact(&mut back).await.unwrap();
                assert_eq!(back, [round]);
            }
        });
        drop(other);
        assert_eq!(block_on(echo).unwrap().unwrap(), 200);
    });
}

/// A worker that one of its sockets wakes polls its task, and sleeps again. It does not look once
/// more, as it would if it had interrupted its own set.
#[test]
fn a_sleeper_that_its_socket_wakes_looks_once() {
    const MESSAGES: u64 = 200;
    let _watchdog = super::common::watchdog::watchdog();
    let runtime = Builder::new().workers(1).build().unwrap();
    let listener = runtime.block_on(TcpListener::bind("127.0.0.1:0")).unwrap();
    let mut client = std::net::TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    let server = runtime.spawn(async move { super::echo(listener.accept().await?.0).await });
    let mut exchange = || {
        client.write_all(&[1]).unwrap();
        client.read_exact(&mut [0]).unwrap();
    };
    // The first looks before a sleep are in vain, and end.
    (0..10).for_each(|_| exchange());
    let looks = || runtime.metrics().processors[0].sockets.looks;
    let before = looks();
    (0..MESSAGES).for_each(|_| exchange());
    // The lookout or the system's signals may wake it a few times more.
    assert!(looks() - before < MESSAGES * 3 / 2, "{} looks", looks() - before);
    drop(client);
    assert_eq!(block_on(server).unwrap().unwrap(), MESSAGES + 10);
}

/// A worker that sleeps among its sockets, and is called, comes out once. The call that it has
/// answered does not end its next sleep.
#[test]
fn a_sleeper_among_sockets_that_is_called_sleeps_again_at_once() {
    const CALLS: u64 = 200;
    let _watchdog = super::common::watchdog::watchdog();
    let runtime = Builder::new().workers(1).build().unwrap();
    let (one, _other) = runtime.block_on(pair()).unwrap();
    let waits = runtime.spawn(async move { one.readable().await });
    let call = || {
        while runtime.metrics().sleeping < 1 {
            thread::yield_now();
        }
        // It has announced its sleep, and mostly gets there meanwhile.
        thread::sleep(Duration::from_micros(200));
        block_on(runtime.spawn(async {})).unwrap();
    };
    (0..10).for_each(|_| call());
    let wake_ups = || runtime.metrics().processors[0].wake_ups;
    let before = wake_ups();
    (0..CALLS).for_each(|_| call());
    // The lookout or the system's signals may wake it a few times more.
    assert!(wake_ups() - before < CALLS * 3 / 2, "{} wake-ups", wake_ups() - before);
    waits.abort();
}

/// Tasks that are always ready keep no socket waiting.
#[test]
fn sockets_are_looked_at_beside_tasks_that_are_always_ready() {
    on_workers(|runtime| {
        let stop = Arc::new(AtomicBool::new(false));
        let busy: Vec<_> = (0..16)
            .map(|_| {
                let stop = stop.clone();
                runtime.spawn(async move {
                    while !stop.load(Ordering::Relaxed) {
                        yield_now().await;
                    }
                })
            })
            .collect();
        runtime.block_on(async {
            let (one, other) = pair().await.unwrap();
            let echo = spawn(super::echo(one));
            let client = spawn(async move {
                for round in 0..100_u8 {
                    other.write_all(&[round]).await.unwrap();
                    other.read_exact(&mut [0]).await.unwrap();
                }
            });
            client.await.unwrap();
            assert_eq!(echo.await.unwrap().unwrap(), 100);
        });
        stop.store(true, Ordering::Relaxed);
        busy.into_iter().for_each(|task| block_on(task).unwrap());
    });
}

/// A worker is inside a poll that does not end: its sockets' tasks run at others.
#[test]
fn others_look_for_a_worker_that_is_stuck() {
    let _watchdog = super::common::watchdog::watchdog();
    for workers in [1, 2, 8] {
        let runtime = Builder::new().workers(workers).build().unwrap();
        let pairs: Vec<_> = (0..8).map(|_| runtime.block_on(pair()).unwrap()).collect();
        let (ones, others): (Vec<_>, Vec<_>) = pairs.into_iter().unzip();
        let echoes: Vec<_> = ones.into_iter().map(|one| runtime.spawn(super::echo(one))).collect();
        thread::sleep(Duration::from_millis(5));
        let stuck = Arc::new(AtomicBool::new(true));
        let task = runtime.spawn({
            let stuck = stuck.clone();
            async move {
                while stuck.load(Ordering::Relaxed) {
                    std::hint::spin_loop();
                }
            }
        });
        thread::sleep(Duration::from_millis(5));
        for other in &others {
            runtime.block_on(async {
                other.write_all(b"x").await.unwrap();
                other.read_exact(&mut [0]).await.unwrap();
            });
        }
        stuck.store(false, Ordering::Relaxed);
        block_on(task).unwrap();
        drop(others);
        for echo in echoes {
            assert_eq!(block_on(echo).unwrap().unwrap(), 1);
        }
    }
}

/// A worker gets its first socket, and is stuck before it has ever slept.
#[test]
fn the_first_socket_of_a_worker_that_is_stuck_at_once_is_looked_at() {
    let _watchdog = super::common::watchdog::watchdog();
    for workers in [1, 2] {
        let runtime = Builder::new().workers(workers).build().unwrap();
        let listener = runtime.block_on(TcpListener::bind("127.0.0.1:0")).unwrap();
        let address = listener.local_addr().unwrap();
        let stuck = Arc::new(AtomicBool::new(true));
        let loops = stuck.clone();
        let both = runtime.spawn(async move {
            let server = spawn(async move {
                let (stream, _) = listener.accept().await?;
                super::echo(stream).await
            });
            // The server waits for a connection then, unless another worker is about to poll it.
            yield_now().await;
            while loops.load(Ordering::Relaxed) {
                std::hint::spin_loop();
            }
            server.await.unwrap().unwrap()
        });
        let mut client = std::net::TcpStream::connect(address).unwrap();
        client.write_all(b"x").unwrap();
        client.read_exact(&mut [0]).unwrap();
        drop(client);
        stuck.store(false, Ordering::Relaxed);
        assert_eq!(block_on(both).unwrap(), 1);
    }
}

/// The byte at which [`echo_or_stick`] sticks.
const STUCK: u8 = b's';

/// Sends each byte back. At [`STUCK`] it sets `stuck`, and keeps its worker until that is unset.
async fn echo_or_stick(stream: TcpStream, stuck: Arc<AtomicBool>) -> std::io::Result<()> {
    let mut buffer = [0];
    while stream.read(&mut buffer).await? == 1 {
        if buffer == [STUCK] {
            stuck.store(true, Ordering::SeqCst);
            while stuck.load(Ordering::SeqCst) {
                std::hint::spin_loop();
            }
        }
        stream.write_all(&buffer).await?;
    }
    Ok(())
}

/// The worker that looks at the sockets is stuck in the task of one of them. The others' tasks wait
/// at the other worker, again and again: their sockets go there, come back, and lose nothing.
#[test]
fn sockets_go_where_they_are_looked_at() {
    let _watchdog = super::common::watchdog::watchdog();
    let runtime = Builder::new().workers(2).build().unwrap();
    let moved = || runtime.metrics().processors[1].sockets.moved;
    let stuck = Arc::new(AtomicBool::new(false));
    let pairs: Vec<_> = (0..8).map(|_| runtime.block_on(pair()).unwrap()).collect();
    let (ones, others): (Vec<_>, Vec<_>) = pairs.into_iter().unzip();
    let echoes: Vec<_> = ones
        .into_iter()
        .map(|one| {
            let stuck = stuck.clone();
            runtime.spawn(echo_or_stick(one, stuck))
        })
        .collect();
    let exchange = async |socket: &TcpStream, byte| {
        socket.write_all(&[byte]).await.unwrap();
        let mut back = [0];
        socket.read_exact(&mut back).await.unwrap();
        assert_eq!(back, [byte]);
    };
    // Without work, sockets gather at one worker. The stuck task may be at the other.
    while moved() == 0 {
        let (first, rest) = others.split_first().unwrap();
        for round in 0..20 {
            others.iter().for_each(|socket| runtime.block_on(exchange(socket, round)));
        }
        runtime.block_on(first.write_all(&[STUCK])).unwrap();
        while !stuck.load(Ordering::SeqCst) {
            thread::yield_now();
        }
        for round in 0..20 {
            rest.iter().for_each(|socket| runtime.block_on(exchange(socket, round)));
        }
        stuck.store(false, Ordering::SeqCst);
        runtime.block_on(first.read_exact(&mut [0])).unwrap();
    }
    let open = || runtime.metrics().processors.iter().map(|p| p.sockets.open).sum::<usize>();
    assert!(open() >= 8, "no socket has left its set for none: {}", open());
    drop(others);
    echoes.into_iter().for_each(|echo| block_on(echo).unwrap().unwrap());
    assert_eq!(open(), 0);
    let delays: Delays = runtime.metrics().processors.iter().map(|p| p.sockets.delays).sum();
    assert!(delays.count() > 0);
}

/// A worker with most of the traffic keeps its sockets when there is little to do, and gets the
/// others.
#[test]
fn sockets_gather_where_the_traffic_is() {
    const SOCKETS: usize = 8;
    let _watchdog = super::common::watchdog::watchdog();
    let runtime = Builder::new().workers(2).build().unwrap();
    let open = || runtime.metrics().processors[1].sockets.open;
    let stuck = Arc::new(AtomicBool::new(false));
    let listener = runtime.block_on(TcpListener::bind("127.0.0.1:0")).unwrap();
    let address = listener.local_addr().unwrap();
    let loops = stuck.clone();
    let echoes = runtime.spawn(async move {
        let mut echoes = Vec::new();
        for _ in 0..SOCKETS {
            let (one, _) = listener.accept().await.unwrap();
            echoes.push(spawn(echo_or_stick(one, loops.clone())));
        }
        echoes
    });
    let clients: Vec<_> =
        (0..SOCKETS).map(|_| std::net::TcpStream::connect(address).unwrap()).collect();
    let exchange = |mut client: &std::net::TcpStream| {
        client.write_all(b"x").unwrap();
        client.read_exact(&mut [0]).unwrap();
    };
    let (mut first, rest) = clients.split_first().unwrap();
    loop {
        (0..20).for_each(|_| clients.iter().for_each(exchange));
        if open() == SOCKETS {
            break;
        }
        // While the first one's task is stuck, the others go to the other worker. That one keeps
        // them then, and gets the first one too.
        first.write_all(&[STUCK]).unwrap();
        while !stuck.load(Ordering::SeqCst) {
            thread::yield_now();
        }
        (0..20).for_each(|_| rest.iter().for_each(exchange));
        stuck.store(false, Ordering::SeqCst);
        first.read_exact(&mut [0]).unwrap();
    }
    drop(clients);
    block_on(echoes).unwrap().into_iter().for_each(|echo| block_on(echo).unwrap().unwrap());
}

/// Says that it was called, and waits until it may return.
struct Blocks(Mutex<(mpsc::Sender<()>, mpsc::Receiver<()>)>);

impl Wake for Blocks {
    fn wake(self: Arc<Self>) {
        let ends = self.0.lock().unwrap();
        ends.0.send(()).unwrap();
        ends.1.recv().unwrap();
    }
}

/// A worker that sleeps among its sockets calls the waker of one that is ready. The waker is a
/// caller's, and blocks: what is spawned meanwhile runs elsewhere.
#[test]
fn a_waker_that_blocks_between_two_polls_keeps_no_task_waiting() {
    let _watchdog = super::common::watchdog::watchdog();
    for workers in [1, 2] {
        let runtime = Builder::new().workers(workers).build().unwrap();
        for _ in 0..3 {
            let (one, mut other) = runtime.block_on(async {
                let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
                let other = std::net::TcpStream::connect(listener.local_addr().unwrap()).unwrap();
                (listener.accept().await.unwrap().0, other)
            });
            let ((says, called), (lets, may)) = (mpsc::channel(), mpsc::channel());
            let waker = Waker::from(Arc::new(Blocks(Mutex::new((says, may)))));
            let waits = runtime.spawn(async move {
                let polled = one.poll_read_ready(&mut Context::from_waker(&waker));
                assert!(polled.is_pending());
                park().await;
            });
            // The worker sleeps by then, as a rule.
            thread::sleep(Duration::from_millis(5));
            other.write_all(b"wake").unwrap();
            called.recv().unwrap();
            // One is pushed from outside, and one by a task.
            let task = runtime.spawn(async { spawn(async { 7 }).await.unwrap() });
            assert_eq!(block_on(task).unwrap(), 7);
            lets.send(()).unwrap();
            waits.abort();
            assert!(block_on(waits).unwrap_err().is_cancelled());
        }
    }
}
