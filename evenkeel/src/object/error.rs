//! Why an object was not entered.

use std::fmt;

/// What an error says of an object. It is in a box, so that the result of an entry is as small as
/// an entry. [`EnterError`] has an example.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Names {
    /// Its class.
    pub class: Box<str>,
    /// The type of its value.
    pub type_name: &'static str,
    /// The name of the task that is inside, if the error is about that task and it has a name.
    pub task: Option<Box<str>>,
}

/// Why an operation on an [`Object`](super::Object) did not begin.
///
/// # Examples
/// A caller that repairs a value which an operation has left half changed:
/// ```
/// use evenkeel::object::{EnterError, Names, Object};
///
/// async fn add(list: &Object<Vec<u32>>, n: u32) -> Result<(), EnterError> {
///     if let Err(EnterError::Poisoned(names)) = list.with(|list| list.push(n)).await {
///         let Names { class, type_name, .. } = &*names;
///         assert_eq!((&**class, *type_name), ("lists", "alloc::vec::Vec<u32>"));
///         list.clear_poison();
///         list.with(|list| *list = vec![n]).await?;
///     }
///     Ok(())
/// }
///
/// let runtime = evenkeel::Runtime::new().unwrap();
/// runtime.block_on(async {
///     let list = Object::new(vec![1, 2]).class("lists");
///     let breaks = evenkeel::spawn({
///         let list = list.clone();
///         async move { list.with(|list| list.drain(5..).count()).await }
///     });
///     assert!(breaks.await.unwrap_err().is_panic());
///     add(&list, 3).await.unwrap();
///
///     // A task that is inside would wait for itself.
///     let guard = list.enter().await.unwrap();
///     let again = list.try_enter().unwrap_err();
///     assert!(matches!(again, EnterError::Inside(_)));
///     assert_eq!(*guard, [3]);
/// });
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum EnterError {
    /// An operation on it has panicked, and may have left the value half changed.
    /// [`Object::clear_poison`](super::Object::clear_poison) makes it enterable again.
    Poisoned(Box<Names>),
    /// The caller is inside already, and would wait for itself.
    Inside(Box<Names>),
}

impl EnterError {
    #[cold]
    pub(super) fn poisoned(names: Names) -> Self {
        Self::Poisoned(Box::new(names))
    }

    #[cold]
    pub(super) fn inside(names: Names, task: Option<Box<str>>) -> Self {
        Self::Inside(Box::new(Names { task, ..names }))
    }
}

impl fmt::Display for EnterError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Poisoned(names) => write!(
                f,
                "an operation on an object of class {:?} ({}) has panicked and may have left its value half changed: call clear_poison, then look at the value, and put it right",
                names.class, names.type_name
            ),
            Self::Inside(names) => {
                match &names.task {
                    Some(task) => write!(f, "task {task:?}")?,
                    None => write!(f, "the caller")?,
                }
                write!(
                    f,
                    " is inside an object of class {:?} ({}) already, and would wait for itself: end that operation first",
                    names.class, names.type_name
                )
            }
        }
    }
}

impl std::error::Error for EnterError {}
