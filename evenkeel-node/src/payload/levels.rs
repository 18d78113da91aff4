//! Reads postcard's format, and bounds how deep a value is nested and how many elements without
//! bytes it has.
//!
//! A type that contains itself is read by recursion, as deep as the bytes say, and the bytes may
//! come from any peer. So each level of a value takes its share of the rest of [`MOST`] before any
//! of it is read, and a level without enough left is an error. A level passes the rest by value to
//! the levels inside of it. Nothing is measured, so the limit is the same in all builds, also under
//! sanitizers, and nothing has to be restored when a level ends or panics.
//!
//! A level is a call of a type's code that may read more: an option with a value, a newtype, a
//! sequence, a tuple, a struct, a map, an enum, and the fields of a variant. Its share is
//! [`LEVEL`], plus [`COPIES`] times the size of its value: in builds without optimisation each call
//! in it has room for that value on the stack. An element of a sequence or a map lies there before
//! it is moved to the others, and counts as well. Numbers and texts have no levels: postcard reads
//! them itself.
//!
//! A sequence or a map is as long as its bytes say. If its elements take no bytes, as `()` and
//! structs of skipped fields do, six bytes can say that there are a trillion. These would fill the
//! memory, or keep the reader for ever. So a value may have [`MOST_EMPTY`] such elements. They are
//! counted for the whole value, since a sequence within a sequence may take one byte only. Fields
//! and the elements of arrays are as many as the type says, and are not counted.
//!
//! Rejected: measuring the stack by the address of a local. Under AddressSanitizer that address is
//! not on the stack, and a level takes several times as much stack in one build as in another, so
//! one node could refuse what the next accepts.

use super::Bytes;
use postcard::{Deserializer as Plain, Error, Result};
use serde::de::{self, DeserializeSeed, Deserializer, IntoDeserializer, Visitor};

/// Bytes of stack that levels may take, by their shares. A choice: half of a thread's stack.
pub(super) const MOST: usize = 1 << 20;

/// Stands for a value that is nested too deep: an error that reading does not return.
pub(super) const TOO_DEEP: Error = Error::SerializeBufferFull;

/// Elements without bytes that a value may have, in all its sequences and maps: as many as a value
/// of 64 KiB has that take a byte each. An estimate; no benchmark sets it.
pub(super) const MOST_EMPTY: usize = 1 << 16;

/// Stands for a value with more of them: an error that reading does not return.
pub(super) const TOO_MANY_EMPTY: Error = Error::SerializeSeqLengthUnknown;

/// Bytes that a level of a small type takes. Measured without optimisation: 300 to 700, and under
/// AddressSanitizer, with what it keeps between variables, 1,100 to 1,850.
const LEVEL: usize = 1_536;

/// How many values of its type a level has on the stack. Measured without optimisation: 3 to 7.
const COPIES: usize = 8;

/// What all levels of a value read from.
pub(super) struct Input<'de> {
    /// The bytes behind what has been read.
    pub(super) rest: &'de [u8],
    /// The elements without bytes that may still come.
    empty: usize,
}

impl<'de> Input<'de> {
    pub(super) fn new(bytes: &'de [u8]) -> Self {
        Self { rest: bytes, empty: MOST_EMPTY }
    }

    /// Counts an element that has taken no bytes.
    #[cold]
    fn count_empty(&mut self) -> Result<()> {
        self.empty = self.empty.checked_sub(1).ok_or(TOO_MANY_EMPTY)?;
        Ok(())
    }
}

/// Reads a value from the beginning of an input, and moves the input behind it.
pub(super) struct Levels<'r, 'de> {
    input: &'r mut Input<'de>,
    /// The bytes of stack left for the levels inside.
    left: usize,
}

impl<'r, 'de> Levels<'r, 'de> {
    pub(super) fn new(input: &'r mut Input<'de>) -> Self {
        Self { input, left: MOST }
    }

    /// Returns a level inside of this one that makes a `T`.
    #[inline]
    fn deeper<T>(self) -> Result<Self> {
        let left = self.left.checked_sub(LEVEL).and_then(|left| left.checked_sub(copies::<T>()));
        Ok(Self { input: self.input, left: left.ok_or(TOO_DEEP)? })
    }

    /// Returns the same level for a part that takes `beside` bytes of the stack before it is read.
    #[inline]
    fn part(&mut self, beside: usize) -> Result<Levels<'_, 'de>> {
        let left = self.left.checked_sub(beside).ok_or(TOO_DEEP)?;
        Ok(Levels { input: self.input, left })
    }

    /// Makes postcard read a value without nested ones.
    #[inline]
    fn plain<T>(
        &mut self,
        read: impl FnOnce(&mut Plain<'de, Bytes<'de>>) -> Result<T>,
    ) -> Result<T> {
        let mut plain = Plain::from_flavor(Bytes(self.input.rest));
        let value = read(&mut plain)?;
        self.input.rest = plain.finalize()?;
        Ok(value)
    }

    #[inline]
    fn number<T: de::Deserialize<'de>>(&mut self) -> Result<T> {
        self.plain(|plain| T::deserialize(plain))
    }

    /// Returns the `left` parts of a level. `are_elements` says whether they are elements, which
    /// are moved elsewhere.
    #[inline]
    fn parts(self, left: usize, are_elements: bool) -> Parts<'r, 'de> {
        let began = self.input.rest.len();
        Parts { level: self, left, are_elements, began }
    }
}

/// Returns the bytes that values of a type take on the stack of their level.
#[inline]
const fn copies<T>() -> usize {
    COPIES.saturating_mul(size_of::<T>())
}

/// Reads a value without levels inside.
macro_rules! plain {
    ($($method:ident)*) => {
        $(
            #[inline]
            fn $method<V: Visitor<'de>>(mut self, visitor: V) -> Result<V::Value> {
                self.plain(|plain| plain.$method(visitor))
            }
        )*
    };
}

impl<'de> Deserializer<'de> for Levels<'_, 'de> {
    type Error = Error;

    plain! {
        deserialize_bool
        deserialize_i8 deserialize_i16 deserialize_i32 deserialize_i64 deserialize_i128
        deserialize_u8 deserialize_u16 deserialize_u32 deserialize_u64 deserialize_u128
        deserialize_f32 deserialize_f64
        deserialize_char deserialize_str deserialize_string deserialize_bytes deserialize_byte_buf
        deserialize_unit
        // Refused: the format does not describe its values.
        deserialize_any deserialize_identifier deserialize_ignored_any
    }

    #[inline]
    fn is_human_readable(&self) -> bool {
        false
    }

    #[inline]
    fn deserialize_unit_struct<V: Visitor<'de>>(
        mut self,
        name: &'static str,
        visitor: V,
    ) -> Result<V::Value> {
        self.plain(|plain| plain.deserialize_unit_struct(name, visitor))
    }

    #[inline]
    fn deserialize_option<V: Visitor<'de>>(mut self, visitor: V) -> Result<V::Value> {
        match self.number::<u8>()? {
            0 => visitor.visit_none(),
            1 => visitor.visit_some(self.deeper::<V::Value>()?),
            _ => Err(Error::DeserializeBadOption),
        }
    }

    #[inline]
    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        visitor: V,
    ) -> Result<V::Value> {
        visitor.visit_newtype_struct(self.deeper::<V::Value>()?)
    }

    #[inline]
    fn deserialize_seq<V: Visitor<'de>>(mut self, visitor: V) -> Result<V::Value> {
        let length = self.number()?;
        visitor.visit_seq(self.deeper::<V::Value>()?.parts(length, true))
    }

    #[inline]
    fn deserialize_tuple<V: Visitor<'de>>(self, length: usize, visitor: V) -> Result<V::Value> {
        visitor.visit_seq(self.deeper::<V::Value>()?.parts(length, false))
    }

    #[inline]
    fn deserialize_tuple_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        length: usize,
        visitor: V,
    ) -> Result<V::Value> {
        self.deserialize_tuple(length, visitor)
    }

    #[inline]
    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value> {
        self.deserialize_tuple(fields.len(), visitor)
    }

    #[inline]
    fn deserialize_map<V: Visitor<'de>>(mut self, visitor: V) -> Result<V::Value> {
        let length = self.number()?;
        visitor.visit_map(self.deeper::<V::Value>()?.parts(length, true))
    }

    #[inline]
    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _name: &'static str,
        _variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value> {
        visitor.visit_enum(self.deeper::<V::Value>()?)
    }
}

/// The elements of a sequence, the entries of a map, or the fields of a struct.
struct Parts<'r, 'de> {
    level: Levels<'r, 'de>,
    /// How many are left.
    left: usize,
    are_elements: bool,
    /// The bytes that were left as the last part began.
    began: usize,
}

impl<'de> Parts<'_, 'de> {
    /// Reads the next part.
    #[inline]
    fn read<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<S::Value> {
        let beside = if self.are_elements { copies::<S::Value>() } else { 0 };
        seed.deserialize(self.level.part(beside)?)
    }

    /// Reads the next part, if there is one.
    #[inline]
    fn next<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<Option<S::Value>> {
        if self.left == 0 {
            return Ok(None);
        }
        self.left -= 1;
        self.began = self.level.input.rest.len();
        self.read(seed).map(Some)
    }

    /// Ends the last part: an element counts if it has taken no bytes.
    #[inline]
    fn end(&mut self) -> Result<()> {
        if self.are_elements && self.level.input.rest.len() == self.began {
            self.level.input.count_empty()?;
        }
        Ok(())
    }

    /// Returns how many parts are left, if there are as many bytes: otherwise the length may be
    /// made up.
    #[inline]
    fn hint(&self) -> Option<usize> {
        (self.left <= self.level.input.rest.len()).then_some(self.left)
    }
}

impl<'de> de::SeqAccess<'de> for Parts<'_, 'de> {
    type Error = Error;

    #[inline]
    fn next_element_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<Option<S::Value>> {
        let element = self.next(seed)?;
        if element.is_some() {
            self.end()?;
        }
        Ok(element)
    }

    #[inline]
    fn size_hint(&self) -> Option<usize> {
        self.hint()
    }
}

impl<'de> de::MapAccess<'de> for Parts<'_, 'de> {
    type Error = Error;

    #[inline]
    fn next_key_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<Option<S::Value>> {
        self.next(seed)
    }

    #[inline]
    fn next_value_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<S::Value> {
        let value = self.read(seed)?;
        self.end()?;
        Ok(value)
    }

    #[inline]
    fn size_hint(&self) -> Option<usize> {
        self.hint()
    }
}

impl<'de> de::EnumAccess<'de> for Levels<'_, 'de> {
    type Error = Error;
    type Variant = Self;

    #[inline]
    fn variant_seed<S: DeserializeSeed<'de>>(mut self, seed: S) -> Result<(S::Value, Self)> {
        let variant: u32 = self.number()?;
        let variant = seed.deserialize(IntoDeserializer::<Error>::into_deserializer(variant))?;
        Ok((variant, self))
    }
}

impl<'de> de::VariantAccess<'de> for Levels<'_, 'de> {
    type Error = Error;

    #[inline]
    fn unit_variant(self) -> Result<()> {
        Ok(())
    }

    #[inline]
    fn newtype_variant_seed<S: DeserializeSeed<'de>>(self, seed: S) -> Result<S::Value> {
        seed.deserialize(self)
    }

    #[inline]
    fn tuple_variant<V: Visitor<'de>>(self, length: usize, visitor: V) -> Result<V::Value> {
        self.deserialize_tuple(length, visitor)
    }

    #[inline]
    fn struct_variant<V: Visitor<'de>>(
        self,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value> {
        self.deserialize_tuple(fields.len(), visitor)
    }
}
