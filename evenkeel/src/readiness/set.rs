//! The set of one processor.

use super::Counts;
use super::source::Source;
use super::system::{Looker, Socket, System};
use super::woken::Woken;
use crate::primitives::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use crate::primitives::counter::Counter;
use crate::primitives::slab::Slab;
use crate::primitives::{Mutex, MutexGuard, clock, lock};
use std::io;
use std::sync::{Arc, OnceLock, TryLockError};
use std::time::Duration;

/// Where a processor's set is, once it is open.
#[derive(Debug, Default)]
pub(crate) struct Place(OnceLock<Arc<Set>>);

impl Place {
    #[inline]
    pub(crate) fn get(&self) -> Option<&Set> {
        self.opened().map(|set| &**set)
    }

    /// Returns the set to a thread that keeps it.
    pub(crate) fn opened(&self) -> Option<&Arc<Set>> {
        self.0.get()
    }

    /// Returns the set, and opens it if necessary.
    pub(crate) fn open(&self) -> io::Result<&Arc<Set>> {
        if let Some(set) = self.0.get() {
            return Ok(set);
        }
        let set = Arc::new(Set::open()?);
        // If another thread was faster, its set counts.
        Ok(self.0.get_or_init(|| set))
    }
}

#[derive(Debug)]
pub(crate) struct Set {
    look: Mutex<Looker>,
    system: System,
    /// The sources by their numbers.
    sources: Mutex<Slab<Arc<Source>>>,
    /// The number of sources.
    count: AtomicUsize,
    /// When the last look began.
    looked: AtomicU64,
    /// When the owner last came to look.
    tended: AtomicU64,
    is_over: AtomicBool,
    /// Whether the owner may have taken notes from the system while it counts as asleep.
    is_out: AtomicBool,
    pub(super) tally: Tally,
}

/// What a set has done. A thread changes the counters of looks and notes under the lock of looks.
#[derive(Debug, Default)]
pub(super) struct Tally {
    looks: Counter,
    notes: Counter,
    /// Sources that have moved here.
    pub(super) moved: AtomicU64,
}

impl Set {
    pub(super) fn open() -> io::Result<Self> {
        let (system, looker) = System::open()?;
        let now = clock::now();
        Ok(Self {
            look: Mutex::new(looker),
            system,
            sources: Mutex::new(Slab::new()),
            count: AtomicUsize::new(0),
            looked: AtomicU64::new(now),
            tended: AtomicU64::new(now),
            is_over: AtomicBool::new(false),
            is_out: AtomicBool::new(false),
            tally: Tally::default(),
        })
    }

    /// Returns when the last look began.
    pub(crate) fn looked(&self) -> u64 {
        self.looked.load(Ordering::Relaxed)
    }

    pub(crate) fn counts(&self) -> Counts {
        Counts {
            sockets: self.count.load(Ordering::Relaxed),
            looks: self.tally.looks.get(),
            notes: self.notes(),
            moved: self.tally.moved.load(Ordering::Relaxed),
        }
    }

    /// Returns when the owner last came to look.
    pub(crate) fn tended(&self) -> u64 {
        self.tended.load(Ordering::Relaxed)
    }

    /// Does the same as [`look`](Self::look), for the owner.
    pub(crate) fn tend(&self, now: u64) -> bool {
        self.tended.store(now, Ordering::Relaxed);
        self.look(now)
    }

    /// Returns whether there are sources in it.
    pub(crate) fn is_used(&self) -> bool {
        self.count.load(Ordering::Relaxed) > 0
    }

    /// Returns how often a look has found a source ready.
    pub(crate) fn notes(&self) -> u64 {
        self.tally.notes.get()
    }

    /// Looks without waiting, unless another thread looks. Returns whether it has woken any
    /// operation.
    pub(crate) fn look(&self, now: u64) -> bool {
        self.looked.store(now, Ordering::Relaxed);
        match self.look.try_lock() {
            Ok(look) => self.take(look, Some(Duration::ZERO), || now).wake(),
            Err(TryLockError::Poisoned(poisoned)) => {
                self.take(poisoned.into_inner(), Some(Duration::ZERO), || now).wake()
            }
            Err(TryLockError::WouldBlock) => false,
        }
    }

    /// Sleeps until a source is ready or the sleep is interrupted, for at most `limit`; not at all,
    /// if it `is_called`. The caller is the owner, which wakes the operations once it no longer
    /// counts as asleep.
    ///
    /// The question is put under the lock of looks: an interrupt that came before may have gone to
    /// another looker, and from then on there is no other.
    ///
    /// Under a clock that `stands`, the owner says that it is out before it takes what is ready. In
    /// other sleeps it is out from the beginning: the clock may come to stand meanwhile. See
    /// [`has_untold`](Self::has_untold).
    pub(crate) fn sleep(
        &self,
        mut limit: Option<Duration>,
        stands: bool,
        is_called: impl FnOnce() -> bool,
    ) -> Woken {
        let look = lock(&self.look);
        self.is_out.store(!stands, Ordering::Release);
        if is_called() {
            return Woken::default();
        }
        if stands {
            look.wait(limit);
            self.is_out.store(true, Ordering::Release);
            limit = Some(Duration::ZERO);
        }
        self.take(look, limit, || {
            let now = clock::now();
            self.looked.store(now, Ordering::Relaxed);
            self.tended.store(now, Ordering::Relaxed);
            now
        })
    }

    /// Says that the owner has woken all whose notes it has taken, and is about to sleep.
    pub(crate) fn come_in(&self) {
        self.is_out.store(false, Ordering::Release);
    }

    /// Returns whether sources may be ready of which no task knows yet, for a thread that finds the
    /// owner asleep, and moves a clock if all is idle.
    ///
    /// The system has what is ready until the owner takes it, and the owner is out before that. So
    /// what is not in the system any more is with an owner that is seen to be out. Before it sleeps
    /// again it [comes in](Self::come_in), and looks whether it is to move the clock.
    pub(crate) fn has_untold(&self) -> bool {
        self.has_notes() || self.is_out.load(Ordering::Acquire)
    }

    /// Returns whether the next look finds anything.
    pub(crate) fn has_notes(&self) -> bool {
        self.system.has_notes()
    }

    /// Ends the present sleep, or the next one.
    pub(crate) fn interrupt(&self) {
        self.system.interrupt();
    }

    /// Looks for at most `limit`. `now` is asked for the time after that.
    fn take(
        &self,
        mut looker: MutexGuard<'_, Looker>,
        limit: Option<Duration>,
        now: impl FnOnce() -> u64,
    ) -> Woken {
        self.tally.looks.add(1);
        let is_any = looker.look(limit);
        let now = now();
        let mut woken = Woken::default();
        if !is_any {
            return woken;
        }
        let mut sources = lock(&self.sources);
        for (number, ready) in looker.notes() {
            if let Some(source) = sources.get_mut(number) {
                source.note(ready, now, &mut woken);
                self.tally.notes.add(1);
            }
        }
        woken
    }

    /// Enters a socket, and returns its number in the set; and the operations that the caller has
    /// to wake once it has left its locks, because the runtime is over.
    pub(super) fn enter(
        &self,
        source: &Arc<Source>,
        socket: Socket<'_>,
    ) -> io::Result<(usize, Woken)> {
        let number = lock(&self.sources).insert(source.clone());
        if let Err(error) = self.system.enter(socket, number) {
            lock(&self.sources).remove(number);
            return Err(error);
        }
        self.count.fetch_add(1, Ordering::Relaxed);
        let mut woken = Woken::default();
        if self.is_over.load(Ordering::SeqCst) {
            source.end(&mut woken);
        }
        Ok((number, woken))
    }

    /// Takes a socket out.
    pub(super) fn leave(&self, number: usize, socket: Socket<'_>) {
        self.system.leave(socket);
        let source = lock(&self.sources).remove(number);
        drop(source);
        self.count.fetch_sub(1, Ordering::Relaxed);
    }

    /// Ends all operations, also those that come later: the runtime is over.
    pub(crate) fn close(&self) {
        self.is_over.store(true, Ordering::SeqCst);
        let mut woken = Woken::default();
        for source in lock(&self.sources).iter() {
            source.end(&mut woken);
        }
        woken.wake();
    }
}
