//! Entering two objects at once.

#![allow(unsafe_code, reason = "an operation that has come in makes its guards")]

use super::class::{Class, Route};
use super::line::Turn;
use super::visit::{Progress, Visit};
use super::{EnterError, Guard, Object};
use crate::primitives::spin::pause;
use crate::processor::entered;
use crate::yield_now;
use std::future::poll_fn;
use std::task::Poll;

/// Enters two objects, for an operation on both. The task goes to the home of the one that it
/// enters first, by their addresses, so that tasks which enter the same two meet. It enters the
/// other one from there, wherever its home is.
///
/// # Errors
/// As [`Object::enter`]; also if both are the same object.
///
/// # Cancel safety
/// A future that is dropped is inside neither.
///
/// # Cost
/// As much as two entries; an object at home elsewhere has to be fetched. If another operation is
/// inside the second one, the task leaves the first one and begins anew at its next turn, or, if
/// the second one is [held](Object::enter_held), at its turn in line.
///
/// # Examples
/// ```
/// use evenkeel::object::{Object, enter2};
/// let runtime = evenkeel::Runtime::new().unwrap();
/// runtime.block_on(async {
///     let (from, to) = (Object::new(10), Object::new(0));
///     {
///         let (mut from, mut to) = enter2(&from, &to).await.unwrap();
///         *from -= 3;
///         *to += 3;
///     }
///     assert_eq!(to.with(|sum| *sum).await.unwrap(), 3);
/// });
/// ```
pub async fn enter2<'a, A: Send, B: Send>(
    a: &'a Object<A>,
    b: &'a Object<B>,
) -> Result<(Guard<'a, A>, Guard<'a, B>), EnterError> {
    if let Some(both) = enter_both_at_once(a, b) {
        return Ok(both);
    }
    if a.inner.door.address() <= b.inner.door.address() {
        return enter_in_order(a, b).await;
    }
    let (b, a) = enter_in_order(b, a).await?;
    Ok((a, b))
}

/// Enters two objects: `second` is entered without a wait inside `first`.
async fn enter_in_order<'a, A: Send, B: Send>(
    first: &'a Object<A>,
    second: &'a Object<B>,
) -> Result<(Guard<'a, A>, Guard<'a, B>), EnterError> {
    let (mut turn, mut progress) = (None, Progress::NEW);
    loop {
        {
            let first = first.enter_with(&mut turn, progress).await?;
            if let Some(second) = second.enter_also()? {
                return Ok((first, second));
            }
        }
        progress = Progress::AGAIN;
        second.give_way(&mut turn).await?;
    }
}

/// Enters two objects where the task is, if both are free and of classes in place. No task waits in
/// between, so no order is needed; a processor would mispredict the branch on the order.
#[inline(always)]
fn enter_both_at_once<'a, A: Send, B: Send>(
    a: &'a Object<A>,
    b: &'a Object<B>,
) -> Option<(Guard<'a, A>, Guard<'a, B>)> {
    let (a, b) = (&*a.inner, &*b.inner);
    // SAFETY: only this call uses it.
    let context = unsafe { entered::current() }?;
    let in_place = |class: &Class| class.route() == Route::InPlace;
    if context.shared().is_anything_elsewhere() && !(in_place(&a.class) && in_place(&b.class)) {
        return None;
    }
    let mut looks = context.operations.looks.get();
    if looks.count() || looks.count() {
        return None;
    }
    let first = a.door.enter_in_place(context)?;
    let Some(second) = b.door.enter_in_place(context) else {
        a.door.leave();
        return None;
    };
    context.operations.looks.set(looks);
    // SAFETY: this thread has just come in.
    let a = unsafe { Guard::new(a, first) };
    // SAFETY: as above.
    let b = unsafe { Guard::new(b, second) };
    Some((a, b))
}

impl<T: Send> Object<T> {
    /// Waits, outside both objects, for the task that is inside this one. If that task holds the
    /// object, the caller waits for its turn in line, and keeps it; otherwise for a turn of other
    /// tasks.
    async fn give_way(&self, turn: &mut Option<Turn>) -> Result<(), EnterError> {
        let (mut has_waited, mut waiter) = (false, None);
        if self.inner.door.is_held() {
            // The previous turn is given back first: a task that has a turn waits for no other.
            *turn = None;
            *turn = Some(self.inner.turn().await?);
            return Ok(());
        }
        let is_left = poll_fn(|cx| {
            if entered::with(|context| self.inner.waits(context, cx.waker(), || &mut waiter)) {
                has_waited = true;
                *turn = None;
                return Poll::Pending;
            }
            Poll::Ready(())
        });
        is_left.await;
        if !has_waited {
            // The operation inside may be about to leave.
            pause();
            yield_now().await;
        }
        Ok(())
    }

    /// Enters the object with the turn in line of another object in hand. If the task waits in line
    /// here too, it gives that turn back: those before it here may wait for the other object.
    async fn enter_with(
        &self,
        turn: &mut Option<Turn>,
        progress: Progress,
    ) -> Result<Guard<'_, T>, EnterError> {
        let mut visit = Visit::from(progress);
        let way = poll_fn(|cx| {
            let poll = visit.poll::<T, false>(&self.inner, cx);
            let waits = poll.is_pending()
                && entered::with(|context| {
                    self.inner.waits(context, cx.waker(), || visit.kept_waiter())
                });
            if waits || visit.is_in_line() {
                *turn = None;
            }
            poll
        })
        .await?;
        // SAFETY: this thread has just come in, and what follows is the same poll.
        Ok(unsafe { Guard::new(&self.inner, way) })
    }

    /// Enters the object beside another, wherever its home is. None if an operation is inside.
    fn enter_also(&self) -> Result<Option<Guard<'_, T>>, EnterError> {
        entered::with(|context| match self.inner.door.enter_here(&self.inner.class, context) {
            Ok(way) => self.have_entered(way, context).map(Some),
            Err(_) => self.inner.refuse_own(context).map(|()| None),
        })
    }
}

/// Enters any number of objects at once, for an operation on all. As with [`enter2`], the task goes
/// to the home of the object that it enters first, by their addresses. If an operation is inside
/// another one, the task leaves all until its next turn, or its turn in line.
///
/// The guards are in the order of `objects`.
///
/// # Errors
/// As [`Object::enter`]; also if two of them are the same object.
///
/// # Cancel safety
/// A future that is dropped is inside none.
///
/// # Cost
/// As much as that many entries, of which all but the first are by the lock, wherever the homes
/// are. As with [`enter2`], objects at home elsewhere have to be fetched. In addition an allocation
/// for the guards, and one for the order.
///
/// # Examples
/// ```
/// use evenkeel::object::{Object, enter_all};
/// let runtime = evenkeel::Runtime::new().unwrap();
/// runtime.block_on(async {
///     let accounts: Vec<_> = (0..5).map(|n| Object::new(n)).collect();
///     let all: Vec<_> = accounts.iter().collect();
///     let sum: i32 = enter_all(&all).await.unwrap().iter().map(|balance| **balance).sum();
///     assert_eq!(sum, 10);
/// });
/// ```
pub async fn enter_all<'a, T: Send>(
    objects: &[&'a Object<T>],
) -> Result<Vec<Guard<'a, T>>, EnterError> {
    let mut order: Vec<usize> = (0..objects.len()).collect();
    order.sort_unstable_by_key(|&place| objects[place].inner.door.address());
    let Some((&first, rest)) = order.split_first() else { return Ok(Vec::new()) };
    let (mut turn, mut turn_of, mut progress) = (None, first, Progress::NEW);
    loop {
        let taken = 'entering: {
            let guard = objects[first].enter_with(&mut turn, progress).await?;
            let mut guards = Vec::with_capacity(objects.len());
            guards.push(guard);
            for &place in rest {
                let Some(guard) = objects[place].enter_also()? else { break 'entering place };
                guards.push(guard);
            }
            // In the order of `objects`, without a second allocation: each exchange brings a guard
            // to its place.
            for at in 0..order.len() {
                while order[at] != at {
                    let place = order[at];
                    guards.swap(at, place);
                    order.swap(at, place);
                }
            }
            return Ok(guards);
        };
        if std::mem::replace(&mut turn_of, taken) != taken {
            turn = None;
        }
        progress = Progress::AGAIN;
        objects[taken].give_way(&mut turn).await?;
    }
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use super::*;
    use std::pin::pin;
    use std::sync::mpsc;
    use std::task::{Context, Poll, Waker};
    use std::thread;

    /// A task that has had its turn in the line of the second object is not overtaken by the next
    /// one there while it comes to the first one.
    #[test]
    fn a_turn_in_line_is_kept_until_both_are_entered() {
        let mut cx = Context::from_waker(Waker::noop());
        let mut objects = [Object::new(0), Object::new(0)];
        objects.sort_by_key(|object| object.inner.door.address());
        let [first, second] = &objects;
        let mut before = Box::pin(second.enter_held());
        let Poll::Ready(Ok(held)) = before.as_mut().poll(&mut cx) else { panic!("it is free") };
        let (told, waits) = (mpsc::channel(), mpsc::channel::<()>());
        thread::scope(|scope| {
            let (tell, wait) = (told.0, waits.1);
            // If this thread fails, the other one does not wait for it.
            let (go, heard) = (waits.0, told.1);
            // Each thread stands for a task of its own.
            let both = scope.spawn(move || {
                let mut cx = Context::from_waker(Waker::noop());
                let mut both = pin!(enter2(first, second));
                assert!(both.as_mut().poll(&mut cx).is_pending());
                tell.send(()).unwrap();
                wait.recv().unwrap();
                assert!(
                    both.as_mut().poll(&mut cx).is_pending(),
                    "an operation is inside of the first"
                );
                tell.send(()).unwrap();
                wait.recv().unwrap();
                loop {
                    if let Poll::Ready(guards) = both.as_mut().poll(&mut cx) {
                        let (mut one, mut other) = guards.unwrap();
                        (*one, *other) = (1, 1);
                        return;
                    }
                }
            });
            let step = || heard.recv().unwrap();
            step();
            let inside = first.try_enter().unwrap().expect("it is free");
            drop((held, before));
            go.send(()).unwrap();
            step();
            let mut next = Box::pin(second.enter_held());
            assert!(next.as_mut().poll(&mut cx).is_pending(), "it is not its turn yet");
            drop(inside);
            go.send(()).unwrap();
            both.join().unwrap();
            let Poll::Ready(Ok(held)) = next.as_mut().poll(&mut cx) else { panic!("it is free") };
            assert_eq!(*held, 1);
        });
    }
}
