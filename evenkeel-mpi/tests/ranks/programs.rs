//! The programs of the ranks.

use crate::jobs::OTHER;
use evenkeel_actor::node::{DownReason, Event, NodeId, Refusal, Transport};
use evenkeel_actor::remote::Node;
use evenkeel_actor::{Actor, AskError, Context, ExitReason, Handled, ReplyTo};
use evenkeel_mpi::{Config, MpiTransport, StartError};
use evenkeel_node::altered::{Alter, Altered};
use evenkeel_policy::random::Random;
use mpi::topology::SimpleCommunicator;
use mpi::traits::{Communicator, Destination, Source};
use std::collections::HashMap;
use std::process::{self, Command, ExitCode};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

/// Longer than any job may take.
const FOR_EVER: Duration = Duration::from_secs(3600);

/// Runs a program by name; prints `rank N: end` if it gets there.
pub(crate) fn run(program: &str) -> ExitCode {
    let rank = match program {
        "order" => exchange(Rank::start(&Config::new()), 600, &mut || Duration::ZERO),
        "delays" => {
            let mut rank = Rank::start(&Config::new().window(4));
            let mut random = Random::new(u64::from(rank.transport.local().number()));
            rank.delays = Some(Random::new(random.next()));
            exchange(rank, 150, &mut || Duration::from_micros(random.next() % 300))
        }
        "long" => long(),
        "small" => small(),
        "full" => full(8),
        "full_of_long" => full(9_000),
        "in_flight" => in_flight(),
        "leave" => leave(),
        "early" => early(),
        "dropped" => dropped(),
        "wait" => wait(),
        "handler" => handler_panics(1),
        "handler_on_a_thread" => handler_panics(2),
        "part" => part_panics(1),
        "part_on_a_thread" => part_panics(2),
        "host" => host_panics(1),
        "host_on_a_thread" => host_panics(2),
        "no_such_rank" => no_such_rank(),
        "early_node" => early_node(1),
        "early_node_on_a_thread" => early_node(2),
        "twice" => twice(),
        "differs" => differs(),
        "programs" => programs(),
        "programs_of_one_name" => programs_of_one_name(),
        "panic" => lost(|| panic!("in mid-stream")),
        "kill" => lost(kill),
        "exit" => lost(|| process::exit(0)),
        _ => panic!("there is no program {program}"),
    };
    println!("rank {rank}: end");
    ExitCode::SUCCESS
}

/// A rank, with a record of its events.
struct Rank {
    transport: MpiTransport,
    others: Vec<NodeId>,
    received: HashMap<NodeId, u32>,
    left: Vec<NodeId>,
    /// Buffers that were given to the transport and have not come back.
    away: u32,
    delays: Option<Random>,
}

impl Rank {
    /// Starts, and waits until all other ranks are up.
    fn start(config: &Config) -> Self {
        let transport = MpiTransport::start(config).expect("the job starts");
        let own = transport.local().number();
        let others: Vec<_> =
            (0..transport.nodes()).filter(|&rank| rank != own).map(NodeId::new).collect();
        let mut rank = Self {
            transport,
            others,
            received: HashMap::new(),
            left: Vec::new(),
            away: 0,
            delays: None,
        };
        for node in rank.others.clone() {
            assert_eq!(rank.transport.poll(), Some(Event::Up { node }));
        }
        rank
    }

    fn number(&self) -> u32 {
        self.transport.local().number()
    }

    /// Takes one event, if there is one, and returns whether there was one. A frame must be the
    /// next of its sender.
    fn step(&mut self) -> bool {
        match self.transport.poll() {
            None => return false,
            Some(Event::Received { from, frame }) => {
                assert!(!self.left.contains(&from), "a frame of {from} after it has left");
                let number = self.received.entry(from).or_default();
                let expected = content(from, self.transport.local(), *number, frame.len());
                assert!(frame == expected, "frame {number} of {from} is another");
                *number += 1;
            }
            Some(Event::Sent { .. }) => self.away -= 1,
            Some(Event::Down { node, reason: DownReason::Left }) => self.left.push(node),
            Some(event) => panic!("{event:?} was not to be expected"),
        }
        true
    }

    /// Takes events until `done`.
    fn until(&mut self, mut done: impl FnMut(&Self) -> bool) {
        while !done(self) {
            if !self.step() {
                let most = match &mut self.delays {
                    Some(random) => Duration::from_micros(random.next() % 500),
                    None => FOR_EVER,
                };
                self.transport.wait(most);
            }
        }
    }

    /// Sends the frame with a number, and tries until it is accepted.
    fn send(&mut self, to: NodeId, number: u32, length: usize) {
        let mut frame = content(self.transport.local(), to, number, length);
        while let Err(refused) = self.transport.send(to, frame) {
            assert_eq!(refused.why, Refusal::Full);
            frame = refused.frame;
            if !self.step() {
                self.transport.wait(Duration::from_millis(1));
            }
        }
        self.away += 1;
    }

    fn refusal(&mut self, to: NodeId, frame: Vec<u8>) -> Refusal {
        let refused = self.transport.send(to, frame.clone()).expect_err("it is to be refused");
        assert_eq!(refused.frame, frame, "it comes back unchanged");
        refused.why
    }

    /// Returns how many frames to one node are accepted without a poll.
    fn fill(&mut self, to: NodeId, length: usize) -> u32 {
        for number in 0.. {
            let frame = content(self.transport.local(), to, number, length);
            if let Err(refused) = self.transport.send(to, frame) {
                assert_eq!(refused.why, Refusal::Full);
                return number;
            }
            self.away += 1;
        }
        unreachable!("a loop without an end")
    }

    /// Leaves, waits until all ranks have left and all buffers are back, and ends.
    fn end(mut self) -> u32 {
        self.transport.leave();
        self.until(|rank| rank.left.len() == rank.others.len() && !rank.transport.is_sending());
        while self.step() {}
        assert_eq!(self.away, 0, "each buffer has come back once");
        self.number()
    }
}

/// Returns the contents of the frame with a number between two nodes.
fn content(from: NodeId, to: NodeId, number: u32, length: usize) -> Vec<u8> {
    let seed =
        (u64::from(from.number()) << 40) ^ (u64::from(to.number()) << 32) ^ u64::from(number);
    let mut random = Random::new(seed);
    let mut bytes = Vec::with_capacity(length + 8);
    while bytes.len() < length {
        bytes.extend(random.next().to_le_bytes());
    }
    bytes.truncate(length);
    bytes
}

/// A mix of all lengths that are handled differently.
const LENGTHS: [usize; 11] = [0, 1, 8, 3_999, 4_000, 4_001, 70_000, 12, 0, 8_192, 1_000];

/// Each rank sends frames of all lengths to each other rank, with pauses.
fn exchange(mut rank: Rank, frames: u32, delay: &mut dyn FnMut() -> Duration) -> u32 {
    let mut lengths = Random::new(77);
    for number in 0..frames {
        for to in rank.others.clone() {
            let length = LENGTHS[(lengths.next() % LENGTHS.len() as u64) as usize];
            rank.send(to, number, length);
        }
        let delay = delay();
        if !delay.is_zero() {
            thread::sleep(delay);
        }
    }
    rank.until(|rank| rank.others.iter().all(|other| rank.received.get(other) == Some(&frames)));
    rank.end()
}

fn long() -> u32 {
    const LONGEST: usize = 20 << 20;
    let mut rank = Rank::start(&Config::new().longest_frame(LONGEST));
    assert_eq!(rank.transport.longest_frame(), LONGEST);
    let other = rank.others[0];
    assert_eq!(rank.refusal(other, vec![0; LONGEST + 1]), Refusal::TooLong);
    for number in 0..6 {
        rank.send(other, number, LONGEST - number as usize);
    }
    rank.until(|rank| rank.received.get(&other) == Some(&6));
    rank.end()
}

fn small() -> u32 {
    const FRAMES: u32 = 200_000;
    let mut rank = Rank::start(&Config::new());
    let other = rank.others[0];
    if rank.number() == 0 {
        for number in 0..FRAMES {
            rank.send(other, number, 8);
        }
    } else {
        rank.until(|rank| rank.received.get(&other) == Some(&FRAMES));
    }
    rank.end()
}

/// Rank 1 does not poll until rank 0 is full. They agree on that by a message of bare MPI, which
/// also makes progress with frames under way.
fn full(length: usize) -> u32 {
    const WINDOW: u32 = 16;
    let mut rank = Rank::start(&Config::new().window(WINDOW));
    let (other, world) = (rank.others[0], SimpleCommunicator::world());
    if rank.number() == 0 {
        let sent = rank.fill(other, length);
        // The posted receives take some frames without a poll, but only when MPI makes progress,
        // which it does not here.
        assert!((WINDOW - 1..=WINDOW + 8).contains(&sent), "{sent} frames");
        world.process_at_rank(1).send(&sent);
        rank.until(|rank| rank.received.get(&other) == Some(&1));
        // There is room again.
        rank.send(other, sent, 8);
        rank.send(other, sent + 1, 8);
    } else {
        let mut sent = 0_u32;
        world.process_at_rank(0).receive_into(&mut sent);
        rank.until(|rank| rank.received.get(&other) == Some(&sent));
        rank.send(other, 0, 8);
        rank.until(|rank| rank.received.get(&other) == Some(&(sent + 2)));
    }
    rank.end()
}

/// Frames to two ranks that do not poll: one bound holds for both together.
fn in_flight() -> u32 {
    let mut rank = Rank::start(&Config::new().in_flight(10));
    let world = SimpleCommunicator::world();
    if rank.number() == 0 {
        // Long frames stay in flight until they are matched, with or without their announcements.
        let first = rank.fill(NodeId::new(1), 100_000);
        let second = rank.fill(NodeId::new(2), 100_000);
        assert!((5..=10).contains(&first), "{first} frames");
        assert!(second <= 5, "{second} frames");
        world.process_at_rank(1).send(&first);
        world.process_at_rank(2).send(&second);
    } else {
        let mut sent = 0_u32;
        world.process_at_rank(0).receive_into(&mut sent);
        let first = NodeId::new(0);
        rank.until(|rank| rank.received.get(&first).copied().unwrap_or(0) == sent);
    }
    rank.end()
}

/// Rank 1 sends, and leaves at once.
fn leave() -> u32 {
    let mut rank = Rank::start(&Config::new());
    let leaver = NodeId::new(1);
    if rank.transport.local() == leaver {
        for to in rank.others.clone() {
            for number in 0..50 {
                rank.send(to, number, LENGTHS[number as usize % LENGTHS.len()]);
            }
        }
        rank.transport.leave();
        rank.transport.leave();
        let to = rank.others[0];
        assert_eq!(rank.refusal(to, vec![1]), Refusal::Down, "a rank that leaves sends no more");
    } else {
        rank.until(|rank| rank.left.contains(&leaver));
        assert_eq!(rank.received.get(&leaver), Some(&50), "down comes after the last frame");
        assert_eq!(rank.refusal(leaver, vec![1, 2]), Refusal::Down);
    }
    rank.end()
}

/// Rank 0 drops its transport at once, while the others go on for a while, and send to it.
fn early() -> u32 {
    let mut rank = Rank::start(&Config::new());
    if rank.number() == 0 {
        return 0;
    }
    let first = NodeId::new(0);
    for number in 0..100 {
        let frame = content(rank.transport.local(), first, number, 20_000);
        if rank.transport.send(first, frame).is_ok() {
            rank.away += 1;
        }
        while rank.step() {}
    }
    let other = rank.others[1];
    exchange_with(&mut rank, other, 200);
    rank.end()
}

fn exchange_with(rank: &mut Rank, other: NodeId, frames: u32) {
    for number in 0..frames {
        rank.send(other, number, LENGTHS[number as usize % LENGTHS.len()]);
    }
    rank.until(|rank| rank.received.get(&other) == Some(&frames));
}

/// No rank calls `leave`, and long frames are under way.
fn dropped() -> u32 {
    let mut rank = Rank::start(&Config::new());
    for to in rank.others.clone() {
        for number in 0..20 {
            rank.send(to, number, 300_000);
        }
    }
    rank.number()
}

fn wait() -> u32 {
    let mut rank = Rank::start(&Config::new());
    let other = rank.others[0];
    let waker = rank.transport.waker();
    // A call of the waker before the wait.
    waker();
    rank.transport.wait(FOR_EVER);
    // Without a call a wait ends by itself.
    rank.transport.wait(Duration::ZERO);
    rank.transport.wait(Duration::from_millis(3));
    // A call from another thread, at any time.
    for pause in [0, 1, 30, 300] {
        let waker = waker.clone();
        let ringer = thread::spawn(move || {
            thread::sleep(Duration::from_millis(pause));
            waker();
        });
        rank.transport.wait(FOR_EVER);
        ringer.join().expect("the ringer does not panic");
    }
    // A frame after a long silence.
    if rank.number() == 0 {
        thread::sleep(Duration::from_millis(100));
        rank.send(other, 0, 8);
    } else {
        rank.until(|rank| rank.received.get(&other) == Some(&1));
    }
    rank.end()
}

/// Rank 0 leaves, and goes on with other work, for which rank 1 waits before it leaves.
fn early_node(workers: usize) -> u32 {
    let mark =
        std::env::temp_dir().join(format!("evenkeel-mpi-{}", std::os::unix::process::parent_id()));
    let runtime = evenkeel::Builder::new().workers(workers).reliefs(0).build().expect("a runtime");
    let part = runtime.spawn(async move {
        let start = || MpiTransport::start(&Config::new());
        let node = Node::builder().start(start).await.expect("a node");
        node.barrier().await.expect("all are there");
        if node.id() == NodeId::new(0) {
            drop(evenkeel::spawn(async move {
                evenkeel::time::sleep(Duration::from_millis(200)).await;
                std::fs::write(mark, b"").expect("a file can be written");
            }));
        } else {
            while !mark.exists() {
                evenkeel::time::sleep(Duration::from_millis(5)).await;
            }
            std::fs::remove_file(mark).expect("it is there");
        }
        node.leave().await;
        node.id().number()
    });
    evenkeel::block_on(part).expect("it does not panic")
}

/// Panics at every question.
struct Panics;

impl Actor for Panics {
    type Message = ReplyTo<u32>;

    async fn handle(&mut self, _reply: ReplyTo<u32>, _context: &mut Context<Self>) -> Handled {
        panic!("in a handler");
    }
}

fn node(workers: usize) -> (evenkeel::Runtime, Node) {
    let runtime = evenkeel::Builder::new().workers(workers).reliefs(0).build().expect("a runtime");
    let start = || MpiTransport::start(&Config::new());
    let node = runtime.block_on(Node::builder().start(start)).expect("a node");
    node.register_script("panics", |()| Panics);
    runtime.block_on(node.barrier()).expect("all are there");
    (runtime, node)
}

/// A handler of rank 1 panics, which ends only its actor.
fn handler_panics(workers: usize) -> u32 {
    let (runtime, node) = node(workers);
    runtime.block_on(async {
        if node.id() == NodeId::new(0) {
            let panics = node.spawn_on::<ReplyTo<u32>, _>(NodeId::new(1), "panics", &()).await;
            let panics = panics.expect("it is started");
            assert_eq!(panics.ask(|reply| reply).await, Err(AskError::NoReply));
            let end = panics.stopped().await;
            assert!(matches!(&end, ExitReason::Panicked(how) if &**how == "in a handler"), "{end}");
        }
        node.barrier().await.expect("both nodes go on");
        node.leave().await;
    });
    node.id().number()
}

/// Rank 1 panics outside of all actors: its node is dropped with its owner, and leaves.
fn part_panics(workers: usize) -> u32 {
    let (runtime, node) = node(workers);
    runtime.block_on(async move {
        if node.id() == NodeId::new(1) {
            panic!("outside of all actors");
        }
        assert!(node.barrier().await.is_err(), "rank 1 does not come");
        node.leave().await;
        node.id().number()
    })
}

/// A transport that panics at a poll once the flag is set.
struct Breaks(Arc<AtomicBool>);

impl Alter<MpiTransport> for Breaks {
    fn poll(&mut self, inner: &mut MpiTransport) -> Option<Event> {
        assert!(!self.0.load(Ordering::SeqCst), "in the host");
        inner.poll()
    }
}

/// The host of rank 1's transport panics while both ranks wait in vain.
fn host_panics(workers: usize) -> u32 {
    let runtime = evenkeel::Builder::new().workers(workers).reliefs(0).build().expect("a runtime");
    let breaks = Arc::<AtomicBool>::default();
    let told = Arc::clone(&breaks);
    let start = || {
        let inner = MpiTransport::start(&Config::new())?;
        Ok::<_, StartError>(Altered { inner, by: Breaks(told) })
    };
    runtime.block_on(async move {
        let node = Node::builder().start(start).await.expect("a node");
        node.barrier().await.expect("all are there");
        breaks.store(node.id() == NodeId::new(1), Ordering::SeqCst);
        std::future::pending().await
    })
}

fn no_such_rank() -> u32 {
    let mut rank = Rank::start(&Config::new());
    let own = rank.transport.local();
    assert_eq!(rank.refusal(own, vec![1]), Refusal::Unknown);
    assert_eq!(rank.refusal(NodeId::new(2), vec![1]), Refusal::Unknown);
    assert_eq!(rank.refusal(NodeId::new(u32::MAX), vec![]), Refusal::Unknown);
    rank.end()
}

fn twice() -> u32 {
    let rank = Rank::start(&Config::new());
    let again = MpiTransport::start(&Config::new());
    assert_eq!(again.expect_err("MPI is in use"), StartError::AlreadyInitialised);
    let number = rank.end();
    let again = MpiTransport::start(&Config::new());
    assert_eq!(again.expect_err("MPI was finalised"), StartError::Finalised);
    number
}

/// Rank 0 has another longest frame than all others.
fn differs() -> u32 {
    let first = std::env::var("OMPI_COMM_WORLD_RANK").or_else(|_| std::env::var("PMI_RANK"));
    let rank: u32 = first.expect("mpiexec says it").parse().expect("a number");
    let here = if rank == 0 { 1000 } else { 2000 };
    let error = MpiTransport::start(&Config::new().longest_frame(here));
    assert_eq!(
        error.expect_err("they differ"),
        StartError::Differs {
            what: "longest frame",
            here: here as i64,
            least: 1000,
            greatest: 2000
        }
    );
    rank
}

/// The ranks run programs with different names.
fn programs() -> u32 {
    let error = MpiTransport::start(&Config::new()).expect_err("they are different");
    let StartError::Programs { here, among } = &error else { panic!("{error}") };
    assert!(among.contains(here) && among[0] != among[1], "{error}");
    let own = std::env::current_exe().expect("a program knows its path");
    assert_eq!(own.file_name().expect("it has a name"), here.as_str());
    assert!(error.to_string().contains("start the same program on all ranks"), "{error}");
    u32::from(here == OTHER)
}

/// The ranks run programs with different names, which declare one common name.
fn programs_of_one_name() -> u32 {
    Rank::start(&Config::new().program("both")).end()
}

/// Rank 1 is lost in the middle of an endless stream.
fn lost(how: fn()) -> u32 {
    let mut rank = Rank::start(&Config::new());
    for number in 0_u32.. {
        for to in rank.others.clone() {
            rank.send(to, number, LENGTHS[number as usize % LENGTHS.len()]);
        }
        while rank.step() {}
        if rank.number() == 1 && number == 1_000 {
            how();
        }
    }
    rank.end()
}

/// Kills this process by a signal that it cannot catch.
fn kill() {
    let own = process::id().to_string();
    let status = Command::new("kill").args(["-KILL", &own]).status();
    panic!("kill does not kill: {status:?}");
}
