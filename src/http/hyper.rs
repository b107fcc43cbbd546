//! `hyper`: the everywhere baseline. A hyper 1 server and the pooled client of hyper-util over HTTP/1.1, keep-alive, used as
//! their documentation shows: a service function, a fresh `Request` for every call, bodies collected. What both make of a request
//! beyond that (header maps, URIs, channels, a spawned task to return a connection to its pool) is what is measured.

use std::convert::Infallible;
use std::future::poll_fn;
use std::net::SocketAddr;
use std::task::Poll;

use http_body_util::{BodyExt, Full};
use hyper::body::{Bytes, Incoming};
use hyper::header::{CONTENT_TYPE, HOST};
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode, server};
use hyper_util::client::legacy;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::{TokioExecutor, TokioIo};
use tokio::net::TcpStream;

use super::handler::is_echoed;
use super::workload::{self, Workload, are_same};
use crate::measure::arm::{Arm, ArmInfo, Exchange};

/// The arm `hyper`.
#[derive(Debug)]
pub struct Hyper;

impl Arm for Hyper {
    const INFO: ArmInfo = ArmInfo {
        name: "hyper",
        summary: "hyper 1 server and pooled hyper-util client, HTTP/1.1",
        floor: false,
        settings: &[
            ("tcp_nodelay", "on"),
            ("server", "http1::Builder, defaults"),
            ("client", "legacy::Client, defaults; one a connection"),
        ],
    };

    type Client = Client;

    async fn connect(address: SocketAddr, workload: &str) -> Result<Client, String> {
        let workload = workload::by_name(workload).map_err(|error| error.to_string())?;
        let mut connector = HttpConnector::new();
        connector.set_nodelay(true);
        let client = legacy::Client::builder(TokioExecutor::new()).build(connector);
        Ok(Client { client, uri: format!("http://{address}{}", workload::PATH), workload })
    }

    async fn answer(stream: TcpStream) -> Result<(), String> {
        let connection = server::conn::http1::Builder::new().serve_connection(TokioIo::new(stream), service_fn(echo));
        connection.await.map_err(|error| error.to_string())
    }
}

/// The handler, in hyper's own types: the body, its media type and the `X-` headers.
async fn echo(request: Request<Incoming>) -> Result<Response<Full<Bytes>>, Infallible> {
    let (head, body) = request.into_parts();
    let Ok(body) = body.collect().await else {
        let mut response = Response::new(Full::default());
        *response.status_mut() = StatusCode::BAD_REQUEST;
        return Ok(response);
    };
    let mut response = Response::new(Full::new(body.to_bytes()));
    for (name, value) in &head.headers {
        if *name == CONTENT_TYPE || is_echoed(name.as_str().as_bytes()) {
            response.headers_mut().append(name, value.clone());
        }
    }
    Ok(response)
}

/// A client with a pool of its own, which holds one connection.
#[derive(Debug)]
pub struct Client {
    client: legacy::Client<HttpConnector, Full<Bytes>>,
    uri: String,
    workload: Workload,
}

impl Exchange for Client {
    async fn exchange(&mut self) -> Result<(), String> {
        let mut request = Request::builder().method(Method::POST).uri(&self.uri).header(HOST, workload::HOST);
        for (name, value) in self.workload.headers {
            request = request.header(*name, *value);
        }
        let request = request.body(Full::new(self.workload.body.clone())).map_err(|error| error.to_string())?;
        let response = self.client.request(request).await.map_err(|error| error.to_string())?;
        let (head, body) = response.into_parts();
        let body = body.collect().await.map_err(|error| error.to_string())?.to_bytes();
        a_turn().await;
        let media_type = head.headers.get(CONTENT_TYPE).map(|value| value.as_bytes());
        let wanted = self.workload.headers.iter().find(|(name, _)| name.eq_ignore_ascii_case("content-type"));
        let echoed = head.headers.iter().filter(|(name, _)| is_echoed(name.as_str().as_bytes()));
        let right = head.status == StatusCode::OK
            && media_type == wanted.map(|(_, value)| value.as_bytes())
            && are_same(
                echoed.map(|(name, value)| (name.as_str().as_bytes(), value.as_bytes())),
                self.workload.echoed(),
            )
            && body == self.workload.body;
        if right { Ok(()) } else { Err("the response is not the one to the request".to_owned()) }
    }
}

/// A turn for the task that returns the connection to its pool. Without it the next request may find the pool empty and open another
/// connection, and every worker of the study has one. Not tokio's `yield_now`, which would have the runtime ask the kernel for
/// events first: a system call a request that hyper does not need.
async fn a_turn() {
    let mut had = false;
    poll_fn(|context| {
        if std::mem::replace(&mut had, true) {
            return Poll::Ready(());
        }
        context.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}
