//! A dating service: two matching tasks meet, and each learns the other's telephone number.
//!
//! A call's argument determines the partner, so accepting operations cannot express it: the call
//! waits for one of many conditions. A caller that finds a partner waiting hands it the monitor by
//! `signal_block`, and goes on right after it. No other task is inside between the two, so one
//! place for two numbers is enough for all couples.
//!
//! Source: the µC++ manual (Buhr) and "Concurrency in C∀" (Delisle, MMath thesis, University of
//! Waterloo, 2018).
//!
//! `cargo run --example dating_service`

use evenkeel::sync::monitor::{Condition, Monitor};
use std::sync::Arc;

/// The number of kinds; two people of the same kind match.
const KINDS: usize = 4;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    Girl,
    Boy,
}

type Phone = u32;

/// The numbers that two partners leave for each other.
#[derive(Default)]
struct Numbers {
    call: Phone,
    answer: Option<Phone>,
}

#[derive(Default)]
struct DatingService {
    /// The conditions hold the waiting girls and boys, by kind.
    numbers: Monitor<Numbers, [[Condition; KINDS]; 2]>,
}

impl DatingService {
    /// Gives `phone` to a partner of this kind on the other side, and returns the partner's number.
    async fn meet(&self, side: Side, kind: usize, phone: Phone) -> Phone {
        let [girls, boys] = self.numbers.conditions();
        let (mine, others) = match side {
            Side::Girl => (&girls[kind], &boys[kind]),
            Side::Boy => (&boys[kind], &girls[kind]),
        };
        let mut numbers = self.numbers.enter().await;
        // The loop repeats only if the partner is cancelled at the last moment, before it has
        // answered.
        while !others.is_empty(&numbers) {
            *numbers = Numbers { call: phone, answer: None };
            (numbers, _) = others.signal_block(numbers).await;
            if let Some(answer) = numbers.answer {
                return answer;
            }
        }
        numbers = mine.wait(numbers).await;
        numbers.answer = Some(phone);
        numbers.call
    }
}

#[evenkeel::main]
pub(crate) async fn main() {
    const COUPLES: u32 = 100;
    let service = Arc::new(DatingService::default());
    // The last digits of a telephone number determine its owner's kind.
    let kind = |phone: Phone| phone as usize % KINDS;
    let call = |side, phone| {
        let service = service.clone();
        evenkeel::spawn(async move { (phone, service.meet(side, kind(phone), phone).await) })
    };
    let girls: Vec<_> = (0..COUPLES).map(|one| call(Side::Girl, 1_000 + one)).collect();
    let boys: Vec<_> = (0..COUPLES).map(|one| call(Side::Boy, 2_000 + one)).collect();

    let mut partners = vec![0; COUPLES as usize];
    for girl in girls {
        let (girl, boy) = girl.await.expect("no girl panics");
        assert_eq!(kind(girl), kind(boy));
        partners[girl as usize - 1_000] = boy;
    }
    for boy in boys {
        let (boy, girl) = boy.await.expect("no boy panics");
        assert_eq!(partners[girl as usize - 1_000], boy, "each has the other's number");
    }
    println!("{COUPLES} couples have met, and 1000 goes out with {}", partners[0]);
}
