//! External scheduling: one party accepts the calls of another.
//!
//! Roles: the acceptor accepts N calls, the caller makes them one after the other, both on one
//! processor. The thesis times the acceptor; the caller is timed, too. Call `i` carries the number
//! `i`; the acceptor adds them up, so that a call that is lost or accepted twice shows.

mod evenkeel;
mod flume;
mod tokio;

pub(super) use self::evenkeel::Evenkeel;
pub(super) use self::flume::Flume;
pub(super) use self::tokio::Tokio;

use std::future::Future;
use std::marker::PhantomData;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::host::Host;
use suite::kit::fault::Fault;

/// Where a caller and an acceptor meet.
pub(super) trait Rendezvous: Send + Sync + 'static {
    /// A place where nobody is.
    fn new() -> Self;

    /// Whether calls are accepted already. A channel keeps them until they are.
    fn is_open(&self) -> bool {
        true
    }

    /// Calls with a number, and comes back when the call is accepted or done.
    fn call(&self, number: u64) -> impl Future<Output = ()>;

    /// Accepts so many calls and gives the sum of their numbers.
    fn accept(&self, calls: u64) -> impl Future<Output = u64>;
}

/// What a party does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    Acceptor,
    Caller,
}

/// A party before it begins.
pub(super) struct Part<H, R> {
    role: Role,
    n: u64,
    place: Arc<R>,
    host: PhantomData<fn() -> H>,
}

/// What a party has done.
#[derive(Clone, Copy, Debug)]
pub(super) struct Done {
    took: Duration,
    sum: u64,
}

/// Both parties.
pub(super) fn parts<H, R: Rendezvous>(n: u64) -> Vec<Part<H, R>> {
    let place = Arc::new(R::new());
    [Role::Acceptor, Role::Caller]
        .map(|role| Part { role, n, place: place.clone(), host: PhantomData })
        .into()
}

/// A party.
pub(super) async fn go<H: Host, R: Rendezvous>(part: Part<H, R>) -> Done {
    let Part { role, n, place, .. } = part;
    while role == Role::Caller && !place.is_open() {
        H::yield_now().await;
    }
    let started = Instant::now();
    let sum = match role {
        Role::Acceptor => place.accept(n).await,
        Role::Caller => {
            for number in 0..n {
                place.call(number).await;
            }
            sum(n)
        }
    };
    Done { took: started.elapsed(), sum }
}

/// What the numbers of so many calls come to.
fn sum(n: u64) -> u64 {
    (u128::from(n) * u128::from(n.saturating_sub(1)) / 2) as u64
}

/// The time of the party that is asked for, if every call was accepted.
pub(super) fn check(n: u64, timed: Role, parties: &[Done]) -> Result<Duration, Fault> {
    let &[acceptor, caller] = parties else {
        return Fault::check(format!("{} of 2 parties have ended", parties.len()));
    };
    if acceptor.sum != caller.sum {
        return Fault::check(format!(
            "the numbers of {n} accepted calls come to {} instead of {}",
            acceptor.sum, caller.sum
        ));
    }
    Ok(match timed {
        Role::Acceptor => acceptor.took,
        Role::Caller => caller.took,
    })
}
