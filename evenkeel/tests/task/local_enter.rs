//! Sets that are entered without a driver: which set is the current one, and for how long.

use crate::common::runtime::runtime;
use crate::common::watchdog::watchdog;
use evenkeel::task::{Builder, LocalEnterGuard, LocalSet, TaskPanic, spawn_local};
use evenkeel::yield_now;
use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;
use std::sync::mpsc;
use std::thread;

/// Whether the thread is inside of no set.
fn is_outside() -> bool {
    catch_unwind(|| drop(spawn_local(async {}))).is_err()
}

/// A list, and what makes futures that put a text into it.
fn log() -> (Rc<RefCell<Vec<&'static str>>>, impl Fn(&'static str)) {
    let log = Rc::new(RefCell::new(Vec::new()));
    let noted = log.clone();
    let spawn_note = move |text| {
        let log = noted.clone();
        drop(spawn_local(async move { log.borrow_mut().push(text) }));
    };
    (log, spawn_note)
}

#[test]
fn code_outside_of_futures_spawns_in_a_set_that_is_entered() {
    let _watchdog = watchdog();
    for workers in [1, 2, 8] {
        let (runtime, set) = (runtime(workers), LocalSet::new());
        assert!(is_outside());
        let own = Rc::new(7);
        let task = {
            let _entered = set.enter();
            // Other threads are not inside.
            assert!(thread::spawn(is_outside).join().unwrap());
            assert!(runtime.block_on(runtime.spawn(async { is_outside() })).unwrap());
            spawn_local(async move { *own })
        };
        assert!(is_outside());
        assert!(!task.is_finished(), "the guard drives nothing");
        assert_eq!(set.block_on(&runtime, task).unwrap(), 7);
    }
}

#[test]
fn a_driver_that_has_entered_a_set_takes_its_tasks_inside() {
    let _watchdog = watchdog();
    let runtime = evenkeel::Builder::new_current_thread().build().unwrap();
    let set = LocalSet::new();
    let task = {
        let _entered = set.enter();
        runtime.block_on(runtime.spawn(async { drop(spawn_local(async {})) })).unwrap();
        spawn_local(async { 7 })
    };
    assert_eq!(set.block_on(&runtime, task).unwrap(), 7);
    assert!(runtime.block_on(runtime.spawn(async { is_outside() })).unwrap());
}

#[test]
fn the_inner_set_is_current_whether_it_is_driven_or_entered() {
    let _watchdog = watchdog();
    let (outer, inner) = (LocalSet::new(), LocalSet::new());
    let (log, spawn) = log();
    {
        let _outer = outer.enter();
        spawn("outer");
        {
            let _inner = inner.enter();
            spawn("inner");
            evenkeel::block_on(outer.run_until(async { spawn("outer, driven") }));
            spawn("inner, still");
        }
        spawn("outer again");
        evenkeel::block_on(inner.run_until(async { spawn("inner, driven") }));
        spawn("outer at last");
    }
    assert!(is_outside());
    evenkeel::block_on(outer);
    assert_eq!(*log.borrow(), ["outer", "outer, driven", "outer again", "outer at last"]);
    log.borrow_mut().clear();
    evenkeel::block_on(inner);
    assert_eq!(*log.borrow(), ["inner", "inner, still", "inner, driven"]);
}

#[test]
fn a_local_task_enters_another_set_for_a_moment() {
    let _watchdog = watchdog();
    let (outer, inner) = (LocalSet::new(), Rc::new(LocalSet::new()));
    let (log, spawn) = log();
    let entered = inner.clone();
    let task = outer.spawn_local(async move {
        {
            let _entered = entered.enter();
            spawn("inner");
        }
        yield_now().await;
        spawn("outer");
    });
    evenkeel::block_on(outer.run_until(task)).unwrap();
    assert!(is_outside());
    evenkeel::block_on(outer);
    assert_eq!(*log.borrow(), ["outer"]);
    evenkeel::block_on(Rc::into_inner(inner).unwrap());
    assert_eq!(*log.borrow(), ["outer", "inner"]);
}

#[test]
fn guards_in_another_order_panic_and_leave_their_own_sets() {
    let _watchdog = watchdog();
    let (first, second) = (LocalSet::new(), LocalSet::new());
    let (log, spawn) = log();
    let (outer, inner) = (first.enter(), second.enter());
    let panic = catch_unwind(AssertUnwindSafe(|| drop(outer))).unwrap_err();
    let text = panic.downcast_ref::<&str>().unwrap();
    assert!(text.contains("`LocalSet::enter`") && text.contains("reverse"), "{text}");
    spawn("second");
    drop(inner);
    assert!(is_outside());
    evenkeel::block_on(second);
    assert_eq!(*log.borrow(), ["second"]);

    // A guard that a panic drops does not panic for its part.
    let unwound = catch_unwind(AssertUnwindSafe(|| {
        let outer = first.enter();
        let _inner = first.enter();
        let _dropped_before = outer;
        panic!("first");
    }));
    assert_eq!(unwound.unwrap_err().downcast_ref(), Some(&"first"));
    assert!(is_outside());
}

#[test]
fn a_set_that_is_dropped_while_it_is_entered_cancels_what_is_spawned() {
    let _watchdog = watchdog();
    let set = LocalSet::new();
    let own = Rc::new(());
    let entered = set.enter();
    let inside = own.clone();
    let before = spawn_local(async move { inside });
    drop(set);
    let inside = own.clone();
    let after = spawn_local(async move { inside });
    assert_eq!(Rc::strong_count(&own), 1, "both futures are gone");
    for task in [before, after] {
        assert!(evenkeel::block_on(task).unwrap_err().is_cancelled());
    }
    drop(entered);
    assert!(is_outside());
}

#[test]
fn named_tasks_are_named_in_reports() {
    let _watchdog = watchdog();
    for workers in [1, 2, 8] {
        let (sender, reports) = mpsc::channel();
        let hook = move |panic: &TaskPanic<'_>| sender.send(panic.task.clone()).unwrap();
        let runtime = evenkeel::Builder::new().workers(workers).on_task_panic(hook);
        let runtime = runtime.build().unwrap();
        let set = LocalSet::new();
        let own = Rc::new(());
        let panics = |own: Rc<()>| async move {
            yield_now().await;
            drop(own);
            panic!("aground");
        };
        drop(Builder::new().name("cook").spawn_local_on(panics(own.clone()), &set));
        {
            let _entered = set.enter();
            drop(Builder::new().name("mate").spawn_local(panics(own.clone())));
            drop(Builder::new().spawn_local(panics(own)));
        }
        runtime.block_on(set);
        for name in [Some("cook"), Some("mate"), None] {
            let task = reports.try_recv().unwrap();
            assert_eq!(task.name.as_deref(), name);
            assert!(task.spawn_site.file().ends_with("local_enter.rs"), "{task}");
        }
    }
    let outside = catch_unwind(|| drop(Builder::new().name("cook").spawn_local(async {})));
    assert!(outside.is_err());
}

/// The guard stays with its thread.
#[test]
fn a_guard_is_not_sent() {
    trait Unsent<A> {
        fn is_unsent() {}
    }
    impl<T: ?Sized> Unsent<()> for T {}
    impl<T: ?Sized + Send> Unsent<u8> for T {}
    // Ambiguous, and so no program, for a type that is sent.
    <LocalEnterGuard as Unsent<_>>::is_unsent();
}
