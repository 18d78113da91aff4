//! The owner's counts of references to an actor, and what lenders keep for their loans.
//!
//! [`remote::lease`](crate::remote) has the protocol. This module has its counts for one actor:
//! plain values, which the tests drive through all orders of the words between nodes.

use std::collections::BTreeMap;

/// The largest balance, in either direction. A choice: no program has as many references, and no
/// sum of a few balances overflows.
pub(crate) const MOST: i64 = 1 << 48;

/// The references that a *holder* has from a *lender*, by their nodes' numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct Line {
    lender: u32,
    holder: u32,
    /// References that the lender gave to the holder, as far as the owner knows, less those that
    /// the holder has given back. Never negative if the lender is the owner.
    balance: i64,
}

/// The owner's counts for one of its actors. The owner is a lender too, the first.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Accounts {
    /// The lines with a balance other than zero, in order.
    lines: Vec<Line>,
}

impl Accounts {
    /// Returns whether a node has a reference, so that the actor is needed.
    ///
    /// One balance above zero is enough, and their sum says nothing. A balance below zero stands
    /// for a lender's word that is on its way. That lender has a reference of its own until the
    /// word has come.
    pub(crate) fn is_needed(&self) -> bool {
        self.lines.iter().any(|line| line.balance > 0)
    }

    /// Adds `times` to what a lender has given a holder. Returns false if the balance would be too
    /// large.
    pub(crate) fn lent(&mut self, lender: u32, holder: u32, times: u64) -> bool {
        let Some(more) = within(times) else { return false };
        self.change(lender, holder, more)
    }

    /// Counts what a holder has given back of the owner's own loans. Returns false if the holder
    /// has fewer.
    pub(crate) fn given_back_to_owner(&mut self, owner: u32, holder: u32, times: u64) -> bool {
        let Some(less) = within(times) else { return false };
        let has = self.find(owner, holder).map_or(0, |at| self.lines[at].balance);
        less <= has && self.change(owner, holder, -less)
    }

    /// Counts what a holder has given back of another node's loans, perhaps before the owner has
    /// heard of the loan.
    ///
    /// The lender may have deceived the holder. So an impossible number is no error: it lowers the
    /// balance of these two nodes, and of no others.
    pub(crate) fn given_back(&mut self, lender: u32, holder: u32, times: u64) {
        let has = self.find(lender, holder).map_or(0, |at| self.lines[at].balance);
        let less = within(times).unwrap_or(MOST).min(has + MOST);
        self.change(lender, holder, -less);
    }

    /// Removes a lost node as a holder. What the node has lent stays, as far as the owner has heard
    /// of it; a balance below zero says nothing to others.
    pub(crate) fn lose(&mut self, node: u32) {
        self.lines.retain(|line| line.holder != node);
    }

    /// Returns the sum of all balances, which says nothing.
    #[cfg(test)]
    pub(super) fn sum(&self) -> i64 {
        self.lines.iter().map(|line| line.balance).sum()
    }

    /// Returns what a node has.
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

/// Returns a number of references as a balance, if it is not too large.
fn within(times: u64) -> Option<i64> {
    i64::try_from(times).ok().filter(|&times| times <= MOST)
}

/// What a lender keeps for its loans of one owner's actors, until the owner has counted them.
///
/// `K` says which actor was lent to which holder, and `L` is the lender's own lease at that time.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Loans<K, L> {
    /// Loans that the owner has yet to hear of, and how often each was made.
    waiting: BTreeMap<K, (u64, Vec<L>)>,
    /// Leases of loans that the owner was told of and has not counted, by the number of the
    /// telling.
    told: BTreeMap<u64, Vec<L>>,
    /// The number of tellings so far.
    last: u64,
}

impl<K, L> Default for Loans<K, L> {
    fn default() -> Self {
        Self { waiting: BTreeMap::new(), told: BTreeMap::new(), last: 0 }
    }
}

impl<K: Ord + Copy, L> Loans<K, L> {
    /// Notes one more loan, and keeps `lease` for it. Returns `lease` if a lease by the same lender
    /// is already kept for this loan, and the owner has not been told of it: the owner hears of the
    /// older lease first, if of any. `is_like` says whether two leases are by the same lender.
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

    /// Returns whether the owner has yet to hear of this loan.
    pub(crate) fn waits(&self, loan: &K) -> bool {
        self.waiting.contains_key(loan)
    }

    /// Returns how many loans the owner has yet to hear of.
    pub(crate) fn waiting(&self) -> usize {
        self.waiting.len()
    }

    /// Returns how many loans the owner has yet to hear of or to count.
    pub(crate) fn kept(&self) -> usize {
        self.waiting.len() + self.told.len()
    }

    /// Takes a loan to tell the owner of. Returns it, how often it was made, and the number that
    /// the owner repeats once it has counted the loan.
    pub(crate) fn tell(&mut self) -> Option<(K, u64, u64)> {
        let (loan, (times, leases)) = self.waiting.pop_first()?;
        self.last += 1;
        self.told.insert(self.last, leases);
        Some((loan, times, self.last))
    }

    /// Notes that the owner has counted what it was told under a number. Returns the leases kept
    /// for it. Returns `None` if the owner was told nothing under that number, or has counted it
    /// before.
    pub(crate) fn counted(&mut self, number: u64) -> Option<Vec<L>> {
        self.told.remove(&number)
    }

    /// Takes all leases, as the owner is lost.
    pub(crate) fn clear(&mut self) -> Vec<L> {
        let waiting = std::mem::take(&mut self.waiting).into_values().map(|(_, leases)| leases);
        let told = std::mem::take(&mut self.told).into_values();
        waiting.chain(told).flatten().collect()
    }
}
