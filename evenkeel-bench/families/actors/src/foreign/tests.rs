//! The lines, a short run of each program that can be built here, and the messages about the
//! others.

use super::*;

const PATIENCE: Duration = Duration::from_secs(120);

fn request(bench: &'static str, mode: Option<&'static str>) -> Request {
    Request {
        bench,
        mode,
        workers: 2,
        actors_per_worker: 10,
        pings: 50,
        pairs: 3,
        repeats: 700,
        in_flight: 100,
        producers: 3,
        messages: 1_234,
        actors: 2_500,
    }
}

const RIGHT: &str = r#"{"runtime":"caf","bench":"fanin","workers":2,"actors":4,"messages":3702,"seconds":0.25,"bytes_per_actor":null,"checked":true}"#;

#[test]
fn a_line_becomes_an_answer() {
    let answer = read(Name::Caf, &request("fanin", None), RIGHT).unwrap();
    assert_eq!((answer.actors, answer.messages, answer.seconds), (4, 3702, 0.25));
    assert_eq!((answer.bytes_per_actor, answer.heap_bytes_per_actor), (None, None));
    let memory = RIGHT.replace("null", "812.5,\"heap_bytes_per_actor\":700");
    let answer = read(Name::Caf, &request("fanin", None), &memory).unwrap();
    assert_eq!((answer.bytes_per_actor, answer.heap_bytes_per_actor), (Some(812.5), Some(700.0)));
}

#[test]
fn a_line_that_is_cut_off_or_foreign_is_quoted() {
    let refused = |line: &str| {
        let error = read(Name::Caf, &request("fanin", None), line).unwrap_err();
        format!("{error:#}")
    };
    for end in [0, 1, RIGHT.len() / 2, RIGHT.len() - 1] {
        let line = &RIGHT[..end];
        assert!(refused(line).starts_with(&format!("it answered `{line}`: ")), "{line}");
    }
    assert!(refused("ready").starts_with("it answered `ready`: "));
    assert!(refused(&RIGHT.replace("\"messages\":3702,", "")).contains("`messages`"));
}

#[test]
fn an_answer_to_something_else_is_none() {
    let refused = |from: &str, to: &str| {
        let line = RIGHT.replace(from, to);
        read(Name::Caf, &request("fanin", None), &line).unwrap_err().to_string()
    };
    for (from, to) in [("caf", "go"), ("fanin", "pingpong"), ("\"workers\":2", "\"workers\":1")] {
        let error = refused(from, to);
        assert!(error.ends_with("to `--bench fanin --workers 2 --producers 3 --messages 1234`"));
    }
    assert!(refused("true", "false").starts_with("it did not check its result"));
    assert!(refused("0.25", "0.0").ends_with("in which the time is no time"));
    assert!(refused("0.25", "-1").ends_with("in which the time is no time"));
}

/// The programs that can be built here.
fn built() -> Vec<Built> {
    let mut names = Vec::new();
    for (name, looked) in Name::ALL.into_iter().zip(look(&Name::ALL).unwrap()) {
        match looked {
            Ok(version) => {
                assert!(version.is_some(), "{name}");
                names.push(name);
            }
            Err(why) => eprintln!("skipped {name}: {why}"),
        }
    }
    Built::all(&names).unwrap()
}

#[test]
fn every_system_runs_every_benchmark() {
    let runs = [
        ("latency_probe", None, 20, 2_000),
        ("pingpong", None, 6, 4_200),
        ("fanin", None, 4, 3_702),
        ("actor_spawn", Some("alive"), 2_500, 2_500),
        ("actor_spawn", Some("waves"), 2_500, 2_500),
    ];
    for built in built() {
        let mut peer = built.start(2).unwrap();
        assert!(peer.id() > 0);
        for (bench, mode, actors, messages) in runs {
            for _ in 0..2 {
                let answer = peer.once(&request(bench, mode), PATIENCE).unwrap().unwrap();
                assert_eq!((answer.actors, answer.messages), (actors, messages), "{answer:?}");
            }
        }
        for (mode, messages) in [("idle", 0), ("used", 2_500)] {
            let request = request("actor_memory", Some(mode));
            let answer = built.memory(&request, PATIENCE).unwrap().unwrap();
            assert_eq!((answer.actors, answer.messages), (2_500, messages), "{answer:?}");
            #[cfg(target_os = "linux")]
            assert!(answer.bytes_per_actor.is_some(), "{answer:?}");
        }
    }
}

#[test]
fn what_a_program_refuses_is_said() {
    for built in built() {
        let refused = |change: fn(&mut Request)| {
            let mut request = request("fanin", None);
            change(&mut request);
            let mut peer = built.start(2).unwrap();
            format!("{:#}", peer.once(&request, PATIENCE).unwrap_err())
        };
        let error = refused(|request| request.producers = 1);
        assert!(error.ends_with("is not a number from 2 to 100000"), "{error}");
        let error = refused(|request| request.mode = Some("waves"));
        assert!(error.contains("it ended: evenkeel-peer: unknown mode"), "{error}");
        let error = refused(|request| request.workers = 3);
        assert!(error.ends_with("--workers and --reps are of the whole process: start another"));
        let error = refused(|request| request.bench = "big");
        assert!(error.contains("unknown bench"), "{error}");
        an_unknown_flag_ends_it_with_status_2(&built);
        a_run_that_takes_too_long_is_given_up(&built);
    }
}

fn an_unknown_flag_ends_it_with_status_2(built: &Built) {
    let mut command = built.command(1, Purpose::Memory).unwrap();
    let output = command.args(["--colour", "green"]).output().unwrap();
    assert_eq!(output.status.code(), Some(2), "{}", built.name());
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(errors.starts_with("evenkeel-peer: ") && errors.contains("-colour"), "{errors}");
    assert!(output.stdout.is_empty());
}

fn a_run_that_takes_too_long_is_given_up(built: &Built) {
    let request = Request { repeats: 1_000_000_000, ..request("pingpong", None) };
    let mut peer = built.start(2).unwrap();
    assert_eq!(peer.once(&request, Duration::from_millis(20)).unwrap(), None);
}

#[test]
fn what_is_missing_is_one_line() {
    for looked in look(&Name::ALL).unwrap() {
        let Err(line) = looked else { continue };
        assert!(!line.contains('\n') && !line.is_empty(), "{line}");
    }
}
