//! That all figures are exported, and with the values of the snapshot.

use crate::on_workers;
use crate::recorder::Kept;
use crate::watchdog::watchdog;
use evenkeel::metrics::{Delays, ProcessorMetrics, RuntimeMetrics};
use evenkeel::net::{TcpListener, TcpStream};
use evenkeel::{Builder, Handle, Runtime, Shutdown};
use evenkeel_metrics::Exporter;
use metrics::{Unit, with_local_recorder};
use std::sync::mpsc;
use std::time::{Duration, Instant};

fn recorded(handle: &Handle) -> Kept {
    let kept = Kept::default();
    let exporter = Exporter::new(handle).name("deck");
    with_local_recorder(&kept, || {
        exporter.describe();
        exporter.record();
    });
    kept
}

/// Returns the names of the fields that `{:#?}` shows at a depth of `depth` structures.
fn fields(shown: &str, depth: usize) -> Vec<String> {
    let indentation = " ".repeat(4 * depth);
    let names = shown.lines().filter_map(|line| line.strip_prefix(&indentation)?.split_once(':'));
    names.map(|(name, _)| name.to_owned()).filter(|name| !name.starts_with(' ')).collect()
}

#[test]
fn each_field_of_the_snapshots_is_exported_and_described() {
    let _watchdog = watchdog();
    let runtime = Builder::new().workers(1).build().unwrap();
    let watches = [0; 3].map(|_| runtime.spawn(std::future::pending::<()>()));
    let kept = recorded(&runtime.handle());
    assert_eq!(kept.gauge("evenkeel_alive{runtime=deck}"), 3.0);
    drop(watches);
    let all = kept.all();
    let is_there = |name: &str| {
        let ends = ["{", "_total{", "_seconds{", "_seconds_total{", "_seconds_count{"];
        let is_one = |end: &str| all.keys().any(|place| place.starts_with(&format!("{name}{end}")));
        ends.into_iter().any(is_one)
    };
    let processor = format!("{:#?}", ProcessorMetrics::default());
    let own = fields(&processor, 1);
    assert!(own.contains(&"polls".to_owned()) && own.len() > 30, "{own:?}");
    for field in own.iter().filter(|&field| field != "sockets") {
        assert!(is_there(&format!("evenkeel_{field}")), "`{field}` is not exported");
    }
    let sockets = fields(&format!("{:#?}", ProcessorMetrics::default().sockets), 1);
    assert!(sockets.contains(&"accepted".to_owned()), "{sockets:?}");
    for field in sockets {
        assert!(is_there(&format!("evenkeel_sockets_{field}")), "`{field}` is not exported");
    }
    let of_runtime = fields(&format!("{:#?}", runtime.metrics()), 1);
    assert!(of_runtime.contains(&"sleeping".to_owned()), "{of_runtime:?}");
    let lists = ["processors", "reliefs"];
    for field in of_runtime.iter().filter(|field| !lists.contains(&field.as_str())) {
        assert!(is_there(&format!("evenkeel_{field}")), "`{field}` is not exported");
    }
    for place in all.keys() {
        let (name, _) = place.split_once('{').unwrap();
        let (unit, help) = kept.described(name);
        let is_time = name.contains("_seconds") && !name.contains("delays");
        assert_eq!(unit, Some(if is_time { Unit::Seconds } else { Unit::Count }), "{name}");
        assert!(help.len() > 10, "{name}: {help}");
    }
}

#[test]
fn values_are_those_of_the_final_snapshot_and_stay_when_the_runtime_is_over() {
    let _watchdog = watchdog();
    for workers in [1, 2, 8] {
        let runtime = Builder::new().workers(workers).build().unwrap();
        let exporter = Exporter::new(&runtime.handle()).name("deck");
        runtime.block_on(async {
            for _ in 0..20 {
                evenkeel::spawn(evenkeel::yield_now()).await.unwrap();
            }
        });
        let handle = runtime.handle();
        runtime.shutdown(Shutdown::Drain);
        let metrics: RuntimeMetrics = handle.metrics();
        let kept = Kept::default();
        with_local_recorder(&kept, || exporter.record());
        assert_eq!(kept.gauge("evenkeel_workers{runtime=deck}"), workers as f64);
        assert_eq!(
            kept.count("evenkeel_spawned_outside_total{runtime=deck}"),
            metrics.spawned_outside
        );
        assert_eq!(kept.gauge("evenkeel_alive{runtime=deck}"), 0.0);
        let mut polls = 0;
        for (index, processor) in metrics.processors.iter().enumerate() {
            let labels = format!("{{processor={index},runtime=deck}}");
            let count = |name: &str| kept.count(&format!("evenkeel_{name}_total{labels}"));
            assert_eq!(count("completed"), processor.completed);
            assert_eq!(count("wake_ups"), processor.wake_ups);
            let longest = kept.gauge(&format!("evenkeel_longest_batch_seconds{labels}"));
            assert_eq!(longest, processor.longest_batch.as_secs_f64());
            polls += count("polls");
        }
        let reliefs = 0..metrics.reliefs.len();
        let of_relief = |n| format!("evenkeel_polls_total{{processor=relief-{n},runtime=deck}}");
        polls += reliefs.map(|n| kept.count(&of_relief(n))).sum::<u64>();
        assert_eq!(polls, 40, "two polls of each task");

        let before = kept.all();
        with_local_recorder(&kept, || exporter.record());
        let counts = |(place, _): &(&String, &u64)| {
            place.contains("_total{runtime") || place.contains("polls_total")
        };
        assert!(before.iter().filter(counts).eq(kept.all().iter().filter(counts)));
    }
}

#[test]
fn times_add_up_and_never_go_back() {
    on_workers(|runtime| {
        let kept = Kept::default();
        let exporter = Exporter::new(&runtime.handle()).name("deck");
        let occupations = ["execution", "scheduling", "searching", "asleep"];
        let mut before = [0.0; 4];
        let (began, mut elapsed) = (Instant::now(), 0.0);
        for _ in 0..50 {
            runtime.block_on(runtime.spawn(evenkeel::yield_now())).unwrap();
            elapsed = began.elapsed().as_secs_f64();
            with_local_recorder(&kept, || exporter.record());
            let time = |occupation| {
                let labels = format!("occupation={occupation},processor=0,runtime=deck");
                kept.gauge(&format!("evenkeel_times_seconds_total{{{labels}}}"))
            };
            let now = occupations.map(time);
            for (before, now) in before.iter().zip(now) {
                assert!(*before <= now, "{before} s, then {now} s");
            }
            before = now;
        }
        let sum: f64 = before.iter().sum();
        assert!(sum >= elapsed / 2.0, "{sum} s of {elapsed} s");
    });
}

fn delays(metrics: &RuntimeMetrics) -> Delays {
    metrics.processors.iter().map(|processor| processor.sockets.delays).sum()
}

/// Has a server's task wait for its socket until a worker has polled it often.
fn wait_for_sockets(runtime: &Runtime) {
    runtime.block_on(async {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let client = TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
        let server = evenkeel::spawn(async move {
            let (stream, _) = listener.accept().await.unwrap();
            let mut byte = [0];
            while stream.read(&mut byte).await.unwrap() == 1 {
                stream.write_all(&byte).await.unwrap();
            }
        });
        while delays(&runtime.metrics()).count() < 20 {
            client.write_all(b"x").await.unwrap();
            assert_eq!(client.read(&mut [0]).await.unwrap(), 1);
        }
        drop(client);
        server.await.unwrap();
    });
}

/// The bound of the bucket in which the time at a quantile is, as Prometheus finds it.
fn quantile(buckets: &[(f64, u64)], quantile: f64) -> f64 {
    let (_, all) = buckets[buckets.len() - 1];
    let rank = quantile * all as f64;
    buckets.iter().find(|(_, below)| *below as f64 >= rank).unwrap().0
}

#[test]
fn buckets_are_cumulative_and_give_the_quantiles_of_the_runtime() {
    let _watchdog = watchdog();
    for workers in [1, 2, 8] {
        let runtime = Builder::new().workers(workers).build().unwrap();
        wait_for_sockets(&runtime);
        let handle = runtime.handle();
        runtime.shutdown(Shutdown::Drain);
        let kept = recorded(&handle);
        let metrics = handle.metrics();
        let all = delays(&metrics);
        let mut sums: Vec<(f64, u64)> = Vec::new();
        for (index, processor) in metrics.processors.iter().enumerate() {
            let labels = format!("processor={index},runtime=deck}}");
            let mut buckets = Vec::new();
            let all = kept.all();
            for (place, value) in &all {
                let Some(rest) = place.strip_prefix("evenkeel_sockets_delays_seconds_bucket{le=")
                else {
                    continue;
                };
                let (le, rest) = rest.split_once(',').unwrap();
                if rest == labels {
                    let le = if le == "+Inf" { f64::INFINITY } else { le.parse().unwrap() };
                    buckets.push((le, *value));
                }
            }
            buckets.sort_by(|a, b| a.0.total_cmp(&b.0));
            assert_eq!(buckets.len(), 26);
            assert_eq!(buckets[0].0, 0.000_001_024);
            assert!(buckets.is_sorted_by_key(|bucket| bucket.1), "{buckets:?}");
            let count = kept.count(&format!("evenkeel_sockets_delays_seconds_count{{{labels}"));
            assert_eq!(count, processor.sockets.delays.count());
            assert_eq!(buckets[25], (f64::INFINITY, count));
            sums.resize(26, (0.0, 0));
            for (sum, (le, below)) in sums.iter_mut().zip(buckets) {
                *sum = (le, sum.1 + below);
            }
        }
        for rank in [0.5, 0.9, 0.99] {
            let shortest = Duration::from_nanos(1_024);
            let expected = all.at(rank).max(shortest).as_secs_f64();
            assert_eq!(quantile(&sums, rank), expected, "{all}");
        }
    }
}

#[test]
fn reliefs_have_series_of_their_own() {
    let _watchdog = watchdog();
    let runtime = Builder::new().workers(1).build().unwrap();
    let (send, receive) = mpsc::channel();
    let stuck = runtime.spawn(async move { receive.recv().unwrap() });
    // The only worker is stuck, or will be, until a relief polls this.
    let sends = runtime.spawn(async move { send.send(7).unwrap() });
    assert_eq!(evenkeel::block_on(stuck).unwrap(), 7);
    evenkeel::block_on(sends).unwrap();
    let handle = runtime.handle();
    runtime.shutdown(Shutdown::Drain);
    let kept = recorded(&handle);
    for (index, relief) in handle.metrics().reliefs.iter().enumerate() {
        let place = format!("evenkeel_polls_total{{processor=relief-{index},runtime=deck}}");
        assert_eq!(kept.count(&place), relief.polls);
    }
    let of_worker = kept.count("evenkeel_polls_total{processor=0,runtime=deck}");
    let of_reliefs = handle.metrics().reliefs.iter().map(|relief| relief.polls).sum::<u64>();
    assert_eq!(of_worker + of_reliefs, 2);
}
