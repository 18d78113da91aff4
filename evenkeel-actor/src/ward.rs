//! The life of a supervised actor: it can be started again in place.
//!
//! # Roles
//! The *life* is the future of the actor's task. Its *body* is one incarnation of the actor: the value and its loop. The *supervisor* commands by
//! the [`Post`], which lies under the mailbox's lock, and is told by notices.
//!
//! # States
//! *Down*: there is no body; the mailbox takes messages, nobody handles them. *Risen*: there is one.
//!
//! # Steps
//! *Rise* (supervisor): leaves the number of the start, its *term*, and wakes the life. The life drops a body that is there still, calls the factory, and polls the new body,
//! which tells the supervisor when it has [started](crate::Actor::started). *Cease* (supervisor): an order with the term, which the body meets between two messages and
//! stops. *Raze* (whoever kills): a mark, by which the life drops the body at its next poll. *Fall* (life): the body is over, for whatever reason; the
//! supervisor is told, with the term. *Orphan* (the supervisor's end, or its decision): a mark, by which the life ends for good.
//!
//! # Why nothing is lost
//! Commands are left under the lock, with a flag that the life looks at before each poll of a body, and the task is then woken: by its berth if it is parked there,
//! by its waker otherwise. While the life is down it never parks, so it is woken by its waker alone, and messages do not wake it. What it tells carries the term, so what comes late, after the
//! supervisor has decided otherwise or has itself been started again, is known as late.
//!
//! # Rejected
//! A new task and mailbox for each start, behind one reference: a step more on the way of each message, for all actors. A decision by the failing child itself, under a lock
//! of the family: no turn of the supervisor is needed, but stopping others, waiting for them and starting them in order needs somebody whose task that is.

#![allow(unsafe_code, reason = "each incarnation gets the receiver anew")]

use crate::end;
use crate::event::{Event, Notice, NoticeKind};
use crate::exit::ExitReason;
use crate::kin::peer::Peer;
use crate::mailbox::{Mailbox, Order, Receiver, attend, note};
use evenkeel::internal::{Own, Public};
use std::collections::VecDeque;
use std::future::Future;
use std::marker::PhantomData;
use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::task::{Context, Poll};

/// What a supervised actor is told by its supervisor, and by those that kill it.
#[derive(Default)]
pub(crate) struct Post {
    /// The present start.
    pub(crate) term: u64,
    /// Who is told, and as which child.
    pub(crate) supervisor: Option<(Peer, usize)>,
    /// The next start.
    pub(crate) rise: Option<u64>,
    /// The body is to be dropped.
    pub(crate) raze: bool,
    /// The life is to end.
    pub(crate) orphaned: bool,
}

impl Post {
    fn notice(&self, kind: NoticeKind) -> Option<(Peer, Notice)> {
        let (peer, index) = self.supervisor.as_ref()?;
        Some((peer.clone(), Notice { index: *index, kind }))
    }
}

fn send(notice: Option<(Peer, Notice)>) {
    if let Some((peer, notice)) = notice {
        peer.event(Event::Notice(notice));
    }
}

/// What a body calls when it has started.
pub(crate) fn begun<M: Send + 'static>(own: &Mailbox<M>) {
    let notice = note(own, |kin, _| {
        let post = kin.post.as_ref()?;
        post.notice(NoticeKind::Started { term: post.term })
    });
    send(notice.ok().flatten());
}

/// Whether the actor has been told to stop.
fn is_stop(order: &Order) -> bool {
    matches!(order, Order::Stop | Order::Drain)
}

pin_project_lite::pin_project! {
    /// The future of the task of a supervised actor of type `A`.
    pub(crate) struct Ward<A, M: Send, G, B>
    where
        M: 'static,
    {
        #[pin]
        body: Option<B>,
        make: G,
        // Why the last body was over.
        last: ExitReason,
        // None once it has ended.
        own: Option<Public<Mailbox<M>>>,
        actor: PhantomData<fn() -> A>,
    }

    impl<A, M: Send, G, B> PinnedDrop for Ward<A, M, G, B>
    where
        M: 'static,
    {
        fn drop(this: Pin<&mut Self>) {
            let mut this = this.project();
            let Some(own) = this.own.take() else { return };
            if let Err(payload) = catch_unwind(AssertUnwindSafe(|| this.body.set(None))) {
                end::report::<A, M>(&own, None, end::panicked(payload));
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
        Self { body: None, make, last, own: Some(own), actor: PhantomData }
    }
}

/// What the life finds at its post.
struct Found {
    rise: Option<u64>,
    raze: bool,
    orphaned: bool,
    verdict: Option<ExitReason>,
    /// It was told to stop while it was down.
    stop: bool,
    /// To be dropped outside of the lock.
    _orders: VecDeque<Order>,
}

fn look<M: Send + 'static>(own: &Mailbox<M>, down: bool, context: &Context<'_>) -> Option<Found> {
    let waker = context.waker().clone();
    let found = attend(own, |kin, orders| {
        let spare = match &kin.waker {
            Some(_) => Some(waker),
            None => kin.waker.replace(waker),
        };
        let post = kin.post.as_mut()?;
        let raze = mem::take(&mut post.raze);
        let down = down || raze || post.rise.is_some();
        let orders = if down { mem::take(orders) } else { VecDeque::new() };
        let found = Found {
            rise: post.rise.take(),
            raze,
            orphaned: post.orphaned,
            verdict: if down { kin.verdict.take() } else { None },
            stop: orders.iter().any(is_stop),
            _orders: orders,
        };
        Some((found, spare))
    });
    found.ok().flatten().map(|(found, _spare)| found)
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
            let down = this.body.is_none();
            if down || own.is_due() {
                let Some(found) = look(own, down, context) else { return Poll::Ready(()) };
                if !down && (found.raze || found.rise.is_some() || found.orphaned) {
                    let dropped = catch_unwind(AssertUnwindSafe(|| this.body.set(None)));
                    let killed = found.verdict.clone().unwrap_or(ExitReason::Killed);
                    let reason = dropped.map_or_else(end::panicked, |()| killed);
                    *this.last = fall::<A, M>(own, reason, found.stop);
                }
                if found.orphaned {
                    break;
                }
                if let Some(term) = found.rise {
                    let draws = rise(own, term);
                    if found.stop && down {
                        // It was told to stop before it could start.
                        *this.last = fall::<A, M>(own, ExitReason::Normal, true);
                    } else {
                        // SAFETY: the life has the reference, and what is made of it is in its body, which is gone before.
                        let own = unsafe { Own::of(own) };
                        // SAFETY: the receiver of the last body is gone.
                        let receiver = unsafe { Receiver::new(own) };
                        let make = &mut this.make;
                        match catch_unwind(AssertUnwindSafe(|| make(receiver))) {
                            Ok(body) => this.body.set(Some(body)),
                            Err(payload) => {
                                let own = this.own.as_ref().expect("it has not ended");
                                *this.last = fall::<A, M>(own, end::panicked(payload), false);
                            }
                        }
                    }
                    drop(draws);
                } else if down && found.stop {
                    *this.last = fall::<A, M>(own, ExitReason::Normal, true);
                }
            }
            let Some(body) = this.body.as_mut().as_pin_mut() else { return Poll::Pending };
            let reason = match catch_unwind(AssertUnwindSafe(|| body.poll(context))) {
                Ok(Poll::Pending) => return Poll::Pending,
                Ok(Poll::Ready(reason)) => reason,
                Err(payload) => end::panicked(payload),
            };
            let dropped = catch_unwind(AssertUnwindSafe(|| this.body.set(None)));
            let reason = dropped.map_or_else(end::panicked, |()| reason);
            *this.last = fall::<A, M>(own, reason, false);
        }
        let last = this.last.clone();
        if let Some(own) = this.own.take() {
            // SAFETY: this is the life, and the body is gone.
            unsafe { end::end::<A, M>(&own, last) };
        }
        Poll::Ready(())
    }
}

/// A body is about to be made: it begins without what the last one has watched. Gives what that leaves, to be dropped.
fn rise<M: Send + 'static>(own: &Mailbox<M>, term: u64) -> impl Sized + use<M> {
    own.reopen();
    note(own, |kin, orders| {
        kin.traps = false;
        kin.first_child = kin.next_child;
        kin.stopping = false;
        if let Some(post) = &mut kin.post {
            post.term = term;
        }
        let left = (mem::take(orders), mem::take(&mut kin.watching), kin.verdict.take());
        (left, kin.alarm.take())
    })
}

/// A body is over: its children end, and the supervisor is told. Gives why, as far as others are concerned.
fn fall<A, M: Send + 'static>(
    own: &Public<Mailbox<M>>,
    reason: ExitReason,
    told: bool,
) -> ExitReason {
    let shut = own.is_shut();
    let fallen = note(own, |kin, orders| {
        let told = told || shut || orders.iter().any(is_stop) || reason.is_normal();
        let dropped = mem::take(orders);
        let children = mem::take(&mut kin.children);
        let name = kin.name.clone();
        let reason = if told { ExitReason::Normal } else { reason.clone() };
        let post = kin.post.as_ref();
        let notice = post.and_then(|post| {
            let kind = NoticeKind::Fell { term: post.term, reason: reason.clone() };
            post.notice(kind)
        });
        let wards: Vec<_> = kin.wards.values().cloned().collect();
        (dropped, children, wards, name, reason, notice)
    });
    let Ok((dropped, children, wards, name, outward, notice)) = fallen else { return reason };
    drop(dropped);
    for child in children.into_values().rev() {
        child.control().orphan();
    }
    for ward in wards.iter().rev() {
        ward.control().raze();
    }
    if reason.is_failure() {
        end::report::<A, M>(own, name, reason);
    }
    send(notice);
    outward
}
