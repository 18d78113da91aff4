//! The decisions of the scheduler, with made-up values.

use evenkeel_policy::batch::{self, BATCH, MOST_POLLS, SERVING};
use evenkeel_policy::budget::{self, MOST, SLICE};
use evenkeel_policy::helping::{Help, LEAST_AGE, MARGIN, help};
use evenkeel_policy::overtaking::{self, Lengths};
use evenkeel_policy::placement::{Source, place};
use evenkeel_policy::searching::{SEARCH, may_search, search_for, waited};
use evenkeel_policy::stealing::{self, OLD_HEAD, PATIENCE, answer_within, give, steal, take};
use evenkeel_policy::together::{self, QUICK};
use evenkeel_policy::victim::{FAR_ONE_IN, Groups, order, pick};
use evenkeel_policy::waking::{
    LONGEST_WATCH, REQUEST, SERVED, WAITED, WATCH, after_batch, after_push, before_sleep,
    next_watch,
};
use evenkeel_policy::{Locality, Look, smooth};
use proptest::collection::vec;
use proptest::prelude::*;
use std::collections::VecDeque;

/// A second: longer than any time that a policy compares with.
const LONG: u64 = 1_000_000_000;

/// A processor with work that is worth a move.
fn working() -> Look {
    let poll = 1_000;
    Look { ready: 10, mean_poll: poll, mean_work: LONG, switched: true, ..Look::default() }
}

/// Any view of a processor, with times up to a second.
fn looks() -> impl Strategy<Value = Look> {
    // Most rules compare with short times.
    let ages = || prop_oneof![0..2 * SERVED, 0..LONG];
    let polls = prop_oneof![0..QUICK, 0..2 * REQUEST, 0..LONG];
    let work = prop_oneof![0..2 * stealing::MIGRATION, 0..LONG];
    let times = (ages(), ages(), polls, work);
    let flags = any::<(bool, bool, bool, bool, bool)>();
    (0..1_000_usize, 0..4_usize, times, 0..LONG, flags).prop_map(
        |(
            ready,
            visitors,
            (head_age, mean_wait, mean_poll, mean_work),
            stalled,
            (inbox, switched, together, serves, contended),
        )| Look {
            ready,
            visitors,
            head_age: if ready == 0 && !inbox { 0 } else { head_age },
            mean_wait,
            mean_poll,
            mean_work,
            inbox,
            switched,
            stalled: if switched { 0 } else { stalled },
            together,
            serves,
            contended,
        },
    )
}

/// Whether a processor acts at all to get the work of another.
fn zeal(decision: Help) -> u8 {
    u8::from(decision != Help::No)
}

#[test]
fn averages_and_sums_do_not_overflow() {
    assert_eq!(smooth(0, 0), 0);
    assert!(smooth(u64::MAX, u64::MAX) >= u64::MAX - 3);
    let endless = Look { ready: usize::MAX, mean_poll: u64::MAX, ..Look::default() };
    assert_eq!(endless.backlog(), u64::MAX);
    assert_eq!(batch::work(u64::MAX, u64::MAX, 0), u64::MAX);
    assert_eq!(batch::work(0, 0, 0), 0);
    let old = Look { head_age: u64::MAX, mean_wait: u64::MAX, ..working() };
    assert_eq!(help(&old, &old), Help::No);
}

#[test]
fn a_batch_of_any_polls_has_one_at_least() {
    for span in [BATCH, SERVING] {
        assert_eq!(batch::polls(0, span), MOST_POLLS);
        assert_eq!(batch::polls(span, span), 1);
        assert_eq!(batch::polls(u64::MAX, span), 1);
    }
    assert_eq!(batch::span(true, 0), SERVING, "reliefs aside, it is alone");
}

#[test]
fn caution_has_bounds_and_passes() {
    for span in [BATCH, SERVING] {
        assert_eq!(batch::caution(0, 0, span), 0);
        assert_eq!(batch::caution(0, u64::MAX, span), batch::caution(0, u64::MAX / 2, span));
        let mut caution = batch::caution(0, 100 * BATCH, span);
        for _ in 0..100 {
            caution = batch::caution(caution, span, span);
        }
        assert_eq!(caution, 0);
    }
}

#[test]
fn no_processor_helps_where_nothing_waits() {
    let idle = Look { switched: false, mean_wait: LONG, ..Look::default() };
    assert_eq!(help(&working(), &idle), Help::No);
    assert_eq!(help(&Look::default(), &Look { switched: true, ..idle }), Help::No);
}

#[test]
fn help_is_not_given_for_less_than_the_least_age() {
    let idle = Look::default();
    let young = Look { head_age: LEAST_AGE, mean_wait: LEAST_AGE, ..working() };
    assert_eq!(help(&idle, &young), Help::No);
    let old = Look { head_age: 2 * LEAST_AGE, ..young };
    assert_eq!(help(&idle, &old), Help::Ask);
}

#[test]
fn tasks_in_the_inbox_of_a_processor_that_stands_still_are_helped() {
    let inbox = Look { inbox: true, switched: false, ..Look::default() };
    assert_eq!(help(&working(), &inbox), Help::Take);
    assert!(steal(&inbox, 0), "an idle processor takes them too");
}

#[test]
fn a_thief_does_not_tear_a_lone_young_task_away() {
    let lone = Look { ready: 1, ..working() };
    assert!(!steal(&lone, LONG));
    assert!(steal(&Look { head_age: OLD_HEAD, ..lone }, 0));
}

#[test]
fn a_thief_finds_what_an_awake_processor_would_stay_awake_for() {
    // A search lasts longer than the patience, and what keeps a worker awake may also be stolen.
    const { assert!(SEARCH > PATIENCE) };
    const { assert!(WAITED >= OLD_HEAD) };
    let short = Look { ready: 2, mean_poll: 10, ..working() };
    assert!(!steal(&short, PATIENCE - 1));
    assert!(steal(&short, PATIENCE));
    assert!(steal(&short, SEARCH));
    // A worker with sockets makes single rounds, between sleeps that it cancels.
    assert!(before_sleep(&short));
    assert!(steal(&short, waited(search_for(false, true), 0, PATIENCE)));
}

#[test]
fn what_is_not_worth_a_move_stays_until_it_is_old() {
    let small = Look { ready: 1_000, mean_work: stealing::MIGRATION - 1, ..working() };
    let old = Look { head_age: stealing::OLD_SMALL_HEAD, ..small };
    assert!(!steal(&small, stealing::PATIENCE - 1));
    assert!(!before_sleep(&small));
    assert!(steal(&old, 0));
    assert!(before_sleep(&old));
    assert_eq!(give(1_000, 0, true, stealing::is_worth_half(&small)), 1);
    assert_eq!(give(1_000, 0, true, stealing::is_worth_half(&old)), 500);
}

#[test]
fn all_of_a_queue_that_stands_still_is_taken_and_half_of_another() {
    assert_eq!(take(0, true), 0);
    assert_eq!(take(1, true), 1, "a lone task that waits behind a long poll");
    assert_eq!(take(7, true), 4);
    assert_eq!(take(7, false), 7);
}

#[test]
fn a_lone_processor_has_no_other_to_look_at() {
    assert_eq!(pick(u64::MAX, &[], 0), None);
    assert_eq!(pick(u64::MAX, &[], 1), None);
}

#[test]
fn the_first_processor_that_runs_out_of_work_may_search() {
    assert!((0..=1_024).all(|awake| may_search(0, awake)));
    assert!(!may_search(1, 0), "the counts of a moment may not fit");
}

#[test]
fn the_watch_s_sleep_reaches_its_longest_and_stays_there() {
    let mut slept = 0;
    for _ in 0..100 {
        let next = next_watch(slept);
        assert!(next >= slept && (WATCH..=LONGEST_WATCH).contains(&next));
        slept = next;
    }
    assert_eq!(slept, LONGEST_WATCH);
    assert_eq!(next_watch(u64::MAX), LONGEST_WATCH);
}

#[test]
fn places_are_processors_of_the_runtime() {
    assert_eq!(place(Source::Spawned(usize::MAX), 0, 1), 0);
    assert_eq!(place(Source::Worker(0), 3, 4), 0);
    assert_eq!(place(Source::Outside, 0, 1), 0);
}

#[test]
fn types_whose_polls_are_long_twice_are_remembered() {
    use overtaking::LONG;
    let mut lengths = Lengths::default();
    let (long, short) = (0x1000, 0x2000);
    for _ in 0..5 {
        lengths.learn(Some(short), LONG / 2);
        lengths.learn(None, 4 * LONG);
    }
    assert!(!lengths.lets_overtake(), "nothing is known of the type");
    for _ in 0..2 {
        lengths.learn(Some(long), 4 * LONG);
    }
    assert!(lengths.lets_overtake());
    assert!(lengths.is_long(long) && !lengths.is_long(short));
    for _ in 0..8 {
        lengths.learn(Some(short), LONG / 2);
    }
    assert!(!lengths.lets_overtake(), "the short ones have had their time");
    assert!(lengths.is_long(long));
    for _ in 0..2 {
        lengths.learn(Some(long), LONG / 2);
    }
    assert!(!lengths.is_long(long), "its polls are short now");
}

#[test]
fn new_tasks_are_dealt_out_to_all_in_equal_shares() {
    let mut shares = [0; 3];
    for count in 0..3 * 1_600 {
        shares[place(Source::Spawned(count), 0, 3)] += 1;
    }
    assert_eq!(shares, [1_600; 3]);
}

/// Locality never beats the promise: looks by multiples of the golden ratio reach every other
/// processor within a few rounds, however few of them are near.
#[test]
fn looks_by_turn_reach_every_other_processor_soon() {
    for count in 1..=256_usize {
        let others: Vec<usize> = (0..count).collect();
        for near in [0, 1, 3, 7, count / 2, count] {
            let mut missing = count;
            let mut reached = vec![false; count];
            let mut turns = 0_u64;
            while missing > 0 {
                turns += 1;
                let random = turns.wrapping_mul(0x9E37_79B9_7F4A_7C15);
                let other = pick(random, &others, near.min(count)).expect("there are others");
                missing -= usize::from(!std::mem::replace(&mut reached[other], true));
            }
            let most = 8 * FAR_ONE_IN * count as u64;
            assert!(turns <= most, "{count} others, {near} near: {turns} turns of {most}");
        }
    }
}

/// The others of the first of 32 workers: one near, two farther, and the rest.
fn others() -> (Vec<usize>, Groups) {
    let others: Vec<usize> = (1..32).collect();
    let groups = Groups::of(&others, |other| (other > 1, other > 3));
    (others, groups)
}

#[test]
fn every_other_worker_is_asked_once_with_any_locality() {
    let (others, groups) = others();
    for locality in [Locality::Off, Locality::Random, Locality::Biased, Locality::Strict] {
        for random in (0..100).map(|n: u64| n.wrapping_mul(0x9E37_79B9_7F4A_7C15)) {
            let mut round: Vec<usize> = order(locality, &others, &groups, random).collect();
            let is_nearest_first = round[0] == 1 && round[1..3].iter().all(|other| *other <= 3);
            assert!(is_nearest_first || locality == Locality::Random);
            round.sort_unstable();
            assert_eq!(round, others, "{locality:?}");
        }
        assert_eq!(order(locality, &[], &Groups::default(), 7).count(), 0);
    }
}

#[test]
fn every_worker_is_equally_often_the_first_random_victim() {
    let (others, groups) = others();
    let mut firsts = [0; 32];
    for random in 0..31 * 100 {
        let first = order(Locality::Random, &others, &groups, random).next();
        firsts[first.expect("there are others")] += 1;
    }
    assert_eq!((firsts[0], &firsts[1..]), (0, &[100; 31][..]));
}

proptest! {
    #[test]
    fn an_average_lies_between_the_old_one_and_the_value(a in 0..LONG, b in 0..LONG) {
        let next = smooth(a, b);
        // Each quarter loses less than one by rounding.
        prop_assert!(next + 1 >= a.min(b) && next <= a.max(b) + 1);
    }

    #[test]
    fn longer_polls_make_shorter_batches(a in 0..LONG, b in 0..LONG) {
        let (quick, slow) = (a.min(b), a.max(b));
        for span in [BATCH, SERVING] {
            prop_assert!(batch::polls(quick, span) >= batch::polls(slow, span));
            prop_assert!(u64::from(batch::polls(slow, span)) * slow <= span.max(slow));
        }
    }

    #[test]
    fn equals_do_not_trade(look in looks()) {
        let equal = Look { switched: true, ..look };
        prop_assert_eq!(help(&equal, &equal), Help::No);
    }

    #[test]
    fn two_that_switch_never_both_want_help(a in looks(), b in looks()) {
        let (a, b) = (Look { switched: true, ..a }, Look { switched: true, ..b });
        prop_assert!(help(&a, &b) == Help::No || help(&b, &a) == Help::No);
    }

    #[test]
    fn helped_work_is_older_by_the_margin(a in looks(), b in looks()) {
        let b = Look { switched: true, ..b };
        if help(&a, &b) != Help::No {
            let oldest = b.head_age.max(b.mean_wait);
            let youngest = a.head_age.min(a.mean_wait);
            prop_assert!(oldest > MARGIN * youngest && oldest > LEAST_AGE);
        }
    }

    #[test]
    fn older_work_is_helped_no_later(a in looks(), b in looks(), more in 0..LONG) {
        let older = Look { head_age: b.head_age + more, ..b };
        prop_assert!(zeal(help(&a, &older)) >= zeal(help(&a, &b)));
        let idler = Look { head_age: a.head_age / 2, mean_wait: a.mean_wait / 2, ..a };
        prop_assert!(zeal(help(&idler, &b)) >= zeal(help(&a, &b)));
    }

    #[test]
    fn a_steal_only_becomes_likelier(look in looks(), waited in 0..LONG, more in 0..LONG) {
        if steal(&look, waited) {
            let older = Look { head_age: look.head_age + more, ..look };
            prop_assert!(look.has_work());
            prop_assert!(steal(&look, waited + more));
            prop_assert!(steal(&older, waited));
            let longer = Look { ready: look.ready + 1, ..look };
            prop_assert!(steal(&longer, waited) || look.ready == 0);
        }
    }

    #[test]
    fn work_that_keeps_a_worker_awake_can_be_stolen(look in looks()) {
        // The work in an inbox is its owner's for as long as it switches.
        if before_sleep(&look) && (!look.inbox || !look.switched) {
            // By a search, and by single rounds between sleeps that the worker cancels.
            for has_sockets in [false, true] {
                let patience = search_for(false, has_sockets);
                prop_assert!(steal(&look, waited(patience, patience, SEARCH)));
            }
        }
    }

    #[test]
    fn a_wake_needs_a_sleeper_and_no_searcher(
        look in looks(),
        sleeping in 0..10_usize,
        searching in 0..10_usize,
    ) {
        let possible = sleeping > 0 && searching == 0;
        prop_assert!(possible || !after_push(&look, sleeping, searching));
        prop_assert!(possible || !after_batch(&look, sleeping, searching));
        prop_assert_eq!(after_batch(&look, 1, 0), before_sleep(&look));
    }

    #[test]
    fn a_push_that_wakes_a_sleeper_keeps_a_worker_awake(look in looks()) {
        if after_push(&look, 1, 0) {
            prop_assert!(before_sleep(&look));
        }
    }

    #[test]
    fn a_hand_over_leaves_the_giver_no_less_than_the_taker(
        ready in 0..10_000_usize,
        asker in 0..10_000_usize,
        polling in any::<bool>(),
    ) {
        let given = give(ready, asker, polling, true);
        prop_assert!(given <= ready);
        let has = ready + usize::from(polling);
        prop_assert!(given == 0 || has - given >= asker + given);
        // And the giver keeps at most one task too many, if it may give as many.
        let is_even = has.saturating_sub(given) <= (asker + given + 1).max(asker);
        prop_assert!(given == stealing::MOST || given < stealing::MOST && is_even);
    }

    #[test]
    fn what_is_taken_is_there(ready in 0..10_000_usize, switched in any::<bool>()) {
        let taken = take(ready, switched);
        prop_assert!(taken <= ready.min(stealing::MOST) && (taken > 0 || ready == 0));
    }

    #[test]
    fn half_of_those_awake_search_or_two(awake in 2..1_024_usize) {
        let mut searching = 0;
        while may_search(searching, awake) {
            searching += 1;
        }
        prop_assert_eq!(searching, (awake / 2).max(2));
    }

    #[test]
    fn a_look_is_at_one_of_the_others(random: u64, count in 1..256_usize, near in 0..256_usize) {
        let others: Vec<usize> = (0..count).collect();
        prop_assert!(pick(random, &others, near).is_some_and(|other| other < count));
        // Most looks stay near.
        let other = pick(random | 1, &others, near.min(count));
        prop_assert!(near == 0 || other < Some(near));
    }

    #[test]
    fn a_task_is_placed_on_a_processor(count: usize, last in 0..64_usize, more in 1..64_usize) {
        let processors = last + more;
        for source in [Source::Worker(last), Source::Outside, Source::Spawned(count)] {
            prop_assert!(place(source, last, processors) < processors);
        }
    }
}

proptest! {
    /// Tasks with polls of any lengths go to the back of one queue after each poll.
    #[test]
    fn the_oldest_task_is_overtaken_for_a_bounded_time(
        tasks in vec((1..5_usize, vec(1..8 * overtaking::LONG, 1..4)), 2..20),
    ) {
        let longest = tasks.iter().flat_map(|(_, polls)| polls).max().copied().unwrap_or(0);
        let mut queue: VecDeque<_> =
            tasks.iter().map(|(kind, polls)| (80 * kind, polls.iter().cycle())).collect();
        let (mut lengths, mut overtaken) = (Lengths::default(), 0);
        for _ in 0..1_000 {
            let is_short = |(kind, _): &(usize, _)| !lengths.is_long(*kind);
            let place = if lengths.lets_overtake() { queue.iter().position(is_short) } else { None };
            let (kind, mut polls) = queue.remove(place.unwrap_or(0)).unwrap();
            let elapsed = *polls.next().unwrap();
            overtaken = if place.unwrap_or(0) == 0 { 0 } else { overtaken + elapsed };
            prop_assert!(overtaken <= overtaking::MOST + longest);
            lengths.learn(Some(kind), elapsed);
            queue.push_back((kind, polls));
        }
    }

    #[test]
    fn what_is_seized_is_there_and_all_of_it_only_from_behind_a_long_poll(
        look in looks(),
        ready in 0..1_000_usize,
        own in 0..1_000_usize,
    ) {
        let seized = stealing::seize(&look, ready, own);
        prop_assert!(seized <= ready);
        if seized > ready / 2 {
            prop_assert!(look.stalled >= answer_within(&look));
        }
    }

    #[test]
    fn a_queue_is_marked_only_if_one_processor_did_better_than_two(
        before in 1..together::QUICK,
        own in 1..2 * together::QUICK,
        others in 1..2 * together::QUICK,
        failures in 0..100_u32,
    ) {
        if let Some(mark) = together::judge(before, own, others, 7, failures) {
            let both = 1.0 / (1.0 / own as f64 + 1.0 / others as f64);
            prop_assert!((before as f64) < both, "{before} {both}");
            prop_assert!(before <= mark.most);
            prop_assert!(mark.until > 7 + together::TRIAL);
        }
    }

    #[test]
    fn a_mark_fails_if_one_processor_makes_fewer_polls_than_two_twice(
        own in 1..together::QUICK,
        others in 1..together::QUICK,
        means in [1..2 * together::QUICK, 1..2 * together::QUICK],
        marks in proptest::collection::vec(any::<bool>(), 0..100),
    ) {
        let mut past = together::Past::default();
        for has_held in marks {
            prop_assert!((together::COUNT..=together::LONGEST_PAUSE).contains(&past.add(has_held)));
        }
        let mark = together::gather(own, others, 7, past);
        let by_two = 1.0 / (1.0 / own as f64 + 1.0 / others as f64);
        let has_failed = mark.has_failed(means);
        if means.into_iter().any(|mean| 2.0 * (mean as f64) < by_two) {
            prop_assert!(!has_failed);
        }
        if means.into_iter().all(|mean| mean as f64 > by_two) {
            prop_assert!(has_failed);
        }
        prop_assert!((7 + together::FIRST_PAUSE..=7 + together::LONGEST_PAUSE).contains(&mark.until));
    }

    #[test]
    fn operations_of_one_duration_overrun_a_slice_by_an_eighth_or_by_one(each in 1..10 * SLICE) {
        let (mut granted, mut elapsed) = (MOST, 0);
        let mut last = u64::from(granted) * each;
        for _ in 0..3 {
            granted = budget::grant(granted, last, SLICE);
            last = u64::from(granted) * each;
        }
        while budget::left(elapsed) > 0 {
            granted = budget::grant(granted, last, budget::left(elapsed));
            prop_assert!((1..=MOST).contains(&granted));
            last = u64::from(granted) * each;
            elapsed += last;
        }
        prop_assert!(elapsed <= SLICE + (SLICE / 8).max(each), "{elapsed}");
    }

    #[test]
    fn an_answer_is_waited_for_within_bounds(look in looks()) {
        let bounds = stealing::SHORTEST_ANSWER..=stealing::LONGEST_ANSWER;
        prop_assert!(bounds.contains(&answer_within(&look)));
    }
}

#[test]
fn tasks_that_are_left_together_are_taken_once_they_have_waited() {
    let together = Look { together: true, mean_poll: 30, ..working() };
    assert!(!steal(&together, 10 * stealing::PATIENCE));
    assert!(steal(&Look { head_age: stealing::OLD_SMALL_HEAD, ..together }, 0));
    let inbox = Look { inbox: true, switched: false, ..together };
    assert!(!steal(&inbox, 0), "they have just been given back");
    assert!(steal(&Look { stalled: stealing::SHORTEST_ANSWER, ..inbox }, 0));
}
