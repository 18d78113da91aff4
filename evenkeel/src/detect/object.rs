//! Monitors and semaphores as the graph knows them, and the waits in their queues.

use super::extra::Extra;
use super::graph::{self, Graph, Key, Target};
use super::waiting::Waiting;
use std::panic::Location;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// A place in the source.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Site(Extra<&'static Location<'static>>);

impl Site {
    /// The caller's place.
    #[track_caller]
    #[inline(always)]
    pub(crate) fn here() -> Self {
        Self(Extra::new(Location::caller()))
    }
}

/// What the graph knows of a monitor or a semaphore.
#[derive(Debug)]
pub(crate) struct Object(pub(super) Extra<Record>);

#[derive(Debug)]
pub(super) struct Record {
    /// The number of the object in the graph; zero until the object enters the graph.
    number: AtomicU64,
    type_name: fn() -> &'static str,
    made_at: &'static Location<'static>,
    /// The initial permits of a semaphore.
    pub(super) permits: Option<usize>,
    /// Whether its holders are unknown: it is a semaphore without the promise that takers give
    /// permits back, or it was released by a task that had not taken it. Changed only with the
    /// graph locked.
    pub(super) is_loose: AtomicBool,
}

/// The number of the next object.
static NEXT: AtomicU64 = AtomicU64::new(1);

impl Object {
    #[track_caller]
    #[inline(always)]
    pub(super) const fn new(type_name: fn() -> &'static str, permits: Option<usize>) -> Self {
        Self(Extra::new(Record {
            number: AtomicU64::new(0),
            type_name,
            made_at: Location::caller(),
            permits,
            is_loose: AtomicBool::new(permits.is_some()),
        }))
    }

    /// The object as its waiters know it. Outlives the object.
    #[inline(always)]
    pub(crate) fn awaited(&self) -> Awaited {
        Awaited(Extra::of(|| self.0.get().map(Record::target)))
    }
}

/// An object as its waiters know it, which need not borrow it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Awaited(Extra<Option<Target>>);

impl Awaited {
    /// Notes that `waiter` waits for the object at the node with this address; with `open`, it
    /// waits for a signal first.
    #[inline]
    pub(crate) fn by(
        &self,
        node: *const (),
        site: Site,
        open: bool,
        waiter: impl FnOnce() -> Option<Waiting>,
    ) {
        let Some(Some(target)) = self.0.get().copied() else { return };
        let Some(waiter) = waiter() else { return };
        let (key, site) = (Key::Node(node.addr()), site.0.get().copied());
        graph::change(|graph| graph.insert(key, waiter, target, site, open));
    }
}

impl Record {
    /// Returns the number, which no other object has.
    pub(super) fn number(&self) -> u64 {
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

    pub(super) fn is_loose(&self) -> bool {
        self.is_loose.load(Ordering::Relaxed)
    }

    /// Forgets the holders, for ever.
    pub(super) fn loosen(&self, graph: &mut Graph) {
        self.is_loose.store(true, Ordering::Relaxed);
        graph.loose.insert(self.number());
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
}

impl Drop for Record {
    fn drop(&mut self) {
        let number = *self.number.get_mut();
        if number == 0 {
            return;
        }
        let mut graph = graph::lock();
        graph.loose.remove(&number);
        graph.unhold(number);
        graph.permits.remove(&number);
    }
}

/// Notes that the waiter at a node has been signalled, and enters when the holder leaves.
#[inline]
pub(crate) fn signalled(node: *const ()) {
    if graph::has_waits()
        && let Some(edge) = graph::lock().edge(Key::Node(node.addr()))
    {
        edge.open = false;
    }
}

/// Notes that the waiter at a node is about to be granted what it waits for.
#[inline]
pub(crate) fn granted(node: *const ()) {
    if !graph::has_waits() {
        return;
    }
    graph::change(|graph| {
        let edge = graph.remove(Key::Node(node.addr()))?;
        if let Target::Monitor { object, .. } = edge.target {
            // From here on the waiter keeps others out, even before it is polled.
            if !graph.loose.contains(&object) {
                graph.hold(object, edge.waiter.id());
            }
        }
        Some(edge)
    });
}

/// Notes that there is no waiter at a node any more.
#[inline]
pub(crate) fn gone(node: *const ()) {
    graph::forget(Key::Node(node.addr()));
}

/// Notes that the waiter at a node has been replaced by another.
#[inline]
pub(crate) fn renewed(node: *const (), waiter: impl FnOnce() -> Option<Waiting>) {
    if graph::has_waits() {
        let waiter = waiter();
        graph::change(|graph| graph.renew(Key::Node(node.addr()), waiter));
    }
}
