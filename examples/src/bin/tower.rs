//! tower: a service that refuses what it cannot hold, and limits the time of each call.

use evenkeel::time::timeout;
use evenkeel_examples::{Fault, Server, get, serve};
use http_body_util::Full;
use hyper::body::{Bytes, Incoming};
use hyper::{Request, Response, StatusCode};
use hyper_util::service::TowerToHyperService;
use std::future::pending;
use std::time::Duration;
use tokio::sync::Semaphore;
use tower::load_shed::error::Overloaded;
use tower::util::BoxCloneSyncService;
use tower::{ServiceBuilder, ServiceExt};

type Answer = Response<Full<Bytes>>;

/// Calls that are inside; each waits for a permit of the second to leave.
static INSIDE: Semaphore = Semaphore::const_new(0);
static LEAVE: Semaphore = Semaphore::const_new(0);

async fn handle(request: Request<Incoming>) -> Result<Answer, Fault> {
    if request.uri().path() == "/never" {
        pending::<()>().await;
    }
    INSIDE.add_permits(1);
    LEAVE.acquire().await?.forget();
    Ok(Response::new("done".into()))
}

/// A service with `places` places, each call of which may take `limit`.
fn stack(places: usize, limit: Duration) -> BoxCloneSyncService<Request<Incoming>, Answer, Fault> {
    let service = ServiceBuilder::new()
        .load_shed()
        .concurrency_limit(places)
        // The layer of tower waits by Tokio's timer, and this one by evenkeel's.
        .map_future(move |call| async move { timeout(limit, call).await? })
        .service_fn(handle);
    // An error becomes an answer.
    let answered = service.map_result(|result: Result<Answer, Fault>| {
        Ok::<_, Fault>(result.unwrap_or_else(|error| {
            let status = match error {
                error if error.is::<Overloaded>() => StatusCode::SERVICE_UNAVAILABLE,
                error if error.is::<evenkeel::time::Elapsed>() => StatusCode::GATEWAY_TIMEOUT,
                _ => StatusCode::INTERNAL_SERVER_ERROR,
            };
            let mut answer = Response::new(Full::default());
            *answer.status_mut() = status;
            answer
        }))
    });
    BoxCloneSyncService::new(answered)
}

async fn start(places: usize, limit: Duration) -> Result<Server, Fault> {
    // One stack for all connections: its clones share their places.
    let stack = stack(places, limit);
    let connection =
        move |stream, stop| serve(stream, stop, TowerToHyperService::new(stack.clone()));
    Ok(Server::start(Duration::from_secs(10), connection).await?)
}

#[evenkeel::main(workers = 2)]
async fn main() -> Result<(), Fault> {
    let full = start(2, Duration::from_secs(600)).await?;
    let address = full.address();
    let held = [(); 2].map(|()| evenkeel::spawn(get(address, "/")));
    INSIDE.acquire_many(2).await?.forget();
    let (status, _) = get(address, "/").await?;
    assert_eq!(status, StatusCode::SERVICE_UNAVAILABLE, "both places are taken");
    LEAVE.add_permits(3);
    for call in held {
        assert_eq!(call.await??, (StatusCode::OK, "done".to_owned()));
    }
    assert_eq!(get(address, "/").await?.0, StatusCode::OK, "a place is free again");

    let slow = start(1, Duration::from_millis(20)).await?;
    let (status, _) = get(slow.address(), "/never").await?;
    assert_eq!(status, StatusCode::GATEWAY_TIMEOUT);
    let (status, _) = get(slow.address(), "/never").await?;
    assert_eq!(status, StatusCode::GATEWAY_TIMEOUT, "the first call has left its place");

    let (full, slow) = (full.stop().await, slow.stop().await);
    full.assert(0);
    slow.assert(0);
    println!("tower: 3 calls were answered, 1 refused, 2 ended by their limit; {full}; {slow}");
    Ok(())
}
