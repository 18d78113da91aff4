//! Quick tasks that wake each other, gathered at one worker and spread again. A debug build's polls
//! may be too long for it: there these tests say that nothing is lost.

use common::until::until;
use common::watchdog::watchdog;
use evenkeel::sync::Semaphore;
use evenkeel::{Builder, JoinHandle, Runtime, block_on};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

mod common {
    pub(crate) mod until;
    pub(crate) mod watchdog;
}

/// Long enough for workers to gather tasks and to spread them, some ten times.
const GATHERS: Duration = Duration::from_millis(100);

/// Tasks that push each other out of semaphores. Half of them have a permit, and take it to a
/// semaphore that they choose by chance.
struct Churn {
    stop: Arc<AtomicBool>,
    spots: Arc<[Semaphore]>,
    /// The turns of each task.
    turns: Arc<[AtomicUsize]>,
    tasks: Vec<JoinHandle<()>>,
}

impl Churn {
    fn start(runtime: &Runtime, tasks: usize) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let spots: Arc<[Semaphore]> = (0..tasks / 2).map(|_| Semaphore::empty()).collect();
        let turns: Arc<[_]> = (0..tasks).map(|_| AtomicUsize::new(0)).collect();
        let task = |me| runtime.spawn(push_out(spots.clone(), me, turns.clone(), stop.clone()));
        let tasks = (0..tasks).map(task).collect();
        Self { stop, spots, turns, tasks }
    }

    /// Blocks this thread until each task has had another turn.
    fn go_on(&self) {
        let turns = || self.turns.iter().map(|turns| turns.load(Ordering::Relaxed));
        let before: Vec<_> = turns().collect();
        until(|| turns().zip(&before).all(|(now, &before)| now > before));
    }

    /// Ends the tasks.
    fn end(self) {
        self.stop.store(true, Ordering::Relaxed);
        for spot in &*self.spots {
            (0..self.tasks.len()).for_each(|_| spot.hand_over(()));
        }
        self.tasks.into_iter().for_each(|task| block_on(task).unwrap());
    }
}

async fn push_out(
    spots: Arc<[Semaphore]>,
    me: usize,
    turns: Arc<[AtomicUsize]>,
    stop: Arc<AtomicBool>,
) {
    let mut random = me as u64;
    let mut spot = &spots[me % spots.len()];
    if me >= spots.len() {
        spot.hand_over(());
    }
    for turn in 1.. {
        spot.take().await;
        if stop.load(Ordering::Relaxed) {
            return;
        }
        // No locked instruction, which would order what this turn tests.
        turns[me].store(turn, Ordering::Relaxed);
        random = random.wrapping_mul(0x5851_F42D_4C95_7F2D).wrapping_add(me as u64 | 1);
        spot = &spots[(random >> 33) as usize % spots.len()];
        spot.hand_over(());
    }
}

fn undone(runtime: &Runtime) -> u64 {
    runtime.metrics().processors.iter().map(|processor| processor.splits_undone).sum()
}

#[test]
fn tasks_of_two_workers_are_gathered_and_none_is_lost() {
    let _watchdog = watchdog();
    let runtime = Builder::new().workers(2).build().unwrap();
    let churn = Churn::start(&runtime, 100);
    thread::sleep(GATHERS);
    while undone(&runtime) < 3 && !cfg!(debug_assertions) {
        thread::sleep(Duration::from_millis(1));
    }
    churn.go_on();
    churn.end();
}

#[test]
fn nothing_is_lost_on_many_workers() {
    let _watchdog = watchdog();
    let runtime = Builder::new().workers(8).build().unwrap();
    for tasks in [4, 40, 4_000] {
        let churn = Churn::start(&runtime, tasks);
        thread::sleep(GATHERS);
        churn.go_on();
        churn.end();
    }
}

/// A long poll comes among quick ones: the others go on, whatever is together.
#[test]
fn tasks_behind_a_long_poll_go_on() {
    let _watchdog = watchdog();
    let runtime = Builder::new().workers(2).build().unwrap();
    let churn = Churn::start(&runtime, 100);
    for _ in 0..10 {
        thread::sleep(GATHERS / 5);
        let stuck = Arc::new(AtomicBool::new(true));
        let task = runtime.spawn({
            let stuck = stuck.clone();
            async move {
                while stuck.load(Ordering::Relaxed) {
                    std::hint::spin_loop();
                }
            }
        });
        for _ in 0..100 {
            block_on(runtime.spawn(async {})).unwrap();
        }
        churn.go_on();
        stuck.store(false, Ordering::Relaxed);
        block_on(task).unwrap();
    }
    churn.end();
}
