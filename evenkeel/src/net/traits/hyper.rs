//! The traits of `hyper::rt`: streams, tasks and timers.

#![allow(unsafe_code, reason = "hyper lends memory that was never written")]

use super::super::operations::{close, read_uninit};
use super::super::{TcpStream, UnixStream, tcp, unix};
use super::{streams, write_trait};
use crate::readiness::source::Direction;
use crate::task::spawn;
use crate::time::{self, Instant};
use ::hyper::rt::{Executor, Read, ReadBufCursor, Sleep, Timer, Write};
use std::future::Future;
use std::io::{IoSlice, Result};
use std::net::Shutdown;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

macro_rules! reader {
    ($Stream:ty, $Type:ty) => {
        impl Read for $Type {
            /// Reads. A buffer without room is filled at once.
            fn poll_read(
                self: Pin<&mut Self>,
                cx: &mut Context<'_>,
                mut buffer: ReadBufCursor<'_>,
            ) -> Poll<Result<()>> {
                // SAFETY: a read writes bytes into the room, and makes none uninitialised.
                let room = unsafe { buffer.as_mut() };
                if room.is_empty() {
                    return Poll::Ready(Ok(()));
                }
                let operation = |stream: &_| read_uninit(stream, room);
                let n = ready!(<$Stream>::io(&self).poll(cx, Direction::Read, operation))?;
                // SAFETY: the read has written the first `n` bytes of the room.
                unsafe { buffer.advance(n) };
                Poll::Ready(Ok(()))
            }
        }
    };
}

streams!(reader, Write, poll_shutdown, {
    fn is_write_vectored(&self) -> bool {
        true
    }
});

/// Has hyper spawn its tasks on the current runtime.
///
/// # Panics
/// `execute` panics if its caller belongs to no runtime.
///
/// # Examples
/// A page, which a server of hyper gives to a client of hyper:
/// ```
/// use evenkeel::net::{HyperExecutor, HyperTimer, TcpListener, TcpStream};
/// use hyper::rt::Executor;
/// use hyper::service::service_fn;
/// use hyper::{Request, Response, body::Incoming};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let runtime = evenkeel::Runtime::new()?;
/// runtime.block_on(async {
///     let listener = TcpListener::bind("127.0.0.1:0").await?;
///     let address = listener.local_addr()?;
///     evenkeel::spawn(async move {
///         let (stream, _) = listener.accept().await.unwrap();
///         let page = async |_: Request<Incoming>| Response::builder().body("hello".to_owned());
///         let mut server = hyper::server::conn::http1::Builder::new();
///         server.timer(HyperTimer).serve_connection(stream, service_fn(page)).await.unwrap();
///     })
///     .detach();
///     let stream = TcpStream::connect(address).await?;
///     let (mut client, connection) = hyper::client::conn::http1::handshake(stream).await?;
///     HyperExecutor.execute(connection);
///     let answer = client.send_request(Request::new(String::new())).await?;
///     assert_eq!(answer.status(), 200);
///     Ok(())
/// })
/// # }
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct HyperExecutor;

impl<F> Executor<F> for HyperExecutor
where
    F: Future + Send + 'static,
    F::Output: Send + 'static,
{
    #[track_caller]
    fn execute(&self, future: F) {
        // A task without its handle runs on.
        drop(spawn(future));
    }
}

/// Has hyper wait by the timers and the clock of the runtime. Its deadlines are those of
/// [`sleep`](crate::time::sleep()).
///
/// # Panics
/// The futures panic as [`sleep`](crate::time::sleep()) does: if they are first polled outside of
/// any runtime, or if it ends before the deadline.
///
/// # Cost
/// Each sleep is one allocation, which `reset` uses again.
///
/// # Examples
/// ```
/// use evenkeel::net::HyperTimer;
/// use evenkeel::time::Duration;
/// use hyper::rt::Timer;
/// let runtime = evenkeel::Builder::new().start_paused(true).build().unwrap();
/// runtime.block_on(async {
///     let start = HyperTimer.now();
///     HyperTimer.sleep(Duration::from_secs(60)).await;
///     assert_eq!(HyperTimer.now() - start, Duration::from_secs(60));
/// });
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct HyperTimer;

impl Timer for HyperTimer {
    fn sleep(&self, duration: Duration) -> Pin<Box<dyn Sleep>> {
        Box::pin(time::sleep(duration))
    }

    fn sleep_until(&self, deadline: std::time::Instant) -> Pin<Box<dyn Sleep>> {
        Box::pin(time::sleep_until(Instant::from_std(deadline)))
    }

    fn now(&self) -> std::time::Instant {
        Instant::now().into_std()
    }

    fn reset(&self, sleep: &mut Pin<Box<dyn Sleep>>, new_deadline: std::time::Instant) {
        match sleep.as_mut().downcast_mut_pin::<time::Sleep>() {
            Some(sleep) => sleep.reset(Instant::from_std(new_deadline)),
            None => *sleep = self.sleep_until(new_deadline),
        }
    }
}

impl Sleep for time::Sleep {}
