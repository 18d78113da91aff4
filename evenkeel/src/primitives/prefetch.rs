//! Fetching what is about to be used.

#![allow(unsafe_code, reason = "the instruction takes an address")]

/// Lines that [`lines`] fetches. An estimate; no benchmark sets it.
#[cfg(target_arch = "x86_64")]
const LINES: usize = 4;

/// Begins to fetch the first cache lines at `address`, if the processor can be told to. Nothing is read: the address may be any.
#[inline(always)]
pub(crate) fn lines(address: *const u8) {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        let address = address.cast::<i8>();
        for line in 0..LINES {
            // SAFETY: the instruction only moves lines between caches, and does nothing where the address leads nowhere.
            unsafe { _mm_prefetch(address.wrapping_add(64 * line), _MM_HINT_T0) }
        }
    }
    let _ = address;
}
