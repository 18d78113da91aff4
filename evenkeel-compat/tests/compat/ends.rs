//! Runtimes that end while wrapped futures are alive.

use crate::{is_inside, watchdog};
use evenkeel::{Builder, Shutdown};
use evenkeel_compat::CompatExt;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;
use tokio::io::AsyncReadExt;
use tokio::net::{TcpListener, TcpStream};
use tokio::time::sleep;

const TASKS: usize = 100;

struct Says(Sender<bool>);

impl Drop for Says {
    fn drop(&mut self) {
        let _ = self.0.send(is_inside());
    }
}

/// Ends runtimes of 1, 2 and 8 workers with tasks that wait for timers and sockets of Tokio.
fn end(by: impl Fn(evenkeel::Runtime)) {
    let _watchdog = watchdog::watchdog();
    for workers in [1, 2, 8] {
        let runtime = Builder::new().workers(workers).build().unwrap();
        let told = spawn(&runtime);
        by(runtime);
        let told: Vec<bool> = told.iter().collect();
        assert_eq!(told, [true; TASKS], "all are dropped, and inside the context");
    }
}

fn spawn(runtime: &evenkeel::Runtime) -> Receiver<bool> {
    let (inside, told) = channel();
    let (polled, begun) = channel();
    for n in 0..TASKS {
        let (says, polled) = (Says(inside.clone()), polled.clone());
        let task = async move {
            let _says = says;
            if n % 2 == 0 {
                polled.send(()).unwrap();
                sleep(Duration::from_secs(3_600)).await;
            } else {
                let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
                let address = listener.local_addr().unwrap();
                let mut client = TcpStream::connect(address).await.unwrap();
                let _server = listener.accept().await.unwrap();
                polled.send(()).unwrap();
                client.read_u8().await.unwrap();
            }
        };
        drop(runtime.spawn(task.compat()));
    }
    for _ in 0..TASKS {
        begun.recv().unwrap();
    }
    told
}

#[test]
fn the_drop_of_a_runtime_drops_its_futures_inside() {
    end(drop);
}

#[test]
fn a_shutdown_with_a_deadline_drops_its_futures_inside() {
    end(|runtime| {
        let report = runtime.shutdown(Shutdown::Deadline(Duration::from_millis(5)));
        assert_eq!(report.aborted.len(), TASKS, "{report}");
    });
}

#[test]
fn a_runtime_drains_tasks_that_wait_for_tokio() {
    let _watchdog = watchdog::watchdog();
    for workers in [1, 2, 8] {
        let runtime = Builder::new().workers(workers).build().unwrap();
        let (done, told) = channel();
        for _ in 0..TASKS {
            let done = done.clone();
            let task = async move {
                sleep(Duration::from_millis(3)).await;
                tokio::spawn(sleep(Duration::from_millis(1))).await.unwrap();
                done.send(()).unwrap();
            };
            drop(runtime.spawn(task.compat()));
        }
        drop(done);
        runtime.shutdown(Shutdown::Drain);
        assert_eq!(told.iter().count(), TASKS);
    }
}

#[test]
fn wakes_that_come_after_the_end_of_a_runtime_go_nowhere() {
    let _watchdog = watchdog::watchdog();
    for _ in 0..50 {
        let runtime = Builder::new().workers(2).build().unwrap();
        for n in 0..20 {
            let task = async move { tokio::spawn(sleep(Duration::from_micros(n * 50))).await };
            drop(runtime.spawn(task.compat()));
        }
        drop(runtime);
    }
    // The thread of Tokio is whole.
    evenkeel::block_on(evenkeel_compat::handle().spawn(async {})).unwrap();
}
