//! Full fences, and the asymmetric pair: a light one that costs its caller nothing and a heavy one
//! that pays for both.
//!
//! # The pair
//! Two threads that each store and then load what the other stores (Dekker's pattern) need a full
//! fence between store and load on both sides. When one side runs a thousand times as often as the
//! other, Linux lets the rare side pay: `membarrier(PRIVATE_EXPEDITED)` makes every running thread
//! of the process execute a full fence before it returns. [`light`] then only keeps the compiler
//! from reordering, and [`heavy`] is the system call.
//!
//! # Where `membarrier` is missing
//! On other systems, under a filter of system calls, or with `EVENKEEL_MEMBARRIER=off`, there is no
//! pair: [`is_asymmetric`] is false, for the life of the process. Both sides then make full fences,
//! which is correct everywhere, and slower for the owner.
//!
//! # Models
//! Under loom both are a read-modify-write of one variable: of two threads, the later one sees all
//! that the earlier one did before its fence. A light fence orders nothing towards a full one, as
//! in the machine. Under shuttle, where memory is sequentially consistent, they are nothing.

use super::atomic::Edge;

#[cfg(not(any(loom, shuttle)))]
mod real {
    use std::sync::OnceLock;
    use std::sync::atomic::{Ordering, compiler_fence, fence};

    /// Decides, once per process, which pair is in use, and returns whether it is the asymmetric
    /// one.
    pub(crate) fn is_asymmetric() -> bool {
        static CHOICE: OnceLock<bool> = OnceLock::new();
        *CHOICE.get_or_init(|| !switched_off() && register())
    }

    fn switched_off() -> bool {
        std::env::var_os("EVENKEEL_MEMBARRIER").is_some_and(|value| value == "off")
    }

    #[cfg(target_os = "linux")]
    fn register() -> bool {
        use rustix::thread::{MembarrierCommand, membarrier};
        membarrier(MembarrierCommand::RegisterPrivateExpedited).is_ok()
    }

    #[cfg(not(target_os = "linux"))]
    fn register() -> bool {
        false
    }

    #[inline(always)]
    pub(crate) fn light() {
        compiler_fence(Ordering::SeqCst);
    }

    #[cold]
    pub(crate) fn heavy() -> bool {
        is_asymmetric() && barrier()
    }

    #[cfg(target_os = "linux")]
    fn barrier() -> bool {
        use rustix::thread::{MembarrierCommand, membarrier};
        membarrier(MembarrierCommand::PrivateExpedited).is_ok()
    }

    #[cfg(not(target_os = "linux"))]
    fn barrier() -> bool {
        false
    }

    #[inline(always)]
    pub(crate) fn full() {
        fence(Ordering::SeqCst);
    }

    #[inline(always)]
    pub(crate) fn after_read_modify_write() {
        // A locked instruction is a full fence on x86; elsewhere a read-modify-write orders only
        // what its ordering says.
        if cfg!(target_arch = "x86_64") {
            compiler_fence(Ordering::SeqCst);
        } else {
            fence(Ordering::SeqCst);
        }
    }
}

#[cfg(any(loom, shuttle))]
mod real {
    pub(crate) fn is_asymmetric() -> bool {
        true
    }

    #[cfg(loom)]
    loom::lazy_static! {
        /// What both fences of the pair change.
        static ref PAIR: loom::sync::atomic::AtomicUsize = loom::sync::atomic::AtomicUsize::new(0);
    }

    pub(crate) fn light() {
        #[cfg(loom)]
        PAIR.fetch_add(1, std::sync::atomic::Ordering::AcqRel);
    }

    #[cfg(loom)]
    pub(crate) fn full() {
        loom::sync::atomic::fence(std::sync::atomic::Ordering::SeqCst);
    }

    #[cfg(shuttle)]
    pub(crate) fn full() {}

    pub(crate) fn heavy() -> bool {
        full();
        light();
        full();
        true
    }

    pub(crate) fn after_read_modify_write() {
        full();
    }
}

pub(crate) use real::is_asymmetric;

/// Leaves the fence out where a model has weakened `edge`.
#[inline(always)]
fn unless_weak(edge: Edge, fence: impl FnOnce()) {
    #[cfg(loom)]
    if super::mutation::is_weak(edge) {
        return;
    }
    let _ = edge;
    fence();
}

/// The half of the pair that runs often: no instruction. Only for use where the pair is
/// [asymmetric](is_asymmetric).
#[inline(always)]
pub(crate) fn light(edge: Edge) {
    unless_weak(edge, real::light);
}

/// The half of the pair that runs rarely: 2 to 10 µs in a virtual machine while other cores run.
/// Returns false if the kernel refused or the pair is not asymmetric: then no fence was made.
#[must_use]
pub(crate) fn heavy(edge: Edge) -> bool {
    let mut done = true;
    unless_weak(edge, || done = real::heavy());
    done
}

/// The half of the pair that runs often: the light one, or a full fence where there is no pair.
#[inline(always)]
pub(crate) fn light_if_paired(edge: Edge) {
    if is_asymmetric() {
        light(edge);
    } else {
        full(edge);
    }
}

/// A full fence.
#[inline(always)]
pub(crate) fn full(edge: Edge) {
    unless_weak(edge, real::full);
}

/// A full fence that directly follows a successful atomic read-modify-write, which on x86 already
/// was one. The store that the fence is for is that read-modify-write, of any ordering, or comes
/// before one with release ordering: the compiler could move it behind a relaxed one.
#[inline(always)]
pub(crate) fn after_read_modify_write(edge: Edge) {
    unless_weak(edge, real::after_read_modify_write);
}
