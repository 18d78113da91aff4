//! Supervisors: actors that start other actors, restart them when they fail, and give up when
//! restarts do not help.
//!
//! [`policy::tree`](crate::policy::tree) makes a supervisor's decisions, and
//! [`ward`](crate::life::ward) starts a child in place. This module carries the decisions out. The
//! *table* has the children. It outlives a restart of the supervisor itself, and so do the
//! children's references.

mod builder;
mod child;
mod reference;
mod rows;

pub use builder::SupervisorBuilder;
pub use child::{Child, ChildInfo};
pub use reference::{Command, SupervisorRef};

use crate::actor::context::Context;
use crate::actor::{Actor, Handled};
use crate::kin::order::Order;
use crate::kin::peer::{Alarm, Peer};
use crate::mailbox::note;
use crate::policy::intensity::Limit;
use crate::policy::restart::Strategy;
use crate::policy::tree::{Phase, Step, Tree};
use crate::words::event::{Event, Notice, NoticeKind};
use crate::words::exit::{ExitReason, Failure};
use child::Row;
use evenkeel::time::{Duration, Instant};
use rows::Rows;
use std::collections::{BTreeMap, VecDeque};
use std::error::Error;
use std::fmt;
use std::future::poll_fn;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{self, Poll};

/// An actor that starts its children in order, and restarts those that should not have ended.
///
/// A restart is *in place*: the child's value is dropped and its factory makes a new one, but its
/// references stay valid and it keeps its mailbox. Only the message on which it failed is lost.
/// Messages that arrive meanwhile wait.
///
/// The [`Strategy`] of the supervisor and the [`Restart`](crate::Restart) of the child determine
/// which children are restarted. If there are more restarts than the supervisor's
/// [intensity](SupervisorBuilder::intensity) admits, it stops all its children and fails with
/// [`Escalated`]. Its own supervisor then decides. Supervisors of supervisors form a tree.
///
/// A supervisor that [stops](SupervisorRef::stop) stops its children, the last first, each after
/// its present message. It kills a child that takes longer than its [`shutdown`](Child::shutdown).
/// A supervisor that is killed takes its children with it at once.
///
/// [`kill`](crate::ActorRef::kill), [`stop`](crate::ActorRef::stop) and failures of links end a
/// child as its own failure or decision would, so a permanent child is restarted. To end a child
/// for good, [remove](SupervisorRef::remove) it.
///
/// The [observer](crate::System::on_failure) of the child's system receives each failure, whatever
/// the supervisor decides.
///
/// The strategies, the kinds of restarts and the intensity are those of Erlang/OTP. A restart that
/// keeps the mailbox and the references is Akka's.
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
///     // The same reference: the actor has been restarted.
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
    /// The children that this incarnation knows, each with its alarm, if one is set.
    alarms: BTreeMap<usize, Option<Alarm>>,
    /// The child that has ended once too often, and why.
    culprit: Option<(Arc<str>, ExitReason)>,
    began: Instant,
}

/// The part of a supervisor that outlives its restarts. A child that is gone is removed, so that a
/// supervisor that is given child after child does not grow.
#[derive(Debug)]
pub(crate) struct Table {
    strategy: Strategy,
    limit: Limit,
    rows: Mutex<Rows>,
    /// The number of the next child.
    next: AtomicUsize,
    /// The last number of a start or an alarm.
    terms: AtomicU64,
}

impl Table {
    fn next_term(&self) -> u64 {
        self.terms.fetch_add(1, Ordering::Relaxed) + 1
    }

    fn rows(&self) -> MutexGuard<'_, Rows> {
        self.rows.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The failure of a supervisor with children that have failed too often.
///
/// # Examples
/// ```
/// use evenkeel_actor::{
///     Actor, Child, Context, Escalated, ExitReason, Failure, Handled, Supervisor, System,
/// };
/// use std::time::Duration;
///
/// /// Does not get beyond its start.
/// struct Broken;
///
/// impl Actor for Broken {
///     type Message = ();
///
///     async fn started(&mut self, _context: &mut Context<Self>) -> Handled {
///         Err(Failure::message("no configuration"))
///     }
///
///     async fn handle(&mut self, _message: (), _context: &mut Context<Self>) -> Handled {
///         Ok(())
///     }
/// }
///
/// let runtime = evenkeel::Runtime::new().unwrap();
/// runtime.block_on(async {
///     let system = System::new();
///     system.on_failure(|_| ());
///     let mut tree =
///         Supervisor::one_for_one().system(system).intensity(2, Duration::from_secs(10));
///     let _broken = tree.child(Child::new("broken", || Broken));
///     let tree = tree.spawn();
///
///     let ExitReason::Failed(failure) = tree.stopped().await else { panic!() };
///     let escalated: &Escalated = failure.error().downcast_ref().unwrap();
///     assert_eq!((&*escalated.child, escalated.restarts), ("broken", 2));
///     assert_eq!(escalated.reason.to_string(), "failed: no configuration");
/// });
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Escalated {
    /// The child that has ended once too often.
    pub child: Arc<str>,
    /// Why it has ended.
    pub reason: ExitReason,
    /// How many restarts the intensity admits.
    pub restarts: u32,
    /// The window of the intensity.
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
    /// Returns a builder of a supervisor with children that do not depend on each other.
    pub fn one_for_one() -> SupervisorBuilder {
        Self::with_strategy(Strategy::OneForOne)
    }

    /// Returns a builder of a supervisor with children that all depend on each other.
    ///
    /// # Examples
    /// See [`Strategy`].
    pub fn one_for_all() -> SupervisorBuilder {
        Self::with_strategy(Strategy::OneForAll)
    }

    /// Returns a builder of a supervisor with children that depend on those before them.
    ///
    /// # Examples
    /// See [`SupervisorBuilder`].
    pub fn rest_for_one() -> SupervisorBuilder {
        Self::with_strategy(Strategy::RestForOne)
    }

    /// Returns a builder of a supervisor with that strategy.
    ///
    /// # Examples
    /// See [`Strategy`].
    pub fn with_strategy(strategy: Strategy) -> SupervisorBuilder {
        SupervisorBuilder::new(strategy)
    }

    fn new(table: Arc<Table>) -> Self {
        let tree = Tree::new(table.strategy, table.limit);
        let began = Instant::now();
        Self { table, tree, alarms: BTreeMap::new(), culprit: None, began }
    }

    /// Takes one more child, the last of the table, into the tree.
    fn enter(&mut self, index: usize, row: &Row) {
        self.tree.add(index, row.spec.terms);
        self.alarms.insert(index, None);
    }

    /// Carries out the steps that are due.
    fn act(&mut self, context: &Context<Self>) {
        let mut steps: VecDeque<Step> = self.tree.take_steps().into();
        while let Some(step) = steps.pop_front() {
            match step {
                Step::Rise(index) => {
                    let Some(peer) = context.peer() else { return };
                    if !self.rise(index, peer) {
                        // It was told to stop, and has ended by that.
                        drop(self.forget(index, context));
                        self.tree.lost(index);
                        steps.extend(self.tree.take_steps());
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

    /// Orders a start of a child. Returns false if the child has ended.
    fn rise(&self, index: usize, peer: Peer) -> bool {
        let term = self.table.next_term();
        self.table.rows().get_mut(index).is_none_or(|row| {
            (row.term, row.starts) = (term, row.starts + 1);
            row.actor.control().rise(term, peer, index)
        })
    }

    /// Calls `f` with the row of a child, if it is not gone.
    fn with(&self, index: usize, f: impl FnOnce(&Row)) {
        if let Some(row) = self.table.rows().get(index) {
            f(row);
        }
    }

    /// Removes a child that is not started again, and returns its row.
    fn forget(&mut self, index: usize, context: &Context<Self>) -> Option<Row> {
        let row = self.table.rows().remove(index);
        self.alarms.remove(&index);
        let ward = note(context.mailbox(), |kin, _| kin.wards.remove(&index));
        drop(ward);
        row
    }

    /// Handles a notice of what has happened to a child.
    fn take(&mut self, notice: Notice, context: &Context<Self>) {
        let Notice { index, kind } = notice;
        if !self.alarms.contains_key(&index) {
            return;
        }
        let Some(present) = self.table.rows().get(index).map(|row| row.term) else { return };
        let now = Instant::now().saturating_duration_since(self.began);
        match kind {
            NoticeKind::Started { term } if term == present => self.tree.started(index, now),
            NoticeKind::Fell { term, reason } if term == present => {
                self.tree.fell(index, reason.is_normal(), now);
                self.note_culprit(index, reason);
            }
            // From before a later decision of the supervisor.
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

    /// Keeps the name of the child that has ended once too often. Its row may be gone when the
    /// supervisor reports it.
    fn note_culprit(&mut self, index: usize, reason: ExitReason) {
        let (Phase::Halting(by) | Phase::Halted(by)) = self.tree.phase() else { return };
        if by == Some(index) && self.culprit.is_none() {
            let name = self.table.rows().get(index).map(|row| row.spec.name.clone());
            self.culprit = name.map(|name| (name, reason));
        }
    }

    /// Returns the failure of a supervisor that has given up.
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
            let Order::Event(news) = order else { continue };
            if let Event::Notice(notice) = news.event {
                self.take(notice, context);
            }
        }
        if self.table.rows().is_empty() {
            context.leave_orders();
            return Poll::Ready(());
        }
        Poll::Pending
    }

    /// Handles notices, and leaves messages where they are, until `is_over`. On an order to stop,
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
                Order::Event(news) => {
                    if let Event::Notice(notice) = news.event {
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

    /// Starts the children, and completes when all have started.
    async fn started(&mut self, context: &mut Context<Self>) -> Handled {
        let Some(peer) = context.peer() else { return Ok(()) };
        let table = self.table.clone();
        let mut ended = Vec::new();
        for (index, row) in table.rows().iter_mut() {
            if row.is_removed {
                // An earlier incarnation has not seen its end: this one waits for that.
                if row.actor.control().dismiss(peer.clone(), index) {
                    self.alarms.insert(index, None);
                } else {
                    ended.push(index);
                }
                continue;
            }
            self.enter(index, row);
            // A child that an earlier incarnation has started is ended, and started again.
            row.term = table.next_term();
            row.actor.control().withdraw();
        }
        for index in ended {
            drop(self.forget(index, context));
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
            // Its own supervisor may restart it, and its children with it.
            return;
        }
        let Some(peer) = context.peer() else { return };
        // Not orphaned: a child that has never been started does not know which actor to tell of
        // its end.
        let table = self.table.clone();
        let ended: Vec<usize> = {
            let rows = table.rows();
            let dismissed = |row: &Row, index| row.actor.control().dismiss(peer.clone(), index);
            let last_first = rows.iter().rev().filter(|(index, row)| !dismissed(row, *index));
            last_first.map(|(index, _)| index).collect()
        };
        for index in ended {
            drop(self.forget(index, context));
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
