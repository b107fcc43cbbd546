//! `floor`: the framing of `native-zap`, as many bytes as its request, echoed unread. No message, no headers, no dispatch: a lower
//! bound on what the sockets cost, and not a protocol. The client compares the whole echo, as every arm's checks its response.

use std::net::SocketAddr;

use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;

use super::error::HttpError;
use super::inbox::Inbox;
use super::{connect, frame, native_zap, workload};
use crate::measure::arm::{Arm, ArmInfo, Exchange};
use crate::zap::Builder;

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
            let workload = workload::by_name(workload)?;
            let mut builder = Builder::new();
            let message = native_zap::request(&workload, &mut builder)?;
            let length = u32::try_from(message.len()).map_err(|_| HttpError::DoesNotFit)?;
            let bytes = [&length.to_be_bytes(), message].concat();
            Ok::<_, HttpError>(Client { stream: connect(address).await?, inbox: Inbox::default(), bytes })
        };
        client.await.map_err(|error| error.to_string())
    }

    async fn answer(stream: TcpStream) -> Result<(), String> {
        serve(stream).await.map_err(|error| error.to_string())
    }
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
    bytes: Vec<u8>,
}

impl Client {
    async fn exchange(&mut self) -> Result<(), HttpError> {
        self.stream.write_all(&self.bytes).await?;
        let length = frame::next(&mut self.stream, &mut self.inbox).await?.ok_or(HttpError::EndsEarly)?;
        let whole = frame::LENGTH_BYTES + length;
        let right = self.inbox.bytes()[..whole] == self.bytes;
        self.inbox.take(whole);
        if right { Ok(()) } else { Err(HttpError::WrongResponse) }
    }
}

impl Exchange for Client {
    async fn exchange(&mut self) -> Result<(), String> {
        Self::exchange(self).await.map_err(|error| error.to_string())
    }
}
