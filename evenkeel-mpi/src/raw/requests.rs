//! Messages under way, and their buffers, which are lent to MPI.
//!
//! A request and its buffer enter together, and leave together when MPI says that the request is
//! complete. In between the buffer is a [`Loan`], which only the completed request gives back.
//! Requests that are dropped under way leak their buffers.
#![allow(unsafe_code, reason = "calls a C library that reads and writes buffers later")]

use super::loan::Loan;
use super::session::{Channel, Session, check, count, described};
use crate::error::MpiError;
use mpi::ffi;
use std::cmp::Reverse;
use std::ffi::c_int;
use std::mem;

/// Requests under way, each with its buffer and a note of the owner.
pub(crate) struct Requests<N> {
    // Dense, because MPI takes an array of requests; `held` has the rest of each at the same place.
    raw: Vec<ffi::MPI_Request>,
    held: Vec<Held<N>>,
    // The following are empty between the calls, and kept for their memory.
    places: Vec<c_int>,
    statuses: Vec<ffi::MPI_Status>,
    complete: Vec<(usize, ffi::MPI_Status)>,
}

struct Held<N> {
    loan: Loan,
    /// How many bytes are sent; `None` for a receive.
    sent: Option<usize>,
    note: N,
}

/// A complete request.
pub(crate) struct Finished<N> {
    /// Its note.
    pub(crate) note: N,
    /// Its buffer, for a receive with the bytes of the message. After an error MPI may still use
    /// the buffer, and it is leaked.
    pub(crate) result: Result<Vec<u8>, MpiError>,
}

impl<N> Requests<N> {
    pub(crate) fn new() -> Self {
        Self {
            raw: Vec::new(),
            held: Vec::new(),
            places: Vec::new(),
            statuses: Vec::new(),
            complete: Vec::new(),
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.raw.len()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.raw.is_empty()
    }

    /// Begins to send; returns the request if it is complete at once, as most small messages are. A
    /// `synchronous` send is complete when its receiver has matched it.
    pub(crate) fn send(
        &mut self,
        session: &Session,
        (channel, to, tag): (Channel, u32, i32),
        synchronous: bool,
        buffer: Vec<u8>,
        note: N,
    ) -> Option<Finished<N>> {
        let loan = Loan::new(buffer);
        let length = c_int::try_from(loan.length()).expect("frames are checked to be shorter");
        let to = c_int::try_from(to).expect("ranks are C ints");
        // SAFETY: a constant of the library.
        let mut request = unsafe { ffi::RSMPI_REQUEST_NULL };
        // SAFETY: a constant of the library.
        let byte = unsafe { ffi::RSMPI_UINT8_T };
        let comm = session.comm(channel);
        let (call, code) = if synchronous {
            // SAFETY: the loan has `length` initialised bytes, and stays as it is until the request
            // is complete; the communicator is the session's.
            let code = unsafe {
                ffi::MPI_Issend(loan.address(), length, byte, to, tag, comm, &mut request)
            };
            ("MPI_Issend", code)
        } else {
            // SAFETY: as above.
            let code = unsafe {
                ffi::MPI_Isend(loan.address(), length, byte, to, tag, comm, &mut request)
            };
            ("MPI_Isend", code)
        };
        let sent = Some(loan.length());
        self.begun(check(call, code), request, loan, sent, note)
    }

    /// Begins to receive a message of at most `length` bytes; returns the request if it is complete
    /// at once.
    pub(crate) fn receive(
        &mut self,
        session: &Session,
        (channel, from, tag): (Channel, u32, i32),
        length: usize,
        note: N,
    ) -> Option<Finished<N>> {
        let loan = Loan::new(Vec::with_capacity(length));
        let length = c_int::try_from(length).expect("frames are checked to be shorter");
        let from = c_int::try_from(from).expect("ranks are C ints");
        // SAFETY: a constant of the library.
        let mut request = unsafe { ffi::RSMPI_REQUEST_NULL };
        // SAFETY: a constant of the library.
        let byte = unsafe { ffi::RSMPI_UINT8_T };
        let comm = session.comm(channel);
        // SAFETY: the loan has room for `length` bytes and stays as it is until the request is
        // complete; the communicator is the session's.
        let code =
            unsafe { ffi::MPI_Irecv(loan.address(), length, byte, from, tag, comm, &mut request) };
        self.begun(check("MPI_Irecv", code), request, loan, None, note)
    }

    /// Moves all complete requests to `finished`.
    pub(crate) fn test(&mut self, _session: &Session, finished: &mut Vec<Finished<N>>) {
        if self.raw.is_empty() {
            return;
        }
        let count = c_int::try_from(self.raw.len()).expect("requests are bounded");
        self.places.resize(self.raw.len(), 0);
        self.statuses.resize(self.raw.len(), empty_status());
        let mut done: c_int = 0;
        // SAFETY: the requests are active ones made here, and the two other arrays have as many
        // elements.
        let code = unsafe {
            ffi::MPI_Testsome(
                count,
                self.raw.as_mut_ptr(),
                &mut done,
                self.places.as_mut_ptr(),
                self.statuses.as_mut_ptr(),
            )
        };
        let in_status = code == ffi::MPI_ERR_IN_STATUS.cast_signed();
        if !in_status && let Err(error) = check("MPI_Testsome", code) {
            // The state of the requests is unknown: all have failed, and their buffers are leaked.
            self.raw.clear();
            finished.extend(
                self.held
                    .drain(..)
                    .map(|held| Finished { note: held.note, result: Err(error.clone()) }),
            );
            return;
        }
        // Negative if no request is active, which does not occur.
        let done = usize::try_from(done).unwrap_or(0);
        let mut complete = mem::take(&mut self.complete);
        complete.extend(
            self.places[..done]
                .iter()
                .zip(&self.statuses)
                .map(|(&place, &status)| (usize::try_from(place).expect("a place"), status)),
        );
        // From the last place down, so that no complete request fills a gap.
        complete.sort_unstable_by_key(|&(place, _)| Reverse(place));
        for (place, status) in complete.drain(..) {
            self.raw.swap_remove(place);
            let Held { loan, sent, note } = self.held.swap_remove(place);
            let result = if in_status && status.MPI_ERROR != ffi::MPI_SUCCESS.cast_signed() {
                Err(described("MPI_Testsome", status.MPI_ERROR))
            } else {
                contents(loan, sent, &status)
            };
            finished.push(Finished { note, result });
        }
        self.complete = complete;
    }

    /// Tests a request that has just begun: it may be complete already.
    fn begun(
        &mut self,
        begun: Result<(), MpiError>,
        mut request: ffi::MPI_Request,
        loan: Loan,
        sent: Option<usize>,
        note: N,
    ) -> Option<Finished<N>> {
        if let Err(error) = begun {
            return Some(Finished { note, result: Err(error) });
        }
        let mut flag: c_int = 0;
        let mut status = empty_status();
        // SAFETY: the request was just made, and the two places are valid for writes.
        let code = unsafe { ffi::MPI_Test(&mut request, &mut flag, &mut status) };
        if let Err(error) = check("MPI_Test", code) {
            return Some(Finished { note, result: Err(error) });
        }
        if flag == 0 {
            self.raw.push(request);
            self.held.push(Held { loan, sent, note });
            return None;
        }
        Some(Finished { note, result: contents(loan, sent, &status) })
    }
}

/// Returns the buffer of a complete request, as it was sent or with the received bytes.
fn contents(
    loan: Loan,
    sent: Option<usize>,
    status: &ffi::MPI_Status,
) -> Result<Vec<u8>, MpiError> {
    let length = match sent {
        Some(length) => length,
        None => count(status)?,
    };
    // SAFETY: the request is complete, so MPI is done with the memory. Sent bytes are initialised
    // as before; of a received message MPI has written as many bytes as the status counts.
    Ok(unsafe { loan.give_back(length) })
}

pub(super) fn empty_status() -> ffi::MPI_Status {
    // SAFETY: a C struct of integers, for which zeros are a value.
    unsafe { mem::zeroed() }
}
