//! The attributes, in typical use.

use crate::common::watchdog::watchdog;
use evenkeel::time::{Duration, Instant, sleep};
use std::thread;

#[evenkeel::test]
async fn a_test_runs_on_a_runtime_of_its_own() {
    let _watchdog = watchdog();
    assert_eq!(evenkeel::spawn(async { 1 }).await.unwrap(), 1);
}

#[evenkeel::test(workers = 3, name = "crew")]
async fn a_test_takes_the_builder_s_options() -> Result<(), evenkeel::JoinError> {
    let _watchdog = watchdog();
    assert_eq!(evenkeel::Handle::current().metrics().processors.len(), 3);
    let name = evenkeel::spawn(async { thread::current().name().map(str::to_owned) }).await?;
    assert!(name.is_some_and(|name| name.starts_with("crew-")));
    Ok(())
}

/// Five minutes that pass at once.
#[evenkeel::test(workers = 1, start_paused = true)]
async fn a_clock_may_stand_at_the_start() {
    let _watchdog = watchdog();
    let start = Instant::now();
    sleep(Duration::from_secs(300)).await;
    assert_eq!(start.elapsed(), Duration::from_secs(300));
}

/// The same test on several numbers of workers, by the arguments of another macro.
macro_rules! tests_on {
    ($($name:ident: $workers:literal $paused:expr, $body:block)*) => { $(
        #[evenkeel::test(workers = $workers, start_paused = $paused)]
        async fn $name() $body
    )* };
}

tests_on! {
    options_and_body_may_come_from_a_macro: 1 true, {
        let _watchdog = watchdog();
        assert_eq!(evenkeel::Handle::current().metrics().processors.len(), 1);
    }
    also_for_other_workers: 3 false, {
        let _watchdog = watchdog();
        assert_eq!(evenkeel::Handle::current().metrics().processors.len(), 3);
    }
}

mod parts {
    pub(super) use ::evenkeel as runtime;
}

#[parts::runtime::test(crate = "parts::runtime", workers = 2)]
async fn the_library_may_be_a_part_of_another_one() {
    let _watchdog = watchdog();
    assert_eq!(evenkeel::Handle::current().metrics().processors.len(), 2);
}

#[derive(Clone, Copy, parts::runtime::sync::monitor::Entry)]
#[entry(crate = "parts::runtime")]
enum Op {
    Put,
    Take,
}

#[test]
fn operations_may_be_of_a_library_that_is_a_part_of_another_one() {
    use parts::runtime::sync::monitor::Entry;
    assert_eq!([Op::Put, Op::Take].map(Entry::number), [0, 1]);
}

#[evenkeel::test(workers = 1)]
#[should_panic(expected = "as it should")]
async fn a_test_that_panics_fails() {
    let _watchdog = watchdog();
    panic!("as it should");
}

/// An ordinary `main` that can return an error.
#[evenkeel::main(workers = 2)]
async fn main_like() -> Result<u32, evenkeel::JoinError> {
    let half = evenkeel::spawn(async { 21 }).await?;
    Ok(2 * half)
}

#[test]
fn main_runs_its_body_and_returns_what_it_returns() {
    let _watchdog = watchdog();
    assert_eq!(main_like().unwrap(), 42);
    // Each call is on a runtime of its own, which ends with it.
    assert_eq!(main_like().unwrap(), 42);
    assert!(evenkeel::Handle::try_current().is_none());
}
