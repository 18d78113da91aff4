//! Distances between hardware threads, and the orders that follow from them.
//!
//! The distance is a class, not a number of nanoseconds. What two threads share determines how a
//! cache line travels between them, and the order of the classes is the same on every machine.
//! Within a class the firmware's NUMA distance decides, and then the number of steps upwards from
//! the hardware thread that searches. By the last rule each processor sees equally distant ones in
//! another order, so that thieves of one cache do not all try the same victim first.

use super::{Cpu, Topology};

#[doc(inline)]
pub use evenkeel_policy::Distance;

impl Topology {
    /// Returns the hardware thread at `index`.
    #[track_caller]
    fn cpu(&self, index: usize) -> &Cpu {
        let count = self.cpus.len();
        assert!(
            index < count,
            "the machine has {count} hardware threads, and none at {index}: give an index into Topology::cpus"
        );
        &self.cpus[index]
    }

    /// Returns the distance between two hardware threads. Both are indices into
    /// [`cpus`](Self::cpus).
    ///
    /// # Panics
    /// When an index is out of bounds.
    ///
    /// # Examples
    /// ```
    /// use evenkeel::topology::{Distance, Topology};
    /// let machine = Topology::parse("2 packages, 2 l3 groups, 2 cores, 2 threads, l3 8M")?;
    /// let from_first = |to| machine.distance(0, to);
    /// assert_eq!(from_first(1), Distance::SmtSibling);
    /// assert_eq!(from_first(2), Distance::SharedLlc);
    /// assert_eq!(from_first(4), Distance::SameNode);
    /// assert_eq!(from_first(8), Distance::Remote);
    /// assert!(from_first(2) < from_first(4), "nearer ones are less");
    /// # Ok::<(), evenkeel::topology::TopologyError>(())
    /// ```
    #[track_caller]
    pub fn distance(&self, a: usize, b: usize) -> Distance {
        let (x, y) = (self.cpu(a), self.cpu(b));
        if a == b {
            Distance::Same
        } else if x.core == y.core {
            Distance::SmtSibling
        } else if x.l2 == y.l2 {
            Distance::SharedL2
        } else if x.llc == y.llc {
            Distance::SharedLlc
        } else if x.package != y.package {
            Distance::Remote
        } else if x.node != y.node {
            Distance::SamePackage
        } else {
            Distance::SameNode
        }
    }

    /// Returns the firmware's distance between the memory nodes of two hardware threads, if it
    /// reports one: 10 within a node, more between two. Both are indices into [`cpus`](Self::cpus).
    ///
    /// # Panics
    /// When an index is out of bounds.
    ///
    /// # Examples
    /// ```
    /// use evenkeel::topology::Topology;
    /// let machine = Topology::detect()?;
    /// for to in 0..machine.cpus().len() {
    ///     match machine.node_distance(0, to) {
    ///         Some(distance) => assert!(distance >= 10),
    ///         None => println!("the firmware reports none"),
    ///     }
    /// }
    /// assert_eq!(Topology::parse("2 packages")?.node_distance(0, 1), None);
    /// # Ok::<(), evenkeel::topology::TopologyError>(())
    /// ```
    #[track_caller]
    pub fn node_distance(&self, a: usize, b: usize) -> Option<u32> {
        let (from, to) = (self.cpu(a).node, self.cpu(b).node);
        self.node_distances.as_ref().map(|rows| rows[from][to])
    }

    /// Returns all other hardware threads, as indices into [`cpus`](Self::cpus), nearest first.
    ///
    /// Equally distant ones follow in the order of their indices from `from` upwards, with
    /// wrap-around.
    ///
    /// # Panics
    /// When the index is out of bounds.
    ///
    /// # Examples
    /// ```
    /// use evenkeel::topology::Topology;
    /// let machine = Topology::parse("2 packages, 2 cores, 2 threads, l3 8M")?;
    /// // Its sibling, the other core of its package, and the other package.
    /// assert_eq!(machine.by_distance(6), [7, 4, 5, 0, 1, 2, 3]);
    /// # Ok::<(), evenkeel::topology::TopologyError>(())
    /// ```
    #[track_caller]
    pub fn by_distance(&self, from: usize) -> Vec<usize> {
        self.cpu(from);
        let count = self.cpus.len();
        let mut others: Vec<usize> = (1..count).map(|step| (from + step) % count).collect();
        others.sort_by_key(|&to| (self.distance(from, to), self.node_distance(from, to)));
        others
    }

    /// Returns the hardware thread of each of `processors` processors, as indices into
    /// [`cpus`](Self::cpus).
    ///
    /// Only [`cpus_in_use`](Self::cpus_in_use) get a processor. Every core gets one before any core
    /// gets a second, since two hardware threads of a core share its execution units. Among cores,
    /// those that share most come first: a cache is filled before its node, a node before its
    /// package, a package before the next one. With more processors than hardware threads the order
    /// starts again.
    ///
    /// # Examples
    /// ```
    /// use evenkeel::topology::Topology;
    /// let machine = Topology::parse("2 packages, 2 cores, 2 threads, l3 8M")?;
    /// assert_eq!(machine.assign(2), [0, 2]);
    /// assert_eq!(machine.assign(8), [0, 2, 4, 6, 1, 3, 5, 7]);
    /// assert_eq!(machine.restricted_to([0, 1]).assign(3), [0, 1, 0]);
    /// # Ok::<(), evenkeel::topology::TopologyError>(())
    /// ```
    pub fn assign(&self, processors: usize) -> Vec<usize> {
        let seats = self.seats();
        seats.into_iter().cycle().take(processors).collect()
    }

    /// The hardware threads in use, in the order in which processors take them.
    fn seats(&self) -> Vec<usize> {
        let first = self.in_use[0];
        let mut rank = vec![0; self.cpus.len()];
        for (position, cpu) in self.by_distance(first).into_iter().enumerate() {
            rank[cpu] = position + 1;
        }
        // The rank of a group is that of its nearest member, which keeps a group together even when
        // the operating system numbers the hardware threads across packages.
        let packages = self.nearest(&rank, |index| self.cpus[index].package);
        let nodes = self.nearest(&rank, |index| self.cpus[index].node);
        let llcs = self.nearest(&rank, |index| self.cpus[index].llc);
        let l2s = self.nearest(&rank, |index| self.cpus[index].l2);
        let mut taken = vec![0_usize; self.cpus.len()];
        let mut seats: Vec<_> = self
            .in_use
            .iter()
            .map(|&index| {
                let cpu = &self.cpus[index];
                let sibling = taken[cpu.core];
                taken[cpu.core] += 1;
                let group = [packages[cpu.package], nodes[cpu.node], llcs[cpu.llc], l2s[cpu.l2]];
                (sibling, group, rank[index], index)
            })
            .collect();
        seats.sort_unstable();
        seats.into_iter().map(|(.., index)| index).collect()
    }

    /// The lowest rank in each group, by the number of the group.
    fn nearest(&self, rank: &[usize], group: impl Fn(usize) -> usize) -> Vec<usize> {
        // There are never more groups than hardware threads.
        let mut lowest = vec![usize::MAX; self.cpus.len()];
        for (index, &rank) in rank.iter().enumerate() {
            let lowest = &mut lowest[group(index)];
            *lowest = rank.min(*lowest);
        }
        lowest
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn machine(text: &str) -> Topology {
        text.parse().expect("the text is well-formed")
    }

    #[test]
    fn every_class_has_its_pair() {
        let t = machine(
            "2 packages, 2 nodes, 2 l3 groups, 2 l2 groups, 2 cores, 2 threads, l2 1M, l3 8M",
        );
        let of_zero = |b| t.distance(0, b);
        assert_eq!(of_zero(0), Distance::Same);
        assert_eq!(of_zero(1), Distance::SmtSibling);
        assert_eq!(of_zero(2), Distance::SharedL2);
        assert_eq!(of_zero(4), Distance::SharedLlc);
        assert_eq!(of_zero(8), Distance::SameNode);
        assert_eq!(of_zero(16), Distance::SamePackage);
        assert_eq!(of_zero(32), Distance::Remote);
    }

    #[test]
    fn the_classes_are_ordered_nearest_first() {
        assert!(Distance::ALL.is_sorted());
    }

    #[test]
    fn others_come_nearest_first_and_equals_from_oneself_upwards() {
        let t = machine("2 packages, 2 cores, 2 threads, l3 8M");
        assert_eq!(t.by_distance(0), [1, 2, 3, 4, 5, 6, 7]);
        assert_eq!(t.by_distance(6), [7, 4, 5, 0, 1, 2, 3]);
        assert_eq!(machine("4 cores").by_distance(2), [3, 0, 1]);
        assert_eq!(Topology::flat(1).by_distance(0), [0_usize; 0]);
    }

    #[test]
    fn an_index_out_of_bounds_is_refused_on_small_machines_too() {
        for cpus in 1..=3 {
            let t = Topology::flat(cpus);
            for refused in [
                std::panic::catch_unwind(|| drop(t.by_distance(cpus))),
                std::panic::catch_unwind(|| _ = t.node_distance(0, cpus)),
                std::panic::catch_unwind(|| _ = t.distance(cpus, cpus)),
            ] {
                let text = refused.unwrap_err().downcast::<String>().unwrap();
                assert!(text.contains(&format!("none at {cpus}: give an index")), "{text}");
            }
        }
    }

    #[test]
    fn the_firmware_orders_nodes_of_one_class() {
        let mut t = machine("3 packages");
        t.node_distances = Some(vec![vec![10, 31, 21], vec![31, 10, 21], vec![21, 21, 10]]);
        assert_eq!(t.by_distance(0), [2, 1]);
        assert_eq!(t.node_distance(0, 1), Some(31));
        assert_eq!(machine("3 packages").node_distance(0, 1), None);
    }

    #[test]
    fn cores_are_taken_before_their_second_threads() {
        let t = machine("2 packages, 2 cores, 2 threads, l3 8M");
        assert_eq!(t.assign(8), [0, 2, 4, 6, 1, 3, 5, 7]);
        assert_eq!(t.assign(1), [0]);
        assert_eq!(t.assign(0), [0_usize; 0]);
    }

    #[test]
    fn more_processors_than_hardware_threads_start_again() {
        assert_eq!(machine("2 cores").assign(5), [0, 1, 0, 1, 0]);
    }

    #[test]
    fn a_package_is_filled_before_the_next_however_they_are_numbered() {
        let mut t = machine("3 packages, 2 cores");
        for (cpu, package) in t.cpus.iter_mut().zip([0, 1, 2, 0, 1, 2]) {
            (cpu.package, cpu.node, cpu.llc) = (package, package, package);
        }
        assert_eq!(t.assign(6), [0, 3, 1, 4, 2, 5]);
    }

    #[test]
    fn only_the_hardware_threads_in_use_are_taken() {
        let t = machine("2 packages, 2 cores, 2 threads").restricted_to([2, 3, 5]);
        assert_eq!(t.assign(4), [2, 5, 3, 2]);
    }
}
