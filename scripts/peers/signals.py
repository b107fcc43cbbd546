"""How `serve` ends: by SIGTERM and by SIGINT, with status 0, whoever is still connected."""

import os
import signal

from .checks import demand, equal
from .formats import Zap
from .framed import Framed, frame
from .server import Server
from .votes import CANONICAL, answer_to

ROWS = ["zap", "zap-tls", "zap-uds", "floor-blocking"]


def check_end(checks, server):
    """The end of the server that all the other checks have talked to."""

    def ends():
        demand(server.process.poll() is None, f"it has ended with the status {server.process.poll()}")
        end_amid_clients(server, signal.SIGTERM)
        demand("panicked" not in server.log(), "it has panicked")

    checks.check("serve", "outlives all of that, and ends on SIGTERM with status 0", ends)


def check(checks, binary):
    def ends():
        with Server(binary, ROWS) as server:
            end_amid_clients(server, signal.SIGINT)

    checks.check("serve", "ends on SIGINT with status 0", ends)


def end_amid_clients(server, by):
    """Clients that have been answered, and one that is in the middle of a message, are no reason not to end."""
    zap = Zap()
    clients = [Framed(server, row) for row in ROWS]
    for client, row in zip(clients, ROWS):
        client.send(frame(zap.write(CANONICAL)))
        expected = CANONICAL if row.startswith("floor") else answer_to(CANONICAL)
        equal(zap.read(client.receive()), expected, "the answer")
    clients[0].send(frame(zap.write(CANONICAL))[:50])
    equal(server.end_by(by), 0, "the exit status")
    for client, row in zip(clients, ROWS):
        client.demand_closed(f"the end of {row}'s server")
        client.socket.close()
    path = server.addresses["zap-uds"]
    demand(not os.path.exists(path), f"{path} is still there")
