//! The small files of `/sys` and `/proc`, and the lists that they hold.
//!
//! A file that cannot be read is an unknown fact: containers hide parts of `/sys`, kernels differ
//! in what they offer, and permissions vary. A file that can be read and makes no sense is an
//! error.

use std::fs;
use std::path::Path;

use super::MAX_CPUS;
use super::error::TopologyError;

/// Returns the content of the file, without surrounding white space. `None` when it cannot be read.
pub(super) fn read(path: &Path) -> Option<String> {
    let bytes = fs::read(path).ok()?;
    Some(String::from_utf8_lossy(&bytes).trim().to_owned())
}

/// The error for a file with unexpected content.
pub(super) fn malformed(path: &Path, content: &str, expected: &'static str) -> TopologyError {
    TopologyError::File { path: path.to_path_buf(), content: content.to_owned(), expected }
}

/// The list of numbers in the file, such as `0-3,8`, in ascending order and each once.
pub(super) fn read_list(path: &Path) -> Result<Option<Vec<usize>>, TopologyError> {
    const EXPECTED: &str = "numbers and ranges below 65,536, such as `0-3,8`";
    let Some(content) = read(path) else { return Ok(None) };
    let list = parse_list(&content).ok_or_else(|| malformed(path, &content, EXPECTED))?;
    Ok(Some(list))
}

/// The number in the file.
pub(super) fn read_number(path: &Path) -> Result<Option<i64>, TopologyError> {
    let Some(content) = read(path) else { return Ok(None) };
    let number = content.parse().map_err(|_| malformed(path, &content, "a number"))?;
    Ok(Some(number))
}

/// The numbers in the file, with white space between them.
pub(super) fn read_numbers(path: &Path) -> Result<Option<Vec<u32>>, TopologyError> {
    let Some(content) = read(path) else { return Ok(None) };
    let numbers: Result<_, _> = content.split_whitespace().map(str::parse).collect();
    let numbers = numbers.map_err(|_| malformed(path, &content, "numbers with spaces between"))?;
    Ok(Some(numbers))
}

/// The size in the file, such as `2048K`. A size of zero stands for an unknown one.
pub(super) fn read_size(path: &Path) -> Result<Option<u64>, TopologyError> {
    let Some(content) = read(path) else { return Ok(None) };
    let size =
        parse_size(&content).ok_or_else(|| malformed(path, &content, "a size such as `2048K`"))?;
    Ok(Some(size).filter(|&size| size > 0))
}

/// Reads `0-3,8`. The bound on each number keeps a broken file from asking for all of the memory.
fn parse_list(list: &str) -> Option<Vec<usize>> {
    let mut numbers = Vec::new();
    // An empty file is an empty list: a memory node without hardware threads has one.
    for range in list.split(',').filter(|_| !list.is_empty()) {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        let (first, last) = (first.parse::<usize>().ok()?, last.parse::<usize>().ok()?);
        if first > last || last >= MAX_CPUS {
            return None;
        }
        numbers.extend(first..=last);
    }
    numbers.sort_unstable();
    numbers.dedup();
    Some(numbers)
}

/// Reads bytes with an optional unit: `64`, `2048K`, `8M`, `1G`, the unit in either case.
pub(super) fn parse_size(size: &str) -> Option<u64> {
    let digits = size.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let unit = match &size[digits.len()..] {
        "" => 1,
        "K" | "k" => 1 << 10,
        "M" | "m" => 1 << 20,
        "G" | "g" => 1 << 30,
        _ => return None,
    };
    digits.parse::<u64>().ok()?.checked_mul(unit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_sorted_and_hold_each_number_once() {
        assert_eq!(parse_list("8,0-3,2"), Some(vec![0, 1, 2, 3, 8]));
        assert_eq!(parse_list("5"), Some(vec![5]));
        assert_eq!(parse_list("65535"), Some(vec![65_535]));
        assert_eq!(parse_list(""), Some(vec![]));
    }

    #[test]
    fn malformed_lists_are_refused() {
        for list in ["x", "0-3,x", "3-0", "0-", "-1", ",", "0,", "0 1", "65536", "0-4294967295"] {
            assert_eq!(parse_list(list), None, "{list:?}");
        }
    }

    #[test]
    fn sizes_have_an_optional_unit() {
        assert_eq!(parse_size("64"), Some(64));
        assert_eq!(parse_size("2048K"), Some(2 << 20));
        assert_eq!(parse_size("8m"), Some(8 << 20));
        assert_eq!(parse_size("1G"), Some(1 << 30));
        for size in ["", "K", "8X", "8 K", "8KB", "-1K", "8.5M", "18446744073709551615K", "é"] {
            assert_eq!(parse_size(size), None, "{size:?}");
        }
    }
}
