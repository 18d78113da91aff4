//! axum: a router with state and JSON, on a listener of evenkeel.

use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::routing::{get, post};
use axum::{Json, Router};
use evenkeel::task::JoinSet;
use evenkeel_examples::{Fault, Server, serve};
use http_body_util::{BodyExt, Full};
use hyper::Request;
use hyper::body::Bytes;
use hyper_util::service::TowerToHyperService;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Ship {
    name: String,
    masts: u32,
}

type Fleet = Arc<Mutex<HashMap<String, Ship>>>;

async fn launch(State(fleet): State<Fleet>, Json(ship): Json<Ship>) -> StatusCode {
    match fleet.lock().unwrap().entry(ship.name.clone()) {
        Entry::Occupied(_) => StatusCode::CONFLICT,
        Entry::Vacant(berth) => {
            berth.insert(ship);
            StatusCode::CREATED
        }
    }
}

async fn find(
    State(fleet): State<Fleet>,
    Path(name): Path<String>,
) -> Result<Json<Ship>, StatusCode> {
    let found = fleet.lock().unwrap().get(&name).cloned();
    found.map(Json).ok_or(StatusCode::NOT_FOUND)
}

/// Makes a request, and returns status and body.
async fn call(
    server: SocketAddr,
    request: Request<Full<Bytes>>,
) -> Result<(StatusCode, Bytes), Fault> {
    let stream = evenkeel::net::TcpStream::connect(server).await?;
    let (mut client, connection) = hyper::client::conn::http1::handshake(stream).await?;
    drop(evenkeel::spawn(connection));
    let answer = client.send_request(request).await?;
    Ok((answer.status(), answer.into_body().collect().await?.to_bytes()))
}

#[evenkeel::main(workers = 2)]
async fn main() -> Result<(), Fault> {
    let router = Router::new()
        .route("/ships", post(launch))
        .route("/ships/{name}", get(find))
        .with_state(Fleet::default());
    // `axum::serve` is Tokio's. A router is a service, and hyper serves it.
    let server = Server::start(Duration::from_secs(10), move |stream, stop| {
        serve(stream, stop, TowerToHyperService::new(router.clone()))
    })
    .await?;
    let address = server.address();

    let mut clients = JoinSet::new();
    for n in 0..20 {
        clients.spawn(async move {
            let ship = Ship { name: format!("ship-{n}"), masts: n };
            let body = Full::from(serde_json::to_vec(&ship)?);
            let request =
                Request::post("/ships").header("content-type", "application/json").body(body)?;
            assert_eq!(call(address, request).await?.0, StatusCode::CREATED);
            let request = Request::get(format!("/ships/ship-{n}")).body(Full::default())?;
            let (status, body) = call(address, request).await?;
            assert_eq!(status, StatusCode::OK);
            assert_eq!(serde_json::from_slice::<Ship>(&body)?, ship);
            Ok::<_, Fault>(2)
        });
    }
    let mut requests = 0;
    while let Some(count) = clients.join_next().await {
        requests += count??;
    }
    let missing = Request::get("/ships/none").body(Full::default())?;
    assert_eq!(call(address, missing).await?.0, StatusCode::NOT_FOUND);
    let report = server.stop().await;
    report.assert(0);
    println!("axum: {} requests; {report}", requests + 1);
    Ok(())
}
