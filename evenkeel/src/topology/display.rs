//! The topology as a sentence for people.
//!
//! It has totals for the whole machine, so that it is correct for irregular machines too: it names
//! each kind of cache of a level with the number of these caches.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use super::shape::in_units;
use super::{Cache, Cpu, Quota, Topology};

impl fmt::Display for Topology {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let groups =
            |number: fn(&Cpu) -> usize| self.cpus.iter().map(number).collect::<BTreeSet<_>>().len();
        let packages = counted(groups(|cpu| cpu.package), "package");
        let nodes = counted(groups(|cpu| cpu.node), "node");
        let cores = counted(groups(|cpu| cpu.core), "core");
        write!(f, "{packages}, {nodes}, {cores}, {}; {}; ", self.threads(), self.cache_levels())?;
        match self.quota {
            Some(quota) => write!(f, "quota {}", share(quota))?,
            None => write!(f, "quota none")?,
        }
        let (allowed, online) = (self.in_use.len(), self.cpus.len());
        if allowed < online {
            write!(f, "; {allowed} of {online} hardware threads allowed")?;
        }
        write!(f, "; {} in use", counted(self.processors(), "processor"))
    }
}

impl Topology {
    /// The number of hardware threads in each core, in words.
    fn threads(&self) -> String {
        let mut per_core = BTreeMap::<usize, usize>::new();
        for cpu in &self.cpus {
            *per_core.entry(cpu.core).or_default() += 1;
        }
        let fewest = per_core.values().min().copied().unwrap_or(0);
        let most = per_core.values().max().copied().unwrap_or(0);
        if fewest == most {
            format!("{} each", counted(most, "thread"))
        } else {
            format!("{fewest} to {} each", counted(most, "thread"))
        }
    }

    /// The caches from the last level to the second: those that a scheduler can consider.
    fn cache_levels(&self) -> String {
        let levels: BTreeSet<u8> =
            self.caches.iter().map(|cache| cache.level).filter(|&level| level >= 2).collect();
        if levels.is_empty() {
            return "caches unknown".to_owned();
        }
        let levels: Vec<String> = levels.into_iter().rev().map(|level| self.level(level)).collect();
        levels.join(", ")
    }

    /// The caches of one level.
    fn level(&self, level: u8) -> String {
        let mut kinds = BTreeMap::<_, usize>::new();
        for cache in self.caches.iter().filter(|cache| cache.level == level) {
            let cores = self.cores_of(cache);
            let all = cache.cpus.len() == self.cpus.len();
            *kinds.entry((cores, all, cache.size)).or_default() += 1;
        }
        let several = kinds.len() > 1;
        let kinds: Vec<String> = kinds
            .into_iter()
            .map(|((cores, all, size), count)| {
                let size = size.map_or("of unknown size".to_owned(), |size| {
                    let (number, unit) = in_units(size);
                    match unit {
                        "" => counted(usize::try_from(number).unwrap_or(usize::MAX), "byte"),
                        unit => format!("{number} {unit}iB"),
                    }
                });
                match cores {
                    1 if several => format!("{size} per core ({count})"),
                    1 => format!("{size} per core"),
                    _ if all => format!("{size} shared by all"),
                    _ => format!("{size} per {cores} cores ({count})"),
                }
            })
            .collect();
        format!("L{level} {}", kinds.join(" and "))
    }

    /// The number of cores that share the cache.
    fn cores_of(&self, cache: &Cache) -> usize {
        cache.cpus.iter().map(|&cpu| self.cpus[cpu].core).collect::<BTreeSet<_>>().len()
    }
}

/// The number and the word in its singular or plural.
fn counted(count: usize, word: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{count} {word}{plural}")
}

/// The quota in hardware threads, with at most two decimal places.
fn share(quota: Quota) -> String {
    let cpus = format!("{:.2}", quota.micros as f64 / quota.period as f64);
    let cpus = cpus.trim_end_matches('0').trim_end_matches('.');
    format!("{cpus} hardware threads")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn printed(text: &str) -> String {
        Topology::parse(text).expect("the text is well-formed").to_string()
    }

    #[test]
    fn a_small_machine_is_one_line() {
        assert_eq!(
            printed("2 cores, l2 2M, l3 480M"),
            "1 package, 1 node, 2 cores, 1 thread each; L3 480 MiB shared by all, \
             L2 2 MiB per core; quota none; 2 processors in use"
        );
    }

    #[test]
    fn a_large_machine_gives_totals() {
        assert_eq!(
            printed("2 packages, 2 nodes, 4 l3 groups, 8 cores, 2 threads, l3 32M, l2 1280K"),
            "2 packages, 4 nodes, 128 cores, 2 threads each; L3 32 MiB per 8 cores (16), \
             L2 1280 KiB per core; quota none; 256 processors in use"
        );
    }

    #[test]
    fn what_is_unknown_is_said() {
        assert_eq!(
            printed("1 core"),
            "1 package, 1 node, 1 core, 1 thread each; caches unknown; quota none; \
             1 processor in use"
        );
        assert_eq!(
            printed("2 l3 groups, 2 cores, l2 1000"),
            "1 package, 1 node, 4 cores, 1 thread each; L3 of unknown size per 2 cores (2), \
             L2 1000 bytes per core; quota none; 4 processors in use"
        );
    }

    #[test]
    fn an_irregular_machine_names_each_kind() {
        let mut t = Topology::parse("3 cores, 2 threads, l2 2M").expect("the text is well-formed");
        // The last two hardware threads are small cores with a common cache.
        t.cpus[5].core = 3;
        t.caches[2].size = Some(4 << 20);
        assert_eq!(
            t.to_string(),
            "1 package, 1 node, 4 cores, 1 to 2 threads each; L2 2 MiB per core (2) \
             and 4 MiB per 2 cores (1); quota none; 6 processors in use"
        );
    }

    #[test]
    fn what_may_be_used_is_said() {
        let mut t = Topology::flat(8).restricted_to([1, 3, 5]);
        t.quota = Some(Quota { micros: 150_000, period: 100_000 });
        assert_eq!(
            t.to_string(),
            "1 package, 1 node, 8 cores, 1 thread each; caches unknown; \
             quota 1.5 hardware threads; 3 of 8 hardware threads allowed; 2 processors in use"
        );
    }
}
