//! Servers that are programs of their own, if they or the tools that build them are found.

pub(crate) mod go;
pub(crate) mod nginx;

use crate::peer::Peer;

/// Returns the version of what a peer needs, or what installs it.
pub(crate) fn look(peer: Peer) -> Result<Option<String>, String> {
    match peer {
        Peer::Evenkeel | Peer::Tokio | Peer::TokioPerCore | Peer::Bare => Ok(None),
        Peer::Go => suite::kit::go::found().map(Some),
        Peer::Nginx => nginx::version().map(Some),
    }
}
