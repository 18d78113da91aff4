//! Rectangles of a matrix, which the halves of a fork change in parallel.

#![allow(unsafe_code, reason = "tiles of one matrix interleave in memory")]

use std::marker::PhantomData;

/// A page of numbers of eight bytes: in arrays that begin at a page, vector loads do not straddle
/// lines.
#[repr(C, align(4096))]
#[derive(Clone, Copy)]
struct Page<T>([T; PAGE]);

/// Numbers in a page.
const PAGE: usize = 512;

/// Numbers that begin at a page.
pub(super) struct Array<T> {
    pages: Vec<Page<T>>,
    len: usize,
}

impl<T: Copy + Default> Array<T> {
    /// Makes an array of `len` numbers from their indices.
    pub(super) fn new(len: usize, mut number: impl FnMut(usize) -> T) -> Self {
        const { assert!(size_of::<T>() == 8, "pages are full") };
        let mut array = Self { pages: vec![Page([T::default(); PAGE]); len.div_ceil(PAGE)], len };
        array.as_mut().iter_mut().enumerate().for_each(|(index, cell)| *cell = number(index));
        array
    }

    pub(super) fn as_ref(&self) -> &[T] {
        // SAFETY: the pages are full of numbers, one after the other, and hold at least `len`.
        unsafe { std::slice::from_raw_parts(self.pages.as_ptr().cast(), self.len) }
    }

    pub(super) fn as_mut(&mut self) -> &mut [T] {
        // SAFETY: as above, and the borrow is exclusive.
        unsafe { std::slice::from_raw_parts_mut(self.pages.as_mut_ptr().cast(), self.len) }
    }
}

/// A rectangle of a matrix, exclusively the holder's.
pub(super) struct Tile<'a> {
    /// The first number.
    start: *mut f64,
    /// Its place in the matrix.
    pub(super) row: usize,
    pub(super) column: usize,
    pub(super) rows: usize,
    pub(super) columns: usize,
    /// The distance from one row to the next.
    stride: usize,
    marker: PhantomData<&'a mut [f64]>,
}

// SAFETY: a tile is an exclusive borrow of its numbers.
unsafe impl Send for Tile<'_> {}

impl<'a> Tile<'a> {
    /// The whole of a matrix with rows of `columns` numbers.
    pub(super) fn new(matrix: &'a mut [f64], columns: usize) -> Self {
        assert_eq!(matrix.len() % columns, 0, "a matrix has whole rows");
        let rows = matrix.len() / columns;
        let start = matrix.as_mut_ptr();
        Self { start, row: 0, column: 0, rows, columns, stride: columns, marker: PhantomData }
    }

    /// Splits off the upper rows.
    pub(super) fn split_rows(self, rows: usize) -> (Self, Self) {
        assert!(rows <= self.rows);
        // SAFETY: the rows below begin within the matrix, or, if there are none, at its end or
        // before.
        let below =
            unsafe { self.start.add(if rows < self.rows { rows * self.stride } else { 0 }) };
        let lower = Self { start: below, row: self.row + rows, rows: self.rows - rows, ..self };
        (Self { rows, ..self }, lower)
    }

    /// Splits off the left columns.
    pub(super) fn split_columns(self, columns: usize) -> (Self, Self) {
        assert!(columns <= self.columns);
        // SAFETY: the columns begin within the first row, or, if there are none, at its end.
        let beside = unsafe { self.start.add(columns) };
        let right = Self {
            start: beside,
            column: self.column + columns,
            columns: self.columns - columns,
            ..self
        };
        (Self { columns, ..self }, right)
    }

    /// A row of the tile.
    #[inline(always)]
    pub(super) fn row_mut(&mut self, row: usize) -> &mut [f64] {
        assert!(row < self.rows);
        // SAFETY: the row lies within the matrix.
        let start = unsafe { self.start.add(row * self.stride) };
        // SAFETY: the tile has exclusive access to these numbers, and the borrow of the tile is
        // exclusive.
        unsafe { std::slice::from_raw_parts_mut(start, self.columns) }
    }

    /// The same tile for a shorter time.
    pub(super) fn reborrow(&mut self) -> Tile<'_> {
        Tile { marker: PhantomData, ..*self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tiles_of_a_matrix_are_disjoint_and_cover_it() {
        let mut array = Array::new(6 * 4, |_| 0.0);
        assert_eq!(array.as_ref().as_ptr().align_offset(4096), 0);
        let (upper, lower) = Tile::new(array.as_mut(), 4).split_rows(2);
        let (left, right) = lower.split_columns(3);
        for (number, mut tile) in [(1.0, upper), (2.0, left), (3.0, right)] {
            for row in 0..tile.rows {
                tile.row_mut(row).iter_mut().for_each(|cell| *cell += number);
            }
        }
        assert_eq!(array.as_ref()[..8], [1.0; 8]);
        assert_eq!(array.as_ref()[8..12], [2.0, 2.0, 2.0, 3.0]);
    }
}
