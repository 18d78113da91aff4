//! Why an object was not entered.

use std::fmt;

/// An object, in an error's words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Name<'a> {
    pub(super) class: &'a str,
    pub(super) type_name: &'static str,
}

/// Why an operation on an [`Object`](super::Object) did not begin.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum EnterError {
    /// An operation on it has panicked, and may have left the value half changed. [`Object::clear_poison`](super::Object::clear_poison) makes it enterable again.
    Poisoned {
        /// Its class.
        class: Box<str>,
        /// The type of its value.
        type_name: &'static str,
    },
    /// The caller is inside of it already, and would wait for itself.
    Inside {
        /// Its class.
        class: Box<str>,
        /// The type of its value.
        type_name: &'static str,
        /// The name of the task that is inside, if it has one.
        task: Option<Box<str>>,
    },
}

impl EnterError {
    pub(super) fn poisoned(name: Name<'_>) -> Self {
        Self::Poisoned { class: name.class.into(), type_name: name.type_name }
    }

    pub(super) fn inside(name: Name<'_>, task: Option<Box<str>>) -> Self {
        Self::Inside { class: name.class.into(), type_name: name.type_name, task }
    }
}

impl fmt::Display for EnterError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Poisoned { class, type_name } => write!(
                f,
                "an operation on an object of class {class:?} ({type_name}) has panicked: look at its value, then call clear_poison"
            ),
            Self::Inside { class, type_name, task } => {
                match task {
                    Some(task) => write!(f, "task {task:?}")?,
                    None => write!(f, "the caller")?,
                }
                write!(
                    f,
                    " is inside an object of class {class:?} ({type_name}) already, and would wait for itself: end that operation first"
                )
            }
        }
    }
}

impl std::error::Error for EnterError {}
