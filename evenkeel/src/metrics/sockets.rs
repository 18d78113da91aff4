//! What processors have done for sockets.

use crate::primitives::counter::CLASSES;
use crate::processor::Processor;
use crate::readiness::Set;
use std::fmt;
use std::iter::Sum;
use std::time::Duration;

/// What a processor has done for sockets. All are zero without the feature `net`.
///
/// # Examples
/// ```
/// use evenkeel::metrics::SocketMetrics;
/// use evenkeel::net::{TcpListener, TcpStream};
/// let runtime = evenkeel::Builder::new().workers(1).build()?;
/// let (client, server) = runtime.block_on(async {
///     let listener = TcpListener::bind("127.0.0.1:0").await?;
///     let address = listener.local_addr()?;
///     let server = evenkeel::spawn(async move { listener.accept().await?.0.read(&mut [0]).await });
///     TcpStream::connect(address).await?.write_all(b"x").await?;
///     server.await.unwrap()
/// }).map(|read| (1, read))?;
/// let sockets: SocketMetrics = runtime.metrics().processors[0].sockets;
/// assert_eq!((sockets.accepted, client, server), (1, 1, 1));
/// println!("found to polled: {}", sockets.delays);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct SocketMetrics {
    /// Sockets in its set at the moment: those that have had to wait, and whose readiness its
    /// worker looks for.
    pub open: usize,
    /// Sockets that have moved into its set, because their tasks have waited here and no longer at
    /// the processor in whose set they were.
    pub moved: u64,
    /// Connections that its tasks have accepted.
    pub accepted: u64,
    /// Looks at its set, sleeps in it among them: one or two system calls each.
    pub looks: u64,
    /// Times that a look has found a socket ready, or has ended by an interrupt's note.
    pub notes: u64,
    /// How long operations that were polled here had waited since their socket was found ready.
    /// What the system took to tell is not in it.
    pub delays: Delays,
}

impl SocketMetrics {
    pub(super) fn of(processor: &Processor, set: Option<&Set>) -> Self {
        let counts = set.map(Set::counts).unwrap_or_default();
        Self {
            open: counts.sockets,
            moved: counts.moved,
            accepted: processor.counters.accepted.get(),
            looks: counts.looks,
            notes: counts.notes,
            delays: Delays(processor.counters.socket_delays.get()),
        }
    }
}

/// A histogram of times: one class for each doubling, from a nanosecond on. The last class begins
/// at four and a half minutes.
///
/// # Examples
/// ```
/// use evenkeel::metrics::Delays;
/// use std::time::Duration;
/// let runtime = evenkeel::Runtime::new().unwrap();
/// let delays: Delays = runtime.metrics().processors.iter().map(|p| p.sockets.delays).sum();
/// assert_eq!((delays.count(), delays.at(0.5)), (0, Duration::ZERO));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Delays([u64; CLASSES]);

impl Default for Delays {
    fn default() -> Self {
        Self([0; CLASSES])
    }
}

impl Delays {
    /// Returns the number of times.
    pub fn count(&self) -> u64 {
        self.0.iter().sum()
    }

    /// Returns the end of the class in which the time at `quantile` is: half of the times, or more,
    /// are below `at(0.5)`. Zero if there are no times. A `quantile` below 0 counts as 0, and one
    /// above 1 as 1.
    pub fn at(&self, quantile: f64) -> Duration {
        let rank = (quantile.clamp(0.0, 1.0) * self.count() as f64).ceil().max(1.0) as u64;
        let mut below = 0;
        let reaches = |(_, count): &(Duration, u64)| {
            below += count;
            below >= rank
        };
        self.iter().find(reaches).map(|(end, _)| end).unwrap_or_default()
    }

    /// Returns the times that have been added since an earlier snapshot of the same processors.
    ///
    /// # Examples
    /// The delays of the last minute, for a figure that falls again:
    /// ```
    /// use evenkeel::metrics::{Delays, RuntimeMetrics};
    /// let delays = |metrics: &RuntimeMetrics| -> Delays {
    ///     metrics.processors.iter().map(|processor| processor.sockets.delays).sum()
    /// };
    /// let runtime = evenkeel::Runtime::new().unwrap();
    /// let before = delays(&runtime.metrics());
    /// // A minute later:
    /// let minute = delays(&runtime.metrics()).since(&before);
    /// println!("p99 {:?}", minute.at(0.99));
    /// ```
    #[must_use]
    pub fn since(&self, earlier: &Self) -> Self {
        let mut since = *self;
        for (count, before) in since.0.iter_mut().zip(earlier.0) {
            *count = count.saturating_sub(before);
        }
        since
    }

    /// Returns the end of each class and the number of times in it, shortest first.
    pub fn iter(&self) -> impl Iterator<Item = (Duration, u64)> {
        self.0.iter().enumerate().map(|(class, &count)| (Duration::from_nanos(1 << class), count))
    }
}

impl Sum for Delays {
    fn sum<I: Iterator<Item = Self>>(delays: I) -> Self {
        delays.fold(Self::default(), |mut sum, delays| {
            for (all, one) in sum.0.iter_mut().zip(delays.0) {
                *all += one;
            }
            sum
        })
    }
}

/// The median, and where one in a hundred and one in a thousand begin.
impl fmt::Display for Delays {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [p50, p99, p999] = [0.5, 0.99, 0.999].map(|quantile| self.at(quantile));
        write!(f, "{} times, p50 {p50:.1?}, p99 {p99:.1?}, p99.9 {p999:.1?}", self.count())
    }
}
