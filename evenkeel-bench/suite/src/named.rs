//! Makes enumerations with a name for each member on the command line and in the tables, one line
//! per member.

/// The error for an unknown name.
#[derive(Debug, thiserror::Error)]
#[error("unknown {what} `{name}`: known are {known}", known = .known.join(", "))]
pub struct Unknown {
    /// The kind of thing that was looked for.
    pub what: &'static str,
    /// The name.
    pub name: String,
    /// All known names.
    pub known: Vec<&'static str>,
}

/// Returns the first item that repeats an earlier item of the list, if there is one.
pub fn named_twice<T: PartialEq>(list: &[T]) -> Option<&T> {
    list.iter()
        .enumerate()
        .find(|(place, name)| list[..*place].contains(name))
        .map(|(_, name)| name)
}

/// The name of the only variant of an experiment, which has none.
pub const NAMELESS: &str = "-";

/// An enumeration that [`named!`] has made.
pub trait Named:
    Copy + Eq + std::fmt::Display + std::str::FromStr<Err = Unknown> + 'static
{
    /// All members, in the order of the tables.
    const ALL: &'static [Self];

    /// The name of a member.
    fn name(self) -> &'static str;

    /// Its description in one line, or nothing.
    fn describe(self) -> &'static str;
}

/// Refuses two members with one name when the program is compiled: the second one could not be
/// asked for.
///
/// # Panics
/// If a name stands twice.
pub const fn assert_distinct(names: &[&str]) {
    let mut later = 1;
    while later < names.len() {
        let mut earlier = 0;
        while earlier < later {
            assert!(!is_same(names[earlier], names[later]), "two members have one name");
            earlier += 1;
        }
        later += 1;
    }
}

/// Whether two texts are the same, where `==` cannot be asked yet.
const fn is_same(one: &str, other: &str) -> bool {
    let (one, other) = (one.as_bytes(), other.as_bytes());
    let mut at = 0;
    while at < one.len() && at < other.len() && one[at] == other[at] {
        at += 1;
    }
    at == one.len() && at == other.len()
}

/// Makes an enumeration with `ALL` of its members in this order, `name`, `Display` and `FromStr`.
/// The error of `FromStr` calls a member by the words behind `as`. A colon and a description may
/// follow each name, for `describe`.
#[macro_export]
macro_rules! named {
    ($(#[$meta:meta])* $vis:vis enum $Type:ident as $what:literal {
        $($(#[$doc:meta])* $Member:ident = $name:literal $(: $says:literal)?,)+
    }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        $vis enum $Type { $($(#[$doc])* $Member,)+ }

        impl $Type {
            /// All members, in the order of the tables.
            $vis const ALL: [$Type; [$($name),+].len()] = [$($Type::$Member),+];

            /// Returns the name on the command line and in the tables.
            $vis fn name(self) -> &'static str {
                match self { $($Type::$Member => $name,)+ }
            }

            /// Describes the member in one line; empty if it has no description.
            $vis fn describe(self) -> &'static str {
                match self { $($Type::$Member => concat!($($says)?),)+ }
            }
        }

        impl $crate::named::Named for $Type {
            const ALL: &'static [Self] = &$Type::ALL;

            fn name(self) -> &'static str {
                $Type::name(self)
            }

            fn describe(self) -> &'static str {
                $Type::describe(self)
            }
        }

        impl std::fmt::Display for $Type {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(self.name())
            }
        }

        impl std::str::FromStr for $Type {
            type Err = $crate::named::Unknown;

            fn from_str(name: &str) -> Result<Self, Self::Err> {
                const { $crate::named::assert_distinct(&[$($name),+]) };
                match name {
                    $($name => Ok($Type::$Member),)+
                    _ => {
                        let known = $Type::ALL.into_iter().map(Self::name);
                        Err($crate::named::Unknown {
                            what: $what,
                            name: name.to_owned(),
                            known: known.filter(|name| *name != $crate::named::NAMELESS).collect(),
                        })
                    }
                }
            }
        }
    };
}

pub use crate::named;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_named_twice_is_found_wherever_it_stands() {
        assert_eq!(named_twice(&["keel", "mast", "keel"]), Some(&"keel"));
        assert_eq!(named_twice(&[1, 2, 2]), Some(&2));
        assert_eq!(named_twice(&[1, 2]), None);
        assert_eq!(named_twice::<u8>(&[]), None);
    }

    #[test]
    fn names_of_members_differ() {
        assert_distinct(&["keel", "keels", "mast"]);
        let twice = std::panic::catch_unwind(|| assert_distinct(&["keel", "mast", "keel"]));
        assert!(twice.is_err());
    }

    named! {
        /// The members of the tests.
        enum Part as "part" {
            /// It has no name.
            Only = "-": "all there is",
            /// It has one.
            Keel = "keel": "what keeps it even",
            /// It is not described.
            Sail = "sail",
        }
    }

    #[test]
    fn names_are_read_and_written_and_unknown_ones_name_the_known() {
        assert_eq!(Part::ALL, [Part::Only, Part::Keel, Part::Sail]);
        assert_eq!("keel".parse::<Part>().unwrap().to_string(), "keel");
        assert_eq!("-".parse::<Part>().unwrap().describe(), "all there is");
        assert_eq!(Part::Sail.describe(), "");
        let error = "mast".parse::<Part>().unwrap_err();
        assert_eq!(error.to_string(), "unknown part `mast`: known are keel, sail");
    }
}
