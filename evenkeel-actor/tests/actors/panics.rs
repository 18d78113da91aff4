//! Panics of functions for actors name the place of the call.

use evenkeel::Runtime;
use evenkeel_actor::kit::{self, Probe};
use evenkeel_actor::{Actor, Builder, Child, Context, Handled, ReplyTo, Supervisor, System, spawn};
use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook, take_hook};
use std::sync::Once;
use std::time::Duration;

/// The file that the panic of `f` names.
fn file_of(f: impl FnOnce()) -> String {
    thread_local! {
        /// That of the thread's last panic: other tests panic on other threads meanwhile.
        static FILE: RefCell<String> = const { RefCell::new(String::new()) };
    }
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let before = take_hook();
        set_hook(Box::new(move |info| {
            let file = info.location().map_or("", |location| location.file());
            FILE.set(file.to_owned());
            before(info);
        }));
    });
    assert!(catch_unwind(AssertUnwindSafe(f)).is_err(), "it panics");
    FILE.take()
}

fn check(calls: &[(&str, &dyn Fn())]) {
    for (name, call) in calls {
        let file = file_of(call);
        assert!(file.ends_with("tests/actors/panics.rs"), "{name}: {file}");
    }
}

struct Idle;

impl Actor for Idle {
    type Message = ();

    async fn handle(&mut self, (): (), _context: &mut Context<Self>) -> Handled {
        Ok(())
    }
}

fn child() -> Child<fn() -> Idle> {
    Child::new("child", || Idle)
}

#[test]
fn what_needs_a_runtime_names_the_file_that_calls() {
    let runtime = Runtime::new().unwrap();
    let tree = runtime.block_on(async { Supervisor::one_for_one().spawn() });
    check(&[
        ("spawn", &|| drop(spawn(Idle))),
        ("Builder::spawn", &|| drop(Builder::new().spawn(Idle))),
        ("SupervisorBuilder::child", &|| drop(Supervisor::one_for_one().child(child()))),
        ("SupervisorBuilder::supervisor", &|| {
            drop(Supervisor::one_for_one().supervisor("inner", Supervisor::one_for_one()));
        }),
        ("SupervisorBuilder::spawn", &|| drop(Supervisor::one_for_one().spawn())),
        ("SupervisorRef::add", &|| drop(tree.add(child()))),
        ("System::on_dead_letter", &|| drop(System::new().on_dead_letter(|_| ()))),
        ("Probe::new", &|| drop(Probe::<u32>::new())),
    ]);
}

#[test]
fn a_deterministic_run_inside_a_task_names_the_file_that_calls() {
    let runtime = Runtime::new().unwrap();
    let task = runtime.spawn(async {
        check(&[
            ("kit::run", &|| kit::run(1, async |_| ())),
            ("kit::explore", &|| kit::explore(0..1, async |_| ())),
            ("kit::find", &|| drop(kit::find(0..1, async |_| ()))),
            ("kit::verify", &|| drop(kit::verify(1, async |_| ()))),
        ]);
    });
    runtime.block_on(task).unwrap();
}

#[test]
fn a_random_number_below_zero_names_the_file_that_calls() {
    kit::run(1, async |kit| check(&[("Kit::random", &|| _ = kit.random(0))]));
}

/// Sets timers that no actor can have.
struct Hasty;

impl Actor for Hasty {
    type Message = ReplyTo<Vec<String>>;

    async fn handle(&mut self, reply: Self::Message, context: &mut Context<Self>) -> Handled {
        let zero = Duration::ZERO;
        let timeout =
            file_of(|| context.set_receive_timeout(zero, || unreachable!("it is refused")));
        let ticks = file_of(|| {
            context.send_every_with(zero, || unreachable!("it is refused"));
        });
        reply.send(vec![timeout, ticks]);
        Ok(())
    }
}

#[test]
fn a_timer_of_zero_names_the_file_that_calls() {
    let runtime = Runtime::new().unwrap();
    let files = runtime.block_on(async { spawn(Hasty).ask(|reply| reply).await.unwrap() });
    assert!(files.iter().all(|file| file.ends_with("tests/actors/panics.rs")), "{files:?}");
}
