//! The handles that users hold: references to actors, and the places for answers.

pub(crate) mod actor_ref;
pub(crate) mod ask;
pub(crate) mod away;
pub(crate) mod recipient;
