use super::*;
use crate::object::{Object, Placement};
use crate::runtime::enter;
use crate::{Builder, JoinHandle, Runtime, block_on, spawn};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

/// A task whose operation on an object at worker 1 lasts until the sender is used.
fn stay_inside(runtime: &Runtime) -> (mpsc::Sender<()>, JoinHandle<()>) {
    let (entered, inside) = mpsc::channel();
    let (leave, told) = mpsc::channel();
    let stays = runtime.spawn(async move {
        let long = Object::new(()).placed("long", Placement::Home).at(1);
        let stay = move |(): &mut ()| {
            entered.send(()).unwrap();
            told.recv().unwrap();
        };
        long.with(stay).await.unwrap();
    });
    inside.recv().unwrap();
    (leave, stays)
}

/// A worker that is inside of one class's object for long keeps no other class from what is better.
#[test]
fn a_class_goes_back_home_while_its_hosts_are_waited_for() {
    let runtime = Builder::new().workers(2).build().unwrap();
    let handle = runtime.handle();
    let host = &handle.shared().processors[1];
    let (leave, stays) = loop {
        let (leave, stays) = stay_inside(&runtime);
        if host.inside.see().iter().any(|&note| note != 0) {
            break (leave, stays);
        }
        // A visitor has come in by the lock, because the host was not there in time.
        leave.send(()).unwrap();
        block_on(stays).unwrap();
    };
    // Should it be waited for all the same, the test ends, and fails.
    let (ends, is_over) = mpsc::channel::<()>();
    let releases = thread::spawn(move || {
        let was_over = is_over.recv_timeout(Duration::from_secs(10)).is_ok();
        leave.send(()).unwrap();
        was_over
    });
    runtime.block_on(async {
        let object = Object::new(0).class("short").at(0);
        let class = object.inner.class.clone();
        let shared = enter::with(|handle| handle.unwrap().shared().clone());
        let held = class.steering.hold(&class, &shared);
        held.go(Wanted::AtHome);
        held.go(Wanted::InPlace);
        assert_eq!(class.mode(), Mode::Draining, "a worker is inside of something");
        for _ in 0..100 {
            let object = object.clone();
            let operation = spawn(async move { object.with(|n| *n += 1).await });
            operation.await.unwrap().unwrap();
        }
        held.go(Wanted::AtHome);
        assert_eq!(class.mode(), Mode::Home);
        ends.send(()).unwrap();
        assert_eq!(object.with(|n| *n).await, Ok(100));
    });
    assert!(releases.join().unwrap(), "it was not waited for");
    block_on(stays).unwrap();
}
