//! Checks that all ranks run the same program: different programs would wait for each other in
//! vain, without a message.
//!
//! The only operation is a collective maximum, number by number. First the ranks compare hashes of
//! their names; the least hash is the complement of the greatest complement. If least and greatest
//! differ, which all ranks see, the ranks with the least hash give their names, and the others a
//! value less than any name. Then the ranks with the greatest hash do. So all programs make the
//! same calls in the same order.

use crate::error::{MpiError, StartError};

/// How many numbers are compared at a time.
pub(super) const WORDS: usize = 16;

/// Bytes of a name in each number, so that it is not negative.
const BYTES: usize = 7;

/// Checks that all ranks have this name: collective. `greatest` returns the greatest of each number
/// among all ranks.
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

/// Returns the beginning of a name in numbers.
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

    /// Returns the results of ranks with these names, each on a thread.
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
