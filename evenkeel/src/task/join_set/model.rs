//! A model of the line of finished tasks.

use super::finished::{Finished, Member};
use crate::primitives::mutation::{explore, unparker};
use crate::raw_task::id;
use loom::thread;
use std::collections::VecDeque;
use std::sync::Arc;

/// Two tasks finish while the joiner takes, or waits.
#[test]
fn a_joiner_gets_each_task_once() {
    explore(|| {
        let finished = Arc::new(Finished::new());
        let reports: Vec<_> = (0..2)
            .map(|slot| {
                let finished = finished.clone();
                let member = Member { slot, id: id::take_one() };
                thread::spawn(move || finished.push(member))
            })
            .collect();
        let (waker, mut taken) = (unparker(), Vec::new());
        while taken.len() < 2 {
            let mut batch = VecDeque::new();
            if finished.take_or_wait(&mut batch, &waker) {
                taken.extend(batch.iter().map(|member| member.slot));
            } else {
                thread::park();
            }
        }
        taken.sort_unstable();
        assert_eq!(taken, [0, 1]);
        reports.into_iter().for_each(|report| report.join().unwrap());
    });
}
