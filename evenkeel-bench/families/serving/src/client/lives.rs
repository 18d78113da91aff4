//! Connections that go after some requests, and others that come for them.
//!
//! They go in three ways in turns: closed, reset, or reset with a request under way.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use socket2::SockRef;

use super::connection::{Connection, connect};
use super::driver::Driver;
use super::wire::Wire;

/// The lives of the connections of one thread.
pub(super) struct Lives {
    address: SocketAddr,
    /// The requests of a connection; 0 if it stays.
    life: u64,
    /// Connections that have gone.
    gone: u64,
}

impl Lives {
    pub(super) fn new(address: SocketAddr, life: u32) -> Self {
        Self { address, life: u64::from(life), gone: 0 }
    }

    /// Returns whether a connection goes now. It is idle.
    pub(super) fn is_over<W: Wire>(&self, driver: &Driver<W>, place: usize) -> bool {
        self.life > 0 && driver.connections[place].number() >= self.life
    }

    /// Has an idle connection go, and another one come.
    pub(super) fn replace<W: Wire>(
        &mut self,
        driver: &mut Driver<W>,
        place: usize,
    ) -> anyhow::Result<()> {
        let old = &driver.connections[place];
        let new = Connection::new(connect(self.address, None)?, old.connection(), old.page());
        let mut old = driver.exchange(place, new)?;
        let way = self.gone % 3;
        self.gone += 1;
        if way > 0 {
            SockRef::from(&old.stream).set_linger(Some(Duration::ZERO))?;
        }
        if way > 1 {
            old.begin(&mut driver.wire, Instant::now())?;
        }
        Ok(())
    }
}
