//! Three classes of objects in turn: a counter, a map and a heap. The best placement of one class
//! need not be the best of the others.

use std::collections::HashMap;

use super::heap::{Events, Heaps};
use super::{Choice, Done, InTurn, Kind, Maps, Work};
use crate::party::Hand;

/// Objects of three classes; maps and heaps have this many keys and events.
#[derive(Clone, Copy)]
pub(crate) struct Mixed(pub(crate) usize);

/// An object of one of the classes.
pub(crate) enum Value {
    Counter(u64),
    Map(HashMap<u64, u64>),
    Heap(Events),
}

impl Kind for Mixed {
    const CLASSES: &'static [&'static str] = &["counters", "maps", "heaps"];

    type Value = Value;

    fn make(self, number: usize) -> Value {
        match number % Self::CLASSES.len() {
            0 => Value::Counter(0),
            1 => Value::Map(Maps(self.0).make(number)),
            _ => Value::Heap(Heaps(self.0).make(number)),
        }
    }

    fn total(self, value: &Value) -> u64 {
        match value {
            Value::Counter(count) => *count,
            Value::Map(map) => Maps(self.0).total(map),
            Value::Heap(events) => Heaps(self.0).total(events),
        }
    }
}

impl Work for Mixed {
    #[inline(always)]
    fn choose(self, hand: &mut Hand, in_use: usize) -> usize {
        InTurn.choose(hand, in_use)
    }

    #[inline]
    fn operate(self, value: &mut Value, hand: &mut Hand) -> Done {
        match value {
            Value::Counter(count) => {
                *count += 1;
                Done { added: 1, right: true }
            }
            Value::Map(map) => Maps(self.0).operate(map, hand),
            Value::Heap(events) => Heaps(self.0).operate(events, hand),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_class_is_operated_on_in_turn() {
        let (work, mut hand) = (Mixed(8), Hand::new(1, 0));
        let mut values: Vec<Value> = (0..3).map(|number| work.make(number)).collect();
        for _ in 0..30 {
            let number = work.choose(&mut hand, values.len());
            assert!(work.operate(&mut values[number], &mut hand).right);
        }
        assert_eq!(values.iter().map(|value| work.total(value)).collect::<Vec<_>>(), [10; 3]);
    }
}
