//! A run: light tasks, their sender, and the load beside them.
//!
//! **Roles.** The *sender* is a thread outside of the runtime; it goes through its list, and for
//! each entry writes the time and makes the call. A *light task* reads the time when it runs, and
//! writes the difference. The tasks of the *load* read a flag, and end when it is set.
//!
//! **Steps.** 1. The light tasks that will be woken are spawned, and park. 2. The load starts. 3.
//! The sender sends. 4. It waits until all light tasks have run, for at most its patience, while
//! the load goes on. 5. The delays are read. 6. The flag is set, and all tasks end.
//!
//! **What counts.** A light task that has not run at step 5 has never run. Step 6 is checked: each
//! task ends, and each light task has run once.

use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use crate::WARM_UP;
use crate::delays::{Sent, micros};
use crate::load::{self, Load};
use crate::sends::{Call, Kind, lights};
use suite::kit::fault::Fault;
use suite::kit::runtime::{Parker, Runtime};

/// The longest time for tasks to park or to end. The slowest honest runtime needs milliseconds.
const LIMIT: Duration = Duration::from_secs(10);

/// How often the sender checks whether all tasks have parked, run or ended.
const LOOK: Duration = Duration::from_micros(500);

/// A time that has not been written.
const NONE: u64 = u64::MAX;

/// One light task.
struct Light {
    /// When it was woken or spawned, in nanoseconds of the run.
    sent: AtomicU64,
    /// Its delay, in nanoseconds.
    delay: AtomicU64,
}

/// State of the sender and the tasks.
pub(crate) struct Board {
    began: Instant,
    /// The tasks that park and are woken.
    wakes: Box<[Light]>,
    /// The tasks that are spawned.
    spawns: Box<[Light]>,
    /// Light tasks that have parked, or are about to.
    parked: AtomicUsize,
    /// Light tasks that have run.
    ran: AtomicUsize,
    /// Light tasks that have run twice.
    twice: AtomicUsize,
    /// Tasks that have not ended.
    alive: AtomicUsize,
    /// The tasks of the load end.
    over: AtomicBool,
}

impl Board {
    fn new(wakes: usize, spawns: usize) -> Self {
        let light = |_| Light { sent: AtomicU64::new(NONE), delay: AtomicU64::new(NONE) };
        Self {
            began: Instant::now(),
            wakes: (0..wakes).map(light).collect(),
            spawns: (0..spawns).map(light).collect(),
            parked: AtomicUsize::new(0),
            ran: AtomicUsize::new(0),
            twice: AtomicUsize::new(0),
            alive: AtomicUsize::new(0),
            over: AtomicBool::new(false),
        }
    }

    fn now(&self) -> u64 {
        u64::try_from(self.began.elapsed().as_nanos()).unwrap_or(NONE - 1)
    }

    /// Writes the time before the call that wakes or spawns a light task.
    fn send(&self, light: &Light) {
        light.sent.store(self.now(), Ordering::Release);
    }

    /// Writes the delay of a light task that runs.
    fn run(&self, light: &Light) {
        let delay = self.now().saturating_sub(light.sent.load(Ordering::Acquire));
        if light.delay.swap(delay, Ordering::Relaxed) != NONE {
            self.twice.fetch_add(1, Ordering::Relaxed);
        }
        // Release: a thread that sees the count sees the delays.
        self.ran.fetch_add(1, Ordering::Release);
    }

    /// Reads the delays of light tasks, of which those that were never sent have never run.
    fn read(lights: &[Light], first: u64, last: u64) -> Vec<Sent> {
        let read = |light: &Light| {
            let (sent, delay) = (&light.sent, &light.delay);
            match (sent.load(Ordering::Acquire), delay.load(Ordering::Relaxed)) {
                (NONE, _) => (last - first, None),
                (sent, NONE) => (sent.saturating_sub(first), None),
                (sent, delay) => (sent.saturating_sub(first), Some(delay)),
            }
        };
        lights.iter().map(read).collect()
    }
}

/// A task's part in the run. Dropping it reports the task's end.
pub(crate) struct Alive(Arc<Board>);

impl Alive {
    pub(crate) fn new(board: &Arc<Board>) -> Self {
        board.alive.fetch_add(1, Ordering::Relaxed);
        Self(board.clone())
    }

    /// Returns whether the tasks of the load end.
    #[inline]
    pub(crate) fn is_over(&self) -> bool {
        self.0.over.load(Ordering::Relaxed)
    }

    pub(crate) fn board(&self) -> &Arc<Board> {
        &self.0
    }
}

impl Drop for Alive {
    fn drop(&mut self) {
        self.0.alive.fetch_sub(1, Ordering::Release);
    }
}

/// What is run on a runtime.
#[derive(Clone, Copy)]
pub(crate) struct Run<'a> {
    /// The tasks beside the light ones.
    pub(crate) load: Load,
    /// What the sender sends, in order.
    pub(crate) sends: &'a [Call],
    /// How long after the last send a light task may run.
    pub(crate) patience: Duration,
}

/// All delays of a run.
pub(crate) struct Ran {
    /// From the first send to the last, in nanoseconds.
    pub(crate) time: u64,
    /// The tasks that were woken.
    pub(crate) wakes: Vec<Sent>,
    /// The tasks that were spawned.
    pub(crate) spawns: Vec<Sent>,
    /// The lateness of the sender that 999 of 1,000 sends do not exceed, in microseconds.
    pub(crate) sender_us: Option<f64>,
}

/// Runs it once.
pub(crate) fn run<R: Runtime>(workers: usize, run: Run<'_>) -> Result<Ran, Fault> {
    let runtime = R::start(workers).map_err(Fault::Start)?;
    let (parked, spawned) = lights(run.sends);
    let board = Arc::new(Board::new(parked, spawned));
    let tokens: Vec<R::Parker> = (0..parked).map(|_| R::Parker::default()).collect();
    runtime.block_on(async {
        for (number, token) in tokens.iter().enumerate() {
            drop(R::spawn(woken(Alive::new(&board), token.clone(), number)));
        }
    });
    let ready = wait_for(|| board.parked.load(Ordering::Acquire), |n| n == parked, LIMIT);
    if ready < parked {
        return Err(Fault::Asleep { ready, tasks: parked, after: LIMIT });
    }
    let unparkers: Unparkers<R> = tokens.iter().map(Parker::unparker).collect();
    runtime.block_on(async { run.load.start::<R>(&board) });
    thread::sleep(WARM_UP);
    let first = board.now();
    let late = runtime.block_on(async { send::<R>(&board, &unparkers, run.sends) });
    let last = board.now();
    let all = parked + spawned;
    wait_for(|| board.ran.load(Ordering::Acquire), |ran| ran == all, run.patience);
    let outcome = Ran {
        time: last - first,
        wakes: Board::read(&board.wakes, first, last),
        spawns: Board::read(&board.spawns, first, last),
        sender_us: late,
    };
    board.over.store(true, Ordering::Relaxed);
    let left = wait_for(|| board.alive.load(Ordering::Acquire), |alive| alive == 0, LIMIT);
    if left > 0 {
        return Fault::check(format!("{left} tasks have not ended {LIMIT:?} after the stop"));
    }
    let (ran, twice) = (board.ran.load(Ordering::Acquire), board.twice.load(Ordering::Relaxed));
    if (ran, twice) != (all, 0) {
        return Fault::check(format!(
            "{ran} light tasks ran instead of {all}, {twice} of them twice"
        ));
    }
    Ok(outcome)
}

/// Handles that wake the parked light tasks. Traps share them.
type Unparkers<R> = Arc<[<<R as Runtime>::Parker as Parker>::Unparker]>;

/// Parks, and writes its delay when it has been woken.
async fn woken<P: Parker>(alive: Alive, token: P, number: usize) {
    token.attach().await;
    let board = alive.board();
    board.parked.fetch_add(1, Ordering::Release);
    token.park().await;
    board.run(&board.wakes[number]);
}

/// Writes its delay.
fn spawned(board: &Arc<Board>, number: usize) -> impl Future<Output = ()> + Send + 'static {
    let alive = Alive::new(board);
    async move {
        let board = alive.board();
        board.run(&board.spawns[number]);
    }
}

/// Sends everything from this thread, within the runtime, and returns the lateness that 999 of
/// 1,000 sends do not exceed, in microseconds.
fn send<R: Runtime>(board: &Arc<Board>, unparkers: &Unparkers<R>, sends: &[Call]) -> Option<f64> {
    let began = Instant::now();
    let mut late = Vec::with_capacity(sends.len());
    for send in sends {
        if let Some(pause) = send.at.checked_sub(began.elapsed()) {
            thread::sleep(pause);
        }
        late.push(began.elapsed().saturating_sub(send.at).as_nanos() as u64);
        match send.kind {
            Kind::Wake(number) => {
                board.send(&board.wakes[number]);
                R::Parker::unpark(&unparkers[number]);
            }
            Kind::Spawn(number) => {
                // The future is made before the time is read.
                let task = spawned(board, number);
                board.send(&board.spawns[number]);
                drop(R::spawn(task));
            }
            Kind::Compute => drop(R::spawn(load::compute(board))),
            Kind::Block => drop(R::spawn(load::block(board))),
            Kind::Trap(number, held) => {
                let (alive, unparkers) = (Alive::new(board), unparkers.clone());
                drop(R::spawn(async move {
                    let board = alive.board();
                    board.send(&board.wakes[number]);
                    R::Parker::unpark(&unparkers[number]);
                    load::busy(held);
                }));
            }
        }
    }
    late.sort_unstable();
    micros(&late, late.len(), 0.999)
}

/// Waits until a count is enough or the limit is over, and returns the count.
fn wait_for(
    count: impl Fn() -> usize,
    is_enough: impl Fn(usize) -> bool,
    limit: Duration,
) -> usize {
    let started = Instant::now();
    loop {
        let seen = count();
        if is_enough(seen) || started.elapsed() > limit {
            return seen;
        }
        thread::sleep(LOOK);
    }
}
