//! Cache misses as the processor counts them, where the kernel lets this process ask.
//!
//! A virtual machine often has no such counter, and a kernel may withhold it; `Misses::absence`
//! then says why. The kernel is asked only on Linux and with the feature `counters`.

/// The misses of the thread that opens it and of all threads that are started from there.
#[derive(Debug)]
pub(crate) struct Misses {
    #[cfg(all(feature = "counters", target_os = "linux", not(any(loom, shuttle))))]
    counter: Result<std::sync::Mutex<perf_event::Counter>, String>,
}

#[cfg(all(feature = "counters", target_os = "linux", not(any(loom, shuttle))))]
impl Misses {
    pub(crate) fn open() -> Self {
        use perf_event::Builder;
        use perf_event::events::{Cache, CacheId, CacheOp, CacheResult};

        // Misses of the first level: they include each line that one core has written and another
        // reads.
        let event =
            Cache { which: CacheId::L1D, operation: CacheOp::READ, result: CacheResult::MISS };
        let counter = Builder::new(event).inherit(true).build().and_then(|mut counter| {
            counter.enable()?;
            Ok(std::sync::Mutex::new(counter))
        });
        Self { counter: counter.map_err(|error| format!("the kernel gives no counter: {error}")) }
    }

    /// Returns the number of misses so far, if it is known.
    pub(crate) fn read(&self) -> Option<u64> {
        let counter = self.counter.as_ref().ok()?;
        let mut counter = counter.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        let data = counter.read_full().ok()?;
        // A processor has few counters, which take turns.
        let (wanted, counted) = (data.time_enabled()?.as_nanos(), data.time_running()?.as_nanos());
        u64::try_from((u128::from(data.count()) * wanted).checked_div(counted)?).ok()
    }

    /// Returns why the number is not known, if it is not.
    pub(crate) fn absence(&self) -> Option<&str> {
        self.counter.as_ref().err().map(String::as_str)
    }
}

#[cfg(not(all(feature = "counters", target_os = "linux", not(any(loom, shuttle)))))]
impl Misses {
    pub(crate) fn open() -> Self {
        Self {}
    }

    pub(crate) fn read(&self) -> Option<u64> {
        None
    }

    pub(crate) fn absence(&self) -> Option<&str> {
        Some("evenkeel is built without its feature `counters`, or not for Linux")
    }
}
