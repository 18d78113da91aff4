//! External scheduling: one party accepts the calls of another.
//!
//! Roles: the acceptor accepts N calls, and the caller makes them one after another, both on one
//! processor. The thesis times the acceptor; here the caller is timed, too. Call `i` carries the
//! number `i`, and the acceptor adds them up, so that a call that is lost or accepted twice shows.

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

/// The meeting place of a caller and an acceptor.
pub(super) trait Rendezvous: Send + Sync + 'static {
    /// Makes an empty place.
    fn new() -> Self;

    /// Whether the acceptor accepts calls already. A channel keeps earlier calls until then.
    fn is_open(&self) -> bool {
        true
    }

    /// Calls with a number, and returns when the call is accepted or done.
    fn call(&self, number: u64) -> impl Future<Output = ()>;

    /// Accepts `calls` calls and returns the sum of their numbers.
    fn accept(&self, calls: u64) -> impl Future<Output = u64>;
}

/// The role of a party.
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

/// The work of a party.
#[derive(Clone, Copy, Debug)]
pub(super) struct Done {
    took: Duration,
    sum: u64,
}

/// Makes both parties.
pub(super) fn parts<H, R: Rendezvous>(n: u64) -> Vec<Part<H, R>> {
    let place = Arc::new(R::new());
    [Role::Acceptor, Role::Caller]
        .map(|role| Part { role, n, place: place.clone(), host: PhantomData })
        .into()
}

/// The body of a party.
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

/// The sum of the numbers of `n` calls.
fn sum(n: u64) -> u64 {
    (u128::from(n) * u128::from(n.saturating_sub(1)) / 2) as u64
}

/// Returns the time of the party `timed`, if every call was accepted.
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
