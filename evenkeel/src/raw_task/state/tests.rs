//! The algebra of the word: saturation, tokens, deferred references, the last holder.

use super::word::MOST_PUBLICS;
use super::*;

/// Signals once, without a rival.
fn signal(state: &State, signal: Signal, consume: bool) -> Release {
    state.signal(state.load(), signal, consume).expect("no other thread changes the word")
}

fn wake(state: &State) {
    assert_eq!(signal(state, Signal::Wake, false), Release::Shared);
}

fn unpark(state: &State) {
    assert_eq!(signal(state, Signal::Unpark, false), Release::Shared);
}

fn begin(state: &State) -> Polled {
    match state.begin() {
        Begin::Poll(polled) => polled,
        Begin::Cancel => panic!("the task is not aborted"),
    }
}

fn pending(references: i8, tokens: u8) -> Pending {
    Pending { references, tokens, ..Pending::default() }
}

fn complete(state: &State, pending: Pending, unregister: bool) -> Release {
    state.complete(state.load(), pending, unregister).expect("no other thread changes the word")
}

#[test]
fn the_fields_do_not_overlap() {
    let (others, publics) = (PUBLIC - REFERENCE, !(PUBLIC - 1));
    let fields =
        [WAKES, TOKENS, COMPLETE, ABORTED, JOINER, HANDLE, REGISTERED, PARTED, others, publics];
    for (index, field) in fields.iter().enumerate() {
        assert!(fields[index + 1..].iter().all(|other| field & other == 0));
    }
}

#[test]
fn a_new_task_is_queued_registered_and_has_a_handle() {
    let word = State::new().load();
    assert!(!word.is_idle() && word.has_handle() && !word.is_unreachable());
    assert!(!word.is_complete() && !word.is_aborted() && !word.has_joiner());
}

#[test]
fn a_poll_without_a_wake_ends_idle() {
    let state = State::new();
    let polled = begin(&state);
    assert_eq!(state.end(polled, Pending::default()), End::Idle);
    assert!(state.load().is_idle());
}

#[test]
fn any_number_of_wakes_before_a_poll_is_one_poll() {
    for wakes in 0..10 {
        let state = State::new();
        (0..wakes).for_each(|_| wake(&state));
        let polled = begin(&state);
        assert_eq!(state.end(polled, Pending::default()), End::Idle, "{wakes}");
    }
}

#[test]
fn any_number_of_wakes_within_a_poll_is_another_poll() {
    for before in 0..6 {
        for within in 1..6 {
            let state = State::new();
            (0..before).for_each(|_| wake(&state));
            let polled = begin(&state);
            (0..within).for_each(|_| wake(&state));
            assert_eq!(state.end(polled, Pending::default()), End::Again, "{before} {within}");
            let polled = begin(&state);
            assert_eq!(state.end(polled, Pending::default()), End::Idle, "{before} {within}");
        }
    }
}

#[test]
fn a_signal_to_a_word_that_has_changed_gives_the_present_one() {
    let state = State::new();
    let stale = state.load();
    wake(&state);
    assert_eq!(state.signal(stale, Signal::Wake, false), Err(state.load()));
}

#[test]
fn any_number_of_unparks_is_one_token() {
    for unparks in 0..10 {
        let state = State::new();
        (0..unparks).for_each(|_| unpark(&state));
        let mut consumed = 0;
        let mut taken = 0;
        while let Some(count) = state.take_token(consumed) {
            consumed = count;
            taken += 1;
        }
        assert_eq!(taken, u32::from(unparks > 0), "{unparks} unparks");
    }
}

#[test]
fn tokens_within_a_poll_are_told_from_those_before() {
    let state = State::new();
    let polled = begin(&state);
    let mut consumed = 0;
    for round in 0..20 {
        unpark(&state);
        consumed = state.take_token(consumed).expect("a token has just been left");
        assert_eq!(state.take_token(consumed), None, "round {round}");
    }
    assert_eq!(state.end(polled, pending(0, consumed)), End::Again);
    let polled = begin(&state);
    assert_eq!(state.end(polled, pending(0, consumed)), End::Idle);
    assert_eq!(state.take_token(0), None, "those consumed have been folded in");
}

#[test]
fn a_token_that_is_not_consumed_outlives_the_poll() {
    for consumed_before in 0..6 {
        let state = State::new();
        let mut consumed = 0;
        for _ in 0..consumed_before {
            unpark(&state);
            consumed = state.take_token(consumed).expect("a token has just been left");
        }
        unpark(&state);
        // The unparks are wakes too, and have the task polled again.
        let mut polled = begin(&state);
        while state.end(polled, pending(0, consumed)) == End::Again {
            polled = begin(&state);
        }
        let count = state.take_token(0).expect("the last token is still there");
        assert_eq!(state.take_token(count), None);
    }
}

#[test]
fn an_aborted_task_is_cancelled_at_its_next_poll() {
    for wakes in 0..5 {
        let state = State::new();
        let polled = begin(&state);
        (0..wakes).for_each(|_| wake(&state));
        assert_eq!(signal(&state, Signal::Abort, false), Release::Shared);
        assert_eq!(state.end(polled, Pending::default()), End::Again);
        assert_eq!(state.begin(), Begin::Cancel);
        assert!(state.load().is_aborted());
    }
}

#[test]
fn an_abort_is_a_wake_for_an_idle_task() {
    let state = State::new();
    let polled = begin(&state);
    assert_eq!(state.end(polled, Pending::default()), End::Idle);
    assert_eq!(signal(&state, Signal::Abort, false), Release::Shared);
    assert!(!state.load().is_idle());
    assert_eq!(state.begin(), Begin::Cancel);
}

#[test]
fn references_are_folded_in_with_either_sign() {
    let state = State::new();
    let polled = begin(&state);
    // Another thread uses up a waker that the poll has cloned before the poll ends: the field is
    // below zero meanwhile.
    assert_eq!(signal(&state, Signal::Wake, true), Release::Shared);
    assert_eq!(state.end(polled, pending(1, 0)), End::Again);
    let polled = begin(&state);
    assert_eq!(state.end(polled, pending(1, 0)), End::Idle);
    assert_eq!(state.load().0 / REFERENCE, 0);

    state.add_reference();
    wake(&state);
    let polled = begin(&state);
    assert_eq!(state.end(polled, pending(-1, 0)), End::Idle);
    assert_eq!(state.load().0 / REFERENCE, 0);
}

#[test]
fn the_joiner_s_slot_changes_hands_until_the_task_is_complete() {
    let state = State::new();
    assert_eq!(state.set_joiner(), Join::Done);
    assert!(state.load().has_joiner());
    assert_eq!(state.unset_joiner(), Join::Done);
    assert!(!state.load().has_joiner());
    assert_eq!(state.set_joiner(), Join::Done);
    assert_eq!(complete(&state, Pending::default(), false), Release::Shared);
    assert!(state.load_joined().is_complete() && state.load().has_joiner());
    assert_eq!(state.set_joiner(), Join::Complete);
    assert_eq!(state.unset_joiner(), Join::Complete);
    assert_eq!(state.detach(), Join::Complete);
}

#[test]
fn a_signal_to_a_complete_task_does_not_make_it_ready() {
    let state = State::new();
    begin(&state);
    assert_eq!(complete(&state, Pending::default(), true), Release::Shared);
    for signal in [Signal::Wake, Signal::Unpark, Signal::Abort] {
        let word = state.load();
        assert!(!word.is_idle(), "its poll has never ended");
        assert_eq!(state.signal(word, signal, false), Ok(Release::Shared));
    }
}

/// A way to give up one of the holds on a task.
type GiveUp = fn(&State) -> Release;

#[test]
fn of_all_holds_exactly_the_last_frees_the_task() {
    // The scheduler's, the handle's, and two references.
    let holds: [GiveUp; 4] =
        [State::unregister, State::release_handle, State::drop_reference, |state| {
            signal(state, Signal::Wake, true)
        }];
    let mut orders = 0;
    for order in 0..256_usize {
        let order: Vec<_> = (0..4).map(|place| order >> (2 * place) & 3).collect();
        if (0..4).any(|hold| !order.contains(&hold)) {
            continue;
        }
        orders += 1;
        let state = State::new();
        state.add_reference();
        state.add_reference();
        begin(&state);
        assert_eq!(complete(&state, Pending::default(), false), Release::Shared);
        let releases: Vec<_> = order.iter().map(|&hold| holds[hold](&state)).collect();
        let expected = [Release::Shared, Release::Shared, Release::Shared, Release::Last];
        assert_eq!(releases, expected, "{order:?}");
    }
    assert_eq!(orders, 24);
}

#[test]
fn completing_a_detached_task_may_be_the_last_change() {
    let state = State::new();
    let polled = begin(&state);
    assert_eq!(state.detach(), Join::Done);
    assert_eq!(state.end(polled, Pending::default()), End::Idle);
    wake(&state);
    begin(&state);
    // The poll has cloned a waker which is still there, or dropped the only one.
    assert_eq!(complete(&state, pending(1, 0), true), Release::Shared);
    assert_eq!(state.drop_reference(), Release::Last);

    let state = State::new();
    state.add_reference();
    begin(&state);
    assert_eq!(state.detach(), Join::Done);
    assert_eq!(complete(&state, pending(-1, 0), true), Release::Last);
}

#[test]
fn others_that_are_below_zero_are_no_public_references_less() {
    for publics in 1..4 {
        for deferred in i8::MIN..=i8::MAX {
            let state = State::with_public(publics);
            let polled = begin(&state);
            // Another thread uses up references that the poll has made before they are counted, or
            // the poll has dropped references that were counted before.
            (0..deferred).for_each(|_| assert_eq!(state.drop_reference(), Release::Shared));
            (deferred..0).for_each(|_| state.add_reference());
            assert_eq!(state.load().publics(), publics as i64);
            assert_eq!(state.end(polled, pending(deferred, 0)), End::Idle);
            assert_eq!(state.load().publics(), publics as i64);
            assert_eq!(state.load().references(), publics);
        }
    }
}

#[test]
fn public_references_are_folded_in_with_either_sign() {
    let state = State::with_public(1);
    let polled = begin(&state);
    // Two that the poll has made are gone before they are counted.
    assert_eq!(state.drop_public(), Release::Shared);
    assert_eq!(state.drop_public(), Release::Shared);
    assert_eq!(state.load().publics(), -1);
    let made = Pending { publics: 2, references: 1, tokens: 0 };
    assert_eq!(state.end(polled, made), End::Idle);
    assert_eq!((state.load().publics(), state.load().references()), (1, 2));
    state.add_public();
    assert_eq!((state.load().publics(), state.load().references()), (2, 3));
    wake(&state);
    let polled = begin(&state);
    let dropped = Pending { publics: -1, references: -1, tokens: 0 };
    assert_eq!(state.end(polled, dropped), End::Idle);
    assert_eq!((state.load().publics(), state.load().references()), (1, 1));
}

#[test]
fn the_last_public_reference_beside_is_told_apart_whatever_wakers_there_are() {
    for wakers in 0..3 {
        let state = State::with_public(3);
        (0..wakers).for_each(|_| state.add_reference());
        assert_eq!(state.drop_public_beside(2), Some(Release::Shared));
        assert_eq!(state.drop_public_beside(2), None, "nothing has changed");
        assert_eq!(state.load().publics(), 2);
        assert_eq!(state.drop_public(), Release::Shared);
        begin(&state);
        // The future's reference goes with the task; no reference is left that could be told.
        let dropped = Pending { publics: -1, ..Pending::default() };
        let last = if wakers == 0 { Release::Last } else { Release::Shared };
        assert_eq!(complete(&state, dropped, true), last);
        for waker in (0..wakers).rev() {
            let last = if waker == 0 { Release::Last } else { Release::Shared };
            assert_eq!(state.drop_reference(), last);
        }
    }
    let state = State::with_public(2);
    begin(&state);
    let dropped = Pending { publics: -1, ..Pending::default() };
    assert_eq!(complete(&state, dropped, true), Release::Shared);
    assert_eq!(state.drop_public_beside(2), Some(Release::Last));
}

/// An addition to the references to the public part, one by one or many after a poll, finds out
/// before the count wraps.
#[test]
fn too_many_references_to_the_public_part_are_found_before_they_wrap() {
    let at = |publics: i64| ((publics << PUBLIC.trailing_zeros()) as u64) | REGISTERED | PARTED;
    assert!(!has_too_many_publics(at(0)));
    assert!(!has_too_many_publics(at(-5)), "a few that the poller has deferred");
    assert!(!has_too_many_publics(at(MOST_PUBLICS - 1)));
    let made = Pending { publics: 31, ..Pending::default() };
    assert!(has_too_many_publics(made.fold_unchecked(at(MOST_PUBLICS - 1))));
    // As far as all threads of a process could take it between two looks.
    assert!(has_too_many_publics(at(MOST_PUBLICS + (1 << 22) - 1)));
}

/// A poll that makes and forgets references would not find out.
#[test]
fn where_there_are_many_references_none_is_deferred() {
    let state = |others: u64| State(AtomicU64::new((others * REFERENCE) | REGISTERED | PARTED));
    assert!(!state(5).has_many_references());
    assert!(state(OTHERS_TOP / REFERENCE).has_many_references());
}

#[test]
fn a_handle_that_is_given_up_is_a_reference() {
    for has_joiner in [false, true] {
        let state = State::new();
        if has_joiner {
            assert_eq!(state.set_joiner(), Join::Done);
        }
        let before = state.give_up().expect("the task is not complete");
        assert!(before.has_handle() && before.has_joiner() == has_joiner);
        let word = state.load();
        assert!(!word.has_handle() && !word.has_joiner() && word.references() == 1);
        assert_eq!(word.joined(), Join::GivenUp);
        // A second time it changes nothing.
        assert!(state.give_up().is_some_and(|word| !word.has_joiner()));
        assert_eq!(state.load(), word);
        for change in [State::set_joiner, State::unset_joiner, State::detach] {
            assert_eq!(change(&state), Join::GivenUp);
        }
        assert_eq!(complete(&state, Pending::default(), true), Release::Shared);
        assert_eq!(state.load().joined(), Join::GivenUp, "the first answer stands");
        assert_eq!(state.give_up(), None);
        assert_eq!(state.drop_reference(), Release::Last);
    }
}

#[test]
fn a_handle_of_a_complete_task_is_not_given_up() {
    let state = State::new();
    assert_eq!(state.load().joined(), Join::Done);
    assert_eq!(complete(&state, Pending::default(), true), Release::Shared);
    assert_eq!(state.give_up(), None);
    assert_eq!(state.load().joined(), Join::Complete);
    assert_eq!(state.release_handle(), Release::Last);
}

#[test]
fn a_detached_task_has_no_handle_to_give_up() {
    let state = State::new();
    assert_eq!(state.detach(), Join::Done);
    let word = state.load();
    assert_eq!(state.give_up(), Some(word));
    assert_eq!(state.load(), word);
    assert_eq!(complete(&state, Pending::default(), true), Release::Last);
}

#[test]
fn a_handle_may_be_given_up_while_its_poller_has_deferred_drops() {
    let state = State::new();
    let polled = begin(&state);
    state.add_reference();
    state.add_reference();
    assert!(state.give_up().is_some());
    assert_eq!(state.drop_reference(), Release::Shared, "the handle is dropped");
    assert_eq!(complete(&state, pending(-2, 0), true), Release::Last);
    let _ = polled;
}
