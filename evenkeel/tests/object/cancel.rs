//! Tasks that are cancelled on their way to an object, and objects that lose their last handle
//! while operations are on their way.

use crate::common::objects::{at, comes_home, in_place, runtime};
use crate::common::until::until;
use crate::common::watchdog::watchdog;
use evenkeel::object::Object;
use evenkeel::{JoinHandle, Runtime, block_on, spawn, yield_now};
use evenkeel_policy::random::Random;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// A flag that is set once, for waiters.
#[derive(Clone, Default)]
struct Flag(Arc<AtomicBool>);

impl Flag {
    fn set(&self) {
        self.0.store(true, Ordering::Release);
    }

    fn wait(&self) {
        until(|| self.0.load(Ordering::Acquire));
    }
}

/// Counts its live instances.
struct Counted(Arc<AtomicUsize>);

impl Counted {
    fn new(count: &Arc<AtomicUsize>) -> Self {
        count.fetch_add(1, Ordering::AcqRel);
        Self(count.clone())
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::AcqRel);
    }
}

/// Two workers, each inside a poll until it is told to leave, with travellers from one to the other
/// on their way. Each needs a runtime of its own: once a worker knows that the blockers' polls are
/// long, other tasks overtake them.
struct OnTheirWay {
    travellers: Vec<JoinHandle<()>>,
    /// Counts the travellers' live futures.
    futures: Arc<AtomicUsize>,
    open: [Flag; 2],
    blockers: Vec<JoinHandle<()>>,
}

impl OnTheirWay {
    /// `count` tasks are on their way from worker 1 to the object at worker 0, and have not
    /// arrived.
    fn new(runtime: &Runtime, object: &Object<u64>, count: usize) -> Self {
        let (begun, open): ([Flag; 2], [Flag; 2]) = Default::default();
        let anchors = [0, 1].map(|number| at(runtime, number, ()));
        let mut blockers = vec![runtime.spawn({
            let (anchor, begun, open) = (anchors[0].clone(), begun[0].clone(), open[0].clone());
            async move {
                comes_home(&anchor).await;
                begun.set();
                open.wait();
            }
        })];
        begun[0].wait();
        let futures = Arc::new(AtomicUsize::new(0));
        let left = Arc::new(AtomicUsize::new(0));
        let (spawner, spawned) = futures::channel::oneshot::channel();
        drop(runtime.spawn({
            let (anchor, object, futures) = (anchors[1].clone(), object.clone(), futures.clone());
            let (begun, open, left) = (begun[1].clone(), open[1].clone(), left.clone());
            async move {
                comes_home(&anchor).await;
                let travellers: Vec<_> = (0..count)
                    .map(|_| {
                        let (counted, left) = (Counted::new(&futures), left.clone());
                        let object = object.clone();
                        spawn(async move {
                            let _counted = counted;
                            left.fetch_add(1, Ordering::AcqRel);
                            object.with(|value| *value += 1).await.unwrap();
                        })
                    })
                    .collect();
                let blocker = spawn(async move {
                    // Where the system has kept this worker off its core twice, travellers may look
                    // like tasks with long polls, which a newer one overtakes.
                    while left.load(Ordering::Acquire) < count {
                        yield_now().await;
                    }
                    begun.set();
                    open.wait();
                });
                spawner.send((travellers, blocker)).expect("the test waits");
            }
        }));
        let (travellers, blocker) = block_on(spawned).expect("it has spawned them");
        begun[1].wait();
        assert_eq!(left.load(Ordering::Acquire), count, "all have left");
        blockers.push(blocker);
        Self { travellers, futures, open, blockers }
    }

    /// Releases both workers.
    fn open(self) -> Vec<JoinHandle<()>> {
        self.open.iter().for_each(Flag::set);
        for blocker in self.blockers {
            block_on(blocker).expect("the task ends well");
        }
        self.travellers
    }
}

/// From one, which stays with the sender, to more than a passage has room for.
const COUNTS: [usize; 6] = [1, 6, 7, 20, 224, 500];

#[test]
fn on_the_way() {
    let _watchdog = watchdog();
    for count in COUNTS {
        let runtime = runtime(2);
        let object = at(&runtime, 0, 0);
        let way = OnTheirWay::new(&runtime, &object, count);
        let futures = way.futures.clone();
        way.travellers.iter().for_each(JoinHandle::abort);
        for traveller in way.open() {
            assert!(block_on(traveller).unwrap_err().is_cancelled());
        }
        assert_eq!(object.call_blocking(|value| *value), Ok(0), "none has been inside");
        until(|| futures.load(Ordering::Acquire) == 0);
    }
}

/// Some are cancelled, and the others arrive.
#[test]
fn some_on_the_way() {
    let _watchdog = watchdog();
    for count in COUNTS {
        let runtime = runtime(2);
        let object = at(&runtime, 0, 0);
        let way = OnTheirWay::new(&runtime, &object, count);
        way.travellers.iter().step_by(3).for_each(JoinHandle::abort);
        let mut arrived = 0;
        for (number, traveller) in way.open().into_iter().enumerate() {
            match block_on(traveller) {
                Ok(()) => arrived += 1,
                Err(error) => assert!(error.is_cancelled() && number % 3 == 0),
            }
        }
        assert_eq!(arrived, (count - count.div_ceil(3)) as u64);
        assert_eq!(object.call_blocking(|value| *value), Ok(arrived));
    }
}

/// The value is dropped after the last operation, and not before.
#[test]
fn an_object_whose_handle_goes() {
    let _watchdog = watchdog();
    for abort in [false, true] {
        for count in COUNTS {
            let runtime = runtime(2);
            let values = Arc::new(AtomicUsize::new(0));
            let counted = Counted::new(&values);
            let object = at(&runtime, 0, 0);
            // It lives as long as the object with operations on their way.
            let owner = at(&runtime, 0, counted);
            let way = OnTheirWay::new(&runtime, &object, count);
            let last = runtime.spawn({
                let owner = owner.clone();
                async move { owner.with(|_| ()).await.unwrap() }
            });
            drop((object, owner));
            assert_eq!(values.load(Ordering::Acquire), 1);
            if abort {
                way.travellers.iter().for_each(JoinHandle::abort);
                last.abort();
            }
            for traveller in way.open().into_iter().chain([last]) {
                assert_eq!(block_on(traveller).is_err(), abort);
            }
            until(|| values.load(Ordering::Acquire) == 0);
        }
    }
}

/// The task is at the object's home, ready, and has not been polled there.
#[test]
fn at_home_before_it_entered() {
    let _watchdog = watchdog();
    let runtime = runtime(1);
    let (object, anchor) = (at(&runtime, 0, 0), at(&runtime, 0, ()));
    let task = runtime.spawn(async move {
        anchor.with(|()| ()).await.unwrap();
        let visitor = spawn({
            let object = object.clone();
            async move {
                // Other tasks have a turn before each 64th operation.
                for _ in 0..1_000 {
                    object.with(|value| *value += 1).await.unwrap();
                }
            }
        });
        yield_now().await;
        let before = object.with(|value| *value).await.unwrap();
        assert!(before < 1_000, "it is on its way to the next");
        visitor.abort();
        assert!(visitor.await.unwrap_err().is_cancelled());
        assert_eq!(object.with(|value| *value).await.unwrap(), before);
    });
    block_on(task).expect("the task ends well");
}

/// In whichever state the task is cancelled, each operation has been made or not, and the object is
/// free.
#[test]
fn at_random() {
    let _watchdog = watchdog();
    for workers in [1, 2, 4] {
        let runtime = runtime(workers);
        let mut objects: Vec<_> = (0..workers).map(|home| at(&runtime, home, 0)).collect();
        objects.push(in_place(&runtime, 0));
        let done = Arc::new(AtomicUsize::new(0));
        let mut random = Random::new(workers as u64);
        for _ in 0..50 {
            let tasks: Vec<_> = (0..20)
                .map(|seed| {
                    let (objects, done) = (objects.clone(), done.clone());
                    runtime.spawn(async move {
                        let mut random = Random::new(seed);
                        loop {
                            let object = &objects[random.below(objects.len() as u64) as usize];
                            if random.below(8) == 0 {
                                let mut held = object.enter_held().await.unwrap();
                                yield_now().await;
                                *held += 1;
                                done.fetch_add(1, Ordering::Relaxed);
                            } else {
                                let operation = |value: &mut u64| {
                                    *value += 1;
                                    done.fetch_add(1, Ordering::Relaxed);
                                };
                                object.with(operation).await.unwrap();
                            }
                        }
                    })
                })
                .collect();
            let enough = done.load(Ordering::Relaxed) + random.below(2_000) as usize;
            until(|| done.load(Ordering::Relaxed) >= enough);
            tasks.iter().for_each(|task: &JoinHandle<()>| task.abort());
            for task in tasks {
                assert!(block_on(task).unwrap_err().is_cancelled());
            }
        }
        let values = objects.iter().map(|object| object.call_blocking(|value| *value).unwrap());
        assert_eq!(values.sum::<u64>(), done.load(Ordering::Relaxed) as u64);
    }
}
