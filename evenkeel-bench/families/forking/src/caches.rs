//! Sizes of programs in proportion to the machine's last-level caches, as in the evaluation of the
//! Cilk Locality runtime: within one of them, within all of them, and beyond.

use evenkeel::topology::Topology;

use super::program::Program;

/// The last-level caches of a machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Last {
    /// Bytes of one cache.
    one: u64,
    /// Bytes of all those of the cores in use.
    all: u64,
}

/// Returns three sizes of a program: its data fill half of one last-level cache, half of all, and
/// all of them four times. The simulation has the same proportions. Returns the reason if the
/// caches are unknown.
pub(super) fn sizes(program: Program) -> Result<Vec<usize>, String> {
    let topology =
        Topology::detect().map_err(|error| format!("the caches are not known: {error}"))?;
    let last = Last::of(&topology).ok_or("the system does not tell how large its caches are")?;
    last.sizes(program).ok_or_else(|| format!("{program} has no data that fill caches"))
}

impl Last {
    fn of(topology: &Topology) -> Option<Self> {
        let last = topology.caches().iter().map(|cache| cache.level).max()?;
        let in_use = topology.cpus_in_use();
        let is_used = |cpus: &[usize]| cpus.iter().any(|cpu| in_use.contains(cpu));
        let used =
            topology.caches().iter().filter(|cache| cache.level == last && is_used(&cache.cpus));
        let bytes = used.map(|cache| cache.size).collect::<Option<Vec<u64>>>()?;
        Some(Self { one: *bytes.first()?, all: bytes.iter().sum() })
    }

    fn sizes(self, program: Program) -> Option<Vec<usize>> {
        let mut sizes = [self.one / 2, self.all / 2, 4 * self.all]
            .map(|bytes| program.filling(bytes))
            .into_iter()
            .collect::<Option<Vec<usize>>>()?;
        // With one such cache the first two are equal.
        sizes.dedup();
        Some(sizes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn data_are_within_one_cache_within_all_and_beyond() {
        let last = Last { one: 16 << 20, all: 64 << 20 };
        let bytes = |n: usize| 2 * 8 * n * n;
        let sizes = last.sizes(Program::Transpose).expect("it has matrices");
        let [small, medium, large] = sizes.as_slice() else { panic!("{sizes:?}") };
        assert!(bytes(*small) <= 8 << 20 && bytes(small + 1) > 8 << 20);
        assert!(bytes(*medium) <= 32 << 20 && bytes(medium + 1) > 32 << 20);
        assert!(bytes(*large) <= 256 << 20 && bytes(large + 1) > 256 << 20);
        assert_eq!(last.sizes(Program::Cilksort).map(|sizes| sizes[0]), Some(512 << 10));
        assert_eq!(last.sizes(Program::Fib), None);
        let alone = Last { one: 32 << 20, all: 32 << 20 };
        assert_eq!(alone.sizes(Program::Matmul).map(|sizes| sizes.len()), Some(2));
    }

    #[test]
    fn a_machine_without_known_caches_has_no_such_sizes() {
        assert_eq!(Last::of(&Topology::flat(4)), None);
    }
}
