//! An open loop: requests begin at times that are fixed beforehand, whether or not those before
//! have their replies.
//!
//! The times are random, as of independent clients: the pauses have an exponential distribution. A
//! connection has one request under way at most, so one that is due on a busy connection waits for
//! it; its delay counts from when it was due. Requests that compute or block have connections of
//! their own: a light one behind them on a connection would be late on every runtime.

use std::time::{Duration, Instant};

use anyhow::ensure;

use super::driver::{Driver, Tally, WAIT};
use super::wire::Wire;
use crate::Variant;
use crate::pages::Page;
use suite::kit::random::Random;

/// The resolution of the random pauses, as a share of one.
const GRAIN: usize = 1 << 20;

/// The time from one part of a slow reader to the next.
const SIP_EVERY: Duration = Duration::from_millis(5);

/// The bytes of such a part.
const SIP: usize = 8 << 10;

/// The requests of one thread.
pub(super) struct Pace {
    /// The mean pause between two requests, in seconds.
    pause: f64,
    /// One request in this many is heavy; none if it is 0.
    heavy: usize,
    random: Random,
    /// The places of the connections of light requests, of heavy ones, and of slow readers.
    lights: Turns,
    heavies: Turns,
    slow: Vec<Slow>,
}

/// Places that are used in turns.
struct Turns {
    places: Vec<usize>,
    next: usize,
}

impl Turns {
    /// Panics if there are no places.
    fn take(&mut self) -> usize {
        let place = self.places[self.next % self.places.len()];
        self.next += 1;
        place
    }
}

/// A connection that reads slowly.
struct Slow {
    place: usize,
    /// The system has said that there is something to read, and not all of it was read.
    is_readable: bool,
}

impl Pace {
    /// Creates that of thread number `thread`, with `rate` requests per second in all, over these
    /// connections. Fails if requests of a kind would have none, and be lost.
    pub(super) fn new<W: Wire>(
        driver: &Driver<W>,
        variant: Variant,
        rate: f64,
        seed: u64,
        thread: usize,
    ) -> anyhow::Result<Self> {
        let of = |is: fn(Page) -> bool| {
            let all = driver.connections.iter().enumerate();
            all.filter(|(_, one)| is(one.page())).map(|(place, _)| place).collect::<Vec<_>>()
        };
        let turns = |places| Turns { places, next: 0 };
        let slow = of(|page| page == Page::Large).into_iter();
        let pace = Self {
            pause: 1.0 / rate,
            heavy: variant.heavy_one_in(),
            random: Random::new(seed, thread),
            lights: turns(of(|page| page == Page::Light)),
            heavies: turns(of(|page| matches!(page, Page::Compute | Page::Block))),
            slow: slow.map(|place| Slow { place, is_readable: false }).collect(),
        };
        let lacks = |turns: &Turns| turns.places.is_empty();
        ensure!(
            !lacks(&pace.lights),
            "thread {thread} of the client has no connection for light requests: ask for more \
             connections"
        );
        ensure!(
            pace.heavy == 0 || !lacks(&pace.heavies),
            "thread {thread} of the client has no connection for heavy requests"
        );
        Ok(pace)
    }

    /// Draws the pause before a request.
    fn pause(&mut self) -> Duration {
        let share = (self.random.below(GRAIN) + 1) as f64 / GRAIN as f64;
        Duration::from_secs_f64(-share.ln() * self.pause)
    }

    /// Draws the connection of a request.
    fn place(&mut self) -> usize {
        let is_heavy = self.heavy > 0 && self.random.below(self.heavy) == 0;
        if is_heavy { self.heavies.take() } else { self.lights.take() }
    }
}

/// Begins requests from a time until another, however late this thread comes to it, and waits for
/// all replies.
pub(super) fn run<W: Wire>(
    driver: &mut Driver<W>,
    pace: &mut Pace,
    from: Instant,
    until: Instant,
) -> anyhow::Result<Tally> {
    let mut tally = Tally::default();
    let mut due = from + pace.pause();
    let mut sip = Instant::now();
    loop {
        let mut now = Instant::now();
        while due <= now && due < until {
            tally.late.add(now.duration_since(due));
            let connection = &mut driver.connections[pace.place()];
            driver.busy += usize::from(connection.queue(&mut driver.wire, due)?);
            due += pace.pause();
            now = Instant::now();
        }
        if !pace.slow.is_empty() && sip <= now {
            sips(driver, pace, until, &mut tally)?;
            sip = now + SIP_EVERY;
        }
        if due >= until && driver.busy == 0 {
            break;
        }
        let next = if due < until { due } else { now + WAIT };
        let next = if pace.slow.is_empty() { next } else { next.min(sip) };
        let most = driver.alarm.after(next.saturating_duration_since(Instant::now()))?;
        driver.turn(most, |driver, place| {
            if let Some(slow) = pace.slow.iter_mut().find(|slow| slow.place == place)
                && Instant::now() < until
            {
                slow.is_readable = true;
                return Ok(());
            }
            if driver.drive(place, until, &mut tally)?.is_some() {
                let connection = &mut driver.connections[place];
                driver.busy += usize::from(connection.next(&mut driver.wire)?);
            }
            Ok(())
        })?;
        driver.check_patience(until)?;
    }
    driver.check_idle()?;
    Ok(tally)
}

/// Has each slow reader read a part. When the time is over, they read all that is left.
fn sips<W: Wire>(
    driver: &mut Driver<W>,
    pace: &mut Pace,
    until: Instant,
    tally: &mut Tally,
) -> anyhow::Result<()> {
    for slow in &mut pace.slow {
        let is_over = Instant::now() >= until;
        if driver.connections[slow.place].is_idle() {
            if !is_over {
                driver.begin(slow.place, Instant::now())?;
            }
        } else if slow.is_readable {
            let most = if is_over { usize::MAX } else { SIP };
            slow.is_readable = driver.sip(slow.place, most, until, tally)?;
        }
    }
    Ok(())
}
