//! Values that belong to a task: which code finds them, on which thread, and until when.

use crate::common::panics::message_of;
use crate::common::runtime::runtime;
use crate::common::until::until;
use crate::common::watchdog::watchdog;
use evenkeel::deterministic::{explore, random};
use evenkeel::task::{JoinSet, LocalKey, LocalSet};
use evenkeel::{Builder, task_local, yield_now};
use futures::future::join;
use futures::poll;
use std::cell::Cell;
use std::future::pending;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Waker};

task_local! {
    /// The number of a task.
    static NUMBER: u32;
    pub(crate) static NAME: String;
}

task_local!(static COUNT: Cell<u32>);
task_local! {}

/// A name that a macro could give to an item of its own.
const SLOT: usize = 3;

task_local!(static WORDS: [u32; SLOT]);

/// Records what it finds when it is dropped.
struct Finds(Arc<Mutex<Vec<Option<u32>>>>);

impl Drop for Finds {
    fn drop(&mut self) {
        self.0.lock().unwrap().push(NUMBER.try_get().ok());
    }
}

#[test]
fn a_type_has_the_constants_of_its_program() {
    assert_eq!(WORDS.sync_scope([1, 2, 3], || WORDS.get()), [1, 2, 3]);
}

#[test]
fn each_of_many_tasks_keeps_its_own_on_all_threads() {
    let _watchdog = watchdog();
    for workers in [1, 2, 8] {
        runtime(workers).block_on(async {
            let mut set = JoinSet::new();
            for n in 0..500 {
                let inner = async move {
                    for round in 0..20 {
                        assert_eq!((NUMBER.get(), COUNT.with(Cell::get)), (n, round));
                        COUNT.with(|count| count.set(round + 1));
                        yield_now().await;
                    }
                    assert!(NAME.try_get().is_err());
                };
                set.spawn(NUMBER.scope(n, COUNT.scope(Cell::new(0), inner)));
            }
            // Tasks without values, on the same threads.
            for _ in 0..100 {
                set.spawn(async {
                    assert!(NUMBER.try_get().is_err());
                    yield_now().await;
                    assert!(COUNT.try_with(Cell::get).is_err());
                });
            }
            set.join_all().await;
        });
    }
}

#[test]
fn a_scope_hides_the_outer_one_and_parts_of_a_task_have_their_own() {
    let _watchdog = watchdog();
    runtime(2).block_on(NUMBER.scope(0, async {
        let part = |n| {
            NUMBER.scope(n, async move {
                for _ in 0..5 {
                    assert_eq!(NUMBER.get(), n);
                    yield_now().await;
                    let deeper = async { NUMBER.get() };
                    assert_eq!(NUMBER.scope(n + 10, deeper).await, n + 10);
                }
            })
        };
        join(part(1), part(2)).await;
        assert_eq!(NUMBER.get(), 0);
        assert_eq!(NUMBER.sync_scope(3, || NUMBER.get()), 3);
        assert_eq!(NUMBER.get(), 0);
        let spawned = evenkeel::spawn(async { NUMBER.try_get() });
        assert!(spawned.await.unwrap().is_err());
        let closure = evenkeel::spawn_blocking(|| NUMBER.try_get());
        assert!(closure.await.unwrap().is_err());
    }));
    assert!(NUMBER.try_get().is_err());
}

/// The tasks belong to no scope, but the thread that polls them is inside one.
#[test]
fn what_the_thread_polls_inside_a_scope_finds_the_value() {
    let _watchdog = watchdog();
    let runtime = Builder::new_current_thread().build().unwrap();
    let task = runtime.spawn(async { NUMBER.try_get() });
    let found = NUMBER.sync_scope(1, || runtime.block_on(task));
    assert_eq!(found.unwrap().unwrap(), 1);
    let set = LocalSet::new();
    let task = set.spawn_local(async { NUMBER.try_get() });
    let found = runtime.block_on(NUMBER.scope(2, set.run_until(task)));
    assert_eq!(found.unwrap().unwrap(), 2);
}

#[test]
fn a_panic_leaves_the_thread_as_it_was() {
    let _watchdog = watchdog();
    let runtime = runtime(1);
    let found = Arc::new(Mutex::new(Vec::new()));
    let finds = Finds(found.clone());
    let panics = runtime.spawn(NUMBER.scope(1, async move {
        let _finds = finds;
        yield_now().await;
        panic!("no luck");
    }));
    assert!(evenkeel::block_on(panics).unwrap_err().is_panic());
    assert_eq!(*found.lock().unwrap(), [Some(1)]);
    // The same worker.
    let after = runtime.spawn(async { NUMBER.try_get() });
    assert!(evenkeel::block_on(after).unwrap().is_err());

    NUMBER.sync_scope(2, || {
        let inner = || NUMBER.sync_scope(3, || panic!("no luck"));
        catch_unwind(inner).unwrap_err();
        assert_eq!(NUMBER.get(), 2);
    });
}

#[test]
fn the_future_is_dropped_with_the_value_and_the_value_after_it() {
    let _watchdog = watchdog();
    for workers in [1, 2, 8] {
        let runtime = runtime(workers);
        let found = Arc::new(Mutex::new(Vec::new()));
        let scope = |waits: bool| {
            let finds = Finds(found.clone());
            NUMBER.scope(5, async move {
                let _finds = finds;
                if waits {
                    pending::<()>().await;
                }
            })
        };
        // Never polled; at its end; after a poll; and by an abort on another thread.
        drop(scope(false));
        runtime.block_on(scope(false));
        runtime.block_on(async { assert!(poll!(pin!(scope(true))).is_pending()) });
        let task = runtime.spawn(scope(true));
        task.abort();
        evenkeel::block_on(task).unwrap_err();
        // Inside another scope of the key, which is there again afterwards.
        NUMBER.sync_scope(6, || {
            drop(scope(true));
            assert_eq!(NUMBER.get(), 6);
        });
        until(|| found.lock().unwrap().len() == 5);
        assert_eq!(*found.lock().unwrap(), [Some(5); 5]);
    }
}

/// The value's own destructor is no part of the scope.
#[test]
fn a_value_is_dropped_outside_of_its_scope() {
    task_local!(static FINDS: Finds);
    let found = Arc::new(Mutex::new(Vec::new()));
    evenkeel::block_on(FINDS.scope(Finds(found.clone()), async {}));
    FINDS.sync_scope(Finds(found.clone()), || {});
    NUMBER.sync_scope(1, || drop(FINDS.scope(Finds(found.clone()), async {})));
    assert_eq!(*found.lock().unwrap(), [None, None, Some(1)]);
}

#[test]
fn without_a_scope_there_is_an_error_or_a_panic() {
    static KEY: &LocalKey<u32> = &NUMBER;
    let error = KEY.try_with(|_| ()).unwrap_err();
    assert_eq!(KEY.try_get(), Err(error));
    assert!(error.to_string().contains("has no value here"));
    let text = message_of(|| KEY.get());
    assert!(text.starts_with("`LocalKey::get`"), "{text}");
    let text = message_of(|| KEY.with(|_| ()));
    assert!(text.starts_with("`LocalKey::with`"), "{text}");
}

#[test]
fn a_scope_inside_a_closure_that_borrows_the_value_is_refused() {
    let found = Arc::new(Mutex::new(Vec::new()));
    NUMBER.sync_scope(1, || {
        NUMBER.with(|_| {
            // Closures may read within each other.
            assert_eq!(NUMBER.get(), 1);
            let text = message_of(|| NUMBER.sync_scope(2, || ()));
            assert!(text.contains("borrowed"), "{text}");
            let finds = Finds(found.clone());
            let inner = NUMBER.scope(3, async move { drop(finds) });
            let text = message_of(|| evenkeel::block_on(inner));
            assert!(text.contains("borrowed"), "{text}");
        });
        assert_eq!(NUMBER.get(), 1);
    });
    // The future was dropped all the same, with what was there.
    assert_eq!(*found.lock().unwrap(), [Some(1)]);
}

#[test]
fn the_value_can_be_taken_from_the_scope() {
    let mut context = Context::from_waker(Waker::noop());
    let mut scope = pin!(NAME.scope("gig".to_owned(), async {
        while NAME.try_get().is_ok() {
            yield_now().await;
        }
    }));
    NAME.sync_scope("launch".to_owned(), || {
        assert!(scope.as_mut().poll(&mut context).is_pending());
        assert_eq!(scope.as_mut().take_value().as_deref(), Some("gig"));
        // It hides the outer one without a value too.
        assert!(scope.as_mut().poll(&mut context).is_ready());
        assert_eq!(scope.as_mut().take_value(), None);
        assert_eq!(NAME.get(), "launch");
    });
    let again = AssertUnwindSafe(|| scope.as_mut().poll(&mut context));
    catch_unwind(again).unwrap_err();
    assert!(NAME.try_get().is_err());
}

/// Over many orders of steps on one thread.
#[test]
fn over_seeds_no_task_finds_the_value_of_another() {
    let _watchdog = watchdog();
    explore(0..100, |_| async {
        let mut set = JoinSet::new();
        for n in 0..8 {
            let inner = async move {
                for _ in 0..random(4) {
                    yield_now().await;
                    assert_eq!(NUMBER.get(), n);
                }
                if n % 4 == 1 {
                    pending::<()>().await;
                }
            };
            let abort = set.spawn(NUMBER.scope(n, inner));
            if n % 4 == 1 {
                drop(evenkeel::spawn(async move {
                    assert!(NUMBER.try_get().is_err());
                    abort.abort();
                }));
            }
        }
        set.spawn(async {
            for _ in 0..4 {
                assert!(NUMBER.try_get().is_err());
                yield_now().await;
            }
        });
        while let Some(joined) = set.join_next().await {
            assert!(joined.map_or_else(|error| error.is_cancelled(), |()| true));
            assert!(NUMBER.try_get().is_err());
        }
    });
}
