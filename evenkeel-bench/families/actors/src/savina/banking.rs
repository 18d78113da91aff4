//! banking: a teller orders transfers between a thousand accounts. A paying account waits for the
//! payee's answer and handles nothing else until then: it sets other messages aside, in order.
//!
//! Amounts are whole cents, so that the money can be counted: the published balances are so large
//! that their rounding swallows a transfer. The payee's number is above the payer's, so accounts
//! never wait in a circle.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use super::sequence::Sequence;
use super::stage::{Life, Stage, expect};
use crate::system::{Actor, Flow, System, Table};
use suite::kit::fault::Fault;

/// The number of accounts.
pub(super) const ACCOUNTS: usize = 1_000;

/// The first balance of each account, in cents: enough for all that it may have to pay.
const BALANCE: i64 = 1 << 50;

/// The seed of the random choices.
const SEED: u32 = 123_456;

/// One start; an order, a payment and two answers for each transfer; one end for each account.
pub(super) fn messages(transfers: u64) -> u64 {
    1 + 4 * transfers + ACCOUNTS as u64
}

/// One transfer, in cents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Transfer {
    payer: u32,
    payee: u32,
    amount: i64,
}

/// The transfers of a run, the same in each run.
fn transfers(number: u32) -> impl Iterator<Item = Transfer> {
    let mut random = Sequence::new(SEED);
    (0..number).map(move |_| {
        let payer = random.below(ACCOUNTS / 10 * 8);
        let payee = payer + random.below(ACCOUNTS - payer).max(1);
        let amount = (random.fraction() * 100_000.0) as i64;
        Transfer { payer: payer as u32, payee: payee as u32, amount }
    })
}

/// State that all actors of a run share.
struct Shared<S: System> {
    accounts: Table<S, Account<S>>,
    teller: OnceLock<S::Ref<Teller<S>>>,
    stage: Arc<Stage>,
    /// The final balance of each account.
    balances: Box<[AtomicI64]>,
    done: AtomicU64,
}

impl<S: System> Shared<S> {
    fn accounts(&self) -> &[S::Ref<Account<S>>] {
        self.accounts.get().expect("they are there before the first message")
    }
}

enum ToTeller {
    Start,
    Done,
}

struct Teller<S: System> {
    shared: Arc<Shared<S>>,
    transfers: u32,
    done: u32,
    _life: Life,
}

impl<S: System> Actor for Teller<S> {
    type Message = ToTeller;

    async fn handle(&mut self, message: ToTeller) -> Flow {
        let accounts = self.shared.accounts();
        match message {
            ToTeller::Start => {
                for Transfer { payer, payee, amount } in transfers(self.transfers) {
                    S::post(&accounts[payer as usize], ToAccount::Pay(payee, amount));
                }
                Flow::Go
            }
            ToTeller::Done => {
                self.done += 1;
                if self.done < self.transfers {
                    return Flow::Go;
                }
                self.shared.done.store(self.done.into(), Ordering::Relaxed);
                accounts.iter().for_each(|account| S::post(account, ToAccount::Stop));
                Flow::Stop
            }
        }
    }
}

enum ToAccount {
    /// Pay this amount to the account at this place.
    Pay(u32, i64),
    /// Take this amount from the account at this place.
    Take(u32, i64),
    /// The payee has taken the amount.
    Taken,
    Stop,
}

struct Account<S: System> {
    shared: Arc<Shared<S>>,
    place: u32,
    balance: i64,
    /// Whether a payee has still to answer.
    waits: bool,
    aside: VecDeque<ToAccount>,
    _life: Life,
}

impl<S: System> Account<S> {
    /// Handles a message that need not wait.
    fn act(&mut self, message: ToAccount) -> Flow {
        match message {
            ToAccount::Pay(payee, amount) => {
                self.balance -= amount;
                self.waits = true;
                let take = ToAccount::Take(self.place, amount);
                S::post(&self.shared.accounts()[payee as usize], take);
            }
            ToAccount::Take(payer, amount) => {
                self.balance += amount;
                S::post(&self.shared.accounts()[payer as usize], ToAccount::Taken);
            }
            ToAccount::Taken => {
                let place = self.place;
                self.shared.stage.object(format!("account {place} got an answer unasked"));
            }
            ToAccount::Stop => {
                if !self.aside.is_empty() {
                    let (place, aside) = (self.place, self.aside.len());
                    self.shared.stage.object(format!("account {place} left {aside} messages"));
                }
                self.shared.balances[self.place as usize].store(self.balance, Ordering::Relaxed);
                return Flow::Stop;
            }
        }
        Flow::Go
    }
}

impl<S: System> Actor for Account<S> {
    type Message = ToAccount;

    async fn handle(&mut self, message: ToAccount) -> Flow {
        match message {
            ToAccount::Taken if self.waits => {
                self.waits = false;
                let teller = self.shared.teller.get().expect("it has ordered");
                S::post(teller, ToTeller::Done);
            }
            message if self.waits => self.aside.push_back(message),
            message => return self.act(message),
        }
        // After the answer, messages set aside go on, up to the next payment.
        while !self.waits
            && let Some(message) = self.aside.pop_front()
        {
            if self.act(message) == Flow::Stop {
                return Flow::Stop;
            }
        }
        Flow::Go
    }
}

/// Checks that each account has what the transfers leave it, and thus all together what they had.
fn check(number: u32, balances: &[AtomicI64]) -> Result<(), Fault> {
    let mut right = vec![BALANCE; ACCOUNTS];
    for Transfer { payer, payee, amount } in transfers(number) {
        right[payer as usize] -= amount;
        right[payee as usize] += amount;
    }
    let balances: Vec<i64> = balances.iter().map(|cents| cents.load(Ordering::Relaxed)).collect();
    let (sum, money) = (balances.iter().sum::<i64>(), BALANCE * ACCOUNTS as i64);
    if sum != money {
        return Fault::check(format!("{money} cents have become {sum}"));
    }
    match (0..ACCOUNTS).find(|&place| balances[place] != right[place]) {
        None => Ok(()),
        Some(place) => Fault::check(format!(
            "account {place} has {} cents instead of {}",
            balances[place], right[place]
        )),
    }
}

pub(super) async fn run<S: System>(spawner: S::Spawner, number: u32) -> Result<Duration, Fault> {
    let stage = Stage::of(ACCOUNTS + 1);
    let balances = (0..ACCOUNTS).map(|_| AtomicI64::new(0)).collect();
    let started = Instant::now();
    let shared = Arc::new(Shared::<S> {
        accounts: OnceLock::new(),
        teller: OnceLock::new(),
        stage: stage.clone(),
        balances,
        done: AtomicU64::new(0),
    });
    let teller = Teller { shared: shared.clone(), transfers: number, done: 0, _life: stage.life() };
    let teller = S::spawn(&spawner, 0, teller).await;
    let mut accounts = Vec::with_capacity(ACCOUNTS);
    for place in 0..ACCOUNTS {
        let account = Account {
            shared: shared.clone(),
            place: place as u32,
            balance: BALANCE,
            waits: false,
            aside: VecDeque::new(),
            _life: stage.life(),
        };
        accounts.push(S::spawn(&spawner, place, account).await);
    }
    shared.accounts.get_or_init(|| accounts.into_boxed_slice());
    S::post(shared.teller.get_or_init(|| teller), ToTeller::Start);
    let took = stage.over(started).await?;
    expect("transfers", shared.done.load(Ordering::Relaxed), number.into())?;
    check(number, &shared.balances)?;
    Ok(took)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn transfers_go_up_and_are_of_a_cent_at_least() {
        for Transfer { payer, payee, amount } in transfers(10_000) {
            assert!(payer < payee && (payee as usize) < ACCOUNTS && payer < 800);
            assert!((1..=100_000).contains(&amount), "{amount}");
        }
        assert!(transfers(10).eq(transfers(20).take(10)));
    }

    #[test]
    fn money_that_is_lost_or_in_the_wrong_account_is_a_fault() {
        let balances = || -> Vec<AtomicI64> {
            let mut cents = vec![BALANCE; ACCOUNTS];
            for Transfer { payer, payee, amount } in transfers(5) {
                cents[payer as usize] -= amount;
                cents[payee as usize] += amount;
            }
            cents.into_iter().map(AtomicI64::new).collect()
        };
        check(5, &balances()).unwrap();
        let lost = balances();
        lost[7].fetch_sub(1, Ordering::Relaxed);
        assert!(check(5, &lost).unwrap_err().to_string().contains("cents have become"));
        lost[8].fetch_add(1, Ordering::Relaxed);
        assert!(check(5, &lost).unwrap_err().to_string().starts_with("account 7 has "));
    }
}
