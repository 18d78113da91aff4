//! A supervisor's rows, by the numbers of the children and by their identities.

use super::child::Row;
use crate::words::id::ActorId;
use std::collections::{BTreeMap, HashMap};

/// The children that are not gone.
#[derive(Debug, Default)]
pub(super) struct Rows {
    /// By the children's numbers, each of which is used once.
    all: BTreeMap<usize, Row>,
    numbers: HashMap<ActorId, usize>,
}

impl Rows {
    pub(super) fn insert(&mut self, index: usize, row: Row) {
        self.numbers.insert(row.actor.id(), index);
        self.all.insert(index, row);
    }

    pub(super) fn remove(&mut self, index: usize) -> Option<Row> {
        let row = self.all.remove(&index)?;
        self.numbers.remove(&row.actor.id());
        Some(row)
    }

    /// The number of the child that is this actor.
    pub(super) fn number_of(&self, child: ActorId) -> Option<usize> {
        self.numbers.get(&child).copied()
    }

    pub(super) fn get(&self, index: usize) -> Option<&Row> {
        self.all.get(&index)
    }

    pub(super) fn get_mut(&mut self, index: usize) -> Option<&mut Row> {
        self.all.get_mut(&index)
    }

    /// The children in the order of their numbers.
    pub(super) fn iter(&self) -> impl DoubleEndedIterator<Item = (usize, &Row)> {
        self.all.iter().map(|(&index, row)| (index, row))
    }

    pub(super) fn iter_mut(&mut self) -> impl Iterator<Item = (usize, &mut Row)> {
        self.all.iter_mut().map(|(&index, row)| (index, row))
    }

    pub(super) fn is_empty(&self) -> bool {
        self.all.is_empty()
    }
}

impl FromIterator<Row> for Rows {
    /// Numbers the children from zero.
    fn from_iter<I: IntoIterator<Item = Row>>(rows: I) -> Self {
        let mut all = Self::default();
        rows.into_iter().enumerate().for_each(|(index, row)| all.insert(index, row));
        all
    }
}
