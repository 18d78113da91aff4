//! What the publications state of several systems, and of what is not simulated.

use super::statement::{
    ALIKE, EQUAL, Finding, Judged, SLIGHTLY, Statement, Which, alike, all, are_above, are_ahead,
    completes, judged, not_judged, ratios, summary, within,
};
use suite::rows::Row;
use suite::summary::Summary;
use suite::words;

const LIGHT: &str = "a worker of evenkeel's pushes and pops tasks in a queue that is its own until another one asks; in Tokio and Go each push and pop is atomic, in a queue from which others steal";

const NO_LIBFIBRE: &str = "libfibre is not measured";

const NO_PROCESSORS: &str =
    "it is about 16 to 256 processors, and peers are measured on those of this machine alone";

/// The number of processors after which Tokio collapses in the thesis: with no more than these no
/// queue that all share is judged.
const FEW_PROCESSORS: usize = 16;

const MANY: f64 = 100.0;
const CYCLE: Which = Which("cycle", "-", MANY);
const FEW_CYCLES: Which = Which("cycle", "-", 1.0);
const YIELD: Which = Which("yield", "-", MANY);
const CHURN: Which = Which("churn", "-", MANY);
const FEW_CHURNS: Which = Which("churn", "-", 2.0);

const SCHEDULER: &str = "scheduler";
const THORIUM: &str = "thorium";
const CORETIME: &str = "coretime";
const LOCALITY: &str = "locality";

/// Judges whether Go's yields are no more with the most workers than with one, and evenkeel's are.
fn go_collapses(rows: &[Row<'_>]) -> Option<Finding> {
    let (most, one) = (YIELD.most_workers(rows)?, YIELD.of_workers(rows, 1)?);
    // The time is that of an operation for each worker.
    let workers = most.case.workers as f64;
    let times = |peer| Some((summary(one, peer)?, summary(most, peer)?));
    let (own, go) = (times("evenkeel")?, times("go-hand")?);
    let gain = |(one, most): &(Summary, Summary)| words::figure(workers * one.median / most.median);
    let found = format!(
        "throughput with {} beside one, times: evenkeel {}, go-hand {}",
        words::count(most.case.workers, "worker"),
        gain(&own),
        gain(&go)
    );
    let rises = |(one, most): &(Summary, Summary)| are_above(1.0 / workers, ratios(one, most));
    let agrees = all([rises(&own), rises(&go).map(|rises| !rises)]);
    Some(Finding { found, agrees })
}

pub(super) static STATEMENTS: [Statement; 33] = [
    judged(
        SCHEDULER,
        "Cycle on Intel, many tasks: C∀, Go and Tokio are the same.",
        |rows| alike(CYCLE, rows),
        LIGHT,
    ),
    judged(
        SCHEDULER,
        "Cycle on Intel, few tasks: C∀ and Tokio are alike, Go is slightly ahead of both.",
        |rows| {
            let times = FEW_CYCLES.times(rows)?;
            let leads = are_ahead([(&times.go, &times.own), (&times.go, &times.tokio)]);
            let is_slight = [&times.own, &times.tokio].map(|of| within(SLIGHTLY, &times.go, of));
            let is_alike = within(ALIKE, &times.tokio, &times.own);
            let agrees = all([leads, all(is_slight), is_alike]);
            Some(Finding { found: times.told(), agrees })
        },
        LIGHT,
    ),
    judged(
        SCHEDULER,
        "Cycle on Intel: C∀, Tokio and Go are clearly worse with few tasks than with many.",
        |rows| {
            let (many, few) = (CYCLE.times(rows)?, FEW_CYCLES.times(rows)?);
            let each = [
                ("evenkeel", &few.own, &many.own),
                ("tokio-hand", &few.tokio, &many.tokio),
                ("go-hand", &few.go, &many.go),
            ];
            let told = each.map(|(name, few, many)| {
                format!("{name} {}", words::figure(few.median / many.median))
            });
            let found = format!("times as long with few: {}", told.join(", "));
            let agrees = all(each.map(|(_, few, many)| are_above(ALIKE, ratios(few, many))));
            Some(Finding { found, agrees })
        },
        "with two processors few tasks seldom leave one of them without any",
    ),
    judged(
        SCHEDULER,
        "Cycle on AMD, few tasks: Tokio and Go are alike, C∀ is slightly slower.",
        |rows| {
            let times = FEW_CYCLES.times(rows)?;
            let lags = are_ahead([(&times.tokio, &times.own), (&times.go, &times.own)]);
            let is_slight = [&times.tokio, &times.go].map(|of| within(SLIGHTLY, &times.own, of));
            let is_alike = within(ALIKE, &times.tokio, &times.go);
            let agrees = all([lags, all(is_slight), is_alike]);
            Some(Finding { found: times.told(), agrees })
        },
        LIGHT,
    ),
    not_judged(SCHEDULER, "Cycle on Intel, few tasks: Tokio varies more than C∀.", NO_PROCESSORS),
    not_judged(SCHEDULER, "Cycle on AMD varies more than on Intel.", NO_PROCESSORS),
    Statement {
        of: SCHEDULER,
        stated: "Yield: Go, whose queue is global, collapses, and C∀ does not.",
        judged: Judged::Beyond(FEW_PROCESSORS, YIELD, go_collapses, NO_PROCESSORS),
        why: "what collapses is a queue that all processors share, with many of them",
    },
    not_judged(
        SCHEDULER,
        "Yield: Tokio collapses after 16 processors, except at 24 with few tasks.",
        NO_PROCESSORS,
    ),
    judged(SCHEDULER, "Churn on Intel: all runtimes are alike.", |rows| alike(CHURN, rows), LIGHT),
    not_judged(SCHEDULER, "Churn on Intel: Go varies from 72 processors on.", NO_PROCESSORS),
    judged(
        SCHEDULER,
        "Churn on AMD: C∀ is ahead of the others.",
        |rows| {
            let times = CHURN.times(rows)?;
            let agrees = are_ahead([(&times.own, &times.tokio), (&times.own, &times.go)]);
            Some(Finding { found: times.told(), agrees })
        },
        LIGHT,
    ),
    not_judged(SCHEDULER, "Churn on AMD: C∀ varies more than the others.", NO_PROCESSORS),
    judged(
        SCHEDULER,
        "Churn on AMD, few tasks: C∀ and Tokio are alike, and Go is ahead up to 32 processors.",
        |rows| {
            let times = FEW_CHURNS.times_with(2..=32, rows)?;
            let leads = are_ahead([(&times.go, &times.own), (&times.go, &times.tokio)]);
            let agrees = all([leads, within(ALIKE, &times.tokio, &times.own)]);
            Some(Finding { found: times.told(), agrees })
        },
        LIGHT,
    ),
    not_judged(SCHEDULER, "Churn on AMD, few tasks: Go is flat.", NO_PROCESSORS),
    judged(
        SCHEDULER,
        "Locality, share: C∀ and Tokio, which wake tasks where the waker is, are ahead of Go.",
        |rows| {
            let times = Which("locality", "share", MANY).times(rows)?;
            let agrees = are_ahead([(&times.own, &times.go), (&times.tokio, &times.go)]);
            Some(Finding { found: times.told(), agrees })
        },
        "on two processors one of them has most of the tasks, wherever they are woken",
    ),
    not_judged(
        SCHEDULER,
        "Locality, share: C∀ and Tokio are ahead of libfibre, which wakes tasks where they last ran, and more so on AMD; noshare: libfibre is ahead, marginally.",
        NO_LIBFIBRE,
    ),
    judged(
        SCHEDULER,
        "Transfer, park: all runtimes complete, within a factor of ten.",
        |rows| {
            let times = Which("transfer", "park", MANY).times(rows)?;
            let complete = all(times.all().map(completes));
            let agrees = all([complete, times.are_within(EQUAL)]);
            Some(Finding { found: times.told(), agrees })
        },
        "evenkeel's thieves take what lies behind a poll within microseconds",
    ),
    judged(
        SCHEDULER,
        "Transfer, yield: C∀ and Go complete, Tokio does not.",
        |rows| {
            let times = Which("transfer", "yield", MANY).times(rows)?;
            let [own, tokio, go] = times.all().map(completes);
            let agrees = all([own, go, tokio.map(|completes| !completes)]);
            Some(Finding { found: times.told(), agrees })
        },
        "with few processors it depends on where the leader and the others are at the beginning",
    ),
    not_judged(
        SCHEDULER,
        "libfibre: slightly behind in Cycle on Intel with many tasks, falls there on hyperthreads, and is better with few; 4 times its Cycle in Yield with many tasks and 8 times with few, where it never switches, with a drop at 64 processors of AMD; as C∀ and Tokio in Churn on AMD with few tasks; no Transfer by yielding.",
        NO_LIBFIBRE,
    ),
    not_judged(
        SCHEDULER,
        "Whether to wake a task at its waker or where it last ran is prohibitively difficult to detect at run time.",
        "evenkeel does not choose between the two; it tries whether quick tasks do better on one processor than on two",
    ),
    not_judged(
        THORIUM,
        "A contended spin lock of the outbound ring stirs the caches most; look-ups in hash tables miss branches most.",
        "it is about the code of Thorium, which is not here",
    ),
    not_judged(
        THORIUM,
        "With the multiplexing in the workers a job makes 80 % more messages a second.",
        "it is about the code of Thorium; evenkeel's workers pack the messages that they send",
    ),
    not_judged(
        THORIUM,
        "The throughput of a worker is the figure to watch: those of a job and of an actor go with the cores and with the actors.",
        "it is advice, which the table of the ranks follows: its verdict is on the latency of a worker",
    ),
    judged(
        "concurrency",
        "Entry takes longer with two monitors than with one, and longer with four.",
        |rows| {
            let one = |monitors: f64| {
                let is = |row: &&Row<'_>| {
                    row.case.bench == "mutex"
                        && row.case.settings.number("monitors") == Some(monitors)
                };
                summary(rows.iter().find(is)?, "evenkeel")
            };
            let (one, two, four) = (one(1.0)?, one(2.0)?, one(4.0)?);
            let told = [one, two, four].map(|of| words::figure(of.median));
            let agrees = are_ahead([(&one, &two), (&two, &four)]);
            Some(Finding { found: format!("entry takes {} ns", told.join(", ")), agrees })
        },
        "an entry takes a lock of each monitor, a few nanoseconds",
    ),
    not_judged(
        CORETIME,
        "Objects that one operation uses should come together.",
        "the paper asks it; evenkeel gathers the objects of a class at one core where trials say that it is faster",
    ),
    not_judged(
        CORETIME,
        "Objects that are only read should be copied to several cores.",
        "the paper asks it; in evenkeel all may read an object at once, each where it runs",
    ),
    not_judged(
        CORETIME,
        "Where the data do not fit the chips, those that are used most should stay.",
        "the paper asks it; evenkeel rebalances by heat, and gives no home to what is seldom used",
    ),
    not_judged(
        CORETIME,
        "Owners of cores need priorities and fairness among each other.",
        "the paper asks it; evenkeel has one pool of workers in a process, and no priorities",
    ),
    not_judged(
        CORETIME,
        "Compilers could mark what is an object, stacks need not move, and hardware could have active messages.",
        "the paper asks it; in evenkeel the program says what is an object, a task is a future without a stack, and messages between cores are lines of memory",
    ),
    not_judged(
        CORETIME,
        "Beyond 16 MB both need the memory.",
        "the caches of the simulated machine hold 16 MB in all, as the paper's do: what does not fit comes from memory there by construction",
    ),
    not_judged(
        LOCALITY,
        "The residuals fall with the predicted times, and have tails; both are small.",
        "the paper gives no numbers; the residuals drawn with what is simulated are those of the choice of victims, which is all that varies there",
    ),
    not_judged(
        LOCALITY,
        "Execution time was measured apart from the other three metrics.",
        "the simulation has all four from one run: to count costs it nothing",
    ),
    not_judged(
        "concurrency",
        "Times are those of the processor, by one thread.",
        "here they are wall-clock times of a thread that does nothing else",
    ),
];
