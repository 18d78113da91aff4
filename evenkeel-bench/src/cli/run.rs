//! `run`: chosen experiments of one family, with the user's options.

use anyhow::{Context, bail};
use clap::parser::ValueSource;
use clap::{Args, Command, Parser};

use super::Cli;
use super::args::{RunArgs, Usage, crowded, procs};
use crate::families::FAMILIES;
use crate::report::{self, Session};
use suite::asked::Asked;
use suite::description::Description;
use suite::enough::Bound;
use suite::entry::{Entry, Event, Measured, Part};
use suite::interrupt;
use suite::output::{last, note, offer};
use suite::rows::rows;
use suite::table;

/// Measures the experiments named, which must be of one family, and prints or draws them.
pub(super) fn run(args: &RunArgs) -> anyhow::Result<()> {
    let (mut part, mut measured) = begin(args)?;
    let report = args.report.as_deref().map(|dir| (dir, Session::begun()));
    if let Some((dir, _)) = &report {
        // Detects a folder that cannot be written before minutes are spent.
        report::prepare(dir)?;
    }
    if let Some(file) = &args.picture {
        if !measured.of.draws {
            bail!(Usage(format!("--picture is not for {}", args.bench.join(", "))));
        }
        report::standalone::prepare(file)?;
    }
    part.build()?;
    // Runs measured before a failure are shown and kept as well.
    let bound = Bound::rows(args.repeats as usize);
    let failure = measure(part.as_mut(), bound, args.json, &mut measured);
    let Measured { of, records, absent } = &measured;
    // The page is kept even if the table has no reader.
    let page = report.filter(|_| !records.is_empty()).map(|(dir, mut session)| {
        session.end(&failure);
        report::write_one(dir, &session, &measured)
    });
    // A picture has no room for notes: an older one stays if not all was measured.
    let picture = args.picture.as_deref().filter(|_| failure.is_ok() && !records.is_empty());
    let picture = picture.map(|file| report::standalone::write(file, &measured));
    if let (Some(Ok(false)), Some(file)) = (&picture, &args.picture) {
        note!("note: there is nothing to draw; `{}` is not written", file.display());
    }
    if let (Err(_), Some(file)) = (&failure, &args.picture) {
        note!("note: not all was measured; `{}` is not written", file.display());
    }
    let is_empty = records.is_empty() && absent.is_empty();
    let mut text = String::new();
    if !args.json && !is_empty {
        text = table::render(of, records, absent, table::width());
        text += &(of.appendix)(&rows(of, records, absent));
    }
    if let Some(Ok(page)) = &page {
        note!("report: {}", page.display());
    }
    let failure = match failure {
        failure if records.is_empty() => failure,
        failure => failure.context("not all was measured; the figures cover what was"),
    };
    last(&text, failure.and(page.transpose().map(drop)).and(picture.transpose().map(drop)))
}

/// Measures the experiments named, which must be of one family, and prints nothing but their names.
/// It takes a [session's](Bound::session) time. Returns what was measured, and whether that is all.
pub(super) fn measured(args: &RunArgs) -> anyhow::Result<(Measured, anyhow::Result<()>)> {
    let (mut part, mut measured) = begin(args)?;
    part.build()?;
    let bound = Bound::session(args.repeats as usize);
    let done = measure(part.as_mut(), bound, args.json, &mut measured);
    Ok((measured, done))
}

/// Fails as this command does if a line of its options asks for what cannot be, or for experiments
/// of other families than this one.
pub(super) fn check<'a>(
    words: impl IntoIterator<Item = &'a str>,
    family: &str,
) -> anyhow::Result<()> {
    let args = options_of(words)?;
    let (_, Measured { of, .. }) = begin(&args)?;
    if of.name != family {
        bail!(Usage(format!("{} is not of {family}", args.bench.join(", "))));
    }
    Ok(())
}

/// Reads a line of options of this command.
pub(super) fn options_of<'a>(words: impl IntoIterator<Item = &'a str>) -> anyhow::Result<RunArgs> {
    let line = ["evenkeel-bench", "run"].into_iter().chain(words);
    let cli = Cli::try_parse_from(line).map_err(|error| {
        let why = error.to_string();
        Usage(why.trim_start_matches("error: ").trim_end().to_owned())
    })?;
    match cli.command {
        Some(super::Command::Run(args)) => Ok(*args),
        other => bail!("{other:?} is another command than run"),
    }
}

/// Finds the family of the experiments named, and prepares what it is asked for.
fn begin(args: &RunArgs) -> anyhow::Result<(Box<dyn Part>, Measured)> {
    let entry = chosen(args)?;
    let measured = Measured::nothing(entry);
    let part = (entry.asked)(&asked(args, &measured.of))?;
    Ok((part, measured))
}

/// Measures what a family has prepared.
fn measure(
    part: &mut dyn Part,
    mut bound: Bound,
    json: bool,
    measured: &mut Measured,
) -> anyhow::Result<()> {
    interrupt::begin();
    let mut each = |event| {
        match event {
            Event::Begins(case) => {
                crowded(case.workers);
                // One row may take a minute, and the table comes last.
                note!("{case}");
                // Signals are checked after a run: every row that was announced is measured.
                return Ok(());
            }
            Event::Ran(record) => {
                let line = json.then(|| serde_json::to_string(&record)).transpose()?;
                measured.records.push(*record);
                line.map_or(Ok(()), |line| offer(&format!("{line}\n")))?;
            }
            Event::Absent(one) => {
                if json {
                    note!("note: {one}");
                }
                measured.absent.push(one);
            }
        }
        interrupt::check()
    };
    part.measure(&mut bound, &mut each).map_err(interrupt::why)
}

/// Returns the family to which all named experiments belong.
pub(super) fn chosen(args: &RunArgs) -> anyhow::Result<&'static Entry> {
    let names = &args.bench;
    let known: Vec<Vec<&str>> = FAMILIES.iter().map(|entry| (entry.describe)().names()).collect();
    let family = |name: &String| known.iter().position(|names| names.contains(&name.as_str()));
    if let Some(odd) = names.iter().find(|name| family(name).is_none()) {
        let known = known.concat().join(", ");
        bail!(Usage(format!("unknown experiment `{odd}`: known are {known}")));
    }
    args.each_once()?;
    let Some(own) = names.iter().min_by_key(|name| family(name)) else {
        bail!(Usage("no experiment is named".to_owned()));
    };
    let place = family(own).unwrap_or_default();
    if let Some(other) = names.iter().find(|name| family(name) != Some(place)) {
        let apart = format!("{own} has columns of its own, not those of {other}");
        bail!(Usage(format!("{apart}: run them in two commands")));
    }
    // Options of other families have no meaning here.
    for entry in FAMILIES.iter().enumerate().filter(|(at, _)| *at != place).map(|(_, of)| of) {
        let own = (entry.options)(Command::new("run"));
        let mut options = own.get_arguments().map(|option| option.get_id().as_str());
        if let Some(odd) = options.find(|option| is_given(args, option)) {
            let odd = odd.replace('_', "-");
            bail!(Usage(format!("--{odd} is not for {}", names.join(", "))));
        }
    }
    Ok(&FAMILIES[place])
}

/// Returns the part of the command line that a family reads.
pub(super) fn asked(args: &RunArgs, of: &Description) -> Asked {
    let options = RunArgs::augment_args(Command::new("run"));
    let names = options.get_arguments().map(|option| option.get_id().as_str());
    Asked {
        benches: of.named(&args.bench),
        runtimes: args.runtime.clone(),
        variants: args.variant.clone(),
        workers: procs(args),
        tasks: args.tasks,
        n: args.n.clone(),
        time: args.time(),
        seed: args.seed,
        given: names.filter(|name| is_given(args, name)).map(str::to_owned).collect(),
        line: args.line.0.clone(),
    }
}

/// Returns whether an option is on the command line.
fn is_given(args: &RunArgs, name: &str) -> bool {
    args.line.0.value_source(name) == Some(ValueSource::CommandLine)
}
