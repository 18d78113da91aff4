//! How often a processor looks whether its sockets are ready.
//!
//! A processor without work sleeps until a socket is ready; it looks before that if
//! [it expects to find any](Prospect). One that has work looks now and then between two batches.
//! Others look for a processor that does not. Sockets [gather](Catch) where there is little to do,
//! and are [drawn] to the processors that poll their tasks where there is much.

/// How long a processor with work goes on between two looks at its sockets. A look is a system
/// call, some 400 ns, and the more it finds the less it costs for each. With 40 µs an echo server
/// with 100 connections looks for every four answers, and spends a twentieth of its time there.
/// Tokio looks every 61 polls, which takes such a server some 300 µs. An estimate from that; no
/// benchmark sets it.
pub const LOOK: u64 = 200_000;

/// Others look for a processor that has not looked for this long: it is inside a long poll, or the
/// system has taken its core. A few times [`LOOK`]: an estimate, no benchmark sets it.
pub const OVERDUE: u64 = 500_000;

/// Whether a processor without work looks at its sockets before it goes to sleep among them. A vain
/// look makes a sleep longer by a system call, some 400 ns; a look that finds something saves the
/// sleep, which takes about as long without it. So the last ones tell whether it is worth while.
#[derive(Clone, Copy, Debug)]
pub struct Prospect(u8);

impl Prospect {
    /// The best prospect. Two vain looks in a row end it. An estimate; no benchmark sets it.
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

/// The processor in whose set a socket is better after a wait of its task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Better {
    /// The one where it is.
    Home,
    /// The one that polls the task.
    Here,
    /// The [gatherer](Traffic), if it comes to its set.
    Gatherer,
}

/// Returns where a socket is better after a wait of its task, at its home or elsewhere.
///
/// One whose home [finds few](Catch) for each sleep goes to the gatherer. A home that sleeps has no
/// more to do than others: not its socket has woken the task elsewhere, but a channel or a timer.
///
/// # Examples
/// ```
/// use evenkeel_policy::readiness::{Better, better};
/// assert_eq!(better(true, false, false), Better::Home, "it is busy with its own");
/// assert_eq!(better(true, true, false), Better::Gatherer);
/// assert_eq!(better(false, true, false), Better::Here, "stolen from a processor that is busy");
/// assert_eq!(better(false, true, true), Better::Home, "woken by a channel");
/// ```
#[inline]
#[must_use]
pub fn better(is_at_home: bool, finds_few: bool, home_sleeps: bool) -> Better {
    match is_at_home {
        true if finds_few => Better::Gatherer,
        false if !home_sleeps => Better::Here,
        _ => Better::Home,
    }
}

/// How much each wait draws a socket to the set of another processor, if that one is better. A wait
/// that draws it to no other takes one off. So a socket moves after 8 waits for which another one
/// is better, and soon if they are more than a third of all; with 28 of 100 it takes some 500 waits
/// on average, with 20 of 100 some 10,000.
///
/// `evenkeel-bench run --bench echo,http` with 100 connections and two workers set it: with all
/// sockets in one set, the other worker polls 16 to 28 of 100 tasks beside a client of one thread,
/// where that is the better state, and 34 to 46 beside one of two, where it is the worse.
pub const DRAW: u32 = 2;

/// A socket that is [drawn] this much moves. An estimate: a move is two system calls, some tenth of
/// the 8 answers that it follows at the soonest.
pub const MOVE: u32 = 16;

/// Returns how much a socket is drawn to another set after a wait, if it was `drawn` before.
///
/// # Examples
/// ```
/// use evenkeel_policy::readiness::{DRAW, MOVE, drawn};
/// let waits = |each: &[bool]| each.iter().cycle().take(300).fold(0, |was, &is| drawn(was, is));
/// assert!(waits(&[true, false]) >= MOVE);
/// assert!(waits(&[true, false, false, false]) < MOVE);
/// ```
#[inline]
#[must_use]
pub fn drawn(drawn: u32, elsewhere: bool) -> u32 {
    if elsewhere { drawn.saturating_add(DRAW) } else { drawn.saturating_sub(1) }
}

/// How many sockets a processor finds ready for each of its sleeps among them, on average.
///
/// If they are few, it sleeps and wakes for every few answers, and its sockets are better in the
/// set of the [gatherer](Traffic), which then finds more of them at a time. Otherwise they stay: a
/// processor that is busy with its own sockets leaves the tasks of others in their caches.
///
/// `evenkeel-bench run --bench http` with 100 connections, two workers and a client on the same two
/// cores: if the client has one thread, a worker with half of the sockets finds 4 to 7 for each
/// sleep, and with all of them in one set the server makes 5 to 18 % more pages. If it has two
/// threads, a worker finds 25 to 60, and with all sockets in one set it makes 4 to 7 % fewer.
///
/// # Examples
/// ```
/// use evenkeel_policy::readiness::Catch;
/// let mut catch = Catch::default();
/// assert!(catch.is_sparse(), "a server that has hardly begun");
/// (0..16).for_each(|_| catch.note(40));
/// assert!(!catch.is_sparse());
/// (0..16).for_each(|_| catch.note(3));
/// assert!(catch.is_sparse());
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct Catch {
    /// The moving average, in parts of [`Self::PARTS`].
    mean: u64,
}

impl Catch {
    const PARTS: u64 = 16;

    /// The geometric mean of the two states above.
    const FEW: u64 = 12;

    /// So many without a sleep count like those of one, and more at one sleep like these. An
    /// estimate; no benchmark sets it.
    pub const MANY: u64 = 64;

    /// Notes that a sleep has ended, after as many notes since the one before.
    #[inline]
    pub fn note(&mut self, notes: u64) {
        self.mean = super::smooth(self.mean, notes.min(Self::MANY) * Self::PARTS);
    }

    /// Returns whether they are few.
    #[inline]
    #[must_use]
    pub fn is_sparse(self) -> bool {
        self.mean < Self::FEW * Self::PARTS
    }
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
    /// Notes in its own set after which a processor compares: a few times the waits after which a
    /// socket [moves](MOVE), so that sockets that are about to move are compared first.
    const BETWEEN: u64 = 2 * MOVE as u64;

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
