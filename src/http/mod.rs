//! The HTTP study: five arms that answer the same request, one a file. Owns the list of them; how they are driven and measured
//! is [`measure::http`](crate::measure::http)'s.
//!
//! | module | owns |
//! | --- | --- |
//! | [`hyper`] | the arm `hyper`: the everywhere baseline |
//! | [`pooled_http`] | the arm `pooled-http`: HTTP/1.1 with pooled objects |
//! | [`zap_http`] | the arm `zap-http`: the same objects on the ZAP wire |
//! | [`native_zap`] | the arm `native-zap`: a typed ZAP message |
//! | [`floor`] | the arm `floor`: bytes echoed unread |
//! | [`workload`] | the five requests |
//! | [`published`] | what the paper says about their bytes |
//! | [`message`] | requests, responses, and their pools |
//! | [`handler`] | the handler that both pooled arms share |
//! | `pooled` | their loops over a wire |
//! | `head`, `lines`, `chunked` | HTTP/1.1 as strictly as RFC 9112 asks |
//! | `syntax` | what names, values, hosts and targets may be, on either wire |
//! | `patience` | how long a peer is waited for |
//! | [`refusal`], [`error`] | what is refused, and what goes wrong |
//! | `inbox`, `outbox`, `frame` | what has arrived on a connection; what is written; the ZAP arms' frames |

mod chunked;
pub mod error;
pub mod floor;
mod frame;
pub mod handler;
mod head;
pub mod hyper;
mod inbox;
mod lines;
pub mod message;
pub mod native_zap;
mod outbox;
mod patience;
mod pooled;
pub mod pooled_http;
pub mod published;
pub mod refusal;
mod syntax;
pub mod workload;
pub mod zap_http;

use std::io;
use std::net::SocketAddr;

use tokio::net::TcpStream;

use crate::measure::arm::{Arm, ArmInfo, ArmVisitor, Arms, Published, WorkloadInfo};

/// Bytes of a head, from the request line to the empty line; of the fields behind a body, too.
pub const HEAD_LIMIT: usize = 16 << 10;

/// Bytes of a body.
pub const BODY_LIMIT: usize = 8 << 20;

/// The study's arms.
#[derive(Clone, Copy, Debug)]
pub struct Study;

macro_rules! arms {
    ($($arm:ty),* $(,)?) => {
        impl Arms for Study {
            fn infos(self) -> Vec<ArmInfo> {
                vec![$(<$arm as Arm>::INFO),*]
            }

            fn workloads(self) -> Vec<WorkloadInfo> {
                let info = |workload: &workload::Workload| WorkloadInfo {
                    name: workload.name,
                    body: workload.body.clone(),
                    headers: workload.headers,
                };
                workload::all().iter().map(info).collect()
            }

            fn published(self, arm: &str, workload: &str) -> Option<Published> {
                published::request_bytes(arm, workload)
            }

            fn visit<V: ArmVisitor>(self, name: &str, visitor: V) -> Option<V::Output> {
                $(if name == <$arm as Arm>::INFO.name {
                    return Some(visitor.visit::<$arm>());
                })*
                None
            }
        }
    };
}

arms!(hyper::Hyper, pooled_http::PooledHttp, zap_http::ZapHttp, native_zap::NativeZap, floor::Floor);

/// Connects without Nagle's delay.
async fn connect(address: SocketAddr) -> io::Result<TcpStream> {
    let stream = TcpStream::connect(address).await?;
    stream.set_nodelay(true)?;
    Ok(stream)
}
