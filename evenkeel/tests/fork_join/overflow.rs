//! A recursion that is too deep for a worker's stack ends the process with a message that names the
//! thread.

#![cfg(target_os = "linux")]

use evenkeel::Builder;
use evenkeel::fork_join::join;
use std::env;
use std::os::unix::process::ExitStatusExt;
use std::process::Command;

/// Set in the process that overflows.
const CHILD: &str = "EVENKEEL_TEST_OVERFLOW";

/// Deeper than any stack, and not a loop for the compiler.
fn sink(depth: u64, room: &mut [u8; 256]) -> u64 {
    room[depth as usize % 256] ^= 1;
    let mut here = *room;
    let (a, b) = join(|| sink(depth + 1, &mut here), || depth);
    a.wrapping_add(b).wrapping_add(here[3].into())
}

#[test]
fn a_recursion_too_deep_for_the_stack_is_a_clear_abort() {
    if env::var_os(CHILD).is_some() {
        let runtime = Builder::new().workers(2).name("deep").stack_size(1 << 20).build().unwrap();
        println!("{}", runtime.install(|| sink(0, &mut [0; 256])));
        return;
    }
    let output = Command::new(env::current_exe().unwrap())
        .args([
            "--exact",
            "overflow::a_recursion_too_deep_for_the_stack_is_a_clear_abort",
            "--nocapture",
        ])
        .env(CHILD, "1")
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stderr);
    // SIGABRT.
    assert_eq!(output.status.signal(), Some(6), "{text}");
    assert!(text.contains("thread 'deep-") && text.contains("has overflowed its stack"), "{text}");
}
