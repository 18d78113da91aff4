//! Groups of actors that receive the same messages.
//!
//! # Protocol
//! Each group lists its members under its own lock. The system lists, under another lock, the
//! groups of each actor. A caller that *joins* an actor adds it to the group, then the group to the
//! system's list, and then marks the actor as known to the system, unless its mailbox is closed. An
//! actor that *ends* closes its mailbox. If it is marked, it then leaves the groups in the system's
//! list. The mailbox's lock orders the mark and the end, as in [`registry`](super::registry): if
//! the end comes first, the caller undoes the join. A caller that *removes* an actor takes it out
//! of the group and of the system's list in one hold of the system's lock. So it does not take the
//! group that a join between the two steps has listed: a member whose join is complete is listed.
//! A thread that holds the system's lock may take a group's lock, never the reverse.
//!
//! A publisher takes the members of that moment, by one counted reference to all of them. A caller
//! that joins or leaves meanwhile copies the list.

mod error;

pub use error::{GroupTypeError, JoinGroupError};

use crate::kin::control::AnyActor;
use crate::mailbox::overflow::Overflow;
use crate::primitives::{Mutex, MutexGuard};
use crate::refs::actor_ref::ActorRef;
use crate::refs::recipient::{Offer, Recipient};
use crate::system::System;
use crate::system::groups::AnyGroup;
use crate::words::error::SendError;
use crate::words::id::ActorId;
use evenkeel::budget;
use std::any::{Any, type_name};
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::fmt;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, PoisonError};

/// A group of actors that take messages of type `M`: each member receives each published message.
///
/// Actors join and leave; an actor that ends leaves. A membership counts as a reference to the
/// actor. A group is cheap to clone. A group without a name lives as long as its references; one
/// with a [name](System::group) also as long as it has members.
///
/// # Examples
/// ```
/// use evenkeel_actor::{Actor, ActorRef, Context, Group, Handled, ReplyTo, spawn};
///
/// struct Reader(Vec<String>);
///
/// #[derive(Clone)]
/// struct News(&'static str);
///
/// enum Message {
///     News(News),
///     Get(ReplyTo<Vec<String>>),
/// }
///
/// impl From<News> for Message {
///     fn from(news: News) -> Self {
///         Self::News(news)
///     }
/// }
///
/// impl Actor for Reader {
///     type Message = Message;
///
///     async fn handle(&mut self, message: Message, _context: &mut Context<Self>) -> Handled {
///         match message {
///             Message::News(news) => self.0.push(news.0.to_owned()),
///             Message::Get(reply) => reply.send(self.0.clone()),
///         }
///         Ok(())
///     }
/// }
///
/// let runtime = evenkeel::Runtime::new().unwrap();
/// runtime.block_on(async {
///     let group = Group::<News>::new();
///     let readers: Vec<_> = (0..3).map(|_| spawn(Reader(Vec::new()))).collect();
///     for reader in &readers {
///         group.join(reader).unwrap();
///     }
///     let published = group.publish(News("rain")).await;
///     assert_eq!((published.delivered, published.dropped), (3, 0));
///     assert_eq!(readers[2].ask(Message::Get).await.unwrap(), ["rain"]);
/// });
/// ```
///
/// Members come and go:
/// ```
/// use evenkeel_actor::{Group, JoinGroupError, kit};
///
/// kit::run(1, |kit| async move {
///     let group = Group::<&str>::new();
///     let (one, two) = (kit.probe::<&str>(), kit.probe::<&str>());
///     assert_eq!(group.join(&one.actor()), Ok(true));
///     assert_eq!(group.join(&one.actor()), Ok(false));
///     group.join(&two.actor()).unwrap();
///     assert_eq!(group.members(), [one.actor().any(), two.actor().any()]);
///
///     assert!(group.leave(one.actor().id()));
///     assert_eq!(group.publish("for the rest").await.members(), 1);
///
///     // An actor that ends leaves.
///     two.actor().kill();
///     two.actor().stopped().await;
///     assert!(group.is_empty());
///     let (group, two) = (group, two.actor());
///     assert_eq!(group.join(&two), Err(JoinGroupError::Stopped { id: two.id() }));
/// });
/// ```
pub struct Group<M: Send + 'static>(Arc<Inner<M>>);

struct Inner<M> {
    system: System,
    name: Option<Arc<str>>,
    /// The number of handles. A dropped handle decrements it without the lock of the lists; the
    /// drop that reaches zero then checks under that lock. The number rises from zero only under
    /// that lock.
    handles: AtomicUsize,
    /// The number of the member from which the next [offer](Group::offer) searches. A hint.
    turn: AtomicU64,
    members: Mutex<Members<M>>,
}

/// The members, in the order in which they joined.
struct Members<M> {
    list: Arc<BTreeMap<u64, Recipient<M>>>,
    /// The number of each actor in the list.
    numbers: BTreeMap<ActorId, u64>,
    /// How many have joined.
    joined: u64,
}

impl<M> Default for Members<M> {
    fn default() -> Self {
        Self { list: Arc::default(), numbers: BTreeMap::new(), joined: 0 }
    }
}

impl<M: Send + 'static> Members<M> {
    /// Adds a member. False if it is there already.
    fn add(&mut self, member: Recipient<M>) -> bool {
        let Entry::Vacant(number) = self.numbers.entry(member.id()) else { return false };
        number.insert(self.joined);
        Arc::make_mut(&mut self.list).insert(self.joined, member);
        self.joined += 1;
        true
    }

    fn remove(&mut self, actor: ActorId) -> Option<Recipient<M>> {
        let number = self.numbers.remove(&actor)?;
        Arc::make_mut(&mut self.list).remove(&number)
    }
}

/// The outcome of publishing a message.
///
/// # Examples
/// See [`Group::try_publish`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Published {
    /// Members whose mailboxes took the message. Under [`DropOldest`](crate::DropOldest) it may
    /// have displaced another message.
    pub delivered: usize,
    /// Members with full mailboxes that did not take the message. Each counts as a dead letter.
    pub dropped: usize,
    /// Members that had stopped.
    pub stopped: usize,
}

impl Published {
    /// Returns the number of members that the group had.
    #[must_use]
    pub fn members(&self) -> usize {
        self.delivered + self.dropped + self.stopped
    }
}

impl<M: Send + 'static> Inner<M> {
    fn lock(&self) -> MutexGuard<'_, Members<M>> {
        self.members.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn remove(&self, actor: ActorId) -> Option<Recipient<M>> {
        self.lock().remove(actor)
    }
}

impl<M: Send + 'static> AnyGroup for Inner<M> {
    fn forget(&self, actor: ActorId) {
        drop(self.remove(actor));
        self.prune();
    }
}

impl<M: Send + 'static> Inner<M> {
    /// Removes a named group from the system if it has no members and no handles.
    fn prune(&self) {
        let Some(name) = &self.name else { return };
        let groups = self.system.groups();
        let mut lists = groups.lock();
        let mut gone = None;
        if let Some((_, group)) = lists.named.get(name)
            && std::ptr::addr_eq(Arc::as_ptr(group), self)
            && self.handles.load(Ordering::Relaxed) == 0
            && self.lock().list.is_empty()
        {
            gone = lists.named.remove(name);
        }
        drop(lists);
        drop(gone);
    }
}

impl<M: Send + 'static> Group<M> {
    /// Returns a group without a name, for actors of the [current](System::current) system.
    #[must_use]
    pub fn new() -> Self {
        Self::of(System::current(), None)
    }

    pub(crate) fn of(system: System, name: Option<Arc<str>>) -> Self {
        let (handles, turn, members) = (AtomicUsize::new(1), AtomicU64::new(0), Mutex::default());
        Self(Arc::new(Inner { system, name, handles, turn, members }))
    }

    /// Adds an actor. Returns false if the actor was a member already.
    ///
    /// # Errors
    /// If the actor has stopped, belongs to another system, or is on another node.
    pub fn join<N, P>(&self, actor: &ActorRef<N, P>) -> Result<bool, JoinGroupError>
    where
        M: Into<N>,
        N: Send + 'static,
        P: Overflow,
    {
        let (id, member) = (actor.id(), actor.recipient::<M>());
        if member.system() != self.0.system {
            return Err(JoinGroupError::OtherSystem { id });
        }
        if actor.remote_name().is_some() {
            return Err(JoinGroupError::OtherNode { id });
        }
        if !self.0.lock().add(member.clone()) {
            return Ok(false);
        }
        let group: Arc<dyn AnyGroup> = self.0.clone();
        self.0.system.groups().lock().enter(id, Arc::downgrade(&group));
        if !member.make_known() {
            // Also if another thread has removed it before it was entered.
            drop(self.take_out(id));
            return Err(JoinGroupError::Stopped { id });
        }
        Ok(true)
    }

    /// Removes an actor. Returns false if the actor was not a member.
    pub fn leave(&self, actor: ActorId) -> bool {
        self.take_out(actor).is_some()
    }

    /// Removes an actor from the group, and the group from the system's list.
    fn take_out(&self, actor: ActorId) -> Option<Recipient<M>> {
        let group: Arc<dyn AnyGroup> = self.0.clone();
        let mut lists = self.0.system.groups().lock();
        let member = self.0.remove(actor);
        lists.leave(actor, &group);
        member
    }

    /// Returns the members, in the order in which they joined.
    #[must_use]
    pub fn members(&self) -> Vec<AnyActor> {
        let members = self.0.lock().list.clone();
        members.values().map(Recipient::any).collect()
    }

    /// Returns the number of members.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.lock().list.len()
    }

    /// Returns whether the group has no members.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the group's name, if it has one.
    ///
    /// # Examples
    /// See [`System::group`].
    #[must_use]
    pub fn name(&self) -> Option<&str> {
        self.0.name.as_deref()
    }

    /// Sends a copy of a message to every member. A full mailbox acts by its policy: where a sender
    /// would wait for room, this future waits, after it has offered the message to all other
    /// members. Wrap large messages in an [`Arc`].
    ///
    /// # Cancel safety
    /// If the future is dropped at a yield because the [slice](evenkeel::budget) of its poll was
    /// over, no member has the message. If it is dropped later, before it is ready, all members
    /// whose mailboxes had room have the message, and possibly some of the others.
    pub async fn publish(&self, message: M) -> Published
    where
        M: Clone,
    {
        // Most members have room.
        budget::consume().await;
        let mut full = Vec::new();
        let mut published = self.offer_each(&message, |member| {
            full.push(member.clone());
            0
        });
        for member in full {
            match member.send(message.clone()).await {
                Ok(()) => published.delivered += 1,
                Err(_) => published.stopped += 1,
            }
        }
        published
    }

    /// Publishes without waiting: a full member misses the message if its senders would wait.
    ///
    /// # Examples
    /// ```
    /// use evenkeel_actor::{Actor, Builder, Context, Group, Handled, kit};
    ///
    /// struct Display;
    ///
    /// impl Actor for Display {
    ///     type Message = u32;
    ///
    ///     async fn handle(&mut self, _reading: u32, _context: &mut Context<Self>) -> Handled {
    ///         Ok(())
    ///     }
    /// }
    ///
    /// kit::run(1, |kit| async move {
    ///     let group = Group::<u32>::new();
    ///     let small = Builder::new().capacity(1).spawn(Display).unwrap();
    ///     let large = Builder::new().capacity(100).spawn(Display).unwrap();
    ///     group.join(&small).unwrap();
    ///     group.join(&large).unwrap();
    ///     assert_eq!(group.len(), 2);
    ///
    ///     // On this one thread, no member handles a reading before the next await.
    ///     assert_eq!(group.try_publish(1).delivered, 2);
    ///     let published = group.try_publish(2);
    ///     assert_eq!((published.delivered, published.dropped, published.members()), (1, 1, 2));
    ///     assert_eq!(kit.dead_letters(), 1);
    /// });
    /// ```
    pub fn try_publish(&self, message: M) -> Published
    where
        M: Clone,
    {
        self.offer_each(&message, |member| {
            member.note_undelivered();
            1
        })
    }

    /// Sends a message to one of the members, each in its turn: to the first that has room. The
    /// search begins with the member after the one with which the last search began.
    ///
    /// Members that take a message only when they are about to be free for it have small mailboxes
    /// (see [`Builder::capacity`](crate::Builder::capacity)): a message does not move on from the
    /// mailbox of a busy member. Members have [`Wait`](crate::Wait) or [`Fail`](crate::Fail): a
    /// full one with [`DropOldest`](crate::DropOldest) takes the message and drops an older one,
    /// and one with [`DropNewest`](crate::DropNewest) counts a dead letter for its copy, before the
    /// next member is tried.
    ///
    /// Costs a clone of the message for each member that is tried. Members that are found full or
    /// stopped cost as much as a [`try_send`](Recipient::try_send) to each.
    ///
    /// # Errors
    /// Returns the message if a member is alive and none has room; as for a stopped actor if none
    /// is alive.
    ///
    /// # Examples
    /// Two porters carry parcels, one at a time. A sender that finds both busy waits for one of
    /// them:
    /// ```
    /// use evenkeel_actor::{Actor, Builder, Context, Group, Handled, SendError, kit};
    ///
    /// struct Porter;
    ///
    /// impl Actor for Porter {
    ///     type Message = u32;
    ///
    ///     async fn handle(&mut self, _parcel: u32, _context: &mut Context<Self>) -> Handled {
    ///         evenkeel::yield_now().await;
    ///         Ok(())
    ///     }
    /// }
    ///
    /// kit::run(1, |kit| async move {
    ///     let porters = Group::<u32>::new();
    ///     assert_eq!(porters.offer(0), Err(SendError::Stopped(0)));
    ///     let builder = Builder::new().capacity(1);
    ///     let [ada, bob] = [(); 2].map(|()| builder.clone().spawn(Porter).unwrap());
    ///     porters.join(&ada).unwrap();
    ///     porters.join(&bob).unwrap();
    ///     porters.offer(1).unwrap();
    ///     porters.offer(2).unwrap();
    ///     assert_eq!((ada.depth(), bob.depth()), (1, 1));
    ///     let parcel = porters.offer(3).unwrap_err();
    ///     assert!(parcel.is_full());
    ///     kit.settle().await;
    ///     porters.offer(parcel.into_message()).unwrap();
    /// });
    /// ```
    pub fn offer(&self, message: M) -> Result<(), SendError<M>>
    where
        M: Clone,
    {
        let members = self.0.lock().list.clone();
        let turn = self.0.turn.load(Ordering::Relaxed);
        let in_turn = || members.range(turn..).chain(members.range(..turn));
        if let Some((first, _)) = in_turn().next() {
            // Relaxed: two callers at once may begin with the same member.
            self.0.turn.store(first + 1, Ordering::Relaxed);
        }
        let mut is_any_alive = false;
        for (_, member) in in_turn() {
            match member.offer(message.clone()) {
                Offer::Taken => return Ok(()),
                Offer::Gone(_) => {}
                Offer::Dropped | Offer::Full | Offer::Refused(_) => is_any_alive = true,
            }
        }
        Err(if is_any_alive { SendError::Full(message) } else { SendError::Stopped(message) })
    }

    /// Offers a copy to every member. `full` handles each full member whose senders would wait, and
    /// returns how many members missed the message.
    fn offer_each(&self, message: &M, mut full: impl FnMut(&Recipient<M>) -> usize) -> Published
    where
        M: Clone,
    {
        let members = self.0.lock().list.clone();
        let mut published = Published::default();
        for member in members.values() {
            match member.offer(message.clone()) {
                Offer::Taken => published.delivered += 1,
                Offer::Dropped => published.dropped += 1,
                Offer::Full => published.dropped += full(member),
                Offer::Refused(_) => {
                    member.note_undelivered();
                    published.dropped += 1;
                }
                Offer::Gone(_) => published.stopped += 1,
            }
        }
        published
    }
}

impl<M: Send + 'static> Default for Group<M> {
    fn default() -> Self {
        Self::new()
    }
}

impl<M: Send + 'static> Clone for Group<M> {
    fn clone(&self) -> Self {
        self.0.handles.fetch_add(1, Ordering::Relaxed);
        Self(self.0.clone())
    }
}

impl<M: Send + 'static> Drop for Group<M> {
    fn drop(&mut self) {
        // Relaxed: the lock orders what other handles did with the group before the last handle's
        // check.
        if self.0.handles.fetch_sub(1, Ordering::Relaxed) == 1 && self.0.name.is_some() {
            self.0.prune();
        }
    }
}

impl<M: Send + 'static> fmt::Debug for Group<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Group").field("name", &self.name()).field("members", &self.len()).finish()
    }
}

/// Groups with names.
impl System {
    /// Returns the group of this name, and makes it if there is none.
    ///
    /// # Errors
    /// If the group of this name takes messages of another type.
    ///
    /// # Examples
    /// ```
    /// use evenkeel_actor::System;
    ///
    /// let system = System::new();
    /// let weather = system.group::<String>("weather").unwrap();
    /// assert_eq!(weather.name(), Some("weather"));
    /// assert!(system.group::<u32>("weather").is_err());
    /// ```
    pub fn group<M: Send + 'static>(
        self,
        name: impl Into<Arc<str>>,
    ) -> Result<Group<M>, GroupTypeError> {
        let name = name.into();
        let mut lists = self.groups().lock();
        if let Some((has, group)) = lists.named.get(&name) {
            return match group.clone().downcast::<Inner<M>>() {
                Ok(group) => {
                    group.handles.fetch_add(1, Ordering::Relaxed);
                    Ok(Group(group))
                }
                Err(_) => Err(GroupTypeError { name, has }),
            };
        }
        let group = Group::<M>::of(self, Some(name.clone()));
        let entry: Arc<dyn Any + Send + Sync> = group.0.clone();
        lists.named.insert(name, (type_name::<M>(), entry));
        Ok(group)
    }
}
