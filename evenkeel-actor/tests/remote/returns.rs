//! A node that was down, and that its transport reports as up again.

use crate::world::{Message, Sum, id, runtime};
use evenkeel_actor::node::altered::{Alter, Altered};
use evenkeel_actor::node::in_process::{Faults, InProcess, network};
use evenkeel_actor::node::{DownReason, Event, Transport};
use evenkeel_actor::remote::{Node, NodeEvent, RemoteError};
use evenkeel_actor::{AskError, System};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A connection that is lost for a moment.
struct Returns {
    /// The events to report, the last first.
    events: Vec<Event>,
    /// Whether to begin.
    begins: Arc<AtomicBool>,
    /// Whether all events were taken and handled.
    is_back: Arc<AtomicBool>,
}

impl Alter<InProcess> for Returns {
    fn poll(&mut self, inner: &mut InProcess) -> Option<Event> {
        if self.begins.load(Ordering::SeqCst) {
            match self.events.pop() {
                None => self.is_back.store(true, Ordering::SeqCst),
                event => return event,
            }
        }
        inner.poll()
    }
}

#[test]
fn a_node_that_comes_back_stays_down_and_questions_to_it_fail() {
    for workers in [1, 2] {
        let (_control, mut ends) = network(2, Faults::default());
        let (end, other_end) = (ends.remove(0), ends.remove(0));
        let (begins, is_back) = (Arc::<AtomicBool>::default(), Arc::<AtomicBool>::default());
        let node = id(1);
        let reason = DownReason::Lost("for a moment".to_owned());
        let returns = Returns {
            events: vec![Event::Up { node }, Event::Down { node, reason: reason.clone() }],
            begins: Arc::clone(&begins),
            is_back: Arc::clone(&is_back),
        };
        let returns = Altered { inner: end, by: returns };
        let (runtime, other_runtime) = (runtime(workers), runtime(1));
        let builder = || Node::builder().system(System::new());
        let other = builder().start(|| Ok::<_, String>(other_end));
        let other = other_runtime.block_on(other).unwrap();
        other.register_script("sum", Sum::new);
        runtime.block_on(async move {
            let own = builder().start(|| Ok::<_, String>(returns)).await.unwrap();
            let mut events = own.events();
            assert!(matches!(events.next().await, Some(NodeEvent::Up { .. })));
            let sum = own.spawn_on::<Message, _>(node, "sum", &0_u64).await.unwrap();
            begins.store(true, Ordering::SeqCst);
            let event = events.next().await.unwrap();
            assert_eq!(event, NodeEvent::Down { node, reason, lost: 0 });
            while !is_back.load(Ordering::SeqCst) {
                evenkeel::yield_now().await;
            }
            assert_eq!(sum.ask(Message::Get).await, Err(AskError::NodeDown));
            let spawned = own.spawn_on::<Message, _>(node, "sum", &0_u64).await;
            assert_eq!(spawned.unwrap_err(), RemoteError::NodeDown { node });
            assert!(own.ready().await.is_err());
            own.leave().await;
            assert_eq!(events.next().await, None, "nothing has been told of its return");
        });
        other_runtime.block_on(other.leave());
    }
}
