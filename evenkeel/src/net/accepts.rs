//! What a listener does around its accepts: it counts them, and pauses when there are no
//! descriptors or no memory for one.
//!
//! Such a connection stays in the backlog, so the next accept would try at once, fail again, and a
//! server that goes on after an error would do nothing else. So the accept that fails returns its
//! error, and later ones first wait: 5 ms, then twice as long after each further failure, up to a
//! second. Accepts that were under way before a pause, and fail during it, do not lengthen it:
//! several tasks may accept from one listener, and all of them fail at once. An accept that
//! succeeds ends that: it wakes the tasks that wait in a pause, each of those that await one and
//! the last one that polls by functions. Each of these leaves its waker under the lock under which
//! it looks for the pause, so none comes too late.
//!
//! A pause belongs to the runtime in which the accept has failed, and goes by its clock. In another
//! runtime, outside of any, and when its runtime ends there is no pause: the accept tries.
//!
//! # Source
//! The times are those of Go's `net/http`.

use crate::primitives::unwind::wake_all;
use crate::primitives::wakers::{WakerPlace, Wakers};
use crate::primitives::{Mutex, lock};
use crate::processor::shared::Shared;
use crate::processor::{current, entered};
use crate::time::{Instant, Sleep, sleep_until};
use rustix::io::Errno;
use std::future::poll_fn;
use std::io::{Error, Result};
use std::pin::{Pin, pin};
use std::sync::{Arc, Weak};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

const SHORTEST: Duration = Duration::from_millis(5);
const LONGEST: Duration = Duration::from_secs(1);

#[derive(Debug, Default)]
pub(super) struct Accepts {
    state: Mutex<State>,
    /// The wait of the last caller that was polled by functions.
    polled: Mutex<Option<Polled>>,
}

#[derive(Debug, Default)]
struct State {
    pause: Option<Pause>,
    length: Duration,
    /// The wakers of the tasks that wait, in whichever pause: an accept that succeeds ends all.
    waiting: Wakers,
}

#[derive(Debug)]
struct Pause {
    until: Instant,
    of: Owner,
}

#[derive(Debug)]
struct Polled {
    sleep: Pin<Box<Sleep>>,
    of: Owner,
    /// Its waker's.
    place: Option<WakerPlace>,
}

/// The runtime by whose clock a pause goes.
#[derive(Clone, Debug)]
struct Owner(Weak<Shared>);

impl Owner {
    fn is(&self, other: &Self) -> bool {
        Weak::ptr_eq(&self.0, &other.0)
    }

    /// Returns whether it is the thread's current runtime.
    fn is_current(&self) -> bool {
        current::with(|shared| {
            shared.is_some_and(|shared| std::ptr::eq(Arc::as_ptr(shared), self.0.as_ptr()))
        })
    }
}

impl State {
    /// Begins a pause after a failure at `now` in the runtime `of`, if it was in one. A pause of
    /// that runtime that is not over stays as it is.
    fn note_failure(&mut self, now: Instant, of: Option<Owner>) {
        let is_in_force = |pause: &Pause, of: &Owner| pause.until > now && pause.of.is(of);
        if self.pause.as_ref().zip(of.as_ref()).is_some_and(|(pause, of)| is_in_force(pause, of)) {
            return;
        }
        self.length = (self.length * 2).clamp(SHORTEST, LONGEST);
        self.pause = of.map(|of| Pause { until: now + self.length, of });
    }

    /// Returns the end and the runtime of the pause, if it is one of the current runtime and not
    /// over.
    fn present(&self) -> Option<(Instant, Owner)> {
        let pause = self.pause.as_ref()?;
        let is_present = pause.of.is_current() && pause.until > Instant::now();
        is_present.then(|| (pause.until, pause.of.clone()))
    }
}

impl Accepts {
    /// Takes the result of an accept.
    pub(super) fn note<R>(&self, result: Result<R>) -> Result<R> {
        match &result {
            Ok(_) => {
                let waiting = {
                    let mut state = lock(&self.state);
                    (state.pause, state.length) = (None, Duration::ZERO);
                    state.waiting.take_all()
                };
                // The connection is not lost if a waker panics.
                wake_all(waiting);
                entered::with_any(|context| {
                    if let Some(here) = context {
                        here.counters().accepted.add(1);
                    }
                });
            }
            Err(error) if is_out_of_means(error) => {
                // Without a runtime there is no timer.
                let owner = current::shared().map(|shared| Owner(Arc::downgrade(&shared)));
                lock(&self.state).note_failure(Instant::now(), owner);
            }
            Err(_) => {}
        }
        result
    }

    /// Waits for the end of the pause, if there is one.
    pub(super) async fn wait(&self) {
        let mut waiter = Waiter { accepts: self, place: None };
        let pause = poll_fn(|cx| Poll::Ready(self.pause(cx.waker(), &mut waiter.place))).await;
        let Some((until, _)) = pause else { return };
        let mut sleep = pin!(sleep_until(until));
        poll_fn(|cx| match self.pause(cx.waker(), &mut waiter.place) {
            // If the runtime ends, the accept tells.
            Some((present, _)) if present == until => {
                sleep.as_mut().poll_or_over(cx.waker()).map(drop)
            }
            _ => Poll::Ready(()),
        })
        .await;
    }

    /// Does the same, for a caller that is polled by functions: of several tasks, the last one is
    /// woken at the end.
    pub(super) fn poll(&self, cx: &mut Context<'_>) -> Poll<()> {
        // The sleep is polled, and dropped, outside of the lock.
        let mut former = lock(&self.polled).take();
        let place = former.as_mut().and_then(|polled| polled.place.take());
        let mut waiter = Waiter { accepts: self, place };
        let pause = self.pause(cx.waker(), &mut waiter.place);
        let Some((until, of)) = pause else { return Poll::Ready(()) };
        // One for an earlier pause may end later: an accept has ended that pause.
        let is_of_pause = |polled: &Polled| polled.of.is(&of) && polled.sleep.deadline() <= until;
        let mut polled = match former.filter(is_of_pause) {
            Some(polled) => polled,
            None => Polled { sleep: Box::pin(sleep_until(until)), of, place: None },
        };
        if polled.sleep.as_mut().poll_or_over(cx.waker()).is_ready() {
            return Poll::Ready(());
        }
        polled.place = waiter.place.take();
        let other = lock(&self.polled).replace(polled);
        waiter.place = other.and_then(|other| other.place);
        Poll::Pending
    }

    /// Returns the end and the runtime of the pause, if it is one of the current runtime and not
    /// over. Then it leaves the waker, which an accept that ends the pause earlier wakes.
    fn pause(&self, waker: &Waker, place: &mut Option<WakerPlace>) -> Option<(Instant, Owner)> {
        // Most accepts clone no waker, and none does so under the lock.
        lock(&self.state).present()?;
        let waker = waker.clone();
        let mut state = lock(&self.state);
        let present = state.present()?;
        let before = state.waiting.leave(place, waker);
        drop(state);
        drop(before);
        Some(present)
    }
}

/// A task that waits in a pause, and takes its waker out when it waits no more.
struct Waiter<'a> {
    accepts: &'a Accepts,
    place: Option<WakerPlace>,
}

impl Drop for Waiter<'_> {
    fn drop(&mut self) {
        if self.place.is_some() {
            let waker = lock(&self.accepts.state).waiting.take(&mut self.place);
            // A caller's own runs its code, without the lock.
            drop(waker);
        }
    }
}

/// Waits until a point in time, by the clock of the caller's runtime. Returns false if that ends.
pub(super) async fn rest(until: Instant) -> bool {
    let mut sleep = pin!(sleep_until(until));
    poll_fn(|cx| sleep.as_mut().poll_or_over(cx.waker())).await.is_ok()
}

/// Whether the process or the system has no descriptors or no memory left.
fn is_out_of_means(error: &Error) -> bool {
    let means = [Errno::MFILE, Errno::NFILE, Errno::NOBUFS, Errno::NOMEM];
    means.iter().any(|errno| error.raw_os_error() == Some(errno.raw_os_error()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::advance;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::task::Wake;

    fn of(runtime: &crate::Runtime) -> Option<Owner> {
        let _entered = runtime.enter();
        current::shared().map(|shared| Owner(Arc::downgrade(&shared)))
    }

    /// The clock stands while the future does not wait, so no pause ends by itself.
    #[test]
    fn a_new_wait_goes_by_the_pause_that_there_is() {
        let accepts = Accepts::default();
        let note = |result: Result<()>| drop(accepts.note(result));
        let fail = || note(Err(Error::from_raw_os_error(Errno::MFILE.raw_os_error())));
        let is_over =
            || accepts.poll(&mut Context::from_waker(std::task::Waker::noop())).is_ready();
        let runtime = crate::Builder::new().workers(1).start_paused(true).build().unwrap();
        runtime.block_on(async {
            fail();
            advance(SHORTEST).await;
            fail();
            assert!(!is_over(), "10 ms");
            note(Ok(()));
            assert!(is_over(), "an accept has ended the pause");
            fail();
            advance(SHORTEST).await;
            fail();
            assert!(!is_over(), "10 ms");
            note(Ok(()));
            // It finds the wait of the pause before, which ends later.
            fail();
            assert!(!is_over(), "5 ms");
            advance(SHORTEST).await;
            assert!(is_over(), "a pause ends in time");
        });
    }

    #[test]
    fn an_accept_that_ends_a_pause_wakes_the_tasks_that_wait() {
        #[derive(Default)]
        struct Woken(AtomicUsize);
        impl Wake for Woken {
            fn wake(self: Arc<Self>) {
                self.0.fetch_add(1, Ordering::Relaxed);
            }
        }
        let accepts = Accepts::default();
        let note = |result: Result<()>| drop(accepts.note(result));
        let tasks = [(); 2].map(|()| Arc::new(Woken::default()));
        let [by_functions, awaits] = tasks.clone().map(Waker::from);
        let poll = || accepts.poll(&mut Context::from_waker(&by_functions)).is_ready();
        let runtime = crate::Builder::new().workers(1).start_paused(true).build().unwrap();
        runtime.block_on(async {
            note(Err(Error::from_raw_os_error(Errno::MFILE.raw_os_error())));
            let mut wait = pin!(accepts.wait());
            let mut wait = || wait.as_mut().poll(&mut Context::from_waker(&awaits)).is_ready();
            assert!(![poll(), wait(), poll(), wait()].contains(&true), "it pauses");
            let waiting = || lock(&accepts.state).waiting.len();
            assert_eq!(waiting(), 2, "a place for each");
            assert!(pin!(accepts.wait()).poll(&mut Context::from_waker(&awaits)).is_pending());
            assert_eq!(waiting(), 2, "one that is dropped leaves none");
            // A failure elsewhere does not keep the tasks in the pause.
            std::thread::scope(|scope| {
                scope.spawn(|| note(Err(Error::from_raw_os_error(Errno::MFILE.raw_os_error()))));
            });
            note(Ok(()));
            let woken = tasks.each_ref().map(|task| task.0.load(Ordering::Relaxed));
            assert_eq!(woken, [1; 2]);
            assert!(poll() && wait());
            assert_eq!(waiting(), 0);
        });
    }

    #[test]
    fn a_pause_grows_once_for_failures_at_the_same_time() {
        let runtimes = [1, 1].map(|workers| crate::Builder::new().workers(workers).build());
        let [one, other] = runtimes.map(|built| built.unwrap());
        let (mut state, start) = (State::default(), Instant::now());
        let length_after = |state: &mut State, after: Duration, owner: Option<Owner>| {
            state.note_failure(start + after, owner);
            state.length.as_millis()
        };
        for _ in 0..9 {
            assert_eq!(length_after(&mut state, Duration::ZERO, of(&one)), 5);
        }
        let until = state.pause.as_ref().map(|pause| pause.until);
        assert_eq!(length_after(&mut state, Duration::from_millis(4), of(&one)), 5);
        assert_eq!(state.pause.as_ref().map(|pause| pause.until), until);
        assert_eq!(length_after(&mut state, Duration::from_millis(5), of(&one)), 10);
        // Acceptors of another runtime have not waited, and take its place.
        assert_eq!(length_after(&mut state, Duration::from_millis(6), of(&other)), 20);
        let owner = of(&other).unwrap();
        assert!(state.pause.as_ref().is_some_and(|pause| pause.of.is(&owner)));
        assert_eq!(length_after(&mut state, Duration::from_millis(7), None), 40);
        assert!(state.pause.is_none());
        for seconds in 1..10 {
            length_after(&mut state, Duration::from_secs(seconds), of(&one));
        }
        assert_eq!(state.length, LONGEST);
    }
}
