//! What a visitor looks at before it takes an object from its home: the heavy fence interrupts all cores, and is of no use while the host is inside.

use crate::primitives::thread::thread_local;
use crate::scheduler::inside::Inside;
use std::cell::Cell;

/// One in so many attempts of a thread is made although the host is inside: with the lock it keeps a host out that enters again and again, and is never seen outside. An estimate; no benchmark sets it.
const EACH: u32 = 8;

thread_local! {
    /// Attempts of this thread that have found a host inside.
    static IN_VAIN: Cell<u32> = const { Cell::new(0) };
}

/// Whether to lock the object at this address and make the fence.
pub(super) fn is_worth_a_fence(host: &Inside, address: usize) -> bool {
    !host.has(address)
        || count_in_vain().is_none_or(|before| {
            // In no rhythm that another one of the thread may have: multiples of the golden ratio (Knuth, "The Art of Computer Programming", 6.4).
            before.wrapping_mul(0x9E37_79B9) < u32::MAX / EACH
        })
}

/// Counts one, and gives how many there were before; none if the thread-locals are being destroyed.
fn count_in_vain() -> Option<u32> {
    let count = |in_vain: &Cell<u32>| in_vain.replace(in_vain.get().wrapping_add(1));
    IN_VAIN.try_with(count).ok()
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use super::*;

    #[test]
    fn one_attempt_in_some_is_made_while_the_host_is_inside_and_all_while_it_is_not() {
        let (host, address) = (Inside::new(), 0x40);
        assert!((0..100).all(|_| is_worth_a_fence(&host, address)));
        let note = host.note(address).expect("there is room");
        let made = (0..10 * EACH).filter(|_| is_worth_a_fence(&host, address)).count();
        assert!((8..=12).contains(&made), "{made}");
        assert!(is_worth_a_fence(&host, 0x80), "it is inside of another one");
        host.clear(note);
        assert!((0..100).all(|_| is_worth_a_fence(&host, address)));
    }
}
