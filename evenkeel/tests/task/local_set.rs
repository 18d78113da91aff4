//! Tasks that are not `Send`: on which thread and in which order they run, how they wake and end.

use crate::common::counting::Counting;
use crate::common::panics::{Bomb, message};
use crate::common::runtime::runtime;
use crate::common::unwinds::Unwinds;
use crate::common::watchdog::watchdog;
use evenkeel::deterministic::{explore, random};
use evenkeel::task::{AbortHandle, LocalJoinHandle, LocalSet, TaskPanic, spawn_local};
use evenkeel::time::{Duration, Instant, sleep};
use evenkeel::{Builder, spawn_blocking, yield_now};
use futures::StreamExt;
use futures::future::join;
use futures::stream::FuturesUnordered;
use std::cell::{Cell, RefCell};
use std::future::{Future, pending, poll_fn};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::task::{Context, Poll, Waker};
use std::thread::{self, ThreadId};

/// Records the thread on which it is dropped.
struct Dropped(Arc<Mutex<Vec<ThreadId>>>);

impl Drop for Dropped {
    fn drop(&mut self) {
        self.0.lock().unwrap().push(thread::current().id());
    }
}

/// Counts its polls in `polls`, and leaves its waker in `waker`.
async fn counted(polls: Rc<Cell<u32>>, waker: Arc<Mutex<Option<Waker>>>) {
    poll_fn::<(), _>(|cx| {
        polls.set(polls.get() + 1);
        *waker.lock().unwrap() = Some(cx.waker().clone());
        Poll::Pending
    })
    .await;
}

#[test]
fn tasks_run_on_their_thread_first_in_first_out() {
    let _watchdog = watchdog();
    for workers in [1, 2, 8] {
        let runtime = runtime(workers);
        let set = LocalSet::new();
        let here = thread::current().id();
        let turns = Rc::new(RefCell::new(Vec::new()));
        let tasks: Vec<_> = (0..3)
            .map(|n| {
                let turns = turns.clone();
                set.spawn_local(async move {
                    for _ in 0..3 {
                        assert_eq!(thread::current().id(), here);
                        turns.borrow_mut().push(n);
                        yield_now().await;
                    }
                    Rc::new(n)
                })
            })
            .collect();
        assert!(turns.borrow().is_empty(), "a set runs nothing before it is driven");
        set.block_on(&runtime, async {
            for (n, task) in tasks.into_iter().enumerate() {
                assert_eq!(*task.await.unwrap(), n);
            }
        });
        assert_eq!(*turns.borrow(), [0, 1, 2, 0, 1, 2, 0, 1, 2]);
    }
}

#[test]
fn a_hundred_thousand_tasks() {
    const TASKS: usize = 100_000;
    let _watchdog = watchdog();
    let sum = Rc::new(Cell::new(0));
    let wakers = Rc::new(RefCell::new(Vec::new()));
    let mut set = LocalSet::new();
    for n in 0..TASKS {
        let (sum, wakers) = (sum.clone(), wakers.clone());
        drop(set.spawn_local(async move {
            let mut is_woken = false;
            poll_fn(|cx| {
                if is_woken {
                    return Poll::Ready(());
                }
                is_woken = true;
                wakers.borrow_mut().push(cx.waker().clone());
                Poll::Pending
            })
            .await;
            yield_now().await;
            sum.set(sum.get() + n);
        }));
    }
    evenkeel::block_on(set.run_until(async {
        while wakers.borrow().len() < TASKS {
            yield_now().await;
        }
    }));
    let wakers = wakers.take();
    let threads: Vec<_> = wakers
        .chunks(TASKS / 4)
        .map(|chunk| {
            let chunk = chunk.to_vec();
            thread::spawn(move || chunk.into_iter().for_each(Waker::wake))
        })
        .collect();
    evenkeel::block_on(&mut set);
    threads.into_iter().for_each(|thread| thread.join().unwrap());
    assert_eq!(sum.get(), TASKS * (TASKS - 1) / 2);
}

#[test]
fn a_task_that_wakes_itself_is_polled_again_behind_the_others() {
    let _watchdog = watchdog();
    let log = Rc::new(RefCell::new(Vec::new()));
    let set = LocalSet::new();
    let own = log.clone();
    let mut left = 3;
    drop(set.spawn_local(poll_fn(move |cx| {
        own.borrow_mut().push("self");
        // Twice, and one poll follows.
        cx.waker().wake_by_ref();
        cx.waker().wake_by_ref();
        left -= 1;
        if left == 0 { Poll::Ready(()) } else { Poll::Pending }
    })));
    let other = log.clone();
    drop(set.spawn_local(async move { other.borrow_mut().push("other") }));
    evenkeel::block_on(set);
    assert_eq!(*log.borrow(), ["self", "other", "self", "self"]);
}

#[test]
fn a_wake_from_another_thread_in_the_middle_of_a_poll_is_kept() {
    let _watchdog = watchdog();
    let set = LocalSet::new();
    let mut polls = 0;
    let task = set.spawn_local(poll_fn(move |cx| {
        polls += 1;
        if polls == 1_000 {
            return Poll::Ready(());
        }
        let waker = cx.waker().clone();
        let thread = thread::spawn(move || waker.wake());
        // In half of the polls the wake surely comes before their end.
        if polls % 2 == 0 {
            thread.join().unwrap();
        }
        Poll::Pending
    }));
    evenkeel::block_on(set.run_until(task)).unwrap();
}

#[test]
fn late_wakes_poll_no_other_task() {
    let _watchdog = watchdog();
    let set = LocalSet::new();
    let kept = Arc::new(Mutex::new(None));
    let leaves = kept.clone();
    let task = set.spawn_local(poll_fn(move |cx| {
        *leaves.lock().unwrap() = Some(cx.waker().clone());
        Poll::Ready(())
    }));
    evenkeel::block_on(set.run_until(task)).unwrap();
    let late = kept.lock().unwrap().take().unwrap();

    // In the same slot.
    let (polls, waker) = (Rc::new(Cell::new(0)), Arc::new(Mutex::new(None)));
    drop(set.spawn_local(counted(polls.clone(), waker.clone())));
    let turn = || evenkeel::block_on(set.run_until(yield_now()));
    turn();
    assert_eq!(polls.get(), 1);
    for _ in 0..10 {
        late.wake_by_ref();
        turn();
    }
    assert_eq!(polls.get(), 1);
    waker.lock().unwrap().as_ref().unwrap().wake_by_ref();
    turn();
    assert_eq!(polls.get(), 2);
    drop(set);
    // These outlive the set.
    thread::spawn(move || {
        late.wake_by_ref();
        waker.lock().unwrap().take().unwrap().wake();
        drop(late);
    })
    .join()
    .unwrap();
    assert_eq!(polls.get(), 2);
}

#[test]
fn a_poll_of_the_set_makes_a_bounded_number_of_polls() {
    let polls = Rc::new(Cell::new(0));
    let set = LocalSet::new();
    for _ in 0..3 {
        let polls = polls.clone();
        drop(set.spawn_local(async move {
            loop {
                polls.set(polls.get() + 1);
                yield_now().await;
            }
        }));
    }
    let count = Arc::new(Counting::default());
    let waker = Waker::from(count.clone());
    let mut outer = 0;
    let mut driver = pin!(set.run_until(poll_fn(|_| {
        outer += 1;
        if outer == 5 { Poll::Ready(()) } else { Poll::Pending }
    })));
    for n in 1..=4 {
        assert!(driver.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
        assert_eq!((polls.get(), count.wakes()), (64 * n, n as usize));
    }
    assert!(driver.as_mut().poll(&mut Context::from_waker(&waker)).is_ready());
    assert_eq!(polls.get(), 256);
}

#[test]
fn spawn_local_outside_of_a_set_panics() {
    let _watchdog = watchdog();
    let outside = || {
        let panic = catch_unwind(|| drop(spawn_local(async {}))).unwrap_err();
        message(&*panic).contains("outside of a `LocalSet`")
    };
    assert!(outside());
    // A worker's task is outside too, also if it is spawned inside.
    let runtime = runtime(1);
    LocalSet::new().block_on(&runtime, async {
        assert!(evenkeel::spawn(async move { outside() }).await.unwrap());
        assert_eq!(spawn_local(async { 1 }).await.unwrap(), 1);
    });
    assert!(outside());
}

#[test]
fn of_nested_sets_the_inner_one_is_current() {
    let _watchdog = watchdog();
    let outer = LocalSet::new();
    let log = Rc::new(RefCell::new(Vec::new()));
    let note = |text| {
        let log = log.clone();
        async move { log.borrow_mut().push(text) }
    };
    let (first, second, third) = (note("outer"), note("inner"), note("outer again"));
    let (left, inner_log) = (note("left in the inner set"), log.clone());
    let task = outer.spawn_local(async move {
        spawn_local(first).await.unwrap();
        let inner = LocalSet::new();
        inner.run_until(async { spawn_local(second).await.unwrap() }).await;
        drop(inner.spawn_local(left));
        spawn_local(third).await.unwrap();
        assert_eq!(inner_log.borrow().len(), 3);
        inner.await;
    });
    evenkeel::block_on(outer.run_until(task)).unwrap();
    assert_eq!(*log.borrow(), ["outer", "inner", "outer again", "left in the inner set"]);
}

#[test]
fn local_tasks_spawn_local_tasks() {
    let _watchdog = watchdog();
    fn chain(depth: u32) -> LocalJoinHandle<Rc<u32>> {
        spawn_local(async move {
            if depth == 0 {
                return Rc::new(0);
            }
            Rc::new(*chain(depth - 1).await.unwrap() + 1)
        })
    }
    let depth =
        evenkeel::block_on(LocalSet::new().run_until(async { chain(1_000).await.unwrap() }));
    assert_eq!(*depth, 1_000);
}

#[test]
fn panics_go_to_the_joiner_or_to_the_hook() {
    let _watchdog = watchdog();
    let (sender, reports) = mpsc::channel();
    let hook =
        move |panic: &TaskPanic<'_>| sender.send((panic.task.clone(), panic.to_string())).unwrap();
    let runtime = Builder::new().workers(1).on_task_panic(hook).build().unwrap();
    let set = LocalSet::new();
    set.block_on(&runtime, async {
        let noted = Arc::new(Mutex::new(Vec::new()));
        let error = spawn_local(Unwinds::new(&noted, || {})).await.unwrap_err();
        assert_eq!(error.into_panic().downcast_ref(), Some(&"first"));
        // A second panic, while the first one unwinds.
        let error = spawn_local(Unwinds::new(&noted, || panic!("second"))).await.unwrap_err();
        assert_eq!(error.into_panic().downcast_ref(), Some(&"first"));
        assert_eq!(*noted.lock().unwrap(), [true, true]);

        // Complete, and its future panics as it is dropped.
        let mut bomb = Some(Bomb("bomb"));
        let ready = poll_fn(move |_| {
            if bomb.is_some() {
                Poll::Ready(1)
            } else {
                bomb.take();
                Poll::Pending
            }
        });
        assert!(spawn_local(ready).await.unwrap_err().is_panic());
        // Aborted.
        let bomb = Bomb("bomb");
        let waits = spawn_local(async move {
            let _bomb = bomb;
            pending::<()>().await;
        });
        yield_now().await;
        waits.abort();
        assert_eq!(message(&*waits.await.unwrap_err().into_panic()), "bomb");
        assert!(reports.try_recv().is_err());

        let lost = spawn_local(async { panic!("no more tea") });
        let id = lost.id();
        drop(lost);
        yield_now().await;
        yield_now().await;
        let (info, report) = reports.try_recv().unwrap();
        assert_eq!(info.id, id);
        assert!(info.spawn_site.file().ends_with("local_set.rs"));
        assert!(report.contains("no more tea"), "{report}");
        // Finished before its handle is dropped.
        let late = spawn_local(async { panic!("no more rum") });
        while !late.is_finished() {
            yield_now().await;
        }
        drop(late);
        assert!(reports.try_recv().unwrap().1.contains("no more rum"));
        // The output's destructor has no joiner.
        drop(spawn_local(async { Bomb("bomb") }));
        yield_now().await;
        yield_now().await;
        assert_eq!(spawn_local(async { 1 }).await.unwrap(), 1);
    });
}

#[test]
fn the_panic_of_the_future_leaves_the_set_as_it_was() {
    let set = LocalSet::new();
    let task = set.spawn_local(async { 1 });
    let panics = AssertUnwindSafe(|| {
        evenkeel::block_on(set.run_until(async {
            yield_now().await;
            panic!("man overboard");
        }));
    });
    assert_eq!(message(&*catch_unwind(panics).unwrap_err()), "man overboard");
    assert!(catch_unwind(|| drop(spawn_local(async {}))).is_err());
    assert_eq!(evenkeel::block_on(set.run_until(task)).unwrap(), 1);
}

#[test]
fn aborts() {
    let _watchdog = watchdog();
    let here = thread::current().id();
    let dropped = Arc::new(Mutex::new(Vec::new()));
    let waits = || {
        let dropped = Dropped(dropped.clone());
        async move {
            let _dropped = dropped;
            pending::<()>().await;
        }
    };
    let set = LocalSet::new();
    evenkeel::block_on(set.run_until(async {
        // Never polled, waiting, and from another thread.
        let fresh = spawn_local(waits());
        fresh.abort();
        assert!(!fresh.is_finished());
        let (waiting, other) = (spawn_local(waits()), spawn_local(waits()));
        assert!(fresh.await.unwrap_err().is_cancelled());
        waiting.abort();
        waiting.abort();
        let id = waiting.id();
        let error = waiting.await.unwrap_err();
        assert_eq!((error.is_cancelled(), error.id()), (true, id));
        let abort = other.abort_handle();
        assert_eq!(abort.id(), other.id());
        let copy = abort.clone();
        let thread = thread::spawn(move || copy.abort());
        assert!(other.await.unwrap_err().is_cancelled());
        assert!(abort.is_finished());
        abort.abort();
        thread.join().unwrap();
        assert_eq!(*dropped.lock().unwrap(), [here; 3]);

        // In the middle of its own poll.
        let own: Rc<RefCell<Option<AbortHandle>>> = Rc::default();
        for completes in [true, false] {
            let abort = own.clone();
            let task = spawn_local(poll_fn(move |_| {
                abort.borrow_mut().take().expect("one poll").abort();
                if completes { Poll::Ready(7) } else { Poll::Pending }
            }));
            *own.borrow_mut() = Some(task.abort_handle());
            match task.await {
                Ok(output) => assert!(completes && output == 7),
                Err(error) => assert!(!completes && error.is_cancelled()),
            }
        }
        // Complete.
        let complete = spawn_local(async { 7 });
        while !complete.is_finished() {
            yield_now().await;
        }
        complete.abort();
        assert_eq!(complete.await.unwrap(), 7);
    }));
}

#[test]
fn the_drop_of_a_set_drops_its_tasks_on_their_thread() {
    let _watchdog = watchdog();
    /// Spawns when it is dropped, in the set that is current then.
    struct Spawns(Rc<RefCell<Vec<LocalJoinHandle<()>>>>);
    impl Drop for Spawns {
        fn drop(&mut self) {
            self.0.borrow_mut().push(spawn_local(async { unreachable!("the set is over") }));
        }
    }

    let here = thread::current().id();
    let (dropped, late) = (Arc::new(Mutex::new(Vec::new())), Rc::new(RefCell::new(Vec::new())));
    let set = LocalSet::new();
    let waker = Arc::new(Mutex::new(None));
    let mut tasks = Vec::new();
    for n in 0..10 {
        // The first one ends before the set does.
        let spawns = (n > 0).then(|| Spawns(late.clone()));
        let dropped = Dropped(dropped.clone());
        let waits = counted(Rc::default(), waker.clone());
        tasks.push(set.spawn_local(async move {
            let _parts = (dropped, spawns);
            match n {
                0 => {}
                _ => waits.await,
            }
        }));
        if n == 5 {
            evenkeel::block_on(set.run_until(yield_now()));
        }
    }
    let bomb = Bomb("bomb");
    let explodes = set.spawn_local(async move { drop(bomb) });
    // One joiner waits on another thread, and one has left a waker.
    let joiner = thread::spawn({
        let task = tasks.pop().unwrap();
        move || evenkeel::block_on(task).unwrap_err().is_cancelled()
    });
    let count = Arc::new(Counting::default());
    let mut left = tasks.pop().unwrap();
    let polled = pin!(&mut left).poll(&mut Context::from_waker(&Waker::from(count.clone())));
    assert!(polled.is_pending());
    drop(set);
    assert!(joiner.join().unwrap());
    assert_eq!(count.wakes(), 1);
    assert!(evenkeel::block_on(left).unwrap_err().is_cancelled());
    assert_eq!(*dropped.lock().unwrap(), [here; 10]);
    assert!(evenkeel::block_on(tasks.remove(0)).is_ok());
    assert_eq!(late.borrow().len(), 9);
    for task in tasks.into_iter().chain(late.take()) {
        assert!(task.is_finished());
        assert!(evenkeel::block_on(task).unwrap_err().is_cancelled());
    }
    assert_eq!(message(&*evenkeel::block_on(explodes).unwrap_err().into_panic()), "bomb");
    waker.lock().unwrap().take().unwrap().wake();
}

#[test]
fn a_panic_may_drop_the_set() {
    let mut handles = Vec::new();
    let panic = catch_unwind(AssertUnwindSafe(|| {
        let set = LocalSet::new();
        for _ in 0..3 {
            let bomb = Bomb("bomb");
            handles.push(set.spawn_local(async move {
                let _bomb = bomb;
                assert!(thread::panicking());
                pending::<()>().await;
            }));
        }
        panic!("man overboard");
    }));
    assert_eq!(message(&*panic.unwrap_err()), "man overboard");
    for handle in handles {
        assert_eq!(message(&*evenkeel::block_on(handle).unwrap_err().into_panic()), "bomb");
    }
}

#[test]
fn handles_go_to_other_threads() {
    let _watchdog = watchdog();
    let here = thread::current().id();
    let dropped = Arc::new(Mutex::new(Vec::new()));
    let set = LocalSet::new();
    let (open, opens) = async_channel::bounded::<()>(1);
    let output = || {
        let (dropped, opens) = (Dropped(dropped.clone()), opens.clone());
        async move {
            let _ = opens.recv().await;
            dropped
        }
    };
    let joined = set.spawn_local(output());
    let (detached, left) = (set.spawn_local(output()), set.spawn_local(output()));
    let joiner = thread::spawn(move || {
        let output = evenkeel::block_on(joined).unwrap();
        drop(detached);
        drop(output);
        // The task of `left` has completed, or has been cancelled with its set.
        thread::current().id()
    });
    drop(open);
    evenkeel::block_on(set);
    let joiner = joiner.join().unwrap();
    assert!(left.is_finished());
    let last = thread::spawn(move || {
        drop(left);
        thread::current().id()
    });
    let last = last.join().unwrap();
    let dropped = dropped.lock().unwrap();
    assert_eq!(dropped.len(), 3);
    assert!(dropped.contains(&joiner) && dropped[2] == last, "{dropped:?}");
    assert!(dropped.iter().all(|thread| [here, joiner, last].contains(thread)));
}

#[test]
fn tasks_on_workers_wake_local_tasks() {
    let _watchdog = watchdog();
    for workers in [1, 2, 8] {
        let runtime = runtime(workers);
        let sum = LocalSet::new().block_on(&runtime, async {
            let sum = Rc::new(Cell::new(0));
            let mut receivers = Vec::new();
            for _ in 0..20 {
                let (sender, receiver) = async_channel::bounded(2);
                for _ in 0..4 {
                    let sender = sender.clone();
                    drop(evenkeel::spawn(async move {
                        for n in 0..50 {
                            sender.send(n).await.unwrap();
                        }
                    }));
                }
                let sum = sum.clone();
                receivers.push(spawn_local(async move {
                    while let Ok(n) = receiver.recv().await {
                        sum.set(sum.get() + n);
                    }
                }));
            }
            for receiver in receivers {
                receiver.await.unwrap();
            }
            sum.get()
        });
        assert_eq!(sum, 20 * 4 * 49 * 50 / 2);
    }
}

#[test]
fn each_of_several_drivers_is_woken() {
    let set = LocalSet::new();
    let (polls, waker) = (Rc::new(Cell::new(0)), Arc::new(Mutex::new(None::<Waker>)));
    drop(set.spawn_local(counted(polls.clone(), waker.clone())));
    let counts = [Arc::new(Counting::default()), Arc::new(Counting::default())];
    let [first, second] = counts.clone().map(Waker::from);
    let wake = || waker.lock().unwrap().as_ref().unwrap().wake_by_ref();

    let mut one = pin!(set.run_until(pending::<()>()));
    assert!(one.as_mut().poll(&mut Context::from_waker(&first)).is_pending());
    {
        let mut other = pin!(set.run_until(pending::<()>()));
        assert!(other.as_mut().poll(&mut Context::from_waker(&second)).is_pending());
        wake();
        assert_eq!((counts[0].wakes(), counts[1].wakes(), polls.get()), (1, 1, 1));
        // The other one is dropped, and has not polled.
    }
    assert!(one.as_mut().poll(&mut Context::from_waker(&first)).is_pending());
    assert_eq!(polls.get(), 2);
    wake();
    assert_eq!((counts[0].wakes(), counts[1].wakes()), (2, 1));
    // With another waker.
    assert!(one.as_mut().poll(&mut Context::from_waker(&second)).is_pending());
    wake();
    assert_eq!((counts[0].wakes(), counts[1].wakes(), polls.get()), (2, 2, 3));

    // Side by side in one task.
    let set = LocalSet::new();
    let meets = set.spawn_local(async { 1 });
    let (sum, ()) = evenkeel::block_on(join(set.run_until(meets), set.run_until(yield_now())));
    assert_eq!(sum.unwrap(), 1);
}

#[test]
fn a_set_is_awaited_again_and_again() {
    let _watchdog = watchdog();
    let mut set = LocalSet::default();
    evenkeel::block_on(&mut set);
    for n in 0..3 {
        let task = set.spawn_local(async move {
            yield_now().await;
            // It is not joined, and the set waits for it all the same.
            drop(spawn_local(yield_now()));
            Rc::new(n)
        });
        evenkeel::block_on(&mut set);
        assert!(task.is_finished());
        assert_eq!(*evenkeel::block_on(task).unwrap(), n);
        assert!(format!("{set:?}").contains("tasks: 0"));
    }
    // What a driver leaves behind is there for the next one.
    let waits = set.spawn_local(yield_now());
    evenkeel::block_on(set.run_until(async {}));
    assert!(!waits.is_finished());
    evenkeel::block_on(set.run_until(waits)).unwrap();
}

#[test]
fn a_blocking_closure_drives_a_set() {
    let _watchdog = watchdog();
    for workers in [1, 2, 8] {
        let runtime = runtime(workers);
        let sums = (0..4).map(|_| {
            runtime.spawn(async {
                let closure = spawn_blocking(|| {
                    let set = LocalSet::new();
                    evenkeel::Handle::current().block_on(set.run_until(async {
                        let part = Rc::new(1);
                        let other = evenkeel::spawn(async { 2 });
                        spawn_local(async move { *part + other.await.unwrap() }).await.unwrap()
                    }))
                });
                closure.await.unwrap()
            })
        });
        let sums: Vec<_> = sums.collect();
        for sum in sums {
            assert_eq!(runtime.block_on(sum).unwrap(), 3);
        }
    }
}

/// A `block_on` inside a local task drives the set that the task is in.
#[test]
fn a_nested_driver_loses_no_wake_of_the_task_around_it() {
    let _watchdog = watchdog();
    let set = Rc::new(LocalSet::new());
    let mut polls = 0;
    let own = set.clone();
    let task = set.spawn_local(poll_fn(move |cx| {
        polls += 1;
        if polls == 2 {
            return Poll::Ready(polls);
        }
        cx.waker().wake_by_ref();
        let other = own.spawn_local(yield_now());
        evenkeel::block_on(own.run_until(other)).unwrap();
        Poll::Pending
    }));
    assert_eq!(evenkeel::block_on(set.run_until(task)).unwrap(), 2);
}

#[test]
fn local_tasks_sleep_by_the_clock_of_the_runtime() {
    let _watchdog = watchdog();
    let runtime = Builder::new().workers(1).start_paused(true).build().unwrap();
    LocalSet::new().block_on(&runtime, async {
        let start = Instant::now();
        let log = Rc::new(RefCell::new(Vec::new()));
        let tasks: Vec<_> = [30, 10, 20]
            .map(|seconds| {
                let log = log.clone();
                spawn_local(async move {
                    sleep(Duration::from_secs(seconds)).await;
                    log.borrow_mut().push(start.elapsed().as_secs());
                })
            })
            .into();
        for task in tasks {
            task.await.unwrap();
        }
        assert_eq!(*log.borrow(), [10, 20, 30]);
    });
}

#[test]
fn handles_are_joined_in_the_order_in_which_tasks_finish() {
    let _watchdog = watchdog();
    let runtime = Builder::new().workers(1).start_paused(true).build().unwrap();
    LocalSet::new().block_on(&runtime, async {
        let mut set: FuturesUnordered<_> = [30_u64, 10, 20]
            .into_iter()
            .map(|seconds| {
                spawn_local(async move {
                    sleep(Duration::from_secs(seconds)).await;
                    Rc::new(seconds)
                })
            })
            .collect();
        let mut order = Vec::new();
        while let Some(seconds) = set.next().await {
            order.push(*seconds.unwrap());
        }
        assert_eq!(order, [10, 20, 30]);
    });
}

#[test]
fn a_joined_handle_is_not_polled_again() {
    let set = LocalSet::new();
    let mut task = set.spawn_local(async { 1 });
    evenkeel::block_on(set.run_until(&mut task)).unwrap();
    assert!(task.is_finished());
    task.abort();
    let again = AssertUnwindSafe(|| evenkeel::block_on(&mut task));
    assert!(message(&*catch_unwind(again).unwrap_err()).contains("polled again"));
}

/// Threads that wake tasks, while tasks end, are aborted, and their slots are used again.
#[test]
fn wakes_from_many_threads() {
    let _watchdog = watchdog();
    let stop = Arc::new(AtomicBool::new(false));
    let wakers: Arc<Mutex<Vec<Waker>>> = Arc::default();
    let threads: Vec<_> = (0..4)
        .map(|n: usize| {
            let (stop, wakers) = (stop.clone(), wakers.clone());
            thread::spawn(move || {
                let mut at = n;
                while !stop.load(Ordering::Relaxed) {
                    let waker = {
                        let wakers = wakers.lock().unwrap();
                        at = (at + 1) % wakers.len().max(1);
                        wakers.get(at).cloned()
                    };
                    match waker {
                        Some(waker) => waker.wake(),
                        None => thread::yield_now(),
                    }
                }
            })
        })
        .collect();
    let set = LocalSet::new();
    evenkeel::block_on(set.run_until(async {
        for round in 0..100 {
            let tasks: Vec<_> = (0..10)
                .map(|n| {
                    let wakers = wakers.clone();
                    let mut polls = 0;
                    spawn_local(poll_fn(move |cx| {
                        if polls == 0 {
                            let mut wakers = wakers.lock().unwrap();
                            if wakers.len() < 20 {
                                wakers.push(cx.waker().clone());
                            } else {
                                wakers[(round * 10 + n) % 20] = cx.waker().clone();
                            }
                        }
                        polls += 1;
                        if polls > 3 { Poll::Ready(n) } else { Poll::Pending }
                    }))
                })
                .collect();
            for (n, task) in tasks.into_iter().enumerate() {
                if n % 5 == 4 {
                    task.abort();
                }
                match task.await {
                    Ok(output) => assert_eq!(output, n),
                    Err(error) => assert!(n % 5 == 4 && error.is_cancelled()),
                }
            }
        }
    }));
    stop.store(true, Ordering::Relaxed);
    threads.into_iter().for_each(|thread| thread.join().unwrap());
}

/// Over many orders of steps on one thread.
#[test]
fn over_seeds_local_tasks_and_others_meet() {
    let _watchdog = watchdog();
    explore(0..100, |_| async {
        let set = LocalSet::new();
        let sum = set
            .run_until(async {
                let (sender, receiver) = async_channel::bounded(2);
                for n in 0..4 {
                    let sender = sender.clone();
                    drop(evenkeel::spawn(async move {
                        for _ in 0..random(4) {
                            yield_now().await;
                        }
                        sender.send(n).await.unwrap();
                    }));
                }
                drop(sender);
                let sum = Rc::new(Cell::new(0));
                let tasks: Vec<_> = (0..3)
                    .map(|_| {
                        let (sum, receiver) = (sum.clone(), receiver.clone());
                        spawn_local(async move {
                            while let Ok(n) = receiver.recv().await {
                                for _ in 0..random(3) {
                                    yield_now().await;
                                }
                                sum.set(sum.get() + n);
                            }
                        })
                    })
                    .collect();
                for task in tasks {
                    task.await.unwrap();
                }
                sum.get()
            })
            .await;
        assert_eq!(sum, 6);
    });
}

/// The set stays with its thread.
#[test]
fn a_set_is_not_sent() {
    trait Unsent<A> {
        fn is_unsent() {}
    }
    impl<T: ?Sized> Unsent<()> for T {}
    impl<T: ?Sized + Send> Unsent<u8> for T {}
    // Ambiguous, and so no program, for a type that is sent.
    <LocalSet as Unsent<_>>::is_unsent();
    <LocalJoinHandle<Rc<u8>> as Unsent<_>>::is_unsent();

    fn is_sent_and_shared<T: Send + Sync>() {}
    is_sent_and_shared::<LocalJoinHandle<Cell<u8>>>();
}
