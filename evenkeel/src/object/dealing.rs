//! Over which workers the homes of a class are dealt: over all of them, or at one.
//!
//! # Roles
//! Whoever [steers](super::steer) the class says which. Each *host* looks, when an operation is over that is looked at, whether the object is to be at another worker now, and [moves it](super::giving) there.
//!
//! # States
//! *Spread*: objects stay where they are; it is heat that moves them. *Gathered* at a worker: all others give it what they have, and where each was is remembered. When they are spread again, each goes back there, so that what heat and plans had found out is not lost; who is not back
//! after a while stays, and so do more than there is [room](MOST) for: heat moves them.
//!
//! # Why nothing is lost
//! What is said here is a wish: it names no object, and protects none. Addresses are compared and never followed. An object that is nobody's to move just now is asked for again at its next operation that is looked at; one that has the address of another one, which is gone, may go where that was,
//! once.
//!
//! # Rejected
//! To deal them out by their bytes: each trial of one home would have to find the balance anew. A word in each object: few are ever gathered.

use crate::primitives::atomic::{AtomicUsize, Ordering};
use crate::primitives::{Mutex, lock};
use std::collections::HashMap;

/// So many objects are remembered at most: 100 KiB. An estimate; no benchmark sets it.
const MOST: usize = 4_096;

/// Over which workers the homes of a class are dealt.
#[derive(Debug, Default)]
pub(super) struct Dealing {
    /// One more than the worker where all are, or 0; and the one where they were at last.
    gathered: AtomicUsize,
    last: AtomicUsize,
    /// Where those were that have been moved, by address, and how many they are.
    before: Mutex<HashMap<usize, usize>>,
    known: AtomicUsize,
    /// How many have been moved.
    moves: AtomicUsize,
}

/// What is to become of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Deal {
    /// It is gathered with others at this worker.
    Gather(usize),
    /// It goes back to this one.
    Back(usize),
}

impl Deal {
    /// To whom it is given.
    pub(super) fn to(self) -> usize {
        let (Self::Gather(to) | Self::Back(to)) = self;
        to
    }
}

impl Dealing {
    /// The worker at which all are, if they are.
    pub(super) fn gathered_at(&self) -> Option<usize> {
        self.gathered.load(Ordering::Relaxed).checked_sub(1)
    }

    /// Whether an object may get a home at this worker.
    pub(super) fn may_be_at(&self, worker: usize) -> bool {
        self.gathered_at().is_none_or(|at| at == worker)
    }

    /// Has them gathered at this worker, or spread.
    pub(super) fn set(&self, at: Option<usize>) {
        if let Some(at) = at {
            self.last.store(at, Ordering::Relaxed);
        }
        self.gathered.store(at.map_or(0, |at| at + 1), Ordering::Relaxed);
    }

    /// What `me`, its host, is to do with the object at this address, if anything.
    #[inline]
    pub(super) fn of(&self, me: usize, address: usize) -> Option<Deal> {
        match self.gathered_at() {
            Some(at) => (at != me).then_some(Deal::Gather(at)),
            // Only those that have been gathered go back.
            None if self.known.load(Ordering::Relaxed) == 0
                || self.last.load(Ordering::Relaxed) != me =>
            {
                None
            }
            None => self.back(me, address),
        }
    }

    /// Where it was before.
    #[cold]
    fn back(&self, me: usize, address: usize) -> Option<Deal> {
        let mut before = lock(&self.before);
        let to = before.get(&address).copied()?;
        if to == me {
            self.forget_one(&mut before, address);
        }
        (to != me).then_some(Deal::Back(to))
    }

    /// Notes that `me` has done so.
    pub(super) fn note_moved(&self, me: usize, address: usize, deal: Deal) {
        self.moves.fetch_add(1, Ordering::Relaxed);
        let mut before = lock(&self.before);
        match deal {
            Deal::Back(_) => self.forget_one(&mut before, address),
            Deal::Gather(_) if before.len() < MOST => {
                // Those that were gathered elsewhere go back to where they were before that.
                before.entry(address).or_insert(me);
                self.known.store(before.len(), Ordering::Relaxed);
            }
            Deal::Gather(_) => {}
        }
    }

    fn forget_one(&self, before: &mut HashMap<usize, usize>, address: usize) {
        before.remove(&address);
        self.known.store(before.len(), Ordering::Relaxed);
    }

    /// Forgets where those were that are not back yet.
    pub(super) fn forget(&self) {
        if self.known.load(Ordering::Relaxed) > 0 {
            *lock(&self.before) = HashMap::new();
            self.known.store(0, Ordering::Relaxed);
        }
    }

    /// How many have been moved so far.
    pub(super) fn moves(&self) -> usize {
        self.moves.load(Ordering::Relaxed)
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

    #[test]
    fn all_others_give_what_they_have_to_the_one_where_they_are_gathered_and_get_it_back() {
        let dealing = Dealing::default();
        assert!(dealing.may_be_at(0) && dealing.may_be_at(2));
        assert_eq!(dealing.of(0, 0x10), None, "they are where they are");
        dealing.set(Some(2));
        assert!(!dealing.may_be_at(0) && dealing.may_be_at(2));
        for (me, address) in [(0, 0x10), (1, 0x20), (1, 0x30)] {
            let deal = dealing.of(me, address).expect("it is elsewhere");
            assert_eq!(deal, Deal::Gather(2));
            dealing.note_moved(me, address, deal);
        }
        assert_eq!(dealing.of(2, 0x10), None);
        dealing.set(None);
        assert_eq!(dealing.of(2, 0x10), Some(Deal::Back(0)));
        assert_eq!(dealing.of(2, 0x10), Some(Deal::Back(0)), "it has not been moved");
        dealing.note_moved(2, 0x10, Deal::Back(0));
        assert_eq!(dealing.of(2, 0x10), None);
        assert_eq!(dealing.of(1, 0x20), None, "it is there");
        assert_eq!((dealing.of(2, 0x30), dealing.moves()), (Some(Deal::Back(1)), 4));
        dealing.set(Some(0));
        dealing.note_moved(2, 0x30, Deal::Gather(0));
        dealing.set(None);
        assert_eq!(dealing.of(2, 0x30), None, "it is not there");
        assert_eq!(dealing.of(0, 0x30), Some(Deal::Back(1)), "and not where it was in between");
        dealing.forget();
        assert_eq!(dealing.of(0, 0x30), None);
    }

    #[test]
    fn no_more_are_remembered_than_there_is_room_for() {
        let dealing = Dealing::default();
        dealing.set(Some(0));
        (0..2 * MOST).for_each(|address| dealing.note_moved(1, address, Deal::Gather(0)));
        dealing.set(None);
        let back = (0..2 * MOST).filter(|&address| dealing.of(0, address).is_some()).count();
        assert_eq!(back, MOST);
    }

    /// After so long it will never be.
    const LONG: Duration = Duration::from_secs(60);

    /// Waits until all of these homes are so, for some time.
    async fn until(objects: &[Object<u64>], are_so: impl Fn(&[Option<usize>]) -> bool) {
        let homes = || objects.iter().map(Object::home).collect::<Vec<_>>();
        let start = Instant::now();
        while !are_so(&homes()) {
            assert!(start.elapsed() < LONG, "{:?}", homes());
            yield_now().await;
        }
    }

    #[test]
    fn homes_follow_what_is_said_and_no_operation_is_lost() {
        const TASKS: usize = 32;
        for workers in [2, 4] {
            let runtime = Builder::new().workers(workers).build().unwrap();
            runtime.block_on(async {
                let of = |_| Object::new(0_u64).class("short");
                let mut objects: Vec<_> = (0..16).map(of).collect();
                objects.push(of(0).at(1));
                let objects = Arc::new(objects);
                let class: Arc<Class> = objects[0].inner.class.clone();
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
                let shared = enter::with(|handle| handle.unwrap().shared().clone());
                let held = class.steering.hold(&class, &shared);
                let tasks: Vec<_> = (0..TASKS).map(task).collect();
                let free = &objects[..16];
                held.go(Mode::AtHome);
                until(free, |homes| homes.iter().all(Option::is_some)).await;
                let before: Vec<_> = free.iter().map(Object::home).collect();
                for _ in 0..3 {
                    held.go(Mode::AtOneHome);
                    until(free, |homes| {
                        homes.iter().all(|&home| home.is_some() && home == homes[0])
                    })
                    .await;
                    assert_eq!(objects[16].home(), Some(1), "the caller has chosen that");
                    held.go(Mode::AtHome);
                    until(free, |homes| homes.iter().any(|home| *home != homes[0])).await;
                }
                assert!(before.iter().any(|home| *home != before[0]));
                drop(held);
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
    }
}
