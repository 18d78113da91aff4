//! A server whose process is stopped, and goes on.

use super::echo;
use crate::common::watchdog::watchdog;
use evenkeel::net::{TcpListener, TcpStream};
use evenkeel::task::JoinSet;
use evenkeel::time::{Duration, interval, timeout};
use evenkeel::{Builder, Shutdown};
use rustix::process::{Pid, Signal, WaitOptions, kill_process, waitpid};
use std::io::{Read, Write};
use std::net::SocketAddr;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Where the child reports, and with how many workers it serves.
const REPORT: &str = "EVENKEEL_TEST_REPORT";
const WORKERS: &str = "EVENKEEL_TEST_WORKERS";

/// Longer than the test lasts: no timeout of the server is due.
const LONG: Duration = Duration::from_secs(600);

/// A server in a process of its own.
struct Server {
    process: Child,
    /// Its end tells the child to end.
    report: std::net::TcpStream,
    address: SocketAddr,
}

impl Server {
    fn start(workers: usize) -> Self {
        let reports = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["--exact", "stopped::a_server_that_is_stopped_loses_nothing"]);
        command.env(REPORT, reports.local_addr().unwrap().to_string());
        command.env(WORKERS, workers.to_string()).stdout(Stdio::null());
        let process = command.spawn().unwrap();
        let (mut report, _) = reports.accept().unwrap();
        let mut port = [0; 2];
        report.read_exact(&mut port).unwrap();
        let address = SocketAddr::from(([127, 0, 0, 1], u16::from_be_bytes(port)));
        Self { process, report, address }
    }

    fn pid(&self) -> Pid {
        Pid::from_child(&self.process)
    }

    /// Returns when all threads of the process have stopped.
    fn stop(&self) {
        kill_process(self.pid(), Signal::STOP).unwrap();
        let (_, status) = waitpid(Some(self.pid()), WaitOptions::UNTRACED).unwrap().unwrap();
        assert!(status.stopped(), "{status:?}");
    }

    fn go_on(&self) {
        kill_process(self.pid(), Signal::CONT).unwrap();
    }

    fn end(mut self) {
        drop(self.report);
        assert!(self.process.wait().unwrap().success());
    }
}

/// Serves until the parent has had enough.
fn serve(report: &str) {
    let workers = std::env::var(WORKERS).unwrap().parse().unwrap();
    let mut report = std::net::TcpStream::connect(report).unwrap();
    let runtime = Builder::new().workers(workers).build().unwrap();
    let listener = runtime.block_on(TcpListener::bind("127.0.0.1:0")).unwrap();
    report.write_all(&listener.local_addr().unwrap().port().to_be_bytes()).unwrap();
    let ticks = Arc::new(AtomicU64::new(0));
    let ticked = ticks.clone();
    let clock = runtime.spawn(async move {
        let mut millis = interval(Duration::from_millis(1));
        loop {
            millis.tick().await;
            ticked.fetch_add(1, Ordering::Relaxed);
        }
    });
    let accepts = runtime.spawn(async move {
        loop {
            let (stream, _) = listener.accept().await.unwrap();
            drop(evenkeel::spawn(timeout(LONG, echo(stream))));
        }
    });
    assert_eq!(report.read(&mut [0]).unwrap(), 0, "the parent closes");
    accepts.abort();
    clock.abort();
    // The clients have closed, so their tasks come to their own ends.
    let report = runtime.shutdown(Shutdown::Drain);
    assert!(report.is_clean(), "{report:?}");
    assert!(ticks.load(Ordering::Relaxed) > 0);
}

/// Sends numbers, and checks that they come back, in their order and once each.
struct Client {
    stream: TcpStream,
    sent: u32,
    back: u32,
}

impl Client {
    async fn connect(server: SocketAddr) -> Self {
        Self { stream: TcpStream::connect(server).await.unwrap(), sent: 0, back: 0 }
    }

    async fn send(&mut self, count: u32) {
        for _ in 0..count {
            self.stream.write_all(&self.sent.to_be_bytes()).await.unwrap();
            self.sent += 1;
        }
    }

    async fn receive_all(&mut self) {
        while self.back < self.sent {
            let mut number = [0; 4];
            self.stream.read_exact(&mut number).await.unwrap();
            assert_eq!(u32::from_be_bytes(number), self.back);
            self.back += 1;
        }
    }

    /// Closes its direction, and finds that the server has sent nothing else.
    async fn end(mut self) {
        self.receive_all().await;
        self.stream.shutdown(std::net::Shutdown::Write).unwrap();
        assert_eq!(self.stream.read(&mut [0]).await.unwrap(), 0);
    }
}

#[test]
fn a_server_that_is_stopped_loses_nothing() {
    let _watchdog = watchdog();
    if let Ok(report) = std::env::var(REPORT) {
        return serve(&report);
    }
    for workers in [1, 2, 8] {
        let server = Server::start(workers);
        let address = server.address;
        let runtime = Builder::new().workers(workers).build().unwrap();
        runtime.block_on(async {
            let mut clients = Vec::new();
            for _ in 0..4 {
                clients.push(Client::connect(address).await);
            }
            for _ in 0..5 {
                for client in &mut clients {
                    client.send(20).await;
                }
                // Some of it is answered, some read, some on its way.
                server.stop();
                let mut under_way = JoinSet::new();
                for mut client in clients.drain(..) {
                    under_way.spawn(async move {
                        client.send(20).await;
                        client.receive_all().await;
                        client
                    });
                }
                // The system connects them for the stopped server.
                for _ in 0..4 {
                    let mut client = Client::connect(address).await;
                    client.send(20).await;
                    under_way.spawn(async move {
                        client.receive_all().await;
                        client
                    });
                }
                evenkeel::time::sleep(Duration::from_millis(5)).await;
                assert!(under_way.try_join_next().is_none(), "a stopped server answers nothing");
                server.go_on();
                clients = under_way.join_all().await;
                // It serves as before.
                for client in &mut clients {
                    client.send(1).await;
                    client.receive_all().await;
                }
                for client in clients.drain(4..) {
                    client.end().await;
                }
            }
            for client in clients {
                client.end().await;
            }
        });
        server.end();
    }
}
