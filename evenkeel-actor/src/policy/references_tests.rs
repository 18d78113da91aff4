//! All orders of the words about references to one actor, between its owner and two or three other
//! nodes that send, get and drop references as they like, and what is found if a rule is left out.

use super::references::{Accounts, Loans};
use std::collections::{HashSet, VecDeque};

/// The node of the actor. The other nodes follow it.
const OWNER: u32 = 0;

/// A rule that is left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Without {
    Nothing,
    /// A lender keeps no lease for a loan that is not counted yet.
    KeptLease,
    /// A holder gives back each lease as one by the owner, whichever node has lent it.
    Lender,
    /// The sum of all balances says whether the actor is needed.
    OneBalance,
    /// The owner counts a loan only if the lender itself has a positive balance.
    EarlyLoans,
    /// The owner counts loans to a lost node.
    LostHolders,
    /// The owner counts its own loans only once they have arrived.
    EarlyCount,
    /// The owner does not say what it has counted.
    Counted,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Word {
    /// A record with a reference in it. It is sound if the actor is known to be kept for it.
    Reference {
        lender: u32,
        to: u32,
        is_sound: bool,
    },
    Lent {
        lender: u32,
        holder: u32,
        times: u64,
        loan: u64,
    },
    Counted {
        to: u32,
        loan: u64,
    },
    Release {
        lender: u32,
        holder: u32,
    },
}

/// A lease in its holder's hands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct Lease {
    lender: u32,
    is_sound: bool,
    /// Whether a reference shares it.
    is_used: bool,
    /// The number of loans that it is kept for.
    kept: u32,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct Holder {
    is_lost: bool,
    /// The leases that it has or had; `None` for one given back.
    leases: Vec<Option<Lease>>,
    /// Loans by their holders.
    loans: Loans<u32, usize>,
}

/// One state of all nodes.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct World {
    accounts: Accounts,
    /// Whether the owner has sent a reference, and whether it has ended the actor.
    has_begun: bool,
    has_ended: bool,
    /// The owner's entry is not used.
    holders: Vec<Holder>,
    /// In no order: any word may be the next to arrive.
    words: Vec<Word>,
    /// References that the owner may still send, references that others may still send, and nodes
    /// that may still be lost.
    left: (u32, u32, u32),
}

impl World {
    fn new(nodes: usize, left: (u32, u32, u32)) -> Self {
        Self {
            accounts: Accounts::default(),
            has_begun: false,
            has_ended: false,
            holders: vec![Holder::default(); nodes],
            words: Vec::new(),
            left,
        }
    }

    fn say(&mut self, word: Word) {
        let at = self.words.partition_point(|&other| other < word);
        self.words.insert(at, word);
    }

    fn look(&mut self, without: Without) {
        let is_needed = match without {
            Without::OneBalance => self.accounts.sum() > 0,
            _ => self.accounts.is_needed(),
        };
        if !is_needed {
            self.has_ended = true;
            self.accounts = Accounts::default();
        }
    }

    /// Gives a lease back if nothing shares it and no loan keeps it.
    fn drop_lease(&mut self, node: u32, at: usize, without: Without) {
        let holder = &mut self.holders[node as usize];
        let Some(lease) = holder.leases[at] else { return };
        if !lease.is_used && lease.kept == 0 {
            holder.leases[at] = None;
            let lender = if without == Without::Lender { OWNER } else { lease.lender };
            self.say(Word::Release { lender, holder: node });
        }
    }

    /// Keeps a lease for one loan less.
    fn let_go(&mut self, node: u32, at: usize, without: Without) {
        if let Some(lease) = &mut self.holders[node as usize].leases[at] {
            lease.kept = lease.kept.saturating_sub(1);
        }
        self.drop_lease(node, at, without);
    }

    /// Handles a word that has arrived. Returns an error if it takes a node for one that breaks the
    /// rules.
    fn take(&mut self, word: Word, without: Without) -> Result<(), &'static str> {
        match word {
            Word::Reference { lender, to, is_sound } => {
                if without == Without::EarlyCount && lender == OWNER && !self.has_ended {
                    self.accounts.lent(OWNER, to, 1);
                }
                let lease = Lease { lender, is_sound, is_used: true, kept: 0 };
                self.holders[to as usize].leases.push(Some(lease));
            }
            Word::Lent { lender, holder, times, loan } => {
                let is_lost =
                    self.holders[holder as usize].is_lost && without != Without::LostHolders;
                let is_known =
                    without != Without::EarlyLoans || self.accounts.balance_of(lender) > 0;
                if !self.has_ended && !is_lost && is_known {
                    assert!(self.accounts.lent(lender, holder, times));
                    self.look(without);
                }
                if without != Without::Counted {
                    self.say(Word::Counted { to: lender, loan });
                }
            }
            Word::Counted { to, loan } => {
                let counted = self.holders[to as usize].loans.counted(loan);
                for at in counted.ok_or("what is counted was not lent")? {
                    self.let_go(to, at, without);
                }
            }
            Word::Release { .. } if self.has_ended => {}
            Word::Release { lender: OWNER, holder } => {
                if !self.accounts.given_back_to_owner(OWNER, holder, 1) {
                    return Err("more is given back than there is");
                }
                self.look(without);
            }
            Word::Release { lender, holder } => {
                self.accounts.given_back(lender, holder, 1);
                self.look(without);
            }
        }
        Ok(())
    }

    /// Loses a node, with its words to the owner and the words to it.
    fn lose(&mut self, node: u32, without: Without) {
        let lost = Holder { is_lost: true, ..Holder::default() };
        let lost = std::mem::replace(&mut self.holders[node as usize], lost);
        let mut lost_words = lost.loans.waiting() > 0;
        self.words.retain(|word| match *word {
            Word::Lent { lender, .. } if lender == node => {
                lost_words = true;
                false
            }
            Word::Release { holder, .. } => holder != node,
            Word::Reference { to, .. } | Word::Counted { to, .. } => to != node,
            Word::Lent { .. } => true,
        });
        if lost_words {
            // What is left of its loans, and of its borrowers' loans, may name an actor that has
            // ended.
            for lease in self.holders.iter_mut().flat_map(|holder| &mut holder.leases).flatten() {
                lease.is_sound &= lease.lender == OWNER;
            }
            for word in &mut self.words {
                if let Word::Reference { lender, is_sound, .. } = word {
                    *is_sound &= *lender == OWNER;
                }
            }
            self.words.sort_unstable();
        }
        if !self.has_ended && self.has_begun {
            self.accounts.lose(node);
            self.look(without);
        }
    }

    /// Returns all states that may come next.
    fn next(&self, without: Without) -> Result<Vec<Self>, &'static str> {
        let mut next = Vec::new();
        let others =
            || (1..self.holders.len() as u32).filter(|&node| !self.holders[node as usize].is_lost);
        if self.left.0 > 0 && !self.has_ended {
            for to in others() {
                let mut world = self.clone();
                world.left.0 -= 1;
                world.has_begun = true;
                if without != Without::EarlyCount {
                    world.accounts.lent(OWNER, to, 1);
                }
                world.say(Word::Reference { lender: OWNER, to, is_sound: true });
                next.push(world);
            }
        }
        for (at, &word) in self.words.iter().enumerate() {
            if at > 0 && self.words[at - 1] == word {
                continue;
            }
            let mut world = self.clone();
            world.words.remove(at);
            world.take(word, without)?;
            next.push(world);
        }
        for node in others() {
            let leases = self.holders[node as usize].leases.iter().enumerate();
            for (at, lease) in leases.filter_map(|(at, lease)| lease.map(|lease| (at, lease))) {
                if !lease.is_used {
                    continue;
                }
                let mut world = self.clone();
                if let Some(lease) = &mut world.holders[node as usize].leases[at] {
                    lease.is_used = false;
                }
                world.drop_lease(node, at, without);
                next.push(world);
                if self.left.1 == 0 {
                    continue;
                }
                for to in others().filter(|&to| to != node) {
                    let mut world = self.clone();
                    world.left.1 -= 1;
                    let is_sound = lease.is_sound;
                    world.say(Word::Reference { lender: node, to, is_sound });
                    let lender = &mut world.holders[node as usize];
                    let Holder { leases, loans, .. } = lender;
                    let by = |at: &usize| leases[*at].as_ref().map(|lease| lease.lender);
                    let is_kept = loans.lend(to, at, |kept, at| by(kept) == by(at)).is_none();
                    if let Some(lease) = &mut lender.leases[at]
                        && without != Without::KeptLease
                    {
                        lease.kept += u32::from(is_kept);
                    }
                    next.push(world);
                }
            }
            let mut world = self.clone();
            let told = world.holders[node as usize].loans.tell();
            if let Some((holder, times, loan)) = told {
                world.say(Word::Lent { lender: node, holder, times, loan });
                next.push(world);
            }
        }
        if self.left.2 > 0 {
            for node in others() {
                let mut world = self.clone();
                world.left.2 -= 1;
                world.lose(node, without);
                next.push(world);
            }
        }
        Ok(next)
    }

    /// Returns what is wrong with this state.
    fn wrong(&self) -> Option<&'static str> {
        let alive = || self.holders.iter().filter(|holder| !holder.is_lost);
        let mut leases = alive().flat_map(|holder| holder.leases.iter().flatten());
        let mut coming = self.words.iter();
        let has_sound = leases.any(|lease| lease.is_sound && lease.is_used)
            || coming.any(|word| matches!(word, Word::Reference { is_sound: true, .. }));
        if self.has_ended && has_sound {
            return Some("an actor has ended to which there are references");
        }
        let has_any = alive().any(|holder| holder.leases.iter().flatten().any(|of| of.is_used));
        let is_over = self.words.is_empty() && !has_any;
        let is_over = is_over && alive().all(|holder| holder.loans.waiting() == 0);
        if is_over && alive().any(|holder| holder.leases.iter().any(Option::is_some)) {
            return Some("a lease is kept to which there are no references");
        }
        (is_over && self.has_begun && !self.has_ended).then_some("an actor is kept for ever")
    }
}

/// The numbers that make a world large: nodes, references that the owner sends, references that
/// others send, and losses.
struct Size(usize, u32, u32, u32);

/// Explores all reachable states. Returns their number, or what is wrong with one of them.
fn explore(Size(nodes, first, loans, losses): Size, without: Without) -> Result<usize, String> {
    let begin = World::new(nodes, (first, loans, losses));
    let mut seen = HashSet::from([begin.clone()]);
    // Nearest states first: most errors are near.
    let mut open = VecDeque::from([begin]);
    while let Some(world) = open.pop_front() {
        if let Some(wrong) = world.wrong() {
            return Err(format!("{wrong}: {world:?}"));
        }
        for next in world.next(without)? {
            if !seen.contains(&next) {
                seen.insert(next.clone());
                open.push_back(next);
            }
        }
    }
    Ok(seen.len())
}

#[test]
fn in_all_orders_an_actor_is_kept_while_there_are_references_and_no_longer() {
    for size in [Size(3, 2, 2, 0), Size(4, 1, 2, 0)] {
        let states = explore(size, Without::Nothing).unwrap();
        assert!(states > 1_000, "only {states} states are no proof");
    }
}

#[test]
fn in_all_orders_what_is_lost_with_a_node_keeps_nothing_and_ends_nothing_else() {
    for size in [Size(3, 2, 1, 1), Size(4, 1, 2, 1)] {
        let states = explore(size, Without::Nothing).unwrap();
        assert!(states > 1_000, "only {states} states are no proof");
    }
}

#[test]
fn each_rule_is_needed() {
    for (without, losses) in [
        (Without::KeptLease, 0),
        (Without::Lender, 0),
        (Without::OneBalance, 0),
        (Without::EarlyLoans, 0),
        (Without::LostHolders, 1),
        (Without::EarlyCount, 0),
        (Without::Counted, 0),
    ] {
        let sizes = [Size(3, 1, 1, losses), Size(4, 1, 2, losses), Size(3, 2, 2, losses)];
        let is_found = sizes.into_iter().any(|size| explore(size, without).is_err());
        assert!(is_found, "nothing is found without {without:?}");
    }
}

#[test]
fn what_a_peer_makes_up_changes_nothing_for_others() {
    let mut accounts = Accounts::default();
    assert!(accounts.lent(OWNER, 1, 1));
    assert!(!accounts.given_back_to_owner(OWNER, 2, 1), "it has none");
    assert!(!accounts.given_back_to_owner(OWNER, 1, 2), "it has one");
    assert!(!accounts.lent(2, 3, u64::MAX), "that is too many");
    accounts.given_back(3, 2, u64::MAX);
    accounts.given_back(3, 2, u64::MAX);
    assert!(accounts.is_needed());
    assert!(accounts.given_back_to_owner(OWNER, 1, 1));
    assert!(!accounts.is_needed());
    accounts.lose(2);
    assert_eq!(accounts, Accounts::default());
}
