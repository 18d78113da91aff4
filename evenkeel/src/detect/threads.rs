//! Threads that sleep in `block_on`.

use super::extra::Extra;
use super::graph;
use super::report::{DeadlockHook, Listener, Waiter};
use super::search;
use super::tasks::{closure, current};
use super::waiting::{Alarm, Sleeper, Waiting};
use crate::raw_task::id::Id;
use std::cell::RefCell;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Weak};
use std::thread;

thread_local! {
    /// The `block_on`s of this thread, the innermost one last, and their wakers' data.
    static SLEEPERS: RefCell<Vec<(usize, Arc<Sleeper>)>> = const { RefCell::new(Vec::new()) };
}

impl Waiting {
    /// This thread, if one of its `block_on`s has a waker with this datum.
    pub(crate) fn thread(datum: *const ()) -> Option<Self> {
        SLEEPERS
            .try_with(|sleepers| {
                let sleepers = sleepers.borrow();
                let own = sleepers.iter().find(|(own, _)| *own == datum.addr())?;
                Some(Self::Thread(own.1.clone()))
            })
            .ok()
            .flatten()
    }
}

impl Sleeper {
    /// Notes that the thread is about to sleep, and tells the hook of a deadlock that it waits in.
    fn note_sleep(&self, hook: Option<DeadlockHook>) {
        let mut graph = graph::lock();
        self.asleep.store(true, Ordering::Relaxed);
        let id = self.waiter.id();
        if !graph.waits(id) {
            return;
        }
        let news = graph.check(id, &|| Listener::of(hook.as_ref()));
        drop(graph);
        search::tell(&news, hook.as_ref());
    }
}

/// A `block_on` of this thread.
pub(crate) struct Blocking(Extra<Own>);

/// The last one in the thread's list.
struct Own(Arc<Sleeper>);

impl Blocking {
    /// Begins a `block_on` that is woken by `alarm`.
    #[inline]
    pub(crate) fn begin<A: Alarm + 'static>(alarm: &Arc<A>) -> Self {
        Self(Extra::of(|| {
            let id = current().unwrap_or(Id::NONE);
            let waiter = match closure() {
                Some(task) => Waiter::Task(task),
                None => Waiter::Thread { id, name: thread::current().name().map(str::to_owned) },
            };
            let alarm_ref: Weak<dyn Alarm> = Arc::<A>::downgrade(alarm);
            let asleep = AtomicBool::new(false);
            let sleeper = Arc::new(Sleeper { waiter, alarm: alarm_ref, asleep });
            let entry = (Arc::as_ptr(alarm).addr(), sleeper.clone());
            let _ = SLEEPERS.try_with(|sleepers| sleepers.borrow_mut().push(entry));
            Own(sleeper)
        }))
    }

    /// Notes that the thread is about to sleep, and searches for a deadlock that it waits in.
    #[inline]
    pub(crate) fn sleep(&self, hook: impl FnOnce() -> Option<DeadlockHook>) {
        if let Some(Own(sleeper)) = self.0.get() {
            sleeper.note_sleep(hook());
        }
    }

    /// Notes that the thread has been woken.
    #[inline]
    pub(crate) fn wake(&self) {
        if let Some(Own(sleeper)) = self.0.get() {
            let _graph = graph::lock();
            sleeper.asleep.store(false, Ordering::Relaxed);
        }
    }
}

impl Drop for Own {
    fn drop(&mut self) {
        // This one is the innermost.
        let _ = SLEEPERS.try_with(|sleepers| sleepers.borrow_mut().pop());
    }
}
