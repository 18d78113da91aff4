//! The life of a supervised actor, a *ward*, which can be restarted in place.
//!
//! # Roles
//! The *life* is the future of the actor's task. Its *body* is one incarnation of the actor: the
//! value and its loop. The *supervisor* gives commands through the
//! [`Post`](crate::kin::post::Post), which lies under the mailbox's lock, and receives notices. A
//! *killer* is any other thread that ends the body.
//!
//! # States
//! *Down*: there is no body. The mailbox takes messages, and no actor handles them. *Risen*: there
//! is a body.
//!
//! # Steps
//! *Rise* (supervisor): leaves the number of the start, its *term*, and wakes the life. The life
//! drops the old body, if any, calls the factory, and polls the new body. The body notifies the
//! supervisor when it has [started](crate::Actor::started).
//!
//! *Cease* (supervisor): leaves the term at the post, and an order. The body finds the order
//! between two messages and stops. A start that is still to come does not take place.
//!
//! *Raze* (killer): leaves a mark. The life drops the body at its next poll. A mark from before the
//! first start ends that start before the factory is called.
//!
//! *Withdraw* (the supervisor, when it falls, and before it starts its children anew): razes, and
//! takes back a start that the life has not found.
//!
//! *End* (life): an order to stop, from any caller, has come to an actor that is not restarted
//! after an end in order: before its body fell, or while it is down. The life ends for good,
//! whatever the supervisor does at that time; a supervisor that would start it finds it ended. An
//! actor that is restarted after each end ignores an order to stop while it is down.
//!
//! *Fall* (life): the body is over, for whatever reason, and its timers go with it. The life
//! notifies the supervisor, with the term.
//!
//! *Orphan* (the supervisor, when it ends or decides so): leaves a mark, by which the life ends for
//! good.
//!
//! # Why nothing is lost
//! The supervisor and the killer leave commands under the lock, with a flag that the life reads
//! before each poll of a body. Then they wake the task: through its berth if it is parked there,
//! through its waker otherwise. While the life is down it never parks, so only its waker wakes it,
//! and messages do not. Each notice carries the term. So the supervisor recognises a notice as late
//! if it has decided otherwise meanwhile, or has itself been restarted.
//!
//! # Rejected
//! A new task and mailbox for each start, behind one reference: an additional step for each
//! message, for all actors.
//!
//! A decision by the failing child itself, under a lock of the family: it needs no turn of the
//! supervisor. But the other children have to be stopped, waited for and started in order, which
//! needs a task that does so.

#![allow(unsafe_code, reason = "each incarnation gets a new receiver")]

use super::end;
use super::poll::poll;
use crate::kin::order::Order;
use crate::kin::peer::Peer;
use crate::mailbox::{Mailbox, Receiver, attend, note};
use crate::trace::{self, Called};
use crate::words::event::{Event, Notice, NoticeKind};
use crate::words::exit::ExitReason;
use evenkeel::internal::{Own, Public, detect};
use std::future::Future;
use std::marker::PhantomData;
use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::task::{Context, Poll};

fn send(notice: Option<(Peer, Notice)>) {
    if let Some((peer, notice)) = notice {
        peer.event(Event::Notice(notice));
    }
}

/// Notifies the supervisor that the body has started.
pub(crate) fn begun<M: Send + 'static>(own: &Mailbox<M>) {
    let notice = note(own, |kin, _| {
        let post = kin.post.as_ref()?;
        post.notice(NoticeKind::Started { term: post.term })
    });
    send(notice.ok().flatten());
}

pin_project_lite::pin_project! {
    /// The future of the task of a supervised actor of type `A`.
    pub(crate) struct Ward<A, M, G, B>
    where
        M: Send,
        M: 'static,
    {
        #[pin]
        body: Option<B>,
        make: G,
        // Whether there has been a body.
        risen: bool,
        // The reason for which the last body was over.
        last: ExitReason,
        // None once the life has ended.
        own: Option<Public<Mailbox<M>>>,
        actor: PhantomData<fn() -> A>,
    }

    impl<A, M, G, B> PinnedDrop for Ward<A, M, G, B>
    where
        M: Send,
        M: 'static,
    {
        fn drop(this: Pin<&mut Self>) {
            let mut this = this.project();
            let Some(own) = this.own.take() else { return };
            let entered = own.system().enter();
            let dropped = catch_unwind(AssertUnwindSafe(|| this.body.set(None)));
            drop(entered);
            if let Err(payload) = dropped {
                end::report::<A, M>(&own, None, &Called::of(&own), end::panicked(payload));
            }
            // SAFETY: this is the life, and the body is gone.
            unsafe { end::end::<A, M>(&own, ExitReason::Killed) };
        }
    }
}

impl<A, M, G, B> Ward<A, M, G, B>
where
    M: Send + 'static,
    G: FnMut(Receiver<M>) -> B,
    B: Future<Output = ExitReason>,
{
    pub(crate) fn new(own: Public<Mailbox<M>>, make: G) -> Self {
        let last = ExitReason::Killed;
        Self { body: None, make, risen: false, last, own: Some(own), actor: PhantomData }
    }
}

/// What the life finds at its post while it is down.
struct Found {
    rise: bool,
    /// The start that is to come is over before it begins: its supervisor has ordered it to stop,
    /// or it was killed.
    over: Option<ExitReason>,
    orphaned: bool,
    /// The actor has been told to stop, and ends by that.
    told: bool,
}

/// Returns the reason if the life has to drop the body.
fn look_risen<M: Send + 'static>(own: &Mailbox<M>) -> Option<ExitReason> {
    let drops = attend(own, |kin, _| {
        let post = kin.post.as_mut()?;
        let raze = mem::take(&mut post.raze);
        let drops = raze || post.rise.is_some() || post.orphaned;
        drops.then(|| kin.verdict.take().unwrap_or(ExitReason::Killed))
    });
    drops.ok().flatten()
}

/// Returns the commands to a life without a body. If it has to rise, the post has the term of the
/// new start when this returns: later commands are for that start.
fn look_down<M: Send + 'static>(own: &Public<Mailbox<M>>, context: &Context<'_>) -> Option<Found> {
    let waker = context.waker().clone();
    let found = attend(own, |kin, orders| {
        let spare = match &kin.waker {
            Some(_) => Some(waker),
            None => kin.waker.replace(waker),
        };
        kin.kept.get_or_insert_with(|| detect::Kept::of(|| own.task_id()));
        let orders = mem::take(orders);
        let post = kin.post.as_mut()?;
        let told = post.ends && orders.iter().any(Order::is_stop);
        let rise = post.rise.take();
        // Without a start to come there is nothing to kill.
        let is_killed = post.take_raze() && rise.is_some();
        let verdict = kin.verdict.take_if(|_| post.supervisor.is_some());
        let (mut left, mut over) = (None, None);
        if let Some(term) = rise {
            post.term = term;
            if post.cease == rise {
                over = Some(ExitReason::Normal);
            } else if is_killed {
                over = Some(verdict.clone().unwrap_or(ExitReason::Killed));
            }
            kin.traps = false;
            kin.first_child = kin.next_child;
            kin.stopping = false;
            left = Some((mem::take(&mut kin.watching), kin.alarm.take()));
        }
        let found = Found { rise: rise.is_some(), over, orphaned: post.orphaned, told };
        Some((found, (orders, verdict, left, spare)))
    });
    // The rest is dropped here, outside of the lock.
    found.ok().flatten().map(|(found, _rest)| found)
}

impl<A, M, G, B> Future for Ward<A, M, G, B>
where
    M: Send + 'static,
    G: FnMut(Receiver<M>) -> B,
    B: Future<Output = ExitReason>,
{
    type Output = ();

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        let mut this = self.project();
        let Some(own) = this.own.as_ref() else { return Poll::Ready(()) };
        loop {
            let reason = if let Some(body) = this.body.as_mut().as_pin_mut() {
                let killed = if own.is_due() { look_risen(own) } else { None };
                match killed {
                    Some(reason) => reason,
                    None => match poll(own, body, context) {
                        Ok(Poll::Pending) => return Poll::Pending,
                        Ok(Poll::Ready(reason)) => reason,
                        Err(payload) => end::panicked(payload),
                    },
                }
            } else {
                let Some(found) = look_down(own, context) else { return Poll::Ready(()) };
                if found.orphaned {
                    break;
                }
                if found.told {
                    *this.last = ExitReason::Normal;
                    break;
                }
                if !found.rise {
                    return Poll::Pending;
                }
                if let Some(reason) = found.over {
                    let told;
                    (*this.last, told) = fall::<A, M>(own, reason);
                    if told {
                        break;
                    }
                    continue;
                }
                // SAFETY: the life holds the reference. The address is in its body, which is gone
                // before the reference is.
                let address = unsafe { Own::of(own) };
                // SAFETY: the receiver of the last body is gone.
                let receiver = unsafe { Receiver::new(address) };
                let make = &mut this.make;
                let entered = own.system().enter();
                let made = catch_unwind(AssertUnwindSafe(|| make(receiver)));
                drop(entered);
                match made {
                    Ok(body) => {
                        this.body.set(Some(body));
                        if mem::replace(this.risen, true) {
                            trace::restarted::<A>(own, own.note_restart());
                        }
                        continue;
                    }
                    Err(payload) => end::panicked(payload),
                }
            };
            let entered = own.system().enter();
            let dropped = catch_unwind(AssertUnwindSafe(|| this.body.set(None)));
            let mut reason = dropped.map_or_else(end::panicked, |()| reason);
            // The next body does not get the messages of this one's timers.
            if let Some(mut timers) = own.take_timers() {
                timers.clear(|payload| reason = end::panicked(payload));
            }
            drop(entered);
            let told;
            (*this.last, told) = fall::<A, M>(own, reason);
            if told {
                break;
            }
        }
        let last = this.last.clone();
        if let Some(own) = this.own.take() {
            // SAFETY: this is the life, and the body is gone.
            unsafe { end::end::<A, M>(&own, last) };
        }
        Poll::Ready(())
    }
}

/// Handles the end of a body: ends its children, and notifies the supervisor. Returns the reason as
/// other actors see it, and whether an order to stop ends the actor for good: then the supervisor
/// is told when it has ended.
fn fall<A, M: Send + 'static>(own: &Public<Mailbox<M>>, reason: ExitReason) -> (ExitReason, bool) {
    let shut = own.is_shut();
    let fallen = note(own, |kin, orders| {
        let told = shut || orders.iter().any(Order::is_stop);
        let dropped = mem::take(orders);
        let children = mem::take(&mut kin.children);
        let name = kin.name.clone();
        let reason = if told { ExitReason::Normal } else { reason.clone() };
        let post = kin.post.as_ref();
        let told = told && post.is_some_and(|post| post.ends);
        let notice = post.filter(|_| !told).and_then(|post| {
            let kind = NoticeKind::Fell { term: post.term, reason: reason.clone() };
            post.notice(kind)
        });
        let wards: Vec<_> = kin.wards.values().cloned().collect();
        (dropped, children, wards, name, (reason, told), notice)
    });
    let Ok((dropped, children, wards, name, outward, notice)) = fallen else {
        return (reason, false);
    };
    if !outward.1 {
        // Messages wait for the next start, also after an order to stop.
        own.reopen();
    }
    drop(dropped);
    for child in children.into_values().rev() {
        child.control().orphan();
    }
    for ward in wards.iter().rev() {
        ward.control().withdraw();
    }
    if reason.is_failure() {
        end::report::<A, M>(own, name, &Called::of(own), reason);
    }
    send(notice);
    outward
}
