"""gRPC by Python's grpcio, which is told nothing: services, methods and messages come from the server's reflection."""

import queue

import grpc
from google.protobuf import descriptor_pool, message_factory
from grpc_reflection.v1alpha import reflection_pb2
from grpc_reflection.v1alpha.proto_reflection_descriptor_database import ProtoReflectionDescriptorDatabase

from .checks import PATIENCE, demand, equal, refused
from .formats import Protobuf
from .votes import CANONICAL, VOTES, WIDTHS, answer_to, numbered

SERVICE = "votebench.v1.VoteService"
IN_FLIGHT = 500
# Messages that are no votes, and the field that has to be named.
BAD = {
    "block_hash": {**CANONICAL, "block_hash": bytes(31)},
    "voter_id": {**CANONICAL, "voter_id": bytes(33)},
    "signature": {**CANONICAL, "signature": b""},
    "vote_type": {**CANONICAL, "vote_type": 256},
}
OF = Protobuf()


def check(checks, server):
    for row in ["grpc", "grpc-stream"]:
        options = [("grpc.enable_http_proxy", 0)]
        with grpc.insecure_channel(server.url_address(row), options) as channel:
            checks.check(row, "is described by its reflection", lambda: reflect(channel))
            check_unary(checks, row, channel)
            check_stream(checks, row, channel)
            checks.check(row, "knows no other method", lambda: knows_no_other(channel))


def reflect(channel):
    """Makes the message class of what the server says of itself."""
    database = ProtoReflectionDescriptorDatabase(channel)
    demand(SERVICE in database.get_services(), f"{SERVICE} is not in {database.get_services()}")
    pool = descriptor_pool.DescriptorPool(database)
    methods = {
        method.name: (method.input_type, method.output_type, method.client_streaming, method.server_streaming)
        for method in pool.FindServiceByName(SERVICE).methods
    }
    vote = pool.FindMessageTypeByName("votebench.v1.Vote")
    equal(methods, {"Submit": (vote, vote, False, False), "Exchange": (vote, vote, True, True)}, "the methods")
    fields = {field.name: (field.number, field.type) for field in vote.fields}
    kinds = {8: vote.fields[0].TYPE_UINT64, 1: vote.fields[0].TYPE_UINT32}
    expected = {
        name: (number, kinds.get(width, vote.fields[0].TYPE_BYTES))
        for number, (name, width) in enumerate(WIDTHS.items(), start=1)
    }
    equal(fields, expected, "the fields of a vote")
    Protobuf.type = message_factory.GetMessageClass(vote)
    reflect_v1(channel)


def reflect_v1(channel):
    """The same list by the final version of the reflection, whose messages are those of v1alpha."""
    call = channel.stream_stream(
        "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo",
        request_serializer=reflection_pb2.ServerReflectionRequest.SerializeToString,
        response_deserializer=reflection_pb2.ServerReflectionResponse.FromString,
    )
    requests = iter([reflection_pb2.ServerReflectionRequest(list_services="")])
    (response,) = call(requests, timeout=PATIENCE)
    services = [service.name for service in response.list_services_response.service]
    demand(SERVICE in services, f"{SERVICE} is not in {services}")


def check_unary(checks, row, channel):
    def submit(message, **options):
        """The bytes of the answer to the bytes of a message."""
        return channel.unary_unary(f"/{SERVICE}/Submit")(message, timeout=PATIENCE, **options)

    def answers_every_vote():
        for vote in VOTES:
            equal(OF.read(submit(OF.write(vote))), answer_to(vote), "the answer")

    def answers_many_at_once():
        votes = numbered(IN_FLIGHT)
        call = channel.unary_unary(f"/{SERVICE}/Submit")
        answers = [call.future(OF.write(vote), timeout=PATIENCE) for vote in votes]
        for vote, answer in zip(votes, answers):
            equal(OF.read(answer.result()), answer_to(vote), "the answer")

    def names_the_field():
        for field, vote in BAD.items():
            demand_invalid(refused(lambda: submit(OF.write(vote)), grpc.RpcError, f"a bad {field}"), field)
            equal(OF.read(submit(OF.write(CANONICAL))), answer_to(CANONICAL), f"the answer after a bad {field}")

    def refuses_garbage():
        for garbage in [b"\xff" * 20, OF.write(CANONICAL)[:-1], b""]:
            demand_invalid(refused(lambda: submit(garbage), grpc.RpcError, "garbage"))
        answers_every_vote()

    checks.check(row, "Submit answers every golden vote", answers_every_vote)
    checks.check(row, f"Submit answers {IN_FLIGHT} votes at once", answers_many_at_once)
    checks.check(row, "Submit says INVALID_ARGUMENT and the field of a bad vote", names_the_field)
    checks.check(row, "Submit says INVALID_ARGUMENT to garbage", refuses_garbage)


def check_stream(checks, row, channel):
    def exchange(messages):
        return channel.stream_stream(f"/{SERVICE}/Exchange")(iter(messages), timeout=PATIENCE)

    def answers_in_order():
        votes = VOTES + numbered(IN_FLIGHT)
        answers = list(exchange([OF.write(vote) for vote in votes]))
        equal(len(answers), len(votes), "the number of answers")
        for vote, answer in zip(votes, answers):
            equal(OF.read(answer), answer_to(vote), "the answer")

    def answers_one_by_one():
        """Each vote is sent when the one before it is answered: the server does not wait for the end of the stream."""
        requests = queue.Queue()
        answers = exchange(iter(lambda: requests.get(timeout=PATIENCE), None))
        for vote in VOTES:
            requests.put(OF.write(vote))
            equal(OF.read(next(answers)), answer_to(vote), "the answer")
        requests.put(None)
        equal(list(answers), [], "what follows the last answer")

    def ends_at_a_bad_vote():
        for field, vote in BAD.items():
            answers = exchange([OF.write(vote) for vote in [CANONICAL, vote, CANONICAL]])
            equal(OF.read(next(answers)), answer_to(CANONICAL), "the answer before the bad vote")
            demand_invalid(refused(lambda: next(answers), grpc.RpcError, f"a bad {field}"), field)
        answers_in_order()

    checks.check(row, f"Exchange answers {IN_FLIGHT} votes in their order", answers_in_order)
    checks.check(row, "Exchange answers each vote as it comes", answers_one_by_one)
    checks.check(row, "Exchange ends with INVALID_ARGUMENT and the field at a bad vote", ends_at_a_bad_vote)


def knows_no_other(channel):
    def withdraw():
        return channel.unary_unary(f"/{SERVICE}/Withdraw")(b"", timeout=PATIENCE)

    error = refused(withdraw, grpc.RpcError, "a method that nobody has")
    equal(error.code(), grpc.StatusCode.UNIMPLEMENTED, "the status")


def demand_invalid(error, field=""):
    equal(error.code(), grpc.StatusCode.INVALID_ARGUMENT, f"the status ({error.details()})")
    demand(field in error.details(), f"{error.details()!r} does not name {field}")
