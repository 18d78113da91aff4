//! A run in a process of its own.

use anyhow::bail;
use clap::Args;
use serde::{Deserialize, Serialize};

use super::{Bench, Name, Spec, Variant, moves, tasks, timers};
use suite::kit::afresh::afresh;
use suite::kit::runtime::evenkeel::Evenkeel;
use suite::kit::runtime::tokio_hand::TokioHand;
use suite::kit::runtime::tokio_native::TokioNative;
use suite::output::say;

/// The hidden command with which this binary calls itself.
pub const COMMAND: &str = "growth-probe";

/// The arguments of the fresh process.
#[derive(Debug, Args)]
pub struct ProbeArgs {
    #[arg(long)]
    bench: Bench,
    // A variant may be called by a dash.
    #[arg(long, allow_hyphen_values = true)]
    variant: Variant,
    #[arg(long)]
    runtime: Name,
    #[arg(long)]
    workers: usize,
    #[arg(long)]
    number: usize,
    #[arg(long)]
    seed: u64,
}

/// The output of the fresh process.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[serde(untagged)]
pub(crate) enum Figures {
    Tasks(tasks::Figures),
    Moves(moves::Figures),
    Timers(timers::Figures),
}

/// Measures in a fresh process of this binary.
pub(crate) fn call(spec: &Spec, runtime: Name) -> anyhow::Result<Figures> {
    let Spec { bench, variant, workers, number, seed } = *spec;
    let [workers, number] = [workers, number].map(|count| count.to_string());
    let seed = seed.to_string();
    afresh(&[
        COMMAND,
        "--bench",
        bench.name(),
        "--variant",
        variant.name(),
        "--runtime",
        runtime.name(),
        "--workers",
        &workers,
        "--number",
        &number,
        "--seed",
        &seed,
    ])
}

/// The hidden command: measures in this process, which should have done nothing before, and prints
/// the result.
pub fn probe(
    &ProbeArgs { bench, variant, runtime, workers, number, seed }: &ProbeArgs,
) -> anyhow::Result<()> {
    let figures = match (bench, runtime) {
        (Bench::Tasks, Name::Evenkeel) => {
            Figures::Tasks(tasks::measure::<Evenkeel>(workers, number, seed)?)
        }
        (Bench::Tasks, Name::TokioHand) => {
            Figures::Tasks(tasks::measure::<TokioHand>(workers, number, seed)?)
        }
        (Bench::Tasks, Name::TokioNative) => {
            Figures::Tasks(tasks::measure::<TokioNative>(workers, number, seed)?)
        }
        (Bench::Moves, Name::Evenkeel) => {
            Figures::Moves(moves::measure::<Evenkeel>(variant, workers, number, seed)?)
        }
        (Bench::Moves, Name::TokioHand) => {
            Figures::Moves(moves::measure::<TokioHand>(variant, workers, number, seed)?)
        }
        (Bench::Moves, Name::TokioNative) => {
            Figures::Moves(moves::measure::<TokioNative>(variant, workers, number, seed)?)
        }
        (Bench::Timers, Name::Evenkeel) => {
            Figures::Timers(timers::measure::<timers::Evenkeel>(workers, number, seed)?)
        }
        (Bench::Timers, Name::TokioNative) => {
            Figures::Timers(timers::measure::<timers::Tokio>(workers, number, seed)?)
        }
        (Bench::Timers, Name::TokioHand) => bail!("{runtime} has no timers of its own"),
    };
    say!("{}", serde_json::to_string(&figures)?);
    Ok(())
}
