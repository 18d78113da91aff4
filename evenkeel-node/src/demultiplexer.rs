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
    /// The oldest frames of the lanes of which none is being read, by number and lane: those that
    /// are not fenced, and those that are. A peer may use all lanes, so no search goes through
    /// them.
    heads: BTreeSet<(u64, u16)>,
    fenced: BTreeSet<(u64, u16)>,
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
        Self {
            lanes: BTreeMap::new(),
            unread: BTreeSet::new(),
            heads: BTreeSet::new(),
            fenced: BTreeSet::new(),
            came: 0,
        }
    }

    /// Adds a frame that has come. After this more frames may be readable: see
    /// [`next`](Self::next).
    pub fn came(&mut self, lane: u16, fenced: bool, frame: F) {
        let number = self.came;
        self.came += 1;
        self.unread.insert(number);
        let state = self
            .lanes
            .entry(lane)
            .or_insert_with(|| Lane { frames: VecDeque::new(), reading: None });
        let is_head = state.reading.is_none() && state.frames.is_empty();
        state.frames.push_back(Waiting { number, fenced, frame });
        if is_head {
            self.heads(fenced).insert((number, lane));
        }
    }

    fn heads(&mut self, fenced: bool) -> &mut BTreeSet<(u64, u16)> {
        if fenced { &mut self.fenced } else { &mut self.heads }
    }

    /// Takes the oldest frame that may be read, and returns it with its lane. The reader passes the
    /// lane to [`read`](Self::read) afterwards.
    #[allow(clippy::should_implement_trait, reason = "`None` is not final")]
    pub fn next(&mut self) -> Option<(u16, F)> {
        let oldest = *self.unread.first()?;
        // Of the fenced frames only the oldest frame of all may be read.
        let is_fenced = self.fenced.first().is_some_and(|head| head.0 == oldest);
        let (number, lane) = self.heads(is_fenced).pop_first()?;
        let state = self.lanes.get_mut(&lane)?;
        let head = state.frames.pop_front()?;
        state.reading = Some(number);
        Some((lane, head.frame))
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
        match state.frames.front() {
            None => _ = self.lanes.remove(&lane),
            Some(&Waiting { number, fenced, .. }) => _ = self.heads(fenced).insert((number, lane)),
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

    /// The lane of the frame that is to be read next, by the rule, from all lanes.
    fn by_the_rule<F>(state: &Demultiplexer<F>) -> Option<u16> {
        let oldest = *state.unread.first()?;
        let heads = state.lanes.iter().filter(|(_, lane)| lane.reading.is_none());
        let heads = heads.filter_map(|(&number, lane)| Some((number, lane.frames.front()?)));
        let may_be_read = heads.filter(|(_, head)| !head.fenced || head.number == oldest);
        may_be_read.min_by_key(|(_, head)| head.number).map(|(lane, _)| lane)
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
                let expected = by_the_rule(&state);
                let next = state.next();
                prop_assert_eq!(next.map(|next| next.0), expected);
                if let Some((lane, index)) = next {
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
            prop_assert!(state.heads.is_empty() && state.fenced.is_empty());
        }
    }
}
