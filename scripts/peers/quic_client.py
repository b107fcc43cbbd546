"""A QUIC client on aioquic: streams and datagrams as they arrive, and how each has ended."""

import asyncio
import logging
from collections import defaultdict, deque

from aioquic.asyncio import QuicConnectionProtocol, connect
from aioquic.quic import events
from aioquic.quic.configuration import QuicConfiguration

from .checks import PATIENCE, demand

ALPN = "votebench/1"
# What aioquic logs is also what its calls fail with.
logging.getLogger("quic").setLevel(logging.CRITICAL)


def run(talk):
    """Runs the coroutine that `talk` makes, as long as anybody has patience."""
    return asyncio.run(asyncio.wait_for(talk(), PATIENCE))


def dial(server, row, alpn=ALPN, certificate=True, kept=None):
    """Connects to `row` and checks its certificate; for `async with`. `kept` gets the client even where that fails."""

    def client(*arguments, **options):
        made = Client(*arguments, **options)
        if kept is not None:
            kept.append(made)
        return made

    configuration = QuicConfiguration(is_client=True, alpn_protocols=[alpn], max_datagram_frame_size=65_535)
    if certificate:
        configuration.load_verify_locations(cafile=str(server.certificate))
    host, port = server.addresses[row]
    return connect(host, port, configuration=configuration, create_protocol=client)


class Client(QuicConnectionProtocol):
    def __init__(self, *arguments, **options):
        super().__init__(*arguments, **options)
        self.received = defaultdict(bytes)
        self.ended = set()
        self.resets = {}
        self.datagrams = deque()
        self.closed = None
        self.news = asyncio.Event()

    def quic_event_received(self, event):
        if isinstance(event, events.StreamDataReceived):
            self.received[event.stream_id] += event.data
            if event.end_stream:
                self.ended.add(event.stream_id)
        elif isinstance(event, events.StreamReset):
            self.resets[event.stream_id] = event.error_code
        elif isinstance(event, events.DatagramFrameReceived):
            self.datagrams.append(event.data)
        elif isinstance(event, events.ConnectionTerminated):
            self.closed = event
        self.news.set()

    async def until(self, condition):
        while not condition():
            demand(self.closed is None, f"the connection was closed: {self.closed}")
            self.news.clear()
            await self.news.wait()

    def open(self):
        """A new stream's number."""
        stream = self._quic.get_next_available_stream_id()
        # Reserves the number.
        self._quic.send_stream_data(stream, b"")
        return stream

    def send(self, stream, bytes_, end=False):
        self._quic.send_stream_data(stream, bytes_, end_stream=end)
        self.transmit()

    def send_datagram(self, bytes_):
        self._quic.send_datagram_frame(bytes_)
        self.transmit()

    async def to_end(self, stream):
        """Everything up to the end of the stream."""
        await self.until(lambda: stream in self.ended or stream in self.resets)
        demand(stream not in self.resets, f"the stream was reset with the code {self.resets.get(stream)}")
        return self.received.pop(stream, b"")

    async def exactly(self, stream, size):
        """The next `size` bytes of the stream."""
        await self.until(lambda: len(self.received[stream]) >= size or stream in self.ended or stream in self.resets)
        demand(len(self.received[stream]) >= size, "the stream is at an end before its answer")
        bytes_, self.received[stream] = self.received[stream][:size], self.received[stream][size:]
        return bytes_

    async def datagram(self):
        await self.until(lambda: self.datagrams)
        return self.datagrams.popleft()

    async def reset_of(self, stream):
        """The code with which the server gives the stream up."""
        await self.until(lambda: stream in self.ended or stream in self.resets)
        demand(stream in self.resets, f"the stream ends as if nothing were wrong, with {self.received[stream]!r}")
        demand(not self.received[stream], "the stream was answered before it was reset")
        return self.resets[stream]

    async def end(self):
        """How the server closes the connection."""
        while self.closed is None:
            self.news.clear()
            await self.news.wait()
        return self.closed
