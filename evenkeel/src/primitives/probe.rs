//! What the operating system says of a thread: whether it sleeps, and how long it has computed.
//!
//! Linux says so in `/proc`, and by a clock for each thread. Where it does not, and on other
//! systems, nothing is known of threads.
//!
//! # Rejected
//! `schedstat` in `/proc` for the time: for a thread that computes it is late by up to a tick of
//! the system's scheduler, 4 ms at 250 Hz, where the clock is exact.

#![cfg_attr(
    target_os = "linux",
    allow(
        unsafe_code,
        reason = "rustix neither reads the clock of another thread nor calls back at a fork"
    )
)]

use std::sync::atomic::{AtomicI32, Ordering};

/// A thread, as the system knows it.
#[derive(Debug, Default)]
pub(crate) struct Probe(AtomicI32);

/// The state of a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(
    not(all(target_os = "linux", not(any(loom, shuttle)))),
    allow(dead_code, reason = "only Linux says so")
)]
pub(crate) enum State {
    /// It runs, or waits for a core.
    Ready,
    /// It waits inside a system call, or for a page.
    Asleep,
    /// A signal or a debugger has stopped it.
    Stopped,
}

impl Probe {
    /// Makes this the probe of the calling thread.
    pub(crate) fn take(&self) {
        self.0.store(own_number(), Ordering::Relaxed);
    }

    /// Returns the number that the system has given to the thread, if it is known.
    pub(crate) fn number(&self) -> Option<u32> {
        u32::try_from(self.0.load(Ordering::Relaxed)).ok().filter(|&number| number != 0)
    }

    /// Returns the thread's state: a read of a file, 5 to 10 µs.
    pub(crate) fn state(&self) -> Option<State> {
        match self.0.load(Ordering::Relaxed) {
            0 => None,
            number => state(number),
        }
    }

    /// Returns how many nanoseconds the thread has been on a core: a system call, 0.4 µs.
    pub(crate) fn computed(&self) -> Option<u64> {
        match self.0.load(Ordering::Relaxed) {
            0 => None,
            number => computed(number),
        }
    }
}

/// Asks the system once for each thread: a system call takes 0.1 to 0.2 µs, a fifth of a `block_on`
/// of a current-thread runtime, whose seat has a new driver each time.
#[cfg(all(target_os = "linux", not(any(loom, shuttle))))]
fn own_number() -> i32 {
    use std::cell::Cell;
    use std::sync::OnceLock;

    std::thread_local! {
        /// The number of this thread, zero until it is known.
        static NUMBER: Cell<i32> = const { Cell::new(0) };
    }
    /// The child of a `fork` goes on with a copy of this thread, which has another number.
    extern "C" fn forget() {
        NUMBER.set(0);
    }
    static FORGETS: OnceLock<bool> = OnceLock::new();

    let known = NUMBER.get();
    if known != 0 {
        return known;
    }
    let number = rustix::thread::gettid().as_raw_nonzero().get();
    // SAFETY: the function exists for as long as the process, and a handler may store to a
    // thread-local that has no destructor.
    let register = || unsafe { libc::pthread_atfork(None, None, Some(forget)) } == 0;
    if *FORGETS.get_or_init(register) {
        NUMBER.set(number);
    }
    number
}

#[cfg(not(all(target_os = "linux", not(any(loom, shuttle)))))]
fn own_number() -> i32 {
    0
}

#[cfg(all(target_os = "linux", not(any(loom, shuttle))))]
fn state(number: i32) -> Option<State> {
    state_of(&std::fs::read(format!("/proc/self/task/{number}/stat")).ok()?)
}

#[cfg(not(all(target_os = "linux", not(any(loom, shuttle)))))]
fn state(_: i32) -> Option<State> {
    None
}

#[cfg(all(target_os = "linux", not(any(loom, shuttle))))]
fn computed(number: i32) -> Option<u64> {
    /// The bits of a clock that counts one thread's time on a core. The others are the thread's
    /// number, inverted: so `pthread_getcpuclockid` of glibc and of musl makes it.
    const OF_THREAD: libc::clockid_t = 0b110;
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `time` may be written. The system refuses the clock of a thread that has ended.
    let result = unsafe { libc::clock_gettime(!number << 3 | OF_THREAD, &raw mut time) };
    let (seconds, nanos) = (u64::try_from(time.tv_sec).ok()?, u64::try_from(time.tv_nsec).ok()?);
    (result == 0).then(|| seconds.saturating_mul(1_000_000_000).saturating_add(nanos))
}

#[cfg(not(all(target_os = "linux", not(any(loom, shuttle)))))]
fn computed(_: i32) -> Option<u64> {
    None
}

/// Reads the state out of a line of `stat`. It follows the thread's name, which is in parentheses
/// and may contain some, and bytes that are no text: the system cuts a name at 15 bytes.
#[cfg(all(target_os = "linux", not(any(loom, shuttle))))]
fn state_of(stat: &[u8]) -> Option<State> {
    let end = stat.iter().rposition(|&byte| byte == b')')?;
    match stat[end + 1..].trim_ascii_start().first()? {
        b'R' => Some(State::Ready),
        b'S' | b'D' | b'I' | b'K' | b'W' | b'P' => Some(State::Asleep),
        b'T' | b't' => Some(State::Stopped),
        _ => None,
    }
}

#[cfg(all(test, target_os = "linux", not(any(loom, shuttle))))]
mod tests {
    use super::*;
    use std::sync::Arc;
    use std::sync::atomic::AtomicBool;

    #[test]
    fn a_thread_that_looks_at_itself_runs_and_has_computed() {
        let probe = Probe::default();
        assert!(probe.state().is_none() && probe.computed().is_none(), "no thread has taken it");
        probe.take();
        assert_eq!(probe.state(), Some(State::Ready));
        let before = probe.computed().unwrap();
        while probe.computed().unwrap() <= before {}
    }

    #[test]
    fn another_thread_that_computes_has_computed_and_one_that_has_ended_is_unknown() {
        let (probe, ends) = (Arc::new(Probe::default()), Arc::new(AtomicBool::new(false)));
        let computes = std::thread::spawn({
            let (probe, ends) = (probe.clone(), ends.clone());
            move || {
                probe.take();
                while !ends.load(Ordering::Relaxed) {
                    std::hint::spin_loop();
                }
            }
        });
        while probe.computed().is_none() {
            std::thread::yield_now();
        }
        let before = probe.computed().unwrap();
        while probe.computed().unwrap() <= before {}
        ends.store(true, Ordering::Relaxed);
        computes.join().unwrap();
        while probe.computed().is_some() {
            std::thread::yield_now();
        }
        assert_eq!(probe.state(), None);
    }

    #[test]
    fn the_child_of_a_fork_has_a_number_of_its_own() {
        let probe = Probe::default();
        probe.take();
        // SAFETY: until it exits the child allocates nothing and takes no lock.
        let child = unsafe { libc::fork() };
        if child == 0 {
            probe.take();
            let own = rustix::thread::gettid().as_raw_nonzero().get();
            let is_own = probe.0.load(Ordering::Relaxed) == own;
            // SAFETY: it ends the child at once.
            unsafe { libc::_exit(i32::from(!is_own)) }
        }
        let mut status = -1;
        // SAFETY: `status` may be written.
        assert_eq!(unsafe { libc::waitpid(child, &raw mut status, 0) }, child);
        assert_eq!(status, 0, "the child has its parent's number");
    }

    #[test]
    fn the_state_follows_the_name() {
        assert_eq!(state_of(b"17 (a) R b) S 1 2"), Some(State::Asleep));
        assert_eq!(state_of(b"17 (spin) R 1"), Some(State::Ready));
        assert_eq!(state_of(b"17 (spin) t 1"), Some(State::Stopped));
        assert_eq!(state_of(b"17 (spin) X 1"), None);
        assert_eq!(state_of(b"nothing"), None);
    }
}
