//! Tokio's way to call a task: a message that carries the channel for the answer.

use tokio::sync::{Mutex, mpsc, oneshot};

use super::Rendezvous;

/// A number, and the sender for the answer.
type Message = (u64, oneshot::Sender<()>);

/// A channel with room for one call.
pub(crate) struct Tokio {
    calls: mpsc::Sender<Message>,
    /// Locked once, by the acceptor.
    queue: Mutex<mpsc::Receiver<Message>>,
}

impl Rendezvous for Tokio {
    fn new() -> Self {
        let (calls, queue) = mpsc::channel(1);
        Tokio { calls, queue: Mutex::new(queue) }
    }

    async fn call(&self, number: u64) {
        let (answer, answered) = oneshot::channel();
        let sent = self.calls.send((number, answer)).await;
        sent.expect("the other end is beside this one");
        answered.await.expect("every call is answered");
    }

    async fn accept(&self, calls: u64) -> u64 {
        let mut queue = self.queue.lock().await;
        let mut sum = 0_u64;
        for _ in 0..calls {
            let (number, answer) = queue.recv().await.expect("the other end is beside this one");
            sum = sum.wrapping_add(number);
            answer.send(()).expect("the caller waits for the answer");
        }
        sum
    }
}
