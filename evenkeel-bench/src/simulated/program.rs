//! The four programs of the paper, in three sizes.

use ::forking::program::Program;
use evenkeel_sim::forking;
use suite::named;

named! {
    /// The size of a program's data, relative to the caches of the machine.
    pub(crate) enum Size as "size" {
        /// The paper's sizes are not known.
        Small = "small": "at most 8 MiB: half of what the last-level cache of one package holds",
        Medium = "medium": "about 32 MiB: half of what those of all packages hold",
        Large = "large": "about 256 MiB: four times what they hold",
    }
}

impl Size {
    /// Returns one of three values, by size.
    fn of<T>(self, three: [T; 3]) -> T {
        let [small, medium, large] = three;
        match self {
            Self::Small => small,
            Self::Medium => medium,
            Self::Large => large,
        }
    }
}

/// Returns the tree of a program; `None` for programs without a footprint worth stating.
pub(super) fn work(program: Program, size: Size) -> Option<forking::Program> {
    Some(match program {
        Program::Matmul => forking::Program::matmul(size.of([9, 18, 52])),
        Program::Transpose => forking::Program::transpose(size.of([22, 45, 128])),
        Program::Heat => forking::Program::heat(size.of([512, 2_048, 16_384])),
        Program::Cilksort => forking::Program::cilksort(size.of([19, 21, 24])),
        Program::Fib | Program::Nqueens | Program::Skynet | Program::Uts => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_lie_between_the_caches_as_they_say() {
        for program in [Program::Matmul, Program::Transpose, Program::Heat, Program::Cilksort] {
            for (size, least, most) in
                [(Size::Small, 7, 8), (Size::Medium, 30, 32), (Size::Large, 250, 256)]
            {
                let bytes = work(program, size).unwrap().bytes();
                assert!((least << 20..=most << 20).contains(&bytes), "{program} {size}: {bytes}");
            }
        }
        assert!(work(Program::Fib, Size::Small).is_none());
    }
}
