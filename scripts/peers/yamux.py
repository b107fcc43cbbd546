"""A yamux client on a blocking socket, by https://github.com/hashicorp/yamux/blob/master/spec.md.

A frame is a header of 12 bytes, big-endian (version, type, flags, stream, length); behind one of type data come that many
bytes, and behind no other.
Nothing here runs by itself: `Session.pump` takes one frame from the server and does what it asks for.
"""

import socket
import struct

from .checks import PATIENCE, Wrong, demand, equal

HEADER = struct.Struct(">BBHII")
DATA, WINDOW_UPDATE, PING, GO_AWAY = range(4)
SYN, ACK, FIN, RST = 1, 2, 4, 8
# Bytes that either side may send on a new stream before the other says more.
WINDOW = 256 << 10


class Session:
    """One connection. `go_away` is the server's reason to go, once it has given one: 0 if nothing is wrong."""

    def __init__(self, address):
        self.socket = socket.create_connection(address, PATIENCE)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.input = self.socket.makefile("rb")
        self.streams = {}
        self.next_id = 1
        self.pongs = []
        self.go_away = None

    def open(self, announced=False):
        """A new stream, announced by its first data, as rust-yamux does, or at once by itself, as Go's does."""
        stream = Stream(self, self.next_id)
        self.streams[stream.id] = stream
        self.next_id += 2
        if announced:
            self.send(WINDOW_UPDATE, stream.take_syn(), stream.id, 0)
        return stream

    def ping(self, value):
        """Asks the server for `value` back."""
        self.send(PING, SYN, 0, value)
        self.pump_until(lambda: self.pongs)
        equal(self.pongs.pop(0), value, "the value of a ping's answer")

    def send(self, kind, flags, stream, length, body=b""):
        self.socket.sendall(HEADER.pack(0, kind, flags, stream, length) + body)

    def pump_until(self, condition):
        while not condition():
            demand(self.pump(), "the server has closed the connection")

    def pump(self):
        """Takes one frame; False where the server has closed the connection."""
        try:
            header = self.input.read(HEADER.size)
        except ConnectionResetError:
            return False
        if not header:
            return False
        equal(len(header), HEADER.size, "the length of a last header")
        version, kind, flags, stream, length = HEADER.unpack(header)
        equal(version, 0, "yamux's version")
        demand(flags & ~(SYN | ACK | FIN | RST) == 0, f"flags {flags:#x}")
        body = self.input.read(length) if kind == DATA else b""
        if kind == PING:
            self.take_ping(flags, length)
        elif kind == GO_AWAY:
            self.go_away = length
        elif kind in [DATA, WINDOW_UPDATE]:
            demand(stream in self.streams, f"a frame of stream {stream}, which was never opened")
            self.streams[stream].take(kind, flags, length, body)
        else:
            raise Wrong(f"a frame of type {kind}")
        return True

    def take_ping(self, flags, value):
        if flags & SYN:
            self.send(PING, ACK, 0, value)
        else:
            equal(flags, ACK, "the flags of a ping's answer")
            self.pongs.append(value)

    def demand_closed(self, what):
        """The server closes, after whatever else it has to say; saying that it goes, and why, is as good.

        Where it has not read all that was sent, which a server without a buffer of its own has not, closing is a reset."""
        try:
            while not self.go_away and self.pump():
                pass
        except ConnectionResetError:
            pass
        except TimeoutError:
            raise Wrong(f"{what} does not close the connection") from None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.input.close()
        self.socket.close()


class Stream:
    """One stream: what has arrived, and how it has ended."""

    def __init__(self, session, number):
        self.session = session
        self.id = number
        self.syn = SYN
        self.acknowledged = False
        self.received = bytearray()
        self.ended = False
        self.reset = False
        self.send_window = WINDOW
        self.receive_window = WINDOW

    def take_syn(self):
        syn, self.syn = self.syn, 0
        return syn

    def write(self, bytes_, flags=0):
        """Sends `bytes_`, waiting for the server's window where that is full; `flags` go with the last of them."""
        rest = memoryview(bytes_)
        while True:
            if not self.send_window and rest:
                self.session.pump_until(lambda: self.send_window or self.reset)
                demand(not self.reset, "the stream was reset")
            piece, rest = rest[: self.send_window], rest[self.send_window :]
            self.send_window -= len(piece)
            last = flags if not rest else 0
            self.session.send(DATA, self.take_syn() | last, self.id, len(piece), piece)
            if not rest:
                return

    def end(self, by=DATA):
        self.session.send(by, self.take_syn() | FIN, self.id, 0)

    def abort(self):
        self.session.send(WINDOW_UPDATE, RST, self.id, 0)

    def take(self, kind, flags, length, body):
        demand(not self.ended, f"a frame of stream {self.id} after its end")
        self.acknowledged |= bool(flags & ACK)
        self.ended |= bool(flags & FIN)
        self.reset |= bool(flags & RST)
        if kind == WINDOW_UPDATE:
            self.send_window += length
            return
        equal(len(body), length, "the length of a last frame")
        demand(length <= self.receive_window, "more bytes than the window allows")
        self.received += body
        self.receive_window -= length
        if self.receive_window < WINDOW // 2 and not self.ended:
            self.session.send(WINDOW_UPDATE, 0, self.id, WINDOW - self.receive_window)
            self.receive_window = WINDOW

    def exactly(self, size):
        """The next `size` bytes."""
        self.session.pump_until(lambda: len(self.received) >= size or self.ended or self.reset)
        demand(
            len(self.received) >= size,
            "the stream has ended before its answer" if self.ended else "the stream was reset",
        )
        bytes_ = bytes(self.received[:size])
        del self.received[:size]
        return bytes_

    def to_end(self):
        """Everything up to the end of the stream."""
        self.session.pump_until(lambda: self.ended or self.reset)
        demand(not self.reset, "the stream was reset")
        demand(self.acknowledged, "the stream was never acknowledged")
        return bytes(self.received)
