//! The threads of a program with a current-thread runtime, in a program of its own: the one test.

#![cfg(target_os = "linux")]

use evenkeel::net::{TcpListener, TcpStream};
use evenkeel::time::{Duration, sleep};
use evenkeel::{Builder, fork_join, spawn, yield_now};

fn threads() -> usize {
    std::fs::read_dir("/proc/self/task").unwrap().count()
}

#[test]
fn no_thread_is_started_but_for_blocking_closures() {
    let before = threads();
    let runtime = Builder::new_current_thread().build().unwrap();
    assert_eq!(threads(), before);
    runtime.block_on(async {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let server = spawn(async move {
            let (stream, _) = listener.accept().await.unwrap();
            let mut buffer = [0; 4];
            stream.read_exact(&mut buffer).await.unwrap();
            stream.write_all(&buffer).await.unwrap();
        });
        let stream = TcpStream::connect(address).await.unwrap();
        stream.write_all(b"ahoy").await.unwrap();
        let mut answer = [0; 4];
        stream.read_exact(&mut answer).await.unwrap();
        server.await.unwrap();
        let tasks: Vec<_> = (0..100)
            .map(|_| {
                spawn(async {
                    sleep(Duration::from_millis(1)).await;
                    // Long polls: a runtime with workers starts its lookout.
                    std::thread::sleep(Duration::from_micros(100));
                    yield_now().await;
                    evenkeel::task::block_in_place(|| ());
                    fork_join::join(|| (), || ())
                })
            })
            .collect();
        for task in tasks {
            task.await.unwrap();
        }
        assert_eq!(threads(), before);
    });
    runtime.install(|| ());
    assert_eq!(threads(), before);
    runtime.block_on(runtime.spawn_blocking(|| ())).unwrap();
    assert_eq!(threads(), before + 1, "the blocking thread");
    drop(runtime);
    // An exiting thread stays in the list for a moment.
    while threads() > before {
        std::thread::yield_now();
    }
}
