//! Values by small numbers, which are used again.
//!
//! A key is the index of a slot. A free slot keeps the index of the next one, so no operation
//! searches. A key whose value has been removed may name a later value: its user can tell the two
//! apart, or removes each key once.

use std::mem;

/// The end of the list of free slots.
const NONE: usize = usize::MAX;

/// Values by keys.
#[derive(Debug)]
pub(crate) struct Slab<T> {
    slots: Vec<Slot<T>>,
    free: usize,
    len: usize,
}

#[derive(Debug)]
enum Slot<T> {
    Used(T),
    /// Keeps the next free slot.
    Free(usize),
}

impl<T> Slab<T> {
    pub(crate) const fn new() -> Self {
        Self { slots: Vec::new(), free: NONE, len: 0 }
    }

    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// Returns the key of the new value.
    pub(crate) fn insert(&mut self, value: T) -> usize {
        self.len += 1;
        let key = self.free;
        let Some(slot) = self.slots.get_mut(key) else {
            self.slots.push(Slot::Used(value));
            return self.slots.len() - 1;
        };
        if let Slot::Free(next) = mem::replace(slot, Slot::Used(value)) {
            self.free = next;
        }
        key
    }

    pub(crate) fn get_mut(&mut self, key: usize) -> Option<&mut T> {
        match self.slots.get_mut(key)? {
            Slot::Used(value) => Some(value),
            Slot::Free(_) => None,
        }
    }

    /// Takes a value out. Without values the slab has no slots either, so that walks over it are
    /// short again; the steps of that were paid by the insertions.
    pub(crate) fn remove(&mut self, key: usize) -> Option<T> {
        let slot = self.slots.get_mut(key)?;
        if matches!(slot, Slot::Free(_)) {
            return None;
        }
        let removed = mem::replace(slot, Slot::Free(self.free));
        self.free = key;
        self.len -= 1;
        if self.len == 0 {
            self.slots.clear();
            self.free = NONE;
        }
        match removed {
            Slot::Used(value) => Some(value),
            Slot::Free(_) => None,
        }
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &T> {
        self.slots.iter().filter_map(|slot| match slot {
            Slot::Used(value) => Some(value),
            Slot::Free(_) => None,
        })
    }

    pub(crate) fn iter_mut(&mut self) -> impl Iterator<Item = &mut T> {
        self.slots.iter_mut().filter_map(|slot| match slot {
            Slot::Used(value) => Some(value),
            Slot::Free(_) => None,
        })
    }

    /// Takes all values out.
    pub(crate) fn take_all(&mut self) -> impl Iterator<Item = T> + use<T> {
        mem::take(self).slots.into_iter().filter_map(|slot| match slot {
            Slot::Used(value) => Some(value),
            Slot::Free(_) => None,
        })
    }
}

impl<T> Default for Slab<T> {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use super::Slab;

    #[test]
    fn slots_are_used_again_and_the_last_removal_frees_them_all() {
        let mut slab = Slab::new();
        let keys: Vec<usize> = (0..4).map(|n| slab.insert(n)).collect();
        assert_eq!(keys, [0, 1, 2, 3]);
        assert_eq!((slab.remove(1), slab.remove(1), slab.remove(9)), (Some(1), None, None));
        assert_eq!(slab.remove(3), Some(3));
        assert_eq!((slab.insert(5), slab.insert(6), slab.insert(7)), (3, 1, 4));
        assert_eq!(slab.iter().copied().collect::<Vec<_>>(), [0, 6, 2, 5, 7]);
        assert_eq!(slab.iter_mut().map(|value| *value).collect::<Vec<_>>(), [0, 6, 2, 5, 7]);
        assert_eq!((slab.get_mut(1).copied(), slab.len()), (Some(6), 5));
        assert_eq!(slab.get_mut(5), None);
        for key in 0..5 {
            assert!(slab.remove(key).is_some());
        }
        assert_eq!((slab.len(), slab.slots.len(), slab.insert(8)), (0, 0, 0));
        *slab.get_mut(0).unwrap() += 1;
        assert_eq!(slab.take_all().collect::<Vec<_>>(), [9]);
        assert_eq!((slab.get_mut(0).copied(), slab.len()), (None, 0));
    }
}
