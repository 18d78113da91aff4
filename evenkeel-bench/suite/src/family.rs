//! What a family of experiments has to say of itself. All else is done for it.

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

    /// Who runs the experiments.
    type Peer: Peer;
    /// Options of `run` that no other family has; [`NoOptions`] if there are none.
    type Options: clap::Args;
    /// One case, as it is asked for.
    type Spec: Spec;
    /// A peer that is about to run a case: warmed up, its process started, its rounds found.
    type Ready;

    /// The family, with nothing built yet.
    fn new() -> Self;

    /// The experiments, in the order of the tables.
    fn experiments() -> Vec<Experiment>;

    /// Names that stand for several of them.
    fn aliases() -> Vec<Alias> {
        Vec::new()
    }

    /// What `run` asks for, or what is wrong with it. That experiments, variants, peers and options
    /// are known here is checked before.
    fn asked(asked: &Asked, options: &Self::Options) -> anyhow::Result<Vec<Self::Spec>>;

    /// What the main job measures on so many cores.
    fn plan(effort: Effort, cores: usize) -> Vec<Self::Spec>;

    /// In how many rounds a session measures it.
    fn rounds(effort: Effort) -> usize {
        effort.repeats()
    }

    /// Who is there, and who is not. It may start tools to ask for their versions.
    fn found(&self) -> anyhow::Result<Found<Self::Peer>> {
        Ok(Found::all())
    }

    /// The same for some of them, where looking for each takes its time.
    fn found_of(&self, _peers: &[Self::Peer]) -> anyhow::Result<Found<Self::Peer>> {
        self.found()
    }

    /// Peers that an option asks for, beside those that are named.
    fn besides(_options: &Self::Options) -> Vec<Self::Peer> {
        Vec::new()
    }

    /// Whether a peer runs a case.
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

    /// A child that does the work and is not waited for: its time is the run's own.
    fn child(_ready: &Self::Ready) -> Option<u32> {
        None
    }

    /// What a list of the experiments adds to the words for one, such as its sizes.
    fn listed(_bench: &str) -> Option<String> {
        None
    }

    /// What is to be said of these rows beside their figures, a sentence or a block of lines
    /// each.
    fn remarks(_rows: &[Row<'_>]) -> Vec<String> {
        Vec::new()
    }

    /// What `run` prints behind the tables of these rows, for which a session has no room.
    fn appendix(_rows: &[Row<'_>]) -> String {
        String::new()
    }

    /// What others have published of a case, for columns beside its figures.
    fn published(_case: &Case) -> Vec<Published> {
        Vec::new()
    }

    /// Why a case is shown and not compared, in words: nothing is left of what it measures. `None`
    /// if it is compared.
    fn removed(_case: &Case) -> Option<&'static str> {
        None
    }

    /// Pictures of the rows of one experiment, beside those of single quantities.
    fn pictures(_rows: &[Row<'_>]) -> Vec<Picture> {
        Vec::new()
    }
}

/// A family as what is not generic knows it.
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
        pictures: F::pictures,
    }
}

/// The options of a family that has none of its own.
#[derive(Debug, clap::Args)]
#[group(skip)]
pub struct NoOptions {}

/// One case with what it takes to run it.
pub trait Spec: Send {
    /// What tells its row apart.
    fn case(&self) -> Case;
}

/// What one run came to.
#[derive(Clone, Debug)]
pub enum Ran {
    /// It has figures.
    Done(Fields),
    /// It did not complete. The run is kept, and the peer is not asked for this case again.
    Unfinished(Fields),
    /// There is no record, for this reason, and the peer is not asked for this case again.
    GaveUp(String),
}

/// Whether a peer runs a case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Has {
    /// It does.
    Yes,
    /// It lacks what the case is about.
    No,
    /// It could, and is not given it: the reader is told why.
    Refused(String),
}

impl Has {
    /// [`Has::Yes`] if so.
    pub fn when(runs: bool) -> Self {
        if runs { Self::Yes } else { Self::No }
    }
}

/// Who is there to be measured.
#[derive(Clone, Debug)]
pub struct Found<P> {
    /// Those found, with a version where it matters.
    pub there: Vec<(P, Option<String>)>,
    /// Those not found, with what installs them, in one line.
    pub missing: Vec<(P, String)>,
}

impl<P: Peer> Found<P> {
    /// All of them, where they are part of this program.
    pub fn all() -> Self {
        let there = P::ALL.iter().map(|&peer| (peer, None)).collect();
        Self { there, missing: Vec::new() }
    }
}
