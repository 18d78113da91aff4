//! The time between `MPI_Init_thread` and `MPI_Finalize`, and the communicator of the transport.
#![allow(unsafe_code, reason = "calls a C library")]

use crate::error::{MpiError, StartError};
use mpi::environment::{self, Threading, Universe};
use mpi::ffi;
use mpi::topology::SimpleCommunicator;
use mpi::traits::AsRaw;
use std::ffi::{c_char, c_int, c_void};
use std::marker::PhantomData;
use std::mem::MaybeUninit;
use std::process;

/// MPI, initialised by this thread and used by it alone, with a communicator that nobody else has.
///
/// That one exists is the proof, for all calls in this folder, that MPI is initialised and not finalised. It is not `Send`, so that all
/// its calls are the initialising thread's, as `MPI_THREAD_FUNNELED` wants.
pub(crate) struct Session {
    comm: ffi::MPI_Comm,
    rank: u32,
    size: u32,
    // Dropped last, which finalises MPI.
    _universe: Universe,
    _of_this_thread: PhantomData<*const ()>,
}

/// A message that has been matched: it is received by whoever has this, and by nobody else.
pub(crate) struct Arrival {
    pub(super) message: ffi::MPI_Message,
    /// The rank that has sent it.
    pub(crate) from: u32,
    /// The tag that it was sent with.
    pub(crate) tag: i32,
    /// How many bytes it has.
    pub(crate) length: usize,
}

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
        let world = SimpleCommunicator::world().as_raw();
        let mut comm = world;
        // SAFETY: MPI is initialised (`universe`), `world` is its world communicator, and `comm` is a place for the new one.
        check("MPI_Comm_dup", unsafe { ffi::MPI_Comm_dup(world, &mut comm) })?;
        let mut session =
            Self { comm, rank: 0, size: 0, _universe: universe, _of_this_thread: PhantomData };
        // SAFETY: a constant of the library, set once it is loaded.
        let errors_return = unsafe { ffi::RSMPI_ERRORS_RETURN };
        // SAFETY: `comm` is a communicator of this session, and the handler a predefined one.
        check("MPI_Comm_set_errhandler", unsafe {
            ffi::MPI_Comm_set_errhandler(comm, errors_return)
        })?;
        let (mut rank, mut size) = (0, 0);
        // SAFETY: `comm` is as above, and `rank` a place for the result.
        check("MPI_Comm_rank", unsafe { ffi::MPI_Comm_rank(comm, &mut rank) })?;
        // SAFETY: as above.
        check("MPI_Comm_size", unsafe { ffi::MPI_Comm_size(comm, &mut size) })?;
        session.rank = rank.unsigned_abs();
        session.size = size.unsigned_abs();
        Ok(session)
    }

    /// The number of this process in the communicator.
    pub(crate) fn rank(&self) -> u32 {
        self.rank
    }

    /// How many processes the communicator has.
    pub(crate) fn size(&self) -> u32 {
        self.size
    }

    pub(super) fn comm(&self) -> ffi::MPI_Comm {
        self.comm
    }

    /// The greatest of what each rank gives: collective.
    pub(crate) fn greatest<const N: usize>(&self, mine: [i64; N]) -> Result<[i64; N], MpiError> {
        let mut all = mine;
        let count = c_int::try_from(N).expect("a handful");
        // SAFETY: a constant of the library.
        let int64 = unsafe { ffi::RSMPI_INT64_T };
        // SAFETY: a constant of the library.
        let max = unsafe { ffi::RSMPI_MAX };
        // SAFETY: both arrays have `count` elements of the stated type, and outlive the call, which is done with them when it returns.
        let code = unsafe {
            ffi::MPI_Allreduce(
                mine.as_ptr().cast::<c_void>(),
                all.as_mut_ptr().cast::<c_void>(),
                count,
                int64,
                max,
                self.comm,
            )
        };
        check("MPI_Allreduce", code)?;
        Ok(all)
    }

    /// Matches the next message, if one has come: the earliest of its sender. Also moves on what is under way.
    pub(crate) fn probe(&self) -> Result<Option<Arrival>, MpiError> {
        let mut flag: c_int = 0;
        // SAFETY: a constant of the library.
        let mut message = unsafe { ffi::RSMPI_MESSAGE_NULL };
        let mut status = MaybeUninit::<ffi::MPI_Status>::uninit();
        // SAFETY: the communicator is this session's, the three places are valid for writes.
        let code = unsafe {
            ffi::MPI_Improbe(
                ffi::MPI_ANY_SOURCE,
                ffi::MPI_ANY_TAG,
                self.comm,
                &mut flag,
                &mut message,
                status.as_mut_ptr(),
            )
        };
        check("MPI_Improbe", code)?;
        if flag == 0 {
            return Ok(None);
        }
        // SAFETY: a successful call that found a message has set the status.
        let status = unsafe { status.assume_init() };
        let length = count(&status)?;
        Ok(Some(Arrival {
            message,
            from: status.MPI_SOURCE.unsigned_abs(),
            tag: status.MPI_TAG,
            length,
        }))
    }

    /// Begins a barrier of all ranks: collective.
    pub(crate) fn barrier(&self) -> Result<Collective, MpiError> {
        // SAFETY: a constant of the library.
        let mut request = unsafe { ffi::RSMPI_REQUEST_NULL };
        // SAFETY: the communicator is this session's, and `request` a place for the new request.
        check("MPI_Ibarrier", unsafe { ffi::MPI_Ibarrier(self.comm, &mut request) })?;
        Ok(Collective(request))
    }

    /// Whether a collective call is complete. One that is stays so.
    pub(crate) fn is_complete(&self, call: &mut Collective) -> Result<bool, MpiError> {
        let mut flag: c_int = 0;
        // SAFETY: a constant of the library.
        let ignore = unsafe { ffi::RSMPI_STATUS_IGNORE };
        // SAFETY: the request was made by `barrier`, or is null because it was found complete: both may be tested.
        check("MPI_Test", unsafe { ffi::MPI_Test(&mut call.0, &mut flag, ignore) })?;
        Ok(flag != 0)
    }

    /// Ends the job: all ranks.
    pub(crate) fn abort(&self, code: i32) -> ! {
        // SAFETY: the communicator is this session's. The call may be made at any time between initialisation and finalisation.
        unsafe { ffi::MPI_Abort(self.comm, code) };
        process::abort()
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        // SAFETY: the communicator is this session's, and not used after this. What is pending on it keeps it alive inside of MPI.
        unsafe { ffi::MPI_Comm_free(&mut self.comm) };
    }
}

fn check_level(granted: Threading) -> Result<(), StartError> {
    // In the order of the standard, by which a library that gives more gives this as well.
    match granted {
        Threading::Funneled | Threading::Serialized | Threading::Multiple => Ok(()),
        Threading::Single => Err(StartError::ThreadLevel { granted: format!("{granted:?}") }),
    }
}

/// How many bytes a message has, by its status.
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

/// The error that a code stands for, if it does.
pub(super) fn check(call: &'static str, code: c_int) -> Result<(), MpiError> {
    if code == ffi::MPI_SUCCESS.cast_signed() { Ok(()) } else { Err(described(call, code)) }
}

#[cold]
pub(super) fn described(call: &'static str, code: c_int) -> MpiError {
    let mut text = vec![0_u8; ffi::MPI_MAX_ERROR_STRING as usize];
    let mut length: c_int = 0;
    // SAFETY: the buffer has the size that MPI states to be enough, and `length` is a place for the result.
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
