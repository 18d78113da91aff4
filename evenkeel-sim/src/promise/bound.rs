//! The bound that the simulation asserts.
//!
//! The runtime promises that a task which becomes ready starts within `H + c·(N/W)·p`: `N` tasks
//! ready, `W` processors that make progress, `p` their mean poll. Here `N·p` is the true sum of the
//! polls ahead, and `H` follows from the constants below.

use super::arrivals::{Kind, Scenario};
use evenkeel_policy::{helping, stealing, waking};

/// `c`: a helper leaves a processor alone if its work is up to [`helping::MARGIN`] times as old as
/// the helper's own.
pub(crate) const SHARE: u64 = helping::MARGIN;

/// How long it takes until a processor looks, asks, waits for the answer and takes a queue by
/// force, when all processors make progress. Each is looked at once per batch on average, and a
/// look may come some batches late. If few make progress, each of those has more processors to look
/// at, and this is divided by their share of all. Tasks that are not worth a move are left alone
/// for longer.
pub(crate) const HELPING: u64 = 350_000 + stealing::OLD_SMALL_HEAD;

/// A processor looks round only between two polls, asks at one and takes at another; so does the
/// processor that it helps.
pub(crate) const POLLS: u64 = 6;

/// Sleepers are woken one after the other, each by the one before it that has found work. While a
/// sleeping machine spreads a backlog, part of the time of such a chain adds to the wait, per
/// processor.
pub(crate) const CHAIN: u64 = 6_000;

/// How long a backlog may lie beside a sleeper without a wake-up: a task is behind a poll, or a
/// processor searches, or a woken processor is about to run.
pub const NEGLECT: u64 = 250_000;

/// The longest time from ready to running that the promise allows beyond the share of the work
/// ahead.
pub(crate) fn beyond_share(scenario: &Scenario) -> u64 {
    let (processors, progress) = (scenario.processors as u64, scenario.progress() as u64);
    let helping = HELPING * processors.div_ceil(progress)
        + POLLS * scenario.longest_poll()
        + CHAIN * processors;
    match scenario.kind {
        // If all others sleep, the watch finds a lone task behind a stuck poll, and the tasks of a
        // queue that is left together.
        Kind::StuckAlone | Kind::Together => helping + waking::LONGEST_WATCH,
        _ => helping,
    }
}
