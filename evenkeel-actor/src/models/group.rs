//! Groups with members that end.

use super::{Meeting, at_once, join, spawn_in, until};
use crate::{Actor, Context, Group, Handled, JoinGroupError, System};
use evenkeel::internal::check;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The number of groups that an actor joins as it ends. More groups make an end during a join more
/// likely.
const GROUPS: usize = 8;

struct Sum(Arc<AtomicUsize>);

#[derive(Clone)]
enum Message {
    Add(usize),
    /// Ends once the other task of the meeting is there.
    End(Meeting),
}

impl Actor for Sum {
    type Message = Message;

    async fn handle(&mut self, message: Message, context: &mut Context<Self>) -> Handled {
        match message {
            Message::Add(n) => _ = self.0.fetch_add(n, Ordering::Relaxed),
            Message::End(meeting) => {
                meeting.meet().await;
                context.stop();
            }
        }
        Ok(())
    }
}

#[test]
fn shuttle_an_actor_that_ends_is_in_no_group_whichever_thread_adds_it() {
    check(2, |handle| {
        let system = System::new();
        let actor = spawn_in(handle, system, Sum(Arc::default()));
        let groups = [(); GROUPS].map(|()| Group::<Message>::of(system, None));
        let (ends, joins, joined) = (actor.clone(), actor.clone(), groups.clone());
        let meeting = Meeting::default();
        let meets = meeting.clone();
        at_once(
            handle,
            [
                Box::pin(async move { ends.send(Message::End(meets)).await.expect("it has room") }),
                Box::pin(async move {
                    meeting.meet().await;
                    for group in joined {
                        let result = group.join(&joins);
                        assert!(matches!(result, Ok(true) | Err(JoinGroupError::Stopped { .. })));
                    }
                }),
            ],
        );
        join(handle.spawn(async move {
            actor.stopped().await;
            assert!(groups.iter().all(Group::is_empty), "an actor that has ended has left");
        }));
    });
}

/// The member joins anew as soon as it has left, or is still a member as it joins.
#[test]
fn shuttle_a_member_that_leaves_beside_a_join_is_in_no_group_when_it_has_ended() {
    check(2, |handle| {
        let system = System::new();
        let actor = spawn_in(handle, system, Sum(Arc::default()));
        let group = Group::<Message>::of(system, None);
        assert_eq!(group.join(&actor), Ok(true));
        let (leaves, joins, id, joined) = (group.clone(), group.clone(), actor.id(), actor.clone());
        at_once(
            handle,
            [
                Box::pin(async move { assert!(leaves.leave(id)) }),
                Box::pin(async move { assert!(joins.join(&joined).is_ok()) }),
            ],
        );
        join(handle.spawn(async move {
            actor.stop();
            actor.stopped().await;
            assert!(group.is_empty(), "an actor that has ended has left");
        }));
    });
}

/// Each member at the moment of publishing gets the message once, or has stopped.
#[test]
fn shuttle_what_is_published_while_members_come_go_and_end_is_counted() {
    check(2, |handle| {
        let (system, sum) = (System::new(), Arc::<AtomicUsize>::default());
        let members = [(); 3].map(|()| spawn_in(handle, system, Sum(sum.clone())));
        let group = system.group::<Message>("all").expect("it is new");
        let [stays, comes, ends] = &members;
        for member in [stays, ends] {
            group.join(member).expect("it has not stopped");
        }
        let delivered = Arc::<AtomicUsize>::default();
        let (publishes, counts) = (group.clone(), delivered.clone());
        let (joined, joins, leaves, stops) = (group.clone(), comes.clone(), ends.id(), ends.any());
        let left = group.clone();
        at_once(
            handle,
            [
                Box::pin(async move {
                    let published = publishes.publish(Message::Add(1)).await;
                    assert_eq!(published.dropped, 0);
                    assert!((1..=3).contains(&published.members()));
                    counts.store(published.delivered, Ordering::Relaxed);
                }),
                Box::pin(async move { assert_eq!(joined.join(&joins), Ok(true)) }),
                Box::pin(async move {
                    stops.stop();
                    left.leave(leaves);
                }),
            ],
        );
        join(handle.spawn(async move {
            for member in &members {
                member.stop();
            }
            for member in &members {
                member.stopped().await;
            }
            // A message delivered to a member that was about to stop has been handled, or was left
            // behind.
            let dead = system.dead_letters() as usize;
            assert_eq!(sum.load(Ordering::Relaxed) + dead, delivered.load(Ordering::Relaxed));
            until(|| group.is_empty()).await;
        }));
    });
}
