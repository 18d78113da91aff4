//! Guards that outlive the scope of their origin: a run, a worker's loop, a runtime, a thread, or
//! their own owner's use of them.

use crate::common::objects::{Holding, at, in_place, runtime};
use crate::common::watchdog::watchdog;
use evenkeel::deterministic::run;
use evenkeel::object::{EnterError, Guard, HeldGuard, Object, Placement};
use evenkeel::{Builder, Runtime, Shutdown, WorkerThread, block_on};
use std::cell::RefCell;
use std::sync::{OnceLock, mpsc};
use std::thread;
use std::time::Duration;

type Slot = OnceLock<Object<u64>>;

/// The guard of an object of a run, at home there or in place, which leaves the run as its output.
fn leave_a_run(slot: &Slot, placement: Placement) -> Guard<'_, u64> {
    run(1, async {
        let object = Object::new(0).placed("left", placement);
        slot.set(object).expect("there is one run");
        slot.get().expect("it has just been set").enter().await.unwrap()
    })
}

/// Whether a thread that is no worker can enter: it tries more often than a fence may turn it back.
fn is_free(object: &Object<u64>) -> bool {
    let tries = || (0..100).any(|_| object.try_enter().unwrap().is_some());
    thread::scope(|scope| scope.spawn(tries).join().expect("it is not poisoned"))
}

#[track_caller]
fn is_refused(object: &Object<u64>) {
    assert!(matches!(object.try_enter(), Err(EnterError::Inside(_))), "it would wait for itself");
}

const PLACEMENTS: [Placement; 2] = [Placement::InPlace, Placement::Home];

#[test]
fn a_guard_that_is_dropped_in_another_run_ends_no_operation_of_that() {
    let _watchdog = watchdog();
    for placement in PLACEMENTS {
        let slot = Slot::new();
        let first = leave_a_run(&slot, placement);
        run(2, async {
            let object = Object::new(0).placed("entered", Placement::Home);
            let second = object.enter().await.unwrap();
            drop(first);
            assert!(!is_free(&object), "its operation is not over");
            drop(second);
            assert!(is_free(&object));
        });
        assert!(is_free(&slot.into_inner().expect("it was set")));
    }
}

#[test]
fn a_guard_that_has_left_its_run_keeps_others_out_until_it_is_dropped() {
    let _watchdog = watchdog();
    for placement in PLACEMENTS {
        let slot = Slot::new();
        let guard = leave_a_run(&slot, placement);
        let object = slot.get().expect("it was set");
        assert!(!is_free(object));
        drop(guard);
        assert!(is_free(object));
        assert_eq!(object.call_blocking(|value| *value), Ok(0));
    }
}

#[test]
fn a_thread_that_keeps_a_guard_of_a_run_that_is_over_is_inside() {
    let _watchdog = watchdog();
    for placement in PLACEMENTS {
        let slot = Slot::new();
        let guard = leave_a_run(&slot, placement);
        let object = slot.get().expect("it was set");
        is_refused(object);
        assert!(matches!(object.call_blocking(|_| ()), Err(EnterError::Inside(_))));
        // In another run too, with the same thread as its worker.
        run(2, async {
            assert!(!is_free(object));
            is_refused(object);
        });
        drop(guard);
        assert_eq!(object.call_blocking(|value| *value), Ok(0));
    }
}

/// A worker on the caller's own thread runs one runtime after another, and keeps a guard, which it
/// drops inside another object.
#[test]
fn a_guard_that_is_kept_by_a_thread_which_works_for_a_second_runtime() {
    let _watchdog = watchdog();
    thread_local! {
        static KEPT: RefCell<Option<Guard<'static, u64>>> = const { RefCell::new(None) };
    }
    for placement in PLACEMENTS {
        let (workers, come) = mpsc::channel::<WorkerThread>();
        let thread = thread::spawn(move || come.into_iter().for_each(WorkerThread::run));
        let build = || {
            let send = |worker| workers.send(worker).map_err(|_| std::io::ErrorKind::Other.into());
            Builder::new().workers(1).build_with(send).expect("the runtime starts")
        };
        let first = build();
        let kept: &'static Object<u64> =
            Box::leak(Box::new(first.block_on(async { Object::new(0).placed("kept", placement) })));
        let keep = async { KEPT.set(Some(kept.enter().await.unwrap())) };
        block_on(first.spawn(keep)).expect("the task ends well");
        assert!(!is_free(kept));
        drop(first);
        assert!(!is_free(kept), "the runtime has ended, and the operation has not");
        let second = build();
        let object = at(&second, 0, 0);
        let drops = {
            let object = object.clone();
            async move {
                let _inside = object.enter().await.unwrap();
                is_refused(kept);
                KEPT.take();
                assert!(!is_free(&object), "its operation is not over");
            }
        };
        block_on(second.spawn(drops)).expect("the task ends well");
        assert!(is_free(kept));
        drop((second, workers));
        thread.join().expect("the workers end well");
    }
}

#[test]
fn a_guard_that_is_dropped_as_the_thread_of_its_worker_ends() {
    let _watchdog = watchdog();
    thread_local! {
        static KEPT: RefCell<Option<Guard<'static, u64>>> = const { RefCell::new(None) };
    }
    let objects: [fn(&Runtime) -> Object<u64>; 2] =
        [|runtime| in_place(runtime, 0), |runtime| at(runtime, 0, 0)];
    for object in objects {
        let runtime = runtime(1);
        let object: &'static Object<u64> = Box::leak(Box::new(object(&runtime)));
        let keep = async { KEPT.set(Some(object.enter().await.unwrap())) };
        block_on(runtime.spawn(keep)).expect("the task ends well");
        assert!(!is_free(object));
        // The drop waits for the workers' threads.
        drop(runtime);
        assert!(is_free(object));
    }
}

#[test]
fn a_guard_of_a_settled_worker_whose_runtime_has_ended() {
    let _watchdog = watchdog();
    for placement in PLACEMENTS {
        let settles = move || {
            let mut settled = Ok(());
            let runtime = Builder::new().workers(1).build_with(|worker| {
                settled = worker.settle();
                Ok(())
            });
            settled.expect("it was no worker");
            let runtime = runtime.expect("the runtime starts");
            let object = Object::new(0).placed("settled", placement);
            let guard = object.try_enter().unwrap().expect("it is free");
            runtime.shutdown(Shutdown::Abort);
            assert!(!is_free(&object));
            is_refused(&object);
            drop(guard);
            assert!(is_free(&object));
        };
        thread::spawn(settles).join().expect("it ends well");
    }
}

/// In place, at home, and outside all runtimes.
fn objects(runtime: &Runtime) -> [Object<u64>; 3] {
    [in_place(runtime, 0), at(runtime, 0, 0), Object::new(0)]
}

/// Enters new objects, most of which reuse the address of a dropped one, and forgets some guards:
/// of more objects than a worker has notes for.
async fn forget_guards(new: &[fn() -> Object<u64>]) {
    for round in 0..100 {
        for new in new {
            let object = new();
            let guard = object.enter().await;
            let guard = guard.unwrap_or_else(|error| panic!("in round {round}: {error}"));
            if round % 2 == 0 {
                std::mem::forget(guard);
                is_refused(&object);
                if round % 20 == 0 {
                    assert!(!is_free(&object), "its own operation is never over");
                }
            }
        }
    }
}

#[test]
fn a_guard_that_is_forgotten_locks_no_other_object_that_gets_its_address() {
    let _watchdog = watchdog();
    let new: [fn() -> Object<u64>; 2] = [
        || Object::new(0).placed("in place", Placement::InPlace),
        || Object::new(0).placed("at home", Placement::Home).at(0),
    ];
    let runtime = runtime(1);
    let task = async move { forget_guards(&new).await };
    block_on(runtime.spawn(task)).expect("the task ends well");
    runtime.block_on(forget_guards(&new));
    run(1, forget_guards(&new));
    block_on(forget_guards(&[|| Object::new(0)]));
}

#[test]
fn an_object_whose_guard_was_forgotten_is_locked_in_another_class_too() {
    let _watchdog = watchdog();
    let runtime = runtime(1);
    for placement in PLACEMENTS {
        let task = runtime.spawn(async move {
            let object = Object::new(0).placed("before", Placement::Home).at(0);
            std::mem::forget(object.enter().await.unwrap());
            let object = object.placed("after", placement);
            assert!(!is_free(&object));
        });
        block_on(task).expect("the task ends well");
    }
}

/// A destructor of a thread-local, which enters an object as its thread ends.
struct AtEnd(Object<u64>);

impl Drop for AtEnd {
    fn drop(&mut self) {
        self.0.call_blocking(|value| *value += 1).unwrap();
    }
}

#[test]
fn a_destructor_of_a_thread_local_enters_an_object() {
    let _watchdog = watchdog();
    thread_local! {
        static BEFORE: RefCell<Option<AtEnd>> = const { RefCell::new(None) };
        static AFTER: RefCell<Option<AtEnd>> = const { RefCell::new(None) };
    }
    let runtime = runtime(2);
    for object in objects(&runtime) {
        let ends = {
            let object = object.clone();
            move || {
                BEFORE.set(Some(AtEnd(object.clone())));
                object.call_blocking(|value| *value += 1).unwrap();
                AFTER.set(Some(AtEnd(object)));
            }
        };
        thread::spawn(ends).join().expect("it ends well");
        assert_eq!(object.call_blocking(|value| *value), Ok(3));
    }
}

/// The object is held, so the thread sleeps in its destructor.
#[test]
fn a_destructor_of_a_thread_local_waits_in_line() {
    let _watchdog = watchdog();
    thread_local! {
        static END: RefCell<Option<AtEnd>> = const { RefCell::new(None) };
    }
    let runtime = runtime(2);
    for object in objects(&runtime) {
        let holding = Holding::of(&runtime, &object);
        let ends = {
            let object = object.clone();
            move || END.set(Some(AtEnd(object)))
        };
        let thread = thread::spawn(ends);
        // By then it is most likely in line.
        thread::sleep(Duration::from_millis(20));
        holding.leave();
        thread.join().expect("it ends well");
        assert_eq!(object.call_blocking(|value| *value), Ok(1));
    }
}

/// The guard of a held operation goes to another thread, and the entering thread ends; the next
/// thread may reuse its address.
#[test]
fn a_thread_that_comes_after_the_holder_of_an_object_is_another_one() {
    let _watchdog = watchdog();
    let object = Object::new(0);
    let enters = || block_on(object.enter_held()).unwrap();
    let held: HeldGuard<'_, u64> =
        thread::scope(|scope| scope.spawn(enters).join().expect("it ends well"));
    for _ in 0..10 {
        assert!(!is_free(&object));
    }
    drop(held);
    assert!(is_free(&object));
}
