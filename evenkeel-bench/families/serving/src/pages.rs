//! What is asked of a server of HTTP/1.1, and what it answers.

use std::time::Duration;

use suite::kit::work;
use suite::named;

/// The steps that a page computes: some 10 ms. It is work, not time, so a thread that loses its
/// core has as much to do as one that keeps it.
const STEPS: u64 = 8_000_000;

/// How long a page blocks its thread.
pub(crate) const BLOCK: Duration = Duration::from_millis(100);

/// The bytes that a large page has more than others.
pub(crate) const LARGE: usize = 1 << 20;

named! {
    /// A page by its path. A request has a number behind it, such as `/light?7`.
    pub(crate) enum Page as "page" {
        /// It is small, and there at once.
        Light = "/light",
        /// It computes.
        Compute = "/compute",
        /// It blocks its thread for [`BLOCK`].
        Block = "/block",
        /// It is large.
        Large = "/large",
    }
}

impl Page {
    /// Returns the body of the reply to the request of this number, as a server makes it.
    pub(crate) fn made(self, number: u64) -> String {
        self.with(number, work::steps)
    }

    /// Returns the body of the reply to the request of this number. What a page computes is known
    /// without the steps.
    pub(crate) fn body(self, number: u64) -> String {
        self.with(number, work::jump)
    }

    fn with(self, number: u64, compute: fn(u64, u64) -> u64) -> String {
        match self {
            Page::Light | Page::Block => format!("hello {number}"),
            Page::Compute => format!("hello {number} {}", compute(number, STEPS)),
            Page::Large => format!("hello {number}{}", ".".repeat(LARGE)),
        }
    }
}
