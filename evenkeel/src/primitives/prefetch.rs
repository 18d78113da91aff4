//! Fetching what is about to be used.

#![allow(unsafe_code, reason = "the instruction takes an address")]

/// Bytes of a cache line.
pub(crate) const LINE: usize = 64;

/// Begins to fetch the first `count` cache lines at `address`, to be written to, if the processor
/// can be told to. Nothing is read: the address may be any.
///
/// Lines that another core has written come with the right to write to them: one way to that core
/// instead of two.
#[inline(always)]
pub(crate) fn lines(address: *const u8, count: usize) {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    for line in 0..count {
        let address = address.wrapping_add(LINE * line);
        // SAFETY: the instruction only moves lines between caches, and does nothing where the
        // address leads nowhere; processors that do not know it (before 2014) take it for no
        // operation.
        unsafe {
            std::arch::asm!("prefetchw [{}]", in(reg) address, options(readonly, nostack, preserves_flags));
        }
    }
    let _ = (address, count);
}
