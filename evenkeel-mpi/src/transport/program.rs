//! Whether all ranks run the same program: different ones wait for each other in vain, and say
//! nothing.
//!
//! All that ranks learn of each other here is the greatest of what each gives, number by number. So
//! they compare a hash of their names first, whose least is found as the greatest of the
//! complements. If that is not the greatest, which all see, the ranks with the least hash give
//! their names, and the others what is less than any name; then those with the greatest. So all
//! make the same calls, in the same order, whatever they are.

use crate::error::{MpiError, StartError};

/// How many numbers are compared at a time.
pub(super) const WORDS: usize = 16;

/// Bytes of a name in each of them, which is not negative then.
const BYTES: usize = 7;

/// Whether all ranks have this name: collective. `greatest` gives the greatest of each number among
/// all ranks.
pub(super) fn agree(
    name: &str,
    greatest: impl Fn([i64; WORDS]) -> Result<[i64; WORDS], MpiError>,
) -> Result<(), StartError> {
    // FNV-1a (G. Fowler, L. C. Noll, K.-P. Vo): the same in all programs.
    let hash = name.bytes().fold(0xCBF2_9CE4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01B3)
    });
    let hash = hash.cast_signed();
    let mut mine = [0; WORDS];
    (mine[0], mine[1]) = (hash, !hash);
    let all = greatest(mine)?;
    let ends = [!all[1], all[0]];
    if ends[0] == ends[1] {
        return Ok(());
    }
    let name_of = |end| greatest(if hash == end { words(name) } else { [-1; WORDS] });
    let among = [text(name_of(ends[0])?), text(name_of(ends[1])?)];
    Err(StartError::Programs { here: name.to_owned(), among })
}

/// The beginning of a name in numbers.
fn words(name: &str) -> [i64; WORDS] {
    let mut words = [0; WORDS];
    for (word, bytes) in words.iter_mut().zip(name.as_bytes().chunks(BYTES)) {
        let byte = |at: usize| i64::from(bytes.get(at).copied().unwrap_or(0));
        *word = (0..BYTES).fold(0, |word, at| word << 8 | byte(at));
    }
    words
}

fn text(words: [i64; WORDS]) -> String {
    let bytes: Vec<u8> =
        words.iter().flat_map(|word| word.to_be_bytes()[8 - BYTES..].to_vec()).collect();
    String::from_utf8_lossy(&bytes).trim_end_matches(['\0', '\u{FFFD}']).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::array::from_fn;
    use std::sync::{Barrier, Mutex};
    use std::thread;

    /// What ranks with these names find, each on a thread.
    fn ranks(names: &[&str]) -> Vec<Result<(), StartError>> {
        let (barrier, all) = (Barrier::new(names.len()), Mutex::new([i64::MIN; WORDS]));
        let greatest = |mine: [i64; WORDS]| {
            let mut most = all.lock().unwrap();
            *most = from_fn(|at| most[at].max(mine[at]));
            drop(most);
            barrier.wait();
            let most = *all.lock().unwrap();
            if barrier.wait().is_leader() {
                *all.lock().unwrap() = [i64::MIN; WORDS];
            }
            barrier.wait();
            Ok(most)
        };
        thread::scope(|scope| {
            let ranks: Vec<_> =
                names.iter().map(|name| scope.spawn(|| agree(name, greatest))).collect();
            ranks.into_iter().map(|rank| rank.join().unwrap()).collect()
        })
    }

    #[test]
    fn ranks_of_one_program_agree_and_of_several_each_is_told_two() {
        assert_eq!(ranks(&["probe"]), [Ok(())]);
        assert_eq!(ranks(&["probe", "probe", "probe"]), [Ok(()), Ok(()), Ok(())]);
        let long = "ä".repeat(200);
        for names in [vec!["probe", "pong"], vec!["pong", "probe", "pong", ""], vec!["a", &long]] {
            let mut among = Vec::new();
            for (rank, found) in ranks(&names).into_iter().enumerate() {
                let Err(StartError::Programs { here, among: [one, other] }) = found else {
                    panic!("{found:?}");
                };
                assert_eq!(here, names[rank]);
                assert_ne!(one, other);
                for found in [&one, &other] {
                    assert!(names.iter().any(|name| name.starts_with(found.as_str())), "{found}");
                }
                among.push([one, other]);
            }
            assert!(among.iter().all(|pair| *pair == among[0]), "{among:?}");
        }
    }
}
