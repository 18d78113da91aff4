//! Holds that own their monitor instead of borrowing it.

use crate::common::watchdog::watchdog;
use evenkeel::sync::monitor::{Condition, Held, Monitor, call, lock_all, try_lock_all};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Waker};

/// Counts its drops.
struct Counted(Arc<AtomicUsize>);

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

fn poll_once<F: Future>(future: Pin<&mut F>) -> bool {
    future.poll(&mut Context::from_waker(Waker::noop())).is_ready()
}

#[test]
fn a_hold_keeps_its_monitor() {
    let drops = Arc::new(AtomicUsize::new(0));
    let monitor = Arc::new(Monitor::new(Counted(drops.clone())));
    let held = monitor.clone().try_enter_owned().unwrap();
    drop(monitor);
    assert_eq!(drops.load(Ordering::Relaxed), 0);
    drop(held);
    assert_eq!(drops.load(Ordering::Relaxed), 1);
}

#[test]
fn a_future_keeps_its_monitor_and_gives_it_up() {
    let drops = Arc::new(AtomicUsize::new(0));
    let monitor =
        Arc::new(Monitor::with_conditions(Counted(drops.clone()), Condition::<()>::new()));
    let condition: Condition = Condition::new();
    let held = monitor.clone().try_enter_owned().unwrap();
    {
        let mut queued = pin!(monitor.clone().enter_owned());
        assert!(!poll_once(queued.as_mut()));
    }
    let mut wait = Box::pin(condition.wait(held));
    assert!(!poll_once(wait.as_mut()));
    assert!(monitor.try_enter().is_some());
    let weak = Arc::downgrade(&monitor);
    drop(monitor);
    assert!(weak.upgrade().is_some(), "a waiter keeps it");
    drop(wait);
    assert_eq!((weak.strong_count(), drops.load(Ordering::Relaxed)), (0, 1));
}

#[test]
fn owned_and_borrowed_holds_are_of_the_same_set() {
    let _watchdog = watchdog();
    let runtime = evenkeel::Builder::new().workers(2).build().unwrap();
    let monitor = Arc::new(Monitor::with_conditions(0_u32, Condition::new()));
    let waiter = runtime.spawn({
        let monitor = monitor.clone();
        async move {
            let mut held = monitor.enter_owned().await;
            while *held == 0 {
                let monitor = Held::set(&held);
                held = monitor.conditions().wait(held).await;
            }
            *held += 1;
            held
        }
    });
    runtime.block_on(async {
        let mut held = monitor.enter().await;
        *held = 5;
        monitor.conditions().signal(&mut held);
    });
    // The hold comes from the task, which has ended.
    let held = runtime.block_on(waiter).unwrap();
    assert_eq!(*held, 6);
    assert!(monitor.try_enter().is_none() && try_lock_all(monitor.clone()).is_none());
    drop(held);
    assert_eq!(*runtime.block_on(lock_all(monitor.clone())), 6);
}

#[test]
fn a_server_is_inside_before_its_first_client() {
    use evenkeel::sync::monitor::{End, Entry};

    #[derive(Clone, Copy, Entry)]
    enum Op {
        Add,
    }

    let _watchdog = watchdog();
    for workers in [1, 2, 4] {
        let runtime = evenkeel::Builder::new().workers(workers).build().unwrap();
        let object = Arc::new(Monitor::new(Vec::new()));
        let mut held = object.clone().try_enter_owned().unwrap();
        let server = runtime.spawn(async move {
            while evenkeel::accept!(held; End => { false }; Op::Add => { true }).unwrap() {}
        });
        let clients: Vec<_> = (0..20)
            .map(|client| {
                let object = object.clone();
                runtime.spawn(call(
                    object,
                    Op::Add,
                    async move |mut held: Held<Arc<Monitor<Vec<u32>>>>| {
                        held.push(client);
                    },
                ))
            })
            .collect();
        for client in clients {
            runtime.block_on(client).unwrap();
        }
        let mut seen = std::mem::take(&mut *runtime.block_on(object.end()));
        seen.sort_unstable();
        assert!(seen.into_iter().eq(0..20));
        runtime.block_on(server).unwrap();
    }
}
