//! Operations on an actor of this process.

use super::{peer, steps};
use crate::kin::control::Control;
use crate::kin::order::Order;
use crate::kin::peer::Peer;
use crate::kin::stopped::Stopped;
use crate::kin::witness::Witness;
use crate::mailbox::{self, Mailbox, tell};
use crate::words::exit::ExitReason;
use crate::words::id::{ActorId, HasId};
use crate::words::metrics::ActorMetrics;
use evenkeel::internal::Public;
#[cfg(feature = "tracing")]
use std::sync::Arc;

impl<M: Send + 'static> Control for Public<Mailbox<M>> {
    fn id(&self) -> ActorId {
        HasId::id(self)
    }

    fn order(&self, order: Order) -> bool {
        mailbox::order(self, order)
    }

    fn kill(&self) {
        steps::kill(self);
    }

    fn is_stopped(&self) -> bool {
        Mailbox::is_closed(self)
    }

    fn metrics(&self) -> ActorMetrics {
        Mailbox::metrics(self)
    }

    fn peer(&self) -> Option<Peer> {
        peer::of(self)
    }

    fn watch(&self, witness: Witness) -> Result<(), ExitReason> {
        steps::watch(self, witness)
    }

    fn unwatch(&self, by: ActorId) {
        steps::unwatch(self, by);
    }

    fn link(&self, id: ActorId, peer: Peer) -> Result<(), ExitReason> {
        steps::link(self, id, peer)
    }

    fn stopped(&self) -> Stopped {
        steps::stopped(self)
    }

    fn orphan(&self) {
        let orphaned = tell(self, |kin, _| match &mut kin.post {
            Some(post) => {
                post.orphaned = true;
                true
            }
            None => false,
        });
        if matches!(orphaned, Ok(false)) {
            self.abort();
        }
    }

    fn rise(&self, term: u64, supervisor: Peer, index: usize) -> bool {
        let before =
            tell(self, |kin, _| kin.post.as_mut().map(|post| post.rise(term, (supervisor, index))));
        before.is_ok()
    }

    fn dismiss(&self, supervisor: Peer, index: usize) -> bool {
        let before = tell(self, |kin, _| {
            let post = kin.post.as_mut()?;
            post.orphaned = true;
            post.supervisor.replace((supervisor, index))
        });
        before.is_ok()
    }

    #[cfg(feature = "tracing")]
    fn call(&self, name: &Arc<str>, has: bool) {
        let before = mailbox::note(self, |kin, _| match &kin.registered {
            _ if has => kin.registered.replace(name.clone()),
            Some(last) if last == name => kin.registered.take(),
            _ => None,
        });
        drop(before);
    }

    fn cease(&self, term: u64) {
        let _ = tell(self, |kin, orders| {
            orders.push_back(Order::Cease);
            kin.post.as_mut().map(|post| post.cease = Some(term))
        });
    }

    fn raze(&self) {
        let _ = tell(self, |kin, _| kin.post.as_mut().map(|post| post.raze = true));
    }

    fn withdraw(&self) {
        let _ = tell(self, |kin, _| kin.post.as_mut().map(|post| post.withdraw()));
    }
}
