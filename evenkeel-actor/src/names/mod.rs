//! Which actors are known by what: names, groups, and subscribers of dead letters.

mod dead_letters;
pub(crate) mod group;
pub(crate) mod registry;
