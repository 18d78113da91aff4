//! The hooks by which the rest of the library reports to the graph, in builds that detect
//! deadlocks.

use super::graph::{self, Key, Permits, Target};
use super::report::{Deadlock, DeadlockHook, Waiter};
use super::waiting::Sleeper;
pub(crate) use super::waiting::{Alarm, Waiting};
use crate::primitives::unwind::contain;
use crate::raw_task::header::Live;
use crate::raw_task::id;
use crate::raw_task::id::Id;
use crate::raw_task::report::TaskInfo;
use crate::raw_task::rights::Reference;
use std::any::type_name;
use std::cell::{Cell, RefCell};
use std::panic::Location;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Weak};
use std::thread;

/// Whether this build detects deadlocks.
pub(crate) const IS_ON: bool = true;

thread_local! {
    /// The task that this thread polls.
    static TASK: Cell<Option<Id>> = const { Cell::new(None) };
    /// The thread's own number.
    static THREAD: Cell<Option<Id>> = const { Cell::new(None) };
    /// What is known of the task, if it is a closure that may block.
    static CLOSURE: RefCell<Option<TaskInfo>> = const { RefCell::new(None) };
    /// The `block_on`s of this thread, the innermost one last, and their wakers' data.
    static SLEEPERS: RefCell<Vec<(usize, Arc<Sleeper>)>> = const { RefCell::new(Vec::new()) };
}

/// The task or thread that this thread acts for. None while the thread's own variables are being
/// destroyed.
pub(super) fn current() -> Option<Id> {
    let task = TASK.try_with(Cell::get).ok()?;
    let own = || {
        THREAD.try_with(|own| match own.get() {
            Some(id) => id,
            None => {
                let id = id::take_one();
                own.set(Some(id));
                id
            }
        })
    };
    task.or_else(|| own().ok())
}

/// A place in the source.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Site(&'static Location<'static>);

impl Site {
    /// The caller's place.
    #[track_caller]
    #[inline(always)]
    pub(crate) fn here() -> Self {
        Self(Location::caller())
    }
}

/// The number by which the graph knows a monitor or a semaphore.
#[derive(Debug)]
pub(crate) struct Object {
    /// Zero until the graph is told of it.
    number: AtomicU64,
    type_name: fn() -> &'static str,
    made_at: &'static Location<'static>,
    /// The initial permits of a semaphore.
    permits: Option<usize>,
    /// Whether its holders are unknown: it is a semaphore without the promise that takers give
    /// permits back, or it was released by a task that had not taken it. Changed only with the
    /// graph locked.
    is_loose: AtomicBool,
}

/// The number of the next object.
static NEXT: AtomicU64 = AtomicU64::new(1);

impl Object {
    #[track_caller]
    const fn new(type_name: fn() -> &'static str, permits: Option<usize>) -> Self {
        Self {
            number: AtomicU64::new(0),
            type_name,
            made_at: Location::caller(),
            permits,
            is_loose: AtomicBool::new(permits.is_some()),
        }
    }

    /// Makes the object of a monitor around a value of this type.
    #[track_caller]
    pub(crate) const fn monitor<T>() -> Self {
        Self::new(type_name::<T>, None)
    }

    /// Makes the object of a semaphore with `permits` permits.
    #[track_caller]
    pub(crate) const fn semaphore(permits: usize) -> Self {
        Self::new(|| "", Some(permits))
    }

    /// Returns the number, which no other object has.
    fn number(&self) -> u64 {
        let number = self.number.load(Ordering::Relaxed);
        if number != 0 {
            return number;
        }
        let fresh = NEXT.fetch_add(1, Ordering::Relaxed);
        match self.number.compare_exchange(0, fresh, Ordering::Relaxed, Ordering::Relaxed) {
            Ok(_) => fresh,
            Err(number) => number,
        }
    }

    /// Promises that each taker of a permit gives it back.
    pub(crate) fn promise_lock(&mut self) {
        *self.is_loose.get_mut() = false;
    }

    fn is_loose(&self) -> bool {
        self.is_loose.load(Ordering::Relaxed)
    }

    /// Forgets the holders, for ever.
    fn loosen(&self, graph: &mut graph::Graph) {
        self.is_loose.store(true, Ordering::Relaxed);
        graph.unhold(self.number());
        graph.permits.remove(&self.number());
    }

    fn target(&self) -> Target {
        let (object, made_at) = (self.number(), self.made_at);
        match self.permits {
            Some(_) => Target::Semaphore { object, made_at },
            None => Target::Monitor { object, type_name: (self.type_name)(), made_at },
        }
    }

    /// Notes that the caller is inside the monitor.
    pub(crate) fn entered(&self) {
        if let Some(id) = current() {
            self.entered_by(id);
        }
    }

    fn entered_by(&self, id: Id) {
        let mut graph = graph::lock();
        if !self.is_loose() {
            graph.hold(self.number(), id);
        }
    }

    /// Notes that the caller is about to leave the monitor, or to wait.
    pub(crate) fn left(&self) {
        let mut graph = graph::lock();
        let Some(holders) = graph.unhold(self.number()) else { return };
        if current().is_none_or(|id| !holders.contains(&id)) {
            self.loosen(&mut graph);
        }
    }

    fn permits<'a>(&self, graph: &'a mut graph::Graph) -> &'a mut Permits {
        graph
            .permits
            .entry(self.number())
            .or_insert_with(|| Permits { owners: Vec::new(), total: self.permits.unwrap_or(0) })
    }

    /// Notes that the caller has taken a permit.
    pub(crate) fn taken(&self) {
        if self.is_loose() {
            return;
        }
        let mut graph = graph::lock();
        let Some(id) = current() else { return self.loosen(&mut graph) };
        if !self.is_loose() {
            self.permits(&mut graph).owners.push(id);
        }
    }

    /// Notes that the caller is about to give `permits` permits back.
    pub(crate) fn given(&self, permits: usize) {
        let id = current();
        for _ in 0..permits {
            if self.is_loose() {
                return;
            }
            let mut graph = graph::lock();
            if self.is_loose() {
                return;
            }
            let permits = self.permits(&mut graph);
            match permits.owners.iter().position(|owner| Some(*owner) == id) {
                Some(place) => {
                    permits.owners.swap_remove(place);
                }
                None => self.loosen(&mut graph),
            }
        }
    }

    /// Notes that `waiter` waits for the object at the node with this address; with `open`, it
    /// waits for a signal first.
    pub(crate) fn awaited(
        &self,
        node: *const (),
        site: Site,
        open: bool,
        waiter: impl FnOnce() -> Option<Waiting>,
    ) {
        let Some(waiter) = waiter() else { return };
        let mut graph = graph::lock();
        let key = Key::Node(node.addr());
        let before = graph.insert(key, waiter, self.target(), Some(site.0), open);
        drop(graph);
        drop(before);
    }

    /// Notes that the waiter at a node has been inside this monitor too since before.
    pub(crate) fn held_meanwhile(&self, node: *const ()) {
        let mut graph = graph::lock();
        let id = graph.edge(Key::Node(node.addr())).map(|edge| edge.waiter.id());
        if let Some(id) = id
            && !self.is_loose()
        {
            graph.hold(self.number(), id);
        }
    }
}

impl Drop for Object {
    fn drop(&mut self) {
        let number = *self.number.get_mut();
        if number == 0 {
            // The graph was never told of it.
            return;
        }
        let mut graph = graph::lock();
        graph.unhold(number);
        graph.permits.remove(&number);
    }
}

/// Notes that the waiter at a node has been signalled, and enters when the holder leaves.
pub(crate) fn signalled(node: *const ()) {
    if graph::has_waits()
        && let Some(edge) = graph::lock().edge(Key::Node(node.addr()))
    {
        edge.open = false;
    }
}

/// Notes that the waiter at a node is about to be granted what it waits for.
pub(crate) fn granted(node: *const ()) {
    if !graph::has_waits() {
        return;
    }
    let mut graph = graph::lock();
    let edge = graph.remove(Key::Node(node.addr()));
    if let Some(edge) = &edge
        && let Target::Monitor { object, .. } = edge.target
    {
        // From here on the waiter keeps others out, even before it is polled.
        graph.hold(object, edge.waiter.id());
    }
    drop(graph);
    drop(edge);
}

/// Notes that there is no waiter at a node any more.
pub(crate) fn gone(node: *const ()) {
    forget(Key::Node(node.addr()));
}

fn forget(key: Key) {
    if graph::has_waits() {
        let edge = graph::lock().remove(key);
        drop(edge);
    }
}

/// Notes that the waiter at a node has been replaced by another.
pub(crate) fn renewed(node: *const (), waiter: impl FnOnce() -> Option<Waiting>) {
    if !graph::has_waits() {
        return;
    }
    let key = Key::Node(node.addr());
    let waiter = waiter();
    let mut graph = graph::lock();
    let before = graph.renew(key, waiter);
    drop(graph);
    drop(before);
}

/// Notes that a joiner waits for the end of a task.
pub(crate) fn joins(task: Id, waiter: impl FnOnce() -> Option<Waiting>) {
    let before = match waiter() {
        Some(waiter) => {
            graph::lock().insert(Key::Join(task), waiter, Target::Task(task), None, false)
        }
        None => return forget(Key::Join(task)),
    };
    drop(before);
}

/// Notes that a task has no joiner that waits any more.
pub(crate) fn joined(task: Id) {
    forget(Key::Join(task));
}

/// Notes that the caller is about to spawn a task with this number.
pub(crate) fn spawned(task: Id) {
    if (graph::has_holds() || graph::has_replies())
        && let Some(parent) = current()
    {
        let mut graph = graph::lock();
        graph.spawn(parent, task);
        graph.pass(parent, task);
    }
}

/// Notes that a task's future is gone.
pub(crate) fn completed(task: Live<'_>) {
    if graph::has_carriers() {
        graph::lock().complete(task.footer().id);
    }
}

/// A wait for an unpark.
#[derive(Debug)]
pub(crate) struct Parking(Option<Id>);

impl Parking {
    #[inline(always)]
    pub(crate) fn new() -> Self {
        Self(None)
    }

    /// Notes that the task waits for an unpark.
    pub(crate) fn begin(&mut self) {
        if self.0.is_none()
            && let Some(id) = current()
        {
            graph::lock().park(id);
            self.0 = Some(id);
        }
    }
}

impl Drop for Parking {
    fn drop(&mut self) {
        if let Some(id) = self.0 {
            graph::lock().unpark(id);
        }
    }
}

impl Waiting {
    /// A task.
    pub(crate) fn task(task: Live<'_>) -> Self {
        Self::Task(Reference::of(task))
    }

    /// This thread, if one of its `block_on`s has a waker with this datum.
    pub(crate) fn thread(datum: *const ()) -> Option<Self> {
        SLEEPERS
            .try_with(|sleepers| {
                let sleepers = sleepers.borrow();
                let own = sleepers.iter().find(|(own, _)| *own == datum.addr())?;
                Some(Self::Thread(own.1.clone()))
            })
            .ok()
            .flatten()
    }
}

/// While this lives, the thread acts for a task.
pub(crate) struct Polling {
    id: Id,
    before: Option<Id>,
}

impl Polling {
    #[inline]
    pub(crate) fn begin(task: Live<'_>) -> Self {
        let id = task.footer().id;
        let before = TASK.try_with(|own| own.replace(Some(id))).ok().flatten();
        Self { id, before }
    }

    /// Searches for deadlocks that the task waits in after its poll, and reports them.
    #[inline]
    pub(crate) fn check(self, hook: Option<&DeadlockHook>) {
        let id = self.id;
        drop(self);
        if graph::has_waits() {
            check(id, hook);
        }
    }
}

impl Drop for Polling {
    fn drop(&mut self) {
        // While the thread's variables are destroyed there is nothing to restore.
        let _ = TASK.try_with(|own| own.set(self.before));
    }
}

/// Calls `f`, which runs a closure that may block, with the thread acting for `task`.
pub(crate) fn in_closure<R>(task: Live<'_>, f: impl FnOnce() -> R) -> R {
    let info = TaskInfo::of(task);
    let before = CLOSURE.try_with(|closure| closure.replace(Some(info))).ok().flatten();
    let _polling = Polling::begin(task);
    let result = f();
    let _ = CLOSURE.try_with(|closure| closure.replace(before));
    result
}

#[cold]
fn check(id: Id, hook: Option<&DeadlockHook>) {
    let mut graph = graph::lock();
    if !graph.waits(id) {
        return;
    }
    let news = graph.check(id);
    drop(graph);
    tell(&news, hook);
}

/// Searches again from waiters that were stuck but for an unknown waker, and reports deadlocks.
/// True if there are any.
#[inline]
pub(crate) fn look_again(hook: Option<&DeadlockHook>) -> bool {
    if !graph::has_suspects() {
        return false;
    }
    let news = graph::lock().check_suspects();
    tell(&news, hook);
    !news.is_empty()
}

/// All deadlocks that exist.
pub(crate) fn deadlocks() -> Vec<Deadlock> {
    graph::lock().all()
}

fn tell(news: &[Deadlock], hook: Option<&DeadlockHook>) {
    for deadlock in news {
        contain(|| match hook {
            Some(hook) => hook(deadlock),
            None => eprintln!("evenkeel: {deadlock}"),
        });
    }
}

/// A `block_on` of this thread.
pub(crate) struct Blocking(Arc<Sleeper>);

impl Blocking {
    /// Begins a `block_on` that is woken by `alarm`.
    pub(crate) fn begin<A: Alarm + 'static>(alarm: &Arc<A>) -> Self {
        let id = current().unwrap_or(Id::NONE);
        let closure = CLOSURE.try_with(|closure| closure.borrow().clone()).ok().flatten();
        let waiter = match closure {
            Some(task) => Waiter::Task(task),
            None => Waiter::Thread { id, name: thread::current().name().map(str::to_owned) },
        };
        let alarm_ref: Weak<dyn Alarm> = Arc::<A>::downgrade(alarm);
        let asleep = AtomicBool::new(false);
        let sleeper = Arc::new(Sleeper { waiter, alarm: alarm_ref, asleep });
        let entry = (Arc::as_ptr(alarm).addr(), sleeper.clone());
        let _ = SLEEPERS.try_with(|sleepers| sleepers.borrow_mut().push(entry));
        Self(sleeper)
    }

    /// Notes that the thread is about to sleep, and searches for a deadlock that it waits in.
    pub(crate) fn sleep(&self, hook: impl FnOnce() -> Option<DeadlockHook>) {
        let mut graph = graph::lock();
        self.0.asleep.store(true, Ordering::Relaxed);
        let id = self.0.waiter.id();
        if !graph.waits(id) {
            return;
        }
        let news = graph.check(id);
        drop(graph);
        if !news.is_empty() {
            tell(&news, hook().as_ref());
        }
    }

    /// Notes that the thread has been woken.
    pub(crate) fn wake(&self) {
        let _graph = graph::lock();
        self.0.asleep.store(false, Ordering::Relaxed);
    }
}

impl Drop for Blocking {
    fn drop(&mut self) {
        // This one is the innermost.
        let _ = SLEEPERS.try_with(|sleepers| sleepers.borrow_mut().pop());
    }
}
