//! Memory for tasks: one block each, and where the blocks come from.
//!
//! # Padded and compact
//! Two tasks on one cache line slow each other down when two processors run them, by a factor of
//! two or three for tasks that do little. So a task gets lines of its own ([`Room::Padded`]) while
//! its processor has few tasks. Beyond a thousand memory counts for more, and tasks lie as close as
//! the allocator puts them ([`Room::Compact`]).
//!
//! # The cache
//! A worker keeps the padded blocks that it frees and makes its next tasks of them, without a call
//! of the allocator. The worker that frees a block need not be the one that allocated it: blocks of
//! one size are alike.
//!
//! # The order
//! A thread allocates several blocks at a time, and uses them out of order. If tasks lie side by
//! side in the order in which they are polled, a core fetches the lines of the next ones ahead.
//! Where two workers share such tasks, these lines belong to the other worker, which has to take
//! them back. With two hundred tasks that only yield, spawned by a thread outside on two workers by
//! turns, a yield takes 1.5 times as long as with half of them on one worker, and out of order 1.15
//! times.

#![allow(unsafe_code, reason = "it allocates")]

use super::id::Id;
use std::alloc::{Layout, alloc, dealloc, handle_alloc_error};
use std::cell::RefCell;
use std::ptr::NonNull;
// The models have nothing to find in memory of one thread.
use std::thread_local;

/// How a task is laid out in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Room {
    /// On cache lines of its own.
    Padded,
    /// As close to others as the allocator puts it.
    Compact,
}

/// What the scheduler decides about a new task.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Birth {
    /// The address of the home processor that its header keeps.
    pub(crate) home: *const (),
    pub(crate) id: Id,
    pub(crate) room: Room,
}

/// Two cache lines: processors fetch them in pairs.
const LINES: usize = 128;

/// A worker keeps blocks of 1 to `SIZES` times [`LINES`] bytes: tasks of a kilobyte at most. A task
/// that waits for a channel inside of a loop, or an actor that does so in a handler, has half a
/// kilobyte or more. An estimate of what most tasks need; no benchmark sets it.
const SIZES: usize = 8;

/// Blocks of each size that a worker keeps at most: as many as a processor has [padded
/// tasks](crate::policy::placement::PADDED), beyond which its tasks are compact.
const KEPT: usize = 1_024;

/// Bytes of each size that a worker keeps at most: 3.25 MiB over all sizes. As many as [`KEPT`]
/// blocks of half a kilobyte; no benchmark sets it.
const KEPT_BYTES: usize = 512 << 10;

/// Bytes of each size that a thread outside keeps at most: as many as a [group](GROUP) of blocks of
/// half a kilobyte has, 50 KiB over all sizes. An estimate; no benchmark sets it.
const OUTSIDE_BYTES: usize = 8 << 10;

/// A thread without a free block allocates this many, or fewer of [large
/// ones](Blocks::allocate_group). An estimate: enough to be out of order, and 2 KiB of small tasks;
/// no benchmark sets it.
const GROUP: usize = 16;

/// Returns the place, in a group, of the block at this `height` of the stack from which blocks are
/// taken. With the bits reversed no three places, of any that a worker has of a group, follow each
/// other by equal steps (Davis, Entringer, Graham and Simmons, "On permutations containing no long
/// arithmetic progressions", Acta Arithmetica 34, 1977), so a core foresees none.
const fn place(height: usize) -> usize {
    height.reverse_bits() >> (usize::BITS - GROUP.trailing_zeros())
}

/// The layout of a padded block for a task of layout `task`.
const fn padded(task: Layout) -> Layout {
    let align = if task.align() > LINES { task.align() } else { LINES };
    match Layout::from_size_align(task.size().next_multiple_of(align), align) {
        Ok(layout) => layout,
        Err(_) => panic!("a task is smaller than the address space"),
    }
}

/// The kept size that a padded block for a task has, if any: known at compile time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Size(Option<usize>);

impl Size {
    /// The size for tasks of layout `task`.
    pub(crate) const fn of(task: Layout) -> Self {
        let block = padded(task);
        let index = block.size() / LINES;
        let kept = block.align() == LINES && index >= 1 && index <= SIZES;
        Self(if kept { Some(index - 1) } else { None })
    }

    /// The number of blocks with this index that are kept where there is room for `bytes`, and for
    /// `blocks` blocks.
    const fn most(index: usize, bytes: usize, blocks: usize) -> usize {
        let fit = bytes / ((index + 1) * LINES);
        if fit < blocks { fit } else { blocks }
    }

    /// The layout of the kept blocks with this index.
    fn layout(index: usize) -> Layout {
        let layout = Layout::from_size_align((index + 1) * LINES, LINES);
        layout.expect("a small multiple of a power of two")
    }
}

/// The free blocks of one thread.
#[derive(Debug, Default)]
pub(crate) struct Blocks([Vec<NonNull<u8>>; SIZES]);

thread_local! {
    /// The blocks of a thread outside, and those that it had when it was inside last: less than a
    /// [group](GROUP) of each size, and [few bytes](OUTSIDE_BYTES). What it frees itself goes to
    /// the allocator: many threads end tasks, and few make some.
    static OUTSIDE: RefCell<Blocks> = const { RefCell::new(Blocks([const { Vec::new() }; SIZES])) };
}

/// Takes a block of this size for a task that a thread outside spawns, unless its size is not kept
/// or the thread ends.
pub(crate) fn take_outside(size: Size) -> Option<NonNull<u8>> {
    OUTSIDE.try_with(|blocks| blocks.borrow_mut().take(size)).ok()?
}

impl Blocks {
    /// Takes the calling thread's blocks: it comes inside, perhaps once for each `block_on`.
    pub(crate) fn take_inside() -> Self {
        OUTSIDE.try_with(RefCell::take).unwrap_or_default()
    }

    /// Leaves blocks, as many as a thread outside keeps, with the calling thread.
    pub(crate) fn leave_outside(mut self) {
        self.shrink_to(OUTSIDE_BYTES, GROUP - 1);
        // A thread that ends has nowhere to keep them; they are freed.
        let _ = OUTSIDE.try_with(|blocks| blocks.replace(self));
    }

    /// Takes a block of this size, unless its size is not kept. Allocates a group if there is none.
    #[inline(always)]
    pub(crate) fn take(&mut self, size: Size) -> Option<NonNull<u8>> {
        let index = size.0?;
        if self.0[index].is_empty() {
            self.allocate_group(index);
        }
        self.0[index].pop()
    }

    /// Allocates one block, and as many more as a thread outside keeps.
    #[cold]
    fn allocate_group(&mut self, index: usize) {
        let number = Size::most(index, OUTSIDE_BYTES, GROUP - 1) + 1;
        let blocks: Vec<_> =
            (0..number).map(|_| allocate(Size::layout(index), Room::Padded)).collect();
        let places = (0..GROUP).map(place).filter(|&place| place < number);
        self.0[index].extend(places.map(|place| blocks[place]));
    }

    /// Frees blocks, until there are `bytes` and `blocks` blocks of each size at most.
    fn shrink_to(&mut self, bytes: usize, blocks: usize) {
        for (index, kept) in self.0.iter_mut().enumerate() {
            let most = Size::most(index, bytes, blocks);
            for block in kept.drain(most.min(kept.len())..) {
                // SAFETY: each block here is padded, of this layout, and not in use.
                unsafe { free(block, Size::layout(index), Room::Padded) };
            }
        }
    }

    /// Keeps a block and returns true, if there is room. Otherwise the caller frees it.
    ///
    /// # Safety
    /// The block comes from [`allocate`] with [`Room::Padded`] and a layout of this size, and is
    /// not in use.
    #[inline(always)]
    pub(crate) unsafe fn put(&mut self, block: NonNull<u8>, size: Size) -> bool {
        let Some(index) = size.0 else { return false };
        let kept = &mut self.0[index];
        let room = kept.len() < Size::most(index, KEPT_BYTES, KEPT);
        if room {
            kept.push(block);
        }
        room
    }
}

impl Drop for Blocks {
    fn drop(&mut self) {
        self.shrink_to(0, 0);
    }
}

/// Allocates a new block.
pub(crate) fn allocate(task: Layout, room: Room) -> NonNull<u8> {
    let layout = layout(task, room);
    // SAFETY: a task has a header and a kept block some lines, so the size is not zero.
    let block = unsafe { alloc(layout) };
    NonNull::new(block).unwrap_or_else(|| handle_alloc_error(layout))
}

/// Returns a block to the allocator.
///
/// # Safety
/// It comes from [`allocate`] with the same arguments, and is not in use.
pub(crate) unsafe fn free(block: NonNull<u8>, task: Layout, room: Room) {
    // SAFETY: the caller's promise.
    unsafe { dealloc(block.as_ptr(), layout(task, room)) }
}

const fn layout(task: Layout, room: Room) -> Layout {
    match room {
        Room::Padded => padded(task),
        Room::Compact => task,
    }
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use super::*;

    #[test]
    fn a_block_that_is_kept_is_used_again() {
        let task = Layout::new::<[u64; 20]>();
        let mut blocks = Blocks::default();
        let block = blocks.take(Size::of(task)).unwrap();
        assert_eq!(block.as_ptr() as usize % LINES, 0);
        // SAFETY: the block is padded, of this layout, and not used.
        assert!(unsafe { blocks.put(block, Size::of(task)) });
        let other = Size::of(Layout::new::<[u64; 10]>());
        let small = blocks.take(other).unwrap();
        assert_ne!(small, block, "another size");
        assert_eq!(
            blocks.take(Size::of(Layout::new::<[u64; 19]>())),
            Some(block),
            "the same size when padded"
        );
        for (block, size) in [(block, Size::of(task)), (small, other)] {
            // SAFETY: as above.
            assert!(unsafe { blocks.put(block, size) });
        }
    }

    #[test]
    fn no_three_blocks_of_a_group_follow_each_other_by_equal_steps() {
        let mut places: Vec<_> = (0..GROUP).map(place).collect();
        for last in 0..GROUP {
            for middle in 0..last {
                for first in 0..middle {
                    assert_ne!(places[first] + places[last], 2 * places[middle], "{places:?}");
                }
            }
        }
        places.sort_unstable();
        assert_eq!(places, (0..GROUP).collect::<Vec<_>>(), "each is used once");
    }

    #[test]
    fn a_thread_that_leaves_keeps_a_part_of_its_blocks() {
        let size = Size::of(Layout::new::<u64>());
        let mut blocks = Blocks::take_inside();
        let taken: Vec<_> = (0..3 * GROUP).map(|_| blocks.take(size).unwrap()).collect();
        for block in taken {
            // SAFETY: the block is padded, of this size, and not used.
            assert!(unsafe { blocks.put(block, size) });
        }
        blocks.leave_outside();
        let Blocks([kept, ..]) = &Blocks::take_inside();
        assert_eq!(kept.len(), GROUP - 1);
    }

    #[test]
    fn a_group_of_large_blocks_is_what_a_thread_outside_keeps_and_one() {
        let large = Size::of(Layout::new::<[u64; 128]>());
        let mut blocks = Blocks::default();
        let block = blocks.take(large).unwrap();
        assert_eq!(blocks.0[SIZES - 1].len(), OUTSIDE_BYTES / 1_024);
        // SAFETY: the block is padded, of this size, and not used.
        assert!(unsafe { blocks.put(block, large) });
    }

    #[test]
    fn the_larger_blocks_are_the_fewer_are_kept() {
        let bytes = |most: fn(usize) -> usize| -> usize {
            (0..SIZES).map(|index| most(index) * Size::layout(index).size()).sum()
        };
        let worker = |index| Size::most(index, KEPT_BYTES, KEPT);
        let outside = |index| Size::most(index, OUTSIDE_BYTES, GROUP - 1);
        assert_eq!([worker(0), worker(3), worker(7)], [KEPT, KEPT, KEPT / 2]);
        assert_eq!([outside(0), outside(3), outside(7)], [GROUP - 1, GROUP - 1, GROUP / 2]);
        assert!(bytes(worker) <= 13 << 18, "3.25 MiB, not {}", bytes(worker));
        assert!(bytes(outside) <= 50 << 10, "50 KiB, not {}", bytes(outside));
    }

    #[test]
    fn large_blocks_are_not_kept() {
        let task = Layout::new::<[u64; 200]>();
        let mut blocks = Blocks::default();
        assert_eq!(blocks.take(Size::of(task)), None);
        let block = allocate(task, Room::Padded);
        // SAFETY: the block is padded, of this layout, and not used.
        assert!(!unsafe { blocks.put(block, Size::of(task)) });
        // SAFETY: it comes from `allocate` with these arguments.
        unsafe { free(block, task, Room::Padded) };
    }
}
