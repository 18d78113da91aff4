//! First steps: a runtime, some tasks, their outputs, and an orderly shutdown.
//!
//! `cargo run --release --example hello`

use evenkeel::{Runtime, Shutdown};

fn main() -> Result<(), evenkeel::BuildError> {
    let runtime = Runtime::new()?;

    // The future on this thread may spawn tasks, which run on the workers.
    runtime.block_on(async {
        let crew: Vec<_> = ["Ishmael", "Queequeg", "Starbuck"]
            .into_iter()
            .map(|name| {
                evenkeel::spawn(async move {
                    evenkeel::yield_now().await;
                    format!("{name} is aboard, on {}", thread_name())
                })
            })
            .collect();
        for sailor in crew {
            println!("{}", sailor.await.expect("no sailor panics"));
        }

        // A panic ends its task and goes to the joiner.
        let overboard = evenkeel::spawn(async { panic!("man overboard") });
        println!("{}", overboard.await.expect_err("it panics"));

        // A task without a handle goes on; this one never ends.
        let ahab = evenkeel::task::Builder::new().name("Ahab");
        drop(ahab.spawn(std::future::pending::<()>()));
    });

    // Shutdown aborts the remaining tasks and names them.
    print!("{}", runtime.shutdown(Shutdown::Abort));
    Ok(())
}

fn thread_name() -> String {
    std::thread::current().name().unwrap_or("a thread without a name").to_owned()
}
