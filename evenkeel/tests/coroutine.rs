//! Coroutines: the behaviours of C∀'s coroutines, by their names in its tests; misuse; panics;
//! drops; nesting; threads.
//!
//! Differences that follow from Rust:
//! - E8, a suspend outside of any resume: a suspender comes with a body. An escaped suspender
//!   panics where it is used (`e8_*`).
//! - E11 and E12, non-local exceptions: there are none. An input of type `Result`, with `?` at the
//!   suspension, is equivalent: it arrives where the body allows it, and nowhere else.
//! - A second task that resumes a coroutine active on another task: resuming borrows exclusively,
//!   and a documentation test of `Coroutine` shows that this does not compile.

use common::counting::Counting;
use common::panics::message_of;
use common::runtime::runtime;
use common::watchdog::watchdog;
use evenkeel::coroutine::{
    BoxCoroutine, Coroutine, Cycle, LocalBoxCoroutine, Phase, Refusal, Resume, Step, Suspender,
    Then, Transfer,
};
use evenkeel::sync::Semaphore;
use evenkeel::sync::monitor::{Condition, Monitor};
use evenkeel::{Builder, yield_now};
use evenkeel_policy::random::Random;
use futures::StreamExt;
use std::cell::{Cell, RefCell};
use std::fmt::Write;
use std::future::{pending, poll_fn};
use std::panic::{AssertUnwindSafe, catch_unwind, panic_any};
use std::pin::{Pin, pin};
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};
use std::{mem, thread};

mod common {
    pub(crate) mod counting;
    pub(crate) mod panics;
    pub(crate) mod runtime;
    pub(crate) mod watchdog;
}

/// Records its drop in a list.
struct Noted<'a>(&'a RefCell<Vec<&'static str>>, &'static str);

impl Drop for Noted<'_> {
    fn drop(&mut self) {
        self.0.borrow_mut().push(self.1);
    }
}

async fn fibonacci(mut suspender: Suspender<(), u64>, (): ()) {
    let (mut a, mut b) = (0, 1);
    loop {
        suspender.suspend(a).await;
        (a, b) = (b, a + b);
    }
}

#[test]
fn e1_two_fibonacci_coroutines() {
    let mut first = pin!(Coroutine::new(fibonacci));
    let mut second = pin!(Coroutine::new(fibonacci));
    let both: Vec<_> = (0..10).map(|_| (first.resume(()), second.resume(()))).collect();
    let expected = [0, 1, 1, 2, 3, 5, 8, 13, 21, 34].map(|n| (Step::Yielded(n), Step::Yielded(n)));
    assert_eq!(both, expected);
}

#[test]
fn e2_running_total_suspends_in_a_helper() {
    async fn next(suspender: &mut Suspender<u64, u64>, total: u64) -> u64 {
        suspender.suspend(total).await
    }
    let mut total = pin!(Coroutine::new(async |mut suspender, first| {
        let mut total = first;
        loop {
            total += next(&mut suspender, total).await;
        }
    }));
    let sums: Vec<_> = (0..10).filter_map(|n| total.resume(n).yielded()).collect();
    assert_eq!(sums, [0, 1, 3, 6, 10, 15, 21, 28, 36, 45]);
    let _: Option<()> = total.resume(0).complete();
}

#[test]
fn e3_line_formatter_ends_its_line_when_it_is_dropped() {
    struct Ends<'a>(&'a RefCell<String>, bool);
    impl Drop for Ends<'_> {
        fn drop(&mut self) {
            if self.1 {
                self.0.borrow_mut().push('\n');
            }
        }
    }
    fn text(chars: usize) -> String {
        let text = RefCell::new(String::new());
        let body = async |mut suspender: Suspender<char, ()>, _: char| -> () {
            let mut line = Ends(&text, false);
            loop {
                for group in 0..5 {
                    for _ in 0..4 {
                        let c = suspender.suspend(()).await;
                        text.borrow_mut().push(c);
                        line.1 = true;
                    }
                    text.borrow_mut().push_str(if group == 4 { "\n" } else { "  " });
                    line.1 = group != 4;
                }
            }
        };
        let mut formatter = Box::pin(Coroutine::new(body));
        // Primed: the first step takes it to the point where it waits for a character.
        formatter.resume(' ');
        for c in ('a'..='z').cycle().take(chars) {
            formatter.resume(c);
        }
        drop(formatter);
        text.into_inner()
    }
    assert_eq!(text(0), "");
    assert_eq!(text(3), "abc\n");
    assert_eq!(text(20), "abcd  efgh  ijkl  mnop  qrst  \n".replace("  \n", "\n"));
    assert_eq!(text(22), "abcd  efgh  ijkl  mnop  qrst\nuv\n");
}

#[test]
fn e4_ping_pong_ends_at_the_starter() {
    let log = RefCell::new(Vec::new());
    let mut cycle = Cycle::new();
    let (ping, pong) = (cycle.reserve(), cycle.reserve());
    for (name, me, partner) in [("ping", ping, pong), ("pong", pong, ping)] {
        let log = &log;
        let body = async move |mut suspender: Suspender<_, _>, ()| {
            for _ in 0..20 {
                log.borrow_mut().push(name);
                suspender.suspend(Transfer::new(partner, ())).await;
            }
        };
        assert!(cycle.fill(me, Coroutine::new(body).boxed_local()).is_none());
    }
    assert_eq!(cycle.run(ping, ()), Ok(()));
    assert_eq!(*log.borrow(), ["ping", "pong"].repeat(20));
    // Pong has not ended: its last transfer was to ping, which ended first.
    let error = cycle.run(ping, ()).unwrap_err();
    assert_eq!((error.to(), error.refusal()), (ping, Some(Refusal::Finished)));
}

#[test]
fn e5_producer_and_consumer_stop_in_order() {
    #[derive(Debug, PartialEq)]
    enum Message {
        Start,
        Delivery(u32),
        Receipt(u32),
        Stop,
        Stopped,
    }
    let notes = RefCell::new(Vec::new());
    let log = &notes;
    let mut cycle: Cycle<LocalBoxCoroutine<'_, Message, Transfer<Message>, Message>> = Cycle::new();
    let (producer, consumer) = (cycle.reserve(), cycle.reserve());
    let produce = async move |mut suspender: Suspender<_, _>, _: Message| {
        for n in 0..5 {
            let receipt = suspender.suspend(Transfer::new(consumer, Message::Delivery(n))).await;
            assert_eq!(receipt, Message::Receipt(n + 1));
        }
        let stopped = suspender.suspend(Transfer::new(consumer, Message::Stop)).await;
        assert_eq!(stopped, Message::Stopped);
        log.borrow_mut().push("prod stops");
        Message::Stopped
    };
    let consume = async move |mut suspender: Suspender<_, _>, mut message: Message| {
        let mut receipts = 0;
        while let Message::Delivery(n) = message {
            assert_eq!(n, receipts);
            receipts += 1;
            message = suspender.suspend(Transfer::new(producer, Message::Receipt(receipts))).await;
        }
        log.borrow_mut().push("cons stops");
        Message::Stopped
    };
    cycle.fill(producer, Coroutine::new(produce).boxed_local());
    cycle.fill(consumer, Coroutine::new(consume).boxed_local());
    assert_eq!(cycle.run(producer, Message::Start), Ok(Message::Stopped));
    log.borrow_mut().push("main stops");
    assert_eq!(*log.borrow(), ["cons stops", "prod stops", "main stops"]);
}

#[test]
fn e6_drop_runs_the_destructors_of_a_suspended_body() {
    let log = RefCell::new(Vec::new());
    {
        let _after = Noted(&log, "after the coroutine");
        let captured = Noted(&log, "captured");
        let log = &log;
        let mut coroutine = pin!(Coroutine::new(async move |mut suspender, ()| {
            let _captured = captured;
            let _outer = Noted(log, "outer");
            let _inner = Noted(log, "inner");
            suspender.suspend(()).await;
            log.borrow_mut().push("never");
        }));
        coroutine.resume(());
        assert!(log.borrow().is_empty());
    }
    assert_eq!(*log.borrow(), ["inner", "outer", "captured", "after the coroutine"]);
}

#[test]
fn e7_resume_after_the_end_is_an_error() {
    let mut coroutine =
        Coroutine::new(async |_: Suspender<String, ()>, first: String| first).boxed();
    assert_eq!(coroutine.phase(), Phase::New);
    assert_eq!(coroutine.resume("all".into()), Step::Complete(String::from("all")));
    assert_eq!(coroutine.phase(), Phase::Finished);
    let error = coroutine.try_resume("more".into()).unwrap_err();
    assert_eq!(error.refusal(), Refusal::Finished);
    assert!(error.to_string().contains("finished"), "{error}");
    assert_eq!(error.into_input().as_deref(), Some("more"));
    assert!(message_of(|| coroutine.resume("more".into())).contains("finished"));
}

#[test]
fn e8_a_suspender_that_escapes_is_useless() {
    let mut escape =
        Coroutine::new(async |suspender: Suspender<u64, u64>, _: u64| suspender).boxed();
    let mut escaped = escape.resume(0).complete().expect("the suspender");
    let said = message_of(|| evenkeel::block_on(escaped.suspend(1)));
    assert!(said.contains("where its coroutine is not making a step"), "{said}");
    // A suspender works neither in its own coroutine's place, nor in a body with other types.
    drop(escape);
    let mut other =
        pin!(Coroutine::new(async move |mut suspender: Suspender<String, String>, s| {
            let s = suspender.suspend(s).await;
            escaped.suspend(1).await;
            s
        }));
    assert_eq!(other.resume("a".into()), Step::Yielded(String::from("a")));
    assert!(message_of(|| other.resume("b".into())).contains("a suspender is used where"));
    assert_eq!(other.phase(), Phase::Finished);
}

#[test]
fn e10_a_body_publishes_itself_after_it_is_suspended() {
    const HOPS: usize = 1_000;
    /// Shared by the two resumers; `None` means that the journey is over.
    struct Shared {
        waiting: Semaphore<Option<Traveller>>,
        running: AtomicBool,
        hops: AtomicUsize,
    }
    type Traveller = BoxCoroutine<'static, (), Publish, ()>;
    struct Publish(Arc<Shared>);
    impl Then<Traveller> for Publish {
        fn then(self, coroutine: Traveller) {
            assert_eq!(coroutine.phase(), Phase::Suspended);
            self.0.waiting.hand_over(Some(coroutine));
        }
    }
    let _watchdog = watchdog();
    for workers in [1, 2, 4] {
        let runtime = runtime(workers);
        let shared = Arc::new(Shared {
            waiting: Semaphore::empty(),
            running: AtomicBool::new(false),
            hops: AtomicUsize::new(0),
        });
        let traveller = Coroutine::new({
            let shared = shared.clone();
            async move |mut suspender, ()| {
                for _ in 0..HOPS {
                    assert!(!shared.running.swap(true, Ordering::AcqRel), "resumed by two at once");
                    shared.hops.fetch_add(1, Ordering::AcqRel);
                    shared.running.store(false, Ordering::Release);
                    suspender.suspend(Publish(shared.clone())).await;
                }
            }
        });
        shared.waiting.hand_over(Some(traveller.boxed()));
        let tasks = (0..2_u64).map(|seed| {
            let shared = shared.clone();
            runtime.spawn(async move {
                let mut random = Random::new(seed + 1);
                while let Some(traveller) = shared.waiting.take().await {
                    if traveller.resume_then(()).is_some() {
                        shared.waiting.hand_over(None);
                        shared.waiting.hand_over(None);
                    }
                    for _ in 0..random.below(3) {
                        yield_now().await;
                    }
                }
            })
        });
        for task in tasks.collect::<Vec<_>>() {
            runtime.block_on(task).expect("the task ends");
        }
        assert_eq!(shared.hops.load(Ordering::Acquire), HOPS);
    }
}

#[test]
fn e11_an_exception_goes_out_through_nested_coroutines() {
    type Level = LocalBoxCoroutine<'static, Result<(), u32>, (), Result<(), u32>>;
    /// Passes its input to the level below, and raises that level's result, plus one.
    fn level(below: Option<Level>) -> Level {
        Coroutine::new(async move |mut suspender: Suspender<Result<(), u32>, ()>, first| {
            let mut below = below;
            let mut input: Result<(), u32> = first;
            loop {
                match &mut below {
                    None => input?,
                    Some(below) => match below.resume(input) {
                        Step::Yielded(()) => {}
                        Step::Complete(result) => return result.map_err(|n| n + 1),
                    },
                }
                input = suspender.suspend(()).await;
            }
        })
        .boxed_local()
    }
    let mut chain = level(None);
    for _ in 0..10 {
        chain = level(Some(chain));
    }
    assert_eq!(chain.resume(Ok(())), Step::Yielded(()));
    assert_eq!(chain.resume(Ok(())), Step::Yielded(()));
    assert_eq!(chain.resume(Err(0)), Step::Complete(Err(10)));
}

#[test]
fn e12_exceptions_that_are_resumed_drive_fibonacci() {
    struct Next;
    let mut fibonacci = pin!(Coroutine::new(async |mut suspender, mut event: Result<(), Next>| {
        let (mut a, mut b) = (0, 1);
        loop {
            // The handler: it changes the state and resumes where the exception was raised.
            if let Err(Next) = event {
                (a, b) = (b, a + b);
            }
            event = suspender.suspend(a).await;
        }
    }));
    let mut sequence = vec![fibonacci.resume(Ok(())).yielded()];
    sequence.extend((0..9).map(|_| fibonacci.resume(Err(Next)).yielded()));
    let sequence: Vec<u32> = sequence.into_iter().flatten().collect();
    assert_eq!(sequence, [0, 1, 1, 2, 3, 5, 8, 13, 21, 34]);
    let _: Option<()> = fibonacci.resume(Ok(())).complete();
}

#[test]
fn e13_a_coroutine_that_cancels_itself_gives_the_exception_to_its_resumer() {
    #[derive(Debug, PartialEq)]
    struct Cancelled(u32);
    let log = RefCell::new(String::new());
    let mut coroutine = pin!(Coroutine::new(async |mut suspender: Suspender<(), ()>, ()| {
        log.borrow_mut().push('1');
        suspender.suspend(()).await;
        log.borrow_mut().push('3');
        panic_any(Cancelled(13));
        #[expect(unreachable_code, reason = "this is what must not run")]
        log.borrow_mut().push('4');
    }));
    log.borrow_mut().push('0');
    assert_eq!(coroutine.resume(()), Step::Yielded(()));
    log.borrow_mut().push('2');
    let panic = catch_unwind(AssertUnwindSafe(|| coroutine.resume(()))).unwrap_err();
    assert_eq!(panic.downcast_ref(), Some(&Cancelled(13)));
    write!(log.borrow_mut(), " 5").unwrap();
    assert_eq!(*log.borrow(), "0123 5");
    assert_eq!(coroutine.phase(), Phase::Finished);
    assert_eq!(coroutine.try_resume(()).unwrap_err().refusal(), Refusal::Finished);
}

#[test]
fn e14_a_task_that_cancels_itself_gives_the_exception_to_its_joiner() {
    let _watchdog = watchdog();
    let runtime = Builder::new().workers(1).on_task_panic(|_| {}).build().unwrap();
    let task = runtime.spawn(async {
        let mut coroutine = pin!(Coroutine::new(async |_: Suspender<(), ()>, ()| panic_any(14_u8)));
        coroutine.resume_async(()).await
    });
    let error = runtime.block_on(task).unwrap_err();
    assert_eq!(error.into_panic().downcast_ref(), Some(&14_u8));
}

#[test]
fn a_body_that_has_not_begun_runs_nothing_and_is_dropped() {
    let log = RefCell::new(Vec::new());
    let captured = Noted(&log, "captured");
    let coroutine = Coroutine::new(async move |_: Suspender<(), ()>, ()| {
        let _captured = &captured;
        unreachable!("it is never resumed");
    });
    assert_eq!(coroutine.phase(), Phase::New);
    drop(coroutine);
    assert_eq!(*log.borrow(), ["captured"]);
}

#[test]
fn values_may_borrow_and_need_not_be_send() {
    let text = String::from("a few words");
    let mut words: LocalBoxCoroutine<'_, Rc<Cell<usize>>, &str> =
        Coroutine::new(async |mut suspender, mut count: Rc<Cell<usize>>| {
            for word in text.split(' ') {
                count.set(count.get() + 1);
                count = suspender.suspend(word).await;
            }
        })
        .boxed_local();
    let count = Rc::new(Cell::new(0));
    let mut all = Vec::new();
    while let Step::Yielded(word) = words.resume(count.clone()) {
        all.push(word);
    }
    assert_eq!(all, ["a", "few", "words"]);
    assert_eq!((count.get(), Rc::strong_count(&count)), (3, 1));
}

#[test]
fn large_values_and_recursive_bodies() {
    fn walk<'a>(
        suspender: &'a mut Suspender<(), [u64; 32]>,
        depth: u64,
    ) -> Pin<Box<dyn Future<Output = ()> + 'a>> {
        Box::pin(async move {
            if depth > 0 {
                walk(suspender, depth - 1).await;
                suspender.suspend([depth; 32]).await;
                walk(suspender, depth - 1).await;
            }
        })
    }
    let tree = pin!(Coroutine::new(async |mut suspender, ()| walk(&mut suspender, 4).await));
    let visited: Vec<_> = tree.values().map(|values| values[31]).collect();
    assert_eq!(visited, [1, 2, 1, 3, 1, 2, 1, 4, 1, 2, 1, 3, 1, 2, 1]);
}

#[test]
fn an_iterator_is_fused_and_gives_its_coroutine_back() {
    let mut values = Coroutine::new(async |mut suspender, ()| {
        suspender.suspend(1).await;
        suspender.suspend(2).await;
    })
    .boxed()
    .values();
    assert_eq!(values.by_ref().collect::<Vec<_>>(), [1, 2]);
    assert_eq!((values.next(), values.next()), (None, None));
    assert_eq!(values.into_inner().phase(), Phase::Finished);
}

#[test]
fn a_plain_resume_of_a_body_that_awaits_something_else_is_an_error() {
    let gate = Semaphore::new(0);
    let mut coroutine = pin!(Coroutine::new(async |mut suspender, first: u32| {
        gate.take().await;
        let second = suspender.suspend(first).await;
        first + second
    }));
    let error = coroutine.try_resume(1).unwrap_err();
    assert_eq!((error.refusal(), error.into_input()), (Refusal::Awaits, None));
    assert_eq!(coroutine.phase(), Phase::Waiting);
    let error = coroutine.try_resume(2).unwrap_err();
    assert_eq!((error.refusal(), error.into_input()), (Refusal::Waiting, Some(2)));
    assert!(message_of(|| coroutine.resume(2)).contains("continue_async"));
    // Nothing is lost.
    gate.add_permits(1);
    assert_eq!(evenkeel::block_on(coroutine.continue_async()), Step::Yielded(1));
    assert!(
        message_of(|| evenkeel::block_on(coroutine.continue_async())).contains("resume it instead")
    );
    assert_eq!(coroutine.resume(2), Step::Complete(3));
    for refusal in [Refusal::Awaits, Refusal::Idle, Refusal::Waiting, Refusal::Finished] {
        assert!(refusal.to_string().contains("coroutine"), "{refusal}");
    }
}

#[test]
fn a_dropped_resume_leaves_a_step_that_can_be_finished() {
    let gate = Semaphore::new(0);
    let mut coroutine = pin!(Coroutine::new(async |mut suspender, first: u32| {
        gate.take().await;
        suspender.suspend(first).await
    }));
    let mut context = Context::from_waker(Waker::noop());
    drop(coroutine.resume_async(0));
    assert_eq!(coroutine.phase(), Phase::New);
    assert!(pin!(coroutine.resume_async(1)).poll(&mut context).is_pending());
    assert!(pin!(coroutine.continue_async()).poll(&mut context).is_pending());
    gate.add_permits(1);
    assert_eq!(evenkeel::block_on(coroutine.continue_async()), Step::Yielded(1));
    assert_eq!(evenkeel::block_on(coroutine.resume_async(2)), Step::Complete(2));
}

#[test]
fn a_yield_inside_a_body_suspends_the_whole_task() {
    let _watchdog = watchdog();
    for workers in [1, 2, 4] {
        let runtime = runtime(workers);
        let turns = Arc::new(Semaphore::new(0));
        let other = runtime.spawn({
            let turns = turns.clone();
            async move {
                for _ in 0..100 {
                    turns.add_permits(1);
                    yield_now().await;
                }
            }
        });
        let task = runtime.spawn(async move {
            let mut coroutine = pin!(Coroutine::new(async |mut suspender, mut n: u32| {
                loop {
                    turns.take().await;
                    yield_now().await;
                    n = suspender.suspend(n + 1).await;
                }
            }));
            let mut n = 0;
            for _ in 0..100 {
                let Step::Yielded(next) = coroutine.resume_async(n).await else {
                    unreachable!("the body does not end")
                };
                n = next;
            }
            let _: Option<()> = None.or_else(|| coroutine.try_resume(0).ok()?.complete());
            n
        });
        assert_eq!(runtime.block_on(task).unwrap(), 100);
        runtime.block_on(other).unwrap();
    }
}

#[test]
fn a_waker_from_inside_outlives_everything() {
    let kept = Mutex::new(None);
    let counting = Arc::new(Counting::default());
    {
        let mut coroutine = Coroutine::new(async |_: Suspender<(), ()>, ()| {
            poll_fn(|context| {
                context.waker().wake_by_ref();
                *kept.lock().unwrap() = Some(context.waker().clone());
                Poll::<()>::Pending
            })
            .await;
        })
        .boxed_local();
        let waker = Waker::from(counting.clone());
        let mut context = Context::from_waker(&waker);
        assert!(pin!(coroutine.resume_async(())).poll(&mut context).is_pending());
        assert!(kept.lock().unwrap().as_ref().unwrap().will_wake(&waker));
    }
    assert_eq!(counting.wakes(), 1);
    thread::scope(|scope| {
        scope.spawn(|| kept.lock().unwrap().take().unwrap().wake());
    });
    assert_eq!(counting.wakes(), 2);
    assert_eq!(Arc::strong_count(&counting), 1);
    // A plain resume has a waker that does nothing.
    let mut plain = pin!(Coroutine::new(async |_: Suspender<(), ()>, ()| {
        poll_fn(|context| Poll::Ready(context.waker().clone())).await
    }));
    let waker = plain.resume(()).complete().unwrap();
    // Where it is not optimised, a program has its table more than once.
    assert_eq!(waker.data(), Waker::noop().data());
    waker.wake();
}

#[test]
fn an_inner_coroutine_suspends_the_outer_one_of_the_same_types() {
    let mut outer = pin!(Coroutine::new(async |mut suspender: Suspender<u32, u32>, first: u32| {
        let mut inner = pin!(Coroutine::new(async |mut own: Suspender<u32, u32>, n: u32| {
            let from_outside = suspender.suspend(n + 1).await;
            let from_between = own.suspend(from_outside + 1).await;
            from_between + 1
        }));
        let Step::Yielded(n) = inner.resume_async(first + 1).await else { unreachable!() };
        inner.resume_async(n + 1).await.complete().unwrap()
    }));
    // The outer body receives 1; the inner one receives 2, and 3 leaves both. The inner one
    // receives 10, yields 11, receives 12, and 13 leaves both.
    assert_eq!(outer.resume(1), Step::Yielded(3));
    assert_eq!(outer.resume(10), Step::Complete(13));
}

#[test]
fn an_inner_coroutine_that_is_plainly_resumed_cannot_suspend_the_outer_one() {
    let mut outer = pin!(Coroutine::new(async |mut suspender: Suspender<u32, u32>, first: u32| {
        let said = {
            let mut inner = pin!(Coroutine::new(async |_: Suspender<u32, u32>, n: u32| {
                suspender.suspend(n).await
            }));
            message_of(|| inner.resume(first))
        };
        assert!(said.contains("`resume_async`"), "{said}");
        suspender.suspend(7).await
    }));
    assert_eq!(outer.resume(1), Step::Yielded(7));
    assert_eq!(outer.resume(2), Step::Complete(2));
}

#[test]
fn swapped_suspenders_suspend_their_own_coroutines() {
    let mut outer = pin!(Coroutine::new(async |mut outer_s: Suspender<u32, &str>, _: u32| {
        let mut inner = pin!(Coroutine::new(async |mut inner_s: Suspender<u32, &str>, _: u32| {
            mem::swap(&mut outer_s, &mut inner_s);
            inner_s.suspend("of the outer one").await;
            outer_s.suspend("of the inner one").await
        }));
        assert_eq!(inner.resume_async(0).await, Step::Yielded("of the inner one"));
        inner.resume_async(5).await.complete().unwrap()
    }));
    assert_eq!(outer.resume(0), Step::Yielded("of the outer one"));
    assert_eq!(outer.resume(0), Step::Complete(5));
}

#[test]
fn chains_of_coroutines_suspend_through_all_of_them() {
    /// Nests resumes down to the last coroutine, which suspends the first.
    fn nest<'a>(
        depth: u32,
        first: &'a mut Suspender<u32, u32>,
    ) -> Pin<Box<dyn Future<Output = u32> + 'a>> {
        Box::pin(async move {
            if depth == 0 {
                return first.suspend(100).await;
            }
            let mut inner = pin!(Coroutine::new(async |mut own: Suspender<(), u32>, ()| {
                let got = nest(depth - 1, first).await;
                own.suspend(got + 1).await;
            }));
            inner.resume_async(()).await.yielded().unwrap()
        })
    }
    let mut outer =
        pin!(Coroutine::new(async |mut suspender, _: u32| nest(50, &mut suspender).await));
    assert_eq!(outer.resume(0), Step::Yielded(100));
    assert_eq!(outer.resume(1), Step::Complete(51));
}

#[test]
fn a_suspension_may_race_with_something_else() {
    // The other future is ready first: no output is offered.
    let mut coroutine = pin!(Coroutine::new(async |mut suspender: Suspender<u32, u32>, _: u32| {
        {
            let mut suspension = suspender.suspend(1);
            let mut ready = pin!(async {});
            futures::future::select(ready.as_mut(), &mut suspension).await;
        }
        suspender.suspend(2).await
    }));
    assert_eq!(coroutine.resume(0), Step::Yielded(2));
    assert_eq!(coroutine.resume(3), Step::Complete(3));
    // A later step gives the suspension up: the input of that step is dropped, and not taken for an
    // answer.
    let gate = Semaphore::new(0);
    let mut coroutine = pin!(Coroutine::new(async |mut suspender: Suspender<u32, u32>, _: u32| {
        futures::future::select(pin!(gate.acquire()), suspender.suspend(1)).await;
        suspender.suspend(2).await
    }));
    assert_eq!(coroutine.resume(0), Step::Yielded(1));
    gate.add_permits(1);
    assert_eq!(coroutine.resume(3), Step::Yielded(2));
    assert_eq!(coroutine.resume(4), Step::Complete(4));
}

#[test]
fn an_input_that_is_not_taken_yet_stays_with_the_resumer() {
    let gate = Semaphore::new(0);
    let mut coroutine = pin!(Coroutine::new(async |mut suspender: Suspender<u32, u32>, _: u32| {
        // Suspends, and takes the answer only after the gate has opened.
        let mut suspension = suspender.suspend(1);
        assert!(futures::poll!(&mut suspension).is_pending());
        gate.take().await;
        suspension.await
    }));
    assert_eq!(coroutine.resume(0), Step::Yielded(1));
    let error = coroutine.try_resume(8).unwrap_err();
    assert_eq!((error.refusal(), error.into_input()), (Refusal::Awaits, Some(8)));
    assert_eq!(coroutine.phase(), Phase::Suspended);
    gate.add_permits(1);
    assert_eq!(coroutine.resume(9), Step::Complete(9));
}

#[test]
fn forgotten_parts_do_no_harm() {
    let mut coroutine = Coroutine::new(async |mut suspender: Suspender<u32, String>, _: u32| {
        let mut forgotten = suspender.suspend("forgotten".into());
        assert!(futures::poll!(&mut forgotten).is_pending());
        mem::forget(forgotten);
        suspender.suspend("said".into()).await
    })
    .boxed();
    assert_eq!(coroutine.resume(0), Step::Yielded(String::from("said")));
    assert_eq!(coroutine.resume(1), Step::Complete(1));
    let mut context = Context::from_waker(Waker::noop());
    let mut waits = Coroutine::new(async |_: Suspender<(), ()>, ()| pending::<()>().await).boxed();
    assert!(pin!(waits.resume_async(())).poll(&mut context).is_pending());
    // A step has no destructor, so dropping and forgetting it are the same.
    drop(waits);
}

#[test]
fn a_coroutine_goes_round_threads() {
    let mut coroutine =
        Coroutine::new(async |mut suspender: Suspender<u64, String>, first: u64| {
            let mut seen = vec![first];
            while seen.len() < 100 {
                let next = suspender.suspend(format!("{seen:?}")).await;
                seen.push(next);
            }
            seen.into_iter().sum::<u64>()
        })
        .boxed();
    for n in 0..99 {
        coroutine = thread::spawn(move || {
            assert!(coroutine.resume(n).yielded().unwrap().ends_with(&format!("{n}]")));
            coroutine
        })
        .join()
        .unwrap();
    }
    assert_eq!(coroutine.resume(99), Step::Complete(4_950));
}

#[test]
fn streams_wait_for_what_their_bodies_await() {
    let _watchdog = watchdog();
    let runtime = runtime(2);
    let gate = Arc::new(Semaphore::new(0));
    let task = runtime.spawn({
        let gate = gate.clone();
        async move {
            let numbers = pin!(Coroutine::new(async |mut suspender, ()| {
                for n in 0..50 {
                    gate.take().await;
                    suspender.suspend(n).await;
                }
            }));
            numbers.values().into_stream().map(|n| n * 2).collect::<Vec<u32>>().await
        }
    });
    for _ in 0..50 {
        gate.add_permits(1);
        thread::yield_now();
    }
    let expected: Vec<_> = (0..50).map(|n| n * 2).collect();
    assert_eq!(runtime.block_on(task).unwrap(), expected);
}

#[test]
fn transfers_that_cannot_be_made_are_errors() {
    let mut cycle = Cycle::new();
    let (first, empty) = (cycle.reserve(), cycle.reserve());
    let stranger = Cycle::<()>::new().reserve();
    cycle.fill(
        first,
        Coroutine::new(async move |mut suspender: Suspender<u32, _>, n: u32| {
            suspender.suspend(Transfer::new(empty, n + 1)).await;
            suspender.suspend(Transfer::new(stranger, n + 2)).await;
            suspender.suspend(Transfer::new(first, n + 3)).await;
            pending().await
        })
        .boxed_local(),
    );
    let error = cycle.run(first, 0).unwrap_err();
    assert!(error.to_string().contains("place 1 of the cycle is empty"), "{error}");
    assert_eq!((error.to(), error.into_value()), (empty, Some(1)));
    let error = cycle.run(first, 0).unwrap_err();
    assert!(error.to_string().contains("another cycle"), "{error}");
    assert_eq!((error.to(), error.into_value()), (stranger, Some(2)));
    // A member may transfer to itself.
    let error = cycle.run(first, 0).unwrap_err();
    assert_eq!((error.refusal(), error.into_value()), (Some(Refusal::Awaits), None));
    assert!(
        message_of(|| cycle.fill(stranger, Coroutine::new(async |_, n| n).boxed_local()))
            .contains("reserve")
    );
}

#[test]
fn members_of_a_cycle_may_await() {
    let _watchdog = watchdog();
    let runtime = runtime(2);
    let semaphore = Arc::new(Semaphore::<u32>::empty());
    let task = runtime.spawn({
        let semaphore = semaphore.clone();
        async move {
            let mut cycle = Cycle::new();
            let (ping, pong) = (cycle.reserve(), cycle.reserve());
            for (me, partner) in [(ping, pong), (pong, ping)] {
                let semaphore = semaphore.clone();
                let body = Coroutine::new(async move |mut suspender, mut n: u32| {
                    while n < 40 {
                        n += semaphore.take().await;
                        yield_now().await;
                        n = suspender.suspend(Transfer::new(partner, n)).await;
                    }
                    n
                });
                cycle.fill(me, body.boxed());
            }
            cycle.run_async(ping, 0).await
        }
    });
    for _ in 0..40 {
        semaphore.hand_over(1);
    }
    assert_eq!(runtime.block_on(task).unwrap(), Ok(40));
}

#[test]
fn a_run_that_is_dropped_leaves_a_member_that_waits() {
    let semaphore = &Semaphore::<u32>::empty();
    let mut cycle = Cycle::new();
    let (only, absent) = (cycle.reserve(), cycle.reserve());
    let body = Coroutine::new(async move |mut suspender: Suspender<u32, Transfer<u32>>, n: u32| {
        let more = semaphore.take().await;
        suspender.suspend(Transfer::new(absent, n + more)).await
    });
    cycle.fill(only, body.boxed_local());
    {
        let mut run = pin!(cycle.run_async(only, 3));
        let mut context = Context::from_waker(Waker::noop());
        assert!(run.as_mut().poll(&mut context).is_pending());
    }
    let error = evenkeel::block_on(cycle.run_async(only, 5)).unwrap_err();
    assert_eq!((error.refusal(), error.into_value()), (Some(Refusal::Waiting), Some(5)));
    semaphore.hand_over(4);
    let replacement = Coroutine::new(async |_: Suspender<u32, Transfer<u32>>, n: u32| n);
    let mut waiting = cycle.fill(only, replacement.boxed_local()).unwrap();
    let step = evenkeel::block_on(waiting.continue_async());
    assert_eq!(step, Step::Yielded(Transfer::new(absent, 7)));
    let error = evenkeel::block_on(cycle.run_async(absent, 7)).unwrap_err();
    assert_eq!((error.refusal(), error.into_value()), (None, Some(7)));
    assert_eq!(evenkeel::block_on(cycle.run_async(only, 8)), Ok(8));
}

#[test]
fn a_body_may_be_inside_a_monitor() {
    let _watchdog = watchdog();
    let runtime = runtime(2);
    let monitor = Arc::new(Monitor::with_conditions(0_u32, Condition::new()));
    let adders: Vec<_> = (0..4)
        .map(|_| {
            let monitor = monitor.clone();
            runtime.spawn(async move {
                let mut adder = pin!(Coroutine::new(async |mut suspender, ()| {
                    for _ in 0..100 {
                        let mut held = monitor.enter().await;
                        *held += 1;
                        yield_now().await;
                        monitor.conditions().signal(&mut held);
                        drop(held);
                        suspender.suspend(()).await;
                    }
                }));
                let mut steps = 0;
                while adder.resume_async(()).await == Step::Yielded(()) {
                    steps += 1;
                }
                steps
            })
        })
        .collect();
    let waiter = runtime.spawn({
        let monitor = monitor.clone();
        async move {
            let mut waiter = pin!(Coroutine::new(async |_: Suspender<(), ()>, ()| {
                let mut held = monitor.enter().await;
                while *held < 400 {
                    held = monitor.conditions().wait(held).await;
                }
                *held
            }));
            waiter.resume_async(()).await
        }
    });
    for adder in adders {
        assert_eq!(runtime.block_on(adder).unwrap(), 100);
    }
    assert_eq!(runtime.block_on(waiter).unwrap(), Step::Complete(400));
}
