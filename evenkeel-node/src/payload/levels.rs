//! Reads postcard's format, and counts how deep a value is nested.
//!
//! A type that contains itself is read by recursion, as deep as the bytes say, and the bytes may be
//! any peer's. So each level of a value takes its share of what is left of [`MOST`], before
//! anything of it is read: a level that nothing is left for is an error. What is left is passed
//! down by value, from a level to those inside of it. Nothing is measured, so the limit is the same
//! in all builds, under sanitizers too, and nothing has to be put back when a level ends or panics.
//!
//! A level is whatever calls a type's code that may read more: an option with a value, a newtype, a
//! sequence, a tuple, a struct, a map, an enum, and the fields of a variant. Its share is
//! [`LEVEL`], and [`COPIES`] times the size of the value that is made there, since each call of it
//! has room for that value on the stack, in builds that are not optimised. An element of a sequence
//! or a map lies there before it is moved to where the others are, and counts as well. Numbers and
//! texts have no levels: postcard reads them itself.
//!
//! Rejected: to measure the stack by a local's address. Under AddressSanitizer that is somewhere
//! else, and a level takes several times as much of it in one build as in another, so that one node
//! could refuse what the next takes.

use super::Bytes;
use postcard::{Deserializer as Plain, Error, Result};
use serde::de::{self, DeserializeSeed, Deserializer, IntoDeserializer, Visitor};

/// Bytes of stack that levels may take, as far as they are counted. A choice: half of what a thread
/// has.
pub(super) const MOST: usize = 1 << 20;

/// Stands for a value that is nested too deep: an error that reading does not have.
pub(super) const TOO_DEEP: Error = Error::SerializeBufferFull;

/// Bytes that a level of a small type takes. Measured without optimisation: 300 to 700, and under
/// AddressSanitizer, with what it keeps between variables, 1,100 to 1,850.
const LEVEL: usize = 1_536;

/// How many values of its type a level has on the stack. Measured without optimisation: 3 to 7.
const COPIES: usize = 8;

/// Reads a value from the beginning of `rest`, and moves that behind it.
pub(super) struct Levels<'r, 'de> {
    rest: &'r mut &'de [u8],
    /// What is left for the levels inside.
    left: usize,
}

impl<'r, 'de> Levels<'r, 'de> {
    pub(super) fn new(rest: &'r mut &'de [u8]) -> Self {
        Self { rest, left: MOST }
    }

    /// A level inside of this one, in which a `T` is made.
    #[inline]
    fn deeper<T>(self) -> Result<Self> {
        let left = self.left.checked_sub(LEVEL).and_then(|left| left.checked_sub(copies::<T>()));
        Ok(Self { rest: self.rest, left: left.ok_or(TOO_DEEP)? })
    }

    /// The same level, for a part of it that takes so much of the stack before it is read.
    #[inline]
    fn part(&mut self, beside: usize) -> Result<Levels<'_, 'de>> {
        let left = self.left.checked_sub(beside).ok_or(TOO_DEEP)?;
        Ok(Levels { rest: self.rest, left })
    }

    /// Has postcard read something in which nothing is nested.
    #[inline]
    fn plain<T>(
        &mut self,
        read: impl FnOnce(&mut Plain<'de, Bytes<'de>>) -> Result<T>,
    ) -> Result<T> {
        let mut plain = Plain::from_flavor(Bytes(self.rest));
        let value = read(&mut plain)?;
        *self.rest = plain.finalize()?;
        Ok(value)
    }

    #[inline]
    fn number<T: de::Deserialize<'de>>(&mut self) -> Result<T> {
        self.plain(|plain| T::deserialize(plain))
    }

    /// The parts of a level that has so many. Whether they are elements, which are moved elsewhere.
    #[inline]
    fn parts(self, left: usize, are_elements: bool) -> Parts<'r, 'de> {
        Parts { level: self, left, are_elements }
    }
}

/// Bytes that values of a type take on the stack of their level.
#[inline]
const fn copies<T>() -> usize {
    COPIES.saturating_mul(size_of::<T>())
}

/// What has no levels inside.
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
        // Refused: the format does not say what there is.
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
}

impl<'de> Parts<'_, 'de> {
    /// The next one.
    #[inline]
    fn read<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<S::Value> {
        let beside = if self.are_elements { copies::<S::Value>() } else { 0 };
        seed.deserialize(self.level.part(beside)?)
    }

    /// The next one, if there is one.
    #[inline]
    fn next<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<Option<S::Value>> {
        if self.left == 0 {
            return Ok(None);
        }
        self.left -= 1;
        self.read(seed).map(Some)
    }

    /// How many are left, if there are as many bytes: else the length may be made up.
    #[inline]
    fn hint(&self) -> Option<usize> {
        (self.left <= self.level.rest.len()).then_some(self.left)
    }
}

impl<'de> de::SeqAccess<'de> for Parts<'_, 'de> {
    type Error = Error;

    #[inline]
    fn next_element_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<Option<S::Value>> {
        self.next(seed)
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
        self.read(seed)
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
