//! Takers of semaphores' permits.

use super::graph::{self, Graph, Permits};
use super::object::{Object, Record};
use super::tasks::current;

impl Object {
    /// Makes the object of a semaphore with `permits` permits.
    #[track_caller]
    #[inline(always)]
    pub(crate) const fn semaphore(permits: usize) -> Self {
        Self::new(|| "", Some(permits))
    }

    /// Promises that each taker of a permit gives it back.
    #[inline(always)]
    pub(crate) fn promise_lock(&mut self) {
        if let Some(semaphore) = self.0.get_mut() {
            *semaphore.is_loose.get_mut() = false;
        }
    }

    /// Notes that the caller has taken a permit.
    #[inline]
    pub(crate) fn taken(&self) {
        let Some(semaphore) = self.0.get().filter(|semaphore| !semaphore.is_loose()) else {
            return;
        };
        let mut graph = graph::lock();
        let Some(id) = current() else { return semaphore.loosen(&mut graph) };
        if !semaphore.is_loose() {
            semaphore.permits(&mut graph).owners.push(id);
        }
    }

    /// Notes that the caller is about to give `permits` permits back.
    #[inline]
    pub(crate) fn given(&self, permits: usize) {
        let Some(semaphore) = self.0.get() else { return };
        let id = current();
        for _ in 0..permits {
            if semaphore.is_loose() {
                return;
            }
            let mut graph = graph::lock();
            if semaphore.is_loose() {
                return;
            }
            let permits = semaphore.permits(&mut graph);
            match permits.owners.iter().position(|owner| Some(*owner) == id) {
                Some(place) => {
                    permits.owners.swap_remove(place);
                }
                None => semaphore.loosen(&mut graph),
            }
        }
    }
}

impl Record {
    fn permits<'a>(&self, graph: &'a mut Graph) -> &'a mut Permits {
        graph
            .permits
            .entry(self.number())
            .or_insert_with(|| Permits { owners: Vec::new(), total: self.permits.unwrap_or(0) })
    }
}
