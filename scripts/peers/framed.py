"""The framed rows by plain sockets: a 4-byte big-endian length before each message, over TCP, TLS and a Unix socket."""

import socket
import ssl
import struct

from .checks import PATIENCE, demand, equal, refused
from .formats import Capnp, FlatBuffers, Protobuf, Zap
from .votes import CANONICAL, VOTES, answer_to, numbered

# The longest message that `serve` takes unless it is told otherwise.
LIMIT = 64 << 20
IN_FLIGHT = 500


def check(checks, server):
    rows = {
        "zap": Zap,
        "flatbuffers": FlatBuffers,
        "capnp": Capnp,
        "protobuf": Protobuf,
        "zap-tls": Zap,
        "zap-uds": Zap,
        "protobuf+tcp": Protobuf,
    }
    for row, of in rows.items():
        check_votes(checks, server, row, of())
    check_zap(checks, server)
    check_tls(checks, server)
    for row in ["floor", "floor-blocking"]:
        check_floor(checks, server, row)


def check_votes(checks, server, row, of):
    def connect():
        return Framed(server, row)

    def answers_every_vote():
        with connect() as client:
            for vote in VOTES:
                client.send(frame(of.write(vote)))
                equal(of.read(client.receive()), answer_to(vote), "the answer")

    def answers_in_order():
        votes = numbered(IN_FLIGHT)
        with connect() as client:
            client.send(b"".join(frame(of.write(vote)) for vote in votes))
            for vote in votes:
                equal(of.read(client.receive()), answer_to(vote), "the answer")

    def takes_single_bytes():
        with connect() as client:
            for byte in frame(of.write(CANONICAL)) + frame(of.write(VOTES[2])):
                client.send(bytes([byte]))
            for vote in [CANONICAL, VOTES[2]]:
                equal(of.read(client.receive()), answer_to(vote), "the answer")

    def answers_who_sends_no_more():
        with connect() as client:
            client.send(frame(of.write(CANONICAL)))
            client.end()
            equal(of.read(client.receive()), answer_to(CANONICAL), "the answer")
            client.demand_closed()

    def refuses(bad_messages, logged=""):
        def action():
            good = of.write(CANONICAL)
            for bad in bad_messages(good):
                name = refuse(connect, frame(good), bad, of.read)
                server.demand_log(name, logged)

        return action

    def no_votes(good):
        return [frame(good[:-1]), frame(b"\xff" * len(good)), frame(b"\0")]

    checks.check(row, "answers every golden vote", answers_every_vote)
    checks.check(row, f"answers {IN_FLIGHT} votes of one write in their order", answers_in_order)
    checks.check(row, "takes messages byte by byte", takes_single_bytes)
    checks.check(row, "closes a length of 0", refuses(lambda _: [length(0)], "a message of 0 bytes"))
    too_long = refuses(lambda good: [length(LIMIT + 1), length(0xFFFFFFFF) + good], f"over the limit of {LIMIT}")
    checks.check(row, "closes a length over the limit", too_long)
    checks.check(row, "closes what is no vote", refuses(no_votes))
    if row != "zap-tls":  # Python's ssl cannot end one half and go on reading.
        checks.check(row, "answers whoever has ended its half", answers_who_sends_no_more)


def refuse(connect, good, bad, read):
    """`bad` closes the connection, behind the answer to what came before it in the same write, and neither the others nor
    the next one notice. What the log calls the client."""

    def demand_answered(client):
        client.send(good)
        equal(read(client.receive()), answer_to(CANONICAL), "the answer")

    with connect() as bystander, connect() as client:
        client.send(good + bad)
        equal(read(client.receive()), answer_to(CANONICAL), "the answer to what came before it")
        client.demand_closed()
        demand_answered(bystander)
        with connect() as next_client:
            demand_answered(next_client)
        return client.name


def check_zap(checks, server):
    """What the ZAP row takes and refuses beyond the vote itself."""
    zap = Zap()
    message = zap.write(CANONICAL)
    # Another root: the object lies 3 bytes further on, which is not aligned.
    moved = Zap.HEADER.pack(b"ZAP\0", 1, 0, 19, len(message) + 3) + bytes(3) + message[16:]

    def takes():
        with Framed(server, "zap") as client:
            for taken in [zap.write(CANONICAL, version=2), zap.write(CANONICAL, flags=0x0104), moved]:
                client.send(frame(taken))
                equal(zap.read(client.receive()), answer_to(CANONICAL), "the answer")

    def refuses():
        bad = {
            "version 0": zap.write(CANONICAL, version=0),
            "version 3": zap.write(CANONICAL, version=3),
            "the compressed flag": zap.write(CANONICAL, flags=1),
            "the encrypted flag": zap.write(CANONICAL, flags=2),
            "a byte behind the message": message + b"\0",
            "another magic": b"ZIP\0" + message[4:],
            "a root in the header": message[:8] + struct.pack("<I", 8) + message[12:],
        }
        for what, bytes_ in bad.items():
            with Framed(server, "zap") as client:
                client.send(frame(bytes_))
                client.demand_closed(what)

    checks.check("zap", "takes version 2, flags that it does not know, and an unaligned root", takes)
    checks.check("zap", "closes other versions, compressed, encrypted, trailing bytes, bad magic, bad root", refuses)


def check_tls(checks, server):
    zap = Zap()

    def speaks_1_3():
        with Framed(server, "zap-tls") as client:
            equal(client.socket.version(), "TLSv1.3", "the version")

    def shows_its_certificate():
        def trust_others():
            with socket.create_connection(server.addresses["zap-tls"], PATIENCE) as plain:
                ssl.create_default_context().wrap_socket(plain, server_hostname="localhost").close()

        refused(trust_others, ssl.SSLCertVerificationError, "a certificate that nobody vouches for")

    def outlives_plain_text():
        with socket.create_connection(server.addresses["zap-tls"], PATIENCE) as plain:
            plain.sendall(frame(zap.write(CANONICAL)))
            # An alert, and the end.
            while plain.recv(4_096):
                pass
        with Framed(server, "zap-tls") as client:
            client.send(frame(zap.write(CANONICAL)))
            equal(zap.read(client.receive()), answer_to(CANONICAL), "the next client's answer")

    checks.check("zap-tls", "speaks TLS 1.3", speaks_1_3)
    checks.check("zap-tls", "is believed only by who was given its certificate", shows_its_certificate)
    checks.check("zap-tls", "ends a connection in plain text", outlives_plain_text)


def check_floor(checks, server, row):
    messages = [bytes([index % 256]) * size for index, size in enumerate([161, 1, 161, 145, 5_000, 161])]

    def echoes():
        with Framed(server, row) as client:
            client.send(b"".join(frame(message) for message in messages))
            for message in messages:
                equal(client.receive(), message, "the echo")

    def takes_single_bytes():
        with Framed(server, row) as client:
            for byte in frame(b"\x5a" * 161):
                client.send(bytes([byte]))
            equal(client.receive(), b"\x5a" * 161, "the echo")

    def closes():
        for bad in [length(0), length(LIMIT + 1)]:
            with Framed(server, row) as client:
                client.send(frame(messages[0]) + bad)
                equal(client.receive(), messages[0], "the echo of what came before it")
                client.demand_closed()
        echoes()

    checks.check(row, "echoes what it is sent, in order", echoes)
    checks.check(row, "takes a message byte by byte", takes_single_bytes)
    checks.check(row, "closes lengths of 0 and over the limit", closes)


def length(value):
    return struct.pack(">I", value)


def frame(message):
    return length(len(message)) + message


class Framed:
    """A client of a framed row; `name` is what the server's log calls it."""

    def __init__(self, server, row):
        address = server.addresses[row]
        if isinstance(address, str):
            self.socket = socket.socket(socket.AF_UNIX)
            self.socket.settimeout(PATIENCE)
            self.socket.connect(address)
            self.name = "a client"
        else:
            self.socket = socket.create_connection(address, PATIENCE)
            self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self.name = "{}:{}".format(*self.socket.getsockname())
        if row == "zap-tls":
            context = ssl.create_default_context(cafile=server.certificate)
            self.socket = context.wrap_socket(self.socket, server_hostname=address[0])

    def send(self, bytes_):
        self.socket.sendall(bytes_)

    def receive(self):
        """The next message."""
        (size,) = struct.unpack(">I", self.exactly(4))
        demand(0 < size <= 1 << 20, f"an answer of {size} bytes")
        return self.exactly(size)

    def exactly(self, size):
        received = b""
        while len(received) < size:
            piece = self.socket.recv(size - len(received))
            demand(piece, f"the server has closed {size - len(received)} bytes before the end of its answer")
            received += piece
        return received

    def end(self):
        self.socket.shutdown(socket.SHUT_WR)

    def demand_closed(self, what="the bad message"):
        """The server closes, and says nothing more. Where it has not read everything, the kernel makes that a reset."""
        try:
            said = self.socket.recv(4_096)
        except (ConnectionResetError, ssl.SSLEOFError):
            return
        except TimeoutError:
            said = None
        demand(said is not None, f"{what} does not close the connection")
        equal(said, b"", f"what is said to {what}")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()
