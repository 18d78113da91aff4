//! The pipe, for the models: it holds one byte, and can be closed.

use crate::primitives::{Condvar, Mutex, lock};
use std::io::Result;
use std::sync::Arc;

#[derive(Debug)]
pub(super) struct Writer(Arc<Pipe>);

#[derive(Debug)]
pub(super) struct Reader(Arc<Pipe>);

#[derive(Debug)]
struct Pipe {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    is_full: bool,
    is_closed: bool,
}

pub(super) fn pair() -> Result<(Reader, Writer)> {
    let pipe = Arc::new(Pipe { state: Mutex::new(State::default()), changed: Condvar::new() });
    Ok((Reader(pipe.clone()), Writer(pipe)))
}

impl Writer {
    pub(super) fn write(&self) {
        lock(&self.0.state).is_full = true;
        self.0.changed.notify_one();
    }

    /// Ends the teller, once it has read what is there.
    pub(super) fn close(&self) {
        lock(&self.0.state).is_closed = true;
        self.0.changed.notify_one();
    }
}

impl Reader {
    pub(super) fn read(&mut self) -> bool {
        let mut state = lock(&self.0.state);
        while !state.is_full && !state.is_closed {
            state = self.0.changed.wait(state).unwrap();
        }
        std::mem::take(&mut state.is_full)
    }
}
