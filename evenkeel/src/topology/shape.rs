//! The regular machine: the count of each level, and the sizes of the caches.
//!
//! The textual form describes only such machines. No separate rules decide whether a topology is
//! regular: its shape is guessed from the number of groups, and is right if it builds the same
//! machine again.

use std::collections::HashMap;
use std::fmt;

use super::{Cache, Cpu, Topology, group, number};

/// A regular machine. Every count is above zero, and is per member of the nearest enclosing level
/// that is present.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Shape {
    pub(super) packages: usize,
    pub(super) nodes: usize,
    /// Groups with a third-level cache in each node. `None` for a single group, which has such a
    /// cache if its size is known.
    pub(super) l3_groups: Option<usize>,
    /// Groups with a second-level cache in each group with a third. `None` when each core has its
    /// own cache, if any.
    pub(super) l2_groups: Option<usize>,
    pub(super) cores: usize,
    pub(super) threads: usize,
    /// The sizes of a cache of each level, the first level first.
    pub(super) sizes: [Option<u64>; 3],
    /// The size of a cache line.
    pub(super) line: Option<u64>,
}

impl Shape {
    /// The machine with this shape.
    pub(super) fn build(&self) -> Topology {
        let per_core = self.threads;
        let per_l2 = per_core * self.l2_groups.map_or(1, |_| self.cores);
        let per_llc = per_l2 * self.l2_groups.unwrap_or(self.cores);
        let per_node = per_llc * self.l3_groups.unwrap_or(1);
        let per_package = per_node * self.nodes;
        let count = per_package * self.packages;
        let mut cpus: Vec<Cpu> = (0..count)
            .map(|id| Cpu {
                id,
                core: id / per_core,
                l2: 0,
                llc: 0,
                node: id / per_node,
                package: id / per_package,
            })
            .collect();
        let [l1, l2, l3] = self.sizes;
        let levels = [
            (1, l1, l1.is_some(), per_core),
            (2, l2, l2.is_some() || self.l2_groups.is_some(), per_l2),
            (3, l3, l3.is_some() || self.l3_groups.is_some(), per_llc),
        ];
        let mut caches = Vec::new();
        for (level, size, _, each) in levels.into_iter().filter(|&(.., there, _)| there) {
            for first in (0..count).step_by(each) {
                let cpus = (first..first + each).collect();
                caches.push(Cache { level, size, line: self.line, cpus });
            }
        }
        group(&mut cpus, &caches);
        Topology::whole(cpus, caches)
    }

    /// The shape of the machine, if it is regular.
    pub(super) fn of(topology: &Topology) -> Option<Self> {
        let groups = |number: fn(&Cpu) -> usize| {
            topology.cpus.iter().map(number).max().map_or(0, |highest| highest + 1)
        };
        let first = |level| topology.caches.iter().find(|cache| cache.level == level);
        let size = |level| first(level).and_then(|cache| cache.size);
        let cpus = topology.cpus.len();
        let [packages, nodes] = [groups(|cpu| cpu.package), groups(|cpu| cpu.node)];
        let [l2s, cores] = [groups(|cpu| cpu.l2), groups(|cpu| cpu.core)];
        // The textual form has no group for a last-level cache below the third level.
        let llcs = if first(3).is_some() { groups(|cpu| cpu.llc) } else { nodes };
        let named = |level, several| first(level).is_some() && (several || size(level).is_none());
        let l3_named = named(3, llcs > nodes);
        let l2_named = named(2, cores > l2s);
        let shape = Self {
            packages,
            nodes: nodes / packages,
            l3_groups: l3_named.then_some(llcs / nodes),
            l2_groups: l2_named.then_some(l2s / llcs),
            cores: cores / if l2_named { l2s } else { llcs },
            threads: cpus / cores,
            sizes: [size(1), size(2), size(3)],
            line: topology.caches.first().and_then(|cache| cache.line),
        };
        // A level with fewer members than the one outside of it is irregular, and would divide by
        // zero.
        let whole = shape.nodes > 0 && shape.cores > 0 && shape.threads > 0;
        let whole = whole && shape.l3_groups != Some(0) && shape.l2_groups != Some(0);
        if !whole {
            return None;
        }
        (canonical(&shape.build()) == canonical(topology)).then_some(shape)
    }
}

impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let counts = [
            (Some(self.packages), "package"),
            (Some(self.nodes).filter(|&nodes| nodes > 1), "node"),
            (self.l3_groups, "l3 group"),
            (self.l2_groups, "l2 group"),
            (Some(self.cores), "core"),
            (Some(self.threads).filter(|&threads| threads > 1), "thread"),
        ];
        for (position, (count, word)) in
            counts.into_iter().filter_map(|(count, word)| Some((count?, word))).enumerate()
        {
            let comma = if position == 0 { "" } else { ", " };
            let plural = if count == 1 { "" } else { "s" };
            write!(f, "{comma}{count} {word}{plural}")?;
        }
        for (size, word) in self.sizes.into_iter().zip(["l1", "l2", "l3"]).rev() {
            if let Some(size) = size {
                let (number, unit) = in_units(size);
                write!(f, ", {word} {number}{unit}")?;
            }
        }
        match self.line {
            Some(line) => write!(f, ", line {line}"),
            None => Ok(()),
        }
    }
}

/// The size in the largest unit that leaves a whole number.
pub(super) fn in_units(size: u64) -> (u64, &'static str) {
    let units = [(30, "G"), (20, "M"), (10, "K")];
    let fits = units.into_iter().find(|(bits, _)| size > 0 && size.is_multiple_of(1 << bits));
    fits.map_or((size, ""), |(bits, unit)| (size >> bits, unit))
}

/// The machine without the operating system's numbers: hardware threads sorted by their groups,
/// groups numbered in that order, and caches likewise.
fn canonical(topology: &Topology) -> (Vec<[usize; 5]>, Vec<Cache>) {
    let cpus = &topology.cpus;
    let groups = |cpu: &Cpu| [cpu.package, cpu.node, cpu.llc, cpu.l2, cpu.core];
    let mut order: Vec<usize> = (0..cpus.len()).collect();
    order.sort_by_key(|&index| groups(&cpus[index]));
    let mut numbers: [HashMap<usize, usize>; 5] = Default::default();
    let mut position = vec![0; cpus.len()];
    let mut sorted = Vec::with_capacity(cpus.len());
    for (at, &index) in order.iter().enumerate() {
        position[index] = at;
        let mut groups = groups(&cpus[index]);
        for (group, numbers) in groups.iter_mut().zip(&mut numbers) {
            *group = number(numbers, *group);
        }
        sorted.push(groups);
    }
    let mut caches = topology.caches.clone();
    for cache in &mut caches {
        for cpu in &mut cache.cpus {
            *cpu = position[*cpu];
        }
        cache.cpus.sort_unstable();
    }
    caches.sort_by_key(|cache| (cache.level, cache.cpus[0]));
    (sorted, caches)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reprinted(text: &str) -> String {
        let machine = Topology::parse(text).expect("the text is well-formed");
        machine.to_text().expect("a machine from text is regular")
    }

    #[test]
    fn the_shortest_form_is_printed() {
        assert_eq!(reprinted("8 CORE, 1 package, 1 node, 1 thread"), "1 package, 8 cores");
        assert_eq!(reprinted("l3 8192K, 1 l3 group"), "1 package, 1 core, l3 8M");
        assert_eq!(reprinted("2 l3 groups, l3 3M"), "1 package, 2 l3 groups, 1 core, l3 3M");
        assert_eq!(reprinted("4 l2 groups, l2 1000"), "1 package, 4 cores, l2 1000");
        assert_eq!(reprinted("4 l2 groups"), "1 package, 4 l2 groups, 1 core");
    }

    #[test]
    fn the_last_level_is_the_highest_that_is_named() {
        let last = |text: &str| {
            let machine = Topology::parse(text).expect("the text is well-formed");
            machine.cpus[machine.cpus.len() - 1].llc
        };
        assert_eq!(last("2 packages, 4 cores"), 1);
        assert_eq!(last("2 packages, 4 cores, l1 32K"), 1);
        assert_eq!(last("2 packages, 4 cores, l2 1M"), 7);
        assert_eq!(last("2 packages, 2 l2 groups, 4 cores"), 3);
        assert_eq!(last("2 packages, 4 cores, l2 1M, l3 8M"), 1);
    }

    #[test]
    fn interleaved_numbering_does_not_matter() {
        let mut t = Topology::parse("2 cores, 2 threads, l2 1M").expect("well-formed");
        for (cpu, core) in t.cpus.iter_mut().zip([0, 1, 0, 1]) {
            (cpu.core, cpu.l2, cpu.llc) = (core, core, core);
        }
        t.caches[0].cpus = vec![0, 2];
        t.caches[1].cpus = vec![1, 3];
        assert_eq!(t.to_text().as_deref(), Some("1 package, 2 cores, 2 threads, l2 1M"));
    }

    #[test]
    fn irregular_machines_have_no_text() {
        let mut sizes = Topology::parse("2 cores, l2 1M").expect("well-formed");
        sizes.caches[1].size = Some(1);
        assert_eq!(sizes.to_text(), None);
        let mut cores = Topology::flat(3);
        cores.cpus[1].core = 0;
        assert_eq!(cores.to_text(), None);
        let mut nodes = Topology::parse("2 packages").expect("well-formed");
        nodes.cpus[1].node = 0;
        assert_eq!(nodes.to_text(), None);
        let mut groups = Topology::parse("2 threads, l3 8M").expect("well-formed");
        (groups.cpus[1].llc, groups.cpus[1].l2) = (1, 1);
        assert_eq!(groups.to_text(), None);
    }
}
