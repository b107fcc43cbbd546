"""The QUIC rows by aioquic: a stream a message, one stream of messages with lengths, and datagrams."""

import struct

from .checks import demand, equal, refused
from .formats import QuicRaw, Zap
from .framed import LIMIT, frame, length
from .quic_client import dial, run
from .votes import CANONICAL, VOTES, answer_to, numbered

IN_FLIGHT = 200
# The codes by which a client is told what was wrong: no vote, too long, nothing at all.
NO_VOTE, TOO_LONG, EMPTY = 1, 2, 3
# QUIC's own codes for an alert of TLS are this and the alert.
CRYPTO_ERROR = 0x100
BAD_CERTIFICATE, NO_APPLICATION_PROTOCOL = 42, 120


def check(checks, server):
    for row, talker in {"quic-raw": RawTalker, "quic-raw-plain": RawTalker, "zap+quic": ZapTalker}.items():
        check_stream_a_message(checks, server, row, talker)
    check_long_stream(checks, server, "quic-raw-stream")
    check_datagrams(checks, server, "quic-raw-datagram")
    for row in ["quic-raw", "quic-raw-plain", "quic-raw-stream", "quic-raw-datagram", "zap+quic"]:
        check_handshake(checks, server, row)


class RawTalker:
    """One connection's messages in the row's own format: the header counts them, an answer has its vote's number."""

    def __init__(self):
        self.of = QuicRaw()

    def message(self, vote):
        """The message, and how to read the answer to it."""
        sequence = self.of.sequence
        return self.of.write(vote), lambda answer: self.of.read_answer_to(sequence, answer)

    def bad_messages(self):
        good = self.of.write(CANONICAL)
        return {
            "a body length of 144": self.of.write(CANONICAL, length=144),
            "kind 0": self.of.write(CANONICAL, kind=0),
            "kind 2, an answer's": self.of.write(CANONICAL, kind=2),
            "kind 3": self.of.write(CANONICAL, kind=3),
            "flags": self.of.write(CANONICAL, flags=1),
            "a header alone": good[:16],
            "half a header": good[:8],
            "a body that ends too soon": good[:-1],
            "a byte too many": good + b"\0",
            "noise": b"\xff" * len(good),
        }


class ZapTalker:
    """One connection's ZAP messages."""

    def __init__(self):
        self.of = Zap()

    def message(self, vote):
        return self.of.write(vote), self.of.read

    def bad_messages(self):
        good = self.of.write(CANONICAL)
        return {
            "a message that ends too soon": good[:-1],
            "a byte too many": good + b"\0",
            "noise": b"\xff" * len(good),
        }


async def demand_answered(client, talker, vote=CANONICAL):
    message, read = talker.message(vote)
    stream = client.open()
    client.send(stream, message, end=True)
    equal(read(await client.to_end(stream)), answer_to(vote), "the answer")


async def answers_every_vote(server, row, talker, demand_one):
    async with dial(server, row) as client:
        for vote in VOTES:
            await demand_one(client, talker, vote)


def check_stream_a_message(checks, server, row, new_talker):
    def every_vote():
        return answers_every_vote(server, row, new_talker(), demand_answered)

    async def answers_each_when_it_is_whole():
        talker = new_talker()
        async with dial(server, row) as client:
            streams = [(client.open(), vote, *talker.message(vote)) for vote in numbered(IN_FLIGHT)]
            for stream, _, message, _ in streams:
                client.send(stream, message[:100])
            # The first one stays incomplete, and the others are ended backwards.
            for stream, _, message, _ in streams[:0:-1]:
                client.send(stream, message[100:], end=True)
            for stream, vote, _, read in streams[1:]:
                equal(read(await client.to_end(stream)), answer_to(vote), "the answer")
            stream, vote, message, read = streams[0]
            equal(client.received[stream], b"", "what is said on a stream that has not ended")
            for byte in message[100:]:
                client.send(stream, bytes([byte]))
            client.send(stream, b"", end=True)
            equal(read(await client.to_end(stream)), answer_to(vote), "the answer")

    async def resets_bad_streams_only():
        talker = new_talker()
        async with dial(server, row) as client:
            for what, bad in talker.bad_messages().items():
                stream = client.open()
                client.send(stream, bad, end=True)
                equal(await client.reset_of(stream), NO_VOTE, f"the code for {what}")
                await demand_answered(client, talker)
            stream = client.open()
            client.send(stream, b"", end=True)
            equal(await client.reset_of(stream), EMPTY, "the code for an empty stream")
            await demand_answered(client, talker)

    checks.check(row, "answers every golden vote, a stream each", lambda: run(every_vote))
    checks.check(row, f"answers {IN_FLIGHT} streams, each when it is whole", lambda: run(answers_each_when_it_is_whole))
    checks.check(row, "resets the stream of what is no vote, and no other", lambda: run(resets_bad_streams_only))


async def demand_next(client, stream, read, vote):
    (size,) = struct.unpack(">I", await client.exactly(stream, 4))
    equal(read(await client.exactly(stream, size)), answer_to(vote), "the answer")


def check_long_stream(checks, server, row):
    async def answers_in_order():
        talker = RawTalker()
        async with dial(server, row) as client:
            stream = client.open()
            votes = VOTES + numbered(IN_FLIGHT)
            messages = [talker.message(vote) for vote in votes]
            client.send(stream, b"".join(frame(message) for message, _ in messages))
            for vote, (_, read) in zip(votes, messages):
                await demand_next(client, stream, read, vote)
            client.send(stream, b"", end=True)
            equal(await client.to_end(stream), b"", "what follows the last answer")

    async def takes_single_bytes():
        talker = RawTalker()
        async with dial(server, row) as client:
            stream = client.open()
            for vote in VOTES[:2]:
                message, read = talker.message(vote)
                for byte in frame(message):
                    client.send(stream, bytes([byte]))
                await demand_next(client, stream, read, vote)

    async def resets_bad_streams_only():
        talker = RawTalker()

        async def demand_answered_on(client, stream):
            message, read = talker.message(CANONICAL)
            client.send(stream, frame(message))
            await demand_next(client, stream, read, CANONICAL)

        bad_messages = {what: (frame(bad), NO_VOTE) for what, bad in talker.bad_messages().items()}
        bad_messages |= {"a length of 0": (length(0), EMPTY), "a length over the limit": (length(LIMIT + 1), TOO_LONG)}
        async with dial(server, row) as client:
            bystander = client.open()
            for what, (bad, code) in bad_messages.items():
                stream = client.open()
                await demand_answered_on(client, stream)
                client.send(stream, bad)
                equal(await client.reset_of(stream), code, f"the code for {what}")
                await demand_answered_on(client, bystander)

    checks.check(row, f"answers {IN_FLIGHT} votes of one write in their order", lambda: run(answers_in_order))
    checks.check(row, "takes messages byte by byte", lambda: run(takes_single_bytes))
    checks.check(
        row, "resets the stream of a bad length or message, and no other", lambda: run(resets_bad_streams_only)
    )


def check_datagrams(checks, server, row):
    async def demand_datagram_answered(client, talker, vote=CANONICAL):
        message, read = talker.message(vote)
        client.send_datagram(message)
        equal(read(await client.datagram()), answer_to(vote), "the answer")

    def every_vote():
        return answers_every_vote(server, row, RawTalker(), demand_datagram_answered)

    async def closes_at_a_bad_one():
        async with dial(server, row) as bystander:
            bystander_talker = RawTalker()
            bad_messages = {what: (bad, NO_VOTE) for what, bad in RawTalker().bad_messages().items()}
            for what, (bad, code) in {**bad_messages, "nothing": (b"", EMPTY)}.items():
                async with dial(server, row) as client:
                    await demand_datagram_answered(client, RawTalker())
                    client.send_datagram(bad)
                    end = await client.end()
                    # No frame type: it is the application that closes, not QUIC.
                    equal((end.error_code, end.frame_type), (code, None), f"how {what} closes the connection")
                    demand(end.reason_phrase, f"no reason is given for {what}")
                await demand_datagram_answered(bystander, bystander_talker)

    checks.check(row, "answers every golden vote, a datagram each", lambda: run(every_vote))
    checks.check(row, "closes the connection of what is no vote, and no other", lambda: run(closes_at_a_bad_one))


def check_handshake(checks, server, row):
    def fails(code, **options):
        clients = []

        async def talk():
            async with dial(server, row, kept=clients, **options):
                pass

        def action():
            clients.clear()
            refused(lambda: run(talk), ConnectionError, f"a client with {options}")
            equal(clients[0].closed.error_code, CRYPTO_ERROR + code, "the code that ends the handshake")

        return action

    checks.check(row, "speaks to nobody who asks for another protocol", fails(NO_APPLICATION_PROTOCOL, alpn="h3"))
    checks.check(row, "is believed only by who was given its certificate", fails(BAD_CERTIFICATE, certificate=False))
