//! The first use of the Tokio runtime, by many threads, where the system first refuses it.
#![cfg(target_os = "linux")]

use evenkeel_compat::{CompatExt, StartError, handle, try_handle};
use rustix::process::{Resource, getrlimit, setrlimit};
use std::collections::HashSet;
use std::error::Error;
use std::panic::catch_unwind;
use std::sync::Barrier;
use std::thread;

/// One test, so that the first use is here.
#[test]
fn a_refused_start_is_an_error_and_the_next_one_succeeds_once() {
    let limit = getrlimit(Resource::Nofile);
    let mut none = limit;
    none.current = Some(0);
    setrlimit(Resource::Nofile, none).unwrap();
    let refused = try_handle().map(|handle| handle.id());
    let panicked = catch_unwind(|| async {}.compat());
    setrlimit(Resource::Nofile, limit).unwrap();

    let error = refused.unwrap_err();
    assert!(matches!(error, StartError::Runtime(_)), "{error:?}");
    assert!(error.to_string().contains("open files"), "{error}");
    assert!(error.source().is_some());
    assert!(panicked.is_err());

    let barrier = Barrier::new(8);
    let ids: HashSet<_> = thread::scope(|scope| {
        let start = || {
            barrier.wait();
            handle().id()
        };
        let threads: Vec<_> = (0..8).map(|_| scope.spawn(start)).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    assert_eq!(ids.len(), 1, "there is one runtime");
}
