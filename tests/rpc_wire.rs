//! What gRPC and JSON-RPC look like to a peer that is not ours: exact bytes over plain sockets, and how a refusal is said in
//! the protocol's own way.

#![cfg(feature = "net")]
#![expect(clippy::unwrap_used, reason = "the helpers of a test file stand outside of its tests")]

use std::future::Future;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::time::Duration;

use bytes::{Buf, BufMut};
use futures_util::{StreamExt, stream};
use serde_json::{Value, json};
use tonic::codec::{BufferSettings, Codec, DecodeBuf, Decoder, EncodeBuf, Encoder};
use tonic::codegen::{Service, http};
use tonic::transport::{Channel, Endpoint};
use tonic::{Code, Status};
use votebench::protocol::{self, Protocol};
use votebench::schema::generated::vote_proto;
use votebench::schema::generated::vote_service::vote_service_client::VoteServiceClient;
use votebench::transport::config::Log;
use votebench::transport::wait::WaitingRuntime;
use votebench::transport::{
    self, Address, CancellationToken, ClientConfig, Connection, Payload, Server, ServerConfig, Transport, Visitor, Wait,
};
use votebench::vote::{Vote, corpus};

/// Serves a row while `talk` goes on with its address, then stops it.
struct Serving<F>(Protocol, F);

impl<F: FnOnce(SocketAddr)> Visitor for Serving<F> {
    type Output = ();

    fn visit<T: Transport>(self) {
        let Self(protocol, talk) = self;
        let shutdown = CancellationToken::new();
        let (sender, address) = std::sync::mpsc::channel();
        std::thread::scope(|scope| {
            let stop = shutdown.clone();
            let config = ServerConfig { log: Log::Silent, ..ServerConfig::new(protocol.payload) };
            let server = scope.spawn(move || {
                let serving = async move {
                    let server = T::bind(config).await.unwrap();
                    sender.send(server.address().socket().unwrap()).unwrap();
                    server.serve(stop).await.unwrap();
                };
                WaitingRuntime::new(Wait::Block).unwrap().run(serving).unwrap();
            });
            let address = address.recv_timeout(Duration::from_secs(10)).unwrap();
            let talked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| talk(address)));
            shutdown.cancel();
            server.join().unwrap();
            talked.unwrap();
        });
    }
}

fn serving(row: &str, talk: impl FnOnce(SocketAddr)) {
    let protocol = protocol::by_name(row).unwrap();
    let transport = protocol.transport.clone();
    transport::visit(&transport, Serving(protocol, talk)).unwrap();
}

fn run<F: Future<Output: Send> + Send + 'static>(future: F) -> F::Output {
    let limited = async { tokio::time::timeout(Duration::from_secs(10), future).await.unwrap() };
    WaitingRuntime::new(Wait::Block).unwrap().run(limited).unwrap()
}

fn text(vote: &Vote) -> String {
    let mut buffer = [0; votebench::vote::json::MAX_BYTES];
    let length = votebench::vote::json::write(vote, &mut buffer);
    String::from_utf8(buffer[..length].to_vec()).unwrap()
}

/// One POST on a connection that stays open: the status and the body.
fn post(stream: &mut TcpStream, body: &str) -> (u16, String) {
    let length = body.len();
    write!(
        stream,
        "POST / HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n\r\n{body}"
    )
    .unwrap();
    let mut received = Vec::new();
    loop {
        let mut piece = [0; 4_096];
        let bytes = stream.read(&mut piece).unwrap();
        assert!(bytes > 0, "closed after {:?}", String::from_utf8_lossy(&received));
        received.extend_from_slice(&piece[..bytes]);
        let so_far = String::from_utf8(received.clone()).unwrap();
        let Some((head, body)) = so_far.split_once("\r\n\r\n") else { continue };
        let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")).unwrap().parse().unwrap();
        if body.len() >= length {
            assert_eq!(body.len(), length);
            return (head.split(' ').nth(1).unwrap().parse().unwrap(), body.to_owned());
        }
    }
}

fn connect(address: SocketAddr) -> TcpStream {
    let stream = TcpStream::connect(address).unwrap();
    stream.set_nodelay(true).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
    stream
}

#[test]
fn json_rpc_answers_with_the_very_bytes() {
    serving("json-rpc", |address| {
        let vote = text(&Vote::canonical());
        let values: Value = serde_json::from_str(&vote).unwrap();
        let names = ["round", "block_hash", "voter_id", "signature", "timestamp", "vote_type"];
        let list = json!(names.map(|name| &values[name]));
        let mut stream = connect(address);
        for (id, params) in [("7", vote.clone()), ("\"seven\"", list.to_string()), ("0", vote)] {
            let request = format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"vote_submit","params":{params}}}"#);
            let answer = text(&Vote::canonical().answer());
            let expected = format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{answer}}}"#);
            assert_eq!(post(&mut stream, &request), (200, expected));
        }
    });
}

#[test]
fn json_rpc_says_what_is_wrong() {
    serving("json-rpc-ws", |address| {
        let good = text(&Vote::canonical());
        let mut stream = connect(address);
        let mut error = |method: &str, params: &str| {
            let request = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{method}","params":{params}}}"#);
            let (status, body) = post(&mut stream, &request);
            let body: Value = serde_json::from_str(&body).unwrap();
            assert_eq!((status, &body["id"]), (200, &json!(1)), "{body}");
            (body["error"]["code"].as_i64().unwrap(), body["error"]["message"].as_str().unwrap().to_owned())
        };
        for (params, field) in [
            (good.replacen("0x22", "0x", 1), "voter_id"),
            (good.replacen("0x11", "0xzz", 1), "block_hash"),
            (good.replacen(":1}", ":256}", 1), "vote_type"),
            (good.replacen("\"timestamp\"", "\"time\"", 1), "timestamp"),
            ("{}".to_owned(), "round"),
            ("[]".to_owned(), "round"),
            ("[\"x\"]".to_owned(), "round"),
        ] {
            let (code, message) = error("vote_submit", &params);
            assert!(code == -32602 && message.contains(field), "{params}: {code} {message}");
        }
        assert_eq!(error("vote_withdraw", &good).0, -32601);
        for (body, expected, code) in [
            (r#"{"jsonrpc":"2.0","id":1,"method":"vote_submit"}"#, 200, -32602),
            (r#"{"jsonrpc":"2.0","id":1,"#, 200, -32700),
            (r#"{"jsonrpc":"2.0","id":1}"#, 200, -32600),
            ("nonsense", 400, -32700),
        ] {
            let (status, answer) = post(&mut connect(address), body);
            let answer: Value = serde_json::from_str(&answer).unwrap();
            assert_eq!((status, answer["error"]["code"].as_i64()), (expected, Some(code)), "{body}: {answer}");
        }
        let id = r#"{"jsonrpc":"2.0","id":1,"method":"vote_submit","params":"#;
        assert!(post(&mut stream, &format!("{id}{good}}}")).1.contains("result"));
    });
}

/// Exchanges `votes` with whoever listens at the address.
struct Talking(SocketAddr, Vec<Vote>);

impl Visitor for Talking {
    type Output = ();

    fn visit<T: Transport>(self) {
        let Self(address, votes) = self;
        let config = ClientConfig::new(Address::Socket(address), Payload::Codec("json-rpc".to_owned()));
        run(async move {
            let mut connection = T::connect(config).await.unwrap();
            for vote in votes {
                connection.exchange(&vote).await.unwrap();
            }
        });
    }
}

/// That the client of `stack` connects once, sends nothing but calls, and those byte by byte as they should be.
fn demand_calls(stack: &str) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let votes = corpus::votes(3, 5);
    let expected = votes.clone();
    let server = std::thread::spawn(move || {
        let mut stream = BufReader::new(listener.accept().unwrap().0);
        let mut request = || {
            let (mut head, mut line) = (String::new(), String::new());
            while stream.read_line(&mut line).unwrap() > 2 {
                head.push_str(&line.to_lowercase());
                line.clear();
            }
            let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")).unwrap_or("0").to_owned();
            let mut body = vec![0; length.parse().unwrap()];
            stream.read_exact(&mut body).unwrap();
            (head, String::from_utf8(body).unwrap(), stream.get_ref().try_clone().unwrap())
        };
        for (id, vote) in expected.iter().enumerate() {
            let (head, body, mut answer) = request();
            assert!(head.starts_with("post / http/1.1") && head.contains("content-type: application/json"), "{head}");
            let vote_text = text(vote);
            let call = format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"vote_submit","params":{vote_text}}}"#);
            assert_eq!(body, call);
            let result = format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{}}}"#, text(&vote.answer()));
            write!(answer, "HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n{result}", result.len()).unwrap();
        }
    });
    transport::visit(stack, Talking(address, votes)).unwrap();
    server.join().unwrap();
}

#[test]
fn json_rpc_calls_with_the_very_bytes_on_one_connection() {
    demand_calls("jsonrpc-http");
    demand_calls("jsonrpc-http-plain");
}

/// A codec that puts gRPC's prefix before any bytes and looks at none.
#[derive(Default)]
struct Raw;

impl Codec for Raw {
    type Encode = Vec<u8>;
    type Decode = Vec<u8>;
    type Encoder = Self;
    type Decoder = Self;

    fn encoder(&mut self) -> Self {
        Self
    }

    fn decoder(&mut self) -> Self {
        Self
    }
}

impl Encoder for Raw {
    type Item = Vec<u8>;
    type Error = Status;

    fn encode(&mut self, bytes: Vec<u8>, buffer: &mut EncodeBuf<'_>) -> Result<(), Status> {
        buffer.put_slice(&bytes);
        Ok(())
    }

    fn buffer_settings(&self) -> BufferSettings {
        BufferSettings::default()
    }
}

impl Decoder for Raw {
    type Item = Vec<u8>;
    type Error = Status;

    fn decode(&mut self, buffer: &mut DecodeBuf<'_>) -> Result<Option<Vec<u8>>, Status> {
        Ok(Some(buffer.copy_to_bytes(buffer.remaining()).to_vec()))
    }

    fn buffer_settings(&self) -> BufferSettings {
        BufferSettings::default()
    }
}

async fn channel(address: SocketAddr) -> Channel {
    Endpoint::from_shared(format!("http://{address}")).unwrap().tcp_nodelay(true).connect().await.unwrap()
}

fn canonical() -> vote_proto::Vote {
    (&Vote::canonical()).into()
}

/// Messages that are no votes, and what the refusal has to name.
fn bad_votes() -> Vec<(vote_proto::Vote, &'static str)> {
    vec![
        (vote_proto::Vote { block_hash: vec![1; 31], ..canonical() }, "block_hash"),
        (vote_proto::Vote { voter_id: vec![1; 33], ..canonical() }, "voter_id"),
        (vote_proto::Vote { signature: Vec::new(), ..canonical() }, "signature"),
        (vote_proto::Vote { vote_type: 256, ..canonical() }, "vote_type"),
    ]
}

#[test]
fn grpc_names_the_field_of_a_bad_vote_and_goes_on() {
    serving("grpc", |address| {
        run(async move {
            let mut client = VoteServiceClient::new(channel(address).await);
            for (message, field) in bad_votes() {
                let status = client.submit(message.clone()).await.unwrap_err();
                assert!(status.code() == Code::InvalidArgument && status.message().contains(field), "{status}");
                // On a stream, a good vote is still answered before the bad one ends it.
                let votes = stream::iter([canonical(), message, canonical()]);
                let mut answers = client.exchange(votes).await.unwrap().into_inner();
                assert!(answers.message().await.unwrap().is_some());
                let status = answers.message().await.unwrap_err();
                assert!(status.code() == Code::InvalidArgument && status.message().contains(field), "{status}");
            }
            let answer = client.submit(canonical()).await.unwrap().into_inner();
            assert_eq!(Vote::try_from(&answer), Ok(Vote::canonical().answer()));
        });
    });
}

#[test]
fn grpc_takes_no_bytes_that_are_no_message() {
    const SUBMIT: &str = "/votebench.v1.VoteService/Submit";
    serving("grpc-stream", |address| {
        run(async move {
            let channel = channel(address).await;
            let path = |path: &'static str| http::uri::PathAndQuery::from_static(path);
            let mut client = tonic::client::Grpc::new(channel.clone());
            let garbage = vec![0x12, 0xff, 0xff, 0x03, 1];
            client.ready().await.unwrap();
            let refused = client.unary(tonic::Request::new(garbage.clone()), path(SUBMIT), Raw).await;
            assert_eq!(refused.unwrap_err().code(), Code::InvalidArgument);
            client.ready().await.unwrap();
            let votes = tonic::Request::new(stream::iter([garbage]));
            let answers = client.streaming(votes, path("/votebench.v1.VoteService/Exchange"), Raw).await;
            let answer = answers.unwrap().into_inner().next().await.unwrap();
            assert_eq!(answer.unwrap_err().code(), Code::InvalidArgument);
            client.ready().await.unwrap();
            let refused =
                client.unary(tonic::Request::new(Vec::new()), path("/votebench.v1.VoteService/Withdraw"), Raw);
            assert_eq!(refused.await.unwrap_err().code(), Code::Unimplemented);

            let whole = b"\0\0\0\0\x05\x08\x2a";
            for body in [&b"\0\xff\xff\xff\xffxx"[..], whole, b"\x01\0\0\0\x01x", b"\0\0", b""] {
                let request = http::Request::post(format!("http://{address}{SUBMIT}"))
                    .header("content-type", "application/grpc")
                    .body(tonic::body::Body::new(jsonrpsee::server::HttpBody::from(body.to_vec())));
                let mut channel = channel.clone();
                std::future::poll_fn(|cx| channel.poll_ready(cx)).await.unwrap();
                let response = channel.call(request.unwrap()).await.unwrap();
                let status = Status::from_header_map(response.headers()).unwrap();
                assert_eq!(status.code(), Code::InvalidArgument, "{body:x?}: {status}");
            }
            let answer = VoteServiceClient::new(channel).submit(canonical()).await.unwrap();
            assert_eq!(Vote::try_from(answer.get_ref()), Ok(Vote::canonical().answer()));
        });
    });
}

#[test]
fn grpc_describes_itself() {
    use tonic_reflection::pb::v1::server_reflection_client::ServerReflectionClient;
    use tonic_reflection::pb::v1::server_reflection_request::MessageRequest;
    use tonic_reflection::pb::v1::server_reflection_response::MessageResponse;
    use tonic_reflection::pb::v1::{ServerReflectionRequest, ServiceResponse};
    serving("grpc", |address| {
        run(async move {
            let mut client = ServerReflectionClient::new(channel(address).await);
            let ask = |message_request| ServerReflectionRequest {
                host: String::new(),
                message_request: Some(message_request),
            };
            let requests = stream::iter([
                ask(MessageRequest::ListServices(String::new())),
                ask(MessageRequest::FileContainingSymbol("votebench.v1.VoteService".to_owned())),
            ]);
            let mut answers = client.server_reflection_info(requests).await.unwrap().into_inner();
            let mut next = async || answers.message().await.unwrap().unwrap().message_response.unwrap();
            let MessageResponse::ListServicesResponse(list) = next().await else { panic!("no list") };
            let service = ServiceResponse { name: "votebench.v1.VoteService".to_owned() };
            assert!(list.service.contains(&service), "{list:?}");
            let MessageResponse::FileDescriptorResponse(files) = next().await else { panic!("no file") };
            assert_eq!(files.file_descriptor_proto.len(), 1);
        });
    });
}
