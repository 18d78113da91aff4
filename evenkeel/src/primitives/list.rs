//! A list that is linked through its nodes, which lie in the futures of waiting tasks: it allocates
//! nothing, and a future takes its own node out wherever that is.
//!
//! # Roles
//! A *node* is a part of a pinned future, with a [`Link`]. The *owner* of a list is the thread that
//! has `&mut` to it, by the lock that guards the list. A future that gives its wait up takes that
//! lock, and is the owner then.
//!
//! # States
//! A node is *out* of all lists, or *in* one. Its links are written when it joins a list, and read
//! by that list's owner alone. A list has the addresses of its first and its last node.
//! - An empty list has no first node, and its last node is *stale*: the address is not followed.
//! - The first node has nothing before it, and its `prev` is stale.
//!
//! So [`List::pop`] writes to nothing but the list. The node behind the first one lies in another
//! task, the line of which may be in another core's cache.
//!
//! # Why no address is followed too late
//! A future ends only after its node is out, and a node is out only once neither the list nor
//! another node in it has its address, stale ones excepted. Stale addresses are overwritten before
//! they are followed: the list's by the next node that joins, a node's when another node joins
//! before it.
//!
//! # What is safe
//! To put a node in and to [remove](List::remove) a given one are promises of the caller, about the
//! node. With these kept, all else is safe, and gives addresses, not references. A caller that
//! follows an address relies on the node being in the list, or on the lock if it has just come out.
//!
//! # Rejected
//! A ring, which takes one word instead of two for a list: the owner that takes out the first node
//! would write to the one behind it. A list that keeps where its nodes are, such as in an entry
//! queue or a slot of the wheel: each user has other places, and keeps them beside the link.

#![allow(unsafe_code, reason = "nodes are linked through futures")]

use super::cell::UnsafeCell;
use std::mem::MaybeUninit;
use std::ptr::NonNull;

/// Nodes in order.
pub(crate) struct List<N> {
    front: Option<NonNull<N>>,
    /// Stale in an empty list.
    back: NonNull<N>,
}

/// A node's place in a list: nothing is written before it joins one.
pub(crate) struct Link<N>(UnsafeCell<MaybeUninit<Links<N>>>);

/// The neighbours of a node in a list.
struct Links<N> {
    next: Option<NonNull<N>>,
    /// Stale in the first node.
    prev: NonNull<N>,
}

/// A node of lists.
///
/// # Safety
/// `link` always returns the same link, which is a part of the node.
pub(crate) unsafe trait Linked: Sized {
    /// Returns the node's link.
    fn link(&self) -> &Link<Self>;
}

impl<N> Link<N> {
    #[inline(always)]
    pub(crate) fn new() -> Self {
        Self(UnsafeCell::new(MaybeUninit::uninit()))
    }
}

impl<N> List<N> {
    pub(crate) const fn new() -> Self {
        Self { front: None, back: NonNull::dangling() }
    }

    #[inline(always)]
    pub(crate) fn is_empty(&self) -> bool {
        self.front.is_none()
    }

    /// Returns the first node, by the address with which it was put here. If that address was
    /// derived from a larger structure that begins with the node, it is valid for all of it.
    #[inline(always)]
    pub(crate) fn front(&self) -> Option<NonNull<N>> {
        self.front
    }

    /// Returns the last node, by the address with which it was put here.
    #[inline(always)]
    pub(crate) fn back(&self) -> Option<NonNull<N>> {
        self.front.map(|_| self.back)
    }
}

impl<N: Linked> List<N> {
    /// Reads or changes the links of a node.
    ///
    /// # Safety
    /// The node is in a list that the caller owns.
    #[inline(always)]
    unsafe fn with<R>(node: NonNull<N>, f: impl FnOnce(&mut Links<N>) -> R) -> R {
        // SAFETY: the node is in a list, so its future is there.
        let link = unsafe { node.as_ref() }.link();
        link.0.with_mut(|links| {
            // SAFETY: the node is in a list, the owner of which alone uses the links.
            let links = unsafe { &mut *links };
            // SAFETY: they were written when the node joined the list.
            f(unsafe { links.assume_init_mut() })
        })
    }

    /// Puts a node last.
    ///
    /// # Safety
    /// The node is in no list. It stays where it is, without `&mut` to its link, until it has been
    /// taken out. Threads that have `&` to it at the same time leave the link alone.
    #[inline(always)]
    pub(crate) unsafe fn push_back(&mut self, node: NonNull<N>) {
        // SAFETY: the caller's promise; the last node is in this list.
        unsafe { self.insert(self.back(), node) };
    }

    /// Puts a node behind `prev`, or first if that is none.
    ///
    /// # Safety
    /// As [`push_back`](Self::push_back), and `prev` is in this list.
    #[inline(always)]
    pub(crate) unsafe fn insert(&mut self, prev: Option<NonNull<N>>, node: NonNull<N>) {
        let next = match prev {
            None => self.front.replace(node),
            // SAFETY: it is in this list.
            Some(prev) => unsafe { Self::with(prev, |links| links.next.replace(node)) },
        };
        match next {
            None => self.back = node,
            // SAFETY: the neighbour of a node in this list is in it too.
            Some(next) => unsafe { Self::with(next, |links| links.prev = node) },
        }
        let links = MaybeUninit::new(Links { next, prev: prev.unwrap_or(node) });
        // SAFETY: the caller's promise: the node is there.
        let link = unsafe { node.as_ref() }.link();
        // SAFETY: until the node is in the list, its link is the caller's.
        link.0.with_mut(|place| unsafe { place.write(links) });
    }

    /// Takes the first node out, and does not touch the one behind it.
    #[inline(always)]
    pub(crate) fn pop(&mut self) -> Option<NonNull<N>> {
        let node = self.front?;
        // SAFETY: it is in this list.
        self.front = unsafe { Self::with(node, |links| links.next) };
        Some(node)
    }

    /// Takes a node out, and returns the one before it.
    ///
    /// # Safety
    /// It is in this list.
    #[inline(always)]
    pub(crate) unsafe fn remove(&mut self, node: NonNull<N>) -> Option<NonNull<N>> {
        if self.front == Some(node) {
            self.pop();
            return None;
        }
        // SAFETY: the caller's promise.
        let (next, prev) = unsafe { Self::with(node, |links| (links.next, links.prev)) };
        // SAFETY: the node is not the first, so the one before it is in this list.
        unsafe { Self::with(prev, |links| links.next = next) };
        match next {
            None => self.back = prev,
            // SAFETY: the neighbour of a node in this list is in it too.
            Some(next) => unsafe { Self::with(next, |links| links.prev = prev) },
        }
        Some(prev)
    }

    /// Iterates over the nodes, the first one first.
    pub(crate) fn iter(&self) -> impl Iterator<Item = NonNull<N>> + '_ {
        // SAFETY: each is in this list, which does not change meanwhile.
        std::iter::successors(self.front, |node| unsafe { Self::with(*node, |links| links.next) })
    }
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::VecDeque;

    struct Node {
        number: usize,
        link: Link<Self>,
    }

    // SAFETY: it is the node's only link.
    unsafe impl Linked for Node {
        fn link(&self) -> &Link<Self> {
            &self.link
        }
    }

    /// A step of a test, on the list and on a `VecDeque`.
    #[derive(Clone, Debug)]
    enum Step {
        PushBack,
        PushFront,
        /// Behind the node at this index, or that many nodes on from the first one again.
        Insert(usize),
        Pop,
        /// As `Insert`.
        Remove(usize),
    }

    fn steps() -> impl Strategy<Value = Vec<Step>> {
        let step = prop_oneof![
            3 => Just(Step::PushBack),
            1 => Just(Step::PushFront),
            2 => any::<usize>().prop_map(Step::Insert),
            2 => Just(Step::Pop),
            2 => any::<usize>().prop_map(Step::Remove),
        ];
        prop::collection::vec(step, 0..200)
    }

    /// The list, and what is to be in it. A node is in a box of its own, and is freed as soon as it
    /// is out: a list that follows a stale address uses freed memory.
    struct Pair {
        list: List<Node>,
        model: VecDeque<NonNull<Node>>,
        made: usize,
    }

    impl Pair {
        fn make(&mut self) -> NonNull<Node> {
            self.made += 1;
            NonNull::from(Box::leak(Box::new(Node { number: self.made, link: Link::new() })))
        }

        /// The index of a node, unless there is none.
        fn index(&self, number: usize) -> Option<usize> {
            number.checked_rem(self.model.len())
        }

        fn free(node: NonNull<Node>) -> usize {
            // SAFETY: it comes from a box, and is in no list any more.
            unsafe { Box::from_raw(node.as_ptr()) }.number
        }

        fn take(&mut self, step: Step) {
            match step {
                Step::PushBack => {
                    let node = self.make();
                    self.model.push_back(node);
                    // SAFETY: it is new, and is freed once it is out.
                    unsafe { self.list.push_back(node) };
                }
                Step::PushFront => {
                    let node = self.make();
                    self.model.push_front(node);
                    // SAFETY: as above.
                    unsafe { self.list.insert(None, node) };
                }
                Step::Insert(number) => {
                    let Some(index) = self.index(number) else { return };
                    let node = self.make();
                    let prev = self.model[index];
                    self.model.insert(index + 1, node);
                    // SAFETY: as above; the model says that `prev` is in the list.
                    unsafe { self.list.insert(Some(prev), node) };
                }
                Step::Pop => {
                    let node = self.list.pop();
                    assert_eq!(node, self.model.pop_front());
                    node.map(Self::free);
                }
                Step::Remove(number) => {
                    let Some(index) = self.index(number) else { return };
                    let node = self.model.remove(index).unwrap();
                    // SAFETY: the model says that it is in the list.
                    let before = unsafe { self.list.remove(node) };
                    assert_eq!(before, index.checked_sub(1).map(|index| self.model[index]));
                    Self::free(node);
                }
            }
            assert!(self.list.iter().eq(self.model.iter().copied()));
            assert_eq!(self.list.front(), self.model.front().copied());
            assert_eq!(self.list.back(), self.model.back().copied());
            assert_eq!(self.list.is_empty(), self.model.is_empty());
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn it_does_what_a_deque_does(steps in steps()) {
            let mut pair = Pair { list: List::new(), model: VecDeque::new(), made: 0 };
            steps.into_iter().for_each(|step| pair.take(step));
            while !pair.list.is_empty() {
                pair.take(Step::Pop);
            }
        }
    }

    #[test]
    fn nodes_come_out_in_the_order_in_which_they_went_in() {
        let mut pair = Pair { list: List::new(), model: VecDeque::new(), made: 0 };
        for _ in 0..3 {
            pair.take(Step::PushBack);
        }
        let popped = std::iter::from_fn(|| pair.list.pop()).map(Pair::free);
        assert_eq!(popped.collect::<Vec<_>>(), [1, 2, 3]);
    }

    /// The address with which a node was put in reaches all of the structure that begins with it.
    #[test]
    fn the_first_node_leads_to_the_structure_that_it_begins() {
        #[repr(C)]
        struct Larger {
            node: Node,
            datum: u32,
        }

        let larger = Larger { node: Node { number: 0, link: Link::new() }, datum: 7 };
        let mut list = List::new();
        // SAFETY: the structure outlives the list, and nothing else uses its link.
        unsafe { list.push_back(NonNull::from(&larger).cast::<Node>()) };
        let front = list.front().unwrap().cast::<Larger>();
        // SAFETY: that is what has been put there.
        assert_eq!(unsafe { front.as_ref() }.datum, 7);
    }
}
