//! Fetching a line before it is needed.

#![allow(unsafe_code, reason = "a prefetch is an instruction without a function in `std`")]

/// Has the core fetch the line at `address` for writing, if it knows how to. It is a hint: it changes nothing,
/// and any address will do.
#[inline(always)]
pub(crate) fn for_writing<T>(address: *const T) {
    #[cfg(all(target_arch = "x86_64", not(any(loom, shuttle, miri))))]
    // SAFETY: the instruction accesses no memory that the program could tell and never faults; processors without
    // it take it for a no-op.
    unsafe {
        std::arch::asm!(
            "prefetchw [{address}]",
            address = in(reg) address,
            options(nostack, preserves_flags, readonly)
        );
    }
    #[cfg(not(all(target_arch = "x86_64", not(any(loom, shuttle, miri)))))]
    let _ = address;
}
