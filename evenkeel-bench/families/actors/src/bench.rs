//! The experiments and their variants.

use super::savina::Program;
use suite::named;

named! {
    /// An experiment.
    pub(crate) enum Bench as "experiment" {
        /// Each actor has one ping in flight, to a random actor.
        LatencyProbe = "latency_probe": "actors with a ping in flight each, to a random one of all",
        /// Pairs with many pings in flight.
        Pingpong = "pingpong": "pairs of actors with many pings in flight",
        /// Many producers and one consumer.
        Fanin = "fanin": "many actors send to one, in order, as fast as it lets them",
        /// Each actor is spawned, handles one message, and stops.
        Spawn = "actor_spawn": "actors that are spawned, handle one message and stop",
        /// Resident memory of idle actors.
        Memory = "actor_memory": "resident memory per idle actor, its reference included",
        /// Each of 120 actors has one ping in flight.
        Big = "savina_big": "120 actors with one ping in flight each, to a random one of all",
        /// A token in a ring of a hundred actors.
        Threadring = "savina_threadring": "a token that goes round a ring of 100 actors",
        /// Increments from one actor to another.
        Count = "savina_count": "increments from one actor to another",
        /// Actors that handle one message each.
        Fjcreate = "savina_fjcreate": "actors that are spawned, sent a message and end, one by one",
        /// Meetings of a hundred creatures.
        Chameneos = "savina_chameneos": "100 creatures that meet in pairs at a mall",
        /// Transfers between a thousand accounts.
        Banking = "savina_banking": "transfers between 1,000 accounts, which wait for each other",
        /// Producers and consumers with a manager between them.
        Bndbuffer = "savina_bndbuffer": "40 producers, 40 consumers and a buffer for 50 items",
        /// Twenty philosophers and an arbitrator.
        Philosopher = "savina_philosopher": "20 philosophers that ask an arbitrator for their forks",
    }
}

named! {
    /// One way of running an experiment.
    pub(crate) enum Variant as "variant" {
        /// The experiment has only one.
        Only = "-",
        /// All actors are alive before the first message is sent.
        Alive = "alive",
        /// A thousand actors at a time.
        Waves = "waves",
        /// Actors without any message.
        Idle = "idle",
        /// Actors that have handled one message.
        Used = "used",
    }
}

impl Bench {
    /// The program of the Savina suite, if the experiment is one.
    pub(crate) fn program(self) -> Option<Program> {
        Some(match self {
            Bench::LatencyProbe | Bench::Pingpong | Bench::Fanin => return None,
            Bench::Spawn | Bench::Memory => return None,
            Bench::Big => Program::Big,
            Bench::Threadring => Program::Threadring,
            Bench::Count => Program::Count,
            Bench::Fjcreate => Program::Fjcreate,
            Bench::Chameneos => Program::Chameneos,
            Bench::Banking => Program::Banking,
            Bench::Bndbuffer => Program::Bndbuffer,
            Bench::Philosopher => Program::Philosopher,
        })
    }

    /// The variants, in the order of the tables.
    pub(crate) fn variants(self) -> &'static [Variant] {
        match self {
            Bench::Spawn => &[Variant::Alive, Variant::Waves],
            Bench::Memory => &[Variant::Idle, Variant::Used],
            _ => &[Variant::Only],
        }
    }
}
