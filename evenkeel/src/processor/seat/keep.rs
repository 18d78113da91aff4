//! What an owner does with the tasks that it keeps; [`keep`](crate::queue::keep) has the protocol.

use super::Seat;
use crate::primitives::atomic::{Edge, Ordering};
use crate::primitives::fence;
use crate::processor::{Local, end_all};
use crate::queue::ring::Entry;
use crate::raw_task::header::Live;
use crate::raw_task::rights::Runnable;
use crate::raw_task::state::{Polled, Signal};

/// What an answer to the bell has done. The caller follows what was sent.
#[must_use]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Answered {
    /// The number of polls that it has ended.
    pub(crate) ended: usize,
    /// The worker in whose inbox it has left the tasks.
    pub(crate) sent_to: Option<usize>,
}

impl Seat {
    /// Keeps a task whose poll has returned `Pending`, if that may be.
    #[inline(always)]
    pub(crate) fn keep(&self, task: Runnable, polled: Polled) -> Result<(), Runnable> {
        let keeps = &self.processor().published.keeps;
        if !keeps.load(Ordering::Relaxed) || !task.state.may_be_kept(polled) {
            return Err(task);
        }
        let mut local = self.local();
        // Once more, under the lock: the lookout may have settled.
        if !keeps.load(Ordering::Relaxed) {
            return Err(task);
        }
        local.keep.put(task, self.me)
    }

    /// Signals a task that is kept here, and puts it into the queue. Returns the number of tasks
    /// that are then in the queue, or `None` if the task is not kept here.
    #[inline(always)]
    pub(crate) fn wake_kept(
        &self,
        task: Live<'_>,
        signal: Signal,
        consume: bool,
        now: u64,
    ) -> Option<usize> {
        if task.keeper() != Some(self.me) {
            return None;
        }
        let mut local = self.local();
        let right = local.keep.take(task)?;
        let is_noted = match signal {
            Signal::Wake => !consume || task.defer_reference(-1),
            Signal::Unpark => !consume && task.return_token(),
            Signal::Abort => false,
        };
        if !is_noted {
            let mut word = task.state.load();
            // A task that is kept is registered, so no reference is the last.
            while let Err(actual) = task.state.signal(word, signal, consume) {
                word = actual;
            }
        }
        let ready = local.ready.push(self.ends(), Entry { task: right, since: now });
        drop(local);
        fence::light_if_paired(Edge::LonePush);
        Some(ready)
    }

    /// Begins to keep tasks, up to and including the fence. The caller then looks whether the
    /// lookout rests, and if so [settles](Self::settle).
    #[cold]
    pub(crate) fn begin_to_keep(&self) {
        self.local().keep.open();
        self.processor().published.keeps.store(true, Ordering::Relaxed);
        fence::light_if_paired(Edge::KeepBegin);
    }

    /// Ends the polls of all tasks that are kept here.
    #[cold]
    pub(crate) fn settle(&self, now: u64) {
        self.processor().settle(&mut self.local(), now);
    }

    /// Ends the polls of the tasks for which the bell has rung: leaves them in the inbox of the
    /// worker that has signalled them, up to a read-modify-write, or puts them into the queue.
    #[cold]
    pub(crate) fn answer_bell(&self, now: u64) -> Answered {
        let mut local = self.local();
        let Some(rung) = self.processor().bell.answer() else { return Answered::default() };
        let Local { keep, ready, .. } = &mut *local;
        let elsewhere = rung.signaller.filter(|&signaller| signaller != self.me);
        let mut sent_to = None;
        let ended = end_all(keep.signalled(rung), |task| match elsewhere {
            Some(signaller) => {
                self.shared().processors[signaller].inbox.push(task);
                sent_to = elsewhere;
            }
            None => _ = ready.push(self.ends(), Entry { task, since: now }),
        });
        Answered { ended, sent_to }
    }

    /// Ends the polls of the tasks kept here that were signalled, or have been here since the last
    /// call. Returns their number.
    #[cold]
    pub(crate) fn end_old(&self, now: u64) -> usize {
        self.processor().end_old(&mut self.local(), now)
    }
}
