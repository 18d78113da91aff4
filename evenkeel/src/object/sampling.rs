//! Operations that are sampled, and what follows from them.
//!
//! *An operation that is sampled*: its worker notes the time when it begins, [beside its other
//! operations](crate::travel::operations). *It is over*: the worker locks its
//! [ledger](super::ledger) and adds what the operation took to the object's heat. What the worker
//! [gives away](super::giving) of its objects follows from that.

use super::class::Route;
use super::giving::Giving;
use super::inner::Inner;
use crate::policy::object::sample;
use crate::primitives::{Mutex, lock};
use crate::processor::context::Context;
use crate::processor::entered;

impl<T> Inner<T> {
    /// Ends a sampled operation of a host, which is out of the object again: adds what it took to
    /// the object's heat, and gives the object away if the worker has chosen that.
    #[cold]
    pub(super) fn end_sample(&self) {
        entered::with(|context| {
            // The guard may have outlived the worker, and be dropped by a worker of another
            // runtime.
            let is_of = |context: &&Context| self.class.is_of(context.shared());
            let Some(context) = context.filter(is_of) else { return };
            let Some(ledger) = self.class.ledgers.of(context.seat.me()) else { return };
            let began = context.operations.end_sample(self.door.address());
            if let Some(began) = began {
                self.settle_heat(ledger, began, context);
            }
        });
    }

    fn settle_heat(&self, ledger: &Mutex<Giving>, began: u64, context: &Context) {
        let (me, address, now) = (context.seat.me(), self.door.address(), context.ahead.now());
        // The poll around the operation travels with it.
        let nanos = now.saturating_sub(began).max(context.seat.mean_poll());
        // Where all are entered at one worker, other homes would gain nothing.
        let stays = self.door.is_pinned() || self.class.route() != Route::AtHome;
        let mut giving = lock(ledger);
        giving.add(address, nanos * u64::from(sample::ONE_IN), stays);
        if giving.is_due(now) {
            giving.look(context.shared(), me, now);
        }
        let Some(to) = giving.take(address).filter(|_| !stays) else { return };
        // If another task is inside, the next look chooses again.
        if self.door.move_home(Some(me), Some(to)) {
            self.class.note_moved(Some(me), Some(to));
            giving.note_moved();
        }
    }
}
