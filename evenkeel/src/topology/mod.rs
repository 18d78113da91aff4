//! The machine: its packages, memory nodes, caches, cores and hardware threads.
//!
//! The scheduler looks for near work before far work, and a worker stays on its hardware thread if
//! the user asks for that. Both need to know what the hardware threads share. A [`Topology`] has
//! this as plain values. It comes from three sources:
//!
//! - [`Topology::detect`] reads the machine, and the part of it that this process may use: the
//!   affinity mask and the quota of its control group.
//! - [`Topology::parse`] reads a textual form, for tests, simulation and the user who knows better
//!   than the system. Its documentation describes the form.
//! - [`Topology::flat`] makes a machine of equal cores.
//!
//! A topology prints as a sentence for people. [`Topology::to_text`] gives the textual form.
//!
//! ```
//! use evenkeel::topology::{Distance, Topology};
//!
//! let machine: Topology = "4 packages, 6 cores, l3 8M, l2 512K, 2 threads".parse()?;
//! assert_eq!(machine.cpus().len(), 48);
//! assert_eq!(machine.distance(0, 1), Distance::SmtSibling);
//! assert_eq!(machine.distance(0, 2), Distance::SharedLlc);
//! assert_eq!(machine.distance(0, 12), Distance::Remote);
//! # Ok::<(), evenkeel::topology::TopologyError>(())
//! ```

mod cgroup;
mod display;
mod distance;
mod error;
mod file;
mod shape;
mod sysfs;
mod text;

use std::collections::HashMap;
use std::hash::Hash;
use std::path::Path;
use std::str::FromStr;

pub use self::cgroup::Quota;
pub use self::distance::Distance;
pub use self::error::TopologyError;
use self::shape::Shape;
pub(crate) use self::sysfs::memory;

/// The most hardware threads that a machine can have: eight times what Linux supports.
pub const MAX_CPUS: usize = 65_536;

/// One hardware thread and the groups it belongs to.
///
/// Groups of each kind are numbered from 0 across the whole machine, in the order of their first
/// hardware thread.
///
/// # Examples
/// ```
/// use evenkeel::topology::{Cpu, Topology};
/// let machine = Topology::parse("2 packages, 2 nodes, 4 cores, 2 threads")?;
/// let last: &Cpu = machine.cpus().last().unwrap();
/// assert_eq!((last.id, last.core, last.node, last.package), (31, 15, 3, 1));
/// # Ok::<(), evenkeel::topology::TopologyError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Cpu {
    /// The operating system's number for it, which pinning uses.
    pub id: usize,
    /// The core. Hardware threads of one core share its execution units.
    pub core: usize,
    /// The group with a common second-level cache: the core alone unless more is known.
    pub l2: usize,
    /// The group with a common last-level cache: its node's part of the package unless more is
    /// known.
    pub llc: usize,
    /// The memory node.
    pub node: usize,
    /// The package, which is what sits in a socket.
    pub package: usize,
}

/// One cache that holds data, and the hardware threads that share it.
///
/// # Examples
/// ```
/// use evenkeel::topology::{Cache, Topology};
/// let machine = Topology::parse("2 l3 groups, 2 cores, l2 1M, l3 32M, line 64")?;
/// let l3: Vec<&Cache> = machine.caches().iter().filter(|cache| cache.level == 3).collect();
/// assert_eq!(l3.len(), 2);
/// assert_eq!((l3[1].size, l3[1].line), (Some(32 << 20), Some(64)));
/// assert_eq!(l3[1].cpus, [2, 3]);
/// # Ok::<(), evenkeel::topology::TopologyError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Cache {
    /// The level, 1 nearest to the core.
    pub level: u8,
    /// The size in bytes, if known.
    pub size: Option<u64>,
    /// The size of a cache line in bytes, if known.
    pub line: Option<u64>,
    /// The hardware threads that share it, as ascending indices into [`Topology::cpus`].
    pub cpus: Vec<usize>,
}

/// A machine, and the part of it that may be used.
///
/// # Examples
/// Places for four threads that share data, on a machine of which half is in use:
/// ```
/// use evenkeel::topology::Topology;
/// let machine = Topology::parse("2 packages, 4 cores, 2 threads, l3 32M")?;
/// // The second package is for another program.
/// let ours = machine.restricted_to(0..8);
/// assert_eq!(ours.cpus_in_use().len(), 8);
/// assert_eq!((ours.processors(), ours.quota()), (8, None));
/// // A core each, before any core gets a second thread.
/// let places = ours.assign(4);
/// assert_eq!(places, [0, 2, 4, 6]);
/// assert_eq!(ours.cpus()[places[3]].core, 3);
/// // All four share the L3 of the first package.
/// let l3 = ours.caches().iter().find(|cache| cache.level == 3).unwrap();
/// assert!(places.iter().all(|place| l3.cpus.contains(place)));
/// # Ok::<(), evenkeel::topology::TopologyError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Topology {
    /// In ascending order of their `id`, never empty.
    cpus: Vec<Cpu>,
    /// In ascending order of level, and then of first hardware thread.
    caches: Vec<Cache>,
    /// The distance from each node to each node.
    node_distances: Option<Vec<Vec<u32>>>,
    /// Ascending indices into `cpus`, never empty.
    in_use: Vec<usize>,
    quota: Option<Quota>,
}

impl Topology {
    /// Reads the machine, and the part of it that the calling thread may use.
    ///
    /// What the system does not report is left out: unknown caches count as private to a core, or
    /// in the case of the last level as common to a node. On systems other than Linux it returns a
    /// [`flat`](Self::flat) machine.
    ///
    /// # Errors
    /// When a file of the system holds something malformed. The error names the file and what is in
    /// it.
    ///
    /// # Examples
    /// ```
    /// use evenkeel::topology::Topology;
    /// let machine = Topology::detect()?;
    /// println!("{machine}");
    /// assert!((1..=machine.cpus_in_use().len()).contains(&machine.processors()));
    /// # Ok::<(), evenkeel::topology::TopologyError>(())
    /// ```
    pub fn detect() -> Result<Self, TopologyError> {
        sysfs::detect()
    }

    /// The same without the quota, for callers that choose the number of processors themselves. To
    /// read the quota means to read several files, anew each time.
    pub(crate) fn detect_allowed() -> Result<Self, TopologyError> {
        sysfs::detect_allowed()
    }

    /// Reads the machine from a copy of the system's files: `root` stands in for `/`, and the
    /// folders below it are `sys/devices/system` for the machine, `proc/self/cgroup` and
    /// `sys/fs/cgroup` for the quota. All hardware threads that are online are in use, as no
    /// affinity mask comes with a copy.
    ///
    /// # Errors
    /// When a file holds something malformed, or no hardware thread is online.
    ///
    /// # Examples
    /// A container with a quota of one and a half of four hardware threads:
    /// ```
    /// use evenkeel::topology::Topology;
    /// use std::fs;
    /// let root = std::env::temp_dir().join(format!("machine-{}", std::process::id()));
    /// for (folder, file, content) in [
    ///     ("sys/devices/system/cpu", "online", "0-3"),
    ///     ("proc/self", "cgroup", "0::/box"),
    ///     ("sys/fs/cgroup/box", "cpu.max", "150000 100000"),
    /// ] {
    ///     fs::create_dir_all(root.join(folder))?;
    ///     fs::write(root.join(folder).join(file), content)?;
    /// }
    /// let machine = Topology::from_sys(&root)?;
    /// assert_eq!((machine.cpus().len(), machine.processors()), (4, 2));
    /// # fs::remove_dir_all(root)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn from_sys(root: &Path) -> Result<Self, TopologyError> {
        sysfs::from_sys(root)
    }

    /// Reads the textual form of a machine.
    ///
    /// The text is a list of items with commas between them, in any order, each at most once:
    ///
    /// | item | meaning | if left out |
    /// |---|---|---|
    /// | `4 packages` | packages in the machine | 1 |
    /// | `2 nodes` | memory nodes in each package | 1 |
    /// | `8 l3 groups` | groups with a common third-level cache in each node | 1 |
    /// | `2 l2 groups` | groups with a common second-level cache in each of those | one per core |
    /// | `6 cores` | cores in each of the innermost groups that the text names | 1 |
    /// | `2 threads` | hardware threads in each core | 1 |
    /// | `l1 32K`, `l2 512K`, `l3 8M` | size of each such cache: bytes, or K, M or G | unknown |
    /// | `line 64` | bytes of a cache line | unknown |
    ///
    /// So each count is per member of the enclosing level, and a level that is left out has one
    /// member. A first-level cache belongs to a core. The last-level cache is the third level if
    /// the text names it, else the second, else an unknown one in each node. The words may be in
    /// the singular and in upper case. Hardware threads are numbered from 0, with those of one core
    /// next to each other. There are at most [`MAX_CPUS`] of them.
    ///
    /// ```
    /// # use evenkeel::topology::Topology;
    /// # fn cpus(text: &str) -> usize { Topology::parse(text).unwrap().cpus().len() }
    /// // 4 × 24 cores.
    /// assert_eq!(cpus("4 packages, 24 cores"), 96);
    /// // 2 × 64 cores with hyperthreads.
    /// assert_eq!(cpus("2 packages, 64 cores, 2 threads"), 256);
    /// // Four quad-core chips, each core with its own L2, each chip with an L3.
    /// assert_eq!(cpus("4 packages, 4 cores, l2 512K, l3 2M"), 16);
    /// // 4 × 8 cores, each package a memory node.
    /// assert_eq!(cpus("4 packages, 1 node, 8 cores"), 32);
    /// // 2 packages of 2 nodes of 4 chiplets of 8 cores.
    /// assert_eq!(cpus("2 packages, 2 nodes, 4 l3 groups, 8 cores, l3 32M, 2 threads"), 256);
    /// ```
    ///
    /// # Errors
    /// When the text is malformed. The error prints the text with the place marked, and what
    /// belongs there:
    ///
    /// ```
    /// # use evenkeel::topology::Topology;
    /// assert_eq!(
    ///     Topology::parse("4 packages, 6 cores, l3 8X").unwrap_err().to_string(),
    ///     "malformed topology at column 25:\n\
    ///      \x20 4 packages, 6 cores, l3 8X\n\
    ///      \x20                         ^^ expected a size above zero, such as `8M` or `512K`",
    /// );
    /// ```
    pub fn parse(text: &str) -> Result<Self, TopologyError> {
        text::parse(text).map(|shape| shape.build())
    }

    /// Creates a machine of `cores` equal cores in one package, with unknown caches.
    ///
    /// # Panics
    /// When there are no cores, or more than [`MAX_CPUS`].
    ///
    /// # Examples
    /// ```
    /// use evenkeel::topology::{Distance, Topology};
    /// let machine = Topology::flat(4);
    /// assert_eq!(machine.to_text().as_deref(), Some("1 package, 4 cores"));
    /// assert_eq!(machine.distance(0, 3), Distance::SharedLlc);
    /// assert!(machine.caches().is_empty());
    /// # assert_eq!(machine.quota(), None);
    /// ```
    #[track_caller]
    pub fn flat(cores: usize) -> Self {
        assert!(
            (1..=MAX_CPUS).contains(&cores),
            "a machine has 1 to {MAX_CPUS} cores, not {cores}: Topology::detect reads how many this one has"
        );
        Self::flat_of(0..cores)
    }

    /// A machine of equal cores with these numbers, which are ascending.
    fn flat_of(ids: impl IntoIterator<Item = usize>) -> Self {
        let cpus = ids.into_iter().enumerate();
        let cpus: Vec<Cpu> = cpus
            .map(|(core, id)| Cpu { id, core, l2: core, llc: 0, node: 0, package: 0 })
            .collect();
        Self::whole(cpus, Vec::new())
    }

    /// A machine with all of its hardware threads in use.
    fn whole(cpus: Vec<Cpu>, caches: Vec<Cache>) -> Self {
        let in_use = (0..cpus.len()).collect();
        Self { cpus, caches, node_distances: None, in_use, quota: None }
    }

    /// Returns the same machine, with only these hardware threads in use. Numbers that the machine
    /// does not have are ignored. If none is left, all hardware threads stay in use.
    ///
    /// # Examples
    /// ```
    /// use evenkeel::topology::Topology;
    /// let machine = Topology::flat(4).restricted_to([1, 3, 64]);
    /// assert_eq!(machine.cpus_in_use(), [1, 3]);
    /// assert_eq!(machine.cpus().len(), 4);
    /// assert_eq!(machine.restricted_to([64]).cpus_in_use(), [1, 3]);
    /// ```
    #[must_use]
    pub fn restricted_to(mut self, ids: impl IntoIterator<Item = usize>) -> Self {
        let find = |id| self.cpus.binary_search_by_key(&id, |cpu| cpu.id).ok();
        let mut allowed: Vec<usize> = ids.into_iter().filter_map(find).collect();
        allowed.sort_unstable();
        allowed.dedup();
        if !allowed.is_empty() {
            self.in_use = allowed;
        }
        self
    }

    /// Returns the hardware threads that are online, in ascending order of the operating system's
    /// numbers for them. There is at least one.
    pub fn cpus(&self) -> &[Cpu] {
        &self.cpus
    }

    /// Returns the caches that hold data, in ascending order of their level.
    pub fn caches(&self) -> &[Cache] {
        &self.caches
    }

    /// Returns the hardware threads that may be used, as ascending indices into
    /// [`cpus`](Self::cpus): those that are online and in the affinity mask. There is at least one.
    pub fn cpus_in_use(&self) -> &[usize] {
        &self.in_use
    }

    /// Returns the tightest quota on processor time that the process's control groups set.
    pub fn quota(&self) -> Option<Quota> {
        self.quota
    }

    /// Returns the default number of processors of a runtime: one for each hardware thread in use,
    /// but no more than the quota keeps busy, and at least one.
    pub fn processors(&self) -> usize {
        let quota = self.quota.map_or(usize::MAX, |quota| quota.cpus());
        self.in_use.len().min(quota)
    }

    /// Returns the textual form of the machine, which [`parse`](Self::parse) reads. Returns `None`
    /// when the machine is irregular, such as one with cores of two kinds.
    ///
    /// The form describes only the machine. It does not contain the numbers of its hardware
    /// threads, the distances between its nodes, and which part of it is in use.
    ///
    /// # Examples
    /// A line for a report of a mistake, from which the machine can be made again:
    /// ```
    /// use evenkeel::topology::Topology;
    /// let machine: Topology = "L3 8m, 6 core, 4 packages, 2 threads".parse()?;
    /// let line = machine.to_text().unwrap();
    /// assert_eq!(line, "4 packages, 6 cores, 2 threads, l3 8M");
    /// assert_eq!(Topology::parse(&line)?, machine);
    /// # Ok::<(), evenkeel::topology::TopologyError>(())
    /// ```
    pub fn to_text(&self) -> Option<String> {
        Shape::of(self).map(|shape| shape.to_string())
    }
}

impl FromStr for Topology {
    type Err = TopologyError;

    fn from_str(text: &str) -> Result<Self, TopologyError> {
        Self::parse(text)
    }
}

/// Numbers the groups with a common second-level and last-level cache.
///
/// Hardware threads without a known second-level cache share it with their core. The last level is
/// the highest known one, but not the first: then the levels above are hidden rather than missing.
/// Hardware threads without a known last-level cache share it with their node's part of the
/// package.
fn group(cpus: &mut [Cpu], caches: &[Cache]) {
    #[derive(PartialEq, Eq, Hash)]
    enum Key {
        Cache(usize),
        Core(usize),
        Node { package: usize, node: usize },
    }
    let (mut second, mut last) = (vec![None; cpus.len()], vec![None; cpus.len()]);
    // The caches are in ascending order of level, so the last one seen is the highest.
    for (number, cache) in caches.iter().enumerate().filter(|(_, cache)| cache.level >= 2) {
        for &cpu in &cache.cpus {
            last[cpu] = Some(number);
            if cache.level == 2 {
                second[cpu] = Some(number);
            }
        }
    }
    let (mut l2s, mut llcs) = (HashMap::new(), HashMap::new());
    for (index, cpu) in cpus.iter_mut().enumerate() {
        let key = second[index].map_or(Key::Core(cpu.core), Key::Cache);
        cpu.l2 = number(&mut l2s, key);
        let own = Key::Node { package: cpu.package, node: cpu.node };
        let key = last[index].map_or(own, Key::Cache);
        cpu.llc = number(&mut llcs, key);
    }
}

/// Returns the number of the key: the next free one at its first appearance.
fn number<K: Eq + Hash>(numbers: &mut HashMap<K, usize>, key: K) -> usize {
    let next = numbers.len();
    *numbers.entry(key).or_insert(next)
}
