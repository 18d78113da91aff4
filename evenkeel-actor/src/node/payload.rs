//! The values inside messages: `serde` in postcard's format.

use postcard::ser_flavors::Flavor;
use postcard::{Deserializer, de_flavors};
use serde::{Deserialize, Serialize};
use std::error::Error;
use std::fmt;

/// Why a value could not be written, or bytes are not a value of the type that is asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum PayloadError {
    /// The type's `Serialize` failed.
    Unwritable {
        /// The type.
        of: &'static str,
        /// In the format's words.
        why: String,
    },
    /// The bytes are not a value of the type.
    Unreadable {
        /// The type.
        of: &'static str,
        /// In the format's words.
        why: String,
    },
    /// The type's `Deserialize` has panicked.
    Panicked {
        /// The type.
        of: &'static str,
        /// In the words of the panic.
        why: String,
    },
    /// They are, and others follow: sender and receiver have different types.
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
/// use evenkeel_actor::node::payload;
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

/// Where postcard writes to: the end of a buffer that has something in it.
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

/// The value that `bytes` are, all of them. Texts and byte slices can be borrowed.
///
/// The bytes may be anybody's. A length that is not there is refused before anything of that length is allocated, except for
/// what `serde` sets aside for a sequence, at most a mebibyte. A type that contains itself is read by recursion, as deep as the bytes say: it is refused when that has taken 256 KiB of the stack, some thousand
/// levels of a small type. One thing is the type's own to bound: a sequence of values that take no bytes, such as `Vec<()>`, is as long as the bytes say.
///
/// # Errors
/// [`PayloadError`], if they are not exactly a value of the type.
pub fn get<'a, T: Deserialize<'a>>(bytes: &'a [u8]) -> Result<T, PayloadError> {
    let mut reader = Deserializer::from_flavor(Bytes { rest: bytes, stack: stack() });
    let read = T::deserialize(&mut reader).and_then(|value| Ok((value, reader.finalize()?)));
    let of = std::any::type_name::<T>();
    match read {
        Ok((value, [])) => Ok(value),
        Ok((_, rest)) => Err(PayloadError::Trailing { of, bytes: rest.len() }),
        Err(error) => Err(unreadable(of, error)),
    }
}

#[cold]
fn unreadable(of: &'static str, error: postcard::Error) -> PayloadError {
    let why = match error {
        TOO_DEEP => "it is nested too deep".to_owned(),
        error => error.to_string(),
    };
    PayloadError::Unreadable { of, why }
}

/// Bytes of stack that the reading of a value may take. A choice: an eighth of what a thread has; no benchmark sets it.
const MOST_STACK: usize = 256 << 10;

/// Stands for a value that is nested too deep: an error that reading does not have.
const TOO_DEEP: postcard::Error = postcard::Error::SerializeBufferFull;

/// About where the stack ends now.
#[inline(always)]
fn stack() -> usize {
    let here = 0_u8;
    (&raw const here).addr()
}

/// Where postcard reads from. Whatever a value is nested in takes a byte at least, of which there would be no end otherwise: so each level is seen here.
struct Bytes<'a> {
    rest: &'a [u8],
    /// Where the stack ended as the reading began.
    stack: usize,
}

impl<'a> de_flavors::Flavor<'a> for Bytes<'a> {
    type Remainder = &'a [u8];
    type Source = &'a [u8];

    #[inline]
    fn pop(&mut self) -> postcard::Result<u8> {
        // Whichever way it grows.
        if self.stack.abs_diff(stack()) > MOST_STACK {
            return Err(TOO_DEEP);
        }
        let (&byte, rest) =
            self.rest.split_first().ok_or(postcard::Error::DeserializeUnexpectedEnd)?;
        self.rest = rest;
        Ok(byte)
    }

    #[inline]
    fn size_hint(&self) -> Option<usize> {
        Some(self.rest.len())
    }

    #[inline]
    fn try_take_n(&mut self, length: usize) -> postcard::Result<&'a [u8]> {
        let (bytes, rest) =
            self.rest.split_at_checked(length).ok_or(postcard::Error::DeserializeUnexpectedEnd)?;
        self.rest = rest;
        Ok(bytes)
    }

    #[inline]
    fn finalize(self) -> postcard::Result<&'a [u8]> {
        Ok(self.rest)
    }
}

#[cfg(test)]
mod tests {
    use super::{PayloadError, get, put};
    use serde::ser::Error as _;
    use serde::{Deserialize, Serialize, Serializer};

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

    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    enum Tree {
        Leaf,
        Over(Box<Self>),
    }

    #[test]
    fn a_value_is_nested_as_deep_as_the_stack_allows() {
        let nested = |depth: usize| {
            let mut bytes = vec![1; depth];
            bytes.push(0);
            bytes
        };
        let mut tree = get::<Tree>(&nested(100)).unwrap();
        for _ in 0..100 {
            let Tree::Over(inner) = tree else { panic!("not as deep") };
            tree = *inner;
        }
        assert_eq!(tree, Tree::Leaf);
        let error = get::<Tree>(&nested(10_000_000)).unwrap_err();
        assert!(error.to_string().ends_with("nested too deep"), "{error}");
    }

    #[test]
    fn a_value_that_cannot_be_written_leaves_nothing_behind() {
        let mut bytes = vec![1, 2];
        let error = put(&(7_u8, Stubborn), &mut bytes).unwrap_err();
        assert!(matches!(error, PayloadError::Unwritable { .. }), "{error}");
        assert_eq!(bytes, [1, 2]);
    }
}
