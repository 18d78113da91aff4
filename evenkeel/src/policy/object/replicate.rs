//! Whether each core should have a copy of a read-mostly object, or the caches together hold more different ones.
//!
//! A read in place makes a copy in the reader's cache, and costs no hop from then on; the next write makes all copies worthless, so that the next read of
//! each core fetches the object anew. And copies take room from other objects: where the working set with the copies does not fit, an
//! object gets them if it is hot enough for its bytes.

use std::fmt;

/// How an object is used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Use {
    /// Reads lately.
    pub reads: u64,
    /// Writes in the same time.
    pub writes: u64,
    /// Its size.
    pub bytes: u64,
    /// The time spent in it.
    pub heat: u64,
}

/// What there is room for, and what it costs to be elsewhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Room {
    /// Caches that would hold a copy each: last-level caches for large objects, cores' own for those that fit in there.
    pub copies: u32,
    /// Cores that use it: all but one of them would have to travel to its home.
    pub cores: u32,
    /// Bytes of all objects in use, each of them once.
    pub working_set: u64,
    /// Bytes of all caches.
    pub capacity: u64,
    /// The heat per KiB of the coldest object that the caches hold, which would have to go.
    pub coldest: u64,
    /// The [cost of a hop](super::Hop::cost), in nanoseconds.
    pub hop: u64,
    /// What it takes to fetch the object from where it has been written, in nanoseconds: [what sharing costs](super::Sharing::cost).
    pub fetch: u64,
}

/// What the copies of objects that have homes may take in each core's own caches, in bytes, where nothing is known of those: half of a second-level cache. An estimate; no benchmark sets it.
pub const COPIES: u64 = 512 << 10;

/// Whether there is room for the copies of one more object of so many bytes beside those of others, where neither the caches nor the working set are known: [`replicate`] without a [`Room`]. Objects have homes
/// because the caches hold more different ones that way.
///
/// # Examples
/// ```
/// use evenkeel::policy::object::replicate::{COPIES, has_room};
/// assert!(has_room(COPIES - 64, 64));
/// assert!(!has_room(COPIES - 64, 65));
/// ```
#[must_use]
pub fn has_room(copied: u64, bytes: u64) -> bool {
    copied.saturating_add(bytes) <= COPIES
}

/// What has been decided, and why.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Copies {
    /// Read in place: there is room for the copies.
    Room,
    /// Read in place: the copies are worth more than what has to go for them.
    Hot,
    /// One place: it is written so often that the copies are fetched all the time.
    Written,
    /// One place: other objects are worth the room more.
    Crowded,
}

impl Copies {
    /// Whether the object is read in place.
    #[must_use]
    pub fn is_replicated(self) -> bool {
        matches!(self, Self::Room | Self::Hot)
    }
}

impl fmt::Display for Copies {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Room => "read in place: the caches have room for a copy each",
            Self::Hot => "read in place: hotter than what has to go for the copies",
            Self::Written => "one place: written too often for copies",
            Self::Crowded => "one place: the caches hold more different objects without copies",
        })
    }
}

/// Decides whether an object is read in place.
///
/// # Examples
/// ```
/// use evenkeel::policy::object::{Room, Use, replicate, replicate::Copies};
/// let room = Room { copies: 4, cores: 4, working_set: 4 << 20, capacity: 16 << 20, coldest: 10, hop: 60, fetch: 900 };
/// let index = Use { reads: 10_000, writes: 1, bytes: 64 << 10, heat: 50_000 };
/// assert_eq!(replicate(&index, &room), Copies::Room);
/// assert_eq!(replicate(&Use { writes: 1_000, ..index }, &room), Copies::Written);
/// let full = Room { working_set: 16 << 20, ..room };
/// assert_eq!(replicate(&index, &full), Copies::Hot);
/// assert_eq!(replicate(&Use { heat: 1_000, ..index }, &full), Copies::Crowded);
/// ```
#[must_use]
pub fn replicate(object: &Use, room: &Room) -> Copies {
    let copies = u128::from(room.copies.max(1));
    // Of the reads between two writes, the first of each cache fetches. All reads but those at the one home would have to travel.
    let (reads, writes) = (u128::from(object.reads), u128::from(object.writes));
    let fetches = (writes * copies).min(reads);
    let cores = u128::from(room.cores.max(1));
    let hops = reads * (cores - 1) / cores;
    if fetches * u128::from(room.fetch) > hops * u128::from(room.hop) {
        return Copies::Written;
    }
    let more = u128::from(object.bytes) * (copies - 1);
    if u128::from(room.working_set) + more <= u128::from(room.capacity) {
        return Copies::Room;
    }
    let bytes = (u128::from(object.bytes) * copies).max(1);
    let per_kib = u128::from(object.heat) * 1_024 / bytes;
    if per_kib > u128::from(room.coldest) { Copies::Hot } else { Copies::Crowded }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROOM: Room = Room {
        copies: 2,
        cores: 2,
        working_set: 0,
        capacity: 1 << 20,
        coldest: 1,
        hop: 50,
        fetch: 400,
    };

    #[test]
    fn one_write_in_sixteen_reads_and_fewer_leave_copies_worth_it() {
        // Two fetches of 400 ns against half the reads at 50.
        let of = |reads| Use { reads, writes: 1, bytes: 64, heat: 0 };
        assert_eq!(replicate(&of(31), &ROOM), Copies::Written);
        assert_eq!(replicate(&of(32), &ROOM), Copies::Room);
    }

    #[test]
    fn what_all_cores_have_in_one_cache_need_not_be_copied() {
        let read = Use { reads: 64, writes: 1, bytes: 1 << 20, heat: 0 };
        let near = Room { copies: 1, working_set: 1 << 20, ..ROOM };
        assert_eq!(replicate(&read, &near), Copies::Room);
        assert_eq!(replicate(&read, &Room { copies: 2, ..near }), Copies::Crowded);
    }

    #[test]
    fn one_cache_has_copies_of_whatever_is_not_written_and_nothing_is_crowded_by_nothing() {
        let read = Use { reads: 10, ..Use::default() };
        let one = Room { copies: 1, working_set: 2 << 20, capacity: 1 << 20, ..ROOM };
        assert_eq!(replicate(&read, &one), Copies::Crowded, "it is as cold as can be");
        assert_eq!(replicate(&Use { heat: 1, ..read }, &one), Copies::Hot);
        assert_eq!(replicate(&Use::default(), &ROOM), Copies::Room);
    }
}
