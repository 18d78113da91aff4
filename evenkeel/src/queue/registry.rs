//! The registry: the tasks that were spawned at a processor and are not complete.
//!
//! A table with a list of free places. Entering or removing a task touches one word of each, and a
//! task knows its place. A place takes eight bytes, so that parked tasks stay small, and four more
//! once it has been free. A table does not shrink while a task is in it: it keeps the size of the
//! largest number of tasks at once, and is freed when it is empty.

#![allow(unsafe_code, reason = "it keeps tasks by their addresses")]

use crate::raw_task::header::{Live, TaskPtr, UNREGISTERED};

/// The tasks of one processor.
#[derive(Debug, Default)]
pub(crate) struct Registry {
    places: Vec<Option<TaskPtr>>,
    free: Vec<u32>,
}

impl Registry {
    /// Enters a task and returns its place.
    ///
    /// # Panics
    /// Panics if the registry has 2³² - 1 tasks.
    #[inline]
    pub(crate) fn enter(&mut self, task: TaskPtr) -> u32 {
        match self.free.pop() {
            Some(place) => {
                self.places[place as usize] = Some(task);
                place
            }
            None => {
                let place = u32::try_from(self.places.len())
                    .ok()
                    .filter(|&place| place != UNREGISTERED)
                    .expect("a processor has fewer than 2^32 - 1 tasks");
                self.places.push(Some(task));
                place
            }
        }
    }

    /// Removes the task at `place`.
    #[inline]
    pub(crate) fn remove(&mut self, place: u32) {
        self.places[place as usize] = None;
        self.free.push(place);
        if self.free.len() == self.places.len() && self.free.len() > KEPT {
            // A burst of tasks is over: the table goes back to the allocator.
            *self = Self::default();
        }
    }

    /// Returns the number of tasks.
    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.places.len() - self.free.len()
    }

    /// Returns the task with this address, if it is here. The addresses lie side by side, and no
    /// task is touched: a millisecond for a million tasks.
    pub(crate) fn find(&self, task: TaskPtr) -> Option<Live<'_>> {
        let found = self.places.iter().flatten().find(|place| **place == task)?;
        // SAFETY: a task is not freed while it is in a registry, which `&self` keeps from changing.
        Some(unsafe { Live::new(*found) })
    }

    /// Iterates over all tasks, in no particular order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = Live<'_>> + '_ {
        // SAFETY: a task is not freed while it is in a registry, which `&self` keeps from changing.
        self.places.iter().flatten().map(|task| unsafe { Live::new(*task) })
    }
}

/// Places that an empty table keeps: 48 KiB with their list. An estimate: below this, growing again
/// costs more than the memory is worth; no benchmark sets it.
const KEPT: usize = 4_096;

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use super::*;
    use crate::raw_task::blocks::{Birth, Room};
    use crate::raw_task::id;
    use crate::task;

    #[test]
    fn places_are_used_again() {
        let site = std::panic::Location::caller();
        let id = id::take_one();
        let birth = Birth { home: std::ptr::null(), id, room: Room::Compact };
        let (task, handle) = task::make(async {}, (), site, birth);
        let mut registry = Registry::default();
        let (a, b) = (registry.enter(task.ptr()), registry.enter(task.ptr()));
        assert_ne!(a, b);
        registry.remove(a);
        assert_eq!(registry.iter().map(|task| task.footer().id).collect::<Vec<_>>(), [id]);
        assert_eq!(registry.enter(task.ptr()), a);
        assert_eq!(registry.iter().count(), 2);
        crate::scheduler::run::run_elsewhere(task);
        assert!(handle.is_finished());
    }
}
