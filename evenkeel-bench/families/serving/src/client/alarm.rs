//! A clock that ends a wait for sockets at its time, to the microsecond: the wait itself counts in
//! milliseconds.

use std::io;
use std::time::Duration;

use mio::{Registry, Token};

/// A timer that ends waits.
pub(super) struct Alarm(system::Timer);

impl Alarm {
    /// Creates one that ends waits of this registry with this token.
    pub(super) fn new(registry: &Registry, token: Token) -> io::Result<Self> {
        system::Timer::new(registry, token).map(Self)
    }

    /// Has it go off after this time, and at no time that was set before. Returns how long a wait
    /// may take.
    pub(super) fn after(&self, time: Duration) -> io::Result<Duration> {
        self.0.after(time)
    }
}

#[cfg(target_os = "linux")]
mod system {
    use std::io;
    use std::os::fd::{AsRawFd, OwnedFd};
    use std::time::Duration;

    use mio::unix::SourceFd;
    use mio::{Interest, Registry, Token};
    use rustix::time::{
        Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, timerfd_create,
        timerfd_settime,
    };

    /// A wait that the timer does not end.
    const LONGEST: Duration = Duration::from_secs(1);

    pub(super) struct Timer(OwnedFd);

    impl Timer {
        pub(super) fn new(registry: &Registry, token: Token) -> io::Result<Self> {
            let timer = timerfd_create(TimerfdClockId::Monotonic, TimerfdFlags::NONBLOCK)?;
            registry.register(&mut SourceFd(&timer.as_raw_fd()), token, Interest::READABLE)?;
            Ok(Self(timer))
        }

        pub(super) fn after(&self, time: Duration) -> io::Result<Duration> {
            // Zero would stop it.
            let time = time.max(Duration::from_nanos(1));
            let it_value =
                Timespec { tv_sec: time.as_secs() as i64, tv_nsec: i64::from(time.subsec_nanos()) };
            let it_interval = Timespec { tv_sec: 0, tv_nsec: 0 };
            let times = Itimerspec { it_interval, it_value };
            timerfd_settime(&self.0, TimerfdTimerFlags::empty(), &times)?;
            Ok(LONGEST)
        }
    }
}

/// Elsewhere a wait ends within a millisecond of its time.
#[cfg(not(target_os = "linux"))]
mod system {
    use std::io;
    use std::time::Duration;

    use mio::{Registry, Token};

    pub(super) struct Timer;

    impl Timer {
        pub(super) fn new(_: &Registry, _: Token) -> io::Result<Self> {
            Ok(Self)
        }

        pub(super) fn after(&self, time: Duration) -> io::Result<Duration> {
            Ok(time)
        }
    }
}
