//! A cache that drops the least recently used block.

/// The number of a block of memory.
pub(crate) type Block = u32;

/// No block; in `before`, a block that is not in the cache.
const NONE: u32 = u32::MAX;

/// Neighbours in the order of use.
#[derive(Clone, Copy)]
struct Link {
    before: u32,
    after: u32,
}

/// A cache of `capacity` blocks. Its links are in one list by block, so blocks should be numbered
/// from 0.
pub(crate) struct Lru {
    capacity: usize,
    len: usize,
    /// The block `b` has the link `b + 1`. The first link joins the ends: after it comes the least
    /// recently used block.
    links: Vec<Link>,
}

impl Lru {
    pub(crate) fn new(capacity: usize) -> Self {
        Self { capacity, len: 0, links: vec![Link { before: 0, after: 0 }] }
    }

    /// Uses a block; returns whether it was in the cache, and the block that it has replaced.
    pub(crate) fn touch(&mut self, block: Block) -> (bool, Option<Block>) {
        let hit = self.drop(block);
        let oldest = self.links[0].after;
        let gone = (self.len == self.capacity && oldest != 0).then(|| oldest - 1);
        if let Some(gone) = gone {
            self.drop(gone);
        }
        let place = block as usize + 1;
        if place >= self.links.len() {
            self.links.resize(place + 1, Link { before: NONE, after: NONE });
        }
        let last = self.links[0].before;
        self.links[place] = Link { before: last, after: 0 };
        self.links[last as usize].after = place as u32;
        self.links[0].before = place as u32;
        self.len += 1;
        (hit, gone)
    }

    pub(crate) fn has(&self, block: Block) -> bool {
        self.links.get(block as usize + 1).is_some_and(|link| link.before != NONE)
    }

    /// Drops a block, and returns whether it was in the cache.
    pub(crate) fn drop(&mut self, block: Block) -> bool {
        if !self.has(block) {
            return false;
        }
        let place = block as usize + 1;
        let Link { before, after } = self.links[place];
        self.links[before as usize].after = after;
        self.links[after as usize].before = before;
        self.links[place].before = NONE;
        self.len -= 1;
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_not_been_used_for_longest_goes() {
        let mut cache = Lru::new(2);
        assert_eq!(cache.touch(7), (false, None));
        assert_eq!(cache.touch(3), (false, None));
        assert_eq!(cache.touch(7), (true, None));
        assert_eq!(cache.touch(0), (false, Some(3)));
        assert!(cache.has(7) && cache.has(0) && !cache.has(3) && !cache.has(1_000));
    }

    #[test]
    fn a_dropped_block_leaves_room() {
        let mut cache = Lru::new(2);
        assert_eq!([1, 2].map(|block| cache.touch(block)), [(false, None); 2]);
        assert!(cache.drop(1) && !cache.drop(1));
        assert_eq!(cache.touch(5), (false, None));
        assert_eq!(cache.touch(6), (false, Some(2)));
    }
}
