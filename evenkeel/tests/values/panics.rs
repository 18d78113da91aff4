//! Panics of the library name the place of the call.

use evenkeel::object::{Object, Placement};
use evenkeel::sync::Semaphore;
use evenkeel::task::JoinSet;
use evenkeel::topology::Topology;
use evenkeel::{Builder, Handle, JoinHandle, Runtime};
use std::panic::{self, AssertUnwindSafe};
use std::sync::Mutex;
use std::thread;

/// Hooks are the process's, so one test has its own at a time.
static HOOK: Mutex<()> = Mutex::new(());

/// The file that the panic of `f` names. Other threads may panic meanwhile.
fn file_of(f: impl FnOnce()) -> String {
    panic_of(f).0
}

/// The file that the panic of `f` names, and its text. Other threads may panic meanwhile.
fn panic_of(f: impl FnOnce()) -> (String, String) {
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
    let payload = result.expect_err("it panics");
    let text = payload.downcast::<String>().map_or_else(
        |payload| payload.downcast::<&str>().expect("a text").to_string(),
        |text| *text,
    );
    (FILE.lock().expect("no panic while it is held").clone(), text)
}

/// Each call, and what its panic says: what was called, or what to do.
#[test]
fn a_panic_names_the_file_that_calls_and_what_to_do() {
    let calls: [(&str, fn()); 19] = [
        ("spawn is called outside", || drop(evenkeel::spawn(async {}))),
        ("spawn_blocking is called outside", || drop(evenkeel::spawn_blocking(|| ()))),
        ("spawn_local", || drop(evenkeel::task::spawn_local(async {}))),
        ("spawn is called outside", || {
            drop(evenkeel::task::Builder::new().name("a").spawn(async {}))
        }),
        ("or call try_current", || drop(evenkeel::task::current())),
        ("Handle::current is called outside", || drop(Handle::current())),
        ("make it in a task or block_on", || drop(Object::new(0).at(7))),
        ("before it is cloned", || {
            let object = Object::new(0);
            let _clone = object.clone();
            drop(object.placed("class", Placement::Home));
        }),
        ("Topology::detect reads", || drop(Topology::flat(0))),
        ("give an index into", || drop(Topology::flat(2).by_distance(2))),
        ("give an index into", || _ = Topology::flat(2).distance(0, 2)),
        ("time::pause is called outside", || evenkeel::time::pause()),
        ("time::resume is called outside", || evenkeel::time::resume()),
        ("add fewer", || Semaphore::new(usize::MAX - 1).add_permits(2)),
        ("before the shutdown", || of_an_ended_runtime().install(|| ())),
        ("before the shutdown", || drop(of_an_ended_runtime().broadcast(|_| ()))),
        ("use it before it is awaited", || drop(awaited().task())),
        ("use it before it is awaited", || drop(JoinSet::new().insert(awaited()))),
        ("ask is_panic first", || {
            let runtime = Runtime::new().unwrap();
            let error = runtime.block_on(async {
                let task = evenkeel::spawn(std::future::pending::<()>());
                task.abort();
                task.await.unwrap_err()
            });
            drop(error.into_panic());
        }),
    ];
    for (words, call) in calls {
        let (file, text) = panic_of(call);
        assert!(file.ends_with("tests/values/panics.rs"), "{words}: {file}");
        assert!(text.contains(words), "{words}: {text}");
    }
}

fn of_an_ended_runtime() -> Handle {
    let runtime = Builder::new().workers(1).build().unwrap();
    runtime.handle()
}

/// A handle that has returned its output.
fn awaited() -> JoinHandle<()> {
    let runtime = Builder::new().workers(1).build().unwrap();
    let mut handle = runtime.spawn(async {});
    runtime.block_on(&mut handle).unwrap();
    handle
}

#[test]
fn block_on_inside_a_task_names_the_file_that_calls() {
    let runtime = Runtime::new().unwrap();
    let file = runtime.block_on(async {
        evenkeel::spawn(async { file_of(|| evenkeel::block_on(async {})) }).await.unwrap()
    });
    assert!(file.ends_with("tests/values/panics.rs"), "{file}");
}
