//! Objects with homes: operations travel to the core that holds them.
//!
//! An [`Object`] is a value that one operation at a time is inside, like one in a mutex. Unlike a
//! mutex it may have a *home*, a worker of the runtime. An operation on it is then made there: its
//! task goes over, which takes one pointer and is done in batches. So the value's lines, and those
//! of its lock, stay in one cache instead of going to and fro. What is too large for the cache of
//! one core lies in those of all. It pays when many tasks are ready at a time, and when fetching
//! the value costs more than the journey; [`Placement`] says what decides that.
//!
//! The idea, *schedule objects to caches and move operations to objects*, is O2 scheduling:
//! Boyd-Wickizer, Morris, Kaashoek, "Reinventing Scheduling for Multicore Systems", HotOS 2009. Its
//! `ct_start` is [`Object::enter`], and its `ct_end` is the drop of the [`Guard`].
//!
//! ```
//! use evenkeel::object::Object;
//!
//! let runtime = evenkeel::Runtime::new().unwrap();
//! let sum = runtime.block_on(async {
//!     let counter = Object::new(0_u64).class("counters");
//!     let tasks: Vec<_> = (1..=10)
//!         .map(|n| {
//!             let counter = counter.clone();
//!             evenkeel::spawn(async move { counter.with(|sum| *sum += n).await })
//!         })
//!         .collect();
//!     for task in tasks {
//!         task.await.unwrap().unwrap();
//!     }
//!     counter.with(|sum| *sum).await.unwrap()
//! });
//! assert_eq!(sum, 55);
//! ```
//!
//! # Which way in
//! | for | |
//! |---|---|
//! | an operation without an `.await` | [`with`](Object::with), or [`enter`](Object::enter) where a closure would be in the way |
//! | what changes nothing and is made often | [`read`](Object::read); [`with`](Object::with) never counts as a read |
//! | an operation that awaits inside | [`enter_held`](Object::enter_held): others wait meanwhile. Tasks that hold one object and enter another do so in the same order, or wait for each other for ever |
//! | several objects at once | [`enter2`], [`enter_all`] |
//! | inside of another operation, or without waiting | [`try_enter`](Object::try_enter) |
//! | a thread that is no worker | [`call_blocking`](Object::call_blocking) |
//!
//! *A panic* inside, except in a read, poisons the object: no operation gets in until the poison is
//! [cleared](Object::clear_poison). *A cancelled task* is inside no object, wherever it was on its
//! way; if it [holds](HeldGuard) an object, it leaves the value as it is, and poisons nothing.
//! `evenkeel/examples/objects.rs` has a program to begin from.
//!
//! # Classes and placement
//! Give each kind of objects a [class](Object::class) of its own, because a class is judged as one.
//! Objects without a class are one class too, whatever their types. [`Placement::Automatic`], the
//! default, is for nearly all. [`Placement::InPlace`] is for objects that are hardly shared.
//! [`Placement::Home`] is for those that many tasks write and that one core's cache would not hold,
//! with [`at`](Object::at) where the worker matters. Make objects inside the runtime whose tasks
//! use them, in `block_on` or in a task: others never have a home.
//!
//! # Where an operation runs, and where the task goes on
//! At the home if the object has one and its class is entered there, otherwise where the task is,
//! under a lock of the object's own. The task goes on where its operation was: a task has no home
//! to go back to.
//!
//! # Reads
//! An object that is [read](Object::read) again and again is read by all workers at once, each
//! where its task is, until an operation writes it: an object that is read much and written rarely
//! needs no home.
//!
//! # Operations inside of operations
//! A [`Guard`] cannot be held across an `.await` in a task that is spawned, so a task that is
//! inside one object does not travel to another. (In `block_on` that compiles, and keeps others
//! from the object for whole turns: use [`Object::enter_held`] for it.) [`Object::try_enter`]
//! enters an object if no operation is inside and the task need not travel for it; [`enter2`]
//! enters two. To enter an object again from inside is an [error](EnterError::Inside). So is an
//! entry by any part of a task that holds the object: the library cannot tell whether the parts
//! wait for each other. A local task is a holder as a task is, and so is the future of `block_on`;
//! outside of all these the thread is.

mod blocking;
mod class;
mod classes;
mod door;
mod enter;
mod error;
mod giving;
mod guard;
mod held;
mod inner;
mod ledger;
mod line;
mod report;
mod sampling;
mod several;
mod shares;
#[cfg(all(test, shuttle))]
mod shuttle_tests;
mod steer;
mod visit;
mod way;

pub use class::Placement;
pub use error::{EnterError, Names};
#[doc(inline)]
pub use evenkeel_policy::object::{Mode, Verdict};
pub use guard::Guard;
pub use held::HeldGuard;
pub use report::{ClassReport, Report, WorkerReport, report};
pub use several::{enter_all, enter2};

use inner::Inner;
use std::fmt;
use std::sync::Arc;

/// The class of objects that were given none.
const UNNAMED: &str = "unnamed";

/// A value with a home, or without one. Cheap to clone: all clones are the same object.
///
/// An object takes at most 32 bytes beside its value, in one allocation, the two counts of an `Arc`
/// among them; more if the value is aligned to more than 8. From the first time on that it is
/// [held](Object::enter_held), or meets a holder, its line takes some 120 bytes more. The use of
/// objects is recorded in a table of each worker, and not in the objects.
///
/// # Examples
/// ```
/// use evenkeel::object::{Object, Placement};
///
/// let runtime = evenkeel::Runtime::new().unwrap();
/// runtime.block_on(async {
///     let directory = Object::new(vec![0_u8; 32_000]).placed("directories", Placement::Home);
///     assert_eq!(directory.with(|entries| entries.len()).await.unwrap(), 32_000);
///     assert!(directory.home().is_some());
/// });
/// ```
pub struct Object<T> {
    inner: Arc<Inner<T>>,
}

impl<T> Clone for Object<T> {
    fn clone(&self) -> Self {
        Self { inner: self.inner.clone() }
    }
}

impl<T> Object<T> {
    /// Makes an object of the runtime that the caller belongs to. An object that is made outside of
    /// any runtime never has a home.
    #[must_use]
    pub fn new(value: T) -> Self {
        let class = classes::here(UNNAMED, None);
        let home = class.home_of_new();
        let mut inner = Inner::new(value, class);
        inner.settle(home);
        Self { inner: Arc::new(inner) }
    }

    /// Puts the object into a class: objects of one kind, which are judged together. Classes belong
    /// to the caller's runtime, and their names are that runtime's own. A home that was
    /// [chosen](Self::at) in another runtime does not count here.
    ///
    /// # Panics
    /// If the object has clones: only a new object can get a class.
    ///
    /// # Examples
    /// ```
    /// use evenkeel::object::{self, Object};
    ///
    /// let runtime = evenkeel::Runtime::new().unwrap();
    /// runtime.block_on(async {
    ///     let accounts: Vec<_> = (0..100).map(|n| Object::new(n).class("accounts")).collect();
    ///     let log = Object::new(String::new()).class("logs");
    ///     accounts[7].with(|balance| *balance += 1).await.unwrap();
    ///     log.with(|log| log.push_str("one more")).await.unwrap();
    ///     let classes = object::report().classes;
    ///     let has = |name: &str| classes.iter().any(|class| &*class.name == name);
    ///     assert!(has("accounts") && has("logs"));
    /// });
    /// ```
    #[must_use]
    #[track_caller]
    pub fn class(self, name: &str) -> Self {
        self.enroll(name, None)
    }

    /// As [`class`](Self::class), and sets the placement of the class, if this object is its first:
    /// an existing class stays as it is.
    ///
    /// # Panics
    /// As [`class`](Self::class).
    #[must_use]
    #[track_caller]
    pub fn placed(self, name: &str, placement: Placement) -> Self {
        self.enroll(name, Some(placement))
    }

    #[track_caller]
    fn enroll(mut self, name: &str, placement: Option<Placement>) -> Self {
        let class = classes::here(name, placement);
        // A home that the caller has chosen stays, except in another runtime, where it does not
        // exist.
        let chosen = self.inner.door.is_pinned().then(|| self.inner.door.home());
        let chosen = chosen.flatten().filter(|_| class.is_same_runtime(&self.inner.class));
        let home = chosen.or_else(|| class.home_of_new());
        let inner =
            Arc::get_mut(&mut self.inner).expect("an object gets its class before it is cloned");
        inner.join(class, home, chosen.is_some());
        self
    }

    /// Makes worker `number` the object's home. The object is entered there if its
    /// [class](Self::class) is entered at homes: `.placed(name, Placement::Home)` makes sure of
    /// that.
    ///
    /// # Panics
    /// If there is no such worker, or if the object has clones.
    ///
    /// # Examples
    /// A task goes to the home and on from there:
    /// ```
    /// use evenkeel::fork_join::worker_index;
    /// use evenkeel::object::{Object, Placement};
    ///
    /// let runtime = evenkeel::Builder::new().workers(2).build().unwrap();
    /// runtime.block_on(async {
    ///     let table = Object::new(vec![0; 1_000]).placed("tables", Placement::Home).at(1);
    ///     assert_eq!(table.home(), Some(1));
    ///     let task = evenkeel::spawn(async move {
    ///         // While worker 1 stands still, operations are made elsewhere.
    ///         while table.with(|_| worker_index()).await.unwrap() != Some(1) {}
    ///         worker_index()
    ///     });
    ///     assert_eq!(task.await.unwrap(), Some(1));
    /// });
    /// ```
    #[must_use]
    #[track_caller]
    pub fn at(mut self, number: usize) -> Self {
        let inner =
            Arc::get_mut(&mut self.inner).expect("an object gets its home before it is cloned");
        let workers = inner.class.workers();
        assert!(
            workers > 0,
            "Object::at: there is no worker {number}, as the object was made outside of a runtime: make it in a task \
             or block_on"
        );
        assert!(
            number < workers,
            "Object::at: there is no worker {number} in the runtime of this object: give 0 to {}",
            workers - 1
        );
        inner.settle(Some(number));
        inner.door.pin(true);
        self
    }

    /// Returns the worker that is its home, if it has one, whether or not it is entered there at
    /// the moment: [`ClassReport`] tells that of its class.
    #[must_use]
    pub fn home(&self) -> Option<usize> {
        self.inner.door.home().filter(|_| self.inner.class.has_workers())
    }

    /// Returns whether an operation on it has panicked, and the poison has not been
    /// [cleared](Self::clear_poison). [`clear_poison`](Self::clear_poison) has an example.
    #[must_use]
    pub fn is_poisoned(&self) -> bool {
        self.inner.door.is_poisoned()
    }

    /// Lets operations enter a poisoned object again.
    ///
    /// # Examples
    /// ```
    /// use evenkeel::object::Object;
    /// let runtime = evenkeel::Runtime::new().unwrap();
    /// runtime.block_on(async {
    ///     let object = Object::new(1);
    ///     let broken = evenkeel::spawn({
    ///         let object = object.clone();
    ///         async move { object.with(|_| panic!("halfway")).await }
    ///     });
    ///     assert!(broken.await.is_err());
    ///     assert!(object.is_poisoned() && object.with(|_| ()).await.is_err());
    ///     object.clear_poison();
    ///     assert_eq!(object.with(|value| *value).await.unwrap(), 1);
    /// });
    /// ```
    pub fn clear_poison(&self) {
        self.inner.door.clear_poison();
    }

    /// Takes the value out, if this is the only handle of the object: at the end of a computation,
    /// for example. Says nothing of poison: ask [`is_poisoned`](Self::is_poisoned) before.
    ///
    /// # Errors
    /// This handle, if the object has others. A task that has ended has dropped its own.
    ///
    /// # Examples
    /// ```
    /// use evenkeel::object::Object;
    /// let runtime = evenkeel::Runtime::new().unwrap();
    /// runtime.block_on(async {
    ///     let words = Object::new(Vec::new()).class("words");
    ///     let tasks = ["south", "calm"].map(|word| {
    ///         let words = words.clone();
    ///         evenkeel::spawn(async move { words.with(|words| words.push(word)).await })
    ///     });
    ///     for task in tasks {
    ///         task.await.unwrap().unwrap();
    ///     }
    ///     let mut words: Vec<&str> = words.try_into_inner().unwrap();
    ///     words.sort();
    ///     assert_eq!(words, ["calm", "south"]);
    /// });
    /// ```
    pub fn try_into_inner(self) -> Result<T, Self> {
        Inner::try_into_value(self.inner).map_err(|inner| Self { inner })
    }

    /// Returns whether both are the same object.
    ///
    /// # Examples
    /// ```
    /// use evenkeel::object::Object;
    /// let object = Object::new(0);
    /// assert!(object.ptr_eq(&object.clone()));
    /// assert!(!object.ptr_eq(&Object::new(0)));
    /// ```
    #[must_use]
    pub fn ptr_eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.inner, &other.inner)
    }
}

/// An object as [`Object::new`] makes it.
impl<T> From<T> for Object<T> {
    fn from(value: T) -> Self {
        Self::new(value)
    }
}

/// An object as [`Object::new`] makes it.
impl<T: Default> Default for Object<T> {
    fn default() -> Self {
        Self::new(T::default())
    }
}

impl<T> fmt::Debug for Object<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Object")
            .field("class", &self.inner.class.name())
            .field("home", &self.home())
            .finish_non_exhaustive()
    }
}
