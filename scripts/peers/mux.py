"""The muxed rows by the yamux client next to this: a stream a message, and one long stream of messages with lengths."""

import struct

from . import yamux
from .checks import demand, equal
from .formats import LengthPrefixed, Zap
from .framed import LIMIT, frame, length
from .votes import CANONICAL, VOTES, answer_to, numbered

IN_FLIGHT = 200
# Votes on one stream: enough for its window to run out twice in both directions.
LONG = 4_000


def check(checks, server):
    for row, of in {
        "protobuf-mux": LengthPrefixed(),
        "protobuf-mux-plain": LengthPrefixed(),
        "zap+mux": Zap(),
    }.items():
        check_stream_a_message(checks, row, of, server.addresses[row])
        check_session(checks, row, server.addresses[row], lambda session, of=of: demand_answered(session, of))
    of = LengthPrefixed()
    for row in ["protobuf-mux-stream", "protobuf-mux-stream-plain"]:
        check_long_stream(checks, row, of, server.addresses[row])
        check_session(checks, row, server.addresses[row], lambda session: demand_framed_answer(session.open(), of))


def demand_answered(session, of, vote=CANONICAL):
    stream = session.open()
    stream.write(of.write(vote), yamux.FIN)
    equal(of.read(stream.to_end()), answer_to(vote), "the answer")


def check_stream_a_message(checks, row, of, address):
    def answers_every_vote():
        with yamux.Session(address) as session:
            for vote in VOTES:
                demand_answered(session, of, vote)

    def takes_every_way():
        """A stream may be announced by itself and ended by itself, with frames of either type."""
        with yamux.Session(address) as session:
            for announced in [False, True]:
                for end in [yamux.DATA, yamux.WINDOW_UPDATE]:
                    stream = session.open(announced)
                    stream.write(of.write(CANONICAL))
                    stream.end(end)
                    equal(of.read(stream.to_end()), answer_to(CANONICAL), "the answer")

    def answers_each_when_it_is_whole():
        votes = numbered(IN_FLIGHT)
        with yamux.Session(address) as session:
            streams = [(session.open(), vote, of.write(vote)) for vote in votes]
            for stream, _, message in streams:
                stream.write(message[:100])
            # The first one stays incomplete, and the others are ended backwards.
            for stream, _, message in streams[:0:-1]:
                stream.write(message[100:], yamux.FIN)
            for stream, vote, _ in streams[1:]:
                equal(of.read(stream.to_end()), answer_to(vote), "the answer")
            stream, vote, message = streams[0]
            equal(bytes(stream.received), b"", "what is said on a stream that has not ended")
            for byte in message[100:]:
                stream.write(bytes([byte]))
            stream.end()
            equal(of.read(stream.to_end()), answer_to(vote), "the answer")

    def gives_up_bad_streams_only():
        good = of.write(CANONICAL)
        with yamux.Session(address) as session:
            for bad in [b"", b"\0", good[:-1], good + b"\0", b"\xff" * len(good)]:
                stream = session.open()
                stream.write(bad, yamux.FIN)
                session.pump_until(lambda: stream.ended or stream.reset)
                equal(bytes(stream.received), b"", "what is said to a bad message")
                demand_answered(session, of)
            session.open().write(good[:50])
            abandoned = session.open()
            abandoned.write(good[:50])
            abandoned.abort()
            demand_answered(session, of)

    checks.check(row, "answers every golden vote, a stream each", answers_every_vote)
    checks.check(row, "takes every way to open and to end a stream", takes_every_way)
    checks.check(row, f"answers {IN_FLIGHT} streams, each when it is whole", answers_each_when_it_is_whole)
    checks.check(row, "ends the stream of what is no vote, and no other", gives_up_bad_streams_only)


def demand_framed_answer(stream, of, vote=CANONICAL):
    stream.write(frame(of.write(vote)))
    demand_next(stream, of, vote)


def demand_next(stream, of, vote):
    (size,) = struct.unpack(">I", stream.exactly(4))
    equal(of.read(stream.exactly(size)), answer_to(vote), "the answer")


def check_long_stream(checks, row, of, address):
    def answers_every_vote():
        with yamux.Session(address) as session:
            stream = session.open()
            for vote in VOTES:
                demand_framed_answer(stream, of, vote)
            stream.end()
            equal(stream.to_end(), b"", "what follows the last answer")

    def answers_more_than_a_window():
        votes = numbered(LONG)
        messages = b"".join(frame(of.write(vote)) for vote in votes)
        demand(len(messages) > 2 * yamux.WINDOW, "too few votes")
        with yamux.Session(address) as session:
            stream = session.open()
            stream.write(messages)
            for vote in votes:
                demand_next(stream, of, vote)

    def takes_single_bytes():
        with yamux.Session(address) as session:
            stream = session.open()
            for byte in frame(of.write(CANONICAL)) * 2:
                stream.write(bytes([byte]))
            for _ in range(2):
                demand_next(stream, of, CANONICAL)

    def answers_streams_side_by_side():
        with yamux.Session(address) as session:
            streams = [session.open(announced) for announced in [True, False, True]]
            votes = numbered(30)
            for index, vote in enumerate(votes):
                streams[index % 3].write(frame(of.write(vote)))
            for index, vote in reversed(list(enumerate(votes[-3:], start=27))):
                stream = streams[index % 3]
                for vote in votes[index % 3 :: 3]:
                    demand_next(stream, of, vote)

    def resets_bad_streams_only():
        good = of.write(CANONICAL)
        with yamux.Session(address) as session:
            bystander = session.open()
            for bad in [length(0), length(LIMIT + 1), length(0xFFFFFFFF), frame(good[:-1]), frame(b"\xff" * 150)]:
                stream = session.open()
                demand_framed_answer(stream, of)
                stream.write(bad)
                session.pump_until(lambda: stream.reset or stream.ended)
                demand(stream.reset, "the stream ends as if nothing were wrong")
                demand_framed_answer(bystander, of)

    checks.check(row, "answers every golden vote on one stream", answers_every_vote)
    checks.check(row, f"answers {LONG} votes on one stream, over both windows", answers_more_than_a_window)
    checks.check(row, "takes messages byte by byte", takes_single_bytes)
    checks.check(row, "answers three streams side by side", answers_streams_side_by_side)
    checks.check(row, "resets the stream of a bad length or message, and no other", resets_bad_streams_only)


def check_session(checks, row, address, talk):
    """What a session itself takes and refuses."""

    def answers_pings():
        with yamux.Session(address) as session:
            for value in [0, 1, 0xFFFFFFFF]:
                session.ping(value)
                talk(session)

    def closes():
        bad = {
            "version 1": yamux.HEADER.pack(1, yamux.DATA, yamux.SYN, 1, 0),
            "type 9": yamux.HEADER.pack(0, 9, yamux.SYN, 1, 0),
            "a stream with a server's number": yamux.HEADER.pack(0, yamux.DATA, yamux.SYN, 2, 0),
            "a frame that no window has room for": yamux.HEADER.pack(0, yamux.DATA, yamux.SYN, 1, 0xFFFFFFFF),
            "no yamux": b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n",
        }
        with yamux.Session(address) as bystander:
            talk(bystander)
            for what, bytes_ in bad.items():
                with yamux.Session(address) as session:
                    session.socket.sendall(bytes_)
                    session.demand_closed(what)
                talk(bystander)

    def parts_in_peace():
        with yamux.Session(address) as session:
            talk(session)
            session.send(yamux.GO_AWAY, 0, 0, 0)
            session.demand_closed("a client that goes")

    checks.check(row, "answers pings between votes", answers_pings)
    checks.check(row, "closes a connection that breaks yamux, and no other", closes)
    checks.check(row, "closes when the client says that it goes", parts_in_peace)
