//! Extending a hold: entering more monitors while some are held.
//!
//! # Why no circle of holders comes about
//! An entrant of a set waits for its monitors by address, with the lower ones held. An extension
//! does the same: it waits only for monitors that come after all monitors of the hold. The others
//! it takes if they are free; if not, it refuses. So each entrant and each extension waits for a
//! monitor above those that it has, and they cannot form a circle. A [`reservation`] breaks that
//! order, since it keeps cores while it waits for lower ones. The cores that it waits for are parts
//! of a split hold, so an extension of such a part does not wait at all.
//!
//! An extension does not consider other holds that its task has *beside* the extended one. If these
//! close a circle, [`detect`](crate::detect) reports it.
//!
//! # Why nothing is lost
//! The future owns the hold, and an entry of the other set, which has its own proof. When it is
//! dropped, it drops both. When it refuses, it gives the hold back.
//!
//! # Rejected
//! Leaving everything and entering the whole set in order: other tasks may be inside in between, so
//! this is a function of its own, [`Refused::leave_and_enter_all`]. An extension that borrows the
//! hold: the order of a second one beside it would not be known, and a wait in the larger set would
//! leave a hold that holds nothing.

#![allow(unsafe_code, reason = "an entry is pinned in these futures")]

use super::cores::{CoreRef, Cores};
use super::enter::Enter;
use super::held::Held;
use super::joined::Joined;
use super::members::Members;
use super::node::Op;
use super::refused::{Refused, Why};
use super::reservation;
use super::set::Set;
use crate::task::budget::Unit;
use std::cmp::Ordering;
use std::fmt;
use std::future::Future;
use std::panic::Location;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

/// The future of [`Held::extend`], which has examples.
///
/// # Cancel safety
/// It owns the hold, which is lost with it. When it is dropped, it leaves the queue where it waits,
/// the monitors that it has been given, and the hold. To get the hold back, limit the extension by
/// [`Held::extend_until`].
///
/// # Panics
/// If it is polled again after its end.
#[must_use = "futures do nothing unless awaited, and this one has the hold"]
pub struct Extend<S: Set, E: Set> {
    /// `Some` while `held` is.
    enter: Option<Enter<E>>,
    /// `Some` until the future is ready.
    held: Option<Held<S>>,
    begun: bool,
    unit: Unit,
    at: &'static Location<'static>,
}

/// The future of [`Held::extend_until`], which has an example.
///
/// # Cancel safety
/// As [`Extend`]. Its `until` is dropped with it, or before it returns the hold.
///
/// # Panics
/// As [`Extend`].
#[must_use = "futures do nothing unless awaited, and this one has the hold"]
pub struct ExtendUntil<S: Set, E: Set, U> {
    extend: Extend<S, E>,
    /// `None` once the extension is over.
    until: Option<U>,
}

/// The outcome of an extension.
type Outcome<S, E> = Result<Held<Joined<S, E>>, Refused<S, E>>;

impl<S: Set> Held<S> {
    /// Enters more monitors without leaving those that are held, and returns a hold of all of them,
    /// as a nested mutual exclusion of a superset would.
    ///
    /// It waits for monitors that come after all monitors of the hold, by address, and takes the
    /// others if they are free. If one of the others is taken, it refuses and gives the hold back:
    /// to wait could close a circle. So whether it waits or refuses depends on the monitors'
    /// addresses, and a caller always has to handle [`Refused`]. Monitors in one array or structure
    /// are ordered by their position there.
    ///
    /// Tasks that were signalled under the hold go on once the hold's monitors are left, after
    /// those that are signalled under the larger hold. If the hold is an accepted call, its
    /// acceptor goes on then.
    ///
    /// [`split`](Self::split) divides the hold again: `let (held, more) = Held::split(held)`.
    ///
    /// # Errors
    /// [`Refused`], with the unchanged hold: if a monitor is taken and waiting for it is not
    /// allowed ([`Why::Order`], [`Why::Reserved`]), or if it is in the hold already
    /// ([`Why::Twice`]).
    ///
    /// # Panics
    /// As [`lock_all`](super::lock_all), for `set` alone. The hold is dropped then.
    ///
    /// # Cancel safety
    /// See [`Extend`].
    ///
    /// # Cost
    /// An entry, an allocation for the order of all monitors, and that of [`split`](Self::split) if
    /// tasks have been signalled.
    ///
    /// # Examples
    /// Along a list, hand over hand: no task overtakes.
    /// ```
    /// use evenkeel::sync::monitor::{Held, Monitor};
    /// # evenkeel::block_on(async {
    /// let cells = [1, 2, 3].map(Monitor::new);
    /// let mut held = cells[0].enter().await;
    /// for next in &cells[1..] {
    ///     let both = Held::extend(held, next).await.expect("they come in order");
    ///     let (before, here) = Held::split(both);
    ///     drop(before);
    ///     held = here;
    /// }
    /// assert_eq!(*held, 3);
    /// # });
    /// ```
    /// A wait in the larger set leaves all of it:
    /// ```
    /// use evenkeel::sync::monitor::{Condition, Held, Monitor, lock_all};
    /// # evenkeel::block_on(async {
    /// let [queue, log] = [0, 0].map(Monitor::new);
    /// let logged = Condition::new();
    /// let waiter = async {
    ///     let held = queue.enter().await;
    ///     // No other task is inside, so it is not refused.
    ///     let held = Held::extend(held, &log).await.unwrap();
    ///     assert_eq!(logged.wait(held).await.values(), (&0, &1));
    /// };
    /// let signaller = async {
    ///     let mut held = lock_all((&queue, &log)).await;
    ///     *held.values_mut().1 = 1;
    ///     logged.signal(&mut held);
    /// };
    /// futures::join!(waiter, signaller);
    /// # });
    /// ```
    /// The smaller hold cannot be used meanwhile:
    /// ```compile_fail,E0382
    /// # use evenkeel::sync::monitor::{Held, Monitor};
    /// # async fn example(one: &Monitor<u32>, two: &Monitor<u32>) {
    /// let held = one.enter().await;
    /// let extend = Held::extend(held, two);
    /// assert_eq!(*held, 0);
    /// # drop(extend.await);
    /// # }
    /// ```
    #[track_caller]
    pub fn extend<E: Set>(held: Self, set: E) -> Extend<S, E> {
        Extend {
            enter: Some(Enter::new(set, Op::NONE)),
            held: Some(held),
            begun: false,
            unit: Unit::NEW,
            at: Location::caller(),
        }
    }

    /// Extends as [`extend`](Self::extend) does, until `until` is ready: then it gives the hold
    /// back, with [`Why::Late`].
    ///
    /// # Errors
    /// As [`extend`](Self::extend), and [`Why::Late`].
    ///
    /// # Panics
    /// As [`extend`](Self::extend).
    ///
    /// # Examples
    /// ```
    /// use evenkeel::sync::monitor::{Held, Monitor, Why};
    /// use evenkeel::time::{Duration, sleep};
    ///
    /// let monitors = [0, 0].map(Monitor::new);
    /// evenkeel::Runtime::new().unwrap().block_on(async {
    ///     let other = monitors[1].enter().await;
    ///     let held = monitors[0].enter().await;
    ///     let until = sleep(Duration::from_millis(2));
    ///     let refused = Held::extend_until(held, &monitors[1], until).await.unwrap_err();
    ///     assert_eq!(refused.why(), Why::Late);
    ///     *refused.into_held() += 1;
    ///     drop(other);
    /// });
    /// ```
    #[track_caller]
    pub fn extend_until<E: Set, U: Future<Output = ()>>(
        held: Self,
        set: E,
        until: U,
    ) -> ExtendUntil<S, E, U> {
        ExtendUntil { extend: Self::extend(held, set), until: Some(until) }
    }

    /// Extends the hold if those monitors are free, without waiting.
    ///
    /// # Errors
    /// [`Refused`], with the unchanged hold: if one of them is taken ([`Why::Taken`]), or the hold
    /// has one of them ([`Why::Twice`]).
    ///
    /// # Panics
    /// As [`extend`](Self::extend).
    ///
    /// # Examples
    /// ```
    /// use evenkeel::sync::monitor::{Held, Monitor, Why};
    /// let (one, two) = (Monitor::new(1), Monitor::new(2));
    /// let held = Held::try_extend(one.try_enter().unwrap(), &two).unwrap();
    /// assert_eq!(held.values(), (&1, &2));
    /// let refused = Held::try_extend(held, &one).unwrap_err();
    /// assert_eq!(refused.why(), Why::Twice);
    /// ```
    #[track_caller]
    pub fn try_extend<E: Set>(held: Self, set: E) -> Outcome<S, E> {
        let at = Location::caller();
        if overlap(held.members(), &Members::new(set.clone())) {
            return Err(Refused::new(held, set, Why::Twice, at));
        }
        match super::try_lock_all(set.clone()) {
            Some(more) => Ok(Self::join(held, more)),
            None => Err(Refused::new(held, set, Why::Taken, at)),
        }
    }
}

/// Whether a monitor is in both sets.
fn overlap<S: Set, E: Set>(one: &Members<S>, other: &Members<E>) -> bool {
    let (mut place, mut its_place) = (S::place(), E::place());
    let (one, other) = (one.cores(&mut place), other.cores(&mut its_place));
    let (mut here, mut there) = (0, 0);
    while here < one.len() && there < other.len() {
        match one.get(here).cmp(&other.get(there)) {
            Ordering::Less => here += 1,
            Ordering::Greater => there += 1,
            Ordering::Equal => return true,
        }
    }
    false
}

/// The last core of a set, by address.
fn last<S: Set>(members: &Members<S>) -> CoreRef {
    let mut place = S::place();
    let cores: Cores<'_> = members.cores(&mut place);
    cores.get(cores.len() - 1)
}

impl<S: Set, E: Set> Extend<S, E> {
    /// Takes the cores that it must not wait for.
    fn begin(&mut self) -> Result<(), Why> {
        let held = self.held.as_ref().expect(OVER).members();
        let enter = self.enter.as_mut().expect(OVER);
        if overlap(held, enter.members()) {
            return Err(Why::Twice);
        }
        // SAFETY: the set is held.
        if unsafe { reservation::is_part(held) } {
            return if enter.try_before(None) { Ok(()) } else { Err(Why::Reserved) };
        }
        if enter.try_before(Some(last(held))) { Ok(()) } else { Err(Why::Order) }
    }

    /// Gives up, and gives the hold back.
    fn refuse(self: Pin<&mut Self>, why: Why) -> Refused<S, E> {
        // SAFETY: the entry is dropped where it is, and nothing else is pinned.
        let this = unsafe { self.get_unchecked_mut() };
        let set = this.enter.as_ref().expect(OVER).members().set().clone();
        this.enter = None;
        Refused::new(this.held.take().expect(OVER), set, why, this.at)
    }
}

const OVER: &str = "a future of a monitor is polled again after it has returned its hold";

impl<S: Set, E: Set> Future for Extend<S, E> {
    type Output = Outcome<S, E>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Outcome<S, E>> {
        // SAFETY: nothing that is pinned is moved.
        let this = unsafe { self.as_mut().get_unchecked_mut() };
        if !this.begun {
            // Before it takes anything.
            ready!(this.unit.poll(context.waker()));
            this.begun = true;
            if let Err(why) = this.begin() {
                return Poll::Ready(Err(self.refuse(why)));
            }
        }
        let enter = this.enter.as_mut().expect(OVER);
        // SAFETY: pinned with this.
        let Poll::Ready(more) = unsafe { Pin::new_unchecked(enter) }.poll(context) else {
            return Poll::Pending;
        };
        this.enter = None;
        let held = this.held.take().expect(OVER);
        Poll::Ready(Ok(Held::join(held, more)))
    }
}

impl<S: Set, E: Set, U: Future<Output = ()>> Future for ExtendUntil<S, E, U> {
    type Output = Outcome<S, E>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Outcome<S, E>> {
        // SAFETY: nothing that is pinned is moved.
        let this = unsafe { self.get_unchecked_mut() };
        // SAFETY: pinned with this.
        let mut extend = unsafe { Pin::new_unchecked(&mut this.extend) };
        // SAFETY: pinned with this.
        let mut until = unsafe { Pin::new_unchecked(&mut this.until) };
        let mut outcome = extend.as_mut().poll(context);
        if outcome.is_pending()
            && until.as_mut().as_pin_mut().is_some_and(|until| until.poll(context).is_ready())
        {
            outcome = Poll::Ready(Err(extend.refuse(Why::Late)));
        }
        if outcome.is_ready() {
            // If its destructor panics, the hold ends here; it would be lost if the limit were
            // dropped with this future, after the hold was returned.
            until.set(None);
        }
        outcome
    }
}

impl<S: Set, E: Set> fmt::Debug for Extend<S, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Extend").finish_non_exhaustive()
    }
}

impl<S: Set, E: Set, U> fmt::Debug for ExtendUntil<S, E, U> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ExtendUntil").finish_non_exhaustive()
    }
}
