//! This project's external scheduling: the acceptor is inside the monitors all the time and admits
//! calls by their name.

use std::sync::atomic::{AtomicBool, Ordering};

use evenkeel::accept;
use evenkeel::sync::monitor::{Entry, Monitor, call, lock_all};

use super::Rendezvous;

/// The entry that callers call.
#[derive(Clone, Copy, Entry)]
enum Op {
    Add,
}

/// Monitors that the acceptor enters together. The first holds the sum of the calls' numbers.
pub(crate) struct Evenkeel<const M: usize> {
    monitors: [Monitor<u64>; M],
    /// The acceptor is inside: an earlier call would have no acceptor.
    open: AtomicBool,
}

/// Several monitors: their set, and where the sum lies in its hold. Calls of one monitor have the
/// form of calls of several, so that the rows differ only in the number.
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
