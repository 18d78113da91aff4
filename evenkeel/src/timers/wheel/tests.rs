//! Compares the wheel with a sorted map.

use super::*;
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::ptr;

/// A step of a test, on the wheel and on the map.
#[derive(Clone, Debug)]
enum Step {
    /// Inserts a timer, this many ticks from now.
    Insert(u64),
    /// Cancels one of the timers.
    Remove(usize),
    /// Lets this many ticks pass.
    Advance(u64),
}

/// Ticks of every size: a random number of bits.
fn ticks() -> impl Strategy<Value = u64> {
    (0_u32..64, any::<u64>()).prop_map(|(bits, value)| value >> bits)
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        4 => ticks().prop_map(Step::Insert),
        2 => any::<usize>().prop_map(Step::Remove),
        3 => ticks().prop_map(Step::Advance),
        2 => (0_u64..200).prop_map(Step::Advance),
        2 => (0_u64..200).prop_map(Step::Insert),
    ];
    prop::collection::vec(step, 0..200)
}

/// The wheel, the map, and the nodes.
#[derive(Default)]
struct Pair {
    wheel: Option<Wheel>,
    /// The nodes, by tick and number of the timer.
    model: BTreeMap<(u64, usize), *mut Entry>,
    now: u64,
    timers: usize,
}

impl Pair {
    fn wheel(&mut self) -> &mut Wheel {
        self.wheel.get_or_insert_with(Wheel::new)
    }

    fn insert(&mut self, ticks: u64) {
        let tick = self.now.saturating_add(ticks);
        let entry = Box::into_raw(Box::new(Entry::new()));
        // SAFETY: the node is new, and is freed once it has been taken out.
        unsafe { self.wheel().insert(NonNull::new(entry).unwrap(), tick, tick) };
        self.model.insert((tick, self.timers), entry);
        self.timers += 1;
    }

    fn remove(&mut self, number: usize) {
        let Some(&key) = self.model.keys().nth(number % self.model.len().max(1)) else { return };
        let entry = self.model.remove(&key).unwrap();
        // SAFETY: the model says that it is in the wheel.
        unsafe { self.wheel().remove(NonNull::new(entry).unwrap()) };
        free(entry);
    }

    /// Advances the time: all due timers come, in the order of their ticks, and no others.
    fn advance(&mut self, ticks: u64) {
        self.now = self.now.saturating_add(ticks);
        let now = self.now;
        let mut before = 0;
        while let Some(entry) = self.wheel().pop(now) {
            let found = self.model.iter().find(|&(_, &own)| ptr::eq(own, entry.as_ptr()));
            let key = *found.expect("what comes was there").0;
            assert!(before <= key.0 && key.0 <= now, "{before} {} {now}", key.0);
            before = key.0;
            free(self.model.remove(&key).unwrap());
        }
        assert!(self.model.keys().next().is_none_or(|&(tick, _)| tick > now));
        self.look();
    }

    /// Compares what wheel and map say of the next timer.
    fn look(&mut self) {
        let least = self.model.keys().next().map(|&(tick, _)| tick);
        let now = self.now;
        assert_eq!(self.wheel().earliest(), least);
        assert_eq!(self.wheel().is_empty(), least.is_none());
        match (self.wheel().next_tick(), least) {
            (Some(next), Some(least)) => assert!(next <= least && next > now, "{next} {least}"),
            (next, least) => assert_eq!(next, least),
        }
    }
}

impl Drop for Pair {
    fn drop(&mut self) {
        self.model.values().for_each(|&entry| free(entry));
    }
}

fn free(entry: *mut Entry) {
    // SAFETY: it comes from a box, and is in no wheel that is still used.
    drop(unsafe { Box::from_raw(entry) });
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn it_does_what_a_sorted_map_does(steps in steps()) {
        let mut pair = Pair::default();
        for step in steps {
            match step {
                Step::Insert(ticks) => pair.insert(ticks),
                Step::Remove(number) => pair.remove(number),
                Step::Advance(ticks) => pair.advance(ticks),
            }
        }
        pair.advance(u64::MAX);
        prop_assert!(pair.model.is_empty());
    }

    #[test]
    fn to_the_nanosecond_it_does_too(
        deadlines in prop::collection::vec(0_u64..100_000, 1..60),
        late in prop::collection::vec(0_u64..3_000, 0..60),
    ) {
        const TICK: u64 = 1_000;
        let mut wheel = Wheel::new();
        // By deadline and number, which is the order in which they have come.
        let mut model = BTreeMap::new();
        let mut entries = Vec::new();
        let mut insert = |wheel: &mut Wheel, model: &mut BTreeMap<_, _>, deadline: u64| {
            let mut entry = Box::new(Entry::new());
            let node = NonNull::from(&mut *entry);
            // SAFETY: the node is new, and is freed after the wheel.
            unsafe { wheel.insert(node, deadline.div_ceil(TICK), deadline) };
            model.insert((deadline, entries.len()), node);
            entries.push(entry);
        };
        for deadline in deadlines {
            insert(&mut wheel, &mut model, deadline);
        }
        let mut late = late.into_iter();
        while let Some((&(deadline, _), _)) = model.first_key_value() {
            prop_assert_eq!(wheel.earliest(), Some(deadline));
            while let Some(entry) = wheel.pop_exact(deadline, deadline.div_ceil(TICK)) {
                let ((own, _), node) = model.pop_first().unwrap();
                prop_assert_eq!((own, node), (deadline, entry));
            }
            prop_assert!(wheel.pop(deadline / TICK).is_none());
            // A task that was woken waits again.
            if let Some(more) = late.next() {
                insert(&mut wheel, &mut model, deadline + 1 + more);
            }
        }
        prop_assert!(wheel.earliest().is_none());
    }
}

/// The digits of all levels change at once.
#[test]
fn timers_around_a_carry_through_all_levels() {
    for bits in 1..63 {
        let carry = 1_u64 << bits;
        let mut pair = Pair::default();
        pair.advance(carry - 2);
        for ticks in 0..5 {
            pair.insert(ticks);
        }
        for _ in 0..6 {
            pair.advance(1);
        }
        assert!(pair.model.is_empty());
    }
}
