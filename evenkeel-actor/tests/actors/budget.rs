//! Tasks that loop over futures of actors that are always ready, beside tasks of the same worker.

use crate::common::until::until;
use crate::common::workers::on_workers;
use evenkeel_actor::{Actor, ActorRef, Builder, Context, DropOldest, Fail, Handled, System};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Turns of the other task, after which the greedy one ends.
const TURNS: usize = 20;

/// Counts its messages.
struct Count(Arc<AtomicUsize>);

impl Actor for Count {
    type Message = ();

    async fn handle(&mut self, (): (), context: &mut Context<Self>) -> Handled {
        if self.0.fetch_add(1, Ordering::Relaxed) + 1 == TURNS {
            context.stop();
        }
        Ok(())
    }
}

/// Counts its turns.
async fn light(turns: Arc<AtomicUsize>) {
    for _ in 0..TURNS {
        turns.fetch_add(1, Ordering::Relaxed);
        evenkeel::yield_now().await;
    }
}

#[test]
fn a_sender_that_never_waits_for_room_lets_the_actor_handle_messages() {
    on_workers(1, async {
        let count = Arc::new(AtomicUsize::new(0));
        let builder = Builder::new().capacity(1).overflow::<DropOldest>();
        let actor: ActorRef<(), DropOldest> = builder.spawn(Count(count.clone())).unwrap();
        while actor.send(()).await.is_ok() {}
        assert_eq!(count.load(Ordering::Relaxed), TURNS);
        let actor = Builder::new().capacity(1).overflow::<Fail>().spawn(Count(Arc::default()));
        let actor = actor.unwrap();
        while !actor.is_stopped() {
            let _ = actor.send(()).await;
        }
    });
}

#[test]
fn a_publisher_lets_the_members_handle_messages() {
    on_workers(1, async {
        let system = System::new();
        let group = system.group::<()>("counts").unwrap();
        let builder = Builder::new().system(system).capacity(1).overflow::<DropOldest>();
        let actor = builder.spawn(Count(Arc::default())).unwrap();
        group.join(&actor).unwrap();
        while !actor.is_stopped() {
            group.publish(()).await;
        }
    });
}

#[test]
fn waits_that_are_over_let_other_tasks_run() {
    on_workers(1, async {
        let system = System::new();
        let named = Builder::new().system(system).spawn(Count(Arc::default())).unwrap();
        system.register("count", &named).unwrap();
        let turns = Arc::new(AtomicUsize::new(0));
        drop(evenkeel::spawn(light(turns.clone())));
        while turns.load(Ordering::Relaxed) < TURNS {
            system.wait_for::<()>("count").await.unwrap();
        }
        let over = Builder::new().system(system).spawn(Count(Arc::default())).unwrap();
        for _ in 0..TURNS {
            over.send(()).await.unwrap();
        }
        until(|| over.is_stopped()).await;
        let turns = Arc::new(AtomicUsize::new(0));
        drop(evenkeel::spawn(light(turns.clone())));
        while turns.load(Ordering::Relaxed) < TURNS {
            assert!(over.stopped().await.is_normal());
        }
    });
}
