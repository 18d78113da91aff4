//! How an object gets a home, and changes it.
//!
//! An object of an automatic class gets its home when its class is entered at homes: at its first
//! operation in place that is looked at, by the worker that makes it, which is inside by the lock.
//! It keeps it when its class is entered in place again, where nobody asks for it: the next time it
//! is there already. It changes its home when its host [gives it away](super::giving).

use super::inner::Inner;
use super::way::Way;
use crate::scheduler::context::Context;

impl<T> Inner<T> {
    /// Counts an entry that has come in without a wait, or beside another one, as those are counted
    /// that may wait.
    #[inline(always)]
    pub(super) fn count_entry(&self, way: Way, context: Option<&Context>) -> Way {
        match context {
            Some(context) if context.operations.count() => self.look_at(way, context),
            _ => way,
        }
    }

    #[cold]
    fn look_at(&self, way: Way, context: &Context) -> Way {
        let (operations, class) = (&context.operations, &self.class);
        if !operations.has_counted() {
            return way;
        }
        if operations.has_had_its_turn() {
            class.count(context);
        }
        // A host's operation may be inside of another one that is sampled.
        let gets_home = !way.is_host() && class.is_at_home() && class.is_of(context.shared());
        if gets_home { way.sampled() } else { way }
    }

    /// Ends an operation in place that is looked at: the object gets a home. The caller is still
    /// inside.
    #[cold]
    pub(super) fn end_in_place(&self, way: Way, context: Option<&Context>) {
        let Some(context) = self.sampler(way, context).filter(|_| !way.is_host()) else { return };
        let class = &self.class;
        if self.door.home().is_some() || !class.is_at_home() {
            return;
        }
        let home = class.next_home();
        self.door.set_home(home);
        class.note_moved(None, home);
        // Where there is one without a home there are more.
        context.operations.watch_some();
    }

    /// Ends an operation of a host that is looked at, and is out of the object again.
    #[cold]
    pub(super) fn end_at_home(&self, way: Way, context: Option<&Context>) {
        if let Some(context) = self.sampler(way, context).filter(|_| way.is_host()) {
            self.class.ledgers.end(self, context);
        }
    }

    /// The worker that an operation was sampled by: none if its guard has outlived that, and is
    /// dropped by a worker of another runtime.
    fn sampler<'a>(&self, way: Way, context: Option<&'a Context>) -> Option<&'a Context> {
        context.filter(|context| way.is_sampled() && self.class.is_of(context.shared()))
    }

    /// Whether it stays where it is, whatever there is to do elsewhere.
    pub(super) fn stays(&self) -> bool {
        self.is_pinned() || self.class.is_gathered()
    }

    /// Gives an object that nobody is inside of from worker `from` to another one; false if it is
    /// not there, or not to be moved just now.
    pub(super) fn move_home(&self, from: usize, to: usize) -> bool {
        let has_moved = self.door.move_home(Some(from), Some(to));
        if has_moved {
            self.class.note_moved(Some(from), Some(to));
        }
        has_moved
    }
}
