//! What sampled operations tell: at home to the worker's [ledger](super::ledger); in place what it costs that an object is entered from several workers, and with that, whether it gets a home.
//!
//! An object of an automatic class is *assigned* a home when its class is entered at homes: at its first operation that is looked at, by the worker that makes it, which is inside by the lock. What is known of the
//! object itself goes before what is known of its class: one whose operations would save less than their journeys take stays in place. It loses its home in the same way when it is looked at after its class has gone back to being entered in place: whoever
//! enters it from then on has no more to look at than a lock.

use super::class::Class;
use super::inner::Inner;
use super::look::Look;
use super::way::Way;
use crate::policy::object::propose::DOUBT;
use crate::policy::object::{Decision, Evidence, WHOLE, assign, assign::RUNNABLE, assign::remote};
use crate::scheduler::context::Context;

impl<T> Inner<T> {
    /// Takes a sampled operation into account that is over. The caller is still inside.
    #[cold]
    pub(super) fn end_sample(&self, way: Way, context: Option<&Context>) {
        if let Some(context) = self.sampler(context).filter(|_| way.is_sampled() && !way.is_host())
        {
            self.sample_in_place(context);
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

    /// Adds what the operation took to what is known of the object and of its class.
    fn sample_in_place(&self, context: &Context) {
        let (class, me) = (&self.class, context.seat.me());
        let Some(nanos) =
            class.ledgers.end_in_place(context, self.door.address(), self.size() as u32)
        else {
            return;
        };
        let before = context.operations.bytes();
        let after = context.operations.tick(self.size() as u64);
        self.with_sample(|sample| {
            if sample.last().is_some() {
                let here = sample.is_at(me as u16).then(|| before.since(sample.stamp()));
                class.steering.shares.learn(class, me, here, nanos);
            }
            sample.add(me as u16, nanos, after.now());
        });
    }

    /// Gives an object without a home one, if it is worth it and there is room. The caller is inside by the lock.
    fn assign(&self, context: &Context) {
        let class: &Class = &self.class;
        if self.door.home().is_some() || !class.is_at_home() || !self.is_worth_a_home(context) {
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
            self.with_sample(|sample| sample.forget());
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

    /// Whether the object itself is worth a home, as far as is known. Where nothing is, its class is, or would not be entered at homes.
    fn is_worth_a_home(&self, context: &Context) -> bool {
        let class: &Class = &self.class;
        let sample = self.with_sample(|sample| *sample);
        if class.is_gathered() {
            // Nobody travels there.
            return true;
        }
        let Some(cost) = sample.sharing_cost() else { return true };
        let Some(hop) = class.ledgers.planning().hop() else { return true };
        let share = class.ledgers.share(context.seat.me(), self.door.address());
        let evidence = Evidence {
            // With the doubt that there is of its class, which would be tried with none of its objects at home.
            saving: DOUBT * cost * u64::from(sample.remote()) / u64::from(WHOLE),
            remote: remote(context.shared().workers as u32, share),
            hop,
            samples: sample.samples(),
            // Whether few tasks are enough for its class a trial has said.
            runnable: RUNNABLE,
        };
        assign(&evidence) != Decision::TooCheap
    }
}
