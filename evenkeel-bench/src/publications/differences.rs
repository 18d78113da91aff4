//! Published times of single operations beside ours, and why they differ.

use super::statement::median;
use crate::analysis::tables::{Reasons, Table};
use suite::entry::Measured;
use suite::published::Published;
use suite::rows::rows;
use suite::words;

/// Times that are alike within this factor need no reason: the machines are ten years apart.
const ALIKE: f64 = 2.0;

/// Why a time is shorter here than those of C∀ and µC++, by experiment and variant.
const WHY: [(&str, &str, &str); 8] = [
    (
        "ctxswitch",
        "coroutine-kept",
        "A coroutine here is an async body: a resume is a call, and a suspension a return. C∀ and µC++ change stacks, and the machine is \
         ten years older. What a change of stacks alone takes is corosensei's time, which is measured above.",
    ),
    (
        "ctxswitch",
        "task",
        "A task here is a future: a yield returns from one poll, and the worker's loop calls the next. No stack is changed.",
    ),
    (
        "mutex",
        "-",
        "An entry takes a short lock of each monitor, by address, here and in C∀; C∀ makes an array of the group and sorts it at each call.",
    ),
    (
        "schedint",
        "waiter",
        "A signal moves the waiter's node from one list to another here, and the woken task is polled. C∀ keeps a record for each monitor \
         of the group, and changes stacks twice.",
    ),
    (
        "schedext",
        "acceptor",
        "A call that is accepted is found by its number here, and its task is polled. C∀ looks for it by the address of the function and by \
         the monitors of the group, and changes stacks.",
    ),
    (
        "creation",
        "coroutine-lazy",
        "A coroutine that is not resumed is a value here and in C∀; µC++ makes its stack at once.",
    ),
    (
        "creation",
        "coroutine-eager",
        "A coroutine has no stack here; C∀ allocates one at the first resume. corosensei, which is measured above, has one at hand.",
    ),
    (
        "creation",
        "task",
        "A task here is one block of memory, of which workers keep some; C∀ and µC++ make a stack for each thread, and the kernel a thread \
         of its own.",
    ),
];

/// Returns published times beside ours, with the reason of each difference; `None` if nothing that
/// was measured has a published time.
pub(crate) fn table(measured: &Measured) -> Option<Table> {
    let rows = rows(&measured.of, &measured.records, &measured.absent);
    let subject = measured.of.subject()?;
    let slower = "Ours is slower; that was not looked into.";
    let call = "A call of a function in C takes no lock and wakes no task.";
    let mut reasons = Reasons::default();
    let mut lines = Vec::new();
    for row in &rows {
        let published = (measured.of.published)(row.case);
        let Some(ours) = median(row, subject).filter(|_| !published.is_empty()) else { continue };
        let ratio = |median: f64| words::figure(median / ours);
        let each = |one: &Published| {
            let system = one.system.trim_start_matches("published ");
            format!("{system} {}, {} times", one.median, ratio(one.median))
        };
        let is_call = |one: &Published| one.system.ends_with("call");
        let is_slower = |one: &Published| one.median / ours < 1.0 / ALIKE;
        let why = why(row.case.bench.as_ref(), row.case.variant.as_ref());
        let why = [
            why.filter(|_| published.iter().any(|one| one.median / ours > ALIKE)),
            Some(call).filter(|_| published.iter().any(|one| is_call(one) && is_slower(one))),
            Some(slower).filter(|_| published.iter().any(|one| !is_call(one) && is_slower(one))),
        ];
        let marks: Vec<String> = why.into_iter().flatten().map(|why| reasons.mark(why)).collect();
        let mark = marks.join(" ");
        let published: Vec<String> = published.iter().map(each).collect();
        lines.push(vec![row.name(), words::figure(ours), published.join("; "), mark]);
    }
    let mut note = format!(
        "Medians in ns, and the published ones in terms of ours: times beyond a factor of {ALIKE} have a reason. Ours are wall-clock time, the published ones processor time: \
         both of a thread that does nothing else"
    );
    note.push_str(&reasons.note());
    (!lines.is_empty()).then(|| Table {
        title: "Published times beside ours, and why they differ".to_owned(),
        heading: ["", subject, "published", "why"].map(str::to_owned).to_vec(),
        lines,
        note,
    })
}

fn why(bench: &str, variant: &str) -> Option<&'static str> {
    let of = WHY.iter().find(|(b, v, _)| (*b, *v) == (bench, variant));
    of.map(|(.., why)| *why)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::families;
    use suite::case::{Case, Fields};
    use suite::kit::fake;
    use suite::record::Record;

    /// A run of evenkeel in a case of the thesis, at this many nanoseconds.
    fn measured(bench: &'static str, variant: &'static str, nanos: f64) -> Measured {
        let mut measured = Measured::nothing(families::named("concurrency").unwrap());
        measured.records.extend((0..3).map(|repeat| Record {
            runtime: "evenkeel".into(),
            case: Case::new(bench, variant, 1),
            repeat,
            figures: Fields::new().with("ns_per_op_per_proc", nanos),
            dnc: false,
            quiet: fake::quiet("near"),
        }));
        measured
    }

    #[test]
    fn a_difference_has_its_reason_and_what_is_alike_has_none() {
        let table = table(&measured("ctxswitch", "task", 20.0)).unwrap();
        let line = &table.lines[0];
        assert_eq!(line[2], "C∀ 102, 5.10 times; µC++ 98, 4.90 times; pthread 239, 11.9 times");
        assert_eq!(line[3], "(1)");
        assert!(table.note.contains("(1) A task here is a future"), "{}", table.note);
        let table = super::table(&measured("ctxswitch", "coroutine-kept", 30.0)).unwrap();
        assert!(table.lines[0][3].is_empty() && !table.note.contains("(1)"), "{}", table.note);
        let table = super::table(&measured("ctxswitch", "task", 500.0)).unwrap();
        assert!(table.note.contains("(1) Ours is slower"), "{}", table.note);
        assert!(!table.note.contains("A task here is a future"), "{}", table.note);
    }

    #[test]
    fn every_case_with_published_times_has_a_reason_at_hand() {
        let of = (families::named("concurrency").unwrap().describe)();
        for experiment in &of.experiments {
            for variant in experiment.variants.iter().copied().chain(["-"]) {
                for monitors in [0, 1, 2, 4] {
                    let case = Case::new(experiment.name, variant, 1).with("monitors", monitors);
                    if !(of.published)(&case).is_empty() {
                        let why = why(experiment.name, variant);
                        assert!(why.is_some(), "{} {variant}", experiment.name);
                    }
                }
            }
        }
    }
}
