//! Splitting a hold, and joining two.

#![allow(unsafe_code, reason = "a hold becomes another one")]

use super::held::Held;
use super::joined::{self, Joined};
use super::reservation;
use super::set::{Set, Several};

impl<S: Several> Held<S> {
    /// Splits the hold into holds of its parts, which can be left one by one and by different
    /// tasks. The parts of a tuple, an array or a slice are the single monitors; the parts of two
    /// [joined](Joined) sets are those two. No other task enters meanwhile.
    ///
    /// Tasks that the holder has signalled go on once *all* parts have been left or wait, however
    /// far apart that is. Until then, parts that are left stay reserved for these tasks, and
    /// entrants wait in their queues. The same holds for the acceptor if the holder is an accepted
    /// call. If a cancelled or panicking call drops a part, that call has [broken
    /// off](super::Accepted::Broken). Tasks that a part holder signals for its own part go first.
    ///
    /// A condition of the whole set does not belong to the parts: [join](Self::join) them to wait
    /// or to signal.
    ///
    /// # Cost
    /// None if no waiter has been signalled, and the hold is no accepted call. Otherwise an
    /// allocation and a lock for each monitor, a step for each signalled waiter, and three
    /// allocations. A part of an accepted call for which no waiter has been signalled costs the
    /// locks alone.
    ///
    /// # Examples
    /// ```
    /// use evenkeel::sync::monitor::{Condition, Held, Monitor, lock_all};
    /// # evenkeel::block_on(async {
    /// let (stock, orders) = (Monitor::new(0_u32), Monitor::new(0_u32));
    /// let changed = Condition::new();
    /// let waiter = async {
    ///     let held = lock_all((&stock, &orders)).await;
    ///     let held = changed.wait(held).await;
    ///     assert_eq!(held.values(), (&5, &2));
    /// };
    /// let signaller = async {
    ///     let mut held = lock_all((&stock, &orders)).await;
    ///     *held.values_mut().0 = 5;
    ///     changed.signal(&mut held);
    ///     let (stock_held, mut orders_held) = Held::split(held);
    ///     drop(stock_held);
    ///     assert!(stock.try_enter().is_none(), "it is reserved for the waiter");
    ///     *orders_held = 2;
    /// };
    /// futures::join!(waiter, signaller);
    /// # });
    /// ```
    /// The hold cannot be used any more:
    /// ```compile_fail,E0382
    /// # use evenkeel::sync::monitor::{Held, Monitor, try_lock_all};
    /// let (one, two) = (Monitor::new(1), Monitor::new(2));
    /// let held = try_lock_all((&one, &two)).unwrap();
    /// let parts = Held::split(held);
    /// assert_eq!(held.values(), (&1, &2));
    /// ```
    pub fn split(held: Self) -> S::Parts {
        // SAFETY: the set is held, and no accept borrows the hold.
        if unsafe { reservation::reserve(held.members()) } {
            // A part of several monitors marks them anew when it is made: see `joined::part`.
            // SAFETY: the set is held, and its urgent list is empty.
            unsafe { reservation::mark(held.members(), |_| true) };
        }
        let (set, order) = held.into_members().into_parts();
        // SAFETY: the set was held, and this was its hold; the urgent list is empty.
        unsafe { set.parts(order) }
    }
}

impl<S: Set> Held<S> {
    /// Makes one hold of two. No monitor is in both, and no other task enters meanwhile.
    ///
    /// Tasks that were signalled for either set go on as after a [split](Self::split): once all of
    /// their set has been left, after the tasks that are signalled for the joined set.
    ///
    /// # Cost
    /// An allocation, and that of [`split`](Self::split) for each of the two holds.
    ///
    /// # Examples
    /// ```
    /// use evenkeel::sync::monitor::{Held, Monitor};
    /// # evenkeel::block_on(async {
    /// let (one, two, three) = (Monitor::new(1), Monitor::new("two"), Monitor::new(3));
    /// let held = Held::join(one.enter().await, two.enter().await);
    /// let held = Held::join(held, three.try_enter().unwrap());
    /// assert_eq!(held.values(), ((&1, &"two"), &3));
    /// # });
    /// ```
    pub fn join<E: Set>(held: Self, other: Held<E>) -> Held<Joined<S, E>> {
        // SAFETY: the set is held, and no accept borrows the hold.
        let continues = unsafe { reservation::reserve(held.members()) };
        // SAFETY: as above.
        let other_continues = unsafe { reservation::reserve(other.members()) };
        let (held, other) = (held.into_members(), other.into_members());
        if continues && !other_continues {
            // SAFETY: the set is held, continues no call, and its urgent list is empty.
            unsafe { reservation::clear(&other) };
        } else if other_continues && !continues {
            // SAFETY: as above.
            unsafe { reservation::clear(&held) };
        }
        let members = joined::join(held, other);
        if continues || other_continues {
            let leader = members.leader();
            // SAFETY: both sets are held, and both urgent lists are empty.
            unsafe { reservation::mark(&members, |core| core == leader) };
        }
        // SAFETY: both sets were held, and these were their holds; both urgent lists are empty.
        unsafe { Held::new(members) }
    }
}
