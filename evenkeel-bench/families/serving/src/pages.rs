//! What is asked of a server of HTTP/1.1, and what it answers.

use std::time::Duration;

use suite::named;

/// How long a page computes.
pub(crate) const COMPUTE: Duration = Duration::from_millis(10);

/// How long a page blocks its thread.
pub(crate) const BLOCK: Duration = Duration::from_millis(100);

/// The bytes that a large page has more than others.
pub(crate) const LARGE: usize = 1 << 20;

named! {
    /// A page by its path. A request has a number behind it, such as `/light?7`.
    pub(crate) enum Page as "page" {
        /// It is small, and there at once.
        Light = "/light",
        /// It computes for [`COMPUTE`].
        Compute = "/compute",
        /// It blocks its thread for [`BLOCK`].
        Block = "/block",
        /// It is large.
        Large = "/large",
    }
}

impl Page {
    /// Returns the body of the reply to the request of this number.
    pub(crate) fn body(self, number: u64) -> String {
        match self {
            Page::Large => format!("hello {number}{}", ".".repeat(LARGE)),
            Page::Light | Page::Compute | Page::Block => format!("hello {number}"),
        }
    }
}
