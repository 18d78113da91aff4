//! The descriptors that a process may have.

use anyhow::{Context, ensure};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Descriptors that a process has beside its connections.
const BESIDE: u64 = 64;

/// The most descriptors where there is no limit: the usual one of Linux's own.
const MOST: u64 = 1 << 20;

/// Returns the most connections that a process may have.
pub(crate) fn most_connections() -> usize {
    let most = getrlimit(Resource::Nofile).maximum.unwrap_or(MOST).min(MOST);
    most.saturating_sub(BESIDE) as usize
}

/// Lets this process have a number of connections at once: raises its soft limit to the hard one.
pub(crate) fn raise(connections: usize) -> anyhow::Result<()> {
    let most = most_connections();
    ensure!(connections <= most, "{}", refusal(connections, most));
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    if current == maximum {
        return Ok(());
    }
    setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum })
        .context("cannot raise the soft limit of descriptors to the hard one")
}

/// Returns why a process cannot have so many connections.
pub(crate) fn refusal(connections: usize, most: usize) -> String {
    format!(
        "{connections} connections need more descriptors than a process may have here, which are \
         enough for {most}: ask for fewer, or raise the hard limit (`ulimit -Hn`)"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_soft_limit_becomes_the_hard_one_and_no_more_is_promised() {
        raise(1).unwrap();
        let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
        assert_eq!(current, maximum);
        let most = most_connections();
        let error = raise(most + 1).unwrap_err().to_string();
        assert!(error.contains(&format!("enough for {most}: ask for fewer")), "{error}");
    }
}
