//! The policies for a message that finds the mailbox full, as types.

mod sealed {
    pub trait Sealed {}
}

/// The policy of a full mailbox for a new message. One of [`Wait`], [`Fail`], [`DropNewest`] and
/// [`DropOldest`].
///
/// # Examples
/// ```
/// use evenkeel_actor::{Builder, DropNewest, DropOldest, Fail, Overflow, Wait, kit};
/// # use evenkeel_actor::{Actor, Context, Handled};
/// # use std::sync::{Arc, Mutex};
///
/// # struct Reader(Arc<Mutex<Vec<&'static str>>>);
/// # impl Actor for Reader {
/// #     type Message = &'static str;
/// #     async fn handle(&mut self, message: &'static str, _: &mut Context<Self>) -> Handled {
/// #         self.0.lock().unwrap().push(message);
/// #         Ok(())
/// #     }
/// # }
/// /// Sends two messages to an actor with room for one.
/// ///
/// /// Returns what the actor handles, and whether the second was taken.
/// async fn two<P: Overflow>(kit: kit::Kit) -> (Vec<&'static str>, bool) {
/// #   let read = Arc::<Mutex<_>>::default();
/// #   let reader = Reader(read.clone());
///     let actor = Builder::new().capacity(1).overflow::<P>().spawn(reader).unwrap();
///     actor.try_send("old").unwrap();
///     let taken = actor.try_send("new").is_ok();
///     kit.settle().await;
/// #   let read = std::mem::take(&mut *read.lock().unwrap());
///     (read, taken)
/// }
///
/// kit::run(1, |kit| async move {
///     assert_eq!(two::<Wait>(kit).await, (vec!["old"], false));
///     assert_eq!(two::<Fail>(kit).await, (vec!["old"], false));
///     assert_eq!(two::<DropNewest>(kit).await, (vec!["old"], true));
///     assert_eq!(two::<DropOldest>(kit).await, (vec!["new"], true));
///     // What a policy drops is a dead letter.
///     assert_eq!(kit.dead_letters(), 2);
/// });
/// ```
/// [`Wait`] and [`Fail`] differ in [`send`](crate::ActorRef::send), which waits under `Wait` alone.
pub trait Overflow:
    sealed::Sealed + Send + Sync + Clone + Copy + std::fmt::Debug + 'static
{
    #[doc(hidden)]
    const FULL: Full;
}

/// The policies, as values.
#[doc(hidden)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Full {
    Wait,
    Fail,
    DropNewest,
    DropOldest,
}

/// The sender waits for room, first come, first served. The default.
///
/// The wait has no limit. Handlers that [`send`](crate::ActorRef::send) to each other in a circle
/// wait for ever once all of their mailboxes are full. Debug builds report that
/// ([`evenkeel::detect`]). One way of the circle has to be without a wait:
/// [`try_send`](crate::ActorRef::try_send), a [`ReplyTo`](crate::ReplyTo), or a mailbox with
/// another policy.
#[derive(Clone, Copy, Debug)]
pub struct Wait;

/// The sender gets the message back at once.
#[derive(Clone, Copy, Debug)]
pub struct Fail;

/// The new message becomes a dead letter. If its destructor panics, the process's panic hook
/// reports that, and the sender continues.
#[derive(Clone, Copy, Debug)]
pub struct DropNewest;

/// The message that has waited longest becomes a dead letter. This does not reach messages that the
/// actor has already taken out, to handle in its current turn. If all have been taken out, and
/// other senders wait for their places, the new message goes in beside theirs. If the destructor of
/// the dropped message panics, the process's panic hook reports that, and the sender continues: the
/// new message is in the mailbox.
#[derive(Clone, Copy, Debug)]
pub struct DropOldest;

impl sealed::Sealed for Wait {}
impl sealed::Sealed for Fail {}
impl sealed::Sealed for DropNewest {}
impl sealed::Sealed for DropOldest {}

impl Overflow for Wait {
    const FULL: Full = Full::Wait;
}

impl Overflow for Fail {
    const FULL: Full = Full::Fail;
}

impl Overflow for DropNewest {
    const FULL: Full = Full::DropNewest;
}

impl Overflow for DropOldest {
    const FULL: Full = Full::DropOldest;
}
