//! Prefetching of memory that is about to be used.

#![allow(unsafe_code, reason = "the instruction takes an address")]

/// Bytes of a cache line.
pub(crate) const LINE: usize = 64;

/// Begins to fetch the first `count` cache lines at `address` for writing, if the processor has an
/// instruction for it. Nothing is read, so any address is allowed.
///
/// Lines that another core has written come with the right to write to them, which saves a second
/// round trip to that core.
#[inline(always)]
pub(crate) fn lines(address: *const u8, count: usize) {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    for line in 0..count {
        let address = address.wrapping_add(LINE * line);
        // SAFETY: the instruction only moves lines between caches, and does nothing where the
        // address leads nowhere; processors without it (before 2014) execute it as a no-op.
        unsafe {
            std::arch::asm!("prefetchw [{}]", in(reg) address, options(readonly, nostack, preserves_flags));
        }
    }
    let _ = (address, count);
}
