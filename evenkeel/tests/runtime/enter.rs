//! Entering a runtime by a guard: what finds it, on which thread, and until when.

use crate::common::panics::message;
use crate::common::runtime::runtime;
use crate::common::until::until;
use crate::common::watchdog::watchdog;
use evenkeel::fork_join::join;
use evenkeel::task::{Builder as TaskBuilder, JoinSet};
use evenkeel::time::{Duration, Instant, sleep};
use evenkeel::{Builder, EnterGuard, Handle, Runtime, Shutdown};
use std::cell::RefCell;
use std::future::{Future, poll_fn};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::task::{Context, Waker};
use std::{mem, thread};

const MINUTE: Duration = Duration::from_secs(60);

fn paused() -> Runtime {
    Builder::new().workers(1).start_paused(true).build().expect("the runtime starts")
}

fn is_current(runtime: &Runtime) -> bool {
    Handle::try_current().is_some_and(|current| current.ptr_eq(&runtime.handle()))
}

/// Runs `future` as a task of the thread's current runtime, and returns that runtime.
fn home_of_a_spawn() -> Handle {
    let task = evenkeel::spawn(async { Handle::current() });
    thread::spawn(|| evenkeel::block_on(task).unwrap()).join().unwrap()
}

#[test]
fn what_looks_for_a_runtime_finds_the_entered_one() {
    let _watchdog = watchdog();
    for workers in [1, 2, 8] {
        let runtime = runtime(workers);
        {
            let _entered = runtime.enter();
            assert!(is_current(&runtime));
            assert!(home_of_a_spawn().ptr_eq(&runtime.handle()));
            let named = TaskBuilder::new().name("gig").spawn(async { Handle::current() });
            assert!(evenkeel::block_on(named).unwrap().ptr_eq(&runtime.handle()));
            let closure = evenkeel::spawn_blocking(Handle::current);
            assert!(evenkeel::block_on(closure).unwrap().ptr_eq(&runtime.handle()));
            let mut set = JoinSet::new();
            set.spawn(async { Handle::current() });
            let joined = evenkeel::block_on(set.join_next()).unwrap().unwrap();
            assert!(joined.ptr_eq(&runtime.handle()));
            let start = Instant::now();
            evenkeel::block_on(sleep(Duration::from_millis(1)));
            assert!(start.elapsed() >= Duration::from_millis(1));
            let (one, other) = join(Handle::current, Handle::current);
            assert!(one.ptr_eq(&runtime.handle()) && other.ptr_eq(&runtime.handle()));
            // The thread is outside: it may block on the runtime.
            assert_eq!(runtime.block_on(async { 1 }), 1);
            assert!(is_current(&runtime));
        }
        assert!(Handle::try_current().is_none());
        catch_unwind(|| drop(evenkeel::spawn(async {}))).unwrap_err();
    }
}

#[cfg(all(feature = "net", unix))]
#[test]
fn sockets_wait_in_the_entered_runtime() {
    use evenkeel::net::{TcpListener, TcpStream};
    let _watchdog = watchdog();
    let runtime = runtime(1);
    let exchange = async {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let address = listener.local_addr()?;
        let client = thread::spawn(move || {
            use std::io::Write;
            std::net::TcpStream::connect(address)?.write_all(b"ahoy")
        });
        let stream: TcpStream = listener.accept().await?.0;
        let mut text = [0; 4];
        stream.read_exact(&mut text).await?;
        client.join().expect("the client does not panic")?;
        std::io::Result::Ok(text)
    };
    let _entered = runtime.enter();
    assert_eq!(evenkeel::block_on(exchange).unwrap(), *b"ahoy");
}

#[test]
fn guards_nest() {
    let (first, second) = (runtime(1), runtime(1));
    let outer = first.enter();
    {
        let _inner = second.enter();
        assert!(is_current(&second));
        {
            let _again = first.enter();
            assert!(is_current(&first));
        }
        assert!(is_current(&second));
        second.block_on(async { assert!(is_current(&second)) });
        first.block_on(async {
            assert!(is_current(&first));
            let _inside = second.enter();
            assert!(is_current(&second));
        });
        assert!(is_current(&second));
    }
    assert!(is_current(&first));
    drop(outer);
    assert!(Handle::try_current().is_none());
}

#[test]
fn the_drop_out_of_order_panics_and_leaves_the_later_runtime() {
    let (first, second) = (runtime(1), runtime(1));
    let outer = first.enter();
    let inner = second.enter();
    let panic = catch_unwind(AssertUnwindSafe(|| drop(outer))).unwrap_err();
    assert!(message(&*panic).contains("reverse of the order"), "{}", message(&*panic));
    assert!(is_current(&second));
    drop(inner);
    assert!(Handle::try_current().is_none());

    // A `block_on` is a later entry too.
    let outer = first.enter();
    second.block_on(async {
        let panic = catch_unwind(AssertUnwindSafe(|| drop(outer))).unwrap_err();
        assert!(message(&*panic).contains("reverse of the order"));
        assert!(is_current(&second));
    });
    assert!(Handle::try_current().is_none());

    // A guard that comes out of a `block_on` goes on.
    let handle = first.handle();
    let guard = second.block_on(async { handle.enter() });
    assert!(is_current(&first));
    drop(guard);
    assert!(Handle::try_current().is_none());
}

#[test]
fn a_panic_drops_guards_in_any_order() {
    let (first, second) = (runtime(1), runtime(1));
    let panic = catch_unwind(AssertUnwindSafe(|| {
        // The parts of a pair are dropped from the first to the last.
        let _pair = (first.enter(), second.enter());
        panic!("man overboard");
    }));
    assert_eq!(message(&*panic.unwrap_err()), "man overboard");
    assert!(Handle::try_current().is_none());
}

#[test]
fn a_task_enters_another_runtime() {
    let _watchdog = watchdog();
    for workers in [1, 2, 8] {
        let (own, other) = (runtime(workers), runtime(1));
        let (ours, theirs) = (own.handle(), other.handle());
        let task = own.spawn(async move {
            for _ in 0..100 {
                let back = {
                    let _entered = theirs.enter();
                    assert!(Handle::current().ptr_eq(&theirs));
                    assert!(home_of_a_spawn().ptr_eq(&theirs));
                    let id = evenkeel::task::current().id();
                    let back = {
                        let _back = ours.enter();
                        assert!(Handle::current().ptr_eq(&ours));
                        // It may be this worker's, and is awaited below.
                        evenkeel::spawn(async { Handle::current() })
                    };
                    assert!(home_of_a_spawn().ptr_eq(&theirs));
                    assert_eq!(evenkeel::task::current().id(), id);
                    let blocked = || evenkeel::block_on(async {});
                    assert!(
                        message(&*catch_unwind(blocked).unwrap_err()).contains("inside a task")
                    );
                    let panics = AssertUnwindSafe(|| {
                        let _again = theirs.enter();
                        panic!("man overboard");
                    });
                    catch_unwind(panics).unwrap_err();
                    back
                };
                assert!(back.await.unwrap().ptr_eq(&ours));
                assert!(Handle::current().ptr_eq(&ours));
                let spawned = evenkeel::spawn(async { Handle::current() });
                assert!(spawned.await.unwrap().ptr_eq(&ours));
            }
        });
        own.block_on(task).unwrap();
        assert!(other.metrics().spawned_outside >= 200);
    }
}

#[test]
fn a_poll_inside_another_runtime_waits_by_its_clock() {
    let _watchdog = watchdog();
    for workers in [1, 2, 8] {
        let (own, other) = (runtime(workers), paused());
        let theirs = other.handle();
        let task = own.spawn(async move {
            let start = {
                let _entered = theirs.enter();
                let start = Instant::now();
                let real = std::time::Instant::now();
                while real.elapsed() < Duration::from_millis(1) {}
                assert_eq!(Instant::now(), start, "it stands");
                start
            };
            let mut nap = pin!({
                let _entered = theirs.enter();
                sleep(MINUTE)
            });
            poll_fn(|cx| {
                let _entered = theirs.enter();
                nap.as_mut().poll(cx)
            })
            .await;
            let _entered = theirs.enter();
            assert!(start.elapsed() >= MINUTE);
        });
        own.block_on(task).unwrap();
    }
}

#[test]
fn a_clock_that_stands_waits_for_blocked_threads_and_not_for_guards() {
    let _watchdog = watchdog();
    let (runtime, other) = (paused(), paused());
    let _entered = runtime.enter();
    let task = evenkeel::spawn(sleep(MINUTE));
    until(|| task.is_finished());

    // Another task could have the clock move on while this thread has yet to see its own deadline.
    let ticks = evenkeel::spawn(async {
        loop {
            sleep(Duration::from_secs(1)).await;
        }
    });
    evenkeel::block_on(async {
        let start = Instant::now();
        for n in 1..=100 {
            sleep(MINUTE).await;
            assert_eq!(start.elapsed(), n * MINUTE);
        }
    });
    ticks.abort();
    // Inside again, the thread counts once: asleep, it keeps no clock.
    runtime.block_on(async {
        let _entered = other.enter();
        let start = Instant::now();
        evenkeel::block_on(sleep(MINUTE));
        assert_eq!(start.elapsed(), MINUTE);
        runtime.block_on(async {
            let start = Instant::now();
            sleep(MINUTE).await;
            assert_eq!(start.elapsed(), MINUTE);
        });
    });
}

#[test]
fn a_runtime_that_is_over_is_entered_and_refuses() {
    let _watchdog = watchdog();
    let runtime = runtime(2);
    let handle = runtime.handle();
    runtime.shutdown(Shutdown::Drain);
    let _entered = handle.enter();
    assert!(Handle::current().is_shutting_down());
    assert!(evenkeel::block_on(evenkeel::spawn(async {})).unwrap_err().is_cancelled());
    assert!(evenkeel::block_on(evenkeel::spawn_blocking(|| {})).unwrap_err().is_cancelled());
    let nap = || {
        let mut nap = pin!(sleep(MINUTE));
        let _ = nap.as_mut().poll(&mut Context::from_waker(Waker::noop()));
    };
    assert!(message(&*catch_unwind(nap).unwrap_err()).contains("has ended"));
}

#[test]
fn a_runtime_shuts_down_while_it_is_entered() {
    let _watchdog = watchdog();
    let runtime = runtime(1);
    let handle = runtime.handle();
    let _entered = handle.enter();
    let task = evenkeel::spawn(std::future::pending::<()>());
    drop(runtime);
    assert!(evenkeel::block_on(task).unwrap_err().is_cancelled());
}

#[test]
fn a_guard_ends_with_its_thread() {
    thread_local! {
        static KEPT: RefCell<Vec<EnterGuard<'static>>> = const { RefCell::new(Vec::new()) };
    }
    let _watchdog = watchdog();
    let runtime = runtime(1);
    let handle: &'static Handle = Box::leak(Box::new(runtime.handle()));
    let threads = [
        thread::spawn(|| mem::forget(handle.enter())),
        // Kept in a variable that may be destroyed before those of the library, or after them.
        thread::spawn(|| KEPT.with_borrow_mut(|kept| kept.push(handle.enter()))),
        thread::spawn(|| {
            KEPT.with_borrow_mut(Vec::clear);
            KEPT.with_borrow_mut(|kept| kept.push(handle.enter()));
        }),
        thread::spawn(|| {
            let guard = handle.enter();
            KEPT.with_borrow_mut(|kept| kept.push(guard));
            assert!(home_of_a_spawn().ptr_eq(handle));
        }),
    ];
    for thread in threads {
        thread.join().unwrap();
    }
}

/// A guard may be looked at by other threads, and is not sent to them.
#[test]
fn a_guard_is_shared_and_not_sent() {
    fn is_shared<T: Sync>() {}
    is_shared::<EnterGuard<'_>>();

    trait Unsent<A> {
        fn is_unsent() {}
    }
    impl<T: ?Sized> Unsent<()> for T {}
    impl<T: ?Sized + Send> Unsent<u8> for T {}
    // Ambiguous, and so no program, for a type that is sent.
    <EnterGuard<'_> as Unsent<_>>::is_unsent();
}
