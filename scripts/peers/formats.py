"""Message formats as somebody else writes and reads them: `write` makes bytes of a vote, `read` a vote of bytes."""

import struct

from .checks import Wrong, demand, equal
from .votes import BYTES, ROOT, WIDTHS

PACKED = struct.Struct("<Q32s32s64sQB")


class Packed:
    """The six fields one after another, little-endian."""

    def write(self, vote):
        return PACKED.pack(*(vote[field] for field in WIDTHS))

    def read(self, message):
        equal(len(message), PACKED.size, "the packed vote's length")
        return dict(zip(WIDTHS, PACKED.unpack(message)))


class Zap(Packed):
    """A 16-byte header, little-endian, and the vote as its only object."""

    HEADER = struct.Struct("<4sHHII")

    def write(self, vote, version=1, flags=0):
        body = super().write(vote)
        return self.HEADER.pack(b"ZAP\0", version, flags, self.HEADER.size, self.HEADER.size + len(body)) + body

    def read(self, message):
        equal(self.HEADER.unpack(message[:16]), (b"ZAP\0", 1, 0, 16, 161), "the header of a ZAP answer")
        return super().read(message[16:])


class QuicRaw(Packed):
    """A 16-byte header, big-endian, with the sequence on its connection, and the packed vote."""

    HEADER = struct.Struct(">IHHQ")
    VOTE, ANSWER = 1, 2

    def __init__(self):
        self.sequence = 0

    def write(self, vote, length=PACKED.size, kind=VOTE, flags=0):
        header = self.HEADER.pack(length, kind, flags, self.sequence)
        self.sequence += 1
        return header + super().write(vote)

    def read_answer_to(self, sequence, message):
        header = self.HEADER.unpack(message[:16])
        equal(header, (PACKED.size, self.ANSWER, 0, sequence), "an answer's length, kind, flags and sequence")
        return super().read(message[16:])


class Protobuf:
    """PyPI's protobuf, with a message class made of the descriptor that reflection gave."""

    type = None

    def write(self, vote):
        return self.message(vote).SerializeToString(deterministic=True)

    def message(self, vote):
        if Protobuf.type is None:
            raise Wrong("the server's reflection has given no descriptor of a vote")
        return Protobuf.type(**vote)

    def read(self, message):
        vote = self.fields(Protobuf.type.FromString(message))
        # Nothing unknown, nothing twice, and no zero written out.
        equal(message, Protobuf.write(self, vote), "the bytes of a protobuf answer")
        return vote

    def fields(self, message):
        return {field: getattr(message, field) for field in WIDTHS}


class LengthPrefixed(Protobuf):
    """A protobuf message behind its length as an unsigned varint."""

    def write(self, vote):
        message = super().write(vote)
        return varint(len(message)) + message

    def read(self, message):
        # An answer has 128 bytes of byte fields alone, so that its length takes two.
        equal(message[:2], varint(len(message) - 2), "the varint length of an answer")
        return super().read(message[2:])


def varint(value):
    encoded = bytearray()
    while value >= 0x80:
        encoded.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*encoded, value])


class FlatBuffers:
    """PyPI's flatbuffers; what its compiler writes of schemas/vote.fbs is done here: slots in the schema's order."""

    def write(self, vote):
        import flatbuffers

        builder = flatbuffers.Builder(256)
        builder.StartObject(len(WIDTHS))
        for slot, field in enumerate(WIDTHS):
            if field in BYTES:
                builder.Prep(1, WIDTHS[field])
                for byte in reversed(vote[field]):
                    builder.PrependByte(byte)
                builder.PrependStructSlot(slot, builder.Offset(), 0)
            elif WIDTHS[field] == 8:
                builder.PrependUint64Slot(slot, vote[field], 0)
            else:
                builder.PrependUint8Slot(slot, vote[field], 0)
        builder.Finish(builder.EndObject())
        return bytes(builder.Output())

    def read(self, message):
        from flatbuffers import encode, number_types
        from flatbuffers.table import Table

        table = Table(message, encode.Get(number_types.UOffsetTFlags.packer_type, message, 0))
        vote = {}
        for slot, (field, width) in enumerate(WIDTHS.items()):
            offset = table.Offset(4 + 2 * slot)
            if field in BYTES:
                demand(offset, f"{field} is missing, which the schema requires")
                vote[field] = bytes(message[table.Pos + offset : table.Pos + offset + width])
            else:
                flags = number_types.Uint64Flags if width == 8 else number_types.Uint8Flags
                vote[field] = table.GetSlot(4 + 2 * slot, 0, flags)
        return vote


class Capnp:
    """PyPI's pycapnp, which reads schemas/vote.capnp itself."""

    NAMES = {"round": "round", "block_hash": "blockHash", "voter_id": "voterId", "signature": "signature"}
    NAMES |= {"timestamp": "timestamp", "vote_type": "voteType"}

    def __init__(self):
        import capnp

        capnp.remove_import_hook()
        self.type = capnp.load(str(ROOT / "schemas/vote.capnp")).Vote

    def write(self, vote):
        return self.type.new_message(**{self.NAMES[field]: value for field, value in vote.items()}).to_bytes()

    def read(self, message):
        with self.type.from_bytes(message) as vote:
            return {field: getattr(vote, name) for field, name in self.NAMES.items()}
