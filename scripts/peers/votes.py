"""Votes, and the answer that is due to each."""

import json
import pathlib

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
# Each field's bytes in the packed vote, in its order.
WIDTHS = {"round": 8, "block_hash": 32, "voter_id": 32, "signature": 64, "timestamp": 8, "vote_type": 1}
BYTES = ["block_hash", "voter_id", "signature"]
MAX_U64 = 2**64 - 1


def golden():
    """The votes of the golden files: the canonical one first, zeros, greatest values, and bytes of every kind."""
    votes = json.loads((ROOT / "tests/golden/peers/votes.json").read_text())
    return [
        {field: bytes.fromhex(vote[field]) if field in BYTES else int(vote[field]) for field in WIDTHS}
        for vote in votes
    ]


CANONICAL = {
    "round": 42,
    "block_hash": b"\x11" * 32,
    "voter_id": b"\x22" * 32,
    "signature": b"\x33" * 64,
    "timestamp": 1_700_000_000_123_456_789,
    "vote_type": 1,
}
VOTES = golden()


def numbered(count):
    """That many votes, each of another round, so that an answer tells which vote it belongs to."""
    return [{**VOTES[index % len(VOTES)], "round": index} for index in range(count)]


def answer_to(vote):
    return {**vote, "voter_id": b"\x5e" * 32, "signature": b"\x5e" * 64}


def as_json(vote):
    """The vote as JSON has it: 64-bit integers as decimal strings, bytes as 0x and lower-case hex, compact."""
    return json.dumps(json_fields(vote), separators=(",", ":"))


def json_fields(vote):
    texts = {8: str, 1: int}
    return {
        field: f"0x{vote[field].hex()}" if field in BYTES else texts[width](vote[field])
        for field, width in WIDTHS.items()
    }
