//! The kinds of signals.

use rustix::process::Signal;
use std::ffi::c_int;
use std::io::{Error, ErrorKind, Result};

/// How many numbers signals may have: the status of a process that a signal has ended has seven
/// bits for the number, so no system of Unix has more.
pub(super) const NUMBERS: usize = 128;

/// A kind of signal.
///
/// # Examples
/// ```
/// use evenkeel::signal::unix::SignalKind;
/// assert_eq!(SignalKind::from_raw(15), SignalKind::terminate());
/// assert_eq!(SignalKind::hangup().as_raw_value(), 1);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SignalKind(c_int);

/// Writes out a function for each kind that all systems have.
macro_rules! kinds {
    ($($(#[$doc:meta])* $name:ident = $Signal:ident;)*) => {
        impl SignalKind {
            $(
                $(#[$doc])*
                #[must_use]
                pub const fn $name() -> Self {
                    Self(Signal::$Signal.as_raw())
                }
            )*
        }
    };
}

kinds! {
    /// `SIGALRM`: a timer of the process has expired. Ends the process by default.
    alarm = ALARM;
    /// `SIGCHLD`: a child process has ended or stopped. Ignored by default.
    child = CHILD;
    /// `SIGHUP`: the terminal has gone; daemons take it as a request to read their configuration
    /// again. Ends the process by default.
    hangup = HUP;
    /// `SIGINT`: Ctrl-C. Ends the process by default.
    interrupt = INT;
    /// `SIGIO`: a descriptor is ready. Ends the process by default on Linux, and is ignored
    /// elsewhere.
    io = IO;
    /// `SIGPIPE`: the process has written to a pipe without a reader. Programs in Rust ignore it,
    /// and get an error from the write.
    pipe = PIPE;
    /// `SIGQUIT`: Ctrl-\\. Ends the process by default, with a memory dump.
    quit = QUIT;
    /// `SIGTERM`: a request to end, which `kill` and service managers send. Ends the process by
    /// default.
    terminate = TERM;
    /// `SIGUSR1`: for the program's own use. Ends the process by default.
    user_defined1 = USR1;
    /// `SIGUSR2`: for the program's own use. Ends the process by default.
    user_defined2 = USR2;
    /// `SIGWINCH`: the terminal's window has another size. Ignored by default.
    window_change = WINCH;
}

impl SignalKind {
    /// Returns the kind with the system's number, such as a real-time signal. Any number is taken
    /// here; [`signal`](super::unix::signal) refuses those that cannot be listened for.
    #[must_use]
    pub const fn from_raw(number: c_int) -> Self {
        Self(number)
    }

    /// Returns the system's number of the kind.
    #[must_use]
    pub const fn as_raw_value(&self) -> c_int {
        self.0
    }

    /// Returns the number as an index below [`NUMBERS`].
    ///
    /// # Errors
    /// Fails if there is no such signal, or if it cannot be listened for.
    pub(super) fn index(self) -> Result<usize> {
        let number = self.0;
        if signal_hook_registry::FORBIDDEN.contains(&number) {
            let name = Signal::from_named_raw(number).map(|signal| format!("{signal:?}"));
            let name = name.unwrap_or_default();
            return Err(invalid(format!(
                "signal {number} ({name}) cannot be listened for: the system lets no program handle SIGKILL and \
                 SIGSTOP, and code that has raised SIGILL, SIGFPE or SIGSEGV cannot go on; to end in order, listen for \
                 SignalKind::terminate()"
            )));
        }
        match usize::try_from(number) {
            Ok(index @ 1..NUMBERS) => Ok(index),
            _ => Err(invalid(format!(
                "there is no signal {number}: signals have the numbers 1 to {}",
                NUMBERS - 1
            ))),
        }
    }
}

fn invalid(message: String) -> Error {
    Error::new(ErrorKind::InvalidInput, message)
}

impl From<c_int> for SignalKind {
    fn from(number: c_int) -> Self {
        Self::from_raw(number)
    }
}

impl From<SignalKind> for c_int {
    fn from(kind: SignalKind) -> Self {
        kind.as_raw_value()
    }
}
