//! The peers that are measured, and their roles in a comparison.

use crate::named::Named;

/// A runtime or program that can run a family's experiments.
pub trait Peer: Named + Send {
    /// Returns its role in a comparison. Unless a family says otherwise, the first peer is the
    /// subject, and all others are compared with it.
    fn role(self) -> Role {
        if self == Self::ALL[0] { Role::Subject } else { Role::Peer }
    }
}

/// The role of a peer in a comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// The subject of the row. A family has one.
    Subject,
    /// Another form of this project's own: shown, and not compared.
    Own,
    /// A peer with which the subject is compared.
    Peer,
    /// A floor that does less than the others, such as a plain call: shown, and not compared.
    Floor,
}

/// The number of colours and markers for runtimes. A runtime has those of its [`Known::slot`].
pub const SLOTS: usize = 8;

/// A peer, as tables and pages show it.
#[derive(Clone, Copy, Debug)]
pub struct Known {
    /// Its name.
    pub name: &'static str,
    /// Its description.
    pub what: &'static str,
    /// Its role.
    pub role: Role,
    /// The number of its colour and marker. The subject has the first; the others follow in their
    /// order. Floors come last, since pictures need them least.
    pub slot: usize,
}

impl Known {
    /// Returns all peers of a kind, in the order of the tables.
    pub fn all<P: Peer>() -> Vec<Self> {
        let mut order: Vec<P> = P::ALL.to_vec();
        order.sort_by_key(|peer| match peer.role() {
            Role::Subject => 0,
            Role::Own | Role::Peer => 1,
            Role::Floor => 2,
        });
        let known = |peer: &P| {
            let slot = order.iter().position(|other| other == peer).unwrap_or_default();
            Self { name: peer.name(), what: peer.describe(), role: peer.role(), slot }
        };
        P::ALL.iter().map(known).collect()
    }
}
