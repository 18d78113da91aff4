//! Panics of the library name the place of the call.

use evenkeel::object::{Object, Placement};
use evenkeel::topology::Topology;
use evenkeel::{Handle, Runtime};
use std::panic::{self, AssertUnwindSafe};
use std::sync::Mutex;
use std::thread;

/// Hooks are the process's, so one test has its own at a time.
static HOOK: Mutex<()> = Mutex::new(());

/// The file that the panic of `f` names. Other threads may panic meanwhile.
fn file_of(f: impl FnOnce()) -> String {
    static FILE: Mutex<String> = Mutex::new(String::new());
    let own = thread::current().id();
    let _hook = HOOK.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let before = panic::take_hook();
    panic::set_hook(Box::new(move |info| {
        if thread::current().id() != own {
            return;
        }
        let file = info.location().map_or("", |location| location.file());
        *FILE.lock().expect("no panic while it is held") = file.to_owned();
    }));
    let result = panic::catch_unwind(AssertUnwindSafe(f));
    panic::set_hook(before);
    assert!(result.is_err(), "it panics");
    FILE.lock().expect("no panic while it is held").clone()
}

#[test]
fn a_panic_names_the_file_that_calls() {
    let calls: [(&str, fn()); 10] = [
        ("spawn", || drop(evenkeel::spawn(async {}))),
        ("spawn_blocking", || drop(evenkeel::spawn_blocking(|| ()))),
        ("spawn_local", || drop(evenkeel::task::spawn_local(async {}))),
        ("named spawn", || drop(evenkeel::task::Builder::new().name("a").spawn(async {}))),
        ("current task", || drop(evenkeel::task::current())),
        ("current runtime", || drop(Handle::current())),
        ("Object::at", || drop(Object::new(0).at(7))),
        ("Object::placed", || {
            let object = Object::new(0);
            let _clone = object.clone();
            drop(object.placed("class", Placement::Home));
        }),
        ("Topology::flat", || drop(Topology::flat(0))),
        ("into_panic", || {
            let runtime = Runtime::new().unwrap();
            let error = runtime.block_on(async {
                let task = evenkeel::spawn(std::future::pending::<()>());
                task.abort();
                task.await.unwrap_err()
            });
            drop(error.into_panic());
        }),
    ];
    for (name, call) in calls {
        let file = file_of(call);
        assert!(file.ends_with("tests/values/panics.rs"), "{name}: {file}");
    }
}

#[test]
fn block_on_inside_a_task_names_the_file_that_calls() {
    let runtime = Runtime::new().unwrap();
    let file = runtime.block_on(async {
        evenkeel::spawn(async { file_of(|| evenkeel::block_on(async {})) }).await.unwrap()
    });
    assert!(file.ends_with("tests/values/panics.rs"), "{file}");
}
