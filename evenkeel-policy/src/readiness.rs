//! How often a processor looks whether its sockets are ready.
//!
//! A processor without work sleeps until a socket is ready; it looks before that if
//! [it expects to find any](Prospect). One that has work looks now and then between two batches.
//! Others look for a processor that does not. Sockets gather where the work is.

/// How long a processor with work goes on between two looks at its sockets. A look is a system
/// call, some 400 ns, and the more it finds the less it costs for each. With 40 µs an echo server
/// with 100 connections looks for every four answers, and spends a twentieth of its time there.
/// Tokio looks every 61 polls, which takes such a server some 300 µs.
pub const LOOK: u64 = 200_000;

/// Others look for a processor that has not looked for this long: it is inside a long poll, or the
/// system has taken its core. A few times [`LOOK`].
pub const OVERDUE: u64 = 500_000;

/// Whether a processor without work looks at its sockets before it goes to sleep among them. A vain
/// look makes a sleep longer by a system call, some 400 ns; a look that finds something saves the
/// sleep, which takes about as long without it. So the last ones tell whether it is worth while.
#[derive(Clone, Copy, Debug)]
pub struct Prospect(u8);

impl Prospect {
    /// The best prospect. Two vain looks in a row end it.
    const BEST: u8 = 3;

    /// Returns whether the processor looks.
    ///
    /// # Examples
    /// ```
    /// use evenkeel_policy::readiness::Prospect;
    /// let mut prospect = Prospect::default();
    /// assert!(prospect.is_good());
    /// (0..2).for_each(|_| prospect.note(false));
    /// assert!(!prospect.is_good());
    /// prospect.note(true);
    /// assert!(prospect.is_good());
    /// ```
    #[inline]
    #[must_use]
    pub fn is_good(self) -> bool {
        self.0 > Self::BEST / 2
    }

    /// Notes whether a look has found anything or, without a look, whether it would have.
    #[inline]
    pub fn note(&mut self, found: bool) {
        self.0 = if found { Self::BEST.min(self.0 + 1) } else { self.0.saturating_sub(1) };
    }
}

impl Default for Prospect {
    fn default() -> Self {
        Self(Self::BEST)
    }
}

/// A sleep among sockets that is shorter than this was none: something was ready when it began. An
/// estimate: less than a sleep and a wake-up through the kernel.
pub const AT_ONCE: u64 = 2_000;

/// Returns whether a processor that has work looks, if it has `looked` at that time.
///
/// # Examples
/// ```
/// use evenkeel_policy::readiness::{LOOK, is_due};
/// assert!(!is_due(100_000, 90_000));
/// assert!(is_due(100_000 + LOOK, 100_000));
/// ```
#[inline]
#[must_use]
pub fn is_due(now: u64, looked: u64) -> bool {
    now.saturating_sub(looked) >= LOOK
}

/// Returns whether another processor looks for one that has `looked` at that time.
///
/// # Examples
/// ```
/// use evenkeel_policy::readiness::{OVERDUE, is_overdue};
/// assert!(!is_overdue(OVERDUE, 1));
/// assert!(is_overdue(OVERDUE, 0));
/// ```
#[inline]
#[must_use]
pub fn is_overdue(now: u64, looked: u64) -> bool {
    now.saturating_sub(looked) >= OVERDUE
}

/// A socket goes to another processor's set after this many waits in a row for which that one is
/// [better](gathers). An estimate: a move is two system calls, a few percent of as many answers.
pub const MOVE: u64 = 16;

/// Returns whether a socket goes into the set of the processor that would have been better for the
/// last `waits` waits.
///
/// # Examples
/// ```
/// use evenkeel_policy::readiness::{MOVE, is_worth_moving};
/// assert!(!is_worth_moving(1));
/// assert!(is_worth_moving(MOVE));
/// ```
#[inline]
#[must_use]
pub fn is_worth_moving(waits: u64) -> bool {
    waits >= MOVE
}

/// Returns whether a socket whose task waits at a processor with `ready` other tasks is better in
/// the set of the [gatherer](leads), which comes to its set. If there is nothing else to do, few
/// processors are enough, and one that looks at many sockets finds several at a time. With work for
/// several, the sockets go to those processors at which their tasks wait.
///
/// With 100 connections, two workers and a client on the same two cores, an echo server whose
/// sockets stay where they were first polled makes 157 thousand answers per second, of which one in
/// a hundred takes 5 ms, because the system has given the core of the set's sleeper to another
/// thread. With this it makes 188 thousand, and one in a hundred takes 1.9 ms.
///
/// # Examples
/// ```
/// use evenkeel_policy::readiness::gathers;
/// assert!(gathers(0));
/// assert!(!gathers(1));
/// ```
#[inline]
#[must_use]
pub fn gathers(ready: usize) -> bool {
    ready == 0
}

/// Returns whether a processor with `own` sockets becomes the gatherer, at which sockets without a
/// better place gather, in place of one that has `theirs`. It has to have more than twice as many:
/// a socket is not worth a [move](MOVE) there and back.
///
/// With the first processor as the gatherer for good, a server of pages with 100 connections, two
/// workers and a client of one thread was at times in a state in which the second worker had 85 of
/// the sockets, and enough to do to keep them, and the first one slept for each request of its
/// others: it made a fifth less pages then.
///
/// # Examples
/// ```
/// use evenkeel_policy::readiness::leads;
/// assert!(leads(85, 15) && leads(1, 0));
/// assert!(!leads(60, 40));
/// ```
#[inline]
#[must_use]
pub fn leads(own: usize, theirs: usize) -> bool {
    own > theirs.saturating_mul(2)
}
