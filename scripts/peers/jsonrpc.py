"""JSON-RPC 2.0 by curl over HTTP and by PyPI's websockets over WebSocket: both rows take both, each on its one port."""

import json
import subprocess

from websockets.sync.client import connect

from .checks import PATIENCE, demand, equal
from .votes import CANONICAL, MAX_U64, VOTES, answer_to, as_json, json_fields, numbered

ROWS = ["json-rpc", "json-rpc-plain", "json-rpc-ws", "json-rpc-ws-plain"]
IN_FLIGHT = 200
# What curl writes between the bodies of answers, none of which has it.
SEPARATOR = "~~"
INVALID_PARAMS, NO_METHOD, NO_JSON, NO_REQUEST = -32602, -32601, -32700, -32600


def check(checks, server):
    for row in ROWS:
        check_http(checks, row, f"http://{server.url_address(row)}/")
        check_websocket(checks, row, f"ws://{server.url_address(row)}/")


def call(number, params, method="vote_submit"):
    return f'{{"jsonrpc":"2.0","id":{json.dumps(number)},"method":"{method}","params":{params}}}'


def result(number, vote):
    """The very bytes of the answer to `vote`."""
    return f'{{"jsonrpc":"2.0","id":{json.dumps(number)},"result":{as_json(answer_to(vote))}}}'


def positional(vote):
    return json.dumps(list(json_fields(vote).values()))


def good_calls():
    """Requests in every form that is taken, each with its number and its vote: of names, order, integers and hex."""
    fields = json_fields(CANONICAL)
    numbers = {"round": MAX_U64, "timestamp": 2**53 + 1}
    great = {**CANONICAL, **numbers}
    some_hex = VOTES[5]["block_hash"].hex()
    forms = {
        "by name": (as_json(CANONICAL), CANONICAL),
        "by position": (positional(CANONICAL), CANONICAL),
        "with numbers": (json.dumps({**fields, **numbers}), great),
        "by position, with numbers": (positional(great).replace('"18446744073709551615"', str(MAX_U64)), great),
        "in another order": (json.dumps(dict(reversed(fields.items())), indent=1), CANONICAL),
        "in upper case": (as_json(VOTES[5]).replace(some_hex, some_hex.upper()), VOTES[5]),
        "without 0x": (as_json(CANONICAL).replace('"0x', '"'), CANONICAL),
    }
    calls = {what: (number, call(number, params), vote) for number, (what, (params, vote)) in enumerate(forms.items())}
    calls["with its keys in another order"] = (
        7,
        f'{{"params":{as_json(CANONICAL)},"method":"vote_submit","id":7,"jsonrpc":"2.0"}}',
        CANONICAL,
    )
    calls["with a text for its id"] = ("seven", call("seven", as_json(CANONICAL)), CANONICAL)
    return calls


def bad_calls():
    """Requests that are refused, each with the code and with what the message has to name."""
    good = as_json(CANONICAL)
    bad_params = {
        "block_hash": good.replace("0x11", "0x", 1),
        "voter_id": good.replace("0x22", "0x2222", 1),
        "signature": good.replace("0x33", "0xzz", 1),
        "vote_type": good.replace('"vote_type":1', '"vote_type":256'),
        "round": good.replace('"round":"42",', ""),
        "timestamp": good.replace('"1700000000123456789"', str(MAX_U64 + 1)),
    }
    calls = [(call(1, params), INVALID_PARAMS, field) for field, params in bad_params.items()]
    calls += [
        (call(1, positional({**CANONICAL, "signature": bytes(63)})), INVALID_PARAMS, "signature"),
        (call(1, "[]"), INVALID_PARAMS, ""),
        ('{"jsonrpc":"2.0","id":1,"method":"vote_submit"}', INVALID_PARAMS, ""),
        (call(1, good, method="vote_withdraw"), NO_METHOD, ""),
        (call(1, good)[:-1], NO_JSON, ""),
        ("no JSON at all", NO_JSON, ""),
        ('{"jsonrpc":"2.0","id":1}', NO_REQUEST, ""),
    ]
    return calls


def demand_error(answer, request, code, names):
    error = json.loads(answer).get("error", {})
    equal(error.get("code"), code, f"the code for {request} ({answer})")
    demand(names in error["message"], f"{error['message']!r} does not name {names}")


def check_http(checks, row, url):
    def takes_every_form():
        for what, (number, request, vote) in good_calls().items():
            equal(curl(url, request), [result(number, vote)], f"the answer to a vote {what}")

    def answers_every_vote():
        """All of them by one curl, on one connection."""
        requests = [call(number, as_json(vote)) for number, vote in enumerate(VOTES)]
        answers = curl(url, *requests)
        for number, (vote, answer) in enumerate(zip(VOTES, answers, strict=True)):
            equal(answer, result(number, vote), "the answer")

    def answers_batches():
        votes = VOTES[:3]
        batch = ",".join(call(number, as_json(vote)) for number, vote in enumerate(votes))
        (answer,) = curl(url, f"[{batch},{call(3, '{}')}]")
        *answers, error = json.loads(answer)
        expected = [json.loads(result(number, vote)) for number, vote in enumerate(votes)]
        equal(answers, expected, "the answers to a batch")
        equal((error["id"], error["error"]["code"]), (3, INVALID_PARAMS), "the batch's bad vote")

    def says_what_is_wrong():
        for request, code, names in bad_calls():
            answers = curl(url, request, call(0, as_json(CANONICAL)))
            demand_error(answers[0], request, code, names)
            equal(answers[1], result(0, CANONICAL), "the answer after a bad request")

    checks.check(row, "HTTP: answers every golden vote on one connection", answers_every_vote)
    checks.check(row, "HTTP: takes params in every form", takes_every_form)
    checks.check(row, "HTTP: answers a batch", answers_batches)
    checks.check(row, "HTTP: says what is wrong and goes on", says_what_is_wrong)


def curl(url, *requests):
    """The bodies of the answers, all on one connection: only the first request may have had to connect."""
    settings = [
        f'url = "{url}"',
        'noproxy = "*"',
        f"max-time = {PATIENCE}",
        'header = "Content-Type: application/json"',
        f'write-out = "{SEPARATOR}%{{num_connects}}{SEPARATOR}"',
    ]
    # Quotes and backslashes in a quoted text are escaped in a configuration file of curl as they are in JSON.
    config = "\nnext\n".join("\n".join([*settings, f"data-binary = {json.dumps(request)}"]) for request in requests)
    command = ["curl", "--disable", "--silent", "--show-error", "--config", "-"]
    ran = subprocess.run(command, input=config, capture_output=True, text=True, timeout=2 * PATIENCE)
    equal(ran.returncode, 0, f"curl's exit status ({ran.stderr.strip()})")
    *parts, rest = ran.stdout.split(SEPARATOR)
    equal(rest, "", "what follows the last answer")
    equal(parts[1::2], ["1"] + ["0"] * (len(requests) - 1), "the connections that curl made for each request")
    return parts[::2]


def check_websocket(checks, row, url):
    def dial():
        return connect(url, proxy=None, open_timeout=PATIENCE, close_timeout=PATIENCE)

    def answer(socket, request):
        socket.send(request)
        return socket.recv(PATIENCE)

    def answers_every_vote():
        with dial() as socket:
            for number, vote in enumerate(VOTES):
                equal(answer(socket, call(number, as_json(vote))), result(number, vote), "the answer")

    def takes_every_form():
        with dial() as socket:
            for what, (number, request, vote) in good_calls().items():
                equal(answer(socket, request), result(number, vote), f"the answer to a vote {what}")

    def answers_many_at_once():
        """In any order, which is what the ids are for."""
        votes = numbered(IN_FLIGHT)
        with dial() as socket:
            for number, vote in enumerate(votes):
                socket.send(call(number, as_json(vote)))
            answers = {socket.recv(PATIENCE) for _ in votes}
        equal(answers, {result(number, vote) for number, vote in enumerate(votes)}, "the answers")

    def says_what_is_wrong():
        with dial() as socket:
            for request, code, names in bad_calls():
                demand_error(answer(socket, request), request, code, names)
                equal(answer(socket, call(0, as_json(CANONICAL))), result(0, CANONICAL), "the answer after that")

    checks.check(row, "WebSocket: answers every golden vote", answers_every_vote)
    checks.check(row, "WebSocket: takes params in every form", takes_every_form)
    checks.check(row, f"WebSocket: answers {IN_FLIGHT} votes at once", answers_many_at_once)
    checks.check(row, "WebSocket: says what is wrong and goes on", says_what_is_wrong)
