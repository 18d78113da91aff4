//! Wrappers in one another, in other runtimes, and in other executors.

use crate::{is_inside, is_outside, on_workers, watchdog};
use evenkeel_compat::{Compat, CompatExt, enter, handle};
use std::time::Duration;
use tokio::runtime::{Builder, Handle};
use tokio::time::sleep;

const TICK: Duration = Duration::from_millis(1);

#[test]
fn wrappers_lie_in_one_another() {
    on_workers(|runtime| {
        let task = async {
            assert!(is_inside());
            sleep(TICK).compat().await;
            async {
                sleep(TICK).await;
                assert!(is_inside());
            }
            .compat()
            .compat()
            .await;
            assert!(is_inside());
        };
        runtime.block_on(runtime.spawn(task.compat())).unwrap();
        assert!(is_outside());
    });
}

#[test]
fn the_innermost_context_counts() {
    let own = Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let own = own.handle().clone();
    on_workers(|runtime| {
        let inner = own.clone();
        let task = async move {
            let within = async {
                sleep(TICK).await;
                Handle::current().id()
            };
            assert_eq!(within.compat_with(inner.clone()).await, inner.id());
            assert!(is_inside());
        };
        runtime.block_on(runtime.spawn(task.compat())).unwrap();
    });
}

#[test]
fn guards_lie_in_one_another() {
    assert!(is_outside());
    {
        let _one = enter();
        let _two = enter();
        assert!(is_inside());
    }
    assert!(is_outside());
}

#[test]
fn a_task_of_another_tokio_runtime_may_use_it() {
    let _watchdog = watchdog::watchdog();
    let own = Builder::new_current_thread().enable_all().build().unwrap();
    own.block_on(async {
        let outer = Handle::current().id();
        async {
            assert!(is_inside());
            sleep(TICK).await;
        }
        .compat()
        .await;
        assert_eq!(Handle::current().id(), outer);
        sleep(TICK).await;
    });
}

#[test]
fn any_executor_will_do() {
    let _watchdog = watchdog::watchdog();
    let slept = || async {
        sleep(TICK).await;
        7
    };
    assert_eq!(futures::executor::block_on(slept().compat()), 7);
    assert_eq!(evenkeel::block_on(slept().compat()), 7);
    let own = handle();
    assert_eq!(own.block_on(slept().compat()), 7, "also that of its own handle");
}

#[test]
fn a_wrapper_is_send_if_its_future_is_and_shows_it() {
    fn is_send<T: Send>(_: &T) {}
    let mut wrapper = Compat::new(std::future::ready(3));
    is_send(&wrapper);
    is_send(&async { sleep(TICK).await }.compat());
    assert_eq!(format!("{wrapper:?}"), "Compat { future: Some(Ready(Some(3))), .. }");
    *wrapper.get_mut() = std::future::ready(4);
    assert_eq!(wrapper.get_ref().clone().into_inner(), 4);
    assert_eq!(evenkeel::block_on(wrapper), 4);
}
