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
/// the set of the [gatherer](Traffic), which comes to its set. If there is nothing else to do, few
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

/// What a processor that looks knows of the notes in its set, and in that of the *gatherer*: the
/// processor at which sockets without a better place gather.
///
/// A processor takes the gatherer's place if it has had more than twice as many notes meanwhile. So
/// sockets without traffic do not count, nor does a set whose sockets have moved away because its
/// owner is stuck.
///
/// With the first processor as the gatherer for good, a server of pages with 100 connections, two
/// workers and a client of one thread was at times in a state in which the second worker had 85 of
/// the sockets, and enough to do to keep them, and the first one slept for each request of its
/// others: it made a fifth fewer pages then.
///
/// # Examples
/// ```
/// use evenkeel_policy::readiness::Traffic;
/// let mut traffic = Traffic::default();
/// assert!(traffic.is_due(100) && traffic.leads(0, 100, 49));
/// let (own, theirs) = (200, 49 + 60);
/// assert!(!traffic.leads(0, own, theirs), "not twice as many");
/// assert!(!traffic.is_due(own + 1));
/// assert!(!traffic.leads(1, own + 100, 0), "another gatherer: nothing is known of it yet");
/// assert!(traffic.leads(1, own + 200, 0));
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct Traffic {
    gatherer: usize,
    own: u64,
    theirs: u64,
}

impl Traffic {
    /// Notes in its own set after which a processor compares: twice the waits after which a socket
    /// [moves](MOVE), so that a few sockets that are about to move are compared first.
    const BETWEEN: u64 = 2 * MOVE;

    /// Returns whether a processor with `own` notes compares.
    #[inline]
    #[must_use]
    pub fn is_due(&self, own: u64) -> bool {
        own.saturating_sub(self.own) >= Self::BETWEEN
    }

    /// Returns whether a processor with `own` notes takes the place of `gatherer`, which has
    /// `theirs`.
    #[must_use]
    pub fn leads(&mut self, gatherer: usize, own: u64, theirs: u64) -> bool {
        let before = core::mem::replace(self, Self { gatherer, own, theirs });
        let (own, theirs) = (own.saturating_sub(before.own), theirs.saturating_sub(before.theirs));
        before.gatherer == gatherer && own > theirs.saturating_mul(2)
    }
}
