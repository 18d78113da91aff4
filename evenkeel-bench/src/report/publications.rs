//! The page of the publications: what each published, what is measured here, and what is simulated.

use std::path::{Path, PathBuf};

use maud::{Markup, html};

use super::section::{self, Lead};
use super::{analysis, coretime, page, scheduling, simulated};
use crate::analysis::tables::Table;
use crate::publications::agreement::Agreement;
use crate::publications::{Publication, differences, statements};
use crate::ranks::Jobs;
use crate::simulated::claim::Claim;
use crate::simulated::coretime::claims::claims as coretime_claims;
use crate::simulated::coretime::record::Record as CoreTimeRecord;
use crate::simulated::published::verdicts;
use crate::simulated::scheduling::claims::claims as scheduling_claims;
use crate::simulated::scheduling::record::{Beside, Record as SchedulingRecord};
use suite::entry::Measured;
use suite::machine;
use suite::record::Record;

const TITLE: &str = "What five publications measured, beside evenkeel";

/// What a simulation has found.
pub(crate) enum Simulated {
    Scheduling(Vec<Beside>, Vec<SchedulingRecord>),
    CoreTime(Vec<CoreTimeRecord>),
    Locality(Vec<Record>),
}

/// A publication with what is found here.
pub(crate) struct Shown {
    pub(crate) publication: &'static Publication,
    pub(crate) measured: Option<Measured>,
    /// The peers that were to be measured and are not found, with what installs them.
    pub(crate) not_found: Vec<String>,
    /// Why not all is there.
    pub(crate) why: Option<String>,
    pub(crate) simulated: Option<Simulated>,
    /// What several ranks say, or why there are none.
    pub(crate) ranks: Option<Result<Jobs, String>>,
}

impl Shown {
    pub(crate) fn nothing(publication: &'static Publication) -> Self {
        let not_found = Vec::new();
        Self { publication, measured: None, not_found, why: None, simulated: None, ranks: None }
    }

    /// Counts the publication's statements by what is measured.
    fn by_measurement(&self) -> Agreement {
        let of = |measured| statements::agreement(self.publication.id, measured);
        let measured = self.measured.as_ref().map(of).unwrap_or_default();
        let ranks: Agreement = self.ranks.iter().flatten().flat_map(Jobs::verdicts).collect();
        measured + ranks
    }

    /// Counts them by what is simulated.
    fn by_simulation(&self) -> Agreement {
        let of = |claims: Vec<Claim>| claims.into_iter().map(|claim| claim.agrees).collect();
        match &self.simulated {
            Some(Simulated::Scheduling(_, records)) => of(scheduling_claims(records)),
            Some(Simulated::CoreTime(records)) => of(coretime_claims(records)),
            Some(Simulated::Locality(records)) => Agreement::by_sizes(verdicts(records)),
            None => Agreement::default(),
        }
    }
}

/// Writes `publications.html` into `dir`, beside its other files, and returns its path.
pub(crate) fn write(dir: &Path, shown: &[Shown]) -> anyhow::Result<PathBuf> {
    super::write(dir, "publications", || render(shown))
}

fn render(shown: &[Shown]) -> anyhow::Result<String> {
    let mut parts = Vec::new();
    for one in shown {
        parts.push(part(one)?);
    }
    let body = html! {
        p.lead {
            "Published figures are those of other machines, of another time. Measured ones are of " (machine::describe())
            ". Simulated ones say so: no core has run them."
        }
        (analysis::table(&agreements(shown)))
        ul {
            @for one in shown {
                li { a href=(format!("#of-{}", one.publication.id)) { (one.publication.title) } }
            }
        }
        @for part in &parts { (part) }
    };
    Ok(page::titled(TITLE, &body))
}

/// How many statements of each publication agree with what is found.
fn agreements(shown: &[Shown]) -> Table {
    let mut lines = Vec::new();
    let mut all = [Agreement::default(); 2];
    let mut line = |title: &str, of: [Agreement; 2]| {
        let [measured, simulated] = of;
        let figures = [
            measured.agree,
            measured.differ,
            measured.not_judged,
            simulated.agree,
            simulated.in_part,
            simulated.differ,
            simulated.not_judged,
        ];
        let figures = figures.map(|figure| figure.to_string());
        lines.push([title.to_owned()].into_iter().chain(figures).collect());
    };
    for one in shown {
        let of = [one.by_measurement(), one.by_simulation()];
        if of.iter().any(|of| of.all() > 0) {
            line(one.publication.title, of);
        }
        all = [all[0] + of[0], all[1] + of[1]];
    }
    line("all", all);
    let heading = [
        "",
        "measured: agree",
        "differ",
        "not judged",
        "simulated: agree",
        "in some sizes",
        "differ",
        "not judged",
    ];
    Table {
        title: "Statements of the publications, and what is found".to_owned(),
        heading: heading.map(str::to_owned).to_vec(),
        lines,
        note: "Each stands in its part, with what is found, and why it differs or is not judged. Those of Cilk Locality are judged in each size: they agree here if they do in all, and differ if they do in none."
            .to_owned(),
    }
}

fn part(one: &Shown) -> anyhow::Result<Markup> {
    let Publication { id, title, source, machine, settings, run, missing, published, .. } =
        one.publication;
    let statements = one.measured.as_ref().and_then(|measured| statements::table(id, measured));
    let differences = one.measured.as_ref().and_then(differences::table);
    let measured =
        one.measured.as_ref().map(|of| section::render(of, Lead::LeftOut)).transpose()?;
    let simulated = one.simulated.as_ref().map(simulation).transpose()?;
    Ok(html! {
        h1 id=(format!("of-{id}")) { (title) }
        p { (source) ". Its machine: " (machine) ". " (settings) }
        @for table in published() { (analysis::table(&table)) }
        h2 { "Measured here" }
        p {
            @for (place, line) in run.iter().enumerate() {
                @if place > 0 { "; " }
                code { "run " (line) }
            }
            @if !missing.is_empty() { ". Not here: " (page::prose(missing)) }
            "."
            @for peer in &one.not_found { " Not found: " (peer) "." }
        }
        @if let Some(measured) = &measured { (measured) }
        @if let Some(statements) = &statements { (analysis::table(statements)) }
        @if let Some(differences) = &differences { (analysis::table(differences)) }
        @match &one.ranks {
            Some(Ok(jobs)) => { (analysis::table(&jobs.table())) }
            Some(Err(why)) => { p { "Not here: several nodes, because " (why) "." } }
            None => {}
        }
        @if let Some(why) = &one.why { p { "Not all is here: " (why) "." } }
        @if let Some(simulated) = &simulated {
            h2 { "Simulated" }
            (simulated)
        }
    })
}

fn simulation(of: &Simulated) -> anyhow::Result<Markup> {
    match of {
        Simulated::Scheduling(beside, records) => scheduling::body(beside, records),
        Simulated::CoreTime(records) => coretime::body(records),
        Simulated::Locality(records) => simulated::body(records),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::publications::PUBLICATIONS;
    use crate::simulated::published::{CLAIMS, stored};

    #[test]
    fn a_statement_of_cilk_locality_counts_once() {
        let publication = PUBLICATIONS.iter().find(|one| one.id == "locality").unwrap();
        let simulated = Some(Simulated::Locality(stored()));
        let shown = Shown { simulated, ..Shown::nothing(publication) };
        assert_eq!(shown.by_simulation().all(), CLAIMS.len());
        let table = agreements(&[shown]);
        assert!(table.lines.iter().all(|line| line.len() == table.heading.len()));
    }

    #[test]
    fn every_publication_has_its_part_and_its_published_figures() {
        let shown: Vec<Shown> = PUBLICATIONS
            .iter()
            .map(|publication| Shown {
                why: Some("there is no time".to_owned()),
                not_found: vec!["go: apt-get install golang".to_owned()],
                ..Shown::nothing(publication)
            })
            .collect();
        let page = render(&shown).unwrap();
        for Publication { id, machine, published, .. } in &PUBLICATIONS {
            assert!(page.contains(&format!("<h1 id=\"of-{id}\">")), "{id}");
            assert!(page.contains(machine), "{machine}");
            for table in published() {
                assert!(page.contains(&table.title), "{}", table.title);
            }
        }
        assert_eq!(page.matches("Not all is here: there is no time.").count(), PUBLICATIONS.len());
        let not_found = page.matches("Not found: go: apt-get install golang.").count();
        assert_eq!(not_found, PUBLICATIONS.len());
    }
}
