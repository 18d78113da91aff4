//! Describes a family of experiments. The suite does the rest.

use super::asked::Asked;
use super::case::{Case, Fields};
use super::description::{Alias, Description, Experiment};
use super::peer::{Known, Peer};
use super::picture::Picture;
use super::published::Published;
use super::rows::Row;
use crate::effort::Effort;

/// Experiments that share their peers, their options and their settings.
pub trait Family: Sized + Send + 'static {
    /// The name of its file of records, and its place on the page: `actors`.
    const NAME: &'static str;
    /// Its heading: `Actors`.
    const TITLE: &'static str;
    /// What a reader of its figures must know, for below the tables and for the page.
    const ABOUT: &'static str;
    /// Whether it draws [pictures](Family::pictures) of its own.
    const DRAWS: bool = false;

    /// The peers that run the experiments.
    type Peer: Peer;
    /// Options of `run` that no other family has; [`NoOptions`] if there are none.
    type Options: clap::Args;
    /// One case, as requested.
    type Spec: Spec;
    /// A peer that is about to run a case: warmed up, its process started, its number of rounds
    /// found.
    type Ready;

    /// Creates the family, with nothing built yet.
    fn new() -> Self;

    /// Returns the experiments, in the order of the tables.
    fn experiments() -> Vec<Experiment>;

    /// Returns names that stand for several experiments.
    fn aliases() -> Vec<Alias> {
        Vec::new()
    }

    /// Returns the cases that `run` asks for, or what is wrong with the request. The caller has
    /// checked that the family knows the experiments, variants, peers and options.
    fn asked(asked: &Asked, options: &Self::Options) -> anyhow::Result<Vec<Self::Spec>>;

    /// Returns the cases that the main job measures on `cores` cores.
    fn plan(effort: Effort, cores: usize) -> Vec<Self::Spec>;

    /// Returns the number of rounds in which a session measures it; 0 if it does not.
    fn rounds(effort: Effort) -> usize {
        effort.repeats()
    }

    /// Finds the peers. It may start tools to ask for their versions.
    fn found(&self) -> anyhow::Result<Found<Self::Peer>> {
        Ok(Found::all())
    }

    /// Finds only some of the peers, where looking for each takes time.
    fn found_of(&self, _peers: &[Self::Peer]) -> anyhow::Result<Found<Self::Peer>> {
        self.found()
    }

    /// Returns peers that an option asks for, beside those that are named.
    fn besides(_options: &Self::Options) -> Vec<Self::Peer> {
        Vec::new()
    }

    /// Returns whether a peer runs a case.
    fn has(peer: Self::Peer, spec: &Self::Spec) -> Has;

    /// Builds what these peers need, before anything is measured.
    fn build(&self, _peers: &[Self::Peer]) -> anyhow::Result<()> {
        Ok(())
    }

    /// Makes a peer ready for a case, within the case's cores.
    fn ready(&self, spec: &Self::Spec, peer: Self::Peer) -> anyhow::Result<Self::Ready>;

    /// Runs the case once, within its cores. Random choices begin at `seed`.
    fn once(
        &self,
        spec: &Self::Spec,
        peer: Self::Peer,
        ready: &mut Self::Ready,
        seed: u64,
    ) -> anyhow::Result<Ran>;

    /// Returns a child process that does the work and is not waited for; its time counts as the
    /// run's own.
    fn child(_ready: &Self::Ready) -> Option<u32> {
        None
    }

    /// Returns the text that a list adds to an experiment's description, such as its sizes.
    fn listed(_bench: &str) -> Option<String> {
        None
    }

    /// Returns remarks on these rows, beside their figures: each a sentence or a block of lines.
    fn remarks(_rows: &[Row<'_>]) -> Vec<String> {
        Vec::new()
    }

    /// Returns the text that `run` prints below the tables of these rows, for which a session has
    /// no room.
    fn appendix(_rows: &[Row<'_>]) -> String {
        String::new()
    }

    /// Returns published figures of a case, for columns beside its own.
    fn published(_case: &Case) -> Vec<Published> {
        Vec::new()
    }

    /// Returns why a case is shown and not compared, in words: nothing is left of what it measures.
    /// `None` if it is compared.
    fn removed(_case: &Case) -> Option<&'static str> {
        None
    }

    /// Returns pictures of the rows of one experiment, beside those of single quantities.
    fn pictures(_rows: &[Row<'_>]) -> Vec<Picture> {
        Vec::new()
    }
}

/// Describes a family for code that is not generic.
pub fn describe<F: Family>() -> Description {
    Description {
        name: F::NAME,
        title: F::TITLE,
        about: F::ABOUT,
        experiments: F::experiments(),
        aliases: F::aliases(),
        peers: Known::all::<F::Peer>(),
        listed: F::listed,
        remarks: F::remarks,
        appendix: F::appendix,
        published: F::published,
        removed: F::removed,
        draws: F::DRAWS,
        pictures: F::pictures,
    }
}

/// The options of a family that has none of its own.
#[derive(Debug, clap::Args)]
#[group(skip)]
pub struct NoOptions {}

/// One case with the values that a run of it needs.
pub trait Spec: Send {
    /// Returns the case, which tells its row apart.
    fn case(&self) -> Case;
}

/// The outcome of one run.
#[derive(Clone, Debug)]
pub enum Ran {
    /// It completed, with figures.
    Done(Fields),
    /// It did not complete. The run is kept, and the peer is not asked for this case again.
    Unfinished(Fields),
    /// There is no record, for this reason, and the peer is not asked for this case again.
    GaveUp(String),
}

/// Whether a peer runs a case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Has {
    /// It runs it.
    Yes,
    /// It lacks what the case measures.
    No,
    /// It could run it, but does not get it, for this reason.
    Refused(String),
}

impl Has {
    /// Returns [`Has::Yes`] if `runs`, else [`Has::No`].
    pub fn when(runs: bool) -> Self {
        if runs { Self::Yes } else { Self::No }
    }
}

/// The peers that are installed, and those that are missing.
#[derive(Clone, Debug)]
pub struct Found<P> {
    /// The peers found, with a version where it matters.
    pub there: Vec<(P, Option<String>)>,
    /// The peers not found, with what installs them, in one line.
    pub missing: Vec<(P, String)>,
}

impl<P: Peer> Found<P> {
    /// Returns all peers, if they are part of this program.
    pub fn all() -> Self {
        let there = P::ALL.iter().map(|&peer| (peer, None)).collect();
        Self { there, missing: Vec::new() }
    }

    /// Looks for these peers, in their order. `look` returns a peer's version where it matters, or
    /// what installs it.
    pub fn by(peers: &[P], mut look: impl FnMut(P) -> Result<Option<String>, String>) -> Self {
        let mut found = Self { there: Vec::new(), missing: Vec::new() };
        for &peer in peers {
            match look(peer) {
                Ok(version) => found.there.push((peer, version)),
                Err(install) => found.missing.push((peer, install)),
            }
        }
        found
    }
}
