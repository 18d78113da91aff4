//! The share of the machine that a control group leaves to this process.
//!
//! A quota binds a group and everything below it, so the tightest one between the process's own
//! group and the root counts. Both generations of the interface are read, since both can be mounted
//! at once.
//!
//! `/proc/self/cgroup` names the group as the host sees it; a container often sees its own group at
//! the mount point itself and nothing above. So the walk starts at the mount point, follows the
//! name as far as it leads, and takes every quota that it meets. The mount points are those that
//! systemd and the container engines all use.

use std::path::{Path, PathBuf};

use super::error::TopologyError;
use super::file::{malformed, read};

/// A limit on processor time per period.
///
/// # Examples
/// ```
/// use evenkeel::topology::{Quota, Topology};
/// let machine = Topology::detect()?;
/// let quota: Option<Quota> = machine.quota();
/// let most = quota.map_or(usize::MAX, |quota| quota.cpus());
/// assert_eq!(machine.processors(), machine.cpus_in_use().len().min(most));
/// # Ok::<(), evenkeel::topology::TopologyError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Quota {
    /// Microseconds of processor time in each period.
    pub micros: u64,
    /// The period in microseconds, above zero.
    pub period: u64,
}

impl Quota {
    /// Returns how many hardware threads the quota keeps busy, rounded up, at least one.
    pub fn cpus(&self) -> usize {
        let cpus = self.micros.div_ceil(self.period).max(1);
        usize::try_from(cpus).unwrap_or(usize::MAX)
    }

    /// Returns the quota that leaves less processor time.
    fn tighter(self, other: Self) -> Self {
        let this = u128::from(self.micros) * u128::from(other.period);
        let that = u128::from(other.micros) * u128::from(self.period);
        if that < this { other } else { self }
    }
}

/// The tightest quota on this process, if there is any. `root` stands in for `/`.
pub(super) fn quota(root: &Path) -> Result<Option<Quota>, TopologyError> {
    let path = root.join("proc/self/cgroup");
    let Some(content) = read(&path) else { return Ok(None) };
    let mounts = root.join("sys/fs/cgroup");
    let mut quotas = Vec::new();
    for line in content.lines() {
        let mut fields = line.splitn(3, ':');
        let (Some(_), Some(controllers), Some(group)) =
            (fields.next(), fields.next(), fields.next())
        else {
            return Err(malformed(&path, line, "`hierarchy:controllers:group`"));
        };
        if controllers.is_empty() {
            for mount in [mounts.clone(), mounts.join("unified")] {
                for folder in folders(&mount, group) {
                    quotas.extend(unified(&folder)?);
                }
            }
        } else if controllers.split(',').any(|name| name == "cpu") {
            // Controllers that are mounted together give the mount point its name.
            for mount in [mounts.join("cpu"), mounts.join(controllers)] {
                for folder in folders(&mount, group) {
                    quotas.extend(legacy(&folder)?);
                }
            }
        }
    }
    Ok(quotas.into_iter().reduce(Quota::tighter))
}

/// The mount point and every group below it on the way to `group`.
fn folders(mount: &Path, group: &str) -> Vec<PathBuf> {
    let names = || group.split('/').filter(|name| !name.is_empty());
    let mut folders = vec![mount.to_path_buf()];
    // The name of a group outside of the process's namespace contains `..`; it cannot be seen from
    // here.
    if !names().any(|name| name == "..") {
        for name in names() {
            folders.push(folders[folders.len() - 1].join(name));
        }
    }
    folders
}

/// The quota in a group of the unified hierarchy.
fn unified(folder: &Path) -> Result<Option<Quota>, TopologyError> {
    const EXPECTED: &str = "`max` or microseconds, then the period in microseconds";
    let path = folder.join("cpu.max");
    let Some(content) = read(&path) else { return Ok(None) };
    let fault = || malformed(&path, &content, EXPECTED);
    let (micros, period) = content.trim().split_once(' ').ok_or_else(fault)?;
    let period = period.parse().ok().filter(|&period| period > 0).ok_or_else(fault)?;
    if micros == "max" {
        return Ok(None);
    }
    let micros = micros.parse().map_err(|_| fault())?;
    Ok(Some(Quota { micros, period }))
}

/// The quota in a group of the `cpu` hierarchy of the first generation.
fn legacy(folder: &Path) -> Result<Option<Quota>, TopologyError> {
    let quota = folder.join("cpu.cfs_quota_us");
    let period = folder.join("cpu.cfs_period_us");
    let (Some(micros), Some(length)) = (read(&quota), read(&period)) else { return Ok(None) };
    let fault = || malformed(&period, &length, "microseconds above zero");
    let length = length.trim().parse().ok().filter(|&length| length > 0).ok_or_else(fault)?;
    if micros.trim() == "-1" {
        return Ok(None);
    }
    let fault = |_| malformed(&quota, &micros, "microseconds, or -1 for no quota");
    let micros = micros.trim().parse().map_err(fault)?;
    Ok(Some(Quota { micros, period: length }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quota_is_rounded_up_and_never_zero() {
        let cpus = |micros| Quota { micros, period: 100_000 }.cpus();
        assert_eq!(
            [cpus(0), cpus(1), cpus(100_000), cpus(100_001), cpus(350_000)],
            [1, 1, 1, 2, 4]
        );
    }

    #[test]
    fn the_tighter_quota_is_the_lower_ratio() {
        let half = Quota { micros: 50_000, period: 100_000 };
        let third = Quota { micros: 300_000, period: 900_000 };
        assert_eq!(half.tighter(third), third);
        assert_eq!(third.tighter(half), third);
    }

    #[test]
    fn the_walk_follows_the_group_but_not_out_of_the_namespace() {
        let mount = Path::new("/m");
        let paths = |group| folders(mount, group);
        assert_eq!(paths("/"), [Path::new("/m")]);
        assert_eq!(paths("/a/b"), [Path::new("/m"), Path::new("/m/a"), Path::new("/m/a/b")]);
        assert_eq!(paths("/../a"), [Path::new("/m")]);
    }
}
