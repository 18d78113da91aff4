//! The settings of a transport.

use crate::error::StartError;
use std::time::Duration;

/// The settings of a transport: the bounds on its memory.
///
/// All ranks of a job must give the same [`longest_frame`](Self::longest_frame); otherwise they do
/// not start.
///
/// ```
/// use evenkeel_mpi::Config;
///
/// let config = Config::new().longest_frame(64 * 1024).window(16);
/// ```
#[derive(Clone, Debug)]
pub struct Config {
    pub(crate) longest_frame: usize,
    pub(crate) window: u32,
    pub(crate) in_flight: usize,
    pub(crate) longest_nap: Duration,
    pub(crate) program: Option<String>,
}

impl Config {
    /// Returns the defaults: frames up to 16 MiB, 32 of them to one node, 1,024 to all, and naps up
    /// to 1 ms.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            longest_frame: 16 << 20,
            // Set by the example `pingpong`: in the best of 21 rounds a frame of 8 KiB takes 1.28
            // µs with 16 or 32, 1.37 with 64 and 1.47 with 128, because fewer buffers stay in the
            // caches. Half of the window is sent while an acknowledgement comes: 10 µs of frames of
            // 8 KiB at 12 GB/s.
            window: 32,
            // An estimate; no benchmark sets it.
            in_flight: 1024,
            longest_nap: Duration::from_millis(1),
            program: None,
        }
    }

    /// Sets the most bytes of a frame, 1 to 2,147,483,647 (MPI counts in C's `int`); the same in
    /// all ranks.
    #[must_use]
    pub const fn longest_frame(mut self, bytes: usize) -> Self {
        self.longest_frame = bytes;
        self
    }

    /// Sets the most untaken frames from one node to another, 2 or more. A few more can be on their
    /// way into the receiver's posted buffers.
    #[must_use]
    pub const fn window(mut self, frames: u32) -> Self {
        self.window = frames;
        self
    }

    /// Sets the most frames of this node, to all nodes, that MPI has not completed, 1 or more.
    #[must_use]
    pub const fn in_flight(mut self, frames: usize) -> Self {
        self.in_flight = frames;
        self
    }

    /// Sets the longest sleep of a wait before it looks at MPI again: after long idleness a message
    /// can be seen this late. With zero it never sleeps.
    #[must_use]
    pub const fn longest_nap(mut self, nap: Duration) -> Self {
        self.longest_nap = nap;
        self
    }

    /// Sets the name of the program, by default the file name of its executable. Ranks of one job
    /// with different names do not start, as they would wait for each other in vain. Programs that
    /// are made for each other use the same name.
    #[must_use]
    pub fn program(mut self, name: impl Into<String>) -> Self {
        self.program = Some(name.into());
        self
    }

    /// Returns the name of this process's program.
    pub(crate) fn what(&self) -> String {
        self.program.clone().unwrap_or_else(|| {
            let path = std::env::current_exe().unwrap_or_default();
            path.file_name().unwrap_or_default().to_string_lossy().into_owned()
        })
    }

    /// Checks that all values are in range.
    pub(crate) fn check(&self) -> Result<(), StartError> {
        if self.longest_frame == 0 || i32::try_from(self.longest_frame).is_err() {
            Err(StartError::LongestFrame { bytes: self.longest_frame })
        } else if self.window < 2 {
            Err(StartError::Window { frames: self.window })
        } else if self.in_flight == 0 {
            Err(StartError::InFlight)
        } else {
            Ok(())
        }
    }
}

impl Default for Config {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_out_of_range_are_refused_by_name() {
        assert_eq!(Config::new().check(), Ok(()));
        for bytes in [0, 1 << 31] {
            assert_eq!(
                Config::new().longest_frame(bytes).check(),
                Err(StartError::LongestFrame { bytes })
            );
        }
        assert_eq!(Config::new().longest_frame((1 << 31) - 1).check(), Ok(()));
        assert_eq!(Config::new().window(1).check(), Err(StartError::Window { frames: 1 }));
        assert_eq!(Config::new().in_flight(0).check(), Err(StartError::InFlight));
    }
}
