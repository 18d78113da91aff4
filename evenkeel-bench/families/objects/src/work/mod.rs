//! What is inside an object, and what an operation does to it.

mod account;
mod counter;
mod directory;
mod heap;
mod map;
mod mixed;
mod scan;
mod shard;
mod vertex;
mod zipf;

use std::iter::Sum;

pub(super) use self::account::{ACCOUNT_BYTES, Bank};
pub(super) use self::counter::{
    AfterOwnWork, Bell, COUNTER_BYTES, Choice, Counters, Evenly, InTurn,
};
pub(super) use self::directory::{DIRECTORY_BYTES, Directories};
pub(super) use self::heap::{HEAP_BYTES, Heaps};
pub(super) use self::map::{Maps, map_bytes};
pub(super) use self::mixed::Mixed;
pub(super) use self::scan::Scans;
pub(super) use self::shard::Cache;
pub(super) use self::vertex::{Graph, VERTEX_BYTES};
pub(super) use self::zipf::{Hundredths, Zipf};

use super::party::Hand;

/// What an operation has done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Done {
    /// How much it has added to what [`Kind::total`] sums.
    pub(super) added: u64,
    /// Whether it found what there must be.
    pub(super) right: bool,
}

/// The objects of a run, as they begin and as they are checked in the end.
pub(super) trait Kind: Copy + Send + Sync + 'static {
    /// The names of their classes, which objects belong to in turn.
    const CLASSES: &'static [&'static str] = &["objects"];

    /// What is inside of one.
    type Value: Send + Sync + 'static;

    /// The object of this number.
    fn make(self, number: usize) -> Self::Value;

    /// What all operations together have added; nothing else tells whether one was lost.
    fn total(self, value: &Self::Value) -> u64;

    /// What operations only move from one to another: it comes to nothing in all of them together.
    fn balance(self, _: &Self::Value) -> i64 {
        0
    }
}

/// An operation that only looks.
pub(super) type Look<W> = fn(W, &<W as Kind>::Value, &mut Hand) -> Done;

/// An operation on one object at a time.
pub(super) trait Work: Kind {
    /// The object of the next operation, one of so many.
    #[inline(always)]
    fn choose(self, hand: &mut Hand, in_use: usize) -> usize {
        hand.random.below(in_use)
    }

    /// One operation, by the party that is inside. One that loops is called, and the same in all
    /// modes: where its loop lies in the code can be worth a third of its speed, and would be
    /// elsewhere in each of them.
    fn operate(self, value: &mut Self::Value, hand: &mut Hand) -> Done;

    /// Whether any of its operations may only [`look`](Self::look).
    fn looks(self) -> bool {
        false
    }

    /// The same operation for many parties that are inside at once, if it only looks.
    fn look(self, _: &Hand) -> Option<Look<Self>> {
        None
    }
}

/// An operation on two objects at once.
pub(super) trait PairWork: Kind {
    /// The two objects of the next operation, of so many.
    fn choose(self, hand: &mut Hand, in_use: usize) -> (usize, usize);

    /// One operation, by the party that is inside of both.
    fn operate(self, first: &mut Self::Value, second: &mut Self::Value, hand: &mut Hand) -> Done;
}

/// What objects hold when all is over.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Held {
    /// What has been added to them.
    pub(super) added: u64,
    /// What has been moved from one to another: nothing, if no half of a move was lost.
    pub(super) balance: i64,
}

impl Held {
    /// What one object holds.
    pub(super) fn by<K: Kind>(kind: K, value: &K::Value) -> Self {
        Self { added: kind.total(value), balance: kind.balance(value) }
    }
}

impl Sum for Held {
    fn sum<I: Iterator<Item = Self>>(all: I) -> Self {
        all.fold(Self::default(), |sum, one| Self {
            added: sum.added + one.added,
            balance: sum.balance + one.balance,
        })
    }
}

/// A number that looks like any other, and is another for each input: names of files, and keys.
fn scrambled(number: usize) -> u64 {
    // An odd factor: no two products are the same.
    (number as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}
