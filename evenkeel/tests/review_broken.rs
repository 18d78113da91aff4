//! Review: accepted calls that come to their end inside destructors. Both fail: the acceptor is told that the call has broken off.

use common::op::{F, G};
use common::polling::Hand;
use evenkeel::sync::monitor::{Accepted, Clause, Condition, Held, Monitor};
use std::future::pending;
use std::panic::{AssertUnwindSafe, catch_unwind};

mod common {
    pub(crate) mod op;
    pub(crate) mod polling;
}

type Plain = Monitor<u32, Condition<u32>>;

/// Makes a whole call when it is dropped.
struct Calls<'a>(&'a Plain);

impl Drop for Calls<'_> {
    fn drop(&mut self) {
        Hand::new(self.0.call(F, async |mut held| *held += 1)).ready();
    }
}

#[test]
fn a_call_in_a_destructor_of_a_cancelled_body_is_whole() {
    let (log, other) = (Plain::default(), Plain::default());
    let accept = Hand::waiting(Held::accept(log.try_enter().unwrap(), [Clause::new(F)]));
    let body = Hand::waiting(other.call(G, async |_held| {
        let _calls = Calls(&log);
        pending::<()>().await;
    }));
    drop(body);
    let (held, accepted) = accept.ready();
    assert_eq!((*held, accepted), (1, Accepted::Call(0)));
}

#[test]
fn a_call_in_a_destructor_beside_a_panic_is_whole() {
    let log = Plain::default();
    let accept = Hand::waiting(Held::accept(log.try_enter().unwrap(), [Clause::new(F)]));
    let _ = catch_unwind(AssertUnwindSafe(|| {
        let _calls = Calls(&log);
        panic!("it is meant to");
    }));
    let (held, accepted) = accept.ready();
    assert_eq!((*held, accepted), (1, Accepted::Call(0)));
}
