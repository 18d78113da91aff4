//! Which of the frames from one node may be read: several workers read frames at once, and the
//! messages of each sender are still read in order.
//!
//! # The rule
//! Frames of one lane are read one after the other, in the order in which they came. A
//! [fenced](super::frame) frame is read after all frames that came before it. No other order is
//! kept. The [`multiplexer`](super::multiplexer) proves that this keeps the messages from one
//! sender to one actor in order.
//!
//! # Why nothing stays
//! The oldest unread frame is the head of its lane, and all frames that came before it have been
//! read: so it may be read, fenced or not.
//!
//! A peer chooses the lane numbers: a lane takes memory only while it has frames.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// The unread frames of one node. It does not look into frames.
#[derive(Debug)]
pub struct Demultiplexer<F> {
    lanes: BTreeMap<u16, Lane<F>>,
    /// The numbers of the unread frames, in the order of arrival.
    unread: BTreeSet<u64>,
    came: u64,
}

#[derive(Debug)]
struct Lane<F> {
    frames: VecDeque<Waiting<F>>,
    /// The number of the frame that is being read.
    reading: Option<u64>,
}

#[derive(Debug)]
struct Waiting<F> {
    number: u64,
    fenced: bool,
    frame: F,
}

impl<F> Demultiplexer<F> {
    /// Creates a demultiplexer without frames.
    #[must_use]
    pub fn new() -> Self {
        Self { lanes: BTreeMap::new(), unread: BTreeSet::new(), came: 0 }
    }

    /// Adds a frame that has come. After this more frames may be readable: see
    /// [`next`](Self::next).
    pub fn came(&mut self, lane: u16, fenced: bool, frame: F) {
        let number = self.came;
        self.came += 1;
        self.unread.insert(number);
        let lane = self
            .lanes
            .entry(lane)
            .or_insert_with(|| Lane { frames: VecDeque::new(), reading: None });
        lane.frames.push_back(Waiting { number, fenced, frame });
    }

    /// Takes the oldest frame that may be read, and returns it with its lane. The reader passes the
    /// lane to [`read`](Self::read) afterwards.
    #[allow(clippy::should_implement_trait, reason = "`None` is not final")]
    pub fn next(&mut self) -> Option<(u16, F)> {
        let oldest = *self.unread.first()?;
        let may_be_read = |head: &Waiting<F>| !head.fenced || head.number == oldest;
        let heads = self.lanes.iter().filter(|(_, lane)| lane.reading.is_none());
        let heads = heads.filter_map(|(&number, lane)| Some((number, lane.frames.front()?)));
        let (number, _) =
            heads.filter(|(_, head)| may_be_read(head)).min_by_key(|(_, head)| head.number)?;
        let lane = self.lanes.get_mut(&number)?;
        let head = lane.frames.pop_front()?;
        lane.reading = Some(head.number);
        Some((number, head.frame))
    }

    /// Notes that the frame of this lane has been read. After this more frames may be readable.
    ///
    /// # Panics
    /// If no frame of the lane was being read.
    pub fn read(&mut self, lane: u16) {
        let state = self.lanes.get_mut(&lane);
        let number = state.as_ref().and_then(|state| state.reading);
        let (Some(state), Some(number)) = (state, number) else {
            panic!("no frame of lane {lane} was being read");
        };
        state.reading = None;
        self.unread.remove(&number);
        if state.frames.is_empty() {
            self.lanes.remove(&lane);
        }
    }

    /// Returns whether all frames have been read.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.unread.is_empty()
    }
}

impl<F> Default for Demultiplexer<F> {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::Demultiplexer;
    use proptest::prelude::*;

    #[test]
    fn frames_of_different_lanes_are_read_at_once() {
        let mut frames = Demultiplexer::new();
        for (lane, frame) in [(0, 'a'), (0, 'b'), (7, 'c')] {
            frames.came(lane, false, frame);
        }
        assert_eq!(frames.next(), Some((0, 'a')));
        assert_eq!(frames.next(), Some((7, 'c')));
        assert_eq!(frames.next(), None, "b comes after a");
        frames.read(7);
        assert_eq!(frames.next(), None);
        frames.read(0);
        assert_eq!(frames.next(), Some((0, 'b')));
        frames.read(0);
        assert!(frames.is_empty());
    }

    #[test]
    fn a_fenced_frame_waits_for_all_before_it() {
        let mut frames = Demultiplexer::new();
        for (lane, fenced, frame) in [(0, false, 'a'), (1, true, 'b'), (2, false, 'c')] {
            frames.came(lane, fenced, frame);
        }
        assert_eq!(frames.next(), Some((0, 'a')));
        assert_eq!(frames.next(), Some((2, 'c')), "it passes the fence of another lane");
        assert_eq!(frames.next(), None);
        frames.read(0);
        assert_eq!(frames.next(), Some((1, 'b')));
    }

    #[test]
    #[should_panic(expected = "no frame of lane 3 was being read")]
    fn a_frame_that_was_not_given_out_is_not_given_back() {
        Demultiplexer::<()>::new().read(3);
    }

    proptest! {
        #[test]
        fn all_frames_are_read_and_none_too_early(
            frames in proptest::collection::vec((0..4_u16, any::<bool>(), 0..3_usize), 1..60),
            seeds in proptest::collection::vec(any::<usize>(), 1..60),
        ) {
            let mut state = Demultiplexer::new();
            let mut reading: Vec<(u16, usize)> = Vec::new();
            let mut read = vec![false; frames.len()];
            let mut coming = frames.iter().enumerate();
            let mut seeds = seeds.iter().cycle();
            while !read.iter().all(|&read| read) {
                let seed = *seeds.next().unwrap();
                if let Some((index, &(lane, fenced, _))) = coming.next() {
                    state.came(lane, fenced, index);
                }
                let mut at_once = seed % 4;
                if let Some((lane, index)) = state.next() {
                    let before = &frames[..index];
                    let unread = |lane_only: bool| {
                        before.iter().zip(&read).any(|(frame, read)| !read && (!lane_only || frame.0 == lane))
                    };
                    prop_assert!(!unread(!frames[index].1), "frame {index} is too early");
                    reading.push((lane, index));
                } else {
                    prop_assert!(!reading.is_empty() || state.is_empty(), "a frame stays");
                    at_once = at_once.min(reading.len().saturating_sub(1));
                }
                // How many are read at once varies.
                while reading.len() > at_once {
                    let (lane, index) = reading.swap_remove(seed % reading.len());
                    read[index] = true;
                    state.read(lane);
                }
            }
            prop_assert!(state.is_empty());
            prop_assert!(state.lanes.is_empty());
        }
    }
}
