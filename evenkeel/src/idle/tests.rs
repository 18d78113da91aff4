//! Tests of the counts, the stack of sleepers and the calling of the relief, by one thread.

use super::*;

#[test]
fn sleepers_are_woken_last_in_first_out_and_become_searchers() {
    let idle = Idle::new(3, 0);
    (0..3).for_each(|me| idle.announce(me));
    assert_eq!(
        idle.counts(),
        Counts { sleeping: 3, searching: 0, all_away: false, is_unwatched: false }
    );
    assert!(idle.wake_one());
    assert_eq!(
        idle.counts(),
        Counts { sleeping: 2, searching: 1, all_away: false, is_unwatched: false }
    );
    assert!(idle.sleep(2, None, false).is_woken, "the last to fall asleep is woken first");
    assert!(!idle.wake_one(), "there is a searcher already");
    assert!(idle.end_search());
    assert!(idle.wake(0));
    assert!(!idle.wake(0), "it is awake");
    assert!(!idle.cancel(0));
    assert!(idle.cancel(1));
    assert_eq!(
        idle.counts(),
        Counts { sleeping: 0, searching: 1, all_away: false, is_unwatched: false }
    );
}

#[test]
fn the_first_sleeper_is_the_watch_until_all_sleep() {
    let idle = Idle::new(2, 0);
    idle.announce(1);
    let seen = &mut None;
    assert_eq!(idle.watch(1, seen), Watch::Duty);
    idle.announce(0);
    assert_eq!(idle.watch(0, &mut None), Watch::None);
    assert_eq!(idle.watch(1, seen), Watch::Rest);
}

#[test]
fn the_watch_makes_rounds_as_long_as_others_wake_between_them() {
    let idle = Idle::new(2, 0);
    (0..2).for_each(|me| idle.announce(me));
    let seen = &mut None;
    assert_eq!(idle.watch(0, seen), Watch::Rest, "it is not armed");
    for _ in 0..3 {
        assert!(idle.cancel(1));
        assert!(idle.arm());
        idle.announce(1);
        assert_eq!(idle.watch(0, seen), Watch::Duty);
    }
    assert_eq!(idle.watch(0, seen), Watch::Rest);
}

#[test]
fn a_pusher_looks_when_a_worker_sleeps_or_all_are_away() {
    let workers = 1_024;
    for relief in [false, true] {
        let idle = Idle::new(workers, usize::from(relief));
        let begins = (0..workers).all(|_| idle.begin_search(|_| true));
        assert!(begins);
        assert_eq!(idle.is_pusher_to_look(), relief, "the lookout rests");
        _ = idle.ask_to_look();
        assert!(!idle.is_pusher_to_look());
        let absences: Vec<_> = (0..workers).map(|_| Absence::new()).collect();
        let away: Vec<_> = absences.iter().map(|one| idle.go_away(one).all_away).collect();
        assert_eq!(away.iter().position(|&all| all), relief.then_some(workers - 1));
        assert_eq!(idle.is_pusher_to_look(), relief);
        assert_eq!(idle.counts().searching, workers);
        assert_eq!(idle.counts().sleeping, 0);
        idle.come_back(&absences[0]);
        assert!(!idle.is_pusher_to_look());
        idle.announce(0);
        assert!(idle.is_pusher_to_look());
        assert_eq!(idle.counts().sleeping, 1);
    }
}

#[test]
fn the_relief_is_started_by_one_caller() {
    let idle = Idle::new(1, 1);
    assert_eq!(idle.call(), Called::Start);
    assert_eq!(idle.call(), Called::Done);
    idle.begin_relief(1);
    assert!(idle.wake(1));
    assert_eq!(Idle::new(1, 0).call(), Called::Done);
}

#[test]
fn searching_is_bounded_by_the_caller_s_rule() {
    let idle = Idle::new(4, 0);
    let one = |counts: Counts| counts.searching == 0;
    assert!(idle.begin_search(one));
    assert!(!idle.begin_search(one));
    assert!(idle.end_search());
}

#[test]
fn a_worker_that_is_found_stuck_is_counted_once_until_it_is_back() {
    let (idle, absence) = (Idle::new(1, 1), Absence::new());
    let is_counted = || (absence.is_away(), idle.counts().all_away);
    idle.come_unstuck(&absence);
    assert_eq!(is_counted(), (false, false));
    assert!(idle.find_stuck(0, &absence));
    assert!(idle.find_stuck(0, &absence));
    assert_eq!(is_counted(), (true, true));
    idle.come_unstuck(&absence);
    assert_eq!(is_counted(), (false, false));
    // The worker goes away, and the lookout finds it stuck after that, or before.
    let _ = idle.go_away(&absence);
    assert!(idle.find_stuck(0, &absence));
    idle.come_unstuck(&absence);
    assert_eq!(is_counted(), (true, true));
    idle.come_back(&absence);
    assert!(idle.find_stuck(0, &absence));
    assert!(idle.go_away(&absence).all_away);
    idle.come_back(&absence);
    assert_eq!(is_counted(), (false, false));
    // The worker sleeps.
    idle.announce(0);
    assert!(idle.find_stuck(0, &absence));
    assert!(!idle.is_asleep(0), "it is to count itself out");
    idle.come_unstuck(&absence);
    assert_eq!(is_counted(), (false, false));
}

#[test]
fn a_relief_that_the_system_has_refused_is_started_later() {
    let idle = Idle::new(1, 2);
    assert!(!idle.lacks_relief(), "none was called");
    assert_eq!(idle.call(), Called::Start);
    assert!(!idle.lacks_relief(), "it is about to begin");
    idle.retire(1);
    assert!(idle.lacks_relief());
    assert_eq!(idle.call(), Called::Done, "the lookout tries again");
    assert_eq!(idle.appoint(), Appointed::New(1));
    assert!(!idle.lacks_relief() && idle.is_appointing());
    idle.begin_relief(1);
    assert!(!idle.lacks_relief() && !idle.is_appointing());
    assert_eq!(idle.duty(), 1);
}

#[test]
fn the_lookout_is_called_by_the_first_asker() {
    let idle = Idle::new(2, 1);
    assert!(!idle.is_to_look());
    assert!(idle.ask_to_look());
    assert!(!idle.ask_to_look() && idle.is_to_look());
    assert!(idle.begin_look());
    assert!(!idle.ask_to_look(), "it looks once more");
    assert!(!idle.end_looks());
    assert!(idle.begin_look());
    assert!(!idle.begin_look() && idle.end_looks());
    assert!(idle.ask_to_look());
}
