//! Who has references to an actor, as its node counts them, and what those keep who lend them.
//!
//! [`remote::lease`](crate::remote) says what the protocol is. Here is what it counts, of one
//! actor: plain values, which the tests drive through all orders of what nodes say to each other.

use std::collections::BTreeMap;

/// The greatest number that a balance may come to, in either direction. A choice: no program has as
/// many references, and no sum of a few balances overflows.
pub(crate) const MOST: i64 = 1 << 48;

/// What a *holder* has of a *lender*, by their nodes' numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct Line {
    lender: u32,
    holder: u32,
    /// References that the holder was given by the lender, as far as the owner knows, less those
    /// that it has given back. Never negative if the lender is the owner.
    balance: i64,
}

/// What the owner of an actor counts of it. The owner is a lender too, the first.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Accounts {
    /// Those whose balance is not zero, in order.
    lines: Vec<Line>,
}

impl Accounts {
    /// Whether a node has a reference, so that the actor is needed.
    ///
    /// One balance above zero is enough, and their sum says nothing: one below zero is a word of a
    /// lender's that is on its way, and that lender has a reference of its own until it has come.
    pub(crate) fn is_needed(&self) -> bool {
        self.lines.iter().any(|line| line.balance > 0)
    }

    /// A lender has given a holder so many more. False if there would be too many.
    pub(crate) fn lent(&mut self, lender: u32, holder: u32, times: u64) -> bool {
        let Some(more) = within(times) else { return false };
        self.change(lender, holder, more)
    }

    /// A holder has given back what the owner itself has given it. False if it has fewer.
    pub(crate) fn given_back_to_owner(&mut self, owner: u32, holder: u32, times: u64) -> bool {
        let Some(less) = within(times) else { return false };
        let has = self.find(owner, holder).map_or(0, |at| self.lines[at].balance);
        less <= has && self.change(owner, holder, -less)
    }

    /// A holder has given back what another node has lent it, perhaps before the owner has heard of
    /// the loan.
    ///
    /// The holder may have been deceived by its lender. So what cannot be is no error: it lowers
    /// what is counted for these two, and for no other nodes.
    pub(crate) fn given_back(&mut self, lender: u32, holder: u32, times: u64) {
        let has = self.find(lender, holder).map_or(0, |at| self.lines[at].balance);
        let less = within(times).unwrap_or(MOST).min(has + MOST);
        self.change(lender, holder, -less);
    }

    /// A node is lost. It has nothing any more. What it has lent stays, as far as that was heard
    /// of; a balance below zero says nothing to others.
    pub(crate) fn lose(&mut self, node: u32) {
        self.lines.retain(|line| line.holder != node);
    }

    /// The sum of all balances, which says nothing.
    #[cfg(test)]
    pub(super) fn sum(&self) -> i64 {
        self.lines.iter().map(|line| line.balance).sum()
    }

    /// What a node has.
    #[cfg(test)]
    pub(super) fn balance_of(&self, holder: u32) -> i64 {
        self.lines.iter().filter(|line| line.holder == holder).map(|line| line.balance).sum()
    }

    fn find(&self, lender: u32, holder: u32) -> Option<usize> {
        self.place(lender, holder).ok()
    }

    fn place(&self, lender: u32, holder: u32) -> Result<usize, usize> {
        self.lines.binary_search_by_key(&(holder, lender), |line| (line.holder, line.lender))
    }

    fn change(&mut self, lender: u32, holder: u32, more: i64) -> bool {
        match self.place(lender, holder) {
            Ok(at) => {
                let balance = self.lines[at].balance + more;
                if balance.abs() > MOST {
                    return false;
                }
                self.lines[at].balance = balance;
                if balance == 0 {
                    self.lines.remove(at);
                }
            }
            Err(at) if more != 0 => self.lines.insert(at, Line { lender, holder, balance: more }),
            Err(_) => {}
        }
        true
    }
}

/// A number of references, if that many can be.
fn within(times: u64) -> Option<i64> {
    i64::try_from(times).ok().filter(|&times| times <= MOST)
}

/// What a lender keeps for what it has lent of one owner's actors, until the owner has counted it.
///
/// `K` says which actor was lent to whom, and `L` is the lease that the lender had then.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Loans<K, L> {
    /// Loans that the owner is to hear of, and how often each was made.
    waiting: BTreeMap<K, (u64, Vec<L>)>,
    /// Those that it was told of and has not counted, by the number under which it was.
    told: BTreeMap<u64, Vec<L>>,
    /// How often it was told of some.
    last: u64,
}

impl<K, L> Default for Loans<K, L> {
    fn default() -> Self {
        Self { waiting: BTreeMap::new(), told: BTreeMap::new(), last: 0 }
    }
}

impl<K: Ord + Copy, L> Loans<K, L> {
    /// One more is lent. `is_like` says of a lease that is kept already for such a loan, and that
    /// the owner has not been told of, whether it is by the same lender as this one, which then is
    /// given back: the owner hears of the older one first, if of any.
    pub(crate) fn lend(
        &mut self,
        loan: K,
        lease: L,
        is_like: impl Fn(&L, &L) -> bool,
    ) -> Option<L> {
        let (times, leases) = self.waiting.entry(loan).or_default();
        *times += 1;
        if leases.iter().any(|kept| is_like(kept, &lease)) {
            return Some(lease);
        }
        leases.push(lease);
        None
    }

    /// Whether the owner is to hear of this loan.
    pub(crate) fn waits(&self, loan: &K) -> bool {
        self.waiting.contains_key(loan)
    }

    /// How many loans the owner is to hear of.
    pub(crate) fn waiting(&self) -> usize {
        self.waiting.len()
    }

    /// A loan that the owner hears of now, how often it was made, and the number that the owner
    /// says once it has counted it.
    pub(crate) fn tell(&mut self) -> Option<(K, u64, u64)> {
        let (loan, (times, leases)) = self.waiting.pop_first()?;
        self.last += 1;
        self.told.insert(self.last, leases);
        Some((loan, times, self.last))
    }

    /// The owner has counted what it was told under a number: the leases that need not be kept any
    /// more. None if it was told nothing under that, or has counted it before.
    pub(crate) fn counted(&mut self, number: u64) -> Option<Vec<L>> {
        self.told.remove(&number)
    }

    /// All that is kept, as the owner is lost.
    pub(crate) fn clear(&mut self) -> Vec<L> {
        let waiting = std::mem::take(&mut self.waiting).into_values().map(|(_, leases)| leases);
        let told = std::mem::take(&mut self.told).into_values();
        waiting.chain(told).flatten().collect()
    }
}
