//! Which measurement answers which figure of the papers, fixed here before anything is measured. Owns this table and nothing
//! else: read it with a paper in one hand. How an answer is looked up is [`lookup`](super::lookup)'s, how it is judged
//! [`verdict`](super::verdict)'s. A test fails where a figure of a claims file has neither an answer here nor a reason.

use super::answer::{Answer, Column, Judging, Name, Reference, Saying, Shape, Table};

const ZAP: Reference = Reference::Row("zap");
const HTTP: Reference = Reference::Column("http/1.1");

/// An absolute rate: its order and ratio are those of the time that it is made of.
const RATE: Judging = Judging::Shown("judged as ns/op");
/// That a format can be read without allocating is a property of it; how often a library allocates is one of the library.
const GO: &str = "Go's library, not this one";

/// As the claims file says itself: only its wire bytes are comparable figure by figure.
const PROCESS: &str = "a Go process, not a Rust one";
const SUSTAINED: [&str; 2] = ["batched", "each"];
const WAITS: [&str; 2] = ["block", "poll"];

/// The papers' tables, with the name that a reader finds them by, and what a row of theirs is set against.
pub const TABLES: &[Table] = &[
    Table { name: "encode", title: "Encode (tab:encode)", against: Some(ZAP) },
    Table { name: "decode", title: "Decode (tab:decode)", against: Some(ZAP) },
    Table { name: "wire_size", title: "Wire size (tab:wiresize)", against: Some(ZAP) },
    Table { name: "round_trip", title: "Round trip (tab:latency)", against: Some(ZAP) },
    Table { name: "sustained", title: "Under sustained load (tab:latency-load)", against: Some(ZAP) },
    Table { name: "workloads", title: "The HTTP study's workloads", against: None },
    Table { name: "wire_bytes", title: "Wire bytes of an HTTP request", against: Some(HTTP) },
    Table { name: "bytes_per_request", title: "Bytes allocated per HTTP request", against: None },
    Table { name: "allocs_per_request", title: "Allocations per HTTP request", against: None },
];

/// Every column of every table.
pub const COLUMNS: &[Column] = &[
    // The papers' loops ran back to back, as `stream` does; `chained` is a codec's latency, and the headline here.
    Column::new(
        "encode",
        "ops_per_s",
        "ops/sec",
        "1/s",
        &[codec("stream", "encode", "stream").shape(Shape::PerSecond).judged(RATE)],
    ),
    Column::new(
        "encode",
        "encode_ns",
        "ns/op",
        "ns/op",
        &[codec("stream", "encode", "stream"), codec("chained", "encode", "chained")],
    ),
    Column::new("encode", "bytes_per_msg", "bytes/msg", "B", &ENCODED),
    Column::new(
        "encode",
        "throughput",
        "MB/s",
        "MB/s",
        &[codec("stream, times the message's bytes", "encode", "stream").shape(Shape::Megabytes).judged(RATE)],
    ),
    // The papers set ZAP's header check against protobuf's full parse: that is `open`. Like for like is `read`.
    Column::new(
        "decode",
        "ops_per_s",
        "ops/sec",
        "1/s",
        &[
            codec("open, stream", "open", "stream").shape(Shape::PerSecond).judged(RATE),
            codec("read, stream", "read", "stream").shape(Shape::PerSecond).judged(RATE),
        ],
    ),
    Column::new(
        "decode",
        "decode_ns",
        "ns/op",
        "ns/op",
        &[
            codec("open, stream", "open", "stream"),
            codec("open, chained", "open", "chained"),
            codec("read, stream", "read", "stream"),
            codec("read, chained", "read", "chained"),
        ],
    ),
    Column::new(
        "decode",
        "allocs_per_op",
        "allocs/op",
        "1/op",
        &[counted("open", "allocations"), counted("read", "allocations")],
    ),
    Column::new(
        "decode",
        "alloc_bytes_per_op",
        "B/op",
        "B/op",
        &[counted("open", "allocated-bytes"), counted("read", "allocated-bytes")],
    ),
    Column::new("wire_size", "wire_bytes", "Wire bytes", "B", &WIRE),
    Column::new(
        "wire_size",
        "overhead_percent",
        "Overhead",
        "%",
        &[
            message("message").shape(Shape::OverPayload).judged(Judging::Count(1)),
            message("without its frame").shape(Shape::OverPayload).judged(Judging::Count(1)).of(UNFRAMED),
        ],
    ),
    Column::new("round_trip", "p50", "p50", "us", &[median("block"), median("poll")]),
    Column::new("round_trip", "p95", "p95", "us", &[round_trip("block", "p95"), round_trip("poll", "p95")]),
    Column::new("round_trip", "p99", "p99", "us", &[round_trip("block", "p99"), round_trip("poll", "p99")]),
    Column::new("round_trip", "p99_9", "p99.9", "us", &[round_trip("block", "p99_9"), round_trip("poll", "p99_9")]),
    // Constant arrivals are the papers', and hide queueing; Poisson is what this suite takes by itself.
    Column::new(
        "sustained",
        "p99_1min",
        "p99, 1 min",
        "us",
        &[minute("constant", "response-minute-1"), minute("poisson", "response-minute-1")],
    ),
    Column::new(
        "sustained",
        "p99_10min",
        "p99, 10 min",
        "us",
        &[minute("constant", "response-minute-10"), minute("poisson", "response-minute-10")],
    ),
    Column::new(
        "sustained",
        "p99_60min",
        "p99, 60 min",
        "us",
        &[minute("constant", "response-minute-60"), minute("poisson", "response-minute-60")],
    ),
    Column::without("sustained", "gc_pauses", "GC pauses", "1", "no garbage collector in Rust"),
    Column::without("workloads", "body", "body", "B", "an input; a test holds ours to it"),
    Column::without("workloads", "headers", "headers", "1", "an input; a test holds ours to it"),
    // The paper's arms have these counterparts: net/http is hyper, fasthttp is pooled-http, the others have their names.
    Column::new("wire_bytes", "http/1.1", "HTTP/1.1", "B", &[request("pooled-http"), request("hyper")]),
    Column::new("wire_bytes", "zap-http", "ZAP-HTTP", "B", &[request("zap-http")]),
    Column::new("wire_bytes", "native-zap", "Native ZAP", "B", &[request("native-zap")]),
    Column::new("bytes_per_request", "net/http", "net/http", "B", &[allocated("hyper", "allocated-bytes")]),
    Column::new("bytes_per_request", "fasthttp", "fasthttp", "B", &[allocated("pooled-http", "allocated-bytes")]),
    Column::new("bytes_per_request", "zap-http", "ZAP-HTTP", "B", &[allocated("zap-http", "allocated-bytes")]),
    Column::new("bytes_per_request", "native-zap", "Native ZAP", "B", &[allocated("native-zap", "allocated-bytes")]),
    Column::new("bytes_per_request", "floor", "Floor", "B", &[allocated("floor", "allocated-bytes")]),
    Column::new("allocs_per_request", "net/http", "net/http", "1", &[allocated("hyper", "allocations")]),
    Column::new("allocs_per_request", "fasthttp", "fasthttp", "1", &[allocated("pooled-http", "allocations")]),
    Column::new("allocs_per_request", "zap-http", "ZAP-HTTP", "1", &[allocated("zap-http", "allocations")]),
    Column::new("allocs_per_request", "native-zap", "Native ZAP", "1", &[allocated("native-zap", "allocations")]),
    Column::new("allocs_per_request", "floor", "Floor", "1", &[allocated("floor", "allocations")]),
];

/// What the papers say in words, known by what their claims file says that it is `of`.
pub const SAYINGS: &[(&str, Saying)] = &[
    ("decode_ns grpc / decode_ns zap", ratio("decode", "decode_ns", "grpc")),
    ("decode_ns json-rpc / decode_ns zap", ratio("decode", "decode_ns", "json-rpc")),
    ("encode_ns flatbuffers / encode_ns zap (26.0/23.8 is 1.09)", ratio("encode", "encode_ns", "flatbuffers")),
    ("encode_ns capnp / encode_ns zap (32.1/23.8 is 1.35)", ratio("encode", "encode_ns", "capnp")),
    ("encode_ns json-rpc / encode_ns zap", ratio("encode", "encode_ns", "json-rpc")),
    ("round_trip p50 grpc / zap", ratio("round_trip", "p50", "grpc")),
    ("round_trip p50 json-rpc / zap", ratio("round_trip", "p50", "json-rpc")),
    ("round_trip p99 grpc / zap", ratio("round_trip", "p99", "grpc")),
    ("round_trip p99_9 grpc / zap", ratio("round_trip", "p99_9", "grpc")),
    ("round_trip p99", Saying::Bound),
    (
        "sustained p99_60min / p99_1min (20.3/19.8 is 2.5 percent)",
        Saying::Growth { rows: &["zap", "grpc", "json-rpc"], from: "p99_1min", to: "p99_60min" },
    ),
    ("relation", Saying::Without("it is about Go's runtime; what this one allocates stands in the two tables above")),
    ("throughput", Saying::Without("the paper prints no rate, so that there is none to check")),
];

/// Figures that the source itself contradicts: table, column, row (all where there is none), and the number of the sentence
/// that says so in its list of contradictions.
pub const CONTRADICTED: &[(&str, &str, Option<&str>, usize)] = &[
    ("encode", "bytes_per_msg", None, 1),
    ("wire_size", "wire_bytes", None, 1),
    ("encode", "throughput", None, 3),
    ("round_trip", "p99", Some("zap"), 4),
    ("sustained", "p99_1min", Some("zap"), 5),
    ("sustained", "p99_1min", Some("grpc"), 5),
    ("sustained", "p99_1min", Some("protobuf-mux"), 5),
    ("sustained", "p99_1min", Some("json-rpc"), 5),
    ("sustained", "p99_60min", Some("zap"), 6),
    ("sustained", "gc_pauses", Some("grpc"), 7),
    ("sustained", "gc_pauses", Some("json-rpc"), 7),
    ("wire_bytes", "http/1.1", Some("tiny"), 1),
];

/// Rows for which the paper's words and its name for the row mean two things: protobuf's message behind gRPC's prefix or
/// without it, a JSON-RPC request or the vote in it.
const UNFRAMED: Name = Name::Only(&[("grpc", "protobuf"), ("json-rpc", "json")]);

const ENCODED: [Answer; 2] = [message("message"), message("without its frame").of(UNFRAMED)];

const WIRE: [Answer; 3] = [
    message("message"),
    message("without its frame").of(UNFRAMED),
    Answer::new("carried by the connection", "latency", "carried-bytes")
        .side("client")
        .judged(Judging::Shown("the paper's are the message's alone")),
];

/// A time of the serialization suite.
const fn codec(reading: &'static str, model: &'static str, row: &'static str) -> Answer {
    let answer = Answer::new(reading, "serialization", "time").model(model);
    match row.as_bytes()[0] {
        b's' => answer.rows(&["stream"]),
        _ => answer.rows(&["chained"]),
    }
}

/// A count of the serialization suite.
const fn counted(model: &'static str, metric: &'static str) -> Answer {
    Answer::new(model, "serialization", metric).model(model).judged(Judging::Zero(GO))
}

/// The bytes of the canonical vote's message.
const fn message(reading: &'static str) -> Answer {
    Answer::new(reading, "serialization", "wire-bytes").judged(Judging::Exact)
}

/// The median round trip, of which a run keeps every block, so that rows can be set against each other block by block.
const fn median(wait: &'static str) -> Answer {
    Answer::new(wait, "latency", "round-trip-p50").waits(only_wait(wait)).shape(Shape::Microseconds)
}

/// Another percentile of the round trips.
const fn round_trip(wait: &'static str, percentile: &'static str) -> Answer {
    let answer = Answer::new(wait, "latency", "round-trip").waits(only_wait(wait));
    answer.percentile(percentile).shape(Shape::Microseconds)
}

const fn only_wait(wait: &str) -> &'static [&'static str] {
    match wait.as_bytes()[0] {
        b'b' => &["block"],
        _ => &["poll"],
    }
}

/// The 99th percentile of a minute under 50,000 messages a second; where a run has several, votes written together and a server
/// that sleeps come first.
const fn minute(arrivals: &'static str, metric: &'static str) -> Answer {
    let answer = Answer::new(arrivals, "sustained", metric).rows(&SUSTAINED).waits(&WAITS).percentile("p99");
    answer.load(50_000.0, arrivals).shape(Shape::Microseconds)
}

/// The bytes of an arm's request on its socket.
const fn request(arm: &'static str) -> Answer {
    Answer::new(arm, "http", "request-wire-bytes").of(Name::Arm(arm)).judged(Judging::Exact)
}

/// What an arm allocates for a request, client and server together.
const fn allocated(arm: &'static str, metric: &'static str) -> Answer {
    Answer::new(arm, "http", metric).of(Name::Arm(arm)).judged(Judging::NotComparable(PROCESS))
}

const fn ratio(table: &'static str, column: &'static str, row: &'static str) -> Saying {
    Saying::Ratio { table, column, row, against: "zap" }
}
