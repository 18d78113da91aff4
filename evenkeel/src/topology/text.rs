//! Reads the textual form of a machine, which [`Topology::parse`](super::Topology::parse)
//! describes.
//!
//! The parser keeps the place of each token, so that an error can show it.

use std::ops::Range;

use super::MAX_CPUS;
use super::error::TopologyError;
use super::file::parse_size;
use super::shape::Shape;

/// The words for the levels, outermost first, which is the order of [`Items::counts`].
const LEVELS: [[&str; 2]; 6] = [
    ["package", "packages"],
    ["node", "nodes"],
    ["l3 group", "l3 groups"],
    ["l2 group", "l2 groups"],
    ["core", "cores"],
    ["thread", "threads"],
];
/// The words for the caches, in the order of [`Items::sizes`].
const CACHES: [&str; 3] = ["l1", "l2", "l3"];

const EXPECTED_ITEM: &str = "a count such as `4 packages`, or a cache size such as `l3 8M`";
const EXPECTED_LEVEL: &str = "`packages`, `nodes`, `l3 groups`, `l2 groups`, `cores` or `threads`";
const EXPECTED_COUNT: &str = "a number from 1 to 65,536";
const EXPECTED_SIZE: &str = "a size above zero, such as `8M` or `512K`";
const EXPECTED_COMMA: &str = "a comma before the next item";

/// Reads the text into a shape of at most [`MAX_CPUS`] hardware threads.
pub(super) fn parse(text: &str) -> Result<Shape, TopologyError> {
    let mut parser = Parser { text, tokens: tokens(text), at: 0, items: Items::default() };
    parser.item()?;
    while parser.at < parser.tokens.len() {
        if parser.next() != "," {
            return Err(parser.fault(parser.at - 1, EXPECTED_COMMA));
        }
        parser.item()?;
    }
    Ok(parser.items.shape())
}

/// The places of the tokens: commas, and the words between commas and white space.
fn tokens(text: &str) -> Vec<Range<usize>> {
    let mut tokens = Vec::new();
    let mut start = None;
    for (at, c) in text.char_indices() {
        if c == ',' || c.is_whitespace() {
            tokens.extend(start.take().map(|start| start..at));
            if c == ',' {
                tokens.push(at..at + 1);
            }
        } else {
            start.get_or_insert(at);
        }
    }
    tokens.extend(start.map(|start| start..text.len()));
    tokens
}

/// The items read so far.
#[derive(Default)]
struct Items {
    counts: [Option<usize>; 6],
    sizes: [Option<u64>; 3],
    line: Option<u64>,
}

impl Items {
    /// The number of hardware threads that the counts make.
    fn cpus(&self) -> u64 {
        // The product of all but the newest is at most `MAX_CPUS`, and so is the newest alone: this
        // cannot overflow.
        self.counts.iter().flatten().map(|&count| count as u64).product()
    }

    fn shape(&self) -> Shape {
        let [packages, nodes, l3_groups, l2_groups, cores, threads] = self.counts;
        Shape {
            packages: packages.unwrap_or(1),
            nodes: nodes.unwrap_or(1),
            l3_groups,
            l2_groups,
            cores: cores.unwrap_or(1),
            threads: threads.unwrap_or(1),
            sizes: self.sizes,
            line: self.line,
        }
    }
}

struct Parser<'a> {
    text: &'a str,
    tokens: Vec<Range<usize>>,
    /// The next token to read.
    at: usize,
    items: Items,
}

impl Parser<'_> {
    /// Reads one item and nothing after it.
    fn item(&mut self) -> Result<(), TopologyError> {
        let start = self.at;
        let word = self.next();
        if let Some(level) = CACHES.iter().position(|&cache| cache == word) {
            let size = self.size()?;
            let before = self.items.sizes[level].replace(size);
            self.once(start, before, &word)
        } else if word == "line" {
            let size = self.size()?;
            let before = self.items.line.replace(size);
            self.once(start, before, &word)
        } else if word.starts_with(|c: char| c.is_ascii_digit()) {
            self.count(start, &word)
        } else {
            Err(self.fault(start, EXPECTED_ITEM))
        }
    }

    /// Reads the rest of an item that begins with a number.
    fn count(&mut self, start: usize, number: &str) -> Result<(), TopologyError> {
        let count = number.parse().ok().filter(|count| (1..=MAX_CPUS).contains(count));
        let count = count.ok_or_else(|| self.fault(start, EXPECTED_COUNT))?;
        let mut word = self.next();
        if matches!(word.as_str(), "l2" | "l3") {
            let group = self.next();
            if !matches!(group.as_str(), "group" | "groups") {
                return Err(self.fault(self.at - 1, "`groups`"));
            }
            word = format!("{word} {group}");
        }
        let level = LEVELS.iter().position(|words| words.contains(&word.as_str()));
        let level = level.ok_or_else(|| self.fault(self.at - 1, EXPECTED_LEVEL))?;
        let before = self.items.counts[level].replace(count);
        self.once(start, before, LEVELS[level][1])?;
        let cpus = self.items.cpus();
        if cpus > MAX_CPUS as u64 {
            let expected = format!("at most 65,536 hardware threads, and this makes it {cpus}");
            return Err(self.fault_from(start, &expected));
        }
        Ok(())
    }

    /// Reads the size in an item.
    fn size(&mut self) -> Result<u64, TopologyError> {
        let size = parse_size(&self.next()).filter(|&size| size > 0);
        size.ok_or_else(|| self.fault(self.at - 1, EXPECTED_SIZE))
    }

    /// Refuses the item from token `start` on if the text has named it before.
    fn once<T>(&self, start: usize, before: Option<T>, name: &str) -> Result<(), TopologyError> {
        if before.is_none() {
            return Ok(());
        }
        let expected = format!("each item once, and `{name}` is given before");
        Err(self.fault_from(start, &expected))
    }

    /// Returns the next token in lower case. After the end it is empty, and no item accepts an
    /// empty token.
    fn next(&mut self) -> String {
        let token =
            self.tokens.get(self.at).map(|span| self.text[span.clone()].to_ascii_lowercase());
        self.at += 1;
        token.unwrap_or_default()
    }

    /// The error for one token, or for the end of the text if there is no such token.
    fn fault(&self, token: usize, expected: &str) -> TopologyError {
        let end = self.tokens.last().map_or(0, |last| last.end);
        let span = self.tokens.get(token).cloned().unwrap_or(end..end);
        self.fault_at(span, expected)
    }

    /// The error for the tokens from `start` up to the one that was read last.
    fn fault_from(&self, start: usize, expected: &str) -> TopologyError {
        self.fault_at(self.tokens[start].start..self.tokens[self.at - 1].end, expected)
    }

    fn fault_at(&self, span: Range<usize>, expected: &str) -> TopologyError {
        TopologyError::Text { text: self.text.to_owned(), span, expected: expected.to_owned() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shape(text: &str) -> Shape {
        parse(text).expect("the text is well-formed")
    }

    #[test]
    fn tokens_know_their_place() {
        assert_eq!(tokens(" 4 packages,l3 8M,"), [1..2, 3..11, 11..12, 12..14, 15..17, 17..18]);
        assert_eq!(tokens(" \t"), [0..0; 0]);
    }

    #[test]
    fn everything_can_be_said_at_once() {
        let all = shape(
            "2 packages, 3 nodes, 4 l3 groups, 5 l2 groups, 6 cores, 7 threads, \
             l1 8K, l2 9M, l3 1G, line 64",
        );
        let expected = Shape {
            packages: 2,
            nodes: 3,
            l3_groups: Some(4),
            l2_groups: Some(5),
            cores: 6,
            threads: 7,
            sizes: [Some(8 << 10), Some(9 << 20), Some(1 << 30)],
            line: Some(64),
        };
        assert_eq!(all, expected);
    }

    #[test]
    fn order_case_and_number_are_free() {
        assert_eq!(shape("L3 8m , 1 CORES\n,4 Package"), shape("4 packages, 1 core, l3 8M"));
    }

    #[test]
    fn the_limit_is_on_the_whole_machine() {
        assert_eq!(shape("65536 cores").cores, MAX_CPUS);
        assert!(parse("2 packages, 32769 cores").is_err());
        let largest = LEVELS.map(|[_, level]| format!("65536 {level}")).join(",");
        assert!(parse(&largest).is_err());
    }
}
