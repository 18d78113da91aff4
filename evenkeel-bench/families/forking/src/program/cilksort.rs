//! Merge sort with merges that fork too: a merge looks the middle of the longer half up in the
//! shorter one.

use std::hint::black_box;

use super::{Workload, fold, fork};
use crate::forker::Forker;
use crate::grid::Array;

/// Up to this length, numbers are sorted without a fork.
const SORT: usize = 2_048;
/// Up to this length, numbers are merged without a fork.
const MERGE: usize = 2_048;

pub(super) struct Cilksort {
    numbers: Array<u64>,
    room: Array<u64>,
}

impl Workload for Cilksort {
    fn prepare(n: usize) -> Self {
        let mut state = 0x2545_f491_4f6c_dd1d_u64;
        let numbers = Array::new(n, |_| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state
        });
        Self { numbers, room: Array::new(n, |_| 0) }
    }

    fn go<F: Forker>(&mut self, forker: &F) {
        // Hides the use of the result from the compiler.
        let (numbers, room) = black_box((self.numbers.as_mut(), self.room.as_mut()));
        forker.run(|cx| sort::<F>(cx, numbers, room));
        black_box(&self.numbers);
    }

    fn checksum(&self) -> u64 {
        fold(self.numbers.as_ref().iter().copied())
    }
}

/// Sorts `numbers`; `room` has the same length.
fn sort<F: Forker>(mut cx: F::Cx<'_, '_>, numbers: &mut [u64], room: &mut [u64]) {
    if numbers.len() <= SORT {
        return sort_leaf(numbers);
    }
    let (middle, bytes) = (numbers.len() / 2, size_of_val(numbers));
    let (left, right) = numbers.split_at_mut(middle);
    let (left_room, right_room) = room.split_at_mut(middle);
    fork::<F, _, _>(
        &mut cx,
        2 * bytes,
        |cx| halves::<F>(cx, left, left_room),
        |cx| halves::<F>(cx, right, right_room),
    );
    merge::<F>(cx, left_room, right_room, numbers);
}

/// Sorts `numbers` into `room`.
fn halves<F: Forker>(mut cx: F::Cx<'_, '_>, numbers: &mut [u64], room: &mut [u64]) {
    if numbers.len() <= SORT {
        sort_leaf(numbers);
        return room.copy_from_slice(numbers);
    }
    let (middle, bytes) = (numbers.len() / 2, size_of_val(numbers));
    let (left, right) = numbers.split_at_mut(middle);
    let (left_room, right_room) = room.split_at_mut(middle);
    fork::<F, _, _>(
        &mut cx,
        2 * bytes,
        |cx| sort::<F>(cx, left, left_room),
        |cx| sort::<F>(cx, right, right_room),
    );
    merge::<F>(cx, left, right, room);
}

/// Merges two sorted slices.
fn merge<F: Forker>(mut cx: F::Cx<'_, '_>, a: &[u64], b: &[u64], to: &mut [u64]) {
    if to.len() <= MERGE {
        return merge_leaf(a, b, to);
    }
    let (long, short) = if a.len() >= b.len() { (a, b) } else { (b, a) };
    let middle = long.len() / 2;
    let place = short.partition_point(|number| *number < long[middle]);
    let bytes = size_of_val(to);
    let (low, high) = to.split_at_mut(middle + place);
    fork::<F, _, _>(
        &mut cx,
        2 * bytes,
        move |cx| merge::<F>(cx, &long[..middle], &short[..place], low),
        move |cx| merge::<F>(cx, &long[middle..], &short[place..], high),
    );
}

#[inline(never)]
fn sort_leaf(numbers: &mut [u64]) {
    numbers.sort_unstable();
}

#[inline(never)]
fn merge_leaf<'a>(mut a: &'a [u64], mut b: &'a [u64], to: &mut [u64]) {
    for cell in to {
        let from = match (a.first(), b.first()) {
            (Some(x), Some(y)) if y < x => &mut b,
            (Some(_), _) => &mut a,
            _ => &mut b,
        };
        *cell = from[0];
        *from = &from[1..];
    }
}
