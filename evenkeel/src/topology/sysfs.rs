//! Reads the machine from `/sys/devices/system`, the affinity mask and the control group.
//!
//! Facts that the system does not report are filled in: without packages all is one package,
//! without nodes each package is one, and a hardware thread without siblings is a core of its own.
//! [`group`] does the same for caches.

use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::thread;

use super::cgroup;
use super::error::TopologyError;
use super::file::{read, read_list, read_number, read_numbers, read_size};
use super::{Cache, Cpu, MAX_CPUS, Topology, group, number};

/// Reads the machine, and the share of it that the calling thread may use.
pub(super) fn detect() -> Result<Topology, TopologyError> {
    Ok(Topology { quota: cgroup::quota(Path::new("/"))?, ..usable(affinity())? })
}

/// The same without the quota. If the last call was from a thread with the same mask, it does not
/// read the system's files. The mask names only hardware threads that are online, so it changes
/// when one that the caller may use comes or goes. The others matter to no worker.
pub(super) fn detect_allowed() -> Result<Topology, TopologyError> {
    static KEPT: Mutex<Option<(Vec<usize>, Topology)>> = Mutex::new(None);
    let Some(allowed) = affinity() else { return usable(None) };
    let mut kept = KEPT.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((before, machine)) = &*kept
        && *before == allowed
    {
        return Ok(machine.clone());
    }
    let machine = usable(Some(allowed.clone()))?;
    *kept = Some((allowed, machine.clone()));
    Ok(machine)
}

/// The machine, restricted to the hardware threads in `allowed`, if given.
fn usable(allowed: Option<Vec<usize>>) -> Result<Topology, TopologyError> {
    let root = Path::new("/");
    let machine = match listed(root, allowed.as_deref()).and_then(|ids| kept(root, ids)) {
        Err(TopologyError::NoCpus { .. }) => {
            // Where `/sys` is not mounted, the mask still gives the numbers that pinning needs.
            match &allowed {
                Some(ids) => Topology::flat_of(ids.iter().copied()),
                None => Topology::flat(parallelism()),
            }
        }
        machine => machine?,
    };
    Ok(match allowed {
        Some(ids) => machine.restricted_to(ids),
        None => machine,
    })
}

/// The hardware threads that are online. If the caller is `allowed` one that the system does not
/// list, those that it is allowed: a container's list may say how many there are, from zero on.
fn listed(root: &Path, allowed: Option<&[usize]>) -> Result<Vec<usize>, TopologyError> {
    let online = online_below(root)?;
    let is_listed = |id: &usize| online.binary_search(id).is_ok();
    Ok(match allowed {
        Some(allowed) if !allowed.iter().all(is_listed) => allowed.to_vec(),
        _ => online,
    })
}

/// The machine below `root`, which is `/`, with these hardware threads. It is kept, and read again
/// only for others: a program that builds many pools does not read dozens of files for each.
fn kept(root: &Path, ids: Vec<usize>) -> Result<Topology, TopologyError> {
    static KEPT: Mutex<Option<(Vec<usize>, Topology)>> = Mutex::new(None);
    let mut kept = KEPT.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((before, machine)) = &*kept
        && *before == ids
    {
        return Ok(machine.clone());
    }
    let machine = machine(root, ids.clone())?;
    *kept = Some((ids, machine.clone()));
    Ok(machine)
}

/// The number of hardware threads that the standard library reports, for systems without other
/// sources.
fn parallelism() -> usize {
    thread::available_parallelism().map_or(1, |count| count.get().min(MAX_CPUS))
}

/// The hardware threads on which the calling thread may run. `None` when the system does not report
/// them, as on a machine with more of them than fit into the mask.
#[cfg(target_os = "linux")]
fn affinity() -> Option<Vec<usize>> {
    use rustix::thread::{CpuSet, sched_getaffinity};
    let mask = sched_getaffinity(None).ok()?;
    let ids: Vec<usize> = (0..CpuSet::MAX_CPU).filter(|&id| mask.is_set(id)).collect();
    Some(ids).filter(|ids| !ids.is_empty())
}

/// On other systems the standard library already considers the mask, if there is one.
#[cfg(not(target_os = "linux"))]
fn affinity() -> Option<Vec<usize>> {
    None
}

/// The machine that the tree below `root` describes, and the quota in it. `root` stands in for `/`.
pub(super) fn from_sys(root: &Path) -> Result<Topology, TopologyError> {
    let machine = machine(root, online_below(root)?)?;
    Ok(Topology { quota: cgroup::quota(root)?, ..machine })
}

/// The folder that describes the hardware threads.
fn cpu_folder(root: &Path) -> PathBuf {
    root.join("sys/devices/system/cpu")
}

/// The hardware threads that are online, at least one, in ascending order.
fn online_below(root: &Path) -> Result<Vec<usize>, TopologyError> {
    let folder = cpu_folder(root);
    let ids = online(&folder)?;
    if ids.is_empty() { Err(TopologyError::NoCpus { path: folder }) } else { Ok(ids) }
}

/// The machine without a quota, with the hardware threads of these ascending numbers.
fn machine(root: &Path, ids: Vec<usize>) -> Result<Topology, TopologyError> {
    let folder = cpu_folder(root);
    let nodes = Nodes::read(&root.join("sys/devices/system/node"))?;
    let mut cpus = Vec::with_capacity(ids.len());
    let (mut packages, mut node_numbers, mut cores) = Default::default();
    for id in ids {
        let topology = folder.join(format!("cpu{id}/topology"));
        // The kernel writes -1 for a package that the firmware does not name.
        let package = read_number(&topology.join("physical_package_id"))?.unwrap_or(-1);
        let core = core_key(&topology, id, package)?;
        let node =
            nodes.of_id.get(&id).map_or(NodeKey::Package(package), |&node| NodeKey::Node(node));
        cpus.push(Cpu {
            id,
            core: number(&mut cores, core),
            l2: 0,
            llc: 0,
            node: number(&mut node_numbers, node),
            package: number(&mut packages, package),
        });
    }
    let caches = read_caches(&folder, &cpus)?;
    group(&mut cpus, &caches);
    let node_distances = nodes.between(&node_numbers);
    let in_use = (0..cpus.len()).collect();
    Ok(Topology { cpus, caches, node_distances, in_use, quota: None })
}

/// The hardware threads that the system names as online, in ascending order.
fn online(folder: &Path) -> Result<Vec<usize>, TopologyError> {
    if let Some(ids) = read_list(&folder.join("online"))? {
        return Ok(ids);
    }
    let mut ids = Vec::new();
    for id in numbered(folder, "cpu") {
        // A hardware thread that cannot be taken offline has no such file.
        if read_number(&folder.join(format!("cpu{id}/online")))? != Some(0) {
            ids.push(id);
        }
    }
    Ok(ids)
}

/// The numbers of the entries `prefix0`, `prefix1` and so on, in ascending order.
fn numbered(folder: &Path, prefix: &str) -> Vec<usize> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let mut numbers: Vec<usize> = entries
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.strip_prefix(prefix)?.parse().ok())
        .collect();
    numbers.sort_unstable();
    numbers
}

/// The identity of a hardware thread's core, best source first.
#[derive(PartialEq, Eq, Hash)]
enum CoreKey {
    /// The first of the thread's siblings.
    Siblings(usize),
    /// The core's number, which is unique only within a package.
    Numbered { package: i64, core: i64 },
    /// Nothing is known: it is a core of its own.
    Alone(usize),
}

fn core_key(topology: &Path, id: usize, package: i64) -> Result<CoreKey, TopologyError> {
    // The older name of the list is the one that every kernel has.
    let siblings = read_list(&topology.join("thread_siblings_list"))?.unwrap_or_default();
    if let Some(&first) = siblings.first() {
        return Ok(CoreKey::Siblings(first));
    }
    let core = read_number(&topology.join("core_id"))?.filter(|&core| core >= 0);
    Ok(core.map_or(CoreKey::Alone(id), |core| CoreKey::Numbered { package, core }))
}

/// The caches that hold data, by level and then by their first hardware thread.
fn read_caches(folder: &Path, cpus: &[Cpu]) -> Result<Vec<Cache>, TopologyError> {
    let mut caches = BTreeMap::new();
    for (index, cpu) in cpus.iter().enumerate() {
        let folder = folder.join(format!("cpu{}/cache", cpu.id));
        for entry in numbered(&folder, "index") {
            let folder = folder.join(format!("index{entry}"));
            let level = read_number(&folder.join("level"))?.and_then(|level| level.try_into().ok());
            let Some(level @ 1_u8..) = level else { continue };
            if read(&folder.join("type")).is_some_and(|kind| kind == "Instruction") {
                continue;
            }
            let shared = read_list(&folder.join("shared_cpu_list"))?.unwrap_or_default();
            // Without a list the cache is private to the core. With one, a hardware thread that
            // lists the cache also shares it.
            let mut members: Vec<usize> = if shared.is_empty() {
                (0..cpus.len()).filter(|&other| cpus[other].core == cpu.core).collect()
            } else {
                shared
                    .iter()
                    .filter_map(|id| cpus.binary_search_by_key(id, |cpu| cpu.id).ok())
                    .collect()
            };
            if let Err(at) = members.binary_search(&index) {
                members.insert(at, index);
            }
            let size = read_size(&folder.join("size"))?;
            let line = read_size(&folder.join("coherency_line_size"))?;
            let key = (level, members[0]);
            caches.entry(key).or_insert(Cache { level, size, line, cpus: members });
        }
    }
    Ok(caches.into_values().collect())
}

/// The identity of a hardware thread's memory node.
#[derive(PartialEq, Eq, Hash)]
enum NodeKey {
    /// The node as the system numbers it.
    Node(usize),
    /// The package, in place of an unknown node.
    Package(i64),
}

/// The memory nodes as the system numbers them.
struct Nodes {
    /// The node of each hardware thread that has one, by the thread's number.
    of_id: HashMap<usize, usize>,
    /// A row for each node: its distance from each node, by the nodes' numbers.
    distances: HashMap<usize, HashMap<usize, u32>>,
}

impl Nodes {
    fn read(folder: &Path) -> Result<Self, TopologyError> {
        let mut nodes = Self { of_id: HashMap::new(), distances: HashMap::new() };
        let numbers = numbered(folder, "node");
        for &node in &numbers {
            let folder = folder.join(format!("node{node}"));
            for id in read_list(&folder.join("cpulist"))?.unwrap_or_default() {
                nodes.of_id.insert(id, node);
            }
            let row = read_numbers(&folder.join("distance"))?.unwrap_or_default();
            nodes.distances.insert(node, numbers.iter().copied().zip(row).collect());
        }
        Ok(nodes)
    }

    /// The distances between the nodes of the hardware threads, by the topology's `numbers` of
    /// them. `None` unless the system reports all of them: an incomplete table is no reason to
    /// refuse the machine.
    fn between(&self, numbers: &HashMap<NodeKey, usize>) -> Option<Vec<Vec<u32>>> {
        let mut rows = vec![vec![0; numbers.len()]; numbers.len()];
        for (from, &row) in numbers {
            for (to, &column) in numbers {
                let (NodeKey::Node(from), NodeKey::Node(to)) = (from, to) else { return None };
                rows[row][column] = *self.distances.get(from)?.get(to)?;
            }
        }
        Some(rows)
    }
}

#[cfg(all(test, target_os = "linux", not(any(loom, shuttle))))]
mod tests {
    use super::*;
    use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

    /// As `lxcfs` lists the hardware threads of a container.
    #[test]
    fn threads_that_the_caller_may_use_are_there_even_if_the_list_has_others() {
        let name = format!("evenkeel-listed-{}", std::process::id());
        let root = std::env::temp_dir().join(name);
        fs::create_dir_all(cpu_folder(&root)).unwrap();
        fs::write(cpu_folder(&root).join("online"), "0-3\n").unwrap();
        let ids = |allowed: &[usize]| listed(&root, Some(allowed)).unwrap();
        let (some, others) = (ids(&[1, 3]), ids(&[2, 5, 9, 12]));
        let machine = machine(&root, others.clone()).unwrap().restricted_to(others.clone());
        fs::remove_dir_all(&root).unwrap();
        assert_eq!((some, &others[..]), (vec![0, 1, 2, 3], &[2, 5, 9, 12][..]));
        assert_eq!(machine.processors(), 4);
    }

    #[test]
    fn a_thread_that_may_run_elsewhere_sees_what_it_may_use() {
        let all = sched_getaffinity(None).unwrap();
        let ids = |machine: Topology| -> Vec<usize> {
            machine.cpus_in_use().iter().map(|&index| machine.cpus()[index].id).collect()
        };
        let before = ids(detect_allowed().unwrap());
        let last = *before.last().unwrap();
        let mut one = CpuSet::new();
        one.set(last);
        sched_setaffinity(None, &one).unwrap();
        let meanwhile = ids(detect_allowed().unwrap());
        sched_setaffinity(None, &all).unwrap();
        assert_eq!(meanwhile, [last]);
        assert_eq!(ids(detect_allowed().unwrap()), before);
        assert_eq!(ids(detect().unwrap()), before);
    }
}

/// The bytes of main memory, or the largest number if the system does not say.
#[cfg(target_os = "linux")]
pub(crate) fn memory() -> u64 {
    let system = rustix::system::sysinfo();
    let bytes = u128::from(system.totalram) * u128::from(system.mem_unit);
    u64::try_from(bytes).ok().filter(|&bytes| bytes > 0).unwrap_or(u64::MAX)
}

/// The bytes of main memory, or the largest number if the system does not say.
#[cfg(not(target_os = "linux"))]
pub(crate) fn memory() -> u64 {
    u64::MAX
}
