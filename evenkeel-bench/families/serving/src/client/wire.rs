//! What a client sends and expects on a connection.

use crate::pages::Page;

/// A request: the sender's connection, its number there, and what it asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Id {
    /// The connection, of all of the client.
    pub(super) connection: usize,
    /// The number of the request on this connection.
    pub(super) number: u64,
    /// What an HTTP request asks for.
    pub(super) page: Page,
}

/// A protocol with one request under way at a time.
pub(super) trait Wire: Send {
    /// What has come of a reply.
    type Reply: Default + Send;

    /// Returns the bytes of a request, each time the same.
    fn request(&mut self, id: Id) -> &[u8];

    /// Takes bytes of the reply. Returns whether it is complete, or what is wrong with it.
    fn take(&mut self, id: Id, reply: &mut Self::Reply, bytes: &[u8]) -> Result<bool, String>;
}
