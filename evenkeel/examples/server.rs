//! A server task: it lives inside a monitor, and chooses the next call by `accept!`.
//!
//! The caller does the work that belongs to its call, and the server does the rest between calls. A
//! clause is open only while its call can be served: until then its callers stay in the queue. When
//! nothing is left to print, the server accepts the `End`; it leaves first, and the task that
//! waited for the end then enters.
//!
//! Source: the `_Task` and `_Accept` of µC++ (Buhr et al., "µC++: Concurrency in the
//! Object-oriented Language C++", 1992), and the `waitfor` for a destructor of C∀.
//!
//! `cargo run --example server`

use evenkeel::sync::monitor::{End, Entry, Held, Monitor};
use evenkeel::{accept, yield_now};
use std::collections::VecDeque;
use std::sync::LazyLock;

/// The capacity of the printer, in jobs.
const ROOM: usize = 3;

#[derive(Clone, Copy, Entry)]
enum Op {
    Submit,
}

#[derive(Default)]
struct Printer {
    submitted: usize,
    jobs: VecDeque<String>,
    printed: Vec<String>,
}

static PRINTER: LazyLock<Monitor<Printer>> = LazyLock::new(Monitor::default);

/// Returns the number of the job.
async fn submit(text: String) -> usize {
    let body = async |mut printer: Held<&Monitor<Printer>>| {
        assert!(printer.jobs.len() < ROOM, "the clause was open");
        printer.jobs.push_back(text);
        printer.submitted += 1;
        printer.submitted
    };
    PRINTER.call(Op::Submit, body).await
}

async fn serve(mut printer: Held<&Monitor<Printer>>) {
    loop {
        accept!(printer;
            Op::Submit, if printer.jobs.len() < ROOM => {};
            End, if printer.jobs.is_empty() => { break };
            else, if !printer.jobs.is_empty() => {
                let job = printer.jobs.pop_front().expect("there is one");
                // Printing takes a while.
                yield_now().await;
                printer.printed.push(job);
            }
        );
    }
}

#[evenkeel::main]
pub(crate) async fn main() {
    // The server enters before any client.
    let held = PRINTER.try_enter().expect("no task has entered yet");
    let server = evenkeel::spawn(serve(held));
    let clients = ["Ada", "Barbara", "Edsger", "Tony"].map(|name| {
        evenkeel::spawn(async move {
            for page in 1..=25 {
                submit(format!("page {page} of {name}'s")).await;
            }
        })
    });
    for client in clients {
        client.await.expect("no client panics");
    }
    let printer = PRINTER.end().await;
    println!("printed at last: {}", printer.printed.last().expect("something is printed"));
    assert_eq!((printer.submitted, printer.printed.len()), (100, 100));
    assert!(printer.jobs.is_empty());
    drop(printer);
    server.await.expect("the server does not panic");
}
