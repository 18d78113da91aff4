//! Many runs of one program.

use super::failure::Failure;
use super::options::Options;
use std::future::Future;
use std::ops::Range;

/// The variable with the one seed to run.
const ONE: &str = "EVENKEEL_SEED";

/// The variable with the seeds to run.
const MANY: &str = "EVENKEEL_SEEDS";

/// Runs a program with each of these seeds, and panics with the first one that fails.
///
/// The environment takes precedence. With `EVENKEEL_SEED=17`, only that seed is run. With
/// `EVENKEEL_SEEDS=5000`, 5,000 seeds are run, from the first of `seeds` on; with
/// `EVENKEEL_SEEDS=1000..2000`, those of the range.
///
/// # Panics
/// If a run fails, with its seed and how to run it again. If a variable cannot be read. If the
/// caller is a task.
///
/// # Examples
/// ```
/// use evenkeel::deterministic::explore;
/// explore(0..100, |_seed| async {
///     let (sender, receiver) = async_channel::unbounded();
///     let tasks = [1, 2].map(|n| {
///         let sender = sender.clone();
///         evenkeel::spawn(async move { sender.send(n).await.unwrap() })
///     });
///     drop((sender, tasks));
///     let mut sum = 0;
///     while let Ok(n) = receiver.recv().await {
///         sum += n;
///     }
///     assert_eq!(sum, 3);
/// });
/// ```
#[track_caller]
pub fn explore<F: Future<Output = ()>>(seeds: Range<u64>, program: impl FnMut(u64) -> F) {
    Options::new(0).explore(seeds, program);
}

/// Runs a program with each of these seeds, until one fails. The environment is not read.
///
/// # Errors
/// The first failure.
///
/// # Panics
/// If the caller is a task.
///
/// # Examples
/// See [the module](super).
#[track_caller]
pub fn find<F: Future<Output = ()>>(
    seeds: Range<u64>,
    program: impl FnMut(u64) -> F,
) -> Result<(), Failure> {
    Options::new(0).find(seeds, program)
}

impl Options {
    /// [`explore()`], with these options but for the seed. [`Options`] has an example.
    ///
    /// # Panics
    /// As [`explore()`].
    #[track_caller]
    pub fn explore<F: Future<Output = ()>>(
        &self,
        seeds: Range<u64>,
        program: impl FnMut(u64) -> F,
    ) {
        let read = |name| std::env::var_os(name).map(|value| value.to_string_lossy().into_owned());
        let seeds = chosen(read(ONE).as_deref(), read(MANY).as_deref(), seeds)
            .unwrap_or_else(|words| panic!("{words}"));
        if let Err(failure) = self.find(seeds, program) {
            panic!("{failure}\n  to run it again, alone: {ONE}={} cargo test ...", failure.seed);
        }
    }

    /// [`find`], with these options but for the seed. [`Options`] has an example.
    ///
    /// # Errors
    /// The first failure.
    ///
    /// # Panics
    /// As [`find`].
    #[track_caller]
    pub fn find<F: Future<Output = ()>>(
        &self,
        seeds: Range<u64>,
        mut program: impl FnMut(u64) -> F,
    ) -> Result<(), Failure> {
        for seed in seeds {
            // Made inside the run, so that what it spawns and draws belongs to it.
            self.clone().seed(seed).run(async { program(seed).await })?;
        }
        Ok(())
    }
}

/// The seeds that the environment's two variables choose.
fn chosen(one: Option<&str>, many: Option<&str>, seeds: Range<u64>) -> Result<Range<u64>, String> {
    let number = |name, text: &str| {
        text.trim().parse::<u64>().map_err(|_| {
            format!("{name} is \"{text}\", which is no seed: give a number, as in {ONE}=17, {MANY}=5000 or {MANY}=1000..2000")
        })
    };
    if let Some(one) = one {
        let seed = number(ONE, one)?;
        // A range ends before its end.
        let end = seed.checked_add(1).ok_or_else(|| {
            format!("{ONE} is \"{one}\", which no run has: the greatest seed is {}", u64::MAX - 1)
        })?;
        return Ok(seed..end);
    }
    let Some(many) = many else { return Ok(seeds) };
    let (from, to) = match many.split_once("..") {
        None => (seeds.start, seeds.start.saturating_add(number(MANY, many)?)),
        Some((from, to)) => (number(MANY, from)?, number(MANY, to)?),
    };
    if from >= to {
        return Err(format!(
            "{MANY} is \"{many}\", which has no seed in it: give {MANY}=5000, or the lesser number first, as in {MANY}=1000..2000"
        ));
    }
    Ok(from..to)
}

#[cfg(test)]
mod tests {
    use super::chosen;

    #[test]
    fn the_environment_chooses_one_seed_or_another_range() {
        assert_eq!(chosen(None, None, 5..9), Ok(5..9));
        assert_eq!(chosen(Some("17"), Some("3"), 5..9), Ok(17..18));
        assert_eq!(chosen(None, Some("3"), 5..9), Ok(5..8));
        assert_eq!(chosen(None, Some("10..20"), 5..9), Ok(10..20));
    }

    #[test]
    fn what_is_no_seed_is_refused_with_its_name() {
        let greatest = u64::MAX.to_string();
        for (one, many) in [
            (Some("x"), None),
            (Some(&*greatest), None),
            (None, Some("3..x")),
            (None, Some("7..7")),
            (None, Some("0")),
        ] {
            let words = chosen(one, many, 0..1).unwrap_err();
            assert!(words.starts_with("EVENKEEL_SEED"), "{words}");
            let says_what_to_write = [": give", "the greatest seed is"];
            assert!(says_what_to_write.iter().any(|say| words.contains(say)), "{words}");
        }
    }
}
