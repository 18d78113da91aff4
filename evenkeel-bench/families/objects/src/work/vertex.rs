//! Vertices of a graph, over which parties walk at random: many small objects, where two parties
//! rarely meet, and each entry is a cache miss.

use super::{Done, Kind, Work, scrambled};
use crate::party::Hand;

/// Edges out of a vertex.
const EDGES: usize = 4;

/// A vertex: its edges and its number of visits.
pub(crate) const VERTEX_BYTES: usize = size_of::<Vertex>();

/// A graph of this many vertices.
#[derive(Clone, Copy)]
pub(crate) struct Graph(pub(crate) usize);

pub(crate) struct Vertex {
    visits: u64,
    to: [u32; EDGES],
}

impl Kind for Graph {
    type Value = Vertex;

    fn make(self, number: usize) -> Vertex {
        let to = |edge| {
            let hash = scrambled(number * EDGES + edge);
            ((u128::from(hash) * self.0 as u128) >> 64) as u32
        };
        Vertex { visits: 0, to: std::array::from_fn(to) }
    }

    fn total(self, vertex: &Vertex) -> u64 {
        vertex.visits
    }
}

impl Work for Graph {
    /// One in 64 steps leads anywhere: a walk along edges alone might stay in a small circle.
    #[inline(always)]
    fn choose(self, hand: &mut Hand, in_use: usize) -> usize {
        let jump = hand.random.below(64 * in_use);
        if jump < in_use { jump } else { hand.at as usize % in_use }
    }

    #[inline]
    fn operate(self, vertex: &mut Vertex, hand: &mut Hand) -> Done {
        vertex.visits += 1;
        hand.at = vertex.to[hand.random.below(EDGES)];
        Done { added: 1, right: (hand.at as usize) < self.0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_walk_goes_along_edges_and_comes_everywhere() {
        let (graph, mut hand) = (Graph(100), Hand::new(1, 0));
        let mut vertices: Vec<Vertex> = (0..100).map(|number| graph.make(number)).collect();
        let mut along = 0;
        for _ in 0..10_000 {
            let before = hand.at as usize;
            let number = graph.choose(&mut hand, vertices.len());
            along += usize::from(number == before);
            assert!(graph.operate(&mut vertices[number], &mut hand).right);
        }
        assert!((9_700..10_000).contains(&along), "{along}");
        assert_eq!(vertices.iter().map(|vertex| graph.total(vertex)).sum::<u64>(), 10_000);
        assert!(vertices.iter().all(|vertex| graph.total(vertex) > 0));
    }
}
