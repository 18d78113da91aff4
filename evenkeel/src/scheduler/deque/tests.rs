#![allow(unsafe_code, reason = "tests follow pointers to jobs")]

use super::*;
use std::sync::atomic::AtomicU64 as Count;

fn job(number: &u64) -> NonNull<u64> {
    NonNull::from(number)
}

#[test]
fn the_owner_takes_the_youngest_and_a_thief_the_oldest() {
    let numbers = [0_u64, 1, 2, 3];
    let deque = Deque::with_limit(PLACES);
    for (index, number) in numbers.iter().enumerate() {
        assert!(deque.push(index as u32, job(number)));
    }
    assert!(deque.steal().is_none(), "nothing is public");
    assert!(deque.has_private());
    assert_eq!(deque.publish(), 2);
    assert_eq!(deque.steal(), Some(job(&numbers[0])));
    assert!(deque.pop(3));
    assert!(deque.pop(2));
    assert!(!deque.pop(1));
    assert_eq!(deque.reclaim(1), Reclaimed::Own);
    assert!(!deque.pop(0));
    assert_eq!(deque.reclaim(0), Reclaimed::Stolen);
    deque.retire(0);
    assert!(deque.steal().is_none());
    assert!(deque.push(0, job(&numbers[0])));
    assert!(deque.pop(0));
}

#[test]
fn a_request_is_seen_at_the_next_push() {
    let number = 7;
    let deque = Deque::with_limit(PLACES);
    deque.ask();
    assert!(!deque.push(0, job(&number)));
    assert_eq!(deque.push_slowly(0, job(&number)), Pushed::Asked);
    assert_eq!(deque.publish(), 1);
    assert_eq!(deque.steal(), Some(job(&number)));
    assert_eq!(deque.reclaim(0), Reclaimed::Stolen);
}

#[test]
fn a_waiter_steals_nothing_once_its_job_is_complete() {
    let numbers = [0_u64, 1];
    let deque = Deque::with_limit(PLACES);
    deque.push(0, job(&numbers[0]));
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

/// Forks of random depth against thieves that steal and seize: each job is taken once.
#[test]
fn every_job_is_taken_once() {
    const ROUNDS: usize = 5_000;
    let deque = Deque::<Count>::new();
    let over = std::sync::atomic::AtomicBool::new(false);
    let jobs: Vec<Count> = (0..16).map(|_| Count::new(0)).collect();
    std::thread::scope(|scope| {
        for thief in 0..2 {
            let (deque, over) = (&deque, &over);
            scope.spawn(move || {
                let mut tries = 0_u32;
                while !over.load(Ordering::Relaxed) {
                    tries = tries.wrapping_add(1);
                    if let Some(job) = deque.steal() {
                        // SAFETY: the jobs outlive the scope.
                        unsafe { job.as_ref() }.fetch_add(1, Ordering::Relaxed);
                    } else if tries.is_multiple_of(64) && thief == 0 {
                        deque.seize();
                    } else {
                        deque.ask();
                        std::hint::spin_loop();
                    }
                }
            });
        }
        let mut random = crate::primitives::random::Random::new(1);
        let mut taken = vec![0_u64; jobs.len()];
        for _ in 0..ROUNDS {
            let depth = 1 + (random.next() % 16) as u32;
            for index in 0..depth {
                let job = NonNull::from(&jobs[index as usize]);
                if !deque.push(index, job) {
                    assert_eq!(deque.push_slowly(index, job), Pushed::Asked);
                    deque.publish();
                }
            }
            for index in (0..depth).rev() {
                taken[index as usize] += 1;
                let job = &jobs[index as usize];
                if deque.pop(index) || deque.reclaim(index) == Reclaimed::Own {
                    job.fetch_add(1, Ordering::Relaxed);
                } else {
                    deque.retire(index);
                }
                let mut backoff = Backoff::new();
                while job.load(Ordering::Relaxed) < taken[index as usize] {
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
