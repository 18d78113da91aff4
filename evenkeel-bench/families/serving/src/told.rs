//! The lines that the processes of a run exchange: a word with a number goes in, an object of JSON
//! comes out.

use serde::{Deserialize, Serialize};

use suite::kit::latency::Quantiles;

/// Asks a server for its address.
pub(crate) const ADDRESS: &str = "address";

/// Asks a server for its [`Time`].
pub(crate) const TIME: &str = "time";

/// Asks a server for its [`Mark`].
pub(crate) const MARK: &str = "mark";

/// The answer of a server: where it listens.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Listening {
    /// The port on the loopback interface.
    pub(crate) port: u16,
}

/// The answer of a server: what it has used up to now. Nothing else is asked with it, because to
/// count descriptors takes time.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Time {
    /// Processor time of all its threads, user and system, in nanoseconds.
    pub(crate) cpu_ns: u64,
}

/// The answer of a server: what it has.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Mark {
    /// Its resident set, in bytes.
    pub(crate) resident: u64,
    /// Its open descriptors, as far as they are counted.
    pub(crate) descriptors: u64,
}

/// The answer of a client: what it has seen.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Seen {
    /// The time from the first request to the end of those that may begin, in seconds.
    pub(crate) seconds: f64,
    /// Requests sent, each of which has its checked reply.
    pub(crate) requests: u64,
    /// Replies within these seconds.
    pub(crate) within: u64,
    /// Light requests, whose delays are below.
    pub(crate) light: u64,
    /// The delays of light requests. The family leaves out rare quantiles of too few of them.
    pub(crate) delays: Quantiles,
    /// How late the client began its requests, where their times are fixed beforehand.
    pub(crate) late: Quantiles,
    /// Connections that came and went.
    pub(crate) connections: u64,
    /// Processor time of the client, in nanoseconds.
    pub(crate) cpu_ns: u64,
}
