//! What a wrapped future spawns, and where it runs.

use crate::{is_inside, on_workers, thread_name};
use evenkeel_compat::{CompatExt, handle};
use tokio::sync::oneshot;
use tokio::task::{JoinSet, block_in_place, spawn_blocking};

#[test]
fn tokio_spawns_on_its_own_thread_and_evenkeel_on_its_workers() {
    on_workers(|runtime| {
        let task = async {
            let here = thread_name();
            let of_tokio = tokio::spawn(async { (thread_name(), is_inside()) }).await.unwrap();
            let blocking = spawn_blocking(|| (thread_name(), is_inside())).await.unwrap();
            let of_evenkeel = evenkeel::spawn(async { (thread_name(), is_inside()) }).await;
            (here, of_tokio, blocking, of_evenkeel.unwrap())
        };
        let (here, of_tokio, blocking, of_evenkeel) =
            runtime.block_on(runtime.spawn(task.compat())).unwrap();
        assert!(here.starts_with("deck"), "{here}");
        assert_eq!(of_tokio, ("evenkeel-compat".to_owned(), true));
        assert_eq!(blocking, ("evenkeel-compat".to_owned(), true));
        assert!(of_evenkeel.0.starts_with("deck"), "{}", of_evenkeel.0);
    });
}

#[test]
fn a_set_of_tokio_gives_all_outputs_and_aborts_the_rest() {
    on_workers(|runtime| {
        let task = async {
            let mut set = JoinSet::new();
            for n in 0..100_u32 {
                set.spawn(async move { n });
            }
            let mut sum = 0;
            while let Some(n) = set.join_next().await {
                sum += n.unwrap();
            }
            let (kept, gone) = oneshot::channel::<()>();
            set.spawn(async move {
                let _kept = kept;
                std::future::pending().await
            });
            drop(set);
            assert!(gone.await.is_err(), "the set's task is dropped");
            sum
        };
        assert_eq!(runtime.block_on(runtime.spawn(task.compat())).unwrap(), 4_950);
    });
}

#[test]
fn a_closure_of_block_in_place_is_called_where_it_is() {
    on_workers(|runtime| {
        let task = async { block_in_place(thread_name) == thread_name() };
        assert!(runtime.block_on(runtime.spawn(task.compat())).unwrap());
    });
}

#[test]
fn a_task_of_tokio_is_awaited_without_a_wrapper() {
    on_workers(|runtime| {
        let spawned = handle().spawn(async { 42 });
        assert_eq!(runtime.block_on(runtime.spawn(spawned)).unwrap().unwrap(), 42);
    });
}
