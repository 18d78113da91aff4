//! Entry from inside other pollers: combinators, coroutines, threads, fork-join, tasks with a
//! public part.

use crate::common::objects::{Holding, at, comes_home, in_place, join, runtime};
use crate::common::watchdog::watchdog;
use evenkeel::coroutine::{Coroutine, Resume, Step, Suspender};
use evenkeel::fork_join;
use evenkeel::internal::{After, Berth, Part, Public, Right};
use evenkeel::object::{EnterError, Object};
use evenkeel::{Runtime, block_on, yield_now};
use futures::channel::oneshot;
use futures::future::{Either, select};
use futures::stream::{FuturesUnordered, StreamExt};
use std::panic::Location;
use std::pin::pin;
use std::thread;

/// One object at each worker, one in place and one outside.
fn objects(runtime: &Runtime, workers: usize) -> Vec<Object<u64>> {
    let mut objects: Vec<_> = (0..workers).map(|home| at(runtime, home, 0)).collect();
    objects.extend([in_place(runtime, 0), Object::new(0)]);
    objects
}

fn values(objects: &[Object<u64>]) -> Vec<u64> {
    objects.iter().map(|object| object.call_blocking(|value| *value).unwrap()).collect()
}

/// Runs the future on each kind of thread: in some tasks of the objects' runtime, in one of
/// another, and on threads.
fn everywhere<F>(runtime: &Runtime, future: impl Fn() -> F) -> u64
where
    F: Future<Output = ()> + Send + 'static,
{
    let other = crate::common::objects::runtime(1);
    let tasks: Vec<_> =
        (0..4).map(|_| runtime.spawn(future())).chain([other.spawn(future())]).collect();
    block_on(future());
    runtime.block_on(future());
    join(tasks);
    7
}

/// The futures pull the task to different homes.
#[test]
fn join_of_several() {
    let _watchdog = watchdog();
    for workers in [1, 3] {
        let runtime = runtime(workers);
        let objects = objects(&runtime, workers);
        let times = everywhere(&runtime, || {
            let objects = objects.clone();
            async move {
                for _ in 0..100 {
                    let mut all = objects.iter().map(|object| object.with(|value| *value += 1));
                    let (a, b, c) = (all.next().unwrap(), all.next().unwrap(), all.next().unwrap());
                    let results = futures::join!(a, b, c);
                    assert_eq!(results, (Ok(()), Ok(()), Ok(())));
                }
            }
        });
        assert_eq!(values(&objects[..3]), [times * 100; 3]);
    }
}

/// Many at a time, as one task's own futures.
#[test]
fn futures_unordered() {
    let _watchdog = watchdog();
    let runtime = runtime(3);
    let objects = objects(&runtime, 3);
    let times = everywhere(&runtime, || {
        let objects = objects.clone();
        async move {
            let entries = objects.iter().cycle().take(200);
            let mut entries: FuturesUnordered<_> = entries
                .map(|object| async move {
                    for _ in 0..5 {
                        object.with(|value| *value += 1).await.unwrap();
                        yield_now().await;
                    }
                })
                .collect();
            while entries.next().await.is_some() {}
        }
    });
    assert_eq!(values(&objects), [times * 200; 5]);
}

/// A future dropped because another was first has done nothing.
#[test]
fn select_of_two() {
    let _watchdog = watchdog();
    let runtime = runtime(3);
    let objects = objects(&runtime, 3);
    let (sum, summed) = std::sync::mpsc::channel();
    everywhere(&runtime, || {
        let (objects, sum) = (objects.clone(), sum.clone());
        async move {
            let mut entered = 0;
            for round in 0..500 {
                let one = &objects[round % objects.len()];
                let other = &objects[(round * 3 + 1) % objects.len()];
                let one = one.with(|value| *value += 1);
                match select(pin!(one), pin!(other.enter_held())).await {
                    Either::Left((result, _)) => result.unwrap(),
                    Either::Right((held, _)) => *held.unwrap() += 1,
                }
                entered += 1;
            }
            sum.send(entered).expect("the test waits");
        }
    });
    drop(sum);
    assert_eq!(values(&objects).iter().sum::<u64>(), summed.iter().sum());
}

/// The body of a coroutine awaits as part of the resumer's task.
#[test]
fn a_coroutine() {
    let _watchdog = watchdog();
    let runtime = runtime(3);
    let objects = objects(&runtime, 3);
    let times = everywhere(&runtime, || {
        let objects = objects.clone();
        async move {
            let body = async move |mut suspender: Suspender<usize, usize>, first: usize| {
                let mut number = first;
                loop {
                    let Some(object) = objects.get(number) else { return };
                    object.with(|value| *value += 1).await.unwrap();
                    let mut held = object.enter_held().await.unwrap();
                    *held += 1;
                    // Held while the coroutine is suspended.
                    number = suspender.suspend(number).await;
                    drop(held);
                }
            };
            let mut coroutine = Box::pin(Coroutine::new(body));
            for number in 0..5 {
                assert_eq!(coroutine.as_mut().resume_async(number).await, Step::Yielded(number));
            }
            assert_eq!(coroutine.as_mut().resume_async(5).await, Step::Complete(()));
        }
    });
    assert_eq!(values(&objects), [times * 2; 5]);
}

#[test]
fn threads_outside_of_any_runtime() {
    let _watchdog = watchdog();
    let runtime = runtime(2);
    let objects = objects(&runtime, 2);
    let threads = [0; 3].map(|_| {
        let objects = objects.clone();
        thread::spawn(move || {
            block_on(async {
                for object in objects.iter().cycle().take(2_000) {
                    object.with(|value| *value += 1).await.unwrap();
                }
            });
        })
    });
    for thread in threads {
        thread.join().expect("the thread ends well");
    }
    assert_eq!(values(&objects), [1_500; 4]);
}

/// They cannot wait, so they try; an object at another home refuses them.
#[test]
fn fork_join_closures() {
    let _watchdog = watchdog();
    let runtime = runtime(3);
    let objects = objects(&runtime, 3);
    let count = || {
        let add = |object: &Object<u64>| match object.try_enter() {
            Ok(Some(mut value)) => {
                *value += 1;
                1
            }
            Ok(None) => 0,
            Err(error) => panic!("{error}"),
        };
        fn halves(
            objects: &[Object<u64>],
            depth: u32,
            add: &(impl Fn(&Object<u64>) -> u64 + Sync),
        ) -> u64 {
            if depth == 0 {
                return objects.iter().map(add).sum();
            }
            let half = || halves(objects, depth - 1, add);
            let (one, other) = fork_join::join(half, half);
            one + other
        }
        halves(&objects, 10, &add)
    };
    let inside = runtime.install(count);
    let task = runtime.spawn({
        let objects = objects.clone();
        async move {
            for object in &objects {
                object.with(|value| *value += 1).await.unwrap();
            }
        }
    });
    join([task]);
    assert!(inside > 0);
    assert_eq!(values(&objects).iter().sum::<u64>(), inside + 5);
}

/// An operation is ordinary code: it may fork.
#[test]
fn an_operation_that_forks() {
    let _watchdog = watchdog();
    let runtime = runtime(3);
    for object in [at(&runtime, 1, vec![0_u64; 10_000]), in_place(&runtime, vec![0; 10_000])] {
        fn add(values: &mut [u64]) {
            if values.len() <= 100 {
                values.iter_mut().for_each(|value| *value += 1);
                return;
            }
            let (one, other) = values.split_at_mut(values.len() / 2);
            fork_join::join(|| add(one), || add(other));
        }
        let tasks = [0; 8].map(|_| {
            let object = object.clone();
            runtime.spawn(async move {
                for _ in 0..20 {
                    object.with(|values| add(values)).await.unwrap();
                }
            })
        });
        join(tasks);
        assert!(object.call_blocking(|values| values.iter().all(|&value| value == 160)).unwrap());
    }
}

/// A public part without messages, or one that always has its task polled again.
struct Says(After);

impl Part for Says {
    fn after_poll(&self, _right: Right<'_>) -> After {
        self.0
    }

    fn with_berth<R>(&self, f: impl FnOnce(&mut Berth) -> R) -> R {
        f(&mut Berth::closed())
    }
}

/// Like actors.
#[test]
fn tasks_with_a_public_part() {
    let _watchdog = watchdog();
    for workers in [1, 3] {
        let runtime = runtime(workers);
        let objects = objects(&runtime, workers);
        for after in [After::Wait, After::Again] {
            let tasks: Vec<_> = (0..10)
                .map(|_| {
                    let objects = objects.clone();
                    let (end, ended) = oneshot::channel();
                    let future = |own: Public<Says>| async move {
                        for object in objects.iter().cycle().take(100 * objects.len()) {
                            object.with(|value| *value += 1).await.unwrap();
                        }
                        end.send(()).expect("the test waits");
                        drop(own);
                    };
                    let spawn = async { Public::spawn(|| Says(after), future, Location::caller()) };
                    (runtime.block_on(spawn), ended)
                })
                .collect();
            for (task, ended) in tasks {
                block_on(ended).expect("the task ends well");
                drop(task);
            }
        }
        assert!(values(&objects).iter().all(|&value| value == 2_000));
    }
}

/// While one part of a task is inside, another part of it would wait for the first, so far as the
/// runtime can tell.
#[test]
fn parts_of_a_task_are_one_holder() {
    let _watchdog = watchdog();
    let runtime = runtime(2);
    for object in objects(&runtime, 2) {
        let parts = |object: Object<u64>| async move {
            let (entered, inside) = oneshot::channel();
            let (leave, told) = oneshot::channel();
            let hold = async {
                let held = object.enter_held().await.unwrap();
                entered.send(()).unwrap();
                told.await.unwrap();
                drop(held);
            };
            let enter = async {
                inside.await.unwrap();
                let results = (object.with(|_| ()).await, object.enter_held().await.map(drop));
                leave.send(()).unwrap();
                results
            };
            let ((), results) = futures::join!(hold, enter);
            let refused = |result| matches!(result, Err(EnterError::Inside { .. }));
            assert!(refused(results.0) && refused(results.1));
            object.with(|_| ()).await.unwrap();
        };
        join([runtime.spawn(parts(object.clone()))]);
        block_on(parts(object));
    }
}

/// The request of a dropped future to its task does no harm.
#[test]
fn a_journey_that_is_given_up() {
    let _watchdog = watchdog();
    let runtime = runtime(2);
    let (near, far) = (at(&runtime, 0, ()), at(&runtime, 1, 0));
    let tasks = [0; 4].map(|_| {
        let (near, far) = (near.clone(), far.clone());
        runtime.spawn(async move {
            for _ in 0..100 {
                comes_home(&near).await;
                let mut far_entry = Box::pin(far.enter());
                drop(futures::poll!(far_entry.as_mut()));
                drop(far_entry);
                near.with(|()| ()).await.unwrap();
            }
            far.with(|value| *value += 1).await.unwrap();
        })
    });
    join(tasks);
    assert_eq!(far.call_blocking(|value| *value), Ok(4));
}

/// A part in line behind others, and then behind another part of its own task, would wait for ever.
#[test]
fn a_part_in_line_behind_another_part_hears_of_it() {
    let _watchdog = watchdog();
    let runtime = runtime(2);
    let object = in_place(&runtime, 0_u64);
    for is_held in [false, true] {
        let holding = Holding::of(&runtime, &object);
        let (ready, is_ready) = oneshot::channel();
        let task = runtime.spawn({
            let object = object.clone();
            async move {
                let (tell, told) = oneshot::channel();
                let first = async {
                    let held = object.enter_held().await.expect("it comes first");
                    told.await.expect("the other part tells it");
                    drop(held);
                };
                let second = async {
                    let result = if is_held {
                        object.enter_held().await.map(drop)
                    } else {
                        object.with(|value| *value += 1).await
                    };
                    tell.send(()).expect("the first part waits for it");
                    result
                };
                let news = async {
                    yield_now().await;
                    ready.send(()).expect("the test waits for it");
                };
                futures::join!(first, second, news).1
            }
        });
        block_on(is_ready).unwrap();
        holding.leave();
        let result = block_on(task).unwrap();
        assert!(matches!(result, Err(EnterError::Inside(_))), "{result:?}");
    }
    assert_eq!(object.call_blocking(|value| *value), Ok(0));
}
