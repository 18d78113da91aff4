//! Directories, which a lookup searches for a file's name from the first entry on.

use super::{Done, Kind, Look, Work, scrambled};
use crate::bench::Access;
use crate::party::Hand;

/// Entries of a directory.
const ENTRIES: usize = 1_000;

/// Bytes of one directory.
pub(crate) const DIRECTORY_BYTES: usize = ENTRIES * size_of::<Entry>();

/// A file's entry, of 32 bytes as in a FAT file system.
#[derive(Clone)]
pub(crate) struct Entry {
    /// The hash of its name.
    name: u64,
    /// Where the file begins.
    cluster: u32,
    _bytes: u32,
    /// How often parties wrote the entry.
    writes: u64,
    _attributes: u64,
}

const _: () = assert!(size_of::<Entry>() == 32);

/// Lookups of a random name that exists.
#[derive(Clone, Copy)]
pub(crate) struct Directories(pub(crate) Access);

impl Kind for Directories {
    type Value = Box<[Entry]>;

    fn make(self, _: usize) -> Box<[Entry]> {
        let entry = |number: usize| Entry {
            name: scrambled(number),
            cluster: number as u32,
            _bytes: 0,
            writes: 0,
            _attributes: 0,
        };
        (0..ENTRIES).map(entry).collect()
    }

    fn total(self, entries: &Box<[Entry]>) -> u64 {
        entries.iter().map(|entry| entry.writes).sum()
    }
}

impl Work for Directories {
    #[inline(never)]
    fn operate(self, entries: &mut Box<[Entry]>, hand: &mut Hand) -> Done {
        let file = hand.random.below(ENTRIES);
        let name = scrambled(file);
        let is_found = |entry: &Entry| entry.cluster as usize == file;
        match self.0 {
            Access::Only | Access::Alone | Access::Read => lookup(entries, file),
            Access::Found => match search(fours(entries), |entry| entry.name == name) {
                Some(entry) => {
                    entry.writes += 1;
                    Done { added: 1, right: is_found(entry) }
                }
                None => Done { added: 0, right: false },
            },
            Access::All => {
                let mut added = 0;
                let found = search(fours(entries), |entry| {
                    entry.writes += 1;
                    added += 1;
                    entry.name == name
                });
                let right = found.is_some_and(|entry| is_found(entry));
                Done { added, right }
            }
        }
    }

    fn looks(self) -> bool {
        self.0 == Access::Read
    }

    fn look(self, _: &Hand) -> Option<Look<Self>> {
        let look: Look<Self> = |_, entries, hand| lookup(entries, hand.random.below(ENTRIES));
        self.looks().then_some(look)
    }
}

/// Looks a file up, and writes nothing.
#[inline(never)]
fn lookup(entries: &[Entry], file: usize) -> Done {
    let name = scrambled(file);
    let found = search(entries.as_chunks::<4>().0, |entry| entry.name == name);
    Done { added: 0, right: found.is_some_and(|entry| entry.cluster as usize == file) }
}

/// Returns the first entry that `is_it` accepts. Each turn of the loop examines four: a shorter
/// loop takes a third longer where it lies across two lines of code.
#[inline(always)]
fn search<E>(
    fours: impl IntoIterator<Item: IntoIterator<Item = E>>,
    mut is_it: impl FnMut(&mut E) -> bool,
) -> Option<E> {
    const { assert!(ENTRIES.is_multiple_of(4)) };
    for four in fours {
        for mut entry in four {
            if is_it(&mut entry) {
                return Some(entry);
            }
        }
    }
    None
}

fn fours(entries: &mut [Entry]) -> &mut [[Entry; 4]] {
    entries.as_chunks_mut::<4>().0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lookup_writes_what_it_is_to_write() {
        for (access, least, most) in [
            (Access::Alone, 0, 0),
            (Access::Read, 0, 0),
            (Access::Found, 100, 100),
            (Access::All, 101, 100 * ENTRIES as u64),
        ] {
            let work = Directories(access);
            let (mut entries, mut hand) = (work.make(0), Hand::new(1, 0));
            let mut added = 0;
            for _ in 0..100 {
                let done = work.operate(&mut entries, &mut hand);
                assert!(done.right);
                added += done.added;
                assert!(work.look(&hand).is_none_or(|look| look(work, &entries, &mut hand).right));
            }
            assert_eq!(work.total(&entries), added);
            assert!((least..=most).contains(&added), "{access}: {added}");
        }
    }

    #[test]
    fn what_is_not_there_is_not_found() {
        for access in [Access::Read, Access::Found, Access::All] {
            let work = Directories(access);
            let mut entries = work.make(0);
            entries.iter_mut().for_each(|entry| entry.name = 0);
            assert!(!work.operate(&mut entries, &mut Hand::new(1, 0)).right);
        }
    }
}
