//! A buffer that MPI reads or writes.
#![allow(unsafe_code, reason = "the memory is known to MPI by its address")]

use std::ffi::c_void;
use std::mem::ManuallyDrop;

/// The memory of a `Vec<u8>` that is lent to MPI.
///
/// No Rust code reads, writes or frees it until [`give_back`](Self::give_back). A dropped loan is
/// leaked: MPI might write to it later.
pub(super) struct Loan {
    start: *mut u8,
    length: usize,
    capacity: usize,
}

impl Loan {
    pub(super) fn new(buffer: Vec<u8>) -> Self {
        let mut buffer = ManuallyDrop::new(buffer);
        Self { start: buffer.as_mut_ptr(), length: buffer.len(), capacity: buffer.capacity() }
    }

    /// Returns the address for MPI: the vector's capacity in bytes, of which the first
    /// [`length`](Self::length) are initialised.
    pub(super) fn address(&self) -> *mut c_void {
        self.start.cast()
    }

    pub(super) fn length(&self) -> usize {
        self.length
    }

    /// Returns the buffer with its first `length` bytes as contents.
    ///
    /// # Safety
    /// MPI is done with the memory, and the first `length` bytes of it are initialised.
    pub(super) unsafe fn give_back(self, length: usize) -> Vec<u8> {
        assert!(length <= self.capacity, "MPI wrote beyond the end of a buffer");
        // SAFETY: the three come from a vector that was not dropped (`new`); `self` is consumed, so
        // this happens once, and the caller promises that MPI is done with the memory and that
        // `length` bytes are initialised; they are within the capacity, as just checked.
        unsafe { Vec::from_raw_parts(self.start, length, self.capacity) }
    }
}
