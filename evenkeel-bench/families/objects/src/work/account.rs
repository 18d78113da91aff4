//! Accounts, between which operations on two objects at once transfer amounts.

use super::zipf::Zipf;
use super::{Done, Kind, PairWork};
use crate::party::Hand;

/// An account: its balance and its number of transfers.
pub(crate) const ACCOUNT_BYTES: usize = size_of::<Account>();

/// One more than the largest amount of a transfer.
const AMOUNTS: usize = 100;

/// Accounts, the first of which are the busiest.
#[derive(Clone, Copy)]
pub(crate) struct Bank(pub(crate) Zipf);

#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Account {
    balance: i64,
    transfers: u64,
}

impl Kind for Bank {
    type Value = Account;

    fn make(self, _: usize) -> Account {
        Account::default()
    }

    fn total(self, account: &Account) -> u64 {
        account.transfers
    }

    /// The balance: transfers keep the accounts' sum constant.
    fn balance(self, account: &Account) -> i64 {
        account.balance
    }
}

impl PairWork for Bank {
    #[inline(always)]
    fn choose(self, hand: &mut Hand, in_use: usize) -> (usize, usize) {
        let from = self.0.draw(&mut hand.random);
        let to = self.0.draw(&mut hand.random);
        if from != to { (from, to) } else { (from, if to + 1 < in_use { to + 1 } else { 0 }) }
    }

    #[inline]
    fn operate(self, from: &mut Account, to: &mut Account, hand: &mut Hand) -> Done {
        let amount = hand.random.below(AMOUNTS) as i64;
        from.balance -= amount;
        to.balance += amount;
        from.transfers += 1;
        to.transfers += 1;
        Done { added: 2, right: true }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_transfer_is_between_two_and_nothing_is_lost() {
        let (bank, mut hand) = (Bank(Zipf::new(3, 99)), Hand::new(1, 0));
        let mut accounts = [bank.make(0), bank.make(1), bank.make(2)];
        for _ in 0..100 {
            let (from, to) = bank.choose(&mut hand, accounts.len());
            let [from, to] = accounts.get_disjoint_mut([from, to]).expect("they are two");
            assert!(bank.operate(from, to, &mut hand).right);
        }
        assert_eq!(accounts.iter().map(|account| bank.total(account)).sum::<u64>(), 200);
        assert_eq!(accounts.iter().map(|account| bank.balance(account)).sum::<i64>(), 0);
        assert!(accounts.iter().any(|account| bank.balance(account) != 0));
    }
}
