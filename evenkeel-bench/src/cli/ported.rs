//! `run` and `list` for a family that runs on the suite.

use clap::parser::ValueSource;
use clap::{Args, Command};

use super::args::{RunArgs, Usage, crowded, procs};
use super::family::Family;
use super::output::{self, Printed};
use crate::families;
use crate::report;
use crate::suite::asked::Asked;
use crate::suite::description::{Description, Experiment};
use crate::suite::enough::Bound;
use crate::suite::entry::{Entry, Event, Measured};
use crate::suite::output::note;
use crate::suite::record::Record;
use crate::suite::rows::rows;
use crate::suite::table;

/// A family of the registry, by its name.
pub(super) struct Ported(pub(super) &'static str);

impl Ported {
    fn entry(&self) -> &'static Entry {
        families::named(self.0).expect("a name of the registry")
    }
}

impl Family for Ported {
    fn names(&self) -> Vec<&'static str> {
        let of = (self.entry().describe)();
        let names = of.experiments.iter().map(|experiment| experiment.name);
        names.chain(of.aliases.iter().map(|alias| alias.name)).collect()
    }

    fn alone(&self, args: &RunArgs) -> Result<(), Usage> {
        let own = (self.entry().options)(Command::new("run"));
        let mut names = own.get_arguments().map(|option| option.get_id().as_str());
        match names.find(|name| is_given(args, name)) {
            None => Ok(()),
            Some(name) => {
                let (name, benches) = (name.replace('_', "-"), args.bench.join(", "));
                Err(Usage(format!("--{name} is not for {benches}")))
            }
        }
    }

    fn run(&self, args: &RunArgs) -> anyhow::Result<()> {
        let entry = self.entry();
        let mut part = (entry.asked)(&asked(args, &(entry.describe)()))?;
        if let Some(dir) = &args.report {
            // A folder that cannot be written is found out before minutes are spent.
            report::prepare(dir)?;
        }
        part.build()?;
        let (mut printed, mut measured) = (Printed::new(args), Measured::nothing(entry));
        let mut each = |event| {
            match event {
                Event::Begins(case) => {
                    crowded(case.workers);
                    output::next(case);
                }
                Event::Ran(record) => {
                    measured.records.push(Record::clone(&record));
                    printed.add(*record, None)?;
                }
                Event::Absent(one) => {
                    if args.json {
                        note!("note: {one}");
                    }
                    measured.absent.push(one);
                }
            }
            Ok(())
        };
        let failure = part.measure(&mut Bound::rows(args.repeats as usize), &mut each);
        // The page is kept even if the table has no reader.
        let page = args.report.as_deref().filter(|_| !measured.records.is_empty());
        let page = page.map(|dir| report::write_one(dir, &measured));
        let Measured { of, absent, .. } = &measured;
        printed.end(failure, |records| {
            let table = table::render(of, records, absent, table::width());
            table + &(of.appendix)(&rows(of, records, absent))
        })?;
        if let Some(page) = page.transpose()? {
            note!("report: {}", page.display());
        }
        Ok(())
    }

    fn list(&self) {
        let of = (self.entry().describe)();
        for experiment in &of.experiments {
            let Experiment { name, what, variants, .. } = experiment;
            let more = (of.listed)(name).map(|more| format!("; {more}")).unwrap_or_default();
            output::experiment(name, variants, &format!("{what}{more}"));
        }
        of.aliases.iter().for_each(|alias| output::experiment(alias.name, &[], alias.what));
    }

    fn list_runtimes(&self) -> anyhow::Result<()> {
        let found = (self.entry().found)()?;
        let there = found
            .there
            .into_iter()
            .map(|(peer, version)| (peer.name.to_owned(), peer.what, version));
        let missing = found
            .missing
            .into_iter()
            .map(|(peer, install)| (peer.name.to_owned(), peer.what, install));
        output::runtimes(format!("runtimes of {}", self.0), there, missing);
        Ok(())
    }
}

/// What a family reads of the command line.
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

/// Whether an option stands on the command line.
fn is_given(args: &RunArgs, name: &str) -> bool {
    args.line.0.value_source(name) == Some(ValueSource::CommandLine)
}
