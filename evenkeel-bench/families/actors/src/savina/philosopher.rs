//! philosophers: each of twenty asks an arbitrator for both forks, and asks again at once if one is
//! in use.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use super::stage::{Life, Stage, expect};
use crate::system::{Actor, Flow, System, Table};
use suite::kit::fault::Fault;

/// The number of philosophers, and of forks.
pub(super) const PHILOSOPHERS: usize = 20;

/// For each meal a start, a request, the forks and their return; for each philosopher an end.
/// Refused requests and their answers come on top: their number depends on the schedule.
pub(super) fn messages(meals: u64) -> u64 {
    PHILOSOPHERS as u64 * (4 * meals + 1)
}

/// State that all actors of a run share.
struct Shared<S: System> {
    philosophers: Table<S, Philosopher<S>>,
    arbitrator: OnceLock<S::Ref<Arbitrator<S>>>,
    stage: Arc<Stage>,
    /// The eating philosophers, by their own account.
    eats: [AtomicBool; PHILOSOPHERS],
    meals: AtomicU64,
}

impl<S: System> Shared<S> {
    fn tell(&self, philosopher: usize, message: ToPhilosopher) {
        let philosophers = self.philosophers.get().expect("they are there");
        S::post(&philosophers[philosopher], message);
    }

    fn to_arbitrator(&self, message: ToArbitrator) {
        S::post(self.arbitrator.get().expect("it is spawned first"), message);
    }
}

enum ToArbitrator {
    /// The philosopher at this place wants to eat.
    Hungry(usize),
    /// The philosopher at this place has eaten.
    Done(usize),
    Exit,
}

struct Arbitrator<S: System> {
    shared: Arc<Shared<S>>,
    in_use: [bool; PHILOSOPHERS],
    philosophers: usize,
    _life: Life,
}

/// The neighbour to the right.
fn next(place: usize) -> usize {
    (place + 1) % PHILOSOPHERS
}

impl<S: System> Actor for Arbitrator<S> {
    type Message = ToArbitrator;

    async fn handle(&mut self, message: ToArbitrator) -> Flow {
        match message {
            ToArbitrator::Hungry(place) => {
                let (left, right) = (place, next(place));
                if self.in_use[left] || self.in_use[right] {
                    self.shared.tell(place, ToPhilosopher::Denied);
                } else {
                    self.in_use[left] = true;
                    self.in_use[right] = true;
                    self.shared.tell(place, ToPhilosopher::Eat);
                }
            }
            ToArbitrator::Done(place) => {
                self.in_use[place] = false;
                self.in_use[next(place)] = false;
            }
            ToArbitrator::Exit => {
                self.philosophers -= 1;
                if self.philosophers == 0 {
                    return Flow::Stop;
                }
            }
        }
        Flow::Go
    }
}

enum ToPhilosopher {
    Start,
    Denied,
    Eat,
}

struct Philosopher<S: System> {
    shared: Arc<Shared<S>>,
    place: usize,
    meals: u32,
    left: u32,
    _life: Life,
}

impl<S: System> Philosopher<S> {
    /// Eats, which takes no time, and checks that neither neighbour eats.
    fn eat(&mut self) {
        let Shared { eats, stage, .. } = &*self.shared;
        eats[self.place].store(true, Ordering::SeqCst);
        let neighbours = [next(self.place), (self.place + PHILOSOPHERS - 1) % PHILOSOPHERS];
        for neighbour in neighbours {
            if eats[neighbour].load(Ordering::SeqCst) {
                stage.object(format!("{} and {neighbour} eat at once", self.place));
            }
        }
        eats[self.place].store(false, Ordering::SeqCst);
        self.meals += 1;
    }
}

impl<S: System> Actor for Philosopher<S> {
    type Message = ToPhilosopher;

    async fn handle(&mut self, message: ToPhilosopher) -> Flow {
        match message {
            ToPhilosopher::Start | ToPhilosopher::Denied => {
                self.shared.to_arbitrator(ToArbitrator::Hungry(self.place));
                return Flow::Go;
            }
            ToPhilosopher::Eat => self.eat(),
        }
        self.shared.to_arbitrator(ToArbitrator::Done(self.place));
        self.left -= 1;
        if self.left > 0 {
            self.shared.tell(self.place, ToPhilosopher::Start);
            return Flow::Go;
        }
        self.shared.meals.fetch_add(self.meals.into(), Ordering::Relaxed);
        self.shared.to_arbitrator(ToArbitrator::Exit);
        Flow::Stop
    }
}

pub(super) async fn run<S: System>(spawner: S::Spawner, meals: u32) -> Result<Duration, Fault> {
    let stage = Stage::of(PHILOSOPHERS + 1);
    let started = Instant::now();
    let shared = Arc::new(Shared::<S> {
        philosophers: OnceLock::new(),
        arbitrator: OnceLock::new(),
        stage: stage.clone(),
        eats: [const { AtomicBool::new(false) }; PHILOSOPHERS],
        meals: AtomicU64::new(0),
    });
    let arbitrator = Arbitrator {
        shared: shared.clone(),
        in_use: [false; PHILOSOPHERS],
        philosophers: PHILOSOPHERS,
        _life: stage.life(),
    };
    let arbitrator = S::spawn(&spawner, 0, arbitrator).await;
    shared.arbitrator.get_or_init(|| arbitrator);
    let mut philosophers = Vec::with_capacity(PHILOSOPHERS);
    for place in 0..PHILOSOPHERS {
        let life = stage.life();
        let philosopher =
            Philosopher { shared: shared.clone(), place, meals: 0, left: meals, _life: life };
        philosophers.push(S::spawn(&spawner, place, philosopher).await);
    }
    shared.philosophers.get_or_init(|| philosophers.into_boxed_slice());
    (0..PHILOSOPHERS).for_each(|place| shared.tell(place, ToPhilosopher::Start));
    let took = stage.over(started).await?;
    let eaten = shared.meals.load(Ordering::Relaxed);
    expect("meals", eaten, PHILOSOPHERS as u64 * u64::from(meals))?;
    Ok(took)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::peer::tokio::Tokio;

    #[test]
    fn a_neighbour_that_eats_is_seen() {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        for (other, alone) in [(1, false), (PHILOSOPHERS - 1, false), (2, true)] {
            let stage = Stage::of(1);
            let shared = Arc::new(Shared::<Tokio<false>> {
                philosophers: OnceLock::new(),
                arbitrator: OnceLock::new(),
                stage: stage.clone(),
                eats: [const { AtomicBool::new(false) }; PHILOSOPHERS],
                meals: AtomicU64::new(0),
            });
            shared.eats[other].store(true, Ordering::SeqCst);
            let life = stage.life();
            let mut philosopher = Philosopher { shared, place: 0, meals: 0, left: 1, _life: life };
            philosopher.eat();
            drop(philosopher);
            let result = runtime.block_on(stage.over(Instant::now()));
            match result {
                Ok(_) => assert!(alone, "{other}"),
                Err(fault) => assert_eq!(fault.to_string(), format!("0 and {other} eat at once")),
            }
        }
    }
}
