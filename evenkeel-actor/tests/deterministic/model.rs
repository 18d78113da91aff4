//! Random programs of tasks and actors against a simple model, in thousands of orders: nothing is
//! lost, nothing is duplicated, the order per sender and receiver is kept, and dead letters are the
//! messages that were taken and not handled.

use evenkeel::deterministic::{Options, random};
use evenkeel::time::{Duration, sleep, timeout};
use evenkeel_actor::{
    Actor, ActorRef, AnyActor, AskError, Builder, Context, DeadLetterKind, DropNewest, DropOldest,
    Fail, Failure, Handled, Overflow, ReplyTo, SendError, System, Wait, kit,
};
use evenkeel_policy::random::Random;
use futures::FutureExt;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A message's sender, and the sender's number of it.
type Stamp = (usize, u32);

/// The record of one actor.
#[derive(Clone, Debug, Default, PartialEq)]
struct Account {
    /// Messages taken by the actor or its policy.
    taken: BTreeSet<Stamp>,
    /// Abandoned asks: their messages may or may not have been sent.
    unsure: BTreeSet<Stamp>,
    /// Messages that were refused, or abandoned before they were sent.
    refused: BTreeSet<Stamp>,
    /// Messages that have begun to be handled, in order.
    begun: Vec<Stamp>,
    /// Whether it may leave messages unhandled: it was killed, has failed, or has stopped itself.
    may_leave: bool,
    has_ended: bool,
}

#[derive(Default)]
struct Ledger {
    accounts: Vec<Account>,
    /// Messages that exist.
    alive: i64,
    made: u64,
    log: Vec<String>,
}

#[derive(Clone, Default)]
struct Book(Arc<Mutex<Ledger>>);

impl Book {
    fn lock(&self) -> MutexGuard<'_, Ledger> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn note(&self, note: String) {
        self.lock().log.push(note);
    }

    fn with(&self, actor: usize, change: impl FnOnce(&mut Account)) {
        change(&mut self.lock().accounts[actor]);
    }
}

/// Counts the existing messages.
struct Alive(Book);

impl Alive {
    fn new(book: &Book) -> Self {
        let mut ledger = book.lock();
        ledger.alive += 1;
        ledger.made += 1;
        Self(book.clone())
    }
}

impl Drop for Alive {
    fn drop(&mut self) {
        self.0.lock().alive -= 1;
    }
}

/// The effect of a handler.
enum What {
    Nothing,
    Yield,
    Sleep(u64),
    /// Forwards another message, without waiting.
    Forward(Target, Message),
    Panic,
    Fail,
    StopItself,
}

/// Boxed, so that a mailbox treats it as small, and gives it a place of its own.
struct Message(Box<Body>);

struct Body {
    stamp: Stamp,
    what: What,
    reply: Option<ReplyTo<Stamp>>,
    _alive: Alive,
}

struct Handler {
    index: usize,
    book: Book,
}

impl Drop for Handler {
    fn drop(&mut self) {
        self.book.with(self.index, |account| account.has_ended = true);
    }
}

impl Actor for Handler {
    type Message = Message;

    async fn handle(&mut self, message: Message, context: &mut Context<Self>) -> Handled {
        let (index, message) = (self.index, *message.0);
        self.book.with(index, |account| account.begun.push(message.stamp));
        self.book.note(format!("{index} begins {:?}", message.stamp));
        match message.what {
            What::Nothing => {}
            What::Yield => evenkeel::yield_now().await,
            What::Sleep(micros) => sleep(Duration::from_micros(micros)).await,
            What::Forward(target, message) => target.try_send(&self.book, message),
            What::Panic => {
                self.book.with(index, |account| account.may_leave = true);
                // Bypasses the panic hook, which would print it.
                std::panic::resume_unwind(Box::new("on purpose"));
            }
            What::Fail => {
                self.book.with(index, |account| account.may_leave = true);
                return Err(Failure::message("on purpose"));
            }
            What::StopItself => {
                self.book.with(index, |account| account.may_leave = true);
                context.stop();
            }
        }
        if let Some(reply) = message.reply {
            reply.send(message.stamp);
        }
        Ok(())
    }
}

/// A reference with any overflow policy.
#[derive(Clone)]
enum Reference {
    Wait(ActorRef<Message, Wait>),
    Fail(ActorRef<Message, Fail>),
    Newest(ActorRef<Message, DropNewest>),
    Oldest(ActorRef<Message, DropOldest>),
}

macro_rules! each {
    ($self:expr, $actor:ident => $what:expr) => {
        match $self {
            Reference::Wait($actor) => $what,
            Reference::Fail($actor) => $what,
            Reference::Newest($actor) => $what,
            Reference::Oldest($actor) => $what,
        }
    };
}

#[derive(Clone)]
struct Target {
    index: usize,
    reference: Reference,
}

impl Target {
    fn spawn(index: usize, book: &Book, random: &mut Random) -> (Self, System) {
        fn with<P: Overflow>(builder: Builder<P>, handler: Handler) -> ActorRef<Message, P> {
            builder.spawn(handler).unwrap()
        }
        book.lock().accounts.push(Account::default());
        let system = System::new();
        let capacity = 1 + random.below(6) as usize;
        let builder = Builder::new().system(system).capacity(capacity);
        let handler = Handler { index, book: book.clone() };
        let reference = match random.below(5) {
            0 => Reference::Fail(with(builder.overflow(), handler)),
            1 => Reference::Newest(with(builder.overflow(), handler)),
            2 => Reference::Oldest(with(builder.overflow(), handler)),
            _ => Reference::Wait(with(builder, handler)),
        };
        (Self { index, reference }, system)
    }

    fn any(&self) -> AnyActor {
        each!(&self.reference, actor => actor.any())
    }

    fn drops(&self) -> bool {
        matches!(self.reference, Reference::Newest(_) | Reference::Oldest(_))
    }

    /// Records the result of a send that was not abandoned.
    fn note_sent(&self, book: &Book, stamp: Stamp, result: Result<(), SendError<Message>>) {
        book.note(format!("{stamp:?} to {} comes to {result:?}", self.index));
        book.with(self.index, |account| match &result {
            Ok(()) => {
                account.taken.insert(stamp);
            }
            Err(SendError::Full(back) | SendError::Stopped(back)) => {
                assert_eq!(back.0.stamp, stamp, "another message comes back");
                account.refused.insert(stamp);
            }
            Err(SendError::NodeDown(_) | SendError::Unwritable(_) | SendError::TooManyCalls(_)) => {
                panic!("{stamp:?} is sent to an actor of this node")
            }
        });
    }

    fn try_send(&self, book: &Book, message: Message) {
        let stamp = message.0.stamp;
        let result = each!(&self.reference, actor => actor.try_send(message));
        self.note_sent(book, stamp, result);
    }

    async fn send(&self, book: &Book, message: Message, limit: Option<Duration>) {
        let stamp = message.0.stamp;
        let result = each!(&self.reference, actor => match limit {
            None => Ok(actor.send(message).await),
            Some(limit) => timeout(limit, actor.send(message)).await,
        });
        match result {
            Ok(result) => self.note_sent(book, stamp, result),
            Err(_) => book.with(self.index, |account| {
                account.refused.insert(stamp);
            }),
        }
    }

    async fn ask(&self, book: &Book, mut message: Message, limit: Option<Duration>) {
        let stamp = message.0.stamp;
        let result = each!(&self.reference, actor => {
            let ask = actor.ask(|reply| {
                message.0.reply = Some(reply);
                message
            });
            match limit {
                None => ask.await,
                Some(limit) => ask.timeout(limit).await,
            }
        });
        book.note(format!("{stamp:?} asked of {} comes to {result:?}", self.index));
        book.with(self.index, |account| {
            let set = match result {
                Ok(reply) => {
                    assert_eq!(reply, stamp, "the reply to another request");
                    assert!(account.begun.contains(&stamp), "a reply before it is handled");
                    &mut account.taken
                }
                Err(AskError::NoReply) => &mut account.taken,
                Err(AskError::Full | AskError::Stopped) => &mut account.refused,
                Err(_) => &mut account.unsure,
            };
            set.insert(stamp);
        });
    }
}

/// A task that does a few random things to random actors.
struct Client {
    number: usize,
    sent: u32,
    random: Random,
    targets: Vec<Target>,
    book: Book,
}

impl Client {
    fn message(&mut self, depth: u32) -> Message {
        let stamp = (self.number, self.sent);
        self.sent += 1;
        let what = match self.random.below(40) {
            0..4 => What::Yield,
            4..10 => What::Sleep(self.random.below(40)),
            10..16 if depth == 0 => {
                let target = self.pick();
                // In the name of another sender, because the actor sends it when it handles the
                // outer message.
                let mut inner = self.message(1);
                inner.0.stamp.0 += 100 * (1 + inner.0.stamp.1 as usize);
                What::Forward(target, inner)
            }
            16 => What::Panic,
            17 => What::Fail,
            18 => What::StopItself,
            _ => What::Nothing,
        };
        Message(Box::new(Body { stamp, what, reply: None, _alive: Alive::new(&self.book) }))
    }

    fn pick(&mut self) -> Target {
        let index = self.random.below(self.targets.len() as u64) as usize;
        self.targets[index].clone()
    }

    async fn run(mut self) {
        for _ in 0..3 + self.random.below(12) {
            let target = self.pick();
            let limit = Duration::from_micros(self.random.below(60));
            let limit = (self.random.below(3) == 0).then_some(limit);
            let book = self.book.clone();
            match self.random.below(40) {
                0..16 => target.send(&book, self.message(0), limit).await,
                16..24 => target.try_send(&book, self.message(0)),
                24..32 => target.ask(&book, self.message(0), limit).await,
                32..34 => evenkeel::yield_now().await,
                34..36 => sleep(Duration::from_micros(self.random.below(40))).await,
                36 => each!(&target.reference, actor => actor.stop()),
                37 => {
                    book.with(target.index, |account| account.may_leave = true);
                    match self.random.below(2) == 0 {
                        true => each!(&target.reference, actor => actor.kill()),
                        false => target.any().stop_now(),
                    }
                }
                _ if self.targets.len() > 1 => {
                    let index = self.random.below(self.targets.len() as u64) as usize;
                    self.targets.remove(index);
                }
                _ => {}
            }
        }
    }
}

/// Runs a random program to its end and checks it; returns its events.
async fn program(seed: u64) -> Vec<String> {
    let mut random = Random::new(seed);
    let book = Book::default();
    let actors: Vec<_> =
        (0..1 + random.below(4) as usize).map(|n| Target::spawn(n, &book, &mut random)).collect();
    let clients: Vec<_> = (0..1 + random.below(4) as usize)
        .map(|number| Client {
            number,
            sent: 0,
            random: Random::new(random.next()),
            targets: actors.iter().map(|(target, _)| target.clone()).collect(),
            book: book.clone(),
        })
        .map(|client| evenkeel::spawn(client.run()))
        .collect();
    for client in clients {
        client.await.unwrap();
    }
    let (told, ends): (Vec<_>, Vec<_>) = actors
        .into_iter()
        // The others handle their messages and stop when their last reference is gone.
        .map(|(actor, system)| {
            ((random.below(2) == 0).then(|| actor.any()), (actor.drops(), system))
        })
        .unzip();
    told.iter().flatten().for_each(AnyActor::stop);
    while !book.lock().accounts.iter().all(|account| account.has_ended) {
        sleep(Duration::from_micros(100)).await;
    }
    while !told.iter().flatten().all(AnyActor::is_stopped) {
        sleep(Duration::from_micros(100)).await;
    }
    // An actor counts its remaining messages after its end, and drops them then: on several workers
    // the kernel may stop its thread in between, for longer than any fixed wait. The check below
    // finds a message that is never dropped.
    for _ in 0..10_000 {
        if book.lock().alive == 0 {
            break;
        }
        sleep(Duration::from_micros(100)).await;
    }
    let ledger = book.lock();
    for (account, (drops, system)) in ledger.accounts.iter().zip(&ends) {
        // Replies to abandoned asks are not the actor's messages.
        let late = system.dead_letters_of(DeadLetterKind::LateReply);
        check(account, *drops, system.dead_letters() - late);
    }
    assert_eq!(ledger.alive, 0, "of {} messages these are still there", ledger.made);
    ledger.log.clone()
}

fn check(account: &Account, drops: bool, dead: u64) {
    let begun: BTreeSet<_> = account.begun.iter().copied().collect();
    assert_eq!(begun.len(), account.begun.len(), "a message came twice: {account:?}");
    let mut last = BTreeMap::new();
    for &(sender, number) in &account.begun {
        let before = last.insert(sender, number);
        assert!(before < Some(number), "the order of {sender} is not kept: {account:?}");
    }
    assert!(begun.is_disjoint(&account.refused), "a refused message was handled: {account:?}");
    let known: BTreeSet<_> = account.taken.union(&account.unsure).copied().collect();
    assert!(begun.is_subset(&known), "a message from nowhere: {account:?}");
    let lost = account.taken.difference(&begun).count() as u64;
    let most = known.difference(&begun).count() as u64;
    assert!(
        (lost..=most).contains(&dead),
        "{dead} dead letters, not {lost} to {most}: {account:?}"
    );
    if !drops && !account.may_leave {
        assert_eq!(lost, 0, "an actor that stopped in order has left messages: {account:?}");
    }
}

#[test]
fn random_programs_keep_the_model_in_every_order() {
    // A program that waits for an end which never comes must report it soon.
    let options = Options::new(0).max_steps(20_000);
    options.explore(0..10_000, |_| kit::with(|_| program(random(u64::MAX)).map(drop)));
}

#[test]
fn one_program_keeps_the_model_in_many_orders() {
    for program_seed in 0..5 {
        kit::explore(0..200, |_| program(program_seed).map(drop));
    }
}

#[test]
fn a_random_program_is_the_same_a_hundred_times_with_its_seed_and_another_with_others() {
    let log = |seed| kit::run(seed, |_| program(4));
    let first = log(8);
    assert!(first.len() > 20);
    for _ in 0..100 {
        assert_eq!(log(8), first);
    }
    let others: BTreeSet<_> = (0..50).map(log).collect();
    assert!(others.len() > 45, "{}", others.len());
}

#[test]
fn random_programs_keep_the_model_on_several_workers() {
    let runtime = evenkeel::Builder::new().workers(3).build().unwrap();
    for seed in 0..200 {
        runtime.block_on(async { evenkeel::spawn(program(seed)).await.unwrap() });
    }
}
