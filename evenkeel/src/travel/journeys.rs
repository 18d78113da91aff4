//! A worker's knowledge of travelling tasks: the processor that the polled task visits, and the
//! whereabouts of objects to which tasks have travelled.

use super::whereabouts::Whereabouts;
use crate::raw_task::header::Header;
use std::cell::Cell;
use std::ptr;

/// The knowledge of one worker.
#[derive(Debug)]
pub(crate) struct Journeys {
    /// Whether any task has departed from here since the last batch.
    pub(crate) departed: Cell<bool>,
    /// The processor that the polled task visits next, if any.
    pub(crate) target: Cell<usize>,
    /// The task that was last inside an object at home here.
    pub(crate) visitor: Cell<*mut Header>,
    /// The whereabouts of objects to which tasks have travelled from here.
    pub(crate) whereabouts: Whereabouts,
}

impl Default for Journeys {
    fn default() -> Self {
        Self {
            departed: Cell::default(),
            target: Cell::default(),
            visitor: Cell::new(ptr::null_mut()),
            whereabouts: Whereabouts::default(),
        }
    }
}
