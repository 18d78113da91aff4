#![allow(unsafe_code, reason = "tests read and write what lies in slots")]

use super::*;
use crate::policy::random::Random;
use crate::primitives::spin::Backoff;
use std::sync::atomic::AtomicBool;

/// Pushes a number, and answers a thief that has asked.
fn push(deque: &Deque, number: u64) -> u32 {
    let head = deque.head();
    let has_room = deque.has_room(head);
    assert!(deque.prepare(head));
    // SAFETY: the head is a free slot.
    unsafe { head.slot() }.with_body(|body: *mut u64| {
        // SAFETY: as above.
        unsafe { body.write(number) };
    });
    deque.push(head);
    if !has_room && deque.is_asked() { deque.publish() } else { 0 }
}

/// The number in a slot that the caller has taken.
fn number(deque: &Deque, index: u32) -> u64 {
    // SAFETY: there is a number in the slot.
    deque.slot(index).with_body(|body: *mut u64| unsafe { body.read() })
}

/// Takes a number as a thief.
fn steal(deque: &Deque) -> Option<u64> {
    let index = deque.steal()?;
    let number = number(deque, index);
    deque.slot(index).latch.complete();
    Some(number)
}

fn two_workers() -> Home {
    Home::publishing_all(false)
}

#[test]
fn the_owner_takes_the_youngest_and_a_thief_the_oldest() {
    let deque = two_workers();
    let place = |index| deque.place(index);
    for number in 10..14 {
        assert_eq!(push(&deque, number), 0);
    }
    assert!(deque.steal().is_none(), "nothing is public");
    assert!(deque.has_private());
    assert_eq!(deque.publish(), 2);
    assert_eq!(steal(&deque), Some(10));
    assert!(deque.pop(place(3)));
    assert!(deque.pop(place(2)));
    assert!(!deque.pop(place(1)));
    assert_eq!(deque.reclaim(place(1)), Reclaimed::Own);
    assert!(!deque.pop(place(0)));
    assert_eq!(deque.reclaim(place(0)), Reclaimed::Stolen);
    assert_eq!(deque.head(), place(1), "the slot stays in use");
    assert!(deque.is_empty());
    deque.retire(place(0));
    assert!(deque.is_empty());
    assert!(deque.steal().is_none());
    assert_eq!(push(&deque, 14), 0);
    assert!(deque.pop(place(0)));
    assert_eq!(number(&deque, 0), 14);
}

#[test]
fn a_request_is_seen_at_the_next_push() {
    let deque = two_workers();
    deque.ask();
    assert!(!deque.has_room(deque.head()));
    assert_eq!(push(&deque, 7), 1);
    assert_eq!(steal(&deque), Some(7));
    assert!(deque.has_room(deque.head()));
    assert_eq!(deque.reclaim(deque.place(0)), Reclaimed::Stolen);
}

#[test]
fn a_deque_without_seizers_publishes_every_job() {
    let deque = Home::publishing_all(true);
    assert_eq!(push(&deque, 1), 1);
    assert_eq!(push(&deque, 2), 1);
    assert_eq!((steal(&deque), steal(&deque)), (Some(1), Some(2)));
}

#[test]
fn a_deque_without_seizers_keeps_every_job_public_when_the_owner_takes_one_back() {
    let deque = Home::publishing_all(true);
    for job in 1..=4 {
        assert_eq!(push(&deque, job), 1);
    }
    let last = deque.place(3);
    assert!(!deque.pop(last));
    assert_eq!(deque.reclaim(last), Reclaimed::Own);
    assert_eq!([(); 4].map(|()| steal(&deque)), [Some(1), Some(2), Some(3), None]);
}

#[test]
fn a_waiter_steals_nothing_once_its_job_is_complete() {
    let deque = two_workers();
    push(&deque, 0);
    deque.publish();
    assert!(deque.steal_while(|| false).is_none());
    let stolen = deque.steal_while(|| {
        // Meanwhile the thief begins another root.
        deque.change_root();
        true
    });
    assert!(stolen.is_none());
    assert!(deque.steal().is_some());
}

#[test]
fn a_note_goes_with_its_job() {
    let deque = two_workers();
    assert_eq!(deque.oldest(), None);
    deque.leave_note(deque.head(), 5);
    push(&deque, 0);
    push(&deque, 1);
    assert_eq!(deque.oldest(), Some(5));
    deque.publish();
    assert_eq!(steal(&deque), Some(0));
    assert_eq!(deque.oldest(), Some(0), "the next one has none");
    assert!(deque.pop(deque.place(1)));
    assert_eq!(deque.reclaim(deque.place(0)), Reclaimed::Stolen);
    deque.retire(deque.place(0));
    push(&deque, 2);
    assert_eq!(deque.oldest(), Some(0));
    deque.leave_note(deque.place(PLACES), 5);
}

#[test]
fn a_full_deque_says_so_and_a_place_leads_to_its_deque() {
    let deque = two_workers();
    for number in 0..PLACES {
        push(&deque, number.into());
    }
    let end = deque.head();
    assert!(!deque.prepare(end) && !deque.has_room(end));
    for place in [deque.floor(), end.previous()] {
        // SAFETY: the deque is there.
        assert!(ptr::eq(unsafe { place.deque() }, &raw const *deque));
    }
    deque.publish();
    assert_eq!(steal(&deque), Some(0));
    assert!(deque.pop(end.previous()));
    assert_eq!(number(&deque, PLACES - 1), u64::from(PLACES) - 1);
}

/// Forks of random depth against thieves that steal and seize: each job is taken once.
#[test]
fn every_job_is_taken_once() {
    const ROUNDS: usize = 5_000;
    let deque = &Home::new();
    let over = &AtomicBool::new(false);
    let jobs: &Vec<AtomicU64> = &(0..16).map(|_| AtomicU64::new(0)).collect();
    std::thread::scope(|scope| {
        for thief in 0..2 {
            scope.spawn(move || {
                let mut tries = 0_u32;
                while !over.load(Ordering::Relaxed) {
                    tries = tries.wrapping_add(1);
                    if let Some(job) = steal(deque) {
                        jobs[job as usize].fetch_add(1, Ordering::Relaxed);
                    } else if tries.is_multiple_of(64) && thief == 0 {
                        deque.seize();
                    } else {
                        deque.ask();
                        std::hint::spin_loop();
                    }
                }
            });
        }
        let mut random = Random::new(1);
        let mut taken = vec![0_u64; jobs.len()];
        for _ in 0..ROUNDS {
            let depth = 1 + (random.next() % 16) as u32;
            for index in 0..depth {
                push(deque, index.into());
            }
            for index in (0..depth).rev() {
                taken[index as usize] += 1;
                let place = deque.place(index);
                let mut backoff = Backoff::new();
                if deque.pop(place) || deque.reclaim(place) == Reclaimed::Own {
                    let job = number(deque, index);
                    jobs[job as usize].fetch_add(1, Ordering::Relaxed);
                } else {
                    while !deque.slot(index).latch.is_complete() {
                        backoff.snooze();
                    }
                    deque.retire(place);
                }
                while jobs[index as usize].load(Ordering::Relaxed) < taken[index as usize] {
                    backoff.snooze();
                }
            }
        }
        over.store(true, Ordering::Relaxed);
        for (job, taken) in jobs.iter().zip(taken) {
            assert_eq!(job.load(Ordering::Relaxed), taken);
        }
    });
}

/// Spills jobs that are identified by their addresses.
fn spill(deque: &Deque, numbers: std::ops::Range<usize>) {
    for number in numbers {
        deque.spill(Spilled::numbered(number));
    }
}

#[test]
fn the_overflow_gives_its_owner_the_newest_and_a_thief_the_oldest() {
    let deque = Home::with_places(false, 4);
    for number in 0..4 {
        push(&deque, number);
    }
    assert!(deque.is_full());
    spill(&deque, 4..9);
    assert!(!deque.has_private(), "a thief has to find what is older");
    assert!(deque.has_boxed());
    assert!(deque.steal_spilled(|| true).is_none(), "older ones lie in the places");
    for number in 0..4 {
        assert_eq!(steal(&deque), Some(number));
    }
    assert!(!deque.is_empty());
    assert!(deque.steal_spilled(|| false).is_none());
    assert_eq!(deque.steal_spilled(|| true).unwrap().address(), 4);
    let floor = deque.level_above(deque.place(3));
    assert_eq!(deque.pop_spilled(floor).unwrap().address(), 8);
    assert_eq!(deque.steal_spilled(|| true).unwrap().address(), 5);
    assert_eq!(deque.steal_spilled(|| true).unwrap().address(), 6);
    assert_eq!(deque.pop_spilled(floor).unwrap().address(), 7);
    assert!(deque.is_empty());
    assert!(deque.pop_spilled(floor).is_none(), "thieves have taken the others");
    assert!(deque.level() == floor && !deque.has_spilled() && !deque.has_boxed());
}

#[test]
fn the_owner_of_an_overflow_comes_down_to_its_floor_and_no_further() {
    let deque = Home::with_places(false, 0);
    spill(&deque, 0..3);
    let floor = deque.level();
    spill(&deque, 3..5);
    assert_eq!(deque.pop_spilled(floor).unwrap().address(), 4);
    assert_eq!(deque.pop_spilled(floor).unwrap().address(), 3);
    assert_eq!(deque.level(), floor);
    spill(&deque, 3..4);
    for number in 0..4 {
        assert_eq!(deque.steal_spilled(|| true).unwrap().address(), number);
    }
    assert!(deque.pop_spilled(floor).is_none());
    assert_eq!(deque.level(), floor);
    assert!(deque.has_spilled(), "the frame below comes down for its own");
    assert!(deque.pop_spilled(Level::FLOOR).is_none());
    assert_eq!(deque.level(), Level::FLOOR);
}
