#!/usr/bin/env python3
"""Writes tests/golden/peers/: votes as implementations that are not ours write them, and our bytes once they read them.

    scripts/golden.py           write the committed files
    scripts/golden.py --check   write nothing; exit status 1 where a file would change

For each format the peer writes every vote ("written"), and reads what our encoder writes for it ("accepted"); the script
fails unless the vote comes back whole, so that bytes stand under "accepted" only if the peer took them. tests/peers.rs
holds our codecs to both without any Python. Needs cargo, python3 with venv and pip, and what scripts/codegen.sh needs;
the packages come from PyPI into a virtual environment that is thrown away.
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile

import packages

ROOT = pathlib.Path(__file__).resolve().parent.parent
OUT = ROOT / "tests/golden/peers"
REQUIREMENTS = ["protobuf==7.36.2", "flatbuffers==25.12.19", "pycapnp==2.2.4"]
FIELDS = ["round", "block_hash", "voter_id", "signature", "timestamp", "vote_type"]
# Of the 65 votes of the ZAP vectors: the named ones and some of the random ones.
ZAP_VOTES = 20


def main():
    check = sys.argv[1:] == ["--check"]
    if sys.argv[1:] and not check:
        sys.exit("usage: scripts/golden.py [--check]")
    if not packages.are_there():
        sys.exit(packages.rerun_with(REQUIREMENTS))
    votes = [decoded(case) for case in json.loads((ROOT / "tests/golden/zap/votes.json").read_text())[:ZAP_VOTES]]
    votes += edge_cases(votes[0])
    with tempfile.TemporaryDirectory() as scratch:
        subprocess.run([ROOT / "scripts/codegen.sh", "--python", scratch], check=True)
        sys.path.insert(0, scratch)
        files = {"votes.json": [encoded(vote) for vote in votes]}
        ours = our_messages(files["votes.json"], pathlib.Path(scratch))
        flatbuffers = [FlatBuffers(), OneStruct(), Vectors()]
        capnp = [Capnp(), CapnpPacked(), CapnpSegments(), CapnpWords()]
        for peer in [Protobuf(scratch), *flatbuffers, *capnp]:
            files[f"{peer.name}.json"] = compare(peer, votes, ours)
    sys.exit(store(files, check))


def edge_cases(canonical):
    """What writers treat differently: scalars left out or at their limits, bytes that pack well, badly, not at all."""

    def case(name, **changes):
        return {**canonical, "name": name, **changes}

    return [
        case("round-zero", round=0),
        case("timestamp-zero", timestamp=0),
        case("type-zero", vote_type=0),
        case("type-max", vote_type=255),
        case("scalars-zero", round=0, timestamp=0, vote_type=0),
        case("hash-zero", block_hash=bytes(32)),
        case("signature-zero", signature=bytes(64), vote_type=0),
        case("one-zero-a-word", block_hash=bytes([0] + [1] * 7) * 4, signature=bytes([1] * 7 + [0]) * 8),
        case("two-zeros-a-word", block_hash=bytes([0, 0] + [1] * 6) * 4, signature=bytes([1] * 6 + [0, 0]) * 8),
        case("one-byte-a-word", voter_id=bytes([0] * 7 + [255]) * 4, signature=bytes([255] + [0] * 7) * 8),
    ]


def our_messages(votes, scratch):
    """Our bytes for the votes, by codec: tests/peers.rs writes them when asked to."""
    (scratch / "votes.json").write_text(json.dumps(votes))
    test = ["cargo", "test", "--quiet", "--locked", "--test", "peers", "--", "--ignored", "--exact", "write_ours"]
    paths = {"VOTEBENCH_GOLDEN_VOTES": scratch / "votes.json", "VOTEBENCH_GOLDEN_OURS": scratch / "ours.json"}
    subprocess.run(test, cwd=ROOT, env={**os.environ, **paths}, check=True, stdout=subprocess.DEVNULL)
    return json.loads((scratch / "ours.json").read_text())


def compare(peer, votes, ours):
    """One golden file. Fails where the peer does not read back what it or we wrote."""
    messages = []
    for index, vote in enumerate(votes):
        plain = {field: vote[field] for field in FIELDS}
        written = peer.write(plain)
        assert peer.read(written) == plain, f"{peer.name} does not read its own {vote['name']}"
        message = {"name": vote["name"], "written": written.hex()}
        accepted = {bytes.fromhex(ours[codec][index]) for codec in peer.writers}
        for bytes_ in accepted:
            assert peer.read(bytes_) == plain, f"{peer.name} does not read our {vote['name']}"
            assert len(accepted) == 1, f"our codecs {peer.writers} differ in {vote['name']}"
            message["accepted"] = bytes_.hex()
        messages.append(message)
    return {"peer": peer.version(), "schema": peer.schema, "codecs": peer.codecs, "messages": messages}


def store(files, check):
    texts = {name: json.dumps(content, indent=1) + "\n" for name, content in files.items()}
    if check:
        stale = [name for name, text in texts.items() if not (OUT / name).is_file() or (OUT / name).read_text() != text]
        for name in stale:
            print(f"scripts/golden.py: tests/golden/peers/{name} would change", file=sys.stderr)
        return 1 if stale else 0
    OUT.mkdir(parents=True, exist_ok=True)
    for name, text in texts.items():
        (OUT / name).write_text(text)
    return 0


def decoded(case):
    return {
        "name": case["name"],
        "round": int(case["round"]),
        **{field: bytes.fromhex(case[field]) for field in ["block_hash", "voter_id", "signature"]},
        "timestamp": int(case["timestamp"]),
        "vote_type": case["vote_type"],
    }


def encoded(vote):
    """The vote for a JSON file: bytes in hex, integers of 64 bits as strings."""
    texts = {bytes: bytes.hex, str: str}
    return {
        key: str(value) if key in ["round", "timestamp"] else texts.get(type(value), int)(value)
        for key, value in vote.items()
    }


class Peer:
    """One format of an implementation that is not ours."""

    name = ""  # of the golden file
    package = ""  # on PyPI
    schema = ""
    codecs = []  # of ours that read the format

    @property
    def writers(self):
        """Of ours that write the format, all of them the same bytes."""
        return self.codecs

    def version(self):
        from importlib.metadata import version

        return f"{self.package} {version(self.package)} (Python)"


class Protobuf(Peer):
    name = "protobuf"
    package = "protobuf"
    schema = "protos/vote.proto"
    codecs = ["protobuf", "protobuf-bytes"]

    def __init__(self, generated):
        from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

        serialized = pathlib.Path(generated, "vote.descriptors").read_bytes()
        descriptors = descriptor_pb2.FileDescriptorSet.FromString(serialized)
        pool = descriptor_pool.DescriptorPool()
        for file in descriptors.file:
            pool.Add(file)
        self.type = message_factory.GetMessageClass(pool.FindMessageTypeByName("votebench.v1.Vote"))

    def write(self, vote):
        return self.type(**vote).SerializeToString(deterministic=True)

    def read(self, message):
        vote = self.type.FromString(message)
        return {field: getattr(vote, field) for field in FIELDS}


class FlatBuffers(Peer):
    name = "flatbuffers"
    package = "flatbuffers"
    schema = "schemas/vote.fbs"
    codecs = ["flatbuffers", "flatbuffers-unverified"]

    def write(self, vote):
        import flatbuffers
        from votebench.v1 import Vote as table
        from votebench.v1.Bytes32 import CreateBytes32
        from votebench.v1.Bytes64 import CreateBytes64

        builder = flatbuffers.Builder(256)
        table.Start(builder)
        table.AddRound(builder, vote["round"])
        table.AddBlockHash(builder, CreateBytes32(builder, vote["block_hash"]))
        table.AddVoterId(builder, CreateBytes32(builder, vote["voter_id"]))
        table.AddSignature(builder, CreateBytes64(builder, vote["signature"]))
        table.AddTimestamp(builder, vote["timestamp"])
        table.AddVoteType(builder, vote["vote_type"])
        builder.Finish(table.End(builder))
        return bytes(builder.Output())

    def read(self, message):
        from votebench.v1.Vote import Vote

        vote = Vote.GetRootAs(message)
        return {
            "round": vote.Round(),
            "block_hash": elements(vote.BlockHash().Value, 32),
            "voter_id": elements(vote.VoterId().Value, 32),
            "signature": elements(vote.Signature().Value, 64),
            "timestamp": vote.Timestamp(),
            "vote_type": vote.VoteType(),
        }


class OneStruct(Peer):
    name = "flatbuffers-one-struct"
    package = "flatbuffers"
    schema = "schemas/vote_one_struct.fbs"
    codecs = ["flatbuffers-one-struct", "flatbuffers-one-struct-unverified"]

    def write(self, vote):
        import flatbuffers
        from votebench.v1.one_struct import Vote as table
        from votebench.v1.one_struct.VoteFields import CreateVoteFields

        builder = flatbuffers.Builder(256)
        table.Start(builder)
        table.AddFields(builder, CreateVoteFields(builder, *(vote[field] for field in FIELDS)))
        builder.Finish(table.End(builder))
        return bytes(builder.Output())

    def read(self, message):
        from votebench.v1.one_struct.Vote import Vote

        fields = Vote.GetRootAs(message).Fields()
        return {
            "round": fields.Round(),
            "block_hash": elements(fields.BlockHash, 32),
            "voter_id": elements(fields.VoterId, 32),
            "signature": elements(fields.Signature, 64),
            "timestamp": fields.Timestamp(),
            "vote_type": fields.VoteType(),
        }


class Vectors(Peer):
    name = "flatbuffers-vectors"
    package = "flatbuffers"
    schema = "schemas/vote_vectors.fbs"
    codecs = ["flatbuffers-vectors"]

    def write(self, vote):
        import flatbuffers
        from votebench.v1.vectors import Vote as table

        builder = flatbuffers.Builder(256)
        block_hash, voter_id, signature = (
            builder.CreateByteVector(vote[field]) for field in ["block_hash", "voter_id", "signature"]
        )
        table.Start(builder)
        table.AddRound(builder, vote["round"])
        table.AddBlockHash(builder, block_hash)
        table.AddVoterId(builder, voter_id)
        table.AddSignature(builder, signature)
        table.AddTimestamp(builder, vote["timestamp"])
        table.AddVoteType(builder, vote["vote_type"])
        builder.Finish(table.End(builder))
        return bytes(builder.Output())

    def read(self, message):
        from votebench.v1.vectors.Vote import Vote

        vote = Vote.GetRootAs(message)
        return {
            "round": vote.Round(),
            "block_hash": elements(vote.BlockHash, vote.BlockHashLength()),
            "voter_id": elements(vote.VoterId, vote.VoterIdLength()),
            "signature": elements(vote.Signature, vote.SignatureLength()),
            "timestamp": vote.Timestamp(),
            "vote_type": vote.VoteType(),
        }


def elements(accessor, length):
    """The generated accessor of an array without an index fails; with one it works."""
    return bytes(accessor(index) for index in range(length))


class Capnp(Peer):
    name = "capnp"
    package = "pycapnp"
    schema = "schemas/vote.capnp"
    codecs = ["capnp", "capnp-overwrite"]

    def __init__(self):
        import capnp

        capnp.remove_import_hook()
        self.type = capnp.load(str(ROOT / self.schema)).Vote

    def build(self, vote, **options):
        message = self.type.new_message(**options)
        self.fill(message, vote)
        return message

    def fill(self, message, vote):
        message.round, message.timestamp, message.voteType = vote["round"], vote["timestamp"], vote["vote_type"]
        message.blockHash, message.voterId, message.signature = vote["block_hash"], vote["voter_id"], vote["signature"]

    def fields(self, vote):
        return {
            "round": vote.round,
            "block_hash": vote.blockHash,
            "voter_id": vote.voterId,
            "signature": vote.signature,
            "timestamp": vote.timestamp,
            "vote_type": vote.voteType,
        }

    def write(self, vote):
        return self.build(vote).to_bytes()

    def read(self, message):
        with self.type.from_bytes(message) as vote:
            return self.fields(vote)


class CapnpPacked(Capnp):
    name = "capnp-packed"
    codecs = ["capnp-packed"]

    def write(self, vote):
        return self.build(vote).to_bytes_packed()

    def read(self, message):
        return self.fields(self.type.from_bytes_packed(message))


class CapnpSegments(Capnp):
    """The root pointer in a segment of its own, so that it and others are far pointers. Ours never write that."""

    name = "capnp-segments"
    writers = []

    def write(self, vote):
        message = self.build(vote, num_first_segment_words=1).to_bytes()
        assert message[0] > 0, "one segment only"
        return message


class CapnpWords(Capnp):
    name = "capnp-words"
    schema = "schemas/vote_words.capnp"
    codecs = ["capnp-words"]
    groups = {"block_hash": ("blockHash", 4), "voter_id": ("voterId", 4), "signature": ("signature", 8)}

    def fill(self, message, vote):
        message.round, message.timestamp, message.voteType = vote["round"], vote["timestamp"], vote["vote_type"]
        for field, (group, words) in self.groups.items():
            for index in range(words):
                word = int.from_bytes(vote[field][8 * index : 8 * index + 8], "little")
                setattr(getattr(message, group), f"w{index}", word)

    def fields(self, vote):
        fields = {"round": vote.round, "timestamp": vote.timestamp, "vote_type": vote.voteType}
        for field, (group, words) in self.groups.items():
            group = getattr(vote, group)
            fields[field] = b"".join(getattr(group, f"w{index}").to_bytes(8, "little") for index in range(words))
        return fields


if __name__ == "__main__":
    main()
