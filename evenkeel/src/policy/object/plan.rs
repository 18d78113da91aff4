//! Who has its home where, among all that is in use: what a period has shown of many cores, put together.
//!
//! Cores meet objects one at a time, and give them homes as long as there is room. Once per [`PERIOD`] what all of them know is [packed](super::pack()) anew: of what does not fit into the caches the most used
//! stays, and objects that are used [together](super::cluster) come together, as long as that leaves work for the other cores.

use super::{Item, Place, pack, trial};

/// How often, in nanoseconds: as long as the [first verdict](trial::HOLD) is held, so that what comes and
/// goes faster keeps its home. An estimate; no benchmark sets it.
pub const PERIOD: u64 = trial::HOLD;

/// Two objects belong together if at least so many of all uses of two objects one after the other are of those two: one part in this. More would be in the [table](super::cluster::SIZE). An estimate; no benchmark sets it.
pub const TOGETHER: u32 = 16;

/// As many pairs at least have to be seen of two objects that belong together.
pub const PAIRS: u32 = 16;

/// One that has its home stays unless the time that is spent in others is so many times as much for their bytes: in place, waiting for others and for lines that they have written is a part of it. An estimate; no benchmark sets it.
pub const STAYS: u64 = 4;

/// What one core knows of an object that it has used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Known {
    /// The object, by any number.
    pub object: u64,
    /// The time spent in it lately.
    pub heat: u64,
    /// Its size.
    pub bytes: u64,
    /// Where its home is. One without a home is worth one.
    pub place: Place,
}

/// A home that is to be changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Step {
    /// The object.
    pub object: u64,
    /// Its home, if it has one.
    pub from: Option<usize>,
    /// The home that it is to have.
    pub to: Option<usize>,
}

/// What is to be done.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Plan {
    /// The changes.
    pub steps: Vec<Step>,
    /// Whether there is not room for all.
    pub is_crowded: bool,
    /// The objects that have been packed as one, those of each group ascending.
    pub groups: Vec<Vec<u64>>,
}

/// Packs what is known into the cores' budgets, in bytes. `groups` are objects that belong together; such as would be more than one core's part of the work do not.
///
/// An object that several cores know of is where the one says that has used it most. Costs what [`pack()`] does, and a sort.
///
/// # Examples
/// ```
/// use evenkeel::policy::object::plan::{Known, Step, plan};
/// use evenkeel::policy::object::Place;
/// let known = |object, heat, place| Known { object, heat, bytes: 60, place };
/// let cold = known(1, 4, Place::At(0));
/// let hot = [known(2, 20, Place::Nowhere), known(3, 30, Place::At(1)), known(4, 30, Place::Nowhere)];
/// let plan = plan(&[[cold].as_slice(), &hot].concat(), &[], &[100, 100]);
/// assert!(plan.is_crowded);
/// assert_eq!(plan.steps, [
///     Step { object: 1, from: Some(0), to: None },
///     Step { object: 4, from: None, to: Some(0) },
/// ]);
/// ```
#[must_use]
pub fn plan(known: &[Known], groups: &[Vec<u64>], budgets: &[u64]) -> Plan {
    let known = merge(known);
    let find = |object: &u64| known.binary_search_by_key(object, |known| known.object).ok();
    let heat: u64 = known.iter().fold(0, |sum, known| sum.saturating_add(known.heat));
    let share = heat / budgets.len().max(1) as u64;
    let mut items: Vec<Item> = known.iter().map(item).collect();
    let mut together = Vec::new();
    for group in groups {
        let is_free = |&index: &usize| {
            items[index].cluster.is_none() && !matches!(items[index].place, Place::Pinned(_))
        };
        let members: Vec<usize> = group.iter().filter_map(find).filter(is_free).collect();
        let hot = members.iter().fold(0_u64, |sum, &index| sum.saturating_add(known[index].heat));
        if members.len() > 1 && hot <= share {
            let cluster = u32::try_from(together.len()).ok();
            members.iter().for_each(|&index| items[index].cluster = cluster);
            together.push(members.iter().map(|&index| known[index].object).collect());
        }
    }
    let homes = pack(&items, budgets);
    let mut plan = Plan { groups: together, ..Plan::default() };
    for (known, to) in known.iter().zip(homes) {
        let from = match known.place {
            Place::Nowhere => None,
            Place::At(core) => Some(core),
            Place::Pinned(_) => continue,
        };
        plan.is_crowded |= to.is_none();
        if from != to {
            plan.steps.push(Step { object: known.object, from, to });
        }
    }
    plan
}

fn item(known: &Known) -> Item {
    let &Known { heat, bytes, place, .. } = known;
    let heat = if place == Place::Nowhere { heat } else { heat.saturating_mul(STAYS) };
    Item { heat, bytes, place, cluster: None }
}

/// Each object once, in ascending order.
fn merge(known: &[Known]) -> Vec<Known> {
    let mut sorted = known.to_vec();
    // The one that has used it most comes first, and before those that know of no home.
    let order = |known: &Known| {
        (known.object, known.place == Place::Nowhere, std::cmp::Reverse(known.heat))
    };
    sorted.sort_by_key(order);
    sorted.dedup_by(|next, first| {
        let is_same = next.object == first.object;
        if is_same {
            first.heat = first.heat.saturating_add(next.heat);
        }
        is_same
    });
    sorted
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(object: u64, heat: u64, place: Place) -> Known {
        Known { object, heat, bytes: 10, place }
    }

    #[test]
    fn what_fits_stays_where_it_is() {
        let known = [at(1, 5, Place::At(0)), at(2, 50, Place::At(0)), at(3, 1, Place::Pinned(1))];
        assert_eq!(plan(&known, &[], &[100, 100]), Plan::default());
        assert_eq!(plan(&[], &[vec![1, 2]], &[]), Plan::default());
    }

    #[test]
    fn what_several_cores_know_is_one_object() {
        let twice = [at(7, 5, Place::Nowhere), at(7, 1, Place::At(1)), at(7, 9, Place::Nowhere)];
        assert_eq!(merge(&twice), [at(7, 15, Place::At(1))]);
        let moved = [at(7, 2, Place::At(0)), at(7, 6, Place::At(1))];
        assert_eq!(merge(&moved), [at(7, 8, Place::At(1))], "it was there, and has gone");
    }

    #[test]
    fn of_what_does_not_fit_the_most_used_stay() {
        let known: Vec<Known> = (0..100).map(|n| at(n, n, Place::At((n % 2) as usize))).collect();
        let plan = plan(&known, &[], &[250, 250]);
        assert!(plan.is_crowded);
        let gone: Vec<u64> =
            plan.steps.iter().filter(|step| step.to.is_none()).map(|step| step.object).collect();
        assert_eq!(gone, (0..50).collect::<Vec<_>>());
    }

    #[test]
    fn those_that_belong_together_come_together_unless_they_are_most_of_the_work() {
        let known = [
            at(1, 10, Place::At(0)),
            at(2, 10, Place::At(1)),
            at(3, 30, Place::At(0)),
            at(4, 30, Place::At(1)),
        ];
        let plan = plan(&known, &[vec![1, 2], vec![3, 4]], &[100, 100]);
        assert_eq!(plan.steps, [Step { object: 2, from: Some(1), to: Some(0) }]);
        assert_eq!(plan.groups, [[1, 2]], "3 and 4 are more than half of the work");
    }
}
