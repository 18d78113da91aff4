//! The exporter of one runtime.

use crate::figures::{OF_PROCESSOR, OF_RUNTIME};
use crate::series::Series;
use crate::times::Highest;
use crate::{delays, times};
use evenkeel::Handle;
use evenkeel::metrics::ProcessorMetrics;
use evenkeel::time::{Instant, sleep};
use metrics::{Recorder, SharedString, with_recorder};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// The interval of an exporter that is given none: a third of that at which Prometheus asks by
/// default.
const EVERY: Duration = Duration::from_secs(5);

/// How long [`Exporter::run`] may take, at most, to notice that its runtime shuts down. Each look
/// wakes a worker; no benchmark sets it.
const LOOK: Duration = Duration::from_millis(250);

/// Hands the metrics of a runtime to the recorder that the program has installed for the facade
/// [`metrics`]. [The crate's page](crate) says what the figures are called, and what it costs.
///
/// Clones are cheap, and are the same exporter with settings of their own. Have one exporter of a
/// runtime, and clones of it, for a recorder: the exporter remembers the times that it has
/// recorded, so that none goes back. A second one beside it does not know them. It keeps no runtime
/// alive, and can be used when its runtime is over: then it records the
/// final counts, and workers that go on sleeping.
///
/// # Examples
/// ```
/// use evenkeel::{Runtime, Shutdown};
/// use evenkeel_metrics::Exporter;
///
/// let runtime = Runtime::new().unwrap();
/// let exporter = Exporter::new(&runtime.handle()).name("batch");
/// runtime.spawn(async {}).detach();
/// runtime.shutdown(Shutdown::Drain);
/// // One task, one poll.
/// exporter.record();
/// ```
#[derive(Clone, Debug)]
pub struct Exporter {
    handle: Handle,
    name: SharedString,
    every: Duration,
    /// By the label of the processor. Locked while values are recorded, so that no thread records
    /// an older snapshot after a newer one.
    highest: Arc<Mutex<HashMap<String, Highest>>>,
}

impl Exporter {
    /// Makes an exporter of a runtime, with the name `evenkeel` and an interval of 5 s. It records
    /// nothing yet.
    #[must_use]
    pub fn new(handle: &Handle) -> Self {
        Self {
            handle: handle.clone(),
            name: SharedString::const_str("evenkeel"),
            every: EVERY,
            highest: Arc::default(),
        }
    }

    /// Sets the value of the label `runtime`. Runtimes that are exported to one recorder need
    /// different ones.
    #[must_use]
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.name = SharedString::from_shared(Arc::from(name.into()));
        self
    }

    /// Sets the interval of [`run`](Self::run), 5 s by default.
    ///
    /// # Panics
    /// If it is zero.
    ///
    /// # Examples
    /// ```should_panic
    /// use evenkeel_metrics::Exporter;
    /// use std::time::Duration;
    /// let runtime = evenkeel::Runtime::new().unwrap();
    /// let _ = Exporter::new(&runtime.handle()).every(Duration::ZERO);
    /// ```
    #[must_use]
    #[track_caller]
    pub fn every(mut self, every: Duration) -> Self {
        assert!(!every.is_zero(), "`Exporter::every`: an interval of zero; give it one above zero");
        self.every = every;
        self
    }

    /// Tells the recorder what each figure means, and in which unit it is. Once is enough for a
    /// recorder, for all runtimes; [`run`](Self::run) does so at its beginning.
    pub fn describe(&self) {
        with_recorder(|recorder| {
            OF_RUNTIME.iter().for_each(|figure| figure.describe(recorder));
            OF_PROCESSOR.iter().for_each(|figure| figure.describe(recorder));
            times::describe(recorder);
            delays::describe(recorder);
        });
    }

    /// Hands all figures of this moment to the recorder. Without a recorder, it has no effect.
    ///
    /// It may be called from anywhere, at any time, also beside [`run`](Self::run): a program whose
    /// recorder is asked for a page calls it before the page is rendered, and the page is up to
    /// date. Calls of one exporter and its clones are made one after the other. Counts are
    /// absolute: no number of calls counts anything twice.
    ///
    /// # Panics
    /// If the recorder does. A recorder that calls `record` of the same exporter waits for ever.
    pub fn record(&self) {
        with_recorder(|recorder| self.record_to(recorder));
    }

    fn record_to(&self, recorder: &dyn Recorder) {
        // A recorder may have panicked; values that were raised stay true.
        let mut highest = self.highest.lock().unwrap_or_else(PoisonError::into_inner);
        let metrics = self.handle.metrics();
        let runtime = Series::of_runtime(recorder, self.name.clone());
        OF_RUNTIME.iter().for_each(|figure| figure.record(&runtime, &metrics));
        let mut record = |label: String, processor: &ProcessorMetrics| {
            let series = runtime.of_processor(label.clone());
            OF_PROCESSOR.iter().for_each(|figure| figure.record(&series, processor));
            times::record(&series, highest.entry(label).or_default(), &processor.times);
            delays::record(&series, &processor.sockets.delays);
        };
        for (index, processor) in metrics.processors.iter().enumerate() {
            record(index.to_string(), processor);
        }
        for (index, relief) in metrics.reliefs.iter().enumerate() {
            record(format!("relief-{index}"), relief);
        }
    }

    /// Describes the figures, and records them at once and then at each interval, until the runtime
    /// begins to shut down. It records once more then, and returns.
    ///
    /// It looks every 250 ms, at most, whether the runtime shuts down. So a task of the runtime may
    /// run it: a [drain](evenkeel::Shutdown::Drain) takes up to that much longer, and is not kept
    /// waiting for the interval. What happens during the drain is counted, but not recorded: a
    /// program that wants it calls [`record`](Self::record) when the shutdown has returned.
    ///
    /// The future may be polled in any runtime, also in another one than it exports. Records that
    /// are late, because nothing polled it, are left out.
    ///
    /// # Panics
    /// As [`sleep`]: outside of any runtime, and if the runtime that it sleeps in ends meanwhile.
    /// Also if the recorder panics.
    ///
    /// # Cancel safety
    /// The future may be dropped at any time, and aborted. It records nothing then: what was
    /// recorded last remains.
    ///
    /// # Examples
    /// ```
    /// use evenkeel::{Runtime, Shutdown};
    /// use evenkeel_metrics::Exporter;
    /// use std::time::Duration;
    ///
    /// let runtime = Runtime::new().unwrap();
    /// let exporter = Exporter::new(&runtime.handle()).every(Duration::from_secs(60));
    /// let exports = runtime.spawn(exporter.run());
    /// assert!(runtime.shutdown(Shutdown::Drain).is_clean());
    /// evenkeel::block_on(exports).unwrap();
    /// ```
    pub async fn run(self) {
        self.describe();
        let mut last: Option<Instant> = None;
        loop {
            let is_last = self.handle.is_shutting_down();
            // No deadline is computed: an interval may be as long as `Duration` has them.
            let left = last.map_or(Duration::ZERO, |at| self.every.saturating_sub(at.elapsed()));
            if is_last || left.is_zero() {
                self.record();
                last = Some(Instant::now());
            }
            if is_last {
                return;
            }
            let wait = if left.is_zero() { self.every } else { left };
            sleep(wait.min(LOOK)).await;
        }
    }
}
