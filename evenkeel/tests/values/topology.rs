//! The topology from made-up `/sys` trees, from text, and from the present machine.

use std::fs;
use std::path::{Path, PathBuf};
use std::process;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use evenkeel::topology::{Distance, Topology, TopologyError};
use proptest::prelude::*;

/// A made-up root folder, removed at the end.
struct Tree(PathBuf);

impl Tree {
    fn new() -> Self {
        static NEXT: AtomicUsize = AtomicUsize::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let root = std::env::temp_dir().join(format!("evenkeel-{}-{number}", process::id()));
        fs::create_dir_all(&root).expect("the temp folder is writable");
        Self(root)
    }

    /// One file, by its path below the root.
    fn with(self, path: &str, content: &str) -> Self {
        let path = self.0.join(path);
        fs::create_dir_all(path.parent().expect("the path has a folder")).expect("writable");
        fs::write(path, format!("{content}\n")).expect("the temp folder is writable");
        self
    }

    /// One file in the folder of the hardware threads.
    fn cpu(self, path: &str, content: &str) -> Self {
        self.with(&format!("sys/devices/system/cpu/{path}"), content)
    }

    /// One hardware thread, its package and its siblings.
    fn thread(self, id: usize, package: &str, siblings: &str) -> Self {
        self.cpu(&format!("cpu{id}/topology/physical_package_id"), package)
            .cpu(&format!("cpu{id}/topology/thread_siblings_list"), siblings)
    }

    /// A data cache of one hardware thread.
    fn cache(self, id: usize, level: usize, size: &str, shared: &str) -> Self {
        let folder = format!("cpu{id}/cache/index{level}");
        self.cpu(&format!("{folder}/level"), &level.to_string())
            .cpu(&format!("{folder}/type"), if level == 1 { "Data" } else { "Unified" })
            .cpu(&format!("{folder}/size"), size)
            .cpu(&format!("{folder}/coherency_line_size"), "64")
            .cpu(&format!("{folder}/shared_cpu_list"), shared)
    }

    /// A memory node.
    fn node(self, node: usize, cpus: &str, distance: &str) -> Self {
        let folder = format!("sys/devices/system/node/node{node}");
        self.with(&format!("{folder}/cpulist"), cpus).with(&format!("{folder}/distance"), distance)
    }

    fn read(&self) -> Result<Topology, TopologyError> {
        Topology::from_sys(&self.0)
    }

    fn topology(&self) -> Topology {
        self.read().expect("the tree is well-formed")
    }

    /// The error of a tree, with the root left out.
    fn fault(&self) -> String {
        let fault = self.read().expect_err("the tree is malformed").to_string();
        fault.replace(&format!("{}/", self.0.display()), "")
    }
}

impl Drop for Tree {
    fn drop(&mut self) {
        // A leftover folder in the temp folder harms no test.
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Two cores with two hardware threads each, in Linux's numbering on x86: first each core's first
/// thread.
fn hyperthreads() -> Tree {
    let mut tree = Tree::new().cpu("online", "0-3");
    for id in 0..4 {
        let siblings = ["0,2", "1,3"][id % 2];
        tree = tree
            .thread(id, "0", siblings)
            .cache(id, 1, "48K", siblings)
            .cache(id, 2, "2048K", siblings)
            .cache(id, 3, "32M", "0-3")
            .cpu(&format!("cpu{id}/cache/index0/level"), "1")
            .cpu(&format!("cpu{id}/cache/index0/type"), "Instruction");
    }
    tree.node(0, "0-3", "10")
}

#[test]
fn hyperthreads_share_a_core() {
    let t = hyperthreads().topology();
    assert_eq!(t.distance(0, 2), Distance::SmtSibling);
    assert_eq!(t.distance(0, 1), Distance::SharedLlc);
    assert_eq!(t.by_distance(1), [3, 2, 0]);
    assert_eq!(t.assign(4), [0, 1, 2, 3]);
    assert_eq!(
        t.to_text().as_deref(),
        Some("1 package, 2 cores, 2 threads, l3 32M, l2 2M, l1 48K, line 64")
    );
    assert_eq!(
        t.to_string(),
        "1 package, 1 node, 2 cores, 2 threads each; L3 32 MiB shared by all, L2 2 MiB per core; \
         quota none; 4 processors in use"
    );
}

#[test]
fn instruction_caches_are_left_out() {
    let t = hyperthreads().topology();
    let levels: Vec<u8> = t.caches().iter().map(|cache| cache.level).collect();
    assert_eq!(levels, [1, 1, 2, 2, 3]);
    assert_eq!(t.caches()[4].cpus, [0, 1, 2, 3]);
}

#[test]
fn two_packages_have_two_nodes_each() {
    let mut tree = Tree::new().cpu("online", "0-7");
    for id in 0..8 {
        let shared = ["0-3", "4-7"][id / 4];
        tree = tree.thread(id, &(id / 4).to_string(), &id.to_string()).cache(
            id,
            2,
            "1024K",
            &id.to_string(),
        );
        // Only the first package's nodes share a cache.
        if id < 4 {
            tree = tree.cache(id, 3, "16M", shared);
        }
    }
    let tree = tree
        .node(0, "0-1", "10 12 32 32")
        .node(1, "2-3", "12 10 32 32")
        .node(2, "4-5", "32 32 10 12")
        .node(3, "6-7", "32 32 12 10");
    let t = tree.topology();
    assert_eq!(t.distance(0, 2), Distance::SharedLlc);
    assert_eq!(t.distance(4, 6), Distance::SamePackage);
    assert_eq!(t.distance(0, 4), Distance::Remote);
    assert_eq!(t.node_distance(0, 2), Some(12));
    assert_eq!(t.node_distance(0, 7), Some(32));
    assert_eq!(t.by_distance(5), [4, 6, 7, 0, 1, 2, 3]);
    assert_eq!(t.assign(3), [0, 1, 2]);
    assert_eq!(t.to_text(), None);
    assert_eq!(
        t.to_string(),
        "2 packages, 4 nodes, 8 cores, 1 thread each; L3 16 MiB per 4 cores (1), \
         L2 1 MiB per core; quota none; 8 processors in use"
    );
}

#[test]
fn numbers_may_have_holes_and_hardware_threads_be_offline() {
    let mut tree = Tree::new().cpu("online", "1,4-5,9").cpu("cpu0/online", "0");
    for id in [1, 4, 5, 9] {
        // The files of the offline threads are gone, but the lists of others still name them.
        tree = tree.thread(id, if id < 5 { "3" } else { "7" }, &id.to_string());
        tree = tree.cache(id, 3, "8M", if id < 5 { "0-4" } else { "5-9" });
    }
    let t = tree.topology();
    let ids: Vec<usize> = t.cpus().iter().map(|cpu| cpu.id).collect();
    assert_eq!(ids, [1, 4, 5, 9]);
    let packages: Vec<usize> = t.cpus().iter().map(|cpu| cpu.package).collect();
    assert_eq!(packages, [0, 0, 1, 1]);
    assert_eq!(t.caches()[0].cpus, [0, 1]);
    assert_eq!(t.cpus_in_use(), [0, 1, 2, 3]);
    assert_eq!(t.to_text().as_deref(), Some("2 packages, 2 cores, l3 8M, line 64"));
}

#[test]
fn without_a_list_the_folders_say_what_is_online() {
    let tree = Tree::new()
        .cpu("cpu0/topology/core_id", "0")
        .cpu("cpu1/online", "0")
        .cpu("cpu2/online", "1")
        .cpu("cpuidle/current_driver", "none");
    let ids: Vec<usize> = tree.topology().cpus().iter().map(|cpu| cpu.id).collect();
    assert_eq!(ids, [0, 2]);
}

#[test]
fn without_caches_each_node_is_one_group() {
    let tree = Tree::new()
        .cpu("online", "0-3")
        .node(0, "0-1", "10 20")
        .node(1, "2-3", "20 10")
        .node(2, "", "20 20");
    let t = tree.topology();
    assert_eq!(t.distance(0, 1), Distance::SharedLlc);
    assert_eq!(t.distance(0, 2), Distance::SamePackage);
    // The rows do not fit three nodes, but the first two can be read.
    assert_eq!(t.node_distance(0, 2), Some(20));
    assert_eq!(t.to_text().as_deref(), Some("1 package, 2 nodes, 2 cores"));
}

#[test]
fn a_table_of_distances_that_is_too_short_is_passed_over() {
    let tree = Tree::new().cpu("online", "0-1").node(0, "0", "10").node(1, "1", "20 10");
    assert_eq!(tree.topology().node_distance(0, 1), None);
}

#[test]
fn without_nodes_each_package_is_one() {
    let t = Tree::new().cpu("online", "0-1").thread(0, "0", "0").thread(1, "1", "1").topology();
    assert_eq!(t.distance(0, 1), Distance::Remote);
    assert_eq!(t.cpus()[1].node, 1);
    assert_eq!(t.to_text().as_deref(), Some("2 packages, 1 core"));
}

#[test]
fn cores_are_known_by_their_number_when_siblings_are_not() {
    let mut tree = Tree::new().cpu("online", "0-4");
    for (id, (package, core)) in
        [("0", "5"), ("0", "5"), ("1", "5"), ("1", "-1"), ("1", "-1")].iter().enumerate()
    {
        tree = tree
            .cpu(&format!("cpu{id}/topology/physical_package_id"), package)
            .cpu(&format!("cpu{id}/topology/core_id"), core);
    }
    let cores: Vec<usize> = tree.topology().cpus().iter().map(|cpu| cpu.core).collect();
    assert_eq!(cores, [0, 0, 1, 2, 3]);
}

#[test]
fn a_cache_of_unknown_sharers_belongs_to_the_core() {
    let tree = Tree::new()
        .cpu("online", "0-3")
        .thread(0, "0", "0-1")
        .thread(1, "0", "0-1")
        .thread(2, "0", "2")
        .thread(3, "0", "3")
        .cpu("cpu0/cache/index2/level", "2")
        .cpu("cpu0/cache/index2/size", "0K")
        .cpu("cpu0/cache/index3/size", "1M");
    let t = tree.topology();
    assert_eq!(t.caches().len(), 1);
    assert_eq!(t.caches()[0].cpus, [0, 1]);
    assert_eq!((t.caches()[0].size, t.caches()[0].line), (None, None));
    assert_eq!(t.distance(2, 3), Distance::SharedLlc);
    assert_eq!(t.distance(0, 2), Distance::SameNode);
}

#[test]
fn a_processor_that_lists_a_cache_belongs_to_it() {
    let tree = Tree::new().cpu("online", "0-2").cache(0, 3, "8M", "0-1").cache(2, 3, "8M", "1");
    let t = tree.topology();
    let members: Vec<&[usize]> = t.caches().iter().map(|cache| &cache.cpus[..]).collect();
    assert_eq!(members, [&[0, 1], &[1, 2]]);
}

#[test]
fn malformed_files_are_named_with_what_they_hold() {
    let cases = [
        ("online", "0-3,x", "numbers and ranges below 65,536, such as `0-3,8`"),
        (
            "cpu0/topology/thread_siblings_list",
            "3-0",
            "numbers and ranges below 65,536, such as `0-3,8`",
        ),
        ("cpu0/topology/physical_package_id", "one", "a number"),
        ("cpu0/topology/core_id", "", "a number"),
        ("cpu0/cache/index2/level", "II", "a number"),
        ("cpu0/cache/index2/size", "8 apples", "a size such as `2048K`"),
        (
            "cpu0/cache/index2/shared_cpu_list",
            "0-",
            "numbers and ranges below 65,536, such as `0-3,8`",
        ),
    ];
    for (file, content, expected) in cases {
        let mut tree = Tree::new().cpu("online", "0");
        if file.contains("index2") {
            tree = tree.cpu("cpu0/cache/index2/level", "2");
        }
        let fault = tree.cpu(file, content).fault();
        let path = format!("sys/devices/system/cpu/{file}");
        assert_eq!(fault, format!("`{path}` holds {content:?}, expected {expected}"));
    }
    assert_eq!(
        Tree::new().cpu("online", "0").node(0, "0", "10 far").fault(),
        "`sys/devices/system/node/node0/distance` holds \"10 far\", \
         expected numbers with spaces between"
    );
}

#[test]
fn a_tree_without_hardware_threads_is_an_error() {
    assert_eq!(
        Tree::new().fault(),
        "`sys/devices/system/cpu` lists no hardware thread that is online; \
         describe the machine as text instead"
    );
}

/// Eight cores, and a process in the control group of the line.
fn grouped(line: &str) -> Tree {
    Tree::new().cpu("online", "0-7").with("proc/self/cgroup", line)
}

#[test]
fn the_tightest_quota_on_the_way_to_the_group_counts() {
    let tree = grouped("0::/user/app")
        .with("sys/fs/cgroup/user/cpu.max", "250000 100000")
        .with("sys/fs/cgroup/user/app/cpu.max", "max 100000");
    assert_eq!(tree.topology().processors(), 3);
    let tree = tree.with("sys/fs/cgroup/user/app/cpu.max", "10000 50000");
    assert_eq!(tree.topology().processors(), 1);
    assert_eq!(
        tree.topology().quota().map(|quota| (quota.micros, quota.period)),
        Some((10_000, 50_000))
    );
}

#[test]
fn the_first_generation_of_control_groups_has_quotas_too() {
    let both = "3:cpu,cpuacct:/docker/abc\n2:memory:/m\n0::/";
    // A container sees its own group at the mount point, whatever its name on the host.
    let tree = grouped(both)
        .with("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "400000")
        .with("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us", "100000");
    assert_eq!(tree.topology().processors(), 4);
    let tree = tree.with("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "-1");
    assert_eq!(tree.topology().quota(), None);
    assert_eq!(tree.topology().processors(), 8);
}

#[test]
fn both_generations_can_be_mounted_at_once() {
    let tree = grouped("1:cpu:/\n0::/app")
        .with("sys/fs/cgroup/unified/app/cpu.max", "200000 100000")
        .with("sys/fs/cgroup/cpu/cpu.cfs_quota_us", "300000")
        .with("sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000");
    assert_eq!(tree.topology().processors(), 2);
}

#[test]
fn a_quota_above_the_machine_changes_nothing() {
    let tree = grouped("0::/").with("sys/fs/cgroup/cpu.max", "9000000 100000");
    assert_eq!(tree.topology().processors(), 8);
}

#[test]
fn malformed_quotas_are_errors() {
    let v2 = "`max` or microseconds, then the period in microseconds";
    for content in ["", "max", "100000", "many 100000", "100000 0", "-1 100000"] {
        let fault = grouped("0::/").with("sys/fs/cgroup/cpu.max", content).fault();
        assert_eq!(fault, format!("`sys/fs/cgroup/cpu.max` holds {content:?}, expected {v2}"));
    }
    let v1 = |quota, period| {
        grouped("1:cpu:/")
            .with("sys/fs/cgroup/cpu/cpu.cfs_quota_us", quota)
            .with("sys/fs/cgroup/cpu/cpu.cfs_period_us", period)
            .fault()
    };
    assert_eq!(
        v1("-2", "100000"),
        "`sys/fs/cgroup/cpu/cpu.cfs_quota_us` holds \"-2\", \
         expected microseconds, or -1 for no quota"
    );
    assert_eq!(
        v1("-1", "0"),
        "`sys/fs/cgroup/cpu/cpu.cfs_period_us` holds \"0\", expected microseconds above zero"
    );
    assert_eq!(
        grouped("0:/").fault(),
        "`proc/self/cgroup` holds \"0:/\", expected `hierarchy:controllers:group`"
    );
}

#[test]
fn malformed_text_shows_the_place() {
    let item = "a count such as `4 packages`, or a cache size such as `l3 8M`";
    let level = "`packages`, `nodes`, `l3 groups`, `l2 groups`, `cores` or `threads`";
    let count = "a number from 1 to 65,536";
    let size = "a size above zero, such as `8M` or `512K`";
    let comma = "a comma before the next item";
    let cases = [
        ("", "^", item),
        (", 4 cores", "^", item),
        ("4 cores,", "        ^", item),
        ("4 cores, cores 4", "         ^^^^^", item),
        ("4cores", "^^^^^^", count),
        ("0 cores", "^", count),
        ("65537 cores", "^^^^^", count),
        ("99999999999999999999 cores", "^^^^^^^^^^^^^^^^^^^^", count),
        ("4 packages, 6 coars, l3 8M", "              ^^^^^", level),
        ("4", " ^", level),
        ("4, 6 cores", " ^", level),
        ("2 l3 caches", "     ^^^^^^", "`groups`"),
        ("2 l2, 4 cores", "    ^", "`groups`"),
        ("4 packages 6 cores", "           ^", comma),
        ("l3 8M, l2 0K", "          ^^", size),
        ("l3 8X", "   ^^", size),
        ("l3", "  ^", size),
        ("line nought", "     ^^^^^^", size),
        (
            "6 cores, l3 8M, 8 core",
            "                ^^^^^^",
            "each item once, and `cores` is given before",
        ),
        (
            "2 l3 groups, 2 l3 group",
            "             ^^^^^^^^^^",
            "each item once, and `l3 groups` is given before",
        ),
        ("l3 8M, l3 8M", "       ^^^^^", "each item once, and `l3` is given before"),
        ("line 64, line 64", "         ^^^^^^^", "each item once, and `line` is given before"),
        (
            "2 threads, 300 packages, 300 cores",
            "                         ^^^^^^^^^",
            "at most 65,536 hardware threads, and this makes it 180000",
        ),
    ];
    for (text, caret, expected) in cases {
        let fault = Topology::parse(text).expect_err("the text is malformed").to_string();
        let column = caret.find('^').expect("each case has a caret") + 1;
        assert_eq!(
            fault,
            format!(
                "malformed topology at column {column}:\n  {text}\n  {caret} expected {expected}"
            )
        );
    }
}

#[test]
fn only_what_the_mask_allows_is_in_use() {
    let t = Topology::parse("4 cores, 2 threads").expect("well-formed");
    let some = t.clone().restricted_to([7, 2, 3, 2, 99]);
    assert_eq!(some.cpus_in_use(), [2, 3, 7]);
    assert_eq!(some.processors(), 3);
    assert_eq!(some.assign(3), [2, 7, 3]);
    assert_eq!(t.clone().restricted_to([99]), t);
}

#[test]
fn a_flat_machine_is_one_group_of_cores() {
    let t = Topology::flat(3);
    assert_eq!(t, Topology::parse("3 cores").expect("well-formed"));
    assert_eq!(t.distance(0, 2), Distance::SharedLlc);
}

#[test]
#[should_panic(expected = "a machine has 1 to 65536 cores, not 0")]
fn a_flat_machine_has_a_core() {
    let _ = Topology::flat(0);
}

#[test]
fn the_machine_has_as_many_processors_as_the_standard_library_sees() {
    let t = Topology::detect().expect("the system's files are well-formed");
    let seen = thread::available_parallelism().map_or(1, usize::from);
    // The standard library rounds a quota down.
    let rounded = t.quota().map_or(usize::MAX, |quota| {
        usize::try_from(quota.micros / quota.period).expect("the quota fits the machine").max(1)
    });
    assert_eq!(seen, t.cpus_in_use().len().min(rounded));
    assert_eq!(t.assign(t.processors()).len(), t.processors());
}

#[cfg(target_os = "linux")]
#[test]
fn a_machine_that_is_asked_for_again_has_the_mask_of_the_thread_that_asks() {
    let machine = || Topology::detect().expect("the system's files are well-formed");
    let before = machine();
    let narrow = thread::spawn(move || {
        let mut mask = rustix::thread::CpuSet::new();
        mask.set(machine().cpus()[machine().cpus_in_use()[0]].id);
        rustix::thread::sched_setaffinity(None, &mask).expect("the processor is this thread's");
        machine()
    });
    let narrow = narrow.join().unwrap();
    assert_eq!(narrow.cpus_in_use().len(), 1);
    assert_eq!(narrow.cpus(), before.cpus());
    assert_eq!(machine().cpus_in_use(), before.cpus_in_use());
}

#[test]
fn the_machine_has_the_hardware_threads_of_cpuinfo() {
    let Ok(cpuinfo) = fs::read_to_string("/proc/cpuinfo") else { return };
    let numbers = cpuinfo.lines().filter_map(|line| {
        let (key, number) = line.split_once(':')?;
        (key.trim() == "processor").then(|| number.trim().parse::<usize>().ok())?
    });
    let numbers: Vec<usize> = numbers.collect();
    let t = Topology::detect().expect("the system's files are well-formed");
    if !numbers.is_empty() && Path::new("/sys/devices/system/cpu/online").exists() {
        let ids: Vec<usize> = t.cpus().iter().map(|cpu| cpu.id).collect();
        assert_eq!(ids, numbers);
    }
}

/// The text of a regular machine of at most 1,024 hardware threads.
fn texts() -> impl Strategy<Value = String> {
    let groups = || prop::option::of(1..4_usize);
    let size = || prop::option::of(1..1_u64 << 40);
    let counts = (1..5_usize, 1..3_usize, groups(), groups(), 1..5_usize, 1..3_usize);
    (counts, size(), size(), size(), prop::option::of(1..256_u64)).prop_map(
        |((packages, nodes, l3s, l2s, cores, threads), l1, l2, l3, line)| {
            let mut items = vec![
                format!("{threads} threads"),
                format!("{cores} cores"),
                format!("{nodes} nodes"),
                format!("{packages} packages"),
            ];
            items.extend(l3s.map(|count| format!("{count} l3 groups")));
            items.extend(l2s.map(|count| format!("{count} l2 groups")));
            let sizes = [("l1", l1), ("l2", l2), ("l3", l3), ("line", line)];
            items.extend(
                sizes.into_iter().filter_map(|(key, size)| Some(format!("{key} {}", size?))),
            );
            items.join(", ")
        },
    )
}

proptest! {
    #[test]
    fn the_printed_text_makes_the_same_machine(text in texts()) {
        let t = Topology::parse(&text).expect("the text is well-formed");
        let printed = t.to_text().expect("a machine from text is regular");
        prop_assert_eq!(Topology::parse(&printed).expect("the printed text is well-formed"), t);
    }

    #[test]
    fn processors_are_spread_evenly(text in texts(), processors in 0..64_usize) {
        let t = Topology::parse(&text).expect("the text is well-formed");
        let seats = t.assign(processors);
        prop_assert_eq!(seats.len(), processors);
        let cores = t.cpus().iter().map(|cpu| cpu.core).max().expect("there is a core") + 1;
        let mut load = vec![0; cores];
        for seat in seats {
            load[t.cpus()[seat].core] += 1;
        }
        let (most, least) = (load.iter().max(), load.iter().min());
        prop_assert!(most.expect("a core") - least.expect("a core") <= 1);
    }

    #[test]
    fn everyone_else_is_there_once_and_ever_farther(text in texts(), from in 0..1_000_usize) {
        let t = Topology::parse(&text).expect("the text is well-formed");
        let from = from % t.cpus().len();
        let others = t.by_distance(from);
        prop_assert!(others.is_sorted_by_key(|&to| t.distance(from, to)));
        prop_assert!(others.iter().all(|&to| t.distance(from, to) == t.distance(to, from)));
        let mut all = others;
        all.push(from);
        all.sort_unstable();
        prop_assert!(all.into_iter().eq(0..t.cpus().len()));
    }

    #[test]
    fn no_text_is_beyond_reading(
        text in "([0-9]{1,6}|l[0-4]|cores?|groups|packages|line|[KMG,é\u{7f} \n]){0,12}"
    ) {
        match Topology::parse(&text) {
            Ok(t) => prop_assert!(!t.cpus().is_empty()),
            Err(fault) => prop_assert_eq!(fault.to_string().lines().count(), 3),
        }
    }
}
