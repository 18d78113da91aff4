//! Forks that state their footprint, so that they stay near their data.

use super::entry;
use super::join::join_on;
use crate::deque::note::Note;
use crate::policy::{Locality, locality};
use crate::processor::context::Context;
use crate::processor::entered;
use crate::topology::Distance;
use std::fmt;
use std::sync::OnceLock;

/// States how much memory a piece of work touches. A recursive type says so once, and
/// [`join_parts`] forks by it.
///
/// References and slices implement it: a slice touches its elements. If the parts of a type share
/// data, each counts the shared data.
///
/// # Examples
/// ```
/// use evenkeel::fork_join::{Footprint, join_parts};
///
/// /// Rows of an image.
/// struct Rows<'a>(&'a mut [[u8; 640]]);
///
/// impl Footprint for Rows<'_> {
///     fn footprint(&self) -> usize {
///         size_of_val(self.0)
///     }
/// }
///
/// fn brighten(Rows(rows): Rows<'_>) {
///     if rows.len() <= 8 {
///         rows.as_flattened_mut().iter_mut().for_each(|pixel| *pixel = pixel.saturating_add(10));
///     } else {
///         let (upper, lower) = rows.split_at_mut(rows.len() / 2);
///         join_parts(Rows(upper), Rows(lower), brighten);
///     }
/// }
/// let mut image = vec![[250; 640]; 480];
/// brighten(Rows(&mut image));
/// assert!(image.as_flattened().iter().all(|&pixel| pixel == 255));
/// ```
pub trait Footprint {
    /// Returns the number of bytes that are read or written.
    #[track_caller]
    fn footprint(&self) -> usize;
}

impl<T> Footprint for [T] {
    fn footprint(&self) -> usize {
        size_of_val(self)
    }
}

impl<T: Footprint + ?Sized> Footprint for &T {
    fn footprint(&self) -> usize {
        (**self).footprint()
    }
}

impl<T: Footprint + ?Sized> Footprint for &mut T {
    fn footprint(&self) -> usize {
        (**self).footprint()
    }
}

impl<A: Footprint, B: Footprint> Footprint for (A, B) {
    fn footprint(&self) -> usize {
        self.0.footprint().saturating_add(self.1.footprint())
    }
}

/// A footprint that no fork can have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FootprintError {
    /// It is zero.
    Zero,
    /// It is more than the machine's memory.
    BeyondMemory {
        /// What was stated, in bytes.
        bytes: usize,
        /// The machine's memory, in bytes.
        memory: u64,
    },
}

impl fmt::Display for FootprintError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Zero => f.write_str(
                "a fork cannot have a footprint of 0 bytes: state what both halves touch, or use `join`",
            ),
            Self::BeyondMemory { bytes, memory } => write!(
                f,
                "a fork cannot have a footprint of {bytes} bytes, for the machine has {memory} bytes of memory: \
                 state what both halves touch, in bytes, or use `join`"
            ),
        }
    }
}

impl std::error::Error for FootprintError {}

/// As [`join`](super::join()), and states how many bytes both halves touch together.
///
/// The fork is anchored to the smallest cache that is twice as large. Workers that share this cache
/// with the caller may take the second half at once. The others may take it only after some
/// microseconds without work, or never, as the runtime's [`Locality`] says. In consecutive phases
/// over the same data, by recursions of the same shape, a half is offered first to the worker that
/// ran it in the phase before. Without knowledge of the machine's caches it is `join`.
///
/// It costs some 20 ns more than `join`, and some 100 ns more if the halves fill more than half of
/// the core's own cache, since the second one can be taken without a request then: state footprints
/// where the recursion is coarse, and use `join` below.
///
/// # Panics
/// As [`join`](super::join()); and before anything is run if `bytes` is 0 or more than the
/// machine's memory. [`try_join_sized`] returns an error instead.
///
/// # Source
/// See [`policy::locality`](crate::policy::locality).
///
/// # Examples
/// ```
/// use evenkeel::fork_join::join_sized;
///
/// fn sum(numbers: &[u64]) -> u64 {
///     if numbers.len() < 10_000 {
///         return numbers.iter().sum();
///     }
///     let (left, right) = numbers.split_at(numbers.len() / 2);
///     let (left, right) = join_sized(size_of_val(numbers), || sum(left), || sum(right));
///     left + right
/// }
/// let numbers: Vec<u64> = (0..100_000).collect();
/// assert_eq!(sum(&numbers), 4_999_950_000);
/// ```
#[track_caller]
pub fn join_sized<A, B, RA, RB>(bytes: usize, oper_a: A, oper_b: B) -> (RA, RB)
where
    A: FnOnce() -> RA + Send,
    B: FnOnce() -> RB + Send,
    RA: Send,
    RB: Send,
{
    match try_join_sized(bytes, oper_a, oper_b) {
        Ok(results) => results,
        Err(error) => panic!("{error}"),
    }
}

/// As [`join_sized`], for a footprint that comes from elsewhere.
///
/// # Errors
/// If `bytes` is 0 or more than the machine's memory. Nothing is run then.
///
/// # Panics
/// As [`join`](super::join()).
///
/// # Examples
/// ```
/// use evenkeel::fork_join::{FootprintError, try_join_sized};
/// assert_eq!(try_join_sized(0, || 1, || 2), Err(FootprintError::Zero));
/// assert_eq!(try_join_sized(64, || 1, || 2), Ok((1, 2)));
/// ```
pub fn try_join_sized<A, B, RA, RB>(
    bytes: usize,
    oper_a: A,
    oper_b: B,
) -> Result<(RA, RB), FootprintError>
where
    A: FnOnce() -> RA + Send,
    B: FnOnce() -> RB + Send,
    RA: Send,
    RB: Send,
{
    if bytes == 0 {
        return Err(FootprintError::Zero);
    }
    let memory = memory();
    if bytes as u64 > memory {
        return Err(FootprintError::BeyondMemory { bytes, memory });
    }
    Ok(entered::with_worker(|context| match context {
        Some(context) => join_anchored(context, bytes as u64, oper_a, oper_b),
        None => entry::in_worker(entry::default_handle, |context| {
            join_anchored(context, bytes as u64, oper_a, oper_b)
        }),
    }))
}

/// Does the same work on both parts, as [`join_sized`] does with the sum of their footprints. Two
/// parts that touch nothing are forked as by [`join`](super::join()).
///
/// # Panics
/// As [`join`](super::join()), and if the footprint is more than the machine's memory.
///
/// # Examples
/// ```
/// use evenkeel::fork_join::join_parts;
///
/// fn largest(numbers: &[u32]) -> u32 {
///     if numbers.len() <= 1_000 {
///         return numbers.iter().copied().max().unwrap_or(0);
///     }
///     let (left, right) = numbers.split_at(numbers.len() / 2);
///     let (left, right) = join_parts(left, right, largest);
///     left.max(right)
/// }
/// let numbers: Vec<u32> = (0..5_000).map(|n| n * 7 % 5_003).collect();
/// assert_eq!(largest(&numbers), 5_002);
/// ```
#[track_caller]
pub fn join_parts<T, R, F>(left: T, right: T, work: F) -> (R, R)
where
    T: Footprint + Send,
    R: Send,
    F: Fn(T) -> R + Sync,
{
    match left.footprint().saturating_add(right.footprint()) {
        0 => super::join(|| work(left), || work(right)),
        bytes => join_sized(bytes, || work(left), || work(right)),
    }
}

/// The bytes of memory that the machine has, or `u64::MAX` if that is unknown.
fn memory() -> u64 {
    static MEMORY: OnceLock<u64> = OnceLock::new();
    *MEMORY.get_or_init(crate::topology::memory)
}

/// The fork itself, on a worker.
fn join_anchored<A, B, RA, RB>(context: &Context, bytes: u64, oper_a: A, oper_b: B) -> (RA, RB)
where
    A: FnOnce() -> RA,
    B: FnOnce() -> RB,
{
    let deque = &context.seat.processor().deque;
    let head = deque.head();
    let anchor = Anchor::of(context, bytes);
    if anchor.is_public
        || context.shared().locality == Locality::Strict
            && context.shared().idle.counts().sleeping > 0
    {
        // The push publishes. Sleepers that may not take what was published when they asked may
        // take this.
        deque.ask();
    }
    deque.leave_note(head, anchor.note.bits());
    join_on(
        deque,
        head,
        false,
        |_| anchor.run_first(context, oper_a),
        |here| {
            if !here.migrated {
                // Back with its owner, which takes the note too.
                here.deque.leave_note(here.head, 0);
            }
            // Also on a relief, where anchors have no effect.
            entered::with_any(|context| {
                anchor.run_second(context.expect("jobs run on workers"), oper_b)
            })
        },
    )
}

/// The cache and the worker that a fork is anchored to.
#[derive(Clone, Copy)]
struct Anchor {
    note: Note,
    /// Whether the second half is public at once.
    is_public: bool,
    /// The part of the recursion that the second half is; zero if it is not worth remembering.
    part: u64,
}

impl Anchor {
    fn of(context: &Context, bytes: u64) -> Self {
        let shared = context.shared();
        let me = context.seat.me();
        let anchors = shared.locality.anchors() && shared.workers > 1 && context.has_place();
        let Some(neighbours) = shared.neighbours(me).filter(|_| anchors) else {
            return Self { note: Note::default(), is_public: false, part: 0 };
        };
        let reach = neighbours.reach(bytes);
        let is_public = locality::publishes(reach);
        let number = context.forks.count_anchored();
        // What fits into a core's own cache is not worth remembering, nor is it under a rule that
        // makes no offers.
        if reach <= Distance::SmtSibling || shared.locality == Locality::Strict {
            return Self { note: Note::new(reach, None, number), is_public, part: 0 };
        }
        let part = locality::second_part(context.forks.part.get(), bytes);
        let is_known = |&last: &usize| last != me && locality::remembers(reach);
        let last = shared.runners.last(part).filter(is_known);
        Self { note: Note::new(reach, last, number), is_public, part }
    }

    fn run_first<R>(self, context: &Context, oper: impl FnOnce() -> R) -> R {
        if self.part == 0 {
            return oper();
        }
        let _back = Within::part(context, locality::first_part(self.part));
        oper()
    }

    fn run_second<R>(self, context: &Context, oper: impl FnOnce() -> R) -> R {
        if self.part == 0 {
            return oper();
        }
        if context.has_place() {
            context.shared().runners.remember(self.part, context.seat.me());
        }
        let _back = Within::part(context, self.part);
        oper()
    }
}

/// While this lives, a worker is within a part of a recursion.
struct Within<'a> {
    context: &'a Context,
    before: u64,
}

impl<'a> Within<'a> {
    fn part(context: &'a Context, part: u64) -> Self {
        Self { context, before: context.forks.part.replace(part) }
    }
}

impl Drop for Within<'_> {
    fn drop(&mut self) {
        self.context.forks.part.set(self.before);
    }
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use super::*;
    use crate::policy::locality::Last;
    use std::sync::atomic::{AtomicBool, Ordering};

    #[test]
    fn a_phase_offers_a_part_to_the_worker_that_ran_it_in_the_phase_before() {
        let machine = "2 cores, l2 1M, l3 8M".parse().unwrap();
        let runtime = crate::Builder::new().workers(2).topology(machine).build().unwrap();
        let me = || entered::with_worker(|context| context.unwrap().seat.me());
        let note = |bytes| entered::with_worker(|context| Anchor::of(context.unwrap(), bytes)).note;
        // What a fork of `bytes` bytes would offer to either worker.
        let offers = |bytes| {
            let note = note(bytes);
            [0, 1].map(|worker| note.offer(worker).last)
        };
        runtime.install(|| {
            assert_eq!(offers(1 << 21), [Last::Owner; 2], "no worker has run it yet");
            let taken = AtomicBool::new(false);
            let first = || {
                // The first half lasts until the other worker has the second.
                while !taken.load(Ordering::Acquire) {
                    std::thread::yield_now();
                }
                me()
            };
            let second = || {
                taken.store(true, Ordering::Release);
                me()
            };
            let (owner, thief) = join_sized(1 << 21, first, second);
            assert_ne!(owner, thief);
            let said = offers(1 << 21);
            assert_eq!((said[owner], said[thief]), (Last::Another, Last::Me));
            assert_eq!(offers(1 << 22), [Last::Owner; 2], "another recursion");
            assert_eq!(offers(1 << 19), [Last::Owner; 2], "a part for one core");
            assert_ne!(
                note(1 << 21),
                note(1 << 21),
                "a thief tells this phase's fork from the last"
            );
        });
    }

    fn has_private() -> bool {
        entered::with_worker(|context| context.unwrap().seat.processor().deque.has_private())
    }

    /// Runs a job on one of two workers while the other is inside a call, and so asks for nothing.
    fn beside_a_busy_worker<R: Send>(job: impl FnOnce() -> R + Send) -> R {
        let machine = "2 cores, l2 1M, l3 8M".parse().unwrap();
        let builder = crate::Builder::new().workers(2).reliefs(0).topology(machine);
        let runtime = builder.build().unwrap();
        let (begun, over) = (AtomicBool::new(false), AtomicBool::new(false));
        std::thread::scope(|scope| {
            scope.spawn(|| {
                runtime.install(|| {
                    begun.store(true, Ordering::Release);
                    while !over.load(Ordering::Acquire) {
                        std::thread::yield_now();
                    }
                });
            });
            while !begun.load(Ordering::Acquire) {
                std::thread::yield_now();
            }
            let result = runtime.install(job);
            over.store(true, Ordering::Release);
            result
        })
    }

    #[test]
    fn a_half_beyond_the_core_s_own_cache_is_public_without_a_request() {
        let are_private = beside_a_busy_worker(|| {
            // Takes a request that was left before.
            crate::fork_join::join(|| (), || ());
            [1 << 19, 1 << 21].map(|bytes| join_sized(bytes, has_private, || ()).0)
        });
        // Without `membarrier` all are public.
        assert_eq!(are_private, [crate::primitives::fence::is_asymmetric(), false]);
    }

    #[test]
    fn the_first_fork_of_a_stolen_job_is_public_without_a_request() {
        let runtime = crate::Builder::new().workers(2).reliefs(0).build().unwrap();
        runtime.install(|| {
            let done = AtomicBool::new(false);
            let first = || {
                while !done.load(Ordering::Acquire) {
                    std::thread::yield_now();
                }
            };
            let second = || {
                let are_private = [(); 2].map(|()| crate::fork_join::join(has_private, || ()).0);
                done.store(true, Ordering::Release);
                are_private
            };
            let asymmetric = crate::primitives::fence::is_asymmetric();
            assert_eq!(crate::fork_join::join(first, second).1, [false, asymmetric]);
        });
    }
}
