//! A runtime's counters, which are always on, as a table for people.
//!
//! `cargo run --release --example metrics`

use evenkeel::sync::Semaphore;
use evenkeel::{Builder, Shutdown, yield_now};
use std::sync::Arc;

fn main() -> Result<(), evenkeel::BuildError> {
    let runtime = Builder::new().workers(2).build()?;
    let permits = Arc::new(Semaphore::new(10));
    runtime.block_on(async {
        let tasks: Vec<_> = (0..200)
            .map(|_| {
                let permits = permits.clone();
                evenkeel::spawn(async move {
                    for _ in 0..200 {
                        permits.take().await;
                        yield_now().await;
                        permits.add_permits(1);
                    }
                })
            })
            .collect();
        for task in tasks {
            task.await.expect("no task panics");
        }
    });
    let handle = runtime.handle();
    println!("{}", runtime.shutdown(Shutdown::Drain));
    println!("{}", handle.metrics());
    Ok(())
}
