//! Names and groups of actors, and subscribers of dead letters.

mod dead_letters;
pub(crate) mod group;
pub(crate) mod registry;
