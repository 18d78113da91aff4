//! The pools under test: where tasks run, and where computations fork.

use std::fmt;
use std::str::FromStr;

use crate::forking::forker::{Forker, Rayon};
use crate::runtime::Runtime;
use crate::runtime::evenkeel::Evenkeel;
use crate::runtime::tokio_hand::TokioHand;

/// Tasks and fork-join with so many workers. Dropping the value ends them.
pub(crate) trait Pool: Sized {
    /// What tasks run on.
    type Tasks: Runtime;
    /// What computations run on.
    type Forks: Forker + Sync;

    /// Starts as many workers.
    fn start(workers: usize) -> anyhow::Result<Self>;

    /// What tasks run on.
    fn tasks(&self) -> &Self::Tasks;

    /// What computations run on.
    fn forks(&self) -> &Self::Forks;
}

/// One set of workers for both.
impl Pool for Evenkeel {
    type Tasks = Evenkeel;
    type Forks = Evenkeel;

    fn start(workers: usize) -> anyhow::Result<Self> {
        <Evenkeel as Runtime>::start(workers)
    }

    fn tasks(&self) -> &Evenkeel {
        self
    }

    fn forks(&self) -> &Evenkeel {
        self
    }
}

/// A pool of rayon's beside one of Tokio's, each with as many threads. Tokio's tasks use the primitives made by hand.
pub(crate) struct RayonTokio {
    rayon: Rayon,
    tokio: TokioHand,
}

impl Pool for RayonTokio {
    type Tasks = TokioHand;
    type Forks = Rayon;

    fn start(workers: usize) -> anyhow::Result<Self> {
        Ok(RayonTokio {
            rayon: <Rayon as Forker>::start(workers)?,
            tokio: <TokioHand as Runtime>::start(workers)?,
        })
    }

    fn tasks(&self) -> &TokioHand {
        &self.tokio
    }

    fn forks(&self) -> &Rayon {
        &self.rayon
    }
}

/// One column of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Name {
    /// This project's runtime.
    Evenkeel,
    /// rayon and Tokio on the same cores.
    RayonTokio,
}

impl Name {
    /// All of them, in the order of the tables.
    pub(crate) const ALL: [Name; 2] = [Name::Evenkeel, Name::RayonTokio];

    /// The name on the command line and in the tables.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Name::Evenkeel => "evenkeel",
            Name::RayonTokio => "rayon+tokio",
        }
    }

    /// What it is, in half a line.
    pub(crate) fn describe(self) -> &'static str {
        match self {
            Name::Evenkeel => "this project's runtime for both",
            Name::RayonTokio => "a pool of rayon's beside one of Tokio's on the same cores",
        }
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// A name that no pool has.
#[derive(Debug, thiserror::Error)]
#[error("unknown runtime `{0}` for {bench}: known are {known}", bench = super::NAME, known = Name::ALL.map(Name::name).join(", "))]
pub(crate) struct UnknownPool(String);

impl FromStr for Name {
    type Err = UnknownPool;

    fn from_str(name: &str) -> Result<Self, UnknownPool> {
        let known = Name::ALL.into_iter().find(|known| known.name() == name);
        known.ok_or_else(|| UnknownPool(name.to_owned()))
    }
}
