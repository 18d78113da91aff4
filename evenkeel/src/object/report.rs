//! What is known of the classes of a runtime.

use super::Placement;
use super::class::{self, Class, Mode};
use crate::policy::object::Verdict;
use std::fmt;

/// One class of objects, as it is now.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ClassReport {
    /// Its name.
    pub name: Box<str>,
    /// What it has been told to do.
    pub placement: Placement,
    /// Whether its objects are entered at their homes now.
    pub at_home: bool,
    /// What the trials of an automatic class have come to.
    pub verdict: Verdict,
    /// About how many operations there have been.
    pub operations: u64,
    /// What objects with a home at each worker come to, in bytes.
    pub bytes: Vec<usize>,
}

impl ClassReport {
    fn of(class: &Class) -> Self {
        Self {
            name: class.name().into(),
            placement: class.placement(),
            at_home: class.mode() == Mode::Home,
            verdict: class.steering.verdict(),
            operations: class.steering.operations(),
            bytes: class.bytes(),
        }
    }
}

impl fmt::Display for ClassReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, placement, operations, bytes, .. } = self;
        write!(f, "class {name:?}, about {operations} operations, bytes by worker {bytes:?}; ")?;
        match placement {
            Placement::Automatic => write!(f, "{}", self.verdict),
            Placement::InPlace => f.write_str("in place: told to be"),
            Placement::Home => f.write_str("at home: told to be"),
        }
    }
}

/// The classes of the runtime that the caller belongs to, by name.
///
/// # Examples
/// ```
/// use evenkeel::object::{self, Object};
/// let runtime = evenkeel::Runtime::new().unwrap();
/// runtime.block_on(async {
///     let object = Object::new(0).class("counters");
///     object.with(|count| *count += 1).await.unwrap();
///     let classes = object::classes();
///     assert_eq!(&*classes[0].name, "counters");
///     assert!(classes[0].to_string().ends_with("in place: nothing has been tried yet"));
/// });
/// ```
#[must_use]
pub fn classes() -> Vec<ClassReport> {
    class::all_here().iter().map(|class| ClassReport::of(class)).collect()
}
