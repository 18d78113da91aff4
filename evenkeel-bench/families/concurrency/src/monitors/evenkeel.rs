//! This project's monitors, several of them as a set. A waiter gives all of them away, and is the
//! next one inside after the signal.

use std::future::Future;

use evenkeel::sync::monitor::{Condition, Held, Monitor, lock_all};

use super::{Conditions, Datum, Monitors};

/// Monitors, and one condition for all of them.
pub(crate) struct Evenkeel<const M: usize> {
    monitors: [Monitor<Datum>; M],
    condition: Condition,
}

/// Several monitors: their set, how a party enters it, and what it guards.
macro_rules! sets {
    ($number:literal: $set:ty, $monitors:ident => $enter:expr, $held:ident => $data:expr) => {
        impl Monitors<$number> for Evenkeel<$number> {
            type Held<'a> = Held<$set>;

            fn new() -> Self {
                Evenkeel {
                    monitors: [(); $number].map(|()| Monitor::new(Datum::NEW)),
                    condition: Condition::new(),
                }
            }

            fn enter(&self) -> impl Future<Output = Self::Held<'_>> {
                let $monitors = &self.monitors;
                $enter
            }

            fn data<'h>($held: &'h mut Self::Held<'_>) -> [&'h mut Datum; $number] {
                $data
            }
        }

        impl Conditions<$number> for Evenkeel<$number> {
            fn wait<'a>(&'a self, held: Self::Held<'a>) -> impl Future<Output = Self::Held<'a>> {
                self.condition.wait(held)
            }

            fn signal(&self, held: &mut Self::Held<'_>) {
                self.condition.signal(held);
            }
        }
    };
}

/// A single monitor.
type One<'a> = &'a Monitor<Datum>;

sets!(1: One<'a>, monitors => monitors[0].enter(), held => [&mut **held]);
sets!(2: (One<'a>, One<'a>), monitors => lock_all((&monitors[0], &monitors[1])), held => held.values_mut().into());
sets!(4: (One<'a>, One<'a>, One<'a>, One<'a>),
    monitors => lock_all((&monitors[0], &monitors[1], &monitors[2], &monitors[3])), held => held.values_mut().into());
