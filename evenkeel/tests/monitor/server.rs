//! Tasks that own a monitor and serve its calls until a caller ends them: the active objects of C∀
//! and µC++. The names are those of `tests/conformance.rs`.

use crate::common::op::Op;
use crate::common::watchdog::watchdog;
use crate::common::weather::{in_all_weathers, join};
use evenkeel::accept;
use evenkeel::sync::monitor::{Clause, End, Held, Monitor};
use evenkeel::{JoinHandle, spawn, yield_now};
use evenkeel_policy::random::Random;
use std::sync::Arc;

/// Starts a server inside its monitor, before its clients.
async fn serve<T, F, B>(monitor: &Arc<Monitor<T>>, body: F) -> JoinHandle<()>
where
    T: Send + 'static,
    F: FnOnce(Arc<Monitor<T>>) -> B,
    B: Future<Output = ()> + Send + 'static,
{
    let server = spawn(body(monitor.clone()));
    while monitor.try_enter().is_some() {
        yield_now().await;
    }
    server
}

/// The server accepts one of six operations, each in its turn; calls of the others stay queued.
#[test]
fn c2_operations_in_turns() {
    const OPS: u32 = 6;
    const CALLERS: u32 = 7;
    const CYCLES: u32 = 40;
    let _watchdog = watchdog();
    in_all_weathers(|runtime, weather| {
        let monitor = Arc::new(Monitor::new(OPS - 1));
        runtime.block_on(async {
            let server = serve(&monitor, |monitor| async move {
                let mut held = monitor.enter().await;
                for round in 0..OPS * CALLERS * CYCLES {
                    let last = *held;
                    let clauses = [0, 1, 2, 3, 4, 5]
                        .map(|op| Clause::new(Op(op)).when(last == (op + OPS - 1) % OPS));
                    held = Held::accept(held, clauses).await.0;
                    assert_eq!(*held, round % OPS);
                }
            });
            let server = server.await;
            let callers = (0..CALLERS).map(|caller| {
                let monitor = monitor.clone();
                spawn(async move {
                    let mut random = Random::new(caller.into());
                    for op in (0..CYCLES).flat_map(|_| 0..OPS) {
                        weather.pass(&mut random).await;
                        monitor.call(Op(op), async |mut held| *held = op).await;
                    }
                })
            });
            for task in callers.collect::<Vec<_>>().into_iter().chain([server]) {
                task.await.expect("all are called and accepted");
            }
        });
    });
}

/// An object starts, runs, and ends before its destructor.
#[test]
fn c15_an_object_from_its_beginning_to_its_end() {
    const ROUNDS: usize = 200;
    let _watchdog = watchdog();
    in_all_weathers(|runtime, weather| {
        let owners = (0..4).map(|seed| {
            runtime.spawn(async move {
                let mut random = Random::new(seed);
                for _ in 0..ROUNDS {
                    let object = Arc::new(Monitor::new(vec!["constructor"]));
                    let server = serve(&object, |object| async move {
                        let mut held = object.enter().await;
                        held.push("main");
                        accept!(held; End => { held.push("after") });
                        yield_now().await;
                        held.push("end");
                    });
                    let server = server.await;
                    weather.pass(&mut random).await;
                    let mut held = object.end().await;
                    held.push("destructor");
                    assert_eq!(*held, ["constructor", "main", "after", "end", "destructor"]);
                    drop(held);
                    server.await.expect("it ends");
                }
            })
        });
        join(runtime, owners.collect::<Vec<_>>());
    });
}

/// A busy server still ends.
#[test]
fn c17_a_busy_server_ends() {
    let _watchdog = watchdog();
    in_all_weathers(|runtime, weather| {
        runtime.block_on(async {
            let mut random = Random::new(1);
            for _ in 0..50 {
                let turns = Arc::new(Monitor::new(0_u64));
                let server = serve(&turns, |turns| async move {
                    let mut held = turns.enter().await;
                    loop {
                        accept!(held; End => { break }; else => {
                            *held += 1;
                            yield_now().await;
                        });
                    }
                });
                let server = server.await;
                weather.pass(&mut random).await;
                drop(turns.end().await);
                server.await.expect("it ends");
            }
        });
    });
}

/// A join waits for the server's end: its result is present, and its object still exists.
#[test]
fn c18_results_come_at_the_end() {
    const TASKS: usize = 17;
    let _watchdog = watchdog();
    in_all_weathers(|runtime, weather| {
        runtime.block_on(async {
            let mut random = Random::new(1);
            let mut objects = Vec::new();
            for _ in 0..TASKS {
                let object = Arc::new(Monitor::new(0));
                drop(
                    serve(&object, |object| async move {
                        let mut held = object.enter().await;
                        loop {
                            accept!(held; End => { break }; else => { yield_now().await });
                        }
                        *held = 27;
                    })
                    .await,
                );
                objects.push(object);
            }
            for object in &objects {
                weather.pass(&mut random).await;
                assert_eq!(*object.end().await, 27);
                assert_eq!(*object.enter().await, 27);
            }
        });
    });
}
