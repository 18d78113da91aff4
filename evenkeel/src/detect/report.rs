//! What is reported of a deadlock.

use crate::raw_task::id::Id;
use crate::raw_task::report::TaskInfo;
use std::fmt;
use std::panic::Location;
use std::sync::{Arc, Weak};

/// Tasks and threads that wait for each other, and that nothing but an abort can free.
///
/// # Examples
/// [The module](super) has one with a hook. Here two tasks each hold what the other one waits for:
/// ```
/// use evenkeel::detect::{Link, Wait, Waiter, What};
/// use evenkeel::deterministic::{Cause, Options};
/// use evenkeel::sync::monitor::Monitor;
/// use evenkeel::task::Builder;
///
/// static FORKS: [Monitor<u8>; 2] = [Monitor::new(0), Monitor::new(1)];
///
/// async fn dine(first: usize) {
///     let _one = FORKS[first].enter().await;
///     evenkeel::time::sleep(evenkeel::time::Duration::from_secs(1)).await;
///     let _other = FORKS[1 - first].enter().await;
/// }
///
/// let failure = Options::new(1)
///     .run(async {
///         let plato = Builder::new().name("Plato").spawn(dine(0));
///         let kant = Builder::new().name("Kant").spawn(dine(1));
///         futures::join!(plato, kant)
///     })
///     .unwrap_err();
/// // In a build without the graph, the cause is `Stalled`.
/// let Cause::Deadlock(deadlock) = failure.cause else { return };
/// for (Link { waiter, waits, .. }, index) in deadlock.links.iter().zip(0..) {
///     assert!(matches!(waiter, Waiter::Task(task) if task.id == waiter.id()));
///     assert!(["Plato", "Kant"].map(Some).contains(&waiter.name()));
///     let [Wait { what: What::Monitor { type_name, .. }, holders, .. }] = &waits[..] else {
///         panic!("{waiter} waits for one monitor");
///     };
///     assert_eq!((*type_name, &holders[..]), ("u8", &[1 - index][..]));
/// }
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Deadlock {
    /// The waiters. Each waits for the next one, and the last for the first, unless one waits for
    /// several.
    pub links: Vec<Link>,
}

/// One of the waiters of a deadlock. [`Deadlock`] has an example.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Link {
    /// The task or thread that waits.
    pub waiter: Waiter,
    /// What it waits for. Of several waits, as in a `select!`, one would be enough to go on: all of
    /// them lead into the deadlock.
    pub waits: Vec<Wait>,
}

/// A task, or a thread inside `block_on`. [`Deadlock`] has an example.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Waiter {
    /// A task, or a closure of [`spawn_blocking`](crate::spawn_blocking) that is inside a
    /// `block_on`.
    Task(TaskInfo),
    /// A thread that no runtime has started.
    Thread {
        /// Its number, from the same sequence as the numbers of tasks.
        id: Id,
        /// Its name, if it has one.
        name: Option<String>,
    },
}

impl Waiter {
    /// Returns its number.
    #[must_use]
    pub fn id(&self) -> Id {
        match self {
            Self::Task(task) => task.id,
            Self::Thread { id, .. } => *id,
        }
    }

    /// Returns its name, if it has one.
    #[must_use]
    pub fn name(&self) -> Option<&str> {
        match self {
            Self::Task(task) => task.name.as_deref(),
            Self::Thread { name, .. } => name.as_deref(),
        }
    }
}

/// One wait. [`Deadlock`] has an example.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Wait {
    /// What it is for.
    pub what: What,
    /// Where the wait began, if that is known: where the future was made.
    pub site: Option<&'static Location<'static>>,
    /// The holders of what is waited for, as indices into [`Deadlock::links`]. For a semaphore's
    /// permits, all of these hold some. For a reply, it is the actor that was asked, or one of
    /// those that it may have passed the request on to since. For a monitor, it is the task that
    /// has entered, or one of the tasks that it has spawned since and may have given the hold to.
    pub holders: Vec<usize>,
}

/// What a waiter waits for.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum What {
    /// Entry to a monitor.
    Monitor {
        /// The type of the monitor's value.
        type_name: &'static str,
        /// Where the monitor was made.
        made_at: &'static Location<'static>,
    },
    /// A permit of a semaphore.
    Semaphore {
        /// Where the semaphore was made.
        made_at: &'static Location<'static>,
    },
    /// The end of a task.
    Task,
    /// The reply of an actor.
    Reply,
    /// Room in the mailbox of an actor.
    Room,
}

/// A callback for deadlocks.
type Hook = dyn Fn(&Deadlock) + Send + Sync;
pub(crate) type DeadlockHook = Arc<Hook>;

/// The hook of a runtime that may be over by the time of a report, which the process's standard
/// error gets then; also where there is no hook.
#[derive(Clone, Default)]
pub(super) struct Listener(Option<Weak<Hook>>);

impl Listener {
    pub(super) fn of(hook: Option<&DeadlockHook>) -> Self {
        Self(hook.map(Arc::downgrade))
    }

    pub(super) fn hook(&self) -> Option<DeadlockHook> {
        self.0.as_ref()?.upgrade()
    }
}

impl fmt::Display for Waiter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Task(task) => task.fmt(f),
            Self::Thread { name: Some(name), .. } => write!(f, "thread \"{name}\""),
            Self::Thread { id, name: None } => write!(f, "thread {id}"),
        }
    }
}

/// Displays a waiter in few words.
struct Short<'a>(&'a Waiter);

impl fmt::Display for Short<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Waiter::Task(task) => {
                write!(f, "task {}", task.id)?;
                task.name.iter().try_for_each(|name| write!(f, " \"{name}\""))
            }
            Waiter::Thread { .. } => self.0.fmt(f),
        }
    }
}

impl fmt::Display for Deadlock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.links.len() {
            1 => f.write_str("deadlock: a waiter that waits for itself can never go on")?,
            count => write!(
                f,
                "deadlock: {count} tasks or threads wait for each other, and none can ever go on"
            )?,
        }
        for link in &self.links {
            write!(f, "\n  {}", link.waiter)?;
            for (index, wait) in link.waits.iter().enumerate() {
                f.write_str(if index == 0 { " waits" } else { ", or" })?;
                if let Some(site) = wait.site {
                    write!(f, " at {site}")?;
                }
                match &wait.what {
                    What::Monitor { type_name, made_at } => write!(
                        f,
                        " to enter the monitor of {type_name} (made at {made_at}), held by "
                    )?,
                    What::Semaphore { made_at } => write!(
                        f,
                        " for a permit of the semaphore (made at {made_at}), all taken by "
                    )?,
                    What::Task => f.write_str(" for the end of ")?,
                    What::Reply => f.write_str(" for the reply of ")?,
                    What::Room => f.write_str(" for room in the mailbox of ")?,
                }
                for (index, holder) in wait.holders.iter().enumerate() {
                    let comma = match &wait.what {
                        _ if index == 0 => "",
                        What::Semaphore { .. } => " and ",
                        What::Reply => ", or of one that it may have passed the request on to, ",
                        // Only a spawn tells the graph where a hold may have gone.
                        _ => ", or given since to ",
                    };
                    write!(f, "{comma}{}", Short(&self.links[*holder].waiter))?;
                }
            }
        }
        Ok(())
    }
}
