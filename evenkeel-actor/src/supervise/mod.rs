//! Supervisors: actors that start other actors, start them anew when they fail, and give up when
//! that does not help.
//!
//! What a supervisor decides is in [`policy::tree`](crate::policy::tree); how a child is started in
//! place, in [`ward`](crate::life::ward). Here the decisions are carried out. The *table* has the
//! children; it outlives a restart of the supervisor itself, and the children's references do.

mod builder;
mod child;
mod reference;

pub use builder::SupervisorBuilder;
pub use child::{Child, ChildInfo};
pub use reference::{Command, SupervisorRef};

use crate::actor::context::Context;
use crate::actor::{Actor, Handled};
use crate::kin::order::Order;
use crate::kin::peer::Alarm;
use crate::mailbox::note;
use crate::policy::intensity::Limit;
use crate::policy::restart::Strategy;
use crate::policy::tree::{Phase, Step, Tree};
use crate::words::event::{Event, Notice, NoticeKind};
use crate::words::exit::{ExitReason, Failure};
use child::Row;
use evenkeel::time::{Duration, Instant};
use std::collections::BTreeMap;
use std::error::Error;
use std::fmt;
use std::future::poll_fn;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{self, Poll};

/// An actor that starts its children, in order, and starts them anew when they end otherwise than
/// they should.
///
/// A restart is *in place*: the child's value is dropped and a new one comes from its factory, but
/// its references stay valid and its mailbox is kept. Only the message on which it failed is lost.
/// Meanwhile messages wait.
///
/// Which children are started anew is said by the [`Strategy`] of the supervisor and the
/// [`Restart`](crate::Restart) of the child. If there are more restarts than its
/// [intensity](SupervisorBuilder::intensity) admits, the supervisor stops all its children and
/// fails, with [`Escalated`]; its own supervisor then decides. Supervisors in supervisors make a
/// tree.
///
/// A supervisor that [stops](SupervisorRef::stop) stops its children, the last first, each after
/// its present message; one that takes longer than its [`shutdown`](Child::shutdown) is killed. A
/// supervisor that is killed takes its children with it at once.
///
/// [`kill`](crate::ActorRef::kill), [`stop`](crate::ActorRef::stop) and failures of links end a
/// child as its own failure or decision would, so that a permanent one is started anew; to be rid
/// of a child, [remove](SupervisorRef::remove) it.
///
/// Each failure is told to the [observer](crate::System::on_failure) of the child's system,
/// whatever is decided.
///
/// The strategies, kinds and the intensity are those of Erlang/OTP; that a restart keeps the
/// mailbox and the references is Akka's.
///
/// # Examples
/// ```
/// use evenkeel_actor::{Actor, ActorRef, Child, Context, Handled, ReplyTo, Restart, Supervisor, System};
///
/// struct Divider;
///
/// enum Message {
///     Divide(u32, u32, ReplyTo<u32>),
/// }
///
/// impl Actor for Divider {
///     type Message = Message;
///
///     async fn handle(&mut self, message: Message, _context: &mut Context<Self>) -> Handled {
///         let Message::Divide(a, b, reply) = message;
///         reply.send(a / b);
///         Ok(())
///     }
/// }
///
/// let runtime = evenkeel::Runtime::new().unwrap();
/// runtime.block_on(async {
///     System::current().on_failure(|failure| eprintln!("{failure}"));
///     let mut tree = Supervisor::one_for_one();
///     let divider: ActorRef<Message> =
///         tree.child(Child::new("divider", || Divider).restart(Restart::Transient));
///     let tree = tree.spawn();
///
///     assert!(divider.ask(|reply| Message::Divide(1, 0, reply)).await.is_err());
///     // The same reference: it has been started anew.
///     assert_eq!(divider.ask(|reply| Message::Divide(6, 3, reply)).await, Ok(2));
///
///     tree.stop();
///     assert!(tree.stopped().await.is_normal());
///     assert!(divider.is_stopped());
/// });
/// ```
pub struct Supervisor {
    table: Arc<Table>,
    tree: Tree,
    /// The children that this incarnation knows, each with the alarm that is set for it.
    alarms: BTreeMap<usize, Option<Alarm>>,
    /// The child that has ended once too often, and why.
    culprit: Option<(Arc<str>, ExitReason)>,
    began: Instant,
}

/// What outlives a restart of a supervisor. A child that is gone is in it no more, so that a
/// supervisor which is given child after child does not grow.
#[derive(Debug)]
pub(crate) struct Table {
    strategy: Strategy,
    limit: Limit,
    /// By their numbers, which are given once.
    rows: Mutex<BTreeMap<usize, Row>>,
    /// The next number of a child.
    next: AtomicUsize,
    /// The last number of a start or an alarm.
    terms: AtomicU64,
}

impl Table {
    fn next_term(&self) -> u64 {
        self.terms.fetch_add(1, Ordering::Relaxed) + 1
    }

    fn rows(&self) -> MutexGuard<'_, BTreeMap<usize, Row>> {
        self.rows.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What a supervisor fails with when its children have failed too often.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Escalated {
    /// The child that has ended once too often.
    pub child: Arc<str>,
    /// Why it has.
    pub reason: ExitReason,
    /// How many restarts there may be.
    pub restarts: u32,
    /// Within which time.
    pub window: Duration,
}

impl fmt::Display for Escalated {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { child, reason, restarts, window } = self;
        let noun = if *restarts == 1 { "restart" } else { "restarts" };
        write!(
            f,
            "the supervisor gives up, as \"{child}\" {reason}, after {restarts} {noun} within {window:?}"
        )
    }
}

impl Error for Escalated {}

impl Supervisor {
    /// A supervisor whose children do not depend on each other.
    pub fn one_for_one() -> SupervisorBuilder {
        Self::with_strategy(Strategy::OneForOne)
    }

    /// A supervisor whose children depend all on each other.
    pub fn one_for_all() -> SupervisorBuilder {
        Self::with_strategy(Strategy::OneForAll)
    }

    /// A supervisor whose children depend on those before them.
    pub fn rest_for_one() -> SupervisorBuilder {
        Self::with_strategy(Strategy::RestForOne)
    }

    /// A supervisor with that strategy.
    pub fn with_strategy(strategy: Strategy) -> SupervisorBuilder {
        SupervisorBuilder::new(strategy)
    }

    fn new(table: Arc<Table>) -> Self {
        let tree = Tree::new(table.strategy, table.limit);
        let began = Instant::now();
        Self { table, tree, alarms: BTreeMap::new(), culprit: None, began }
    }

    /// Knows one child more, the last of the table.
    fn enter(&mut self, index: usize, row: &Row) {
        self.tree.add(index, row.spec.terms);
        self.alarms.insert(index, None);
    }

    /// Carries out what has become due.
    fn act(&mut self, context: &Context<Self>) {
        for step in self.tree.take_steps() {
            match step {
                Step::Rise(index) => {
                    let Some(peer) = context.peer() else { return };
                    let term = self.table.next_term();
                    if let Some(row) = self.table.rows().get_mut(&index) {
                        (row.term, row.starts) = (term, row.starts + 1);
                        row.actor.control().rise(term, peer, index);
                    }
                }
                Step::Cease(index) => self.with(index, |row| row.actor.control().cease(row.term)),
                Step::Raze(index) => self.with(index, |row| row.actor.control().raze()),
                Step::Dismiss(index) => {
                    if let Some(row) = self.forget(index, context) {
                        row.actor.control().orphan();
                    }
                }
                Step::Alarm(_, Duration::MAX) => {}
                Step::Alarm(index, time) => {
                    let Some(peer) = context.peer() else { return };
                    let number = self.table.next_term();
                    if let Some(alarm) = self.alarms.get_mut(&index) {
                        *alarm = Some(Alarm::after(time, peer, index, number));
                    }
                }
                Step::Calm(index) => {
                    if let Some(alarm) = self.alarms.get_mut(&index) {
                        *alarm = None;
                    }
                }
            }
        }
    }

    /// Calls `f` with the row of a child, if it is not gone.
    fn with(&self, index: usize, f: impl FnOnce(&Row)) {
        if let Some(row) = self.table.rows().get(&index) {
            f(row);
        }
    }

    /// A child is not started again: gives what was known of it.
    fn forget(&mut self, index: usize, context: &Context<Self>) -> Option<Row> {
        let row = self.table.rows().remove(&index);
        self.alarms.remove(&index);
        let ward = note(context.mailbox(), |kin, _| kin.wards.remove(&index));
        drop(ward);
        row
    }

    /// Takes note of what has happened to a child.
    fn take(&mut self, notice: Notice, context: &Context<Self>) {
        let Notice { index, kind } = notice;
        if !self.alarms.contains_key(&index) {
            return;
        }
        let Some(present) = self.table.rows().get(&index).map(|row| row.term) else { return };
        let now = Instant::now().saturating_duration_since(self.began);
        match kind {
            NoticeKind::Started { term } if term == present => self.tree.started(index, now),
            NoticeKind::Fell { term, reason } if term == present => {
                self.tree.fell(index, reason.is_normal(), now);
                self.note_culprit(index, reason);
            }
            // From before the supervisor has decided otherwise.
            NoticeKind::Started { .. } | NoticeKind::Fell { .. } => {}
            NoticeKind::Gone => {
                drop(self.forget(index, context));
                self.tree.lost(index);
            }
            NoticeKind::Alarm { number } => {
                let alarm = self.alarms.get_mut(&index);
                let rung = alarm.and_then(|set| set.take_if(|alarm| alarm.number == number));
                if rung.is_some() {
                    self.tree.alarm(index);
                }
            }
        }
        self.act(context);
    }

    /// Keeps the name of the child whose end was one too many, which may be gone when that is told.
    fn note_culprit(&mut self, index: usize, reason: ExitReason) {
        let (Phase::Halting(by) | Phase::Halted(by)) = self.tree.phase() else { return };
        if by == Some(index) && self.culprit.is_none() {
            let name = self.table.rows().get(&index).map(|row| row.spec.name.clone());
            self.culprit = name.map(|name| (name, reason));
        }
    }

    /// Whether it goes on.
    fn verdict(&self) -> Handled {
        if !matches!(self.tree.phase(), Phase::Halted(Some(_))) {
            return Ok(());
        }
        let Some((child, reason)) = self.culprit.clone() else { return Ok(()) };
        let Limit { restarts, window } = self.table.limit;
        Err(Failure::from(Escalated { child, reason, restarts, window }))
    }

    /// Waits until all children have ended for good.
    fn poll_gone(&mut self, context: &mut Context<Self>, task: &task::Context<'_>) -> Poll<()> {
        for order in context.attend_orders(task) {
            let Order::Event(event) = order else { continue };
            if let Event::Notice(notice) = *event {
                self.take(notice, context);
            }
        }
        if self.table.rows().is_empty() {
            context.leave_orders();
            return Poll::Ready(());
        }
        Poll::Pending
    }

    /// Takes notices, and leaves messages where they are, until `is_over`. Told to stop meanwhile,
    /// it stops its children.
    fn poll_notices(
        &mut self,
        context: &mut Context<Self>,
        task: &task::Context<'_>,
        is_over: fn(Phase) -> bool,
    ) -> Poll<()> {
        if is_over(self.tree.phase()) {
            return Poll::Ready(());
        }
        for order in context.attend_orders(task) {
            match order {
                Order::Event(event) => {
                    if let Event::Notice(notice) = *event {
                        self.take(notice, context);
                    }
                }
                Order::Cease if !context.is_to_cease() => {}
                Order::Stop | Order::Drain | Order::Cease => {
                    context.stop();
                    self.tree.halt();
                    self.act(context);
                }
            }
        }
        if is_over(self.tree.phase()) {
            context.leave_orders();
            return Poll::Ready(());
        }
        Poll::Pending
    }
}

impl Actor for Supervisor {
    type Message = Command;

    /// Starts the children, and has started when all have.
    async fn started(&mut self, context: &mut Context<Self>) -> Handled {
        let table = self.table.clone();
        for (&index, row) in table.rows().iter_mut() {
            self.enter(index, row);
            // What an earlier incarnation has started is nothing to this one.
            row.term = table.next_term();
            row.actor.control().raze();
        }
        self.tree.go_on();
        self.act(context);
        let is_over = |phase| matches!(phase, Phase::Running | Phase::Halted(_));
        poll_fn(|task| self.poll_notices(context, task, is_over)).await;
        self.verdict()
    }

    async fn handle(&mut self, message: Command, context: &mut Context<Self>) -> Handled {
        self.command(message, context);
        self.verdict()
    }

    async fn event(&mut self, event: Event, context: &mut Context<Self>) -> Handled {
        if let Event::Notice(notice) = event {
            self.take(notice, context);
        }
        self.verdict()
    }

    async fn stopped(&mut self, _reason: &ExitReason, context: &mut Context<Self>) {
        self.tree.halt();
        self.act(context);
        let is_over = |phase| matches!(phase, Phase::Halted(_));
        poll_fn(|task| self.poll_notices(context, task, is_over)).await;
        if context.mailbox().has_post() {
            // Its own supervisor may start it anew, and its children with it.
            return;
        }
        for row in self.table.rows().values().rev() {
            row.actor.control().orphan();
        }
        poll_fn(|task| self.poll_gone(context, task)).await;
    }
}

impl fmt::Debug for Supervisor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let phase = self.tree.phase();
        f.debug_struct("Supervisor").field("phase", &phase).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_escalation_reads_as_a_sentence_whatever_the_reason() {
        let of = |reason, restarts| {
            let window = Duration::from_secs(5);
            Escalated { child: "victim".into(), reason, restarts, window }.to_string()
        };
        let head = "the supervisor gives up, as \"victim\"";
        assert_eq!(
            of(ExitReason::Killed, 1),
            format!("{head} was killed, after 1 restart within 5s")
        );
        let lost = ExitReason::NodeDown(crate::node::NodeId::new(1));
        assert_eq!(of(lost, 3), format!("{head} was lost with node 1, after 3 restarts within 5s"));
    }
}
