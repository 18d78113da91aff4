//! The time between `MPI_Init_thread` and `MPI_Finalize`, and the communicator of the transport.
#![allow(unsafe_code, reason = "calls a C library")]

use crate::error::{MpiError, StartError};
use mpi::environment::{self, Threading, Universe};
use mpi::ffi;
use mpi::topology::SimpleCommunicator;
use mpi::traits::AsRaw;
use std::ffi::{c_char, c_int, c_void};
use std::marker::PhantomData;
use std::process;

/// MPI, initialised by this thread and used by it alone, with two communicators of its own.
///
/// Its existence proves, for all calls in this folder, that MPI is initialised and not finalised.
/// It is not `Send`, so the initialising thread makes all calls, as `MPI_THREAD_FUNNELED` requires.
pub(crate) struct Session {
    short: Comm,
    long: Comm,
    rank: u32,
    size: u32,
    // Dropped last, which finalises MPI.
    _universe: Universe,
    _of_this_thread: PhantomData<*const ()>,
}

/// One of the two communicators. Messages on one do not match receives on the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Channel {
    /// For messages of at most [`SHORT`](super::SHORT) bytes.
    Short,
    /// For messages of any length.
    Long,
}

/// A communicator of this crate's own.
struct Comm(ffi::MPI_Comm);

/// A collective call under way.
pub(crate) struct Collective(ffi::MPI_Request);

impl Session {
    /// Initialises MPI and duplicates the world communicator: collective.
    pub(crate) fn start() -> Result<Self, StartError> {
        if environment::is_initialized() && environment::is_finalized() {
            return Err(StartError::Finalised);
        }
        let (universe, granted) = environment::initialize_with_threading(Threading::Funneled)
            .ok_or(StartError::AlreadyInitialised)?;
        check_level(granted)?;
        let (short, long) = (Comm::duplicate_world()?, Comm::duplicate_world()?);
        let (mut rank, mut size) = (0, 0);
        // SAFETY: the communicator is alive, and `rank` a place for the result.
        check("MPI_Comm_rank", unsafe { ffi::MPI_Comm_rank(short.0, &mut rank) })?;
        // SAFETY: as above.
        check("MPI_Comm_size", unsafe { ffi::MPI_Comm_size(short.0, &mut size) })?;
        let (rank, size) = (rank.unsigned_abs(), size.unsigned_abs());
        Ok(Self { short, long, rank, size, _universe: universe, _of_this_thread: PhantomData })
    }

    /// Returns the rank of this process in the communicator.
    pub(crate) fn rank(&self) -> u32 {
        self.rank
    }

    /// Returns how many processes the communicator has.
    pub(crate) fn size(&self) -> u32 {
        self.size
    }

    pub(super) fn comm(&self, channel: Channel) -> ffi::MPI_Comm {
        match channel {
            Channel::Short => self.short.0,
            Channel::Long => self.long.0,
        }
    }

    /// Returns the greatest of each number among all ranks: collective.
    pub(crate) fn greatest<const N: usize>(&self, mine: [i64; N]) -> Result<[i64; N], MpiError> {
        let mut all = mine;
        let count = c_int::try_from(N).expect("a handful");
        // SAFETY: a constant of the library.
        let int64 = unsafe { ffi::RSMPI_INT64_T };
        // SAFETY: a constant of the library.
        let max = unsafe { ffi::RSMPI_MAX };
        // SAFETY: both arrays have `count` elements of the stated type, and outlive the call, which
        // is done with them when it returns.
        let code = unsafe {
            ffi::MPI_Allreduce(
                mine.as_ptr().cast::<c_void>(),
                all.as_mut_ptr().cast::<c_void>(),
                count,
                int64,
                max,
                self.short.0,
            )
        };
        check("MPI_Allreduce", code)?;
        Ok(all)
    }

    /// Begins a barrier of all ranks: collective.
    pub(crate) fn barrier(&self) -> Result<Collective, MpiError> {
        // SAFETY: a constant of the library.
        let mut request = unsafe { ffi::RSMPI_REQUEST_NULL };
        // SAFETY: the communicator is this session's, and `request` a place for the new request.
        check("MPI_Ibarrier", unsafe { ffi::MPI_Ibarrier(self.short.0, &mut request) })?;
        Ok(Collective(request))
    }

    /// Returns whether a collective call is complete; a complete one stays so.
    pub(crate) fn is_complete(&self, call: &mut Collective) -> Result<bool, MpiError> {
        let mut flag: c_int = 0;
        // SAFETY: a constant of the library.
        let ignore = unsafe { ffi::RSMPI_STATUS_IGNORE };
        // SAFETY: the request was made by `barrier`, or is null because it was found complete: both
        // may be tested.
        check("MPI_Test", unsafe { ffi::MPI_Test(&mut call.0, &mut flag, ignore) })?;
        Ok(flag != 0)
    }

    /// Ends the job: all ranks.
    pub(crate) fn abort(&self, code: i32) -> ! {
        // SAFETY: the communicator is this session's. The call may be made at any time between
        // initialisation and finalisation.
        unsafe { ffi::MPI_Abort(self.short.0, code) };
        process::abort()
    }
}

impl Comm {
    /// Creates a duplicate of the world communicator that returns errors: collective. MPI is
    /// initialised, and stays so as long as the duplicate exists.
    fn duplicate_world() -> Result<Self, MpiError> {
        let world = SimpleCommunicator::world().as_raw();
        let mut comm = world;
        // SAFETY: MPI is initialised, `world` is its world communicator, and `comm` is a place for
        // the new one.
        check("MPI_Comm_dup", unsafe { ffi::MPI_Comm_dup(world, &mut comm) })?;
        let comm = Self(comm);
        // SAFETY: a constant of the library.
        let errors_return = unsafe { ffi::RSMPI_ERRORS_RETURN };
        // SAFETY: the communicator is alive, and the handler a predefined one.
        check("MPI_Comm_set_errhandler", unsafe {
            ffi::MPI_Comm_set_errhandler(comm.0, errors_return)
        })?;
        Ok(comm)
    }
}

impl Drop for Comm {
    fn drop(&mut self) {
        // SAFETY: the communicator is of `duplicate_world`, and not used after this. Pending
        // requests keep it alive inside of MPI.
        unsafe { ffi::MPI_Comm_free(&mut self.0) };
    }
}

fn check_level(granted: Threading) -> Result<(), StartError> {
    // In the order of the standard: a library that grants a higher level grants this as well.
    match granted {
        Threading::Funneled | Threading::Serialized | Threading::Multiple => Ok(()),
        Threading::Single => Err(StartError::ThreadLevel { granted: format!("{granted:?}") }),
    }
}

/// Returns how many bytes a message has, by its status.
pub(super) fn count(status: &ffi::MPI_Status) -> Result<usize, MpiError> {
    let mut count: c_int = 0;
    // SAFETY: a constant of the library.
    let byte = unsafe { ffi::RSMPI_UINT8_T };
    // SAFETY: the status is one that MPI has set, and `count` is a place for the result.
    check("MPI_Get_count", unsafe { ffi::MPI_Get_count(status, byte, &mut count) })?;
    usize::try_from(count).map_err(|_| {
        MpiError::new("MPI_Get_count", count, "the length does not fit a C int".to_owned())
    })
}

/// Returns an error if the code is one.
pub(super) fn check(call: &'static str, code: c_int) -> Result<(), MpiError> {
    if code == ffi::MPI_SUCCESS.cast_signed() { Ok(()) } else { Err(described(call, code)) }
}

#[cold]
pub(super) fn described(call: &'static str, code: c_int) -> MpiError {
    let mut text = vec![0_u8; ffi::MPI_MAX_ERROR_STRING as usize];
    let mut length: c_int = 0;
    // SAFETY: the buffer has the size that MPI states to be enough, and `length` is a place for the
    // result.
    let found =
        unsafe { ffi::MPI_Error_string(code, text.as_mut_ptr().cast::<c_char>(), &mut length) };
    let text = if found == ffi::MPI_SUCCESS.cast_signed() {
        text.truncate(usize::try_from(length).unwrap_or(0));
        String::from_utf8_lossy(&text).into_owned()
    } else {
        "an error that the library does not describe".to_owned()
    };
    MpiError::new(call, code, text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_library_without_threads_is_refused() {
        assert_eq!(
            check_level(Threading::Single),
            Err(StartError::ThreadLevel { granted: "Single".to_owned() })
        );
        assert_eq!(check_level(Threading::Funneled), Ok(()));
        assert_eq!(check_level(Threading::Multiple), Ok(()));
    }
}
