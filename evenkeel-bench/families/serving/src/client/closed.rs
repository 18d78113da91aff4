//! A closed loop: a connection sends its next request when it has the reply to the one before.

use std::time::Instant;

use super::driver::{Driver, Tally, WAIT};
use super::lives::Lives;
use super::wire::Wire;

/// Sends requests until a time, one or more on each connection, and waits for all replies.
pub(super) fn run<W: Wire>(
    driver: &mut Driver<W>,
    lives: &mut Lives,
    until: Instant,
) -> anyhow::Result<Tally> {
    let mut tally = Tally::default();
    for place in 0..driver.connections.len() {
        driver.begin(place, Instant::now())?;
    }
    while driver.busy > 0 {
        driver.turn(WAIT, |driver, place| match driver.drive(place, until, &mut tally)? {
            Some(now) if now < until => {
                if lives.is_over(driver, place) {
                    lives.replace(driver, place)?;
                    tally.connections += 1;
                }
                driver.begin(place, Instant::now())
            }
            Some(_) | None => Ok(()),
        })?;
        driver.check_patience(until)?;
    }
    driver.check_idle()?;
    Ok(tally)
}
