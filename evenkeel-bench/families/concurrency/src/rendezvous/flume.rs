//! flume's channel without capacity: a sender waits for a receiver.

use flume::{Receiver, Sender};

use super::Rendezvous;

/// A channel of capacity zero.
pub(crate) struct Flume(Sender<u64>, Receiver<u64>);

impl Rendezvous for Flume {
    fn new() -> Self {
        let (sender, receiver) = flume::bounded(0);
        Flume(sender, receiver)
    }

    async fn call(&self, number: u64) {
        self.0.send_async(number).await.expect("the other end is beside this one");
    }

    async fn accept(&self, calls: u64) -> u64 {
        let mut sum = 0_u64;
        for _ in 0..calls {
            let number = self.1.recv_async().await.expect("the other end is beside this one");
            sum = sum.wrapping_add(number);
        }
        sum
    }
}
