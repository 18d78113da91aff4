//! Behaviour of the whole process: the global pool, the environment, the abort. Each case runs this
//! program as a child.

use rayon_core::ThreadPoolBuilder;
use std::env;
use std::process::{Command, ExitStatus, Stdio};

/// Runs a case in a child, and returns its exit status.
fn child(case: &str, variables: &[(&str, &str)]) -> ExitStatus {
    Command::new(env::current_exe().unwrap())
        .args(["--exact", "case", "--nocapture"])
        .env("EVENKEEL_RAYON_CASE", case)
        .env_remove("RAYON_NUM_THREADS")
        .env_remove("RAYON_RS_NUM_CPUS")
        .envs(variables.iter().copied())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .unwrap()
}

/// Runs the case of the environment; does nothing without one.
#[test]
fn case() {
    let Ok(case) = env::var("EVENKEEL_RAYON_CASE") else { return };
    let threads = |expected| assert_eq!(rayon_core::current_num_threads(), expected);
    let available = std::thread::available_parallelism().unwrap().get();
    match case.as_str() {
        "three threads" => threads(3),
        "as many as processors" => threads(available),
        "twice" => {
            ThreadPoolBuilder::new().num_threads(2).build_global().unwrap();
            threads(2);
            assert_eq!(rayon_core::join(|| 1, || 2), (1, 2));
            let error = ThreadPoolBuilder::new().build_global().unwrap_err();
            assert_eq!(error.to_string(), "The global thread pool has already been initialized.");
        }
        "too late" => {
            rayon_core::join(|| (), || ());
            ThreadPoolBuilder::new().build_global().unwrap_err();
        }
        "again after a failure" => {
            let huge = ThreadPoolBuilder::new().num_threads(1).stack_size(isize::MAX as usize);
            huge.build_global().unwrap_err();
            ThreadPoolBuilder::new().num_threads(2).build_global().unwrap();
            threads(2);
        }
        "a panic that nobody takes" => {
            rayon_core::spawn(|| panic!("no handler takes it"));
            std::thread::park();
        }
        "a panic handler that panics" => {
            let pool = ThreadPoolBuilder::new().num_threads(1).panic_handler(|_| panic!("too"));
            pool.build().unwrap().spawn(|| panic!("first"));
            std::thread::park();
        }
        other => panic!("there is no case {other}"),
    }
}

#[test]
fn the_global_pool_has_as_many_threads_as_the_environment_says() {
    assert!(child("three threads", &[("RAYON_NUM_THREADS", "3")]).success());
    assert!(child("three threads", &[("RAYON_RS_NUM_CPUS", "3")]).success());
    let both = [("RAYON_NUM_THREADS", "3"), ("RAYON_RS_NUM_CPUS", "2")];
    assert!(child("three threads", &both).success());
}

#[test]
fn what_the_environment_says_is_ignored_where_it_makes_no_sense() {
    assert!(child("as many as processors", &[]).success());
    for nonsense in ["0", "many", "-1"] {
        assert!(child("as many as processors", &[("RAYON_NUM_THREADS", nonsense)]).success());
        assert!(child("as many as processors", &[("RAYON_RS_NUM_CPUS", nonsense)]).success());
    }
}

#[test]
fn the_global_pool_is_built_once() {
    assert!(child("twice", &[]).success());
    assert!(child("too late", &[]).success());
    assert!(child("again after a failure", &[]).success());
}

#[test]
#[cfg(unix)]
fn a_panic_that_has_nowhere_to_go_aborts() {
    use std::os::unix::process::ExitStatusExt;
    for case in ["a panic that nobody takes", "a panic handler that panics"] {
        // SIGABRT.
        assert_eq!(child(case, &[]).signal(), Some(6), "{case}");
    }
}
