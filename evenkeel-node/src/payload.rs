//! The values inside messages: `serde` in postcard's format.

mod levels;
#[cfg(test)]
mod nesting;

use levels::{Input, Levels, MOST_EMPTY, TOO_DEEP, TOO_MANY_EMPTY};
use postcard::de_flavors;
use postcard::ser_flavors::Flavor;
use serde::{Deserialize, Serialize};
use std::error::Error;
use std::fmt;

/// Why a value could not be written, or why bytes are not a value of the requested type.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum PayloadError {
    /// The type's `Serialize` failed.
    Unwritable {
        /// The type.
        of: &'static str,
        /// The error of the format.
        why: String,
    },
    /// The bytes are not a value of the type.
    Unreadable {
        /// The type.
        of: &'static str,
        /// The error of the format.
        why: String,
    },
    /// The type's `Deserialize` has panicked.
    Panicked {
        /// The type.
        of: &'static str,
        /// The message of the panic.
        why: String,
    },
    /// The bytes begin with a value, and others follow: sender and receiver have different types.
    Trailing {
        /// The type.
        of: &'static str,
        /// How many bytes follow.
        bytes: usize,
    },
}

impl fmt::Display for PayloadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unwritable { of, why } => write!(f, "a value of {of} cannot be written: {why}"),
            Self::Unreadable { of, why } => write!(f, "the bytes are no value of {of}: {why}"),
            Self::Panicked { of, why } => write!(f, "reading a value of {of} has panicked: {why}"),
            Self::Trailing { of, bytes } => write!(
                f,
                "{bytes} bytes follow a value of {of}; sender and receiver have different types"
            ),
        }
    }
}

impl Error for PayloadError {}

/// Appends a value.
///
/// # Errors
/// [`PayloadError::Unwritable`], if the type's `Serialize` fails; `out` is then as it was.
///
/// # Examples
/// ```
/// use evenkeel_node::payload;
///
/// let mut bytes = Vec::new();
/// payload::put(&("ping", 7_u32), &mut bytes).unwrap();
/// assert_eq!(bytes, b"\x04ping\x07");
/// assert_eq!(payload::get::<(&str, u32)>(&bytes), Ok(("ping", 7)));
/// ```
pub fn put<T: Serialize + ?Sized>(value: &T, out: &mut Vec<u8>) -> Result<(), PayloadError> {
    let before = out.len();
    let written = postcard::serialize_with_flavor(value, Tail(&mut *out));
    written.map_err(|error| {
        out.truncate(before);
        PayloadError::Unwritable { of: std::any::type_name::<T>(), why: error.to_string() }
    })
}

/// The output of postcard: the end of a buffer that may have other contents.
struct Tail<'a>(&'a mut Vec<u8>);

impl Flavor for Tail<'_> {
    type Output = ();

    #[inline]
    fn try_push(&mut self, byte: u8) -> postcard::Result<()> {
        self.0.push(byte);
        Ok(())
    }

    #[inline]
    fn try_extend(&mut self, bytes: &[u8]) -> postcard::Result<()> {
        self.0.extend_from_slice(bytes);
        Ok(())
    }

    fn finalize(self) -> postcard::Result<()> {
        Ok(())
    }
}

/// Reads a value that takes all of `bytes`. Texts and byte slices can be borrowed.
///
/// The bytes may come from any peer. A length beyond the bytes is refused before anything of that
/// length is allocated, except for what `serde` reserves for a sequence, at most a mebibyte. A type
/// that contains itself is read by recursion, as deep as the bytes say. A value is refused when
/// that could take more than half of a stack of 2 MiB in any build: beyond some 300 nested values,
/// or fewer if they are larger. So is a value of tens of kilobytes that are not behind a pointer,
/// and one whose sequences and maps have more than 65,536 elements that take no bytes, as those of
/// a `Vec<()>`. How large such an element is in memory, the type itself must bound.
///
/// # Errors
/// [`PayloadError`], if the bytes are not exactly a value of the type.
pub fn get<'a, T: Deserialize<'a>>(bytes: &'a [u8]) -> Result<T, PayloadError> {
    let mut input = Input::new(bytes);
    let read = T::deserialize(Levels::new(&mut input));
    let (rest, of) = (input.rest, std::any::type_name::<T>());
    match read {
        Ok(value) if rest.is_empty() => Ok(value),
        Ok(_) => Err(PayloadError::Trailing { of, bytes: rest.len() }),
        Err(error) => Err(unreadable(of, error)),
    }
}

#[cold]
fn unreadable(of: &'static str, error: postcard::Error) -> PayloadError {
    let why = match error {
        TOO_DEEP => "it is too large for the stack, or nested too deep".to_owned(),
        TOO_MANY_EMPTY => format!("it has more than {MOST_EMPTY} elements that take no bytes"),
        error => error.to_string(),
    };
    PayloadError::Unreadable { of, why }
}

/// The input of postcard.
struct Bytes<'a>(&'a [u8]);

impl<'a> de_flavors::Flavor<'a> for Bytes<'a> {
    type Remainder = &'a [u8];
    type Source = &'a [u8];

    #[inline]
    fn pop(&mut self) -> postcard::Result<u8> {
        let (&byte, rest) =
            self.0.split_first().ok_or(postcard::Error::DeserializeUnexpectedEnd)?;
        self.0 = rest;
        Ok(byte)
    }

    #[inline]
    fn try_take_n(&mut self, length: usize) -> postcard::Result<&'a [u8]> {
        let (bytes, rest) =
            self.0.split_at_checked(length).ok_or(postcard::Error::DeserializeUnexpectedEnd)?;
        self.0 = rest;
        Ok(bytes)
    }

    #[inline]
    fn finalize(self) -> postcard::Result<&'a [u8]> {
        Ok(self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::levels::MOST_EMPTY;
    use super::{PayloadError, get, put};
    use serde::ser::Error as _;
    use serde::{Deserialize, Serialize, Serializer};
    use std::collections::BTreeMap;
    use std::fmt::Debug;

    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    enum Order {
        Buy { item: String, count: u32 },
        Cancel(u64),
    }

    struct Stubborn;

    impl Serialize for Stubborn {
        fn serialize<S: Serializer>(&self, _: S) -> Result<S::Ok, S::Error> {
            Err(S::Error::custom("no"))
        }
    }

    #[test]
    fn a_value_is_read_as_it_was_written() {
        for order in [Order::Buy { item: "nails".into(), count: 300 }, Order::Cancel(u64::MAX)] {
            let mut bytes = Vec::new();
            put(&order, &mut bytes).unwrap();
            assert_eq!(get(&bytes), Ok(order));
        }
    }

    #[test]
    fn bytes_that_end_early_or_late_are_errors() {
        let mut bytes = Vec::new();
        put(&Order::Buy { item: "nails".into(), count: 300 }, &mut bytes).unwrap();
        for end in 0..bytes.len() {
            let error = get::<Order>(&bytes[..end]).unwrap_err();
            assert!(matches!(error, PayloadError::Unreadable { .. }), "{error}");
        }
        bytes.push(0);
        let error = get::<Order>(&bytes).unwrap_err();
        assert!(matches!(error, PayloadError::Trailing { bytes: 1, .. }), "{error}");
        assert!(error.to_string().contains("different types"), "{error}");
    }

    #[test]
    fn a_length_that_is_not_there_is_refused() {
        let mut bytes = vec![0xFF; 9];
        bytes.push(1);
        assert!(get::<String>(&bytes).is_err());
        assert!(get::<Vec<u8>>(&bytes).is_err());
        assert!(get::<Vec<[u64; 4]>>(&bytes).is_err());
    }

    /// Takes no bytes, and memory.
    #[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
    struct Cell {
        #[serde(skip)]
        cache: u64,
    }

    /// Asserts that a value is refused because of its elements.
    fn is_too_many<'a, T: Deserialize<'a> + Debug>(bytes: &'a [u8]) {
        let error = get::<T>(bytes).unwrap_err();
        assert!(matches!(error, PayloadError::Unreadable { .. }), "{error}");
        assert!(error.to_string().ends_with("65536 elements that take no bytes"), "{error}");
    }

    #[test]
    fn a_made_up_number_of_elements_that_take_no_bytes_is_refused() {
        let mut length = Vec::new();
        put(&(1_u64 << 40), &mut length).unwrap();
        is_too_many::<Vec<()>>(&length);
        is_too_many::<Vec<Cell>>(&length);
        is_too_many::<Vec<((), [Cell; 2])>>(&length);
        is_too_many::<BTreeMap<(), ()>>(&length);
        // Each list is within the bound, and all of them are not.
        let lists = vec![vec![(); MOST_EMPTY / 2]; 3];
        let mut bytes = Vec::new();
        put(&lists, &mut bytes).unwrap();
        is_too_many::<Vec<Vec<()>>>(&bytes);
    }

    /// Asserts that a value is read. Does not print it: it is long.
    fn is_read<T: Serialize + for<'a> Deserialize<'a> + PartialEq>(value: &T) {
        let mut bytes = Vec::new();
        put(value, &mut bytes).unwrap();
        assert!(get(&bytes).as_ref() == Ok(value), "{}", std::any::type_name::<T>());
    }

    #[test]
    fn some_elements_that_take_no_bytes_are_read_and_others_do_not_count() {
        is_read(&vec![(); MOST_EMPTY]);
        is_read(&vec![Cell::default(); 1_000]);
        is_read(&(0..2 * MOST_EMPTY).map(|n| (n, ())).collect::<BTreeMap<_, _>>());
        is_read(&(0..2 * MOST_EMPTY).map(|n| BTreeMap::from([((), n)])).collect::<Vec<_>>());
        is_read(&vec![[(); 32]; MOST_EMPTY]);
        is_read(&vec![(1_u8, (), ()); 2 * MOST_EMPTY]);
    }

    #[test]
    fn a_value_that_cannot_be_written_leaves_nothing_behind() {
        let mut bytes = vec![1, 2];
        let error = put(&(7_u8, Stubborn), &mut bytes).unwrap_err();
        assert!(matches!(error, PayloadError::Unwritable { .. }), "{error}");
        assert_eq!(bytes, [1, 2]);
    }
}
