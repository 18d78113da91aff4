//! The programs.

mod cilksort;
mod fib;
mod heat;
mod matmul;
mod nqueens;
mod skynet;
mod transpose;
mod uts;

use evenkeel::metrics::Times;

use super::forker::Forker;
use suite::named::{Unknown, named};

/// The parts of a program, timed apart: only [`go`](Workload::go) counts.
trait Workload {
    /// Makes the input of size `n`.
    fn prepare(n: usize) -> Self;

    /// Runs the recursion.
    fn go<F: Forker>(&mut self, forker: &F);

    /// The checksum of the result: the same for all runtimes, bit by bit.
    fn checksum(&self) -> u64;
}

named! {
    /// A fork-join program. Its description has the meaning of its size `n`.
    pub enum Program as "program" {
        /// Dense matrices.
        Matmul = "matmul": "product of two n x n matrices, halved down to 64",
        /// A matrix, transposed.
        Transpose = "transpose": "transposition of an n x n matrix, halved down to 32",
        /// A stencil, step after step.
        Heat = "heat": "40 steps of a five-point stencil on n x n cells",
        /// Merge sort with merges that fork.
        Cilksort = "cilksort": "merge sort of n numbers with merges that fork",
        /// Only forks.
        Fib = "fib": "Fibonacci number n, a fork for each addition",
        /// Queens on a board.
        Nqueens = "nqueens": "ways to place n queens, a fork for each choice",
        /// A sum over ten million leaves.
        Skynet = "skynet": "sum over 10^n leaves, a fork for each addition",
        /// A tree of unknown shape.
        Uts = "uts": "nodes of the unbalanced tree T1, cut at depth n",
    }
}

impl Program {
    /// The program of this name among some; `what` is their common name in errors.
    pub fn among(known: &[Program], what: &'static str, name: &str) -> Result<Program, Unknown> {
        known.iter().copied().find(|program| program.name() == name).ok_or_else(|| Unknown {
            what,
            name: name.to_owned(),
            known: known.iter().map(|program| program.name()).collect(),
        })
    }

    /// Three sizes: small, usual, large.
    pub(crate) fn sizes(self) -> [usize; 3] {
        match self {
            Program::Matmul => [256, 1024, 2048],
            Program::Transpose => [1024, 4096, 8192],
            Program::Heat => [512, 2048, 4096],
            Program::Cilksort => [100_000, 10_000_000, 50_000_000],
            Program::Fib => [25, 35, 40],
            Program::Nqueens => [10, 13, 14],
            Program::Skynet => [5, 7, 8],
            Program::Uts => [6, 10, 11],
        }
    }

    /// The largest size with arrays, or a recursion, within reason.
    pub(crate) fn most(self) -> usize {
        match self {
            Program::Matmul | Program::Transpose | Program::Heat => 1 << 15,
            Program::Cilksort => 1 << 30,
            Program::Fib => 60,
            Program::Nqueens => 20,
            Program::Skynet => 10,
            Program::Uts => 13,
        }
    }

    /// The largest size with arrays of at most `bytes` bytes; `None` if the program has no arrays.
    pub(crate) fn filling(self, bytes: u64) -> Option<usize> {
        let numbers = bytes / size_of::<f64>() as u64;
        let n = match self {
            Program::Matmul => (numbers / 3).isqrt(),
            Program::Transpose | Program::Heat => (numbers / 2).isqrt(),
            Program::Cilksort => numbers / 2,
            Program::Fib | Program::Nqueens | Program::Skynet | Program::Uts => return None,
        };
        Some((n as usize).clamp(1, self.most()))
    }

    /// The size in the main job: it takes some milliseconds, more than a runtime takes to wake its
    /// workers.
    pub(crate) fn brief(self) -> usize {
        match self {
            Program::Matmul => 512,
            Program::Transpose => 2048,
            Program::Heat => 1024,
            Program::Cilksort => 1_000_000,
            Program::Fib => 30,
            Program::Nqueens => 12,
            Program::Skynet => 6,
            Program::Uts => 9,
        }
    }

    /// The number of its forks, if they are most of its work.
    pub(crate) fn forks(self, n: usize) -> Option<u64> {
        match self {
            // Each fork adds the results of two calls, and the calls without a fork sum up to the
            // result.
            Program::Fib => Some((0..n).fold((0, 1), |(a, b), _| (b, a + b)).1 - 1),
            Program::Skynet => Some(10_u64.pow(n as u32) - 1),
            _ => None,
        }
    }

    /// Runs the program.
    pub fn run<F: Forker>(self, n: usize, forker: &F) -> Run {
        match self {
            Program::Matmul => timed::<matmul::Matmul, F>(n, forker),
            Program::Transpose => timed::<transpose::Transpose, F>(n, forker),
            Program::Heat => timed::<heat::Heat, F>(n, forker),
            Program::Cilksort => timed::<cilksort::Cilksort, F>(n, forker),
            Program::Fib => timed::<fib::Fib, F>(n, forker),
            Program::Nqueens => timed::<nqueens::Nqueens, F>(n, forker),
            Program::Skynet => timed::<skynet::Skynet, F>(n, forker),
            Program::Uts => timed::<uts::Uts, F>(n, forker),
        }
    }
}

/// One run of a program.
pub struct Run {
    /// Seconds of the recursion.
    pub seconds: f64,
    /// The checksum of its result.
    pub checksum: u64,
    /// How each worker spent these seconds, if the runtime reports it.
    pub(crate) times: Vec<Times>,
}

fn timed<P: Workload, F: Forker>(n: usize, forker: &F) -> Run {
    let mut program = P::prepare(n);
    let before = forker.times();
    let started = std::time::Instant::now();
    program.go(forker);
    let seconds = started.elapsed().as_secs_f64();
    let after = forker.times();
    let times = after.iter().zip(&before).map(|(after, before)| after.since(before)).collect();
    Run { seconds, checksum: program.checksum(), times }
}

/// Below this number of bytes a fork gives no hint: the hint would cost more than it can gain. An
/// eighth of a small second-level cache.
const WORTH_SAYING: usize = 32 << 10;

/// Forks halves that touch `bytes` bytes.
#[inline(always)]
fn fork<F: Forker, RA: Send, RB: Send>(
    cx: &mut F::Cx<'_, '_>,
    bytes: usize,
    a: impl for<'a, 'w> FnOnce(F::Cx<'a, 'w>) -> RA + Send,
    b: impl for<'a, 'w> FnOnce(F::Cx<'a, 'w>) -> RB + Send,
) -> (RA, RB) {
    if bytes >= WORTH_SAYING { F::join_sized(cx, bytes, a, b) } else { F::join(cx, a, b) }
}

/// Folds the bits of numbers, so that one wrong number anywhere shows.
fn fold(numbers: impl Iterator<Item = u64>) -> u64 {
    numbers.fold(0, |sum: u64, number| {
        (sum.rotate_left(5) ^ number).wrapping_mul(0x9e37_79b9_7f4a_7c15)
    })
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    #[cfg(feature = "forte")]
    use crate::forker::Forte;
    use crate::forker::{ByArgument, Chili, Evenkeel, Name, Rayon, Serial};

    /// The programs at sizes that fork and end at once, with their checksums.
    pub(crate) fn little() -> Vec<(Program, usize, u64)> {
        let sizes = [96, 70, 40, 20_000, 15, 8, 4, 5];
        let right = |(program, n): (Program, usize)| (program, n, program.run(n, &Serial).checksum);
        Program::ALL.into_iter().zip(sizes).map(right).collect()
    }

    fn computes_what_the_serial_one_does<F: Forker>(name: &str) {
        let forker = F::start(2).unwrap();
        for (program, n, right) in little() {
            assert_eq!(program.run(n, &forker).checksum, right, "{program} on {name}");
        }
    }

    #[test]
    fn every_runtime_computes_what_the_serial_one_does() {
        computes_what_the_serial_one_does::<Evenkeel>("evenkeel");
        computes_what_the_serial_one_does::<ByArgument>("evenkeel-worker");
        computes_what_the_serial_one_does::<Rayon>("rayon");
        computes_what_the_serial_one_does::<Chili>("chili");
        #[cfg(feature = "forte")]
        computes_what_the_serial_one_does::<Forte>("forte");
    }

    #[test]
    fn forks_are_counted() {
        assert_eq!(Program::Fib.forks(35), Some(14_930_351));
        assert_eq!(Program::Fib.forks(1), Some(0));
        assert_eq!(Program::Skynet.forks(3), Some(999));
        assert_eq!(Program::Uts.forks(10), None);
    }

    #[test]
    fn sizes_are_within_bounds() {
        for program in Program::ALL {
            let [small, usual, large] = program.sizes();
            assert!(small < usual && usual < large && large <= program.most(), "{program}");
            assert!(small <= program.brief() && program.brief() < usual, "{program}");
            for name in Name::ALL {
                let refusal = name.refusal(program, program.brief(), 4);
                assert_eq!(refusal, None, "the main job has {program} on {name}");
            }
        }
    }

    #[test]
    fn results_are_those_of_the_literature() {
        let serial = Serial;
        assert_eq!(Program::Fib.run(20, &serial).checksum, 6_765);
        assert_eq!(Program::Nqueens.run(8, &serial).checksum, 92);
        assert_eq!(Program::Skynet.run(3, &serial).checksum, 499_500);
        // The published size of T1 (Olivier et al., "UTS: an unbalanced tree search benchmark",
        // 2006).
        assert_eq!(Program::Uts.run(10, &serial).checksum, 4_130_071);
    }
}
