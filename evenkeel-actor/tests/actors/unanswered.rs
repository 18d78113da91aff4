//! Asks that no actor answers.

use evenkeel::time::Instant;
use evenkeel_actor::{
    Actor, ActorRef, AskError, Builder, Context, ExitReason, Failure, Handled, ReplyTo, SendError,
    System, kit, spawn,
};
use futures::FutureExt;
use std::time::Duration;

/// Keeps its questions.
#[derive(Default)]
struct Silent(Vec<ReplyTo<u32>>);

impl Actor for Silent {
    type Message = ReplyTo<u32>;

    async fn handle(&mut self, reply: ReplyTo<u32>, _context: &mut Context<Self>) -> Handled {
        self.0.push(reply);
        Ok(())
    }
}

/// Hands its questions on.
struct Broker(ActorRef<ReplyTo<u32>>);

impl Actor for Broker {
    type Message = ReplyTo<u32>;

    async fn handle(&mut self, reply: ReplyTo<u32>, _context: &mut Context<Self>) -> Handled {
        drop(self.0.send(reply).await);
        Ok(())
    }
}

/// Hands its questions on, and fails if it cannot.
struct Strict(ActorRef<ReplyTo<u32>>);

impl Actor for Strict {
    type Message = ReplyTo<u32>;

    async fn handle(&mut self, reply: ReplyTo<u32>, _context: &mut Context<Self>) -> Handled {
        self.0.send(reply).await?;
        Ok(())
    }
}

/// A runtime with a clock that advances when all wait.
fn paused() -> evenkeel::Runtime {
    evenkeel::Builder::new().workers(1).reliefs(0).start_paused(true).build().unwrap()
}

#[test]
fn an_ask_that_is_kept_by_an_actor_for_ever_ends_by_default() {
    paused().block_on(async {
        let (silent, start) = (spawn(Silent::default()), Instant::now());
        let day = Duration::from_secs(86_400);
        let asked = evenkeel::time::timeout(day, silent.ask(|reply| reply)).await;
        assert_eq!(asked.expect("it ends before the day"), Err(AskError::Elapsed));
        assert!(start.elapsed() >= Duration::from_secs(30));
    });
}

#[test]
fn an_ask_that_was_handed_on_to_an_actor_that_keeps_it_ends_by_default() {
    paused().block_on(async {
        let broker = spawn(Broker(spawn(Silent::default())));
        let day = Duration::from_secs(86_400);
        let asked = evenkeel::time::timeout(day, broker.ask(|reply| reply)).await;
        assert_eq!(asked.expect("it ends before the day"), Err(AskError::Elapsed));
    });
}

#[test]
fn an_ask_that_was_handed_on_to_an_actor_that_has_stopped_or_stops_fails_at_once() {
    paused().block_on(async {
        let start = Instant::now();
        let stopped = spawn(Silent::default());
        stopped.stop_now();
        stopped.stopped().await;
        let broker = spawn(Broker(stopped));
        assert_eq!(broker.ask(|reply| reply).await, Err(AskError::NoReply));
        // It has the question in its mailbox, or keeps it, when it ends.
        let stops = spawn(Silent::default());
        let broker = spawn(Broker(stops.clone()));
        let (asked, ()) = futures::join!(broker.ask(|reply| reply), async {
            evenkeel::yield_now().await;
            stops.kill();
        });
        assert_eq!(asked, Err(AskError::NoReply));
        assert_eq!(start.elapsed(), Duration::ZERO);
    });
}

/// The reference to the failed actor keeps the failure, but not the question.
#[test]
fn an_ask_fails_at_once_that_an_actor_fails_to_hand_on() {
    paused().block_on(async {
        let start = Instant::now();
        let (system, stopped) = (System::new(), spawn(Silent::default()));
        system.on_failure(|_| {});
        stopped.stop_now();
        stopped.stopped().await;
        let strict = Builder::new().system(system).spawn(Strict(stopped)).unwrap();
        assert_eq!(strict.ask(|reply| reply).await, Err(AskError::NoReply));
        assert_eq!(start.elapsed(), Duration::ZERO);
        let ExitReason::Failed(failure) = strict.stopped().await else { panic!("it has failed") };
        let error = failure.error().downcast_ref::<SendError<()>>();
        assert_eq!(error, Some(&SendError::Stopped(())));
    });
}

/// The program's own error is kept as it is.
#[test]
fn an_error_with_a_send_error_in_it_is_the_one_that_an_actor_fails_with() {
    #[derive(Debug)]
    struct Own(SendError<u32>);
    impl std::fmt::Display for Own {
        fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            self.0.fmt(f)
        }
    }
    impl std::error::Error for Own {
        fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
            self.0.source()
        }
    }
    let failure = Failure::from(Own(SendError::Full(7)));
    let own: Option<&Own> = failure.error().downcast_ref();
    assert_eq!(own.map(|own| &own.0), Some(&SendError::Full(7)));
}

#[test]
fn the_limit_of_asks_is_that_of_the_system_of_the_asked_actor() {
    paused().block_on(async {
        let (quick, patient) = (System::new(), System::new());
        quick.set_ask_limit(Some(Duration::from_secs(2)));
        patient.set_ask_limit(None);
        let start = Instant::now();
        let of_quick = Builder::new().system(quick).spawn(Silent::default()).unwrap();
        assert_eq!(of_quick.ask(|reply| reply).await, Err(AskError::Elapsed));
        assert_eq!(start.elapsed().as_secs(), 2);
        let of_patient = Builder::new().system(patient).spawn(Silent::default()).unwrap();
        let year = Duration::from_secs(365 * 86_400);
        let asked = evenkeel::time::timeout(year, of_patient.ask(|reply| reply)).await;
        assert!(asked.is_err(), "an ask without a limit has ended");
    });
}

#[test]
fn an_asks_own_limit_goes_before_that_of_the_system() {
    paused().block_on(async {
        let (silent, start) = (spawn(Silent::default()), Instant::now());
        let asked = silent.ask(|reply| reply).timeout(Duration::from_secs(100)).await;
        assert_eq!((asked, start.elapsed().as_secs()), (Err(AskError::Elapsed), 100));
        let day = Duration::from_secs(86_400);
        let asked = evenkeel::time::timeout(day, silent.ask(|reply| reply).no_timeout()).await;
        assert!(asked.is_err(), "an ask without a limit has ended");
    });
}

/// There are no timers without a runtime.
#[test]
fn an_ask_that_is_polled_outside_of_any_runtime_has_no_default_limit() {
    let runtime = evenkeel::Builder::new().workers(1).reliefs(0).build().unwrap();
    let silent = runtime.block_on(async { spawn(Silent::default()) });
    let mut asked = Box::pin(silent.ask(|reply| reply));
    assert_eq!(asked.as_mut().now_or_never(), None);
    silent.kill();
    runtime.block_on(silent.stopped());
    assert_eq!(asked.now_or_never(), Some(Err(AskError::NoReply)));
}

/// The future of the ask is there until the end.
#[test]
fn an_ask_that_has_elapsed_takes_no_answer_although_its_future_is_kept() {
    kit::run(1, |kit| async move {
        let mut silent = kit.probe::<ReplyTo<u32>>();
        let actor = silent.actor();
        let mut asked = Box::pin(actor.ask(|reply| reply).timeout(Duration::from_secs(1)));
        assert_eq!(asked.as_mut().await, Err(AskError::Elapsed));
        let late = silent.receive().await.unwrap();
        assert_eq!(late.try_send(7), Err(7));
    });
}
