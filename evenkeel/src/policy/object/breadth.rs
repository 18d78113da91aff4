//! How many objects of a class are in use, about, and whether that has changed.
//!
//! The rate of operations does not always tell that others are in use: with operations in place a few objects, which go to and fro between the cores, may cost what many do, which come from
//! farther away; at homes the few would be fast. So some operations are *looked at*: whether their object was the last one that came to its [place](PLACES). Of so many objects as there are places two thirds are,
//! of 16 times as many one in sixteen. Where that share is another one than usual, other objects are in use.
//!
//! It is the idea of counting distinct values in a bitmap (Whang, Vander-Zanden and Taylor, "A linear-time probabilistic counting algorithm for database applications", 1990), for a stream without an end.

use super::{Mode, per_mille};

/// Places of a worker. A choice: what is told apart are some tens of objects, which are in a core's own caches, from some hundreds, which are not.
pub const PLACES: usize = 64;

/// Operations that are looked at before a share is known. A choice: with fewer it would be noise, and with more a change is seen late.
pub const LOOKS: u64 = 32;

/// The share has changed if it is so many times the usual one, or the reverse, and by [at least so much](LEAST).
pub const FACTOR: u32 = 2;
/// See [`FACTOR`]: in per mille. Chance makes such a difference about once in some ten or hundred shares, and hardly ever twice in a row.
pub const LEAST: u32 = 200;

/// The usual share follows the new one by one part in so many: so slowly that it has not gone along with others in use by the time that they are known to be there, because what a worker has seen of them grows over some shares. An estimate; no
/// benchmark sets it.
const SLOW: u32 = 32;

/// The objects that one worker has seen last, each at its place.
///
/// # Examples
/// ```
/// use evenkeel::policy::object::breadth::Recent;
/// let mut recent = Recent::default();
/// assert!(!recent.look(0x1000));
/// assert!(recent.look(0x1000), "it was there before");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recent {
    places: [u32; PLACES],
    looks: u64,
    hits: u64,
}

impl Default for Recent {
    fn default() -> Self {
        Self { places: [0; PLACES], looks: 0, hits: 0 }
    }
}

impl Recent {
    /// Looks at an operation on this object, by any number; true if the object was the last one at its place.
    pub fn look(&mut self, object: u64) -> bool {
        // Multiples of the golden ratio (Knuth, "The Art of Computer Programming", 6.4).
        let hash = object.wrapping_mul(0x9E37_79B9_7F4A_7C15);
        let (place, mark) = ((hash >> 58) as usize, (hash >> 26) as u32 | 1);
        let was_there = std::mem::replace(&mut self.places[place], mark) == mark;
        self.looks += 1;
        self.hits += u64::from(was_there);
        was_there
    }

    /// How many were looked at in all, and how many of them were there.
    #[must_use]
    pub fn seen(&self) -> (u64, u64) {
        (self.looks, self.hits)
    }
}

/// What share of operations is on objects that were there before, and whether it is the usual one. One for each [mode](super::Mode): at homes each worker sees its own objects alone, which are fewer.
///
/// # Examples
/// ```
/// use evenkeel::policy::object::Breadth;
/// let mut breadth = Breadth::default();
/// assert!(!breadth.has_changed(100, 6));
/// assert!(!breadth.has_changed(200, 70), "once may be chance");
/// assert!(breadth.has_changed(300, 134));
/// assert!(!breadth.has_changed(400, 200), "it is usual now");
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Breadth {
    /// What was seen when the share was last known.
    seen: (u64, u64),
    usual: Option<u32>,
    /// Whether it was another one the last time.
    differed: bool,
}

impl Breadth {
    /// Takes into account what all workers have [seen](Recent::seen) so far; true if other objects are in use than usual, twice in a row, and then that is usual.
    pub fn has_changed(&mut self, looks: u64, hits: u64) -> bool {
        let new = looks.saturating_sub(self.seen.0);
        if new < LOOKS {
            return false;
        }
        let share = per_mille(hits.saturating_sub(self.seen.1), new);
        self.seen = (looks, hits);
        let usual = *self.usual.get_or_insert(share);
        let (less, more) = (share.min(usual), share.max(usual));
        let differs = more - less >= LEAST && more >= less * FACTOR;
        let has_changed = differs && self.differed;
        self.differed = differs && !has_changed;
        if has_changed {
            self.usual = Some(share);
        } else if !differs {
            self.usual = Some((usual * (SLOW - 1) + share + SLOW / 2) / SLOW);
        }
        has_changed
    }

    /// Leaves out what all workers have seen so far since it was asked last: the mode was another one, or has changed.
    pub fn skip(&mut self, looks: u64, hits: u64) {
        (self.seen, self.differed) = ((looks, hits), false);
    }
}

/// That of a class in each mode.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Breadths([Breadth; 3]);

impl Breadths {
    /// As [`Breadth::has_changed`], for what was seen in this mode; in none of them where it does not stand.
    pub fn has_changed(&mut self, standing: Option<Mode>, looks: u64, hits: u64) -> bool {
        let mut has_changed = false;
        for (mode, breadth) in Mode::ALL.into_iter().zip(&mut self.0) {
            if standing == Some(mode) {
                has_changed = breadth.has_changed(looks, hits);
            } else {
                breadth.skip(looks, hits);
            }
        }
        has_changed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Looks at so many operations on so many objects, any of them each time, and says after how many the breadth has changed first.
    fn changes(recent: &mut Recent, breadth: &mut Breadth, objects: u64, looks: u64) -> Vec<u64> {
        let mut random = 88_172_645_463_325_252_u64;
        let mut changes = Vec::new();
        for n in 0..looks {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            recent.look(0x7F00_0000 + random % objects * 192);
            let (looks, hits) = recent.seen();
            if breadth.has_changed(looks, hits) {
                changes.push(n);
            }
        }
        changes
    }

    #[test]
    fn a_sixteenth_of_the_objects_or_all_of_them_are_told_apart() {
        for (objects, are_told) in [(16, false), (256, true), (1_024, true), (16_384, false)] {
            let (mut recent, mut breadth) = (Recent::default(), Breadth::default());
            changes(&mut recent, &mut breadth, objects, 1_000);
            let none = changes(&mut recent, &mut breadth, objects, 100_000);
            assert!(none.is_empty(), "{objects}: {none:?}");
            for objects in [objects / 16, objects] {
                let changes: Vec<u64> = changes(&mut recent, &mut breadth, objects, 10_000);
                let soon = changes.first().is_some_and(|&first| first <= 6 * LOOKS);
                assert_eq!(
                    (changes.len() == 1, soon),
                    (are_told, are_told),
                    "{objects}: {changes:?}"
                );
            }
        }
    }

    /// Each of many workers sees few operations by the time that a share is known, so that it grows slowly.
    #[test]
    fn fewer_objects_are_noticed_by_many_workers() {
        for workers in [2, 4, 8] {
            let (mut recents, mut breadth) = (vec![Recent::default(); workers], Breadth::default());
            let mut random = 88_172_645_463_325_252_u64;
            let mut looks_until_change = |objects: u64, most: u64| {
                (0..most).find(|&n| {
                    random ^= random << 13;
                    random ^= random >> 7;
                    random ^= random << 17;
                    let worker = n as usize % workers;
                    recents[worker].look(0x7F00_0000 + (random >> 8) % objects * 192);
                    let seen = recents.iter().map(Recent::seen);
                    let (looks, hits) = seen.fold((0, 0), |a, b| (a.0 + b.0, a.1 + b.1));
                    breadth.has_changed(looks, hits)
                })
            };
            assert_eq!(looks_until_change(1_024, 20_000), None, "{workers} workers");
            let noticed = looks_until_change(64, 2_000);
            let soon = noticed.is_some_and(|looks| looks <= LOOKS * (8 + 3 * workers as u64) / 4);
            assert!(soon, "{workers} workers: after {noticed:?}");
        }
    }

    #[test]
    fn what_is_left_out_is_no_change() {
        let mut breadth = Breadth::default();
        assert!(!breadth.has_changed(100, 6));
        // At homes.
        breadth.skip(1_000, 900);
        assert!(!breadth.has_changed(1_100, 906) && !breadth.has_changed(1_200, 912));
        assert!(!breadth.has_changed(1_300, 990));
        breadth.skip(1_300, 990);
        assert!(!breadth.has_changed(1_400, 1_080), "that was not twice in a row");
        assert!(breadth.has_changed(1_500, 1_170));
    }

    #[test]
    fn a_change_of_mode_is_none() {
        let mut breadths = Breadths::default();
        let (mut looks, mut hits) = (0, 0);
        for mode in [Some(Mode::InPlace), None, Some(Mode::AtHome), None, Some(Mode::InPlace)] {
            for _ in 0..4 {
                // At homes most are seen again.
                (looks, hits) =
                    (looks + 100, hits + if mode == Some(Mode::AtHome) { 90 } else { 6 });
                assert!(!breadths.has_changed(mode, looks, hits));
            }
        }
        let mut others = || {
            (looks, hits) = (looks + 100, hits + 90);
            breadths.has_changed(Some(Mode::InPlace), looks, hits)
        };
        assert_eq!([others(), others(), others()], [false, true, false]);
    }

    #[test]
    fn what_is_hardly_looked_at_says_nothing() {
        let mut breadth = Breadth::default();
        assert!((0..LOOKS).all(|looks| !breadth.has_changed(looks, looks)));
        assert_eq!(breadth, Breadth::default());
    }
}
