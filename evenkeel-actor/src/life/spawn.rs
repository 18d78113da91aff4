//! Spawning actors: alone, as a child, or under a supervisor.

use super::live::live;
use super::plain::Life;
use super::ward::{Ward, begun};
use crate::actor::Actor;
use crate::kin::Kin;
use crate::kin::post::Post;
use crate::mailbox::overflow::Overflow;
use crate::mailbox::{Mailbox, Settings};
use crate::policy::restart::Restart;
use crate::refs::actor_ref::ActorRef;
use crate::system::System;
use crate::system::counters::Count;
use evenkeel::internal::{Public, detect};
use std::panic::Location;

/// Counts a spawned actor, and returns the settings of its mailbox. Called as the mailbox is made:
/// a spawn outside of a runtime panics before, and counts nothing.
#[inline]
fn enter(settings: Settings, system: System) -> Settings {
    system.counters().add(Count::Spawned, 1);
    if system.measures() { settings.measured() } else { settings }
}

/// Spawns an actor, on behalf of the caller at `site`.
#[inline]
#[track_caller]
pub(crate) fn spawn<A: Actor, P: Overflow>(
    actor: A,
    settings: Settings,
    system: System,
    site: &'static Location<'static>,
) -> ActorRef<A::Message, P> {
    let mailbox = || Mailbox::new(enter(settings, system), system);
    let priority = settings.priority;
    ActorRef::local(Public::spawn(mailbox, |own| Life::new(actor, own, priority), site))
}

/// Spawns an actor that has relations with others from the beginning.
#[track_caller]
pub(crate) fn spawn_with<A: Actor>(
    actor: A,
    settings: Settings,
    system: System,
    kin: Kin,
) -> Public<Mailbox<A::Message>> {
    let mailbox = || Mailbox::with_kin(enter(settings, system), system, kin);
    Public::spawn(mailbox, |own| Life::new(actor, own, settings.priority), Location::caller())
}

/// Spawns an actor that `factory` makes at each start by its supervisor, which restarts it after
/// such ends.
#[track_caller]
pub(crate) fn spawn_ward<A: Actor>(
    mut factory: impl FnMut() -> A + Send + 'static,
    settings: Settings,
    system: System,
    kin: Kin,
    restart: Restart,
) -> Public<Mailbox<A::Message>> {
    let name = kin.name.clone();
    let post = Post { ends: !restart.is_due(true), ..Post::default() };
    let kin = Kin { post: Some(Box::new(post)), ..kin };
    let mailbox = || Mailbox::with_kin(enter(settings, system), system, kin);
    let make = move |receiver| live(factory(), receiver, settings.priority, begun);
    let start = |own| Ward::<A, _, _, _>::new(own, make);
    let own = Public::spawn(mailbox, start, Location::caller());
    if let Some(name) = name {
        detect::name(|| own.task_id(), &name);
    }
    own
}
