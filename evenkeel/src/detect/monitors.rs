//! Holders of monitors.

use super::graph::{self, Key};
use super::object::Object;
use super::tasks::current;
use std::any::type_name;

impl Object {
    /// Makes the object of a monitor around a value of this type.
    #[track_caller]
    #[inline(always)]
    pub(crate) const fn monitor<T>() -> Self {
        Self::new(type_name::<T>, None)
    }

    /// Notes that the caller is inside the monitor.
    #[inline]
    pub(crate) fn entered(&self) {
        if let Some(monitor) = self.0.get()
            && let Some(id) = current()
        {
            let mut graph = graph::lock();
            if !monitor.is_loose() {
                graph.hold(monitor.number(), id);
            }
        }
    }

    /// Notes that the caller is about to leave the monitor, or to wait.
    #[inline]
    pub(crate) fn left(&self) {
        let Some(monitor) = self.0.get() else { return };
        let mut graph = graph::lock();
        let Some(holders) = graph.unhold(monitor.number()) else { return };
        if current().is_none_or(|id| !holders.contains(&id)) {
            monitor.loosen(&mut graph);
        }
    }

    /// Notes that the waiter at a node has been inside this monitor too since before.
    #[inline]
    pub(crate) fn held_meanwhile(&self, node: *const ()) {
        let Some(monitor) = self.0.get() else { return };
        let mut graph = graph::lock();
        let id = graph.edge(Key::Node(node.addr())).map(|edge| edge.waiter.id());
        if let Some(id) = id
            && !monitor.is_loose()
        {
            graph.hold(monitor.number(), id);
        }
    }
}
