//! A bounded buffer, however its callers wait.

use crate::common::weather::{in_all_weathers, join};
use evenkeel_policy::random::Random;
use std::sync::Arc;

/// The most items in a buffer.
pub(crate) const SIZE: usize = 50;

pub(crate) trait Buffer: Default + Send + Sync + 'static {
    /// Puts an item in, once there is room.
    fn put(&self, item: i64) -> impl Future<Output = ()> + Send;

    /// Takes the oldest item, once there is one.
    fn take(&self) -> impl Future<Output = i64> + Send;
}

/// Checks that what four producers put in, `items` each, comes out at five consumers.
pub(crate) fn carries_all<B: Buffer>(items: i64) {
    in_all_weathers(|runtime, weather| {
        let buffer = Arc::new(B::default());
        let producer = |seed| {
            let buffer = buffer.clone();
            runtime.spawn(async move {
                let mut random = Random::new(seed);
                for _ in 0..items {
                    buffer.put(1).await;
                    weather.pass(&mut random).await;
                }
            })
        };
        let consumer = |seed| {
            let buffer = buffer.clone();
            runtime.spawn(async move {
                let (mut random, mut sum) = (Random::new(seed), 0);
                loop {
                    match buffer.take().await {
                        -1 => return sum,
                        item => sum += item,
                    }
                    weather.pass(&mut random).await;
                }
            })
        };
        let producers: Vec<_> = (0..4).map(producer).collect();
        let consumers: Vec<_> = (4..9).map(consumer).collect();
        join(runtime, producers);
        runtime.block_on(async {
            for _ in 0..5 {
                buffer.put(-1).await;
            }
        });
        assert_eq!(join(runtime, consumers).iter().sum::<i64>(), 4 * items);
    });
}
