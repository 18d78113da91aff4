//! Objects that are read repeatedly are read by all workers at once, and never during a write.

use crate::common::objects::{at, in_place, join, runtime, worker};
use crate::common::polling::Hand;
use crate::common::watchdog::{watchdog, watchdog_within};
use evenkeel::object::{self, EnterError, Object};
use evenkeel::{Runtime, block_on, yield_now};
use evenkeel_policy::object::sharing::READS;
use evenkeel_policy::random::Random;
use std::collections::HashSet;
use std::hint::{black_box, spin_loop};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::channel;
use std::sync::{Arc, Condvar, Mutex};
use std::thread;
use std::time::{Duration, Instant};

const WORKERS: usize = 3;

/// A value that shows a write in progress.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Pair(u64, u64);

impl Pair {
    fn add(&mut self) {
        self.0 += 1;
        (0..20).for_each(|_| spin_loop());
        black_box(&mut *self).1 += 1;
    }

    fn sum(&self) -> u64 {
        let first = black_box(self).0;
        (0..2).for_each(|_| spin_loop());
        assert_eq!(first, black_box(self).1, "a write is in progress");
        first
    }
}

/// Objects of the kinds that all workers can read.
fn objects<T>(runtime: &Runtime, value: impl Fn() -> T) -> [Object<T>; 4] {
    let automatic = runtime.block_on(async { Object::new(value()).class("automatic") });
    [in_place(runtime, value()), at(runtime, 0, value()), at(runtime, 1, value()), automatic]
}

/// Reads it often enough for all workers to be admitted.
async fn read_often<T: Send + Sync>(object: &Object<T>) {
    for _ in 0..2 * READS {
        object.read(|_| ()).await.unwrap();
    }
}

/// A meeting of different workers.
#[derive(Default)]
struct Meeting {
    here: Mutex<HashSet<usize>>,
    changed: Condvar,
}

impl Meeting {
    /// Waits for all workers; returns false if some are missing for a long time.
    fn is_full(&self) -> bool {
        /// Workers still missing after this time cannot enter.
        const LONG: Duration = Duration::from_secs(3);
        let mut here = self.here.lock().unwrap();
        here.insert(worker());
        self.changed.notify_all();
        let is_missing = |here: &mut HashSet<usize>| here.len() < WORKERS;
        self.changed.wait_timeout_while(here, LONG, is_missing).unwrap().0.len() == WORKERS
    }
}

/// Whether all workers are inside at once; each waits there for the others.
fn all_meet_inside<T: Send + Sync + 'static>(runtime: &Runtime, object: &Object<T>) -> bool {
    let meeting = Arc::new(Meeting::default());
    let tasks: Vec<_> = (0..WORKERS)
        .map(|_| {
            let (object, meeting) = (object.clone(), meeting.clone());
            runtime.spawn(async move { object.read(|_| meeting.is_full()).await.unwrap() })
        })
        .collect();
    join(tasks).into_iter().all(|met| met)
}

/// Whether all may read it at once, after many reads in a row.
fn is_read_by_all<T: Send + Sync + 'static>(runtime: &Runtime, object: &Object<T>) -> bool {
    // A worker that the system kept off its core may have prevented the sharing.
    (0..4).any(|_| {
        let task = runtime.spawn({
            let object = object.clone();
            async move { read_often(&object).await }
        });
        join([task]);
        all_meet_inside(runtime, object)
    })
}

#[test]
fn all_workers_are_inside_at_once() {
    let _watchdog = watchdog();
    let runtime = runtime(WORKERS);
    for object in objects(&runtime, || 0_u64) {
        assert!(is_read_by_all(&runtime, &object), "{object:?}");
        let home = object.home();
        for _ in 0..3 {
            // Threads that are no workers read alone.
            assert_eq!(object.call_blocking(|value| *value), Ok(0));
        }
        assert_eq!(object.home(), home);
    }
}

#[test]
fn workers_read_an_object_in_place_together_from_the_first_read() {
    let _watchdog = watchdog();
    let runtime = runtime(WORKERS);
    let object = in_place(&runtime, 0_u64);
    // One read in many is alone inside, and it may be one of these.
    let meets = |round: u64| {
        let met = all_meet_inside(&runtime, &object);
        assert_eq!(object.call_blocking(|sum| *sum += 1), Ok(()));
        assert_eq!(object.call_blocking(|sum| *sum), Ok(round + 1), "nothing is left of reads");
        met
    };
    assert!((0..4).any(meets));
}

#[test]
fn a_long_read_stops_no_other_reads() {
    let _watchdog = watchdog();
    /// Readers still missing after this time cannot enter.
    const LONG: Duration = Duration::from_secs(3);
    let runtime = runtime(WORKERS);
    let object = in_place(&runtime, 0_u64);
    let (enters, has_entered) = channel();
    let (ends, have_read) = channel();
    let long = runtime.spawn({
        let object = object.clone();
        async move {
            let inside = move |_: &u64| {
                enters.send(()).unwrap();
                have_read.recv_timeout(LONG).is_ok()
            };
            assert!(object.read(inside).await.unwrap(), "the other reads wait for this one");
        }
    });
    let short = runtime.spawn(async move {
        has_entered.recv().unwrap();
        // Too few reads for one of them to let all readers in without a count.
        for _ in 0..1_000 {
            object.read(|_| ()).await.unwrap();
        }
        // The receiver may have given up.
        _ = ends.send(());
    });
    join([long, short]);
}

#[test]
fn reads_and_operations_that_are_alone_see_each_other() {
    let _watchdog = watchdog();
    let runtime = runtime(WORKERS);
    let object = in_place(&runtime, Pair::default());
    let done = Arc::new(AtomicBool::new(false));
    let readers: Vec<_> = (0..WORKERS)
        .map(|_| {
            let (object, done) = (object.clone(), done.clone());
            runtime.spawn(async move {
                let mut last = 0;
                while !done.load(Ordering::Relaxed) {
                    let sum = object.read(Pair::sum).await.unwrap();
                    assert!(sum >= last, "a read has missed an operation before it");
                    last = sum;
                }
            })
        })
        .collect();
    for _ in 0..1_000 {
        object.call_blocking(Pair::add).unwrap();
    }
    done.store(true, Ordering::Relaxed);
    join(readers);
    assert_eq!(object.call_blocking(|pair| *pair), Ok(Pair(1_000, 1_000)));
}

#[test]
fn a_write_ends_it_and_reads_begin_it_again() {
    let _watchdog = watchdog();
    let runtime = runtime(WORKERS);
    for object in objects(&runtime, Pair::default) {
        assert!(is_read_by_all(&runtime, &object), "{object:?}");
        let task = runtime.spawn({
            let object = object.clone();
            async move {
                object.with(Pair::add).await.unwrap();
                object.enter().await.unwrap().add();
                object.enter_held().await.unwrap().add();
                assert_eq!(object.read(Pair::sum).await, Ok(3));
            }
        });
        join([task]);
        assert!(is_read_by_all(&runtime, &object), "{object:?}");
        assert_eq!(block_on(object.read(Pair::sum)), Ok(3));
    }
}

/// All tasks read; some operations are writes of various kinds. Returns the number of writes.
async fn use_one(object: &Object<Pair>, random: &mut Random, operations: u64) -> u64 {
    let (mut writes, mut seen) = (0, 0);
    for _ in 0..operations {
        match random.below(1_200) {
            0 => object.with(Pair::add).await.unwrap(),
            1 => object.enter().await.unwrap().add(),
            2 => {
                let mut held = object.enter_held().await.unwrap();
                held.0 += 1;
                yield_now().await;
                held.1 += 1;
            }
            3 => {
                let Some(mut guard) = object.try_enter().unwrap() else { continue };
                guard.add();
            }
            _ => {
                let sum = object.read(Pair::sum).await.unwrap();
                assert!(sum >= seen, "what has been read is read again");
                seen = sum;
                continue;
            }
        }
        writes += 1;
    }
    writes
}

/// Used by tasks of the object's runtime and of another, and by threads outside both.
fn use_by_all(runtime: &Runtime, object: &Object<Pair>, tasks: u64) {
    const OPERATIONS: u64 = if cfg!(debug_assertions) { 100_000 } else { 300_000 };
    let other = crate::common::objects::runtime(1);
    let spawn = |runtime: &Runtime, seed, operations| {
        let object = object.clone();
        runtime.spawn(async move { use_one(&object, &mut Random::new(seed), operations).await })
    };
    let mut all: Vec<_> = (0..tasks).map(|seed| spawn(runtime, seed, OPERATIONS)).collect();
    all.push(spawn(&other, tasks, OPERATIONS / 100));
    let thread = thread::spawn({
        let object = object.clone();
        move || block_on(use_one(&object, &mut Random::new(tasks + 1), OPERATIONS / 100))
    });
    let writes = join(all).into_iter().sum::<u64>() + thread.join().expect("it ends well");
    assert!(writes > 0);
    assert_eq!(object.call_blocking(|pair| *pair), Ok(Pair(writes, writes)));
}

#[test]
fn writers_and_readers_exclude_each_other() {
    let _watchdog = watchdog();
    let runtime = runtime(WORKERS);
    for object in objects(&runtime, Pair::default) {
        use_by_all(&runtime, &object, 6);
    }
}

/// How often a class has begun or ceased to use homes until the end, as seen by a task at each of
/// its turns.
async fn count_changes(over: Arc<AtomicBool>) -> u64 {
    let is_at_home = || object::report().classes.iter().any(|class| class.at_home);
    let (mut changes, mut before) = (0, is_at_home());
    while !over.load(Ordering::Relaxed) {
        yield_now().await;
        let now = is_at_home();
        changes += u64::from(now != before);
        before = now;
    }
    changes
}

/// Enough tasks for the class to try homes.
#[test]
fn while_the_class_changes_its_mode() {
    /// A class that has not tried homes by then never will.
    const LONG: Duration = Duration::from_secs(60);
    let _watchdog = watchdog_within(2 * LONG);
    let runtime = runtime(2);
    // The tasks may finish before the class has tried both ways.
    let (mut changes, start) = (0, Instant::now());
    while changes < 2 && start.elapsed() < LONG {
        let object = runtime.block_on(async { Object::new(Pair::default()).class("automatic") });
        let over = Arc::new(AtomicBool::new(false));
        let count = runtime.spawn(count_changes(over.clone()));
        use_by_all(&runtime, &object, 24);
        over.store(true, Ordering::Relaxed);
        changes += join([count])[0];
    }
    let report = runtime.block_on(async { object::report() });
    assert!(changes >= 2, "{report}");
}

/// Computes for `time`, in a build without optimisation as in another.
fn compute(time: Duration) {
    let start = Instant::now();
    while start.elapsed() < time {
        spin_loop();
    }
}

/// Reads overlap, and some are longer than a writer waits for them at a time.
#[test]
fn a_writer_gets_in_although_a_reader_is_inside_at_all_times() {
    let _watchdog = watchdog();
    let runtime = runtime(WORKERS);
    for object in objects(&runtime, || 0_u64) {
        let (over, reads) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicU64::new(0)));
        let readers: Vec<_> = (0..2 * WORKERS as u64)
            .map(|reader| {
                let (object, over, reads) = (object.clone(), over.clone(), reads.clone());
                runtime.spawn(async move {
                    while !over.load(Ordering::Relaxed) {
                        let turn = reads.fetch_add(1, Ordering::Relaxed);
                        let length = if turn % 64 == reader { 100 } else { 3 };
                        object.read(|_| compute(Duration::from_micros(length))).await.unwrap();
                    }
                })
            })
            .collect();
        for writes in 1..=8 {
            // Enough reads for the object to be shared.
            let before = reads.load(Ordering::Relaxed);
            while reads.load(Ordering::Relaxed) < before + 2 * u64::from(READS) {
                thread::yield_now();
            }
            let write = |object: Object<u64>| async move {
                object.with(|value| *value += 1).await.unwrap();
                object.read(|value| *value).await
            };
            assert_eq!(join([runtime.spawn(write(object.clone()))]), [Ok(writes)]);
        }
        over.store(true, Ordering::Relaxed);
        join(readers);
    }
}

#[test]
fn a_panic_in_a_read_poisons_nothing() {
    let _watchdog = watchdog();
    let runtime = runtime(WORKERS);
    for object in objects(&runtime, || 7_u64) {
        let panics = || {
            let task = runtime.spawn({
                let object = object.clone();
                async move { object.read(|_| resume_unwind(Box::new("halfway"))).await }
            });
            assert!(block_on(task).unwrap_err().is_panic());
            let read = || block_on(object.read(|_| resume_unwind(Box::new("halfway"))));
            assert!(catch_unwind(AssertUnwindSafe(read)).is_err());
            assert!(!object.is_poisoned());
            assert_eq!(object.call_blocking(|value| *value), Ok(7), "and all have left");
        };
        panics();
        assert!(is_read_by_all(&runtime, &object), "{object:?}");
        let task = runtime.spawn({
            let object = object.clone();
            async move { object.read(|_| resume_unwind(Box::new("halfway"))).await }
        });
        assert!(block_on(task).unwrap_err().is_panic());
        assert!(all_meet_inside(&runtime, &object), "it is as it was");
        panics();
    }
}

#[test]
fn an_object_that_was_read_by_all_and_is_poisoned_refuses_reads() {
    let _watchdog = watchdog();
    let runtime = runtime(WORKERS);
    for object in objects(&runtime, || 7_u64) {
        assert!(is_read_by_all(&runtime, &object), "{object:?}");
        let task = runtime.spawn({
            let object = object.clone();
            async move { object.with(|_| resume_unwind(Box::new("halfway"))).await }
        });
        assert!(block_on(task).unwrap_err().is_panic());
        let reads: Vec<_> = (0..WORKERS)
            .map(|_| {
                let object = object.clone();
                runtime.spawn(async move { object.read(|value| *value).await })
            })
            .collect();
        for read in join(reads) {
            assert!(matches!(read, Err(EnterError::Poisoned(_))));
        }
        assert!(matches!(block_on(object.read(|value| *value)), Err(EnterError::Poisoned(_))));
        object.clear_poison();
        assert_eq!(block_on(object.read(|value| *value)), Ok(7));
        assert!(is_read_by_all(&runtime, &object), "{object:?}");
    }
}

/// By all ways in, alone or beside other readers.
#[test]
fn a_reader_does_not_enter_again() {
    fn is_refused(object: &Object<u64>) {
        fn refused<T>(result: Result<T, EnterError>) {
            assert!(matches!(result, Err(EnterError::Inside(_))));
        }
        /// Now and then other tasks have a turn first.
        fn at_once<F: Future>(future: F) -> F::Output {
            let mut hand = Hand::new(future);
            hand.poll().or_else(|| hand.poll()).expect("it does not wait")
        }
        refused(at_once(object.read(|value| *value)));
        refused(at_once(object.with(|value| *value += 1)));
        refused(object.try_enter());
        refused(at_once(object.enter_held()));
    }
    let _watchdog = watchdog();
    let runtime = runtime(WORKERS);
    for object in objects(&runtime, || 0_u64) {
        let read = |object: Object<u64>| async move {
            object.read(|_| is_refused(&object)).await.unwrap();
            object.read(|value| *value).await
        };
        assert_eq!(join([runtime.spawn(read(object.clone()))]), [Ok(0)]);
        assert!(is_read_by_all(&runtime, &object), "{object:?}");
        assert_eq!(join([runtime.spawn(read(object.clone()))]), [Ok(0)]);
        assert!(all_meet_inside(&runtime, &object), "that has changed nothing");
        assert_eq!(block_on(read(object.clone())), Ok(0));
    }
}

/// Reads the first object, inside it the next, and so on, and calls `within` inside all. Returns
/// their sum.
fn nest(objects: &[Object<u64>], within: &dyn Fn()) -> u64 {
    let [object, inner @ ..] = objects else {
        within();
        return 0;
    };
    let mut hand = Hand::new(object.read(|value| *value + nest(inner, within)));
    hand.poll().or_else(|| hand.poll()).expect("no other task is there").unwrap()
}

/// Which of the objects another worker can read while a task is inside all of them.
fn are_read_beside(runtime: &Runtime, objects: &[Object<u64>]) -> Vec<bool> {
    let ((enter, entered), (leave, left)) = (channel(), channel());
    let inside = runtime.spawn({
        let objects = objects.to_vec();
        async move {
            let within = || {
                enter.send(worker()).unwrap();
                left.recv().unwrap();
            };
            assert_eq!(nest(&objects, &within), 15);
        }
    });
    let place = entered.recv().expect("it gets in");
    let objects = objects.to_vec();
    let others = runtime.spawn(async move {
        assert_ne!(worker(), place, "that one is inside of them");
        let is_read = |object: &Object<u64>| {
            let mut hand = Hand::new(object.read(|_| ()));
            // The first poll may give other tasks a turn.
            hand.poll().or_else(|| hand.poll()).is_some()
        };
        objects.iter().map(is_read).collect()
    });
    let [read] = join([others]).try_into().expect("it is one");
    leave.send(()).expect("it waits for that");
    join([inside]);
    read
}

/// There are fewer notes than objects that one poll can be inside of: reads of objects without a
/// note are exclusive.
#[test]
fn more_objects_at_a_time_than_there_are_notes() {
    let _watchdog = watchdog();
    let runtime = runtime(2);
    let mut objects: Vec<_> = (0..6_u64).map(|n| in_place(&runtime, n)).collect();
    for _ in 0..2 {
        let task = runtime.spawn({
            let objects = objects.clone();
            async move {
                for object in &objects {
                    read_often(object).await;
                }
            }
        });
        join([task]);
        let read = are_read_beside(&runtime, &objects);
        assert_eq!(read, [true, true, true, true, false, false]);
        // Objects without a note have one in this round, and all workers read them after the usual
        // number of reads.
        objects.reverse();
    }
}
