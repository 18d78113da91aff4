//! The pages of a server of HTTP/1.1, which hyper serves on each runtime in the same way.

use std::convert::Infallible;
use std::thread;

use hyper::body::Incoming;
use hyper::rt::{Read, Write};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response, StatusCode};

use crate::pages::{BLOCK, Page};

/// Serves a connection until its client closes it. The client sees one that fails.
pub(super) async fn serve<S: Read + Write + Unpin>(stream: S) {
    drop(http1::Builder::new().serve_connection(stream, service_fn(answer)).await);
}

/// Answers a request with the number in its query.
async fn answer(request: Request<Incoming>) -> Result<Response<String>, Infallible> {
    let uri = request.uri();
    let number = uri.query().and_then(|number| number.parse().ok());
    let page = Page::ALL.into_iter().find(|page| page.name() == uri.path());
    let Some((page, number)) = page.zip(number) else {
        let mut refusal = Response::new(String::new());
        *refusal.status_mut() = StatusCode::NOT_FOUND;
        return Ok(refusal);
    };
    if page == Page::Block {
        // As a user does, by mistake, within a task.
        thread::sleep(BLOCK);
    }
    Ok(Response::new(page.made(number)))
}
