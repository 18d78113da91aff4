//! Asking: messages that carry a place for their answer.

mod limit;

use super::actor_ref::{ActorRef, SendFuture};
use super::away::RemoteReply;
use crate::mailbox::overflow::{Overflow, Wait};
use crate::primitives::oneshot;
use crate::system::System;
use crate::system::dead_letters;
use crate::trace::{Parcel, answered, open, seal};
use crate::words::dead_letter::DeadLetterKind;
use crate::words::error::{AskError, SendError};
use crossbeam_utils::atomic::AtomicCell;
use evenkeel::internal::detect;
use limit::Limit;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

/// The place for the answer to a request. If it is dropped without an answer, the asker gets
/// [`AskError::NoReply`].
///
/// In a message to another node the place travels with the message, and the answer comes back
/// through the nodes. Actors can hand it on from node to node. The asker is told if the node that
/// has the place is lost, or if the actor that it was handed on to is gone. If only two nodes lose
/// each other while one hands it on to the other, the asker's [limit](System::set_ask_limit) ends
/// the wait.
///
/// # Examples
/// The place for an answer can be kept, and handed on to a task:
/// ```
/// use evenkeel_actor::{Actor, AskError, Context, Handled, ReplyTo, spawn};
///
/// struct Oracle;
///
/// enum Message {
///     Add(u32, u32, ReplyTo<u32>),
///     Meaning(ReplyTo<u32>),
/// }
///
/// impl Actor for Oracle {
///     type Message = Message;
///
///     async fn handle(&mut self, message: Message, _context: &mut Context<Self>) -> Handled {
///         match message {
///             // The actor goes on to its next message, and a blocking thread answers.
///             Message::Add(a, b, reply) => {
///                 drop(evenkeel::spawn_blocking(move || reply.send(a + b)));
///             }
///             Message::Meaning(reply) => drop(reply),
///         }
///         Ok(())
///     }
/// }
///
/// let runtime = evenkeel::Runtime::new().unwrap();
/// runtime.block_on(async {
///     let oracle = spawn(Oracle);
///     assert_eq!(oracle.ask(|reply| Message::Add(40, 2, reply)).await, Ok(42));
///     assert_eq!(oracle.ask(Message::Meaning).await, Err(AskError::NoReply));
/// });
/// ```
pub struct ReplyTo<R: 'static>(Way<R>);

/// The way of an answer.
enum Way<R: 'static> {
    /// To an asker in this process. Empty once the place is on its way to another node.
    Local(AtomicCell<Option<oneshot::Sender<Reply<R>>>>),
    /// To another node.
    Remote(RemoteReply<R>),
}

/// What an asker receives. From another node it may be the reason why there is no answer.
type Reply<R> = Parcel<Result<R, AskError>>;

/// The content of a place for an answer: the sender to the asker, or nothing if that has been
/// taken, or the way to another node.
pub(crate) type Taken<'a, R> = Result<oneshot::Sender<Reply<R>>, Option<&'a RemoteReply<R>>>;

impl<R: 'static> ReplyTo<R> {
    /// Answers. If the asker has given up, the answer becomes a dead letter of the running actor's
    /// system; [`try_send`](Self::try_send) returns it instead.
    pub fn send(self, reply: R) {
        if self.try_send(reply).is_err() {
            dead_letters::note::<R>(System::current(), None, DeadLetterKind::LateReply, 1);
        }
    }

    /// Answers.
    ///
    /// # Errors
    /// Returns the answer if the asker has given up.
    ///
    /// # Examples
    /// A job that its asker has given up is kept for the next asker:
    /// ```
    /// use evenkeel_actor::{AskError, ReplyTo, kit};
    /// use std::time::Duration;
    ///
    /// kit::run(1, |kit| async move {
    ///     let mut pool = kit.probe::<ReplyTo<String>>();
    ///     let client = pool.actor();
    ///     let ask = client.ask(|reply| reply).timeout(Duration::from_secs(1));
    ///     assert_eq!(ask.await, Err(AskError::Elapsed));
    ///     let late = pool.receive().await.unwrap();
    ///     let job = late.try_send("the job".to_owned()).unwrap_err();
    ///
    ///     let next = evenkeel::spawn(async move { client.ask(|reply| reply).await });
    ///     pool.receive().await.unwrap().try_send(job).unwrap();
    ///     assert_eq!(next.await.unwrap().unwrap(), "the job");
    /// });
    /// ```
    pub fn try_send(self, reply: R) -> Result<(), R> {
        match self.0 {
            Way::Local(way) => {
                let Some(way) = way.into_inner() else { return Err(reply) };
                way.send(seal(Ok(reply))).map_err(|unsent| match open(unsent) {
                    Ok(reply) => reply,
                    Err(_) => unreachable!("what was sent is a reply"),
                })
            }
            Way::Remote(way) => way.send(reply),
        }
    }

    pub(crate) fn remote(way: RemoteReply<R>) -> Self {
        Self(Way::Remote(way))
    }

    /// Takes the sender to the asker out, or returns the way to another node.
    pub(crate) fn take(&self) -> Taken<'_, R> {
        match &self.0 {
            Way::Local(way) => way.take().ok_or(None),
            Way::Remote(way) => Err(Some(way)),
        }
    }
}

impl<R: 'static> fmt::Debug for ReplyTo<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ReplyTo").finish_non_exhaustive()
    }
}

/// A request as a type of its own, which names the type of its reply. An actor takes it if its
/// message type implements `From` for the request [with the place for its reply](Asked).
///
/// # Examples
/// ```
/// use evenkeel_actor::{Actor, Asked, Context, Handled, Request, spawn};
///
/// /// Asks for the price of apples.
/// struct Price {
///     pounds: u32,
/// }
///
/// impl Request for Price {
///     type Reply = u32;
/// }
///
/// enum Message {
///     Price(Asked<Price>),
/// }
///
/// impl From<Asked<Price>> for Message {
///     fn from(asked: Asked<Price>) -> Self {
///         Self::Price(asked)
///     }
/// }
///
/// struct Shop;
///
/// impl Actor for Shop {
///     type Message = Message;
///
///     async fn handle(&mut self, message: Message, _context: &mut Context<Self>) -> Handled {
///         match message {
///             Message::Price(Asked { request, reply }) => reply.send(request.pounds * 3),
///         }
///         Ok(())
///     }
/// }
///
/// let runtime = evenkeel::Runtime::new().unwrap();
/// runtime.block_on(async {
///     assert_eq!(spawn(Shop).ask(Price { pounds: 4 }).await, Ok(12));
/// });
/// ```
pub trait Request: Send + 'static {
    /// The type of the reply.
    type Reply: Send + 'static;
}

/// A request, and the place for its reply.
#[derive(Debug)]
pub struct Asked<Q: Request> {
    /// The request.
    pub request: Q,
    /// The place for the reply.
    pub reply: ReplyTo<Q::Reply>,
}

/// A question to an actor with messages of type `M`, as [`ask`](crate::ActorRef::ask) takes it. It
/// is a closure or constructor that makes a message with a [`ReplyTo`] in it, or a [`Request`] from
/// which the actor's messages are made. `Form` says which of the two; the compiler infers it.
///
/// # Examples
/// A function that takes either form:
/// ```
/// use evenkeel_actor::{Actor, ActorRef, Asked, Context, Handled, Question, Request, spawn};
///
/// /// Asks each actor, and returns the answers that came.
/// async fn ask_all<M, Form, Q>(actors: &[ActorRef<M>], question: Q) -> Vec<Q::Reply>
/// where
///     M: Send + 'static,
///     Q: Question<M, Form> + Clone,
/// {
///     let mut answers = Vec::new();
///     for actor in actors {
///         answers.extend(actor.ask(question.clone()).await);
///     }
///     answers
/// }
///
/// #[derive(Clone)]
/// struct Size;
///
/// impl Request for Size {
///     type Reply = u32;
/// }
///
/// struct Shard(u32);
///
/// impl Actor for Shard {
///     type Message = Asked<Size>;
///
///     async fn handle(&mut self, asked: Asked<Size>, _context: &mut Context<Self>) -> Handled {
///         asked.reply.send(self.0);
///         Ok(())
///     }
/// }
///
/// let runtime = evenkeel::Runtime::new().unwrap();
/// runtime.block_on(async {
///     let shards = [1, 2, 3].map(|size| spawn(Shard(size)));
///     assert_eq!(ask_all(&shards, Size).await, [1, 2, 3]);
///     let question = |reply| Asked { request: Size, reply };
///     assert_eq!(ask_all(&shards, question).await, [1, 2, 3]);
/// });
/// ```
pub trait Question<M, Form> {
    /// The type of the reply.
    type Reply: Send + 'static;

    /// Returns the message that asks the question.
    fn into_message(self, reply: ReplyTo<Self::Reply>) -> M;
}

/// The form of a question that is a closure or a constructor. No program names it, since the
/// compiler infers it: see [`Question`].
#[derive(Debug)]
pub struct ByClosure<R>(std::marker::PhantomData<R>);

/// The form of a question that is a [`Request`]. No program names it, since the compiler infers it:
/// see [`Question`].
#[derive(Debug)]
pub struct ByRequest(());

impl<M, R, F> Question<M, ByClosure<R>> for F
where
    R: Send + 'static,
    F: FnOnce(ReplyTo<R>) -> M,
{
    type Reply = R;

    fn into_message(self, reply: ReplyTo<R>) -> M {
        self(reply)
    }
}

impl<M, Q> Question<M, ByRequest> for Q
where
    Q: Request,
    M: From<Asked<Q>>,
{
    type Reply = Q::Reply;

    fn into_message(self, reply: ReplyTo<Q::Reply>) -> M {
        M::from(Asked { request: self, reply })
    }
}

/// A message, and the receiver of its answer.
pub(crate) struct Posed<M, R: 'static> {
    pub(crate) message: M,
    pub(crate) reply: oneshot::Receiver<Reply<R>>,
}

impl<M, R: 'static> Posed<M, R> {
    pub(crate) fn new(request: impl FnOnce(ReplyTo<R>) -> M) -> Self {
        let (sender, receiver) = oneshot::channel();
        Self {
            message: request(ReplyTo(Way::Local(AtomicCell::new(Some(sender))))),
            reply: receiver,
        }
    }
}

impl<M: Send + 'static, P: Overflow> ActorRef<M, P> {
    /// Asks the actor and waits for its answer. The question is a closure or a constructor that
    /// makes a message with a [`ReplyTo`] in it, or a [`Request`].
    ///
    /// The future sends the request and returns the reply. One limit covers both:
    /// [`timeout`](Ask::timeout), or else the [limit of the system](System::set_ask_limit), which
    /// is 30 seconds.
    ///
    /// If actors of one process ask each other in a circle, the [deadlock
    /// detector](evenkeel::detect) reports it in builds that have one. It does not see a circle
    /// through another node, as each node knows its own waits only. The
    /// [limit](System::set_ask_limit) ends such a wait.
    ///
    /// If a node hands a question on to a third node, and only these two lose each other, the asker
    /// is not told. The limit ends that wait too.
    ///
    /// # Examples
    /// See the [crate's page](crate), and [`Request`].
    #[inline]
    pub fn ask<Form, Q: Question<M, Form>>(&self, question: Q) -> Ask<'_, M, Q::Reply, P> {
        let Posed { message, reply } = Posed::new(|reply| question.into_message(reply));
        Ask::new(self.send(message), reply)
    }
}

/// The future of [`ActorRef::ask`](crate::ActorRef::ask). The [crate's page](crate) has an example.
///
/// The future waits for at most 30 seconds, or as long as the [system of the asked
/// actor](System::set_ask_limit), [`timeout`](Self::timeout) or [`no_timeout`](Self::no_timeout)
/// say. If its first poll is outside of any runtime, its only limit is that of `timeout`, which
/// needs a runtime.
///
/// # Cancel safety
/// The actor handles a request that has been sent, whether or not its asker still waits.
#[must_use = "a request is sent when its future is awaited"]
pub struct Ask<'a, M: Send + 'static, R: 'static, P: Overflow = Wait> {
    to: &'a ActorRef<M, P>,
    send: Option<SendFuture<'a, M, P>>,
    reply: oneshot::Receiver<Reply<R>>,
    limit: Limit,
    /// This wait in the wait-for graph of the deadlock detector.
    wait: detect::Reply,
}

impl<'a, M: Send + 'static, R: 'static, P: Overflow> Ask<'a, M, R, P> {
    pub(crate) fn new(send: SendFuture<'a, M, P>, reply: oneshot::Receiver<Reply<R>>) -> Self {
        let to = send.to();
        let wait = detect::Reply::of(|| to.id().task());
        Self { to, send: Some(send), reply, limit: Limit::OfSystem, wait }
    }

    /// Gives up with [`AskError::Elapsed`] after a duration, counted from this call. Replaces the
    /// [limit of the system](System::set_ask_limit).
    ///
    /// # Examples
    /// ```
    /// use evenkeel_actor::{AskError, ReplyTo, kit};
    /// use std::time::Duration;
    ///
    /// kit::run(1, |kit| async move {
    ///     // An actor that keeps its messages.
    ///     let silent = kit.probe::<ReplyTo<()>>();
    ///     let actor = silent.actor();
    ///     let answer = actor.ask(|reply| reply).timeout(Duration::from_secs(1)).await;
    ///     assert_eq!(answer, Err(AskError::Elapsed));
    ///     // The request was sent, and the actor has it.
    ///     assert_eq!(silent.len(), 1);
    /// });
    /// ```
    #[inline]
    pub fn timeout(self, duration: Duration) -> Self {
        // Not by an assignment: the drop of the old limit, by a call, would keep all of this in
        // memory.
        Self { limit: Limit::after(duration), ..self }
    }

    /// Waits for ever, whatever the [limit of the system](System::set_ask_limit). If a task that
    /// never ends keeps the question, the wait never ends.
    ///
    /// # Examples
    /// ```
    /// use evenkeel_actor::{Actor, Context, Handled, ReplyTo, spawn};
    /// use std::time::Duration;
    ///
    /// /// Replies an hour later.
    /// struct Slow;
    ///
    /// impl Actor for Slow {
    ///     type Message = ReplyTo<u32>;
    ///
    ///     async fn handle(&mut self, reply: ReplyTo<u32>, _context: &mut Context<Self>) -> Handled
    ///     {
    ///         evenkeel::time::sleep(Duration::from_secs(3_600)).await;
    ///         reply.send(7);
    ///         Ok(())
    ///     }
    /// }
    ///
    /// let runtime = evenkeel::Builder::new().start_paused(true).build().unwrap();
    /// runtime.block_on(async {
    ///     assert_eq!(spawn(Slow).ask(|reply| reply).no_timeout().await, Ok(7));
    /// });
    /// ```
    #[inline]
    pub fn no_timeout(self) -> Self {
        Self { limit: Limit::None, ..self }
    }
}

impl<M: Send + 'static, R: 'static, P: Overflow> Unpin for Ask<'_, M, R, P> {}

impl<M: Send + 'static, R: 'static, P: Overflow> Future for Ask<'_, M, R, P> {
    type Output = Result<R, AskError>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let this = &mut *self;
        if let Some(send) = &mut this.send {
            match Pin::new(send).poll(context) {
                Poll::Ready(Ok(())) => this.send = None,
                Poll::Ready(Err(SendError::Full(_))) => return Poll::Ready(Err(AskError::Full)),
                Poll::Ready(Err(SendError::Stopped(_))) => {
                    return Poll::Ready(Err(AskError::Stopped));
                }
                Poll::Ready(Err(SendError::NodeDown(_))) => {
                    return Poll::Ready(Err(AskError::NodeDown));
                }
                Poll::Ready(Err(SendError::Unwritable(_))) => {
                    return Poll::Ready(Err(AskError::Unwritable));
                }
                Poll::Ready(Err(SendError::TooManyCalls(_))) => {
                    return Poll::Ready(Err(AskError::TooManyCalls));
                }
                Poll::Pending => return this.poll_limit(context),
            }
        }
        match Pin::new(&mut this.reply).poll(context) {
            Poll::Ready(reply) => Poll::Ready(reply.map_or(Err(AskError::NoReply), answered)),
            Poll::Pending => {
                this.wait.awaited(context.waker());
                this.poll_limit(context)
            }
        }
    }
}

impl<M: Send + 'static, R: 'static, P: Overflow> Ask<'_, M, R, P> {
    fn poll_limit(&mut self, context: &mut Context<'_>) -> Poll<Result<R, AskError>> {
        let over = self.limit.poll(|| self.to.system(), context);
        if over.is_pending() {
            if self.limit.is_default() {
                self.wait.limited(context.waker());
            }
            return Poll::Pending;
        }
        // The asker leaves the line of senders. Otherwise it would keep a place from other senders
        // until the future is dropped.
        self.send = None;
        // From now on an answer comes too late, also while the future is kept. One that has come
        // since the asker looked was taken, as far as its sender knows.
        Poll::Ready(self.reply.close().map_or(Err(AskError::Elapsed), answered))
    }
}

impl<M: Send + 'static, R: 'static, P: Overflow> fmt::Debug for Ask<'_, M, R, P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Ask").field("sent", &self.send.is_none()).finish_non_exhaustive()
    }
}
