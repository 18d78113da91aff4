//! Who is measured, and what part it has in a comparison.

use crate::named::Named;

/// What can run a family's experiments.
pub trait Peer: Named + Send {
    /// Its part in a comparison.
    fn role(self) -> Role;

    /// What it is, in one line.
    fn describe(self) -> &'static str {
        ""
    }
}

/// The part of a peer in a comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// What the row is about. A family has one.
    Subject,
    /// This project's in another form: shown, and not compared.
    Own,
    /// What the subject is compared with.
    Peer,
    /// It does less than the others, such as a plain call: shown, and not compared.
    Floor,
}

/// A peer as tables and pages know it.
#[derive(Clone, Copy, Debug)]
pub struct Known {
    /// Its name.
    pub name: &'static str,
    /// What it is.
    pub what: &'static str,
    /// Its part.
    pub role: Role,
    /// Its colour and marker: the subject has the first; the others follow in their
    /// order, and last those that are no peers, which pictures need least.
    pub slot: usize,
}

impl Known {
    /// All peers of a kind, in the order of the tables.
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
