//! The pools under test, which run tasks and fork computations.

use forking::forker::{Forker, Rayon};
use suite::kit::runtime::Runtime;
use suite::kit::runtime::evenkeel::Evenkeel;
use suite::kit::runtime::tokio_hand::TokioHand;
use suite::named;
use suite::peer::Peer;

/// Tasks and fork-join on a set of workers. Dropping the value ends them.
pub(crate) trait Pool: Sized {
    /// The runtime of the tasks.
    type Tasks: Runtime;
    /// The runtime of the computations.
    type Forks: Forker + Sync;

    /// Starts a pool of `workers` workers.
    fn start(workers: usize) -> anyhow::Result<Self>;

    /// Returns the runtime of the tasks.
    fn tasks(&self) -> &Self::Tasks;

    /// Returns the runtime of the computations.
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

/// A rayon pool beside a Tokio pool, each with `workers` threads. Tokio's tasks use the hand-made
/// primitives.
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

named! {
    /// A set of workers for both.
    pub(crate) enum Name as "runtime of mixed" {
        /// This project's runtime.
        Evenkeel = "evenkeel": "this project's runtime for both",
        /// rayon and Tokio on the same cores.
        RayonTokio = "rayon+tokio": "a pool of rayon's beside one of Tokio's on the same cores",
    }
}

impl Peer for Name {}
