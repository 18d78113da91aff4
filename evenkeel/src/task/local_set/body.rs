//! The future of a local task, with its panics contained.

use crate::primitives::unwind::{contain, unwinding};
use std::any::Any;
use std::future::{Future, poll_fn};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::{Pin, pin};
use std::task::Poll;

/// Runs `future` to its end and drops it. Returns its output, or the panic of a poll, or that of
/// the drop, and then the output is lost.
///
/// The future is dropped while the panic of a poll unwinds, as a thread's closure is. No panic
/// unwinds this function: a second one, of a destructor, would abort the process.
pub(super) async fn run<F: Future>(future: F) -> Result<F::Output, Box<dyn Any + Send>> {
    let mut future = pin!(Some(future));
    poll_fn(move |cx| {
        let poll = |future: &mut Pin<&mut Option<F>>| {
            let future = future.as_mut().as_pin_mut();
            future.expect("it is polled to its end, and no more").poll(cx)
        };
        let drop_it = |future: &mut Pin<&mut Option<F>>| future.set(None);
        let polled = catch_unwind(AssertUnwindSafe(|| unwinding(future.as_mut(), poll, drop_it)));
        match polled {
            Ok(Poll::Pending) => Poll::Pending,
            Ok(Poll::Ready(output)) => {
                let dropped = catch_unwind(AssertUnwindSafe(|| future.set(None)));
                Poll::Ready(match dropped {
                    Ok(()) => Ok(output),
                    Err(payload) => {
                        contain(|| drop(output));
                        Err(payload)
                    }
                })
            }
            Err(payload) => Poll::Ready(Err(payload)),
        }
    })
    .await
}
