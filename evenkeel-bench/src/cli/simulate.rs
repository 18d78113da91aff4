//! `simulate`.

use std::path::PathBuf;

use anyhow::bail;
use clap::{Args, value_parser};

use super::args::Usage;
use crate::forking::program::{Program, UnknownProgram};
use crate::{report, simulated};

#[derive(Debug, Args)]
pub(super) struct Options {
    /// Programs, separated by commas [default: matmul,transpose,heat,cilksort]
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    bench: Vec<String>,
    /// Schedules of each
    #[arg(long, visible_alias = "reps", value_name = "R", default_value_t = 5,
          value_parser = value_parser!(u64).range(1..=1_000))]
    seeds: u64,
    /// Print one JSON line per program and locality, and nothing else, on standard output
    #[arg(long)]
    json: bool,
    /// Folder for an HTML page with pictures [default: none]
    #[arg(long, value_name = "DIR")]
    report: Option<PathBuf>,
}

/// Simulates programs.
pub(super) fn run(args: &Options) -> anyhow::Result<()> {
    let mut programs = Vec::new();
    for name in &args.bench {
        let program: Program =
            name.parse().map_err(|error: UnknownProgram| Usage(error.to_string()))?;
        if !simulated::PROGRAMS.contains(&program) {
            bail!(Usage(format!(
                "{program} is not simulated: matmul, transpose, heat and cilksort are"
            )));
        }
        programs.push(program);
    }
    if programs.is_empty() {
        programs = simulated::PROGRAMS.to_vec();
    }
    if let Some(dir) = &args.report {
        report::prepare(dir)?;
    }
    let mut records = Vec::new();
    let mut failure = Ok(());
    simulated::run(&programs, args.seeds, |record| {
        if args.json {
            match serde_json::to_string(&record) {
                Ok(line) => println!("{line}"),
                Err(error) => failure = Err(error.into()),
            }
        }
        records.push(record);
    });
    if !args.json {
        print!("{}", simulated::table::render(&records));
    }
    if let Some(dir) = &args.report {
        let page = report::simulated::write(dir, &records)?;
        eprintln!("report: {}", page.display());
    }
    failure
}
