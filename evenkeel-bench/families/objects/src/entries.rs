//! The body of a task in each mode: it enters one object after another until the run is over.
//!
//! An `async fn` would store its arguments twice, as arguments and as variables, and a travelling
//! task carries both.
#![allow(clippy::manual_async_fn, reason = "see above")]

use std::sync::Arc;

use evenkeel::object::{EnterError, enter2};

use super::locks::Shared;
use super::party::{Party, Tally};
use super::spacing::Spacing;
use super::tasks::Objects;
use super::work::{Kind, PairWork, Work};

/// A task that enters one object at a time.
pub(super) fn one<W: Work, S: Spacing>(
    work: W,
    objects: Objects<W, S>,
    mut party: Party,
) -> impl Future<Output = Result<Tally, EnterError>> + Send {
    async move {
        while let Some(number) = party.next(work) {
            let hand = &mut party.hand;
            let done = objects[number].with(|value| work.operate(value, hand)).await?;
            party.count(done);
        }
        Ok(party.into_tally())
    }
}

/// A task that enters objects, and shares those that its operation only reads.
pub(super) fn looking<W: Work, S: Spacing>(
    work: W,
    objects: Objects<W, S>,
    mut party: Party,
) -> impl Future<Output = Result<Tally, EnterError>> + Send {
    async move {
        while let Some(number) = party.next(work) {
            let (object, hand) = (&objects[number], &mut party.hand);
            let done = match work.look(hand) {
                Some(look) => object.read(|value| look(work, value, hand)).await?,
                None => object.with(|value| work.operate(value, hand)).await?,
            };
            party.count(done);
        }
        Ok(party.into_tally())
    }
}

/// A task that enters two objects at once.
pub(super) fn pair<W: PairWork, S: Spacing>(
    work: W,
    objects: Objects<W, S>,
    mut party: Party,
) -> impl Future<Output = Result<Tally, EnterError>> + Send {
    async move {
        while let Some((first, second)) = party.next_pair(work) {
            let done = {
                let (mut first, mut second) = enter2(&objects[first], &objects[second]).await?;
                work.operate(&mut first, &mut second, &mut party.hand)
            };
            party.count(done);
        }
        Ok(party.into_tally())
    }
}

/// A task that takes an ordinary lock for each operation and holds it across no await. It yields as
/// often as tasks that enter objects do: otherwise as many tasks as workers would keep the workers
/// to themselves.
pub(super) fn locked<K: Kind, S: Shared<K> + 'static>(
    kind: K,
    shared: Arc<S>,
    mut party: Party,
) -> impl Future<Output = Result<Tally, EnterError>> + Send {
    async move {
        while let Some(done) = shared.operate(kind, &mut party) {
            party.count(done);
            if party.gives_way() {
                evenkeel::yield_now().await;
            }
        }
        Ok(party.into_tally())
    }
}
