//! `floor`: the framing of `native-zap`, as many bytes as its request, echoed unread. No message, no headers, no dispatch: a lower
//! bound on what the sockets cost, and not a protocol. The client compares the whole echo, as every arm's checks its response.

use std::net::SocketAddr;
use std::sync::LazyLock;

use bytes::Bytes;
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;

use super::error::HttpError;
use super::inbox::Inbox;
use super::{connect, frame, native_zap, workload};
use crate::measure::arm::{Arm, ArmInfo, Exchange};

/// The arm `floor`.
#[derive(Debug)]
pub struct Floor;

impl Arm for Floor {
    const INFO: ArmInfo = ArmInfo {
        name: "floor",
        summary: "the bytes of native-zap's request in the same frame, echoed unread",
        floor: true,
        settings: &[("tcp_nodelay", "on"), ("framing", "4-byte length")],
    };

    type Client = Client;

    async fn connect(address: SocketAddr, workload: &str) -> Result<Client, String> {
        let client = async {
            let bytes = frame_of(workload::by_name(workload)?.name)?;
            Ok::<_, HttpError>(Client { stream: connect(address).await?, inbox: Inbox::default(), bytes })
        };
        client.await.map_err(|error| error.to_string())
    }

    async fn answer(stream: TcpStream) -> Result<(), String> {
        serve(stream).await.map_err(|error| error.to_string())
    }
}

/// The bytes of each workload: every connection shares them, as they do the other arms' bodies.
static FRAMES: LazyLock<Vec<(&'static str, Option<Bytes>)>> = LazyLock::new(|| {
    let frame = |workload: &workload::Workload| native_zap::request_frame(workload).ok().map(Bytes::from);
    workload::all().iter().map(|workload| (workload.name, frame(workload))).collect()
});

fn frame_of(workload: &str) -> Result<Bytes, HttpError> {
    let frame = FRAMES.iter().find(|(name, _)| *name == workload).and_then(|(_, frame)| frame.clone());
    frame.ok_or(HttpError::DoesNotFit)
}

async fn serve(mut stream: TcpStream) -> Result<(), HttpError> {
    let mut inbox = Inbox::default();
    while let Some(length) = frame::next(&mut stream, &mut inbox).await? {
        let whole = frame::LENGTH_BYTES + length;
        stream.write_all(&inbox.bytes()[..whole]).await?;
        inbox.take(whole);
    }
    Ok(())
}

/// A client's end of one connection.
#[derive(Debug)]
pub struct Client {
    stream: TcpStream,
    inbox: Inbox,
    bytes: Bytes,
}

impl Client {
    async fn exchange(&mut self) -> Result<(), HttpError> {
        self.stream.write_all(&self.bytes).await?;
        let length = frame::next(&mut self.stream, &mut self.inbox).await?.ok_or(HttpError::EndsEarly)?;
        let whole = frame::LENGTH_BYTES + length;
        let right = self.inbox.bytes()[..whole] == *self.bytes;
        self.inbox.take(whole);
        if right { Ok(()) } else { Err(HttpError::WrongResponse) }
    }
}

impl Exchange for Client {
    async fn exchange(&mut self) -> Result<(), String> {
        Self::exchange(self).await.map_err(|error| error.to_string())
    }
}
