//! chameneos: a hundred creatures meet in pairs at a mall and change colours, until the number of
//! meetings is reached.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use super::stage::{Life, Stage, expect};
use crate::system::{Actor, Flow, System, Table};
use suite::kit::fault::Fault;

/// The number of creatures.
pub(super) const CREATURES: usize = 100;

/// Two visits, a meeting and a change of colour for each meeting; for each creature a start, a
/// futile visit, its end and its count.
pub(super) fn messages(meetings: u64) -> u64 {
    4 * meetings + 4 * CREATURES as u64
}

/// A creature's colour; a creature fades when it has met enough.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Colour {
    Red,
    Yellow,
    Blue,
    Faded,
}

impl Colour {
    /// Two equal colours keep theirs, two others give the third, and with a faded one both fade.
    fn complement(self, other: Colour) -> Colour {
        use Colour::{Blue, Faded, Red, Yellow};
        match (self, other) {
            (Faded, _) | (_, Faded) => Faded,
            (Red, Red) | (Yellow, Blue) | (Blue, Yellow) => Red,
            (Yellow, Yellow) | (Red, Blue) | (Blue, Red) => Yellow,
            (Blue, Blue) | (Red, Yellow) | (Yellow, Red) => Blue,
        }
    }
}

/// State that all actors of a run share.
struct Shared<S: System> {
    creatures: Table<S, Creature<S>>,
    mall: OnceLock<S::Ref<Mall<S>>>,
    stage: Arc<Stage>,
    /// Meetings that the mall arranged, and meetings that creatures counted.
    arranged: AtomicU64,
    counted: AtomicU64,
}

impl<S: System> Shared<S> {
    fn tell(&self, creature: u32, message: ToCreature) {
        let creatures = self.creatures.get().expect("they are there before the first message");
        S::post(&creatures[creature as usize], message);
    }
}

/// A visit of the creature at this place, in this colour.
#[derive(Clone, Copy)]
struct Visit(u32, Colour);

enum ToMall {
    Meet(Visit),
    /// The sender's number of meetings.
    Count(u64),
}

enum ToCreature {
    Start,
    Meet(Visit),
    Change(Colour),
    Exit,
}

struct Mall<S: System> {
    shared: Arc<Shared<S>>,
    left: u32,
    arranged: u64,
    waiting: Option<u32>,
    creatures: usize,
    _life: Life,
}

impl<S: System> Actor for Mall<S> {
    type Message = ToMall;

    async fn handle(&mut self, message: ToMall) -> Flow {
        match message {
            ToMall::Meet(visit) if self.left > 0 => match self.waiting.take() {
                None => self.waiting = Some(visit.0),
                Some(first) => {
                    if first == visit.0 {
                        self.shared.stage.object(format!("creature {first} has met itself"));
                    }
                    self.left -= 1;
                    self.arranged += 1;
                    self.shared.tell(first, ToCreature::Meet(visit));
                }
            },
            ToMall::Meet(visit) => self.shared.tell(visit.0, ToCreature::Exit),
            ToMall::Count(meetings) => {
                self.shared.counted.fetch_add(meetings, Ordering::Relaxed);
                self.creatures -= 1;
                if self.creatures == 0 {
                    self.shared.arranged.store(self.arranged, Ordering::Relaxed);
                    return Flow::Stop;
                }
            }
        }
        Flow::Go
    }
}

struct Creature<S: System> {
    shared: Arc<Shared<S>>,
    place: u32,
    colour: Colour,
    meetings: u64,
    _life: Life,
}

impl<S: System> Creature<S> {
    fn to_mall(&self, message: ToMall) {
        S::post(self.shared.mall.get().expect("it is spawned first"), message);
    }

    fn visit(&self) {
        self.to_mall(ToMall::Meet(Visit(self.place, self.colour)));
    }
}

impl<S: System> Actor for Creature<S> {
    type Message = ToCreature;

    async fn handle(&mut self, message: ToCreature) -> Flow {
        match message {
            ToCreature::Start => self.visit(),
            ToCreature::Meet(Visit(other, colour)) => {
                self.colour = self.colour.complement(colour);
                self.meetings += 1;
                self.shared.tell(other, ToCreature::Change(self.colour));
                self.visit();
            }
            ToCreature::Change(colour) => {
                self.colour = colour;
                self.meetings += 1;
                self.visit();
            }
            ToCreature::Exit => {
                if self.colour == Colour::Faded {
                    self.shared.stage.object("a creature has faded twice".to_owned());
                }
                self.colour = Colour::Faded;
                self.to_mall(ToMall::Count(self.meetings));
                return Flow::Stop;
            }
        }
        Flow::Go
    }
}

pub(super) async fn run<S: System>(spawner: S::Spawner, meetings: u32) -> Result<Duration, Fault> {
    let stage = Stage::of(CREATURES + 1);
    let started = Instant::now();
    let shared = Arc::new(Shared::<S> {
        creatures: OnceLock::new(),
        mall: OnceLock::new(),
        stage: stage.clone(),
        arranged: AtomicU64::new(0),
        counted: AtomicU64::new(0),
    });
    let mall = Mall {
        shared: shared.clone(),
        left: meetings,
        arranged: 0,
        waiting: None,
        creatures: CREATURES,
        _life: stage.life(),
    };
    let mall = S::spawn(&spawner, 0, mall).await;
    shared.mall.get_or_init(|| mall);
    let mut creatures = Vec::with_capacity(CREATURES);
    for place in 0..CREATURES {
        let creature = Creature {
            shared: shared.clone(),
            place: place as u32,
            colour: [Colour::Red, Colour::Yellow, Colour::Blue][place % 3],
            meetings: 0,
            _life: stage.life(),
        };
        creatures.push(S::spawn(&spawner, place, creature).await);
    }
    let creatures = shared.creatures.get_or_init(|| creatures.into_boxed_slice());
    creatures.iter().for_each(|creature| S::post(creature, ToCreature::Start));
    let took = stage.over(started).await?;
    let meetings = u64::from(meetings);
    expect("meetings", shared.arranged.load(Ordering::Relaxed), meetings)?;
    expect(
        "meetings that creatures counted",
        shared.counted.load(Ordering::Relaxed),
        2 * meetings,
    )?;
    Ok(took)
}

#[cfg(test)]
mod tests {
    use super::Colour::{self, Blue, Faded, Red, Yellow};

    #[test]
    fn a_chameneo_that_meets_an_equal_keeps_its_colour_and_others_get_the_third() {
        let colours: [Colour; 3] = [Red, Yellow, Blue];
        for one in colours {
            assert_eq!(one.complement(one), one);
            assert_eq!((one.complement(Faded), Faded.complement(one)), (Faded, Faded));
            for other in colours.into_iter().filter(|other| *other != one) {
                let third = one.complement(other);
                assert_eq!(third, other.complement(one));
                assert!(third != one && third != other && third != Faded);
            }
        }
    }
}
