//! This project's external scheduling: the acceptor is inside of the monitors all the time and lets
//! calls in by their name.

use std::sync::atomic::{AtomicBool, Ordering};

use evenkeel::accept;
use evenkeel::sync::monitor::{Entry, Monitor, call, lock_all};

use super::Rendezvous;

/// What is called.
#[derive(Clone, Copy, Entry)]
enum Op {
    Add,
}

/// Monitors that are entered together. The first has the sum of the numbers that came with calls.
pub(crate) struct Evenkeel<const M: usize> {
    monitors: [Monitor<u64>; M],
    /// The acceptor is inside: a call before that would be nobody's.
    open: AtomicBool,
}

/// So many monitors: how they are a set, and where the sum is in what holds them. Calls of one
/// monitor are made as those of several, so that the rows differ in nothing but the number.
macro_rules! sets {
    ($number:literal: $monitors:ident => $set:expr, $held:ident => $sum:expr) => {
        impl Rendezvous for Evenkeel<$number> {
            fn new() -> Self {
                let monitors = [(); $number].map(|()| Monitor::new(0));
                Evenkeel { monitors, open: AtomicBool::new(false) }
            }

            fn is_open(&self) -> bool {
                self.open.load(Ordering::Relaxed)
            }

            async fn call(&self, number: u64) {
                let $monitors = &self.monitors;
                call($set, Op::Add, async |mut $held| {
                    let sum: &mut u64 = $sum;
                    *sum = sum.wrapping_add(number);
                })
                .await
            }

            async fn accept(&self, calls: u64) -> u64 {
                let $monitors = &self.monitors;
                let mut $held = lock_all($set).await;
                self.open.store(true, Ordering::Relaxed);
                let mut accepted = 0;
                for _ in 0..calls {
                    accept!($held; Op::Add => { accepted += 1; });
                }
                assert_eq!(accepted, calls, "an accept came back without a call");
                *$sum
            }
        }
    };
}

sets!(1: monitors => &monitors[0], held => &mut *held);
sets!(2: monitors => (&monitors[0], &monitors[1]), held => held.values_mut().0);
sets!(4: monitors => (&monitors[0], &monitors[1], &monitors[2], &monitors[3]),
    held => held.values_mut().0);
