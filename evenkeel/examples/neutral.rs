//! Runtime-neutral primitives (`tokio::sync`, `async-channel`, `futures`) on evenkeel: a small
//! pipeline that counts words.
//!
//! `cargo run --release --example neutral`

use futures::stream::{FuturesUnordered, StreamExt};
use std::collections::BTreeMap;
use std::sync::Arc;
use tokio::sync::{Mutex, oneshot};

const TEXT: &str = "Call me Ishmael. Some years ago, never mind how long precisely, having little or no \
money in my purse, and nothing particular to interest me on shore, I thought I would sail about a little \
and see the watery part of the world. It is a way I have of driving off the spleen and regulating the \
circulation.";

#[evenkeel::main]
async fn main() {
    let counts = Arc::new(Mutex::new(BTreeMap::new()));
    // A bounded channel from async-channel, with several receiving tasks.
    let (send, receive) = async_channel::bounded(4);

    // FuturesUnordered from futures returns the outputs in the order of completion.
    let counters: FuturesUnordered<_> = (0..3)
        .map(|_| {
            let (receive, counts) = (receive.clone(), counts.clone());
            evenkeel::spawn(async move {
                let mut words = 0;
                while let Ok(word) = receive.recv().await {
                    words += 1;
                    // A mutex from tokio, which a task may hold across an await.
                    *counts.lock().await.entry(word).or_insert(0) += 1;
                    evenkeel::yield_now().await;
                }
                words
            })
        })
        .collect();

    // A oneshot channel from tokio carries the number of sent words.
    let (tell, told) = oneshot::channel();
    drop(evenkeel::spawn(async move {
        let mut sent = 0;
        for word in TEXT.split(|c: char| !c.is_alphabetic()).filter(|word| !word.is_empty()) {
            send.send(word.to_lowercase()).await.expect("the counters receive");
            sent += 1;
        }
        tell.send(sent).expect("main waits for it");
    }));

    let counted = counters.fold(0, |sum, words| async move { sum + words.unwrap_or(0) }).await;
    let sent: usize = told.await.expect("the sender does not panic");
    println!("{sent} words were sent, {counted} were counted");
    for (word, count) in counts.lock().await.iter().filter(|(_, count)| **count > 1) {
        println!("{count} × {word}");
    }
}
