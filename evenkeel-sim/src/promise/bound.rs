//! The bound that the simulation asserts.
//!
//! The runtime promises that a task which becomes ready starts within
//! `H·⌈M/W⌉ + 6P + 9 µs·M + 2·(N/W)·p`: `M` processors, of which `W` make progress; `N` ready
//! tasks, whose longest poll is `P` and whose mean one is `p` (`docs/promise.md`). Here `H` is
//! [`HELPING`], 6 is [`POLLS`], 9 µs is [`CHAIN`], and `N·p` is the true sum of the polls ahead.

use super::arrivals::{Kind, Scenario};
use crate::runtime::relief::{SLACK, START};
use evenkeel_policy::relieving::{LONGEST_NAP, STUCK};
use evenkeel_policy::{stealing, waking};

/// How long it takes until a processor looks, asks, waits for the answer and takes a queue by
/// force, when all processors make progress. Each is looked at once per batch on average, or by
/// each of a few others [in a round](evenkeel_policy::helping::ROUND), and a look may come some
/// batches late. If few make progress, each of those has more processors to look at, and this is
/// divided by their share of all. Tasks that are not worth a move are left alone for longer.
pub(crate) const HELPING: u64 = 350_000 + stealing::OLD_SMALL_HEAD;

/// The same where sockets wake the tasks and other threads want the cores, so that quick tasks are
/// left to their processor for a while.
const HELPING_SERVED: u64 = 350_000 + waking::SERVED;

/// A processor looks round only between two polls, asks at one and takes at another; so does the
/// processor that it helps.
pub(crate) const POLLS: u64 = 6;

/// Sleepers are woken one after the other, each by the one before it that has found work. While a
/// sleeping machine spreads a backlog, part of the time of such a chain adds to the wait, per
/// processor.
pub(crate) const CHAIN: u64 = 9_000;

/// How long it takes until the lookout calls a relief, and the relief comes: the nap before it
/// first sees the last worker in its poll, and the nap before the second look. It follows from the
/// constants.
pub(crate) const CALL: u64 = 2 * (LONGEST_NAP + SLACK) + START;

/// The same for a relief that follows one that is stuck: then the naps are short.
pub(crate) const FOLLOW: u64 = 2 * (STUCK + SLACK) + START;

/// A relief looks at every processor, and takes what it has by a heavy fence, per processor.
pub(crate) const TAKING: u64 = 10_000;

/// How long a backlog may lie beside a sleeper without a wake-up: a task is behind a poll, or a
/// processor searches, or a woken processor is about to run. With more processors a search takes
/// longer. Not for a queue that is left together; nor, where sockets wake the tasks, for one whose
/// processor polls them soon.
pub(crate) fn neglect(scenario: &Scenario) -> Option<u64> {
    let is_allowed = scenario.kind == Kind::Together || scenario.serves;
    (!is_allowed).then_some(250_000 + 2_000 * scenario.processors as u64)
}

/// The longest time from ready to running that the promise allows beyond the share of the work
/// ahead.
pub(crate) fn beyond_share(scenario: &Scenario) -> u64 {
    let processors = scenario.processors as u64;
    let polls = polls(scenario.processors, scenario.longest_poll());
    let helping = if scenario.serves && scenario.contended { HELPING_SERVED } else { HELPING };
    let usual = polls + helping * processors.div_ceil(scenario.progress() as u64);
    match scenario.kind {
        // The relief takes all that it finds at once, so it helps as if it were not alone.
        Kind::AllStuck | Kind::ReliefsStuck => {
            let stuck = (scenario.reliefs - 1) as u64;
            let taking = TAKING * (processors + stuck) * (1 + stuck);
            polls + CALL + FOLLOW * stuck + helping + taking
        }
        // If all others sleep, the watch finds a lone task behind a stuck poll, and the tasks of a
        // queue that is left together.
        Kind::StuckAlone | Kind::Together => usual + waking::LONGEST_WATCH,
        _ => usual,
    }
}

/// The same for a load that is hard in none of these ways, on a machine without sockets: the
/// processors are helped by others.
pub(crate) fn usual(processors: usize, progress: usize, longest_poll: u64) -> u64 {
    let helping = HELPING * (processors as u64).div_ceil(progress as u64);
    polls(processors, longest_poll) + helping
}

/// Polls that come first, and wake-ups one after the other.
fn polls(processors: usize, longest_poll: u64) -> u64 {
    POLLS * longest_poll + CHAIN * processors as u64
}
