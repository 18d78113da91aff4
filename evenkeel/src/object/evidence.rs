//! What sampled operations tell: at home to the worker's [ledger](super::ledger); in place what it costs that an object is entered from several workers, and with that, whether it gets a home.
//!
//! An object of an automatic class is *assigned* a home when its class is entered at homes: at its first operation that is looked at, by the worker that makes it, which is inside by the lock. It loses its home in the same way when it is looked at after its class has gone back to being entered in place: whoever
//! enters it from then on has no more to look at than a lock.

use super::class::Class;
use super::inner::Inner;
use super::look::Look;
use super::way::Way;
use crate::scheduler::context::Context;

impl<T> Inner<T> {
    /// Takes a sampled operation into account that is over. The caller is still inside.
    #[cold]
    pub(super) fn end_sample(&self, way: Way, context: Option<&Context>) {
        if let Some(context) = self.sampler(context).filter(|_| way.is_sampled() && !way.is_host())
        {
            self.sample_in_place(way, context);
            match self.class.steering.look() {
                Look::Assign => self.assign(context),
                Look::Unassign | Look::Observe => self.unassign(),
                Look::Nothing => {}
            }
        }
    }

    /// The same of one at its home, whose worker is out of the object again.
    #[cold]
    pub(super) fn note_over(&self, way: Way, context: Option<&Context>) {
        if let Some(context) = self.sampler(context).filter(|_| way.is_host()) {
            self.class.ledgers.end(self, context);
        }
    }

    /// The worker that an operation was sampled by: none if its guard has outlived that, and is
    /// dropped by a worker of another runtime.
    fn sampler<'a>(&self, context: Option<&'a Context>) -> Option<&'a Context> {
        context.filter(|context| self.class.is_of(context.shared()))
    }

    /// Adds what the operation took to what is known of the class.
    fn sample_in_place(&self, way: Way, context: &Context) {
        let (class, address) = (&self.class, self.door.address());
        if let Some(nanos) = class.ledgers.end_in_place(context, address, self.size() as u32) {
            class.steering.shares.learn(context.seat.me(), way.is_after_another(), nanos);
        }
    }

    /// Gives an object without a home one, if it is worth it and there is room. The caller is inside by the lock.
    fn assign(&self, context: &Context) {
        let class: &Class = &self.class;
        if self.door.home().is_some() || !class.is_at_home() {
            return;
        }
        let address = self.door.address();
        let planning = class.ledgers.planning();
        let granted = planning.granted(address).filter(|&worker| class.dealing().may_be_at(worker));
        let find_room = || (!planning.is_crowded()).then(|| class.find_room(self.size())).flatten();
        let room = granted.or_else(find_room);
        if room.is_none() {
            class.ledgers.want(context.seat.me(), address, self.size() as u32);
        }
        if let Some(home) = room {
            self.door.set_home(Some(home));
            class.charge(Some(home), self.size());
            // Where there is one without a home there are more.
            context.operations.watch_some();
        }
    }

    /// Takes its home from an object. The caller is inside by the lock.
    fn unassign(&self) {
        let home = self.door.home();
        if home.is_some() && !self.is_pinned() && !self.class.is_at_home() {
            self.door.set_home(None);
            self.class.uncharge(home, self.size());
        }
    }
}
