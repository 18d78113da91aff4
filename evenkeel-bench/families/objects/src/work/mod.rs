//! The value inside an object, and the operations on it.

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

/// The effect of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Done {
    /// What it has added to the sum of [`Kind::total`].
    pub(super) added: u64,
    /// Whether it found what the object must hold.
    pub(super) right: bool,
}

/// The objects of a run: how they begin, and how the final check reads them.
pub(super) trait Kind: Copy + Send + Sync + 'static {
    /// The names of their classes, to which objects belong in turn.
    const CLASSES: &'static [&'static str] = &["objects"];

    /// The value inside an object.
    type Value: Send + Sync + 'static;

    /// Makes the object `number`.
    fn make(self, number: usize) -> Self::Value;

    /// Returns what all operations together have added: the only evidence that none was lost.
    fn total(self, value: &Self::Value) -> u64;

    /// Returns what operations only move from one object to another: its sum over all objects is 0.
    fn balance(self, _: &Self::Value) -> i64 {
        0
    }
}

/// An operation that only reads.
pub(super) type Look<W> = fn(W, &<W as Kind>::Value, &mut Hand) -> Done;

/// An operation on one object at a time.
pub(super) trait Work: Kind {
    /// Returns the object of the next operation, below `in_use`.
    #[inline(always)]
    fn choose(self, hand: &mut Hand, in_use: usize) -> usize {
        hand.random.below(in_use)
    }

    /// Makes one operation, for the party that is inside. An operation with a loop is an ordinary
    /// call, and the same function in all modes: the place of its loop in the code can be worth a
    /// third of its speed, and would differ from mode to mode.
    fn operate(self, value: &mut Self::Value, hand: &mut Hand) -> Done;

    /// Whether any of its operations may only [`look`](Self::look).
    fn looks(self) -> bool {
        false
    }

    /// Returns the operation for several parties inside at once, if the next one only reads.
    fn look(self, _: &Hand) -> Option<Look<Self>> {
        None
    }
}

/// An operation on two objects at once.
pub(super) trait PairWork: Kind {
    /// Returns the two objects of the next operation, both below `in_use`.
    fn choose(self, hand: &mut Hand, in_use: usize) -> (usize, usize);

    /// Makes one operation, for the party that is inside both objects.
    fn operate(self, first: &mut Self::Value, second: &mut Self::Value, hand: &mut Hand) -> Done;
}

/// The contents of objects when the run is over.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Held {
    /// What operations have added to them.
    pub(super) added: u64,
    /// What operations have moved between them: 0, if no half of a move was lost.
    pub(super) balance: i64,
}

impl Held {
    /// Reads one object.
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

/// Scrambles a number, and each input differently: names of files, and keys.
fn scrambled(number: usize) -> u64 {
    // The factor is odd, so no two products are equal.
    (number as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}
