//! Runs that a seed determines: the same order for the same seed, all orders over all seeds, and
//! the ways in which a run fails.

use common::panics::{Bomb, message_of};
use common::unwinds::Unwinds;
use evenkeel::deterministic::{Cause, Failure, Options, explore, find, random, run};
use evenkeel::sync::Semaphore;
use evenkeel::sync::monitor::Monitor;
use evenkeel::task::park;
use evenkeel::time::{Duration, Instant, interval, resume, sleep, timeout};
use evenkeel::{JoinHandle, fork_join, spawn, spawn_blocking, yield_now};
use std::cell::{Cell, RefCell};
use std::collections::{BTreeSet, HashSet};
use std::future::{Future, pending};
use std::panic::{catch_unwind, panic_any};
use std::rc::Rc;
use std::sync::{Arc, Mutex};

mod common {
    pub(crate) mod panics;
    pub(crate) mod unwinds;
}

/// The events, in order.
#[derive(Clone, Default)]
struct Notes(Arc<Mutex<Vec<String>>>);

impl Notes {
    fn add(&self, note: impl Into<String>) {
        self.0.lock().unwrap().push(note.into());
    }

    fn take(&self) -> Vec<String> {
        std::mem::take(&mut self.0.lock().unwrap())
    }
}

/// Records its drop.
struct Noted(Notes, String);

impl Drop for Noted {
    fn drop(&mut self) {
        self.0.add(format!("{} dropped", self.1));
    }
}

async fn waits(_noted: Noted) {
    pending::<()>().await;
}

async fn all<T>(tasks: Vec<JoinHandle<T>>) -> Vec<T> {
    let mut outputs = Vec::new();
    for task in tasks {
        outputs.push(task.await.unwrap());
    }
    outputs
}

/// Tasks that spawn, yield, sleep, wait for permits and for each other, join, and are cancelled.
async fn everything(notes: Notes) {
    let start = Instant::now();
    let gate = Arc::new(Semaphore::new(2));
    let mut tasks = Vec::new();
    for n in 0..6_u64 {
        let (notes, gate) = (notes.clone(), gate.clone());
        tasks.push(spawn(async move {
            for round in 0..3 {
                gate.take().await;
                notes.add(format!("{n} holds in round {round} at {:?}", start.elapsed()));
                sleep(Duration::from_micros(random(50))).await;
                gate.add_permits(1);
                yield_now().await;
            }
            let inner = notes.clone();
            spawn(async move { inner.add(format!("child of {n}")) }).await.unwrap();
            n
        }));
    }
    for n in 0..3 {
        drop(spawn(waits(Noted(notes.clone(), format!("idle {n}")))));
    }
    let blocking = notes.clone();
    spawn_blocking(move || blocking.add("a closure that may block")).await.unwrap();
    assert_eq!(all(tasks).await.iter().sum::<u64>(), 15);
    notes.add(format!("over at {:?}", start.elapsed()));
}

fn trace(seed: u64) -> (Vec<String>, u64) {
    let notes = Notes::default();
    let finished = Options::new(seed).run(everything(notes.clone())).unwrap();
    (notes.take(), finished.fingerprint)
}

#[test]
fn a_seed_gives_the_same_steps_a_hundred_times_and_other_seeds_give_others() {
    let first = trace(17);
    assert_eq!(first.0.iter().filter(|note| note.starts_with("idle")).count(), 3);
    for _ in 0..100 {
        assert_eq!(trace(17), first);
    }
    let others: HashSet<_> = (0..50).map(trace).collect();
    assert_eq!(others.len(), 50);
}

/// A pinned result: a change here changes the meaning of every seed.
#[test]
fn a_seed_means_the_same_on_every_machine() {
    let order = |seed| {
        run(seed, async {
            let notes = Notes::default();
            let note = |n: u32| {
                let notes = notes.clone();
                spawn(async move { notes.add(n.to_string()) })
            };
            all((0..6).map(note).collect()).await;
            notes.take().concat()
        })
    };
    assert_eq!([order(0), order(1), order(2)], ["340512", "250314", "215403"]);
}

#[test]
fn every_order_of_a_few_tasks_comes_with_some_seed() {
    let mut orders = BTreeSet::new();
    for seed in 0..300 {
        orders.insert(run(seed, async {
            let notes = Notes::default();
            let note = |n: u32| {
                let notes = notes.clone();
                spawn(async move { notes.add(n.to_string()) })
            };
            all((0..4).map(note).collect()).await;
            notes.take().concat()
        }));
    }
    assert_eq!(orders.len(), 24);
}

#[test]
fn the_future_need_not_be_send_and_takes_turns_with_the_tasks() {
    let places: BTreeSet<_> = (0..50)
        .map(|seed| {
            run(seed, async {
                let (turns, own) = (Arc::new(Mutex::new(0)), Rc::new(RefCell::new(0)));
                for _ in 0..3 {
                    let turns = turns.clone();
                    drop(spawn(async move { *turns.lock().unwrap() += 1 }));
                }
                yield_now().await;
                *own.borrow_mut() += *turns.lock().unwrap();
                *own.borrow()
            })
        })
        .collect();
    assert_eq!(places, BTreeSet::from([0, 1, 2, 3]));
}

#[test]
fn the_clock_begins_at_the_same_time_and_moves_from_deadline_to_deadline() {
    let begun = run(1, async { format!("{:?}", Instant::now()) });
    assert_eq!(begun, run(2, async { format!("{:?}", Instant::now()) }));
    explore(0..50, |_| async {
        let (start, notes) = (Instant::now(), Notes::default());
        let tasks = [30, 10, 20, 10_000_000].map(|millis| {
            let notes = notes.clone();
            spawn(async move {
                sleep(Duration::from_millis(millis)).await;
                assert_eq!(start.elapsed(), Duration::from_millis(millis));
                notes.add(millis.to_string());
            })
        });
        all(tasks.into()).await;
        assert_eq!(notes.take(), ["10", "20", "30", "10000000"]);
        let late = timeout(Duration::from_secs(5), pending::<()>()).await;
        assert!(late.is_err());
        let mut ticks = interval(Duration::from_secs(1));
        for _ in 0..3 {
            ticks.tick().await;
        }
    });
}

#[test]
fn nothing_is_moved_past_what_is_ready() {
    explore(0..200, |_| async {
        let start = Instant::now();
        let sleeper = spawn(sleep(Duration::from_nanos(1)));
        for _ in 0..20 {
            yield_now().await;
            assert_eq!(start.elapsed(), Duration::ZERO);
        }
        sleeper.await.unwrap();
    });
}

#[test]
fn forks_and_jobs_run_on_the_same_thread_within_the_step() {
    explore(0..20, |_| async {
        let here = std::thread::current().id();
        let (count, jobs) = (Notes::default(), Notes::default());
        let (notes, inner) = (count.clone(), jobs.clone());
        let task = spawn(async move {
            let (a, b) =
                fork_join::join(|| std::thread::current().id(), || std::thread::current().id());
            assert_eq!([a, b], [here; 2]);
            fork_join::scope(|scope| {
                for _ in 0..10 {
                    scope.spawn(|_| notes.add("scoped"));
                }
            });
            fork_join::spawn(move || inner.add("job"));
        });
        task.await.unwrap();
        assert_eq!(count.take().len(), 10);
        assert_eq!(jobs.take().len(), 1);
        assert_eq!(evenkeel::Handle::current().install(|| 6 * 7), 42);
    });
}

#[test]
fn a_wake_by_another_thread_is_taken_in_while_something_is_ready() {
    let (sender, receiver) = async_channel::bounded(1);
    let thread = std::thread::spawn(move || sender.send_blocking(7).unwrap());
    let got = run(3, async move {
        let task = spawn(async move { receiver.recv().await.unwrap() });
        while !task.is_finished() {
            yield_now().await;
        }
        task.await.unwrap()
    });
    assert_eq!(got, 7);
    thread.join().unwrap();
}

fn failure<F: Future<Output = ()>>(program: impl FnMut(u64) -> F) -> Failure {
    find(40..41, program).unwrap_err()
}

#[test]
fn a_panic_of_the_future_fails_the_run_and_tasks_are_dropped() {
    let notes = Notes::default();
    let failure = failure(|_| {
        let notes = notes.clone();
        async move {
            drop(spawn(waits(Noted(notes, "task".to_owned()))));
            spawn(async {}).await.unwrap();
            panic!("on purpose");
        }
    });
    let words = failure.to_string();
    assert!(words.starts_with("the run with seed 40 failed: it panicked: on purpose"), "{words}");
    assert!(words.contains(file!()), "the last steps are told: {words}");
    assert_eq!(notes.take(), ["task dropped"]);
}

#[test]
fn a_panic_without_a_joiner_fails_the_run_unless_it_is_tolerated() {
    let program = || async {
        drop(spawn(async { panic!("alone") }));
        for _ in 0..50 {
            yield_now().await;
        }
    };
    let failure = failure(|_| program());
    let Cause::TaskPanicked { task: Some(task), words } = &failure.cause else {
        panic!("{failure}")
    };
    assert_eq!((words.as_str(), task.spawn_site.file()), ("alone", file!()));
    Options::new(1).tolerate_panics(true).run(program()).unwrap();
    run(1, async { assert!(spawn(async { panic!("joined") }).await.unwrap_err().is_panic()) });
    let job = find(0..1, |_| async {
        spawn(async { fork_join::spawn(|| panic!("a job")) }).await.unwrap();
    });
    assert!(matches!(job.unwrap_err().cause, Cause::TaskPanicked { task: None, .. }));
}

#[test]
fn a_run_in_which_nothing_can_happen_any_more_says_which_tasks_wait() {
    let failure = failure(|_| async {
        drop(evenkeel::task::Builder::new().name("the one that waits").spawn(pending::<()>()));
        pending::<()>().await;
    });
    let Cause::Stalled { waiting } = &failure.cause else { panic!("{failure}") };
    assert_eq!(waiting.len(), 1);
    let words = failure.to_string();
    assert!(words.contains("the future of the run waits for ever"), "{words}");
    assert!(words.contains("no timer is set; tasks that wait beside it: 1"), "{words}");
    assert!(words.contains("\"the one that waits\""), "{words}");
}

#[test]
fn two_locks_in_two_orders_are_a_deadlock_with_some_seed() {
    let philosophers = |_| async {
        let forks = Arc::new([Monitor::new(0), Monitor::new(1)]);
        let eat = |first: usize| {
            let forks = forks.clone();
            spawn(async move {
                let _one = forks[first].enter().await;
                yield_now().await;
                let _other = forks[1 - first].enter().await;
            })
        };
        all(vec![eat(0), eat(1)]).await;
    };
    let found = find(0..100, philosophers).unwrap_err();
    match &found.cause {
        Cause::Deadlock(deadlock) => assert_eq!(deadlock.links.len(), 2),
        Cause::Stalled { waiting } => {
            assert!(!evenkeel::detect::is_on());
            assert_eq!(waiting.len(), 2);
        }
        other => panic!("{other}"),
    }
    let again = find(found.seed..found.seed + 1, philosophers).unwrap_err();
    assert_eq!(again.fingerprint, found.fingerprint);
}

#[test]
fn a_program_that_goes_round_in_a_circle_is_ended() {
    let failure = Options::new(5).max_steps(1_000).run(async {
        loop {
            yield_now().await;
        }
    });
    let failure =
        failure.map(|finished: evenkeel::deterministic::Finished<()>| finished.steps).unwrap_err();
    assert!(matches!(failure.cause, Cause::TooLong { steps: 1_000, .. }), "{failure}");
    // The same with a clock that advances.
    let failure = Options::new(5).max_steps(1_000).run(async {
        drop(spawn(async {
            loop {
                sleep(Duration::from_secs(1)).await;
            }
        }));
        pending::<()>().await;
    });
    let Cause::TooLong { elapsed, .. } = failure.unwrap_err().cause else { panic!() };
    assert!(elapsed > Duration::from_secs(900));
}

#[test]
fn what_a_seed_does_not_determine_is_found() {
    let steps = Cell::new(1);
    let failure = Options::new(1)
        .verify(|| async {
            steps.set(steps.get() + 1);
            for _ in 0..steps.get() {
                spawn(async {}).await.unwrap();
            }
        })
        .unwrap_err();
    let Cause::Differs { step, steps } = &failure.cause else { panic!("{failure}") };
    assert!(*step > 0 && steps[0].is_none() && steps[1].is_some(), "{failure}");
    assert!(failure.to_string().contains("the first run was over"), "{failure}");
    Options::new(1).verify(|| everything(Notes::default())).unwrap();
}

#[test]
fn a_second_run_that_fails_in_a_step_of_the_first_is_a_failure() {
    let runs = Cell::new(0);
    let verified = Options::new(1).verify(|| async {
        runs.set(runs.get() + 1);
        assert_eq!(runs.get(), 1, "what one run leaves to the next");
    });
    let cause = verified.unwrap_err().cause;
    assert!(matches!(cause, Cause::Panicked { .. }), "{cause}");
}

#[test]
fn random_numbers_belong_to_the_seed_and_leave_the_order_alone() {
    let draw = |seed, draws: usize| {
        run(seed, async move {
            let numbers: Vec<_> = (0..draws).map(|_| random(1_000)).collect();
            let notes = Notes::default();
            everything(notes.clone()).await;
            (numbers, notes.take().len())
        })
    };
    assert_eq!(draw(1, 50), draw(1, 50));
    assert_ne!(draw(1, 50).0, draw(2, 50).0);
    assert!(draw(1, 50).0.iter().all(|&number| number < 1_000));
    assert!(catch_unwind(|| random(6)).is_err(), "there is no run here");
    assert!(catch_unwind(|| run(0, async { random(0) })).is_err());
}

#[test]
fn what_cannot_be_is_refused_with_a_reason() {
    let words = |failure: Failure| failure.to_string();
    let inside = failure(|_| async {
        let inner = spawn(async { run(1, async {}) });
        let panic = inner.await.unwrap_err().into_panic();
        std::panic::resume_unwind(panic);
    });
    assert!(words(inside).contains("begun inside a task"));
    let resumed = failure(|_| async { resume() });
    assert!(words(resumed).contains("the clock of a deterministic run"));
    let blocked = failure(|_| async { evenkeel::block_on(async {}) });
    assert!(words(blocked).contains("block_on is called inside a task"));
}

#[test]
fn the_text_of_a_failure_says_how_to_run_it_again() {
    let words = message_of(|| explore(7..9, |_| async { panic!("no luck") }));
    assert!(words.contains("no luck") && words.contains("EVENKEEL_SEED="), "{words}");
}

#[test]
fn what_a_run_leaves_behind_is_dropped_by_its_end() {
    let notes = Notes::default();
    let own = notes.clone();
    let handle = run(9, async move {
        drop(spawn(waits(Noted(own.clone(), "unowned".to_owned()))));
        yield_now().await;
        let late = spawn(waits(Noted(own, "joined too late".to_owned())));
        Some(late)
    });
    let handle = handle.unwrap();
    assert_eq!(notes.take().len(), 2);
    assert!(evenkeel::block_on(handle).unwrap_err().is_cancelled());
    assert_eq!(Arc::strong_count(&notes.0), 1);
}

#[test]
fn the_future_of_a_run_that_panics_is_dropped_while_its_panic_unwinds() {
    let unwinding = Arc::new(Mutex::new(Vec::new()));
    let future = Unwinds::new(&unwinding, || panic_any("second"));
    let failure = Options::new(0).run(future).expect_err("it fails");
    assert!(failure.to_string().contains("first"), "{failure}");
    assert_eq!(*unwinding.lock().unwrap(), [true]);
}

#[test]
fn a_payload_whose_destructor_panics_leaves_no_task_behind() {
    struct Throws;

    impl Drop for Throws {
        fn drop(&mut self) {
            panic_any(Bomb("the payload's destructor"));
        }
    }

    let notes = Notes::default();
    let kept = Cell::new(None);
    let failure = Options::new(1).run(async {
        let _throws = Throws;
        kept.set(Some(spawn(waits(Noted(notes.clone(), "task".to_owned())))));
        pending::<()>().await;
    });
    assert!(matches!(failure.unwrap_err().cause, Cause::Stalled { .. }));
    assert_eq!(notes.take(), ["task dropped"]);
    let handle = kept.take().unwrap();
    handle.abort();
    assert!(evenkeel::block_on(handle).unwrap_err().is_cancelled());
}

/// All of them are spawned at one place.
#[test]
fn a_second_run_that_polls_other_tasks_differs() {
    const TASKS: usize = 10;
    let wakes = |order: Vec<usize>| async move {
        let tasks: Vec<_> = (0..TASKS).map(|_| evenkeel::spawn(park())).collect();
        sleep(Duration::from_millis(1)).await;
        for task in order {
            tasks[task].task().unpark();
            sleep(Duration::from_millis(1)).await;
        }
        for task in tasks {
            task.await.unwrap();
        }
    };
    let equal = Options::new(3).verify(|| wakes((0..TASKS).collect()));
    let steps = equal.unwrap().steps;
    assert!(steps > TASKS as u64);
    // A set of the standard library has an order of its own each time.
    let failure = Options::new(3).verify(|| {
        let set: HashSet<usize> = (0..TASKS).collect();
        wakes(set.into_iter().collect())
    });
    let cause = failure.unwrap_err().cause;
    assert!(matches!(&cause, Cause::Differs { steps: [None, None], .. }), "{cause}");
    assert!(cause.to_string().contains("other ones"), "{cause}");
}
