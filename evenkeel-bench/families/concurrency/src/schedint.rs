//! Internal scheduling: one party repeatedly waits inside for the other's signal.
//!
//! Roles: the waiter enters once and waits N times; the signaller enters, signals and leaves N
//! times. Both are on one processor. The thesis times the waiter, and its author's later harness
//! the signaller: each is a variant.
//!
//! Steps: the waiter sets `waiting` and waits until it is false. The signaller enters; if `waiting`
//! is true, it makes it false and signals. Monitors that hand over make the waiter the next one
//! inside, so the signaller always finds it waiting. A signaller that barges in before the waiter
//! is back finds no waiter, which is no round: it leaves and lets the waiter run.
//!
//! Nothing is lost, because `waiting` changes only inside: the waiter does not go on without a
//! signal of this round, and the signaller does not signal without a waiter. So both count the same
//! rounds, which the check compares.

use std::marker::PhantomData;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use super::host::Host;
use super::monitors::{Conditions, Datum};
use suite::kit::fault::Fault;

/// The role of a party.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    Waiter,
    Signaller,
}

/// A party before it begins.
pub(super) struct Part<H, L> {
    role: Role,
    n: u64,
    shared: Arc<Shared<L>>,
    host: PhantomData<fn() -> H>,
}

/// State that the parties share.
struct Shared<L> {
    monitors: L,
    /// The waiter is inside.
    begun: AtomicBool,
}

/// The work of a party.
#[derive(Clone, Copy, Debug)]
pub(super) struct Done {
    pub(super) took: Duration,
    /// The rounds that it counted inside.
    pub(super) rounds: u64,
}

/// Makes both parties.
pub(super) fn parts<H, L: Conditions<M>, const M: usize>(n: u64) -> Vec<Part<H, L>> {
    let shared = Arc::new(Shared { monitors: L::new(), begun: AtomicBool::new(false) });
    [Role::Waiter, Role::Signaller]
        .map(|role| Part { role, n, shared: shared.clone(), host: PhantomData })
        .into()
}

/// The body of a party.
pub(super) async fn go<H: Host, L: Conditions<M>, const M: usize>(part: Part<H, L>) -> Done {
    let Part { role, n, shared, .. } = part;
    match role {
        Role::Waiter => wait(n, &shared).await,
        Role::Signaller => signal::<H, L, M>(n, &shared).await,
    }
}

fn first<'a, L: Conditions<M>, const M: usize>(held: &'a mut L::Held<'_>) -> &'a mut Datum {
    L::data(held).into_iter().next().expect("there is at least one monitor")
}

async fn wait<L: Conditions<M>, const M: usize>(n: u64, shared: &Shared<L>) -> Done {
    let Shared { monitors, begun } = shared;
    let mut held = monitors.enter().await;
    begun.store(true, Ordering::Relaxed);
    let started = Instant::now();
    for _ in 0..n {
        first::<L, M>(&mut held).waiting = true;
        while first::<L, M>(&mut held).waiting {
            held = monitors.wait(held).await;
        }
        first::<L, M>(&mut held).entries += 1;
    }
    Done { took: started.elapsed(), rounds: first::<L, M>(&mut held).entries }
}

async fn signal<H: Host, L: Conditions<M>, const M: usize>(n: u64, shared: &Shared<L>) -> Done {
    let Shared { monitors, begun } = shared;
    while !begun.load(Ordering::Relaxed) {
        H::yield_now().await;
    }
    let started = Instant::now();
    let mut rounds = 0;
    while rounds < n {
        let mut held = monitors.enter().await;
        let found = std::mem::take(&mut first::<L, M>(&mut held).waiting);
        if found {
            monitors.signal(&mut held);
            rounds += 1;
        }
        drop(held);
        if !found {
            H::yield_now().await;
        }
    }
    Done { took: started.elapsed(), rounds }
}

/// Returns the time of the party `timed`, if no round was lost.
pub(super) fn check(n: u64, timed: Role, parties: &[Done]) -> Result<Duration, Fault> {
    let &[waiter, signaller] = parties else {
        return Fault::check(format!("{} of 2 parties have ended", parties.len()));
    };
    for (role, done) in [(Role::Waiter, waiter), (Role::Signaller, signaller)] {
        if done.rounds != n {
            return Fault::check(format!("the {role:?} has made {} rounds of {n}", done.rounds));
        }
    }
    Ok(match timed {
        Role::Waiter => waiter.took,
        Role::Signaller => signaller.took,
    })
}
