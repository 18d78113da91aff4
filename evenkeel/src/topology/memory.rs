//! How much memory there is.

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
