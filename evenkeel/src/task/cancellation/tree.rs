//! Which tokens are cancelled with which.
//!
//! A tree has one lock and all nodes in one slab. Nodes name each other by keys, so there are no
//! cycles of counts, and no walk is a recursion. A node is there for as long as its token or a
//! clone of it. When a node goes, its children become children of its parent: a long chain of
//! tokens of which only the last is kept costs no more than that one and the first.
//!
//! # Why no cancellation is missed
//! Under the lock of the tree the canceller sets the signal of each node below, and parts those
//! nodes. Children are made and nodes go under the same lock. So a child is made before, and is
//! reached, or after, and is made cancelled. Waiters are woken without the lock.
//!
//! # Rejected
//! A lock for each node: a node that goes gives its children to its parent, for which the locks of
//! three generations are taken in order. A parent kept by each of its children: chains of dead
//! tokens keep their memory, and free it by a recursion.

use super::signal::Signal;
use crate::primitives::slab::Slab;
use crate::primitives::{Mutex, lock};
use std::sync::Arc;

/// No node.
const NONE: usize = usize::MAX;

/// The nodes of a root and of all that descend from it.
#[derive(Debug)]
struct Tree(Mutex<Nodes>);

#[derive(Debug)]
struct Nodes(Slab<Node>);

#[derive(Debug)]
struct Node {
    signal: Arc<Signal>,
    parent: usize,
    /// The list of the children, and this node's neighbours in its parent's.
    first: usize,
    next: usize,
    previous: usize,
}

/// The place of a token in its tree, which all clones of the token share.
#[derive(Debug)]
pub(super) struct Place {
    tree: Arc<Tree>,
    key: usize,
    signal: Arc<Signal>,
}

impl Place {
    /// The root of a new tree.
    pub(super) fn root() -> Self {
        let signal = Arc::new(Signal::new(false));
        let mut nodes = Nodes(Slab::new());
        let key = nodes.insert(signal.clone());
        Self { tree: Arc::new(Tree(Mutex::new(nodes))), key, signal }
    }

    pub(super) fn signal(&self) -> &Signal {
        &self.signal
    }

    /// Makes a child, which is cancelled already if this is.
    pub(super) fn child(&self) -> Self {
        let mut nodes = lock(&self.tree.0);
        let is_cancelled = self.signal.is_set();
        let signal = Arc::new(Signal::new(is_cancelled));
        let key = nodes.insert(signal.clone());
        if !is_cancelled {
            nodes.link(self.key, key);
        }
        drop(nodes);
        Self { tree: self.tree.clone(), key, signal }
    }

    /// Sets the signals of this node and of all below, and wakes what waits for them.
    pub(super) fn cancel(&self) {
        let mut set = Vec::new();
        lock(&self.tree.0).cancel(self.key, &mut set);
        set.iter().for_each(|signal| signal.wake());
    }

    /// Returns how many nodes the tree has.
    #[cfg(all(test, not(any(loom, shuttle))))]
    fn nodes(&self) -> usize {
        lock(&self.tree.0).0.len()
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        // Bound, so that the lock is free again before the node's signal is dropped.
        let node = lock(&self.tree.0).remove(self.key);
        drop(node);
    }
}

impl Nodes {
    fn insert(&mut self, signal: Arc<Signal>) -> usize {
        self.0.insert(Node { signal, parent: NONE, first: NONE, next: NONE, previous: NONE })
    }

    /// A node that is known to be there: by its place, or by a neighbour.
    fn node(&mut self, key: usize) -> &mut Node {
        self.0.get_mut(key).expect("a node is there as long as its place")
    }

    /// Makes a node without a parent the first child of another.
    fn link(&mut self, parent: usize, child: usize) {
        let next = std::mem::replace(&mut self.node(parent).first, child);
        if next != NONE {
            self.node(next).previous = child;
        }
        let child = self.node(child);
        child.parent = parent;
        child.next = next;
        child.previous = NONE;
    }

    /// Takes a node out of its parent's list, if it has a parent, which is returned.
    fn unlink(&mut self, key: usize) -> usize {
        let node = self.node(key);
        let parent = std::mem::replace(&mut node.parent, NONE);
        let next = std::mem::replace(&mut node.next, NONE);
        let previous = std::mem::replace(&mut node.previous, NONE);
        if next != NONE {
            self.node(next).previous = previous;
        }
        if previous != NONE {
            self.node(previous).next = next;
        } else if parent != NONE {
            self.node(parent).first = next;
        }
        parent
    }

    /// Sets the signals of a node and of all below, and parts these nodes from each other: no later
    /// walk comes to them.
    fn cancel(&mut self, key: usize, set: &mut Vec<Arc<Signal>>) {
        if self.node(key).signal.is_set() {
            return;
        }
        self.unlink(key);
        let mut below = vec![key];
        while let Some(key) = below.pop() {
            let node = self.node(key);
            node.signal.set();
            set.push(node.signal.clone());
            let mut child = std::mem::replace(&mut node.first, NONE);
            while child != NONE {
                below.push(child);
                let node = self.node(child);
                node.parent = NONE;
                node.previous = NONE;
                child = std::mem::replace(&mut node.next, NONE);
            }
        }
    }

    /// Takes a node out of the tree. Its children become its parent's.
    fn remove(&mut self, key: usize) -> Option<Node> {
        let parent = self.unlink(key);
        let mut child = self.node(key).first;
        while child != NONE {
            let next = self.node(child).next;
            if parent == NONE {
                let node = self.node(child);
                (node.parent, node.next, node.previous) = (NONE, NONE, NONE);
            } else {
                self.link(parent, child);
            }
            child = next;
        }
        self.0.remove(key)
    }
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use super::Place;
    use std::task::{Poll, Waker};

    #[test]
    fn a_chain_of_which_the_ends_are_kept_has_two_nodes() {
        let root = Place::root();
        let mut last = root.child();
        for _ in 0..10_000 {
            last = last.child();
        }
        assert_eq!(root.nodes(), 2);
        root.cancel();
        assert!(last.signal().is_set() && last.child().signal().is_set());
        drop(root);
        assert_eq!(last.nodes(), 1);
    }

    #[test]
    fn a_node_that_goes_gives_its_children_to_its_parent() {
        let root = Place::root();
        let middle = root.child();
        let sisters = [root.child(), root.child()];
        let leaves: Vec<Place> = (0..5).map(|_| middle.child()).collect();
        drop(middle);
        assert_eq!(root.nodes(), 8);
        sisters[0].cancel();
        assert!(!leaves.iter().any(|leaf| leaf.signal().is_set()));
        leaves[2].cancel();
        assert!(!root.signal().is_set() && !leaves[1].signal().is_set());
        root.cancel();
        assert!(leaves.iter().chain(&sisters).all(|place| place.signal().is_set()));
    }

    #[test]
    fn without_a_parent_children_become_roots() {
        let root = Place::root();
        let children = [root.child(), root.child()];
        let grandchild = children[0].child();
        drop(root);
        children[0].cancel();
        assert!(grandchild.signal().is_set() && !children[1].signal().is_set());
        children[1].cancel();
        assert!(children[1].signal().is_set());
    }

    #[test]
    fn children_that_come_and_go_leave_nothing() {
        let root = Place::root();
        for _ in 0..1_000 {
            let children: Vec<Place> = (0..3).map(|_| root.child()).collect();
            children[1].cancel();
        }
        assert_eq!(root.nodes(), 1);
    }

    #[test]
    fn waiters_leave_their_places() {
        let root = Place::root();
        for _ in 0..1_000 {
            let mut place = None;
            for _ in 0..2 {
                assert_eq!(root.signal().poll(&mut place, Waker::noop()), Poll::Pending);
            }
            assert_eq!(root.signal().waiters(), 1);
            root.signal().leave(place.expect("it waits"));
        }
        let mut place = None;
        assert!(root.signal().poll(&mut place, Waker::noop()).is_pending());
        root.cancel();
        assert_eq!(root.signal().waiters(), 0);
        assert!(root.signal().poll(&mut place, Waker::noop()).is_ready());
        root.signal().leave(place.expect("it has waited"));
    }
}
