//! Prometheus: a server that serves the metrics of its runtime, by `evenkeel-metrics`.

use evenkeel::task::JoinSet;
use evenkeel::time::sleep;
use evenkeel_examples::{Fault, Server, get, serve};
use evenkeel_metrics::Exporter;
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper::{Request, Response, StatusCode};
use metrics_exporter_prometheus::{PrometheusBuilder, PrometheusHandle};
use std::net::SocketAddr;
use std::time::Duration;

/// Requests that the program counts itself, beside what the runtime counts.
const REQUESTS: &str = "requests_total";

/// Answers a request: with the page of metrics, or after a moment.
async fn answer(
    request: Request<Incoming>,
    exporter: Exporter,
    page: PrometheusHandle,
) -> Result<Response<String>, Fault> {
    let mut response = Response::new(String::new());
    match request.uri().path() {
        "/metrics" => {
            exporter.record();
            *response.body_mut() = page.render();
        }
        "/work" => {
            metrics::counter!(REQUESTS).increment(1);
            sleep(Duration::from_millis(2)).await;
        }
        _ => *response.status_mut() = StatusCode::NOT_FOUND,
    }
    Ok(response)
}

/// A page of metrics, as Prometheus reads it.
struct Page(String);

impl Page {
    async fn fetch(server: SocketAddr) -> Result<Self, Fault> {
        let (status, text) = get(server, "/metrics").await?;
        assert_eq!(status, StatusCode::OK);
        Ok(Self(text))
    }

    /// Returns the sum of all series with a name and a label, and their number.
    fn sum(&self, name: &str, label: &str) -> (f64, usize) {
        let is_of = |series: &str| series.split('{').next() == Some(name) && series.contains(label);
        let lines = self.0.lines().filter(|line| !line.starts_with('#'));
        let values: Vec<f64> = lines
            .filter_map(|line| line.rsplit_once(' '))
            .filter(|(series, _)| is_of(series))
            .map(|(_, value)| value.parse().expect("a value is a number"))
            .collect();
        (values.iter().sum(), values.len())
    }
}

/// Makes requests, each on a connection of its own.
async fn work(server: SocketAddr, requests: usize) -> Result<(), Fault> {
    let mut clients = JoinSet::new();
    for _ in 0..requests {
        clients.spawn(get(server, "/work"));
    }
    while let Some(answer) = clients.join_next().await {
        assert_eq!(answer??.0, StatusCode::OK);
    }
    Ok(())
}

#[evenkeel::main(workers = 2)]
async fn main() -> Result<(), Fault> {
    // The program's recorder. It needs upkeep now and then, which `render` does.
    let page = PrometheusBuilder::new().install_recorder()?;
    let exporter = Exporter::new(&evenkeel::Handle::current()).name("web");
    exporter.describe();
    let server = Server::start(Duration::from_secs(1), move |stream, stop| {
        let (exporter, page) = (exporter.clone(), page.clone());
        let service = service_fn(move |request| answer(request, exporter.clone(), page.clone()));
        serve(stream, stop, service)
    })
    .await?;
    let address = server.address();

    work(address, 20).await?;
    let first = Page::fetch(address).await?;
    work(address, 30).await?;
    let second = Page::fetch(address).await?;

    for (page, requests) in [(&first, 20.0), (&second, 50.0)] {
        assert_eq!(page.sum(REQUESTS, ""), (requests, 1));
        assert_eq!(page.sum("evenkeel_workers", "runtime=\"web\""), (2.0, 1));
        // A relief that has stood in for a worker has a series too.
        let (accepted, series) = page.sum("evenkeel_sockets_accepted_total", "runtime=\"web\"");
        assert!(accepted > requests && series >= 2, "{accepted} of {series} processors");
        for line in [
            "# TYPE evenkeel_polls_total counter",
            "# HELP evenkeel_polls_total Polls of tasks",
            "# TYPE evenkeel_ready gauge",
            "# TYPE evenkeel_sockets_delays_seconds_bucket counter",
        ] {
            assert!(page.0.lines().any(|found| found == line), "{line} is not in\n{}", page.0);
        }
    }
    for name in
        ["evenkeel_polls_total", "evenkeel_timers_fired_total", "evenkeel_times_seconds_total"]
    {
        let [before, after] = [&first, &second].map(|page| page.sum(name, "").0);
        assert!(before < after, "{name}: {before}, then {after}");
    }
    // The buckets of the histogram grow by their bounds, and the last one has all.
    let bucket =
        |le: &str| second.sum("evenkeel_sockets_delays_seconds_bucket", &format!("le=\"{le}\"")).0;
    let bounds = ["0.000001024", "0.001048576", "1.073741824", "+Inf"];
    assert!(bounds.map(bucket).is_sorted());
    assert_eq!(bucket("+Inf"), second.sum("evenkeel_sockets_delays_seconds_count", "").0);
    assert!(bucket("+Inf") > 0.0);

    let report = server.stop().await;
    assert_eq!((report.failed, report.cut), (0, 0), "{:?}", report.last_failure);
    let series = second.0.lines().filter(|line| line.starts_with("evenkeel_")).count();
    println!("prometheus: 50 requests, two pages of {series} series; {report}");
    Ok(())
}
