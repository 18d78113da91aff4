//! How deep values may be nested, and that levels change nothing else: all that postcard reads is
//! read.

use super::{PayloadError, get};
use evenkeel_policy::random::Random;
use serde::{Deserialize, Deserializer, Serialize};
use shapes::{
    Fields, Large, LargeList, LargeMaps, LargeVectors, List, Maps, Tree, Vectors, Wrapped,
};
use std::collections::BTreeMap;
use std::fmt::Debug;

/// The default stack of a thread: that of workers, and of the threads of hosts.
const STACK: usize = 2 << 20;

/// Types that contain themselves.
mod shapes {
    #![allow(dead_code, reason = "they are read and dropped")]
    #![allow(clippy::large_enum_variant, reason = "what is large is the point")]

    use serde::Deserialize;
    use std::collections::BTreeMap;

    type Block = [u64; 32];

    #[derive(Deserialize)]
    pub(super) enum Tree {
        Leaf,
        Over(Box<Self>),
    }

    #[derive(Deserialize)]
    pub(super) enum Fields {
        Leaf,
        Over { next: Box<Self> },
    }

    #[derive(Deserialize)]
    pub(super) struct List {
        next: Option<Box<Self>>,
    }

    #[derive(Deserialize)]
    pub(super) struct Wrapped(Option<Box<Self>>);

    #[derive(Deserialize)]
    pub(super) struct Vectors(u8, Vec<Self>);

    #[derive(Deserialize)]
    pub(super) struct Maps(u8, BTreeMap<u8, Self>);

    #[derive(Deserialize)]
    pub(super) enum Large {
        Leaf,
        Over(Box<Self>, [Block; 16]),
    }

    #[derive(Deserialize)]
    pub(super) struct LargeList {
        before: [Block; 16],
        next: Option<Box<Self>>,
    }

    #[derive(Deserialize)]
    pub(super) struct LargeVectors([Block; 16], Vec<Self>);

    #[derive(Deserialize)]
    pub(super) struct LargeMaps([Block; 16], BTreeMap<u8, Self>);
}

/// Returns the depth of the deepest value that is read. Each level is `before`, the next one, and
/// `after`.
fn deepest<T: for<'a> Deserialize<'a>>(before: &[u8], leaf: &[u8], after: &[u8]) -> usize {
    let nested = |depth: usize| {
        let bytes = [before.repeat(depth), leaf.to_vec(), after.repeat(depth)].concat();
        match get::<T>(&bytes).map(drop) {
            Ok(()) => true,
            Err(error) => {
                assert!(matches!(error, PayloadError::Unreadable { .. }), "{error}");
                assert!(error.to_string().ends_with("nested too deep"), "{error}");
                false
            }
        }
    };
    let (mut read, mut refused) = (0, 100_000);
    assert!(nested(read) && !nested(refused));
    while refused - read > 1 {
        let depth = read.midpoint(refused);
        *(if nested(depth) { &mut read } else { &mut refused }) = depth;
    }
    read
}

/// Matters in builds without optimisation, which take the most stack, and under AddressSanitizer,
/// which takes more.
#[test]
fn the_deepest_value_of_each_shape_is_read_and_dropped_on_the_stack_of_a_thread() {
    let zeros = |count: usize| vec![0; count];
    let large = 16 * 32;
    let read = move || {
        [
            ("tree", deepest::<Tree>(&[1], &[0], &[])),
            ("fields", deepest::<Fields>(&[1], &[0], &[])),
            ("list", deepest::<List>(&[1], &[0], &[])),
            ("wrapped", deepest::<Wrapped>(&[1], &[0], &[])),
            ("vectors", deepest::<Vectors>(&[0, 1], &[0, 0], &[])),
            ("maps", deepest::<Maps>(&[0, 1, 0], &[0, 0], &[])),
            ("large", deepest::<Large>(&[1], &[0], &zeros(large))),
            (
                "large list",
                deepest::<LargeList>(&[zeros(large), vec![1]].concat(), &zeros(large + 1), &[]),
            ),
            (
                "large vectors",
                deepest::<LargeVectors>(&[zeros(large), vec![1]].concat(), &zeros(large + 1), &[]),
            ),
            (
                "large maps",
                deepest::<LargeMaps>(&[zeros(large), vec![1, 0]].concat(), &zeros(large + 1), &[]),
            ),
        ]
    };
    let reader = std::thread::Builder::new().stack_size(STACK).spawn(read);
    for (shape, depth) in reader.unwrap().join().unwrap() {
        let least = if shape.starts_with("large") { 10 } else { 250 };
        assert!(depth >= least, "{shape}: {depth} levels");
    }
}

/// A type that takes much of the stack when it is read.
#[derive(Debug, PartialEq)]
struct Hungry(u8);

impl<'de> Deserialize<'de> for Hungry {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let room = std::hint::black_box([0_u8; 300 << 10]);
        let read = u8::deserialize(deserializer)?;
        Ok(Self(read + room[usize::from(read)]))
    }
}

#[test]
fn a_value_is_as_deep_as_its_levels_wherever_the_frames_are_that_read_it() {
    assert_eq!(get::<(u8, Hungry)>(&[1, 2]), Ok((1, Hungry(2))));
}

/// A value with every kind of the format.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Everything {
    numbers: (u8, u16, u32, u64, u128, i8, i16, i32, i64, i128),
    floats: (f32, f64),
    truth: bool,
    letter: char,
    text: String,
    nothing: (),
    unit: Unit,
    wrapped: Wrap,
    maybe: Option<Box<Self>>,
    sequence: Vec<Choice>,
    map: BTreeMap<String, Vec<u16>>,
    array: [i16; 3],
    choice: Choice,
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Unit;

#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Wrap(u64);

#[derive(Debug, PartialEq, Serialize, Deserialize)]
enum Choice {
    Nothing,
    One(u64),
    Two(bool, Option<u8>),
    Named { text: String, more: Vec<u8> },
}

fn everything(random: &mut Random, depth: u32) -> Everything {
    let n = random.next();
    let text = |n: u64| "añ€".repeat(n as usize % 4);
    let choice = |n: u64| match n % 4 {
        0 => Choice::Nothing,
        1 => Choice::One(n),
        2 => Choice::Two(n > 1 << 40, Some(n as u8).filter(|n| n % 2 == 0)),
        _ => Choice::Named { text: text(n), more: vec![n as u8; n as usize % 5] },
    };
    Everything {
        numbers: (
            n as u8,
            n as u16,
            n as u32,
            n,
            u128::from(n) << 60,
            n as i8,
            n as i16,
            n as i32,
            n as i64,
            -i128::from(n),
        ),
        floats: (n as f32, -(n as f64)),
        truth: n.is_multiple_of(2),
        letter: char::from_u32(n as u32 % 0xD800).unwrap_or('x'),
        text: text(n),
        nothing: (),
        unit: Unit,
        wrapped: Wrap(n),
        maybe: (depth > 0).then(|| Box::new(everything(random, depth - 1))),
        sequence: (0..n % 7).map(|_| choice(random.next())).collect(),
        map: (0..n % 3).map(|n| (text(n), vec![n as u16; 2])).collect(),
        array: [n as i16, 0, -1],
        choice: choice(random.next()),
    }
}

/// Asserts that both read the same value from some bytes, or none.
fn agree<'a, T: Deserialize<'a> + PartialEq + Debug>(bytes: &'a [u8]) {
    let theirs = postcard::take_from_bytes::<T>(bytes);
    match (get::<T>(bytes), theirs) {
        (Ok(ours), Ok((theirs, []))) => assert_eq!(ours, theirs),
        (Err(PayloadError::Trailing { bytes, .. }), Ok((_, rest))) => {
            assert_eq!(bytes, rest.len());
        }
        (Err(PayloadError::Unreadable { why, .. }), Err(error)) => {
            assert_eq!(why, error.to_string());
        }
        (ours, theirs) => panic!("{bytes:?}: {ours:?} and {theirs:?}"),
    }
}

#[test]
fn whatever_bytes_come_they_are_read_as_postcard_reads_them() {
    let mut random = Random::new(20_261_123);
    for round in 0..500 {
        let value = everything(&mut random, round % 3);
        let mut bytes = postcard::to_stdvec(&value).unwrap();
        assert_eq!(get::<Everything>(&bytes), Ok(value));
        agree::<Everything>(&bytes[..random.below(bytes.len() as u64) as usize]);
        let at = random.below(bytes.len() as u64) as usize;
        bytes[at] ^= 1 << random.below(8);
        agree::<Everything>(&bytes);
        let noise: Vec<u8> = (0..random.below(20)).map(|_| random.next() as u8 % 5).collect();
        agree::<Choice>(&noise);
        agree::<(Option<u8>, &str, BTreeMap<u8, char>)>(&noise);
        agree::<(&[u8], f32, [bool; 2])>(&noise);
    }
}
