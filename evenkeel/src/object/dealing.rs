//! Over which workers the homes of a class are dealt: over all of them, or at one.
//!
//! # Roles
//! Whoever [steers](super::steer) the class says which. Each *host* looks, when an operation is over that is looked at, whether the object is to be at another worker now, and [moves it](super::giving) there.
//!
//! # States
//! *Spread*: objects stay where they are; from here on it is heat that moves them. *Gathered* at a worker: all others give it what they have. *Spreading* from a worker: it gives the one with the fewest bytes what it has, until that would have more than itself; then *spread*.
//! The one who steers makes all changes but the last, which a host makes if nothing else has been said meanwhile.
//!
//! # Why nothing is lost
//! What is said here is a wish: it names no object, and protects none. An object that is nobody's to move just now is asked for again at its next operation that is looked at.

use crate::primitives::atomic::{AtomicUsize, Ordering};

/// Over which workers the homes of a class are dealt.
#[derive(Debug, Default)]
pub(super) struct Dealing(AtomicUsize);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Spread,
    Spreading(usize),
    Gathered(usize),
}

impl State {
    const fn word(self) -> usize {
        match self {
            Self::Spread => 0,
            Self::Spreading(from) => (from << 1) + 2,
            Self::Gathered(at) => (at << 1) + 3,
        }
    }

    const fn of(word: usize) -> Self {
        match word {
            0 => Self::Spread,
            word if word % 2 == 0 => Self::Spreading((word - 2) >> 1),
            word => Self::Gathered((word - 3) >> 1),
        }
    }
}

impl Dealing {
    fn state(&self) -> State {
        State::of(self.0.load(Ordering::Relaxed))
    }

    /// The worker at which all are, if they are.
    pub(super) fn gathered_at(&self) -> Option<usize> {
        match self.state() {
            State::Gathered(at) => Some(at),
            State::Spread | State::Spreading(_) => None,
        }
    }

    /// Whether an object may get a home at this worker.
    pub(super) fn may_be_at(&self, worker: usize) -> bool {
        self.gathered_at().is_none_or(|at| at == worker)
    }

    /// Has them gathered at this worker.
    pub(super) fn gather(&self, at: usize) {
        self.0.store(State::Gathered(at).word(), Ordering::Relaxed);
    }

    /// Has them spread again, if they were gathered.
    pub(super) fn spread(&self) {
        if let State::Gathered(at) = self.state() {
            self.0.store(State::Spreading(at).word(), Ordering::Relaxed);
        }
    }

    /// The worker to which `me` is to give an object of so many bytes, if it is. `totals` are the bytes that each has.
    pub(super) fn to(&self, me: usize, bytes: usize, totals: &[AtomicUsize]) -> Option<usize> {
        let state = self.state();
        match state {
            State::Spread => None,
            State::Gathered(at) => (at != me).then_some(at),
            State::Spreading(from) if from != me => None,
            State::Spreading(_) => {
                let total = |worker: &usize| totals[*worker].load(Ordering::Relaxed);
                let least = (0..totals.len()).min_by_key(total)?;
                if total(&me) > total(&least).saturating_add(bytes) {
                    return Some(least);
                }
                let (from, to) = (state.word(), State::Spread.word());
                let _ = self.0.compare_exchange(from, to, Ordering::Relaxed, Ordering::Relaxed);
                None
            }
        }
    }
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use super::*;
    use crate::object::Object;
    use crate::object::class::Class;
    use crate::policy::object::Mode;
    use crate::primitives::atomic::AtomicBool;
    use crate::runtime::enter;
    use crate::{Builder, spawn, yield_now};
    use std::sync::Arc;
    use std::time::{Duration, Instant};

    fn totals(bytes: &[usize]) -> Vec<AtomicUsize> {
        bytes.iter().map(|&bytes| AtomicUsize::new(bytes)).collect()
    }

    #[test]
    fn all_others_give_what_they_have_to_the_one_where_they_are_gathered() {
        let dealing = Dealing::default();
        let totals = totals(&[900, 0, 0]);
        assert!(dealing.may_be_at(0) && dealing.may_be_at(2));
        assert_eq!(dealing.to(0, 1, &totals), None, "they are where they are");
        dealing.gather(2);
        assert_eq!(
            (0..3).map(|me| dealing.to(me, 1, &totals)).collect::<Vec<_>>(),
            [Some(2), Some(2), None]
        );
        assert!(!dealing.may_be_at(0) && dealing.may_be_at(2));
        assert_eq!(dealing.gathered_at(), Some(2));
    }

    #[test]
    fn they_are_spread_until_all_have_about_the_same() {
        let dealing = Dealing::default();
        dealing.spread();
        assert_eq!(dealing.state(), State::Spread);
        dealing.gather(1);
        dealing.spread();
        let totals = totals(&[0, 9, 0]);
        assert_eq!(dealing.to(0, 1, &totals), None, "it has none of those");
        while let Some(to) = dealing.to(1, 1, &totals) {
            totals[1].fetch_sub(1, Ordering::Relaxed);
            totals[to].fetch_add(1, Ordering::Relaxed);
        }
        assert_eq!(
            totals.iter().map(|of| of.load(Ordering::Relaxed)).collect::<Vec<_>>(),
            [3, 3, 3]
        );
        assert_eq!(dealing.state(), State::Spread);
    }

    /// After so long it will never be.
    const LONG: Duration = Duration::from_secs(60);

    /// Whether the homes of the class are such within some time.
    async fn become_so(class: &Class, are_so: impl Fn(&[usize]) -> bool) -> bool {
        let start = Instant::now();
        while !are_so(&class.bytes()) && start.elapsed() < LONG {
            yield_now().await;
        }
        are_so(&class.bytes())
    }

    #[test]
    fn homes_follow_what_is_said_and_no_operation_is_lost() {
        const TASKS: usize = 32;
        let runtime = Builder::new().workers(2).build().unwrap();
        runtime.block_on(async {
            let of = |_| Object::new(0_u64).class("short");
            let objects: Arc<Vec<Object<u64>>> = Arc::new((0..16).map(of).collect());
            let class = objects[0].inner.class.clone();
            let is_over = Arc::new(AtomicBool::new(false));
            let task = |first: usize| {
                let (objects, is_over) = (objects.clone(), is_over.clone());
                spawn(async move {
                    let mut operations = 0;
                    while !is_over.load(Ordering::Relaxed) {
                        let object = &objects[(first + operations as usize) % objects.len()];
                        object.with(|n| *n += 1).await.unwrap();
                        operations += 1;
                    }
                    operations
                })
            };
            let tasks: Vec<_> = (0..TASKS).map(task).collect();
            let hold = |wanted| {
                enter::with(|handle| {
                    let shared = handle.expect("it is in a runtime").shared();
                    class.steering.hold(&class, shared, wanted)
                })
            };
            for _ in 0..3 {
                let held = hold(Mode::AtHome);
                let are_dealt = |bytes: &[usize]| bytes.iter().all(|&bytes| bytes > 0);
                assert!(become_so(&class, are_dealt).await, "{:?}", class.bytes());
                drop(held);
                let held = hold(Mode::AtOneHome);
                let all = objects.len() * objects[0].inner.size();
                let are_gathered = |bytes: &[usize]| bytes.contains(&all) && bytes.contains(&0);
                assert!(become_so(&class, are_gathered).await, "{:?}", class.bytes());
                drop(held);
            }
            is_over.store(true, Ordering::Relaxed);
            let mut operations = 0;
            for task in tasks {
                operations += task.await.unwrap();
            }
            let mut sum = 0;
            for object in &*objects {
                sum += object.with(|n| *n).await.unwrap();
            }
            assert_eq!(sum, operations);
        });
    }

    #[test]
    fn states_are_told_apart() {
        for state in [
            State::Spread,
            State::Spreading(0),
            State::Gathered(0),
            State::Spreading(7),
            State::Gathered(7),
        ] {
            assert_eq!(State::of(state.word()), state);
        }
    }
}
