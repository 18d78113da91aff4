//! FAILING TESTS OF A REVIEW: each shows one defect, and is to move to the file of its subject when that is mended.

use evenkeel::time::{sleep, timeout};
use evenkeel_actor::{Actor, Context, Handled, spawn};
use std::future::{Future, poll_fn};
use std::sync::{Arc, Mutex};
use std::task::{Poll, Waker};
use std::time::Duration;

fn on_workers(workers: usize, test: impl Future<Output = ()> + Send + 'static) {
    let runtime = evenkeel::Builder::new().workers(workers).build().unwrap();
    runtime.block_on(async { evenkeel::spawn(test).await.unwrap() });
}

struct Leaves(Arc<Mutex<Option<Waker>>>);

impl Actor for Leaves {
    type Message = ();
    async fn handle(&mut self, (): (), _: &mut Context<Self>) -> Handled {
        // As a join handle, a channel or a lock does while whoever completes it has taken the waker and is about to use it.
        let place = self.0.clone();
        poll_fn(|task| {
            *place.lock().unwrap() = Some(task.waker().clone());
            Poll::Ready(())
        })
        .await;
        Ok(())
    }
}

fn stops_though_a_waker_goes_last(end: fn(Waker)) {
    on_workers(1, async move {
        let place = Arc::new(Mutex::new(None));
        let actor = spawn(Leaves(place.clone()));
        let stopped = actor.stopped();
        actor.send(()).await.unwrap();
        sleep(Duration::from_millis(5)).await;
        let waker = place.lock().unwrap().take().unwrap();
        drop(actor);
        end(waker);
        timeout(Duration::from_secs(1), stopped)
            .await
            .expect("nobody has it, and it is there still");
    });
}

/// task/public.rs `drop`, task/waker.rs `drop`: wakers count as references, and the last of them tells nobody.
#[test]
fn an_actor_ends_whose_last_waker_is_dropped_after_its_last_reference() {
    stops_though_a_waker_goes_last(drop);
}

/// The same; the wake is lost too, as a parked task counts as queued.
#[test]
fn an_actor_ends_whose_last_waker_is_used_after_its_last_reference() {
    stops_though_a_waker_goes_last(Waker::wake);
}

/// The actor's own future keeps its waker, as a `FuturesUnordered` in it does: it has itself for ever.
#[test]
fn an_actor_ends_whose_own_state_has_a_waker() {
    struct Keeps(futures::task::AtomicWaker);
    impl Actor for Keeps {
        type Message = ();
        async fn handle(&mut self, (): (), _: &mut Context<Self>) -> Handled {
            poll_fn(|task| {
                self.0.register(task.waker());
                Poll::Ready(())
            })
            .await;
            Ok(())
        }
    }
    on_workers(1, async {
        let actor = spawn(Keeps(futures::task::AtomicWaker::new()));
        let stopped = actor.stopped();
        actor.send(()).await.unwrap();
        drop(actor);
        timeout(Duration::from_secs(1), stopped)
            .await
            .expect("nobody has it, and it is there still");
    });
}

/// life.rs `live`: the value is dropped by the unwinding of its own handler, so a second panic aborts the process.
#[test]
fn a_drop_that_panics_after_a_handler_has_panicked_ends_the_actor_and_not_the_process() {
    struct Twice;
    impl Actor for Twice {
        type Message = ();
        async fn handle(&mut self, (): (), _: &mut Context<Self>) -> Handled {
            panic!("in handle")
        }
    }
    impl Drop for Twice {
        fn drop(&mut self) {
            panic!("in drop")
        }
    }
    if std::env::var_os("REVIEW7A_CHILD").is_some() {
        return on_workers(1, async {
            let twice = spawn(Twice);
            twice.send(()).await.unwrap();
            twice.stopped().await;
        });
    }
    let status = std::process::Command::new(std::env::current_exe().unwrap())
        .args([
            "--exact",
            "a_drop_that_panics_after_a_handler_has_panicked_ends_the_actor_and_not_the_process",
        ])
        .env("REVIEW7A_CHILD", "1")
        .output()
        .unwrap()
        .status;
    assert!(status.success(), "{status}");
}
