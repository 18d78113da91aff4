//! Nodes of an unbalanced tree, in which a path alone determines its node: geometric with fixed
//! branching, as T1 of the unbalanced tree search benchmark (Olivier et al., 2006). Children are
//! hashes of their parent.

use std::hint::black_box;

use sha1::{Digest, Sha1};

use super::Workload;
use crate::forker::Forker;

/// Expected children of a node.
const BRANCHING: f64 = 4.0;
/// The root is the hash of this.
const SEED: u32 = 19;
/// The most children of a node.
const MOST: usize = 100;

pub(super) struct Uts {
    depth: usize,
    nodes: u64,
}

impl Workload for Uts {
    fn prepare(n: usize) -> Self {
        Self { depth: n, nodes: 0 }
    }

    fn go<F: Forker>(&mut self, forker: &F) {
        let (root, depth) = (Node::root(), black_box(self.depth));
        self.nodes = black_box(forker.run(|cx| count::<F>(cx, root, 0, depth)));
    }

    fn checksum(&self) -> u64 {
        self.nodes
    }
}

/// A node is its hash.
#[derive(Clone, Copy)]
struct Node([u8; 20]);

impl Node {
    fn root() -> Self {
        let mut seed = [0; 20];
        seed[16..].copy_from_slice(&SEED.to_be_bytes());
        Self(Sha1::digest(seed).into())
    }

    #[inline(never)]
    fn child(&self, number: u32) -> Self {
        let hash = Sha1::new().chain_update(self.0).chain_update(number.to_be_bytes());
        Self(hash.finalize().into())
    }

    /// The number of its children, above the depth where the tree is cut.
    fn children(&self) -> usize {
        let [.., a, b, c, d] = self.0;
        let random = u32::from_be_bytes([a, b, c, d]) & 0x7fff_ffff;
        let uniform = f64::from(random) / f64::from(1_u32 << 31);
        let probability = 1.0 / (1.0 + BRANCHING);
        let children = ((1.0 - uniform).ln() / (1.0 - probability).ln()).floor();
        (children as usize).min(MOST)
    }
}

fn count<F: Forker>(cx: F::Cx<'_, '_>, node: Node, depth: usize, most: usize) -> u64 {
    let children = if depth < most { node.children() } else { 0 };
    1 + range::<F>(cx, node, 0, children, depth + 1, most)
}

/// Counts the nodes below the children `from..to`.
fn range<F: Forker>(
    mut cx: F::Cx<'_, '_>,
    node: Node,
    from: usize,
    to: usize,
    depth: usize,
    most: usize,
) -> u64 {
    match to - from {
        0 => 0,
        1 => count::<F>(cx, node.child(from as u32), depth, most),
        _ => {
            let middle = usize::midpoint(from, to);
            F::join_then(
                &mut cx,
                move |cx| range::<F>(cx, node, from, middle, depth, most),
                move |cx| range::<F>(cx, node, middle, to, depth, most),
                |a, b| a + b,
            )
        }
    }
}
