#!/usr/bin/env python3
"""Clients that are not ours talk to `votebench serve`, for every protocol that it has.

    scripts/peers.py [--binary PATH]    PATH is what `cargo build` makes unless it is given

gRPC is Python's grpcio with what the server's reflection says, JSON-RPC is curl and websockets, QUIC is aioquic, the
framed rows are plain sockets, and yamux is written out in scripts/peers/yamux.py. Messages are written and read by
PyPI's protobuf, flatbuffers and pycapnp, or byte by byte; nothing of ours is on the client's side. One line a check,
`ok NAME` or `FAILED NAME: why`; exit status 1 if a check failed or too few ran.

Needs curl, and python3 with venv and pip; the packages come from PyPI into a virtual environment that is thrown away.
"""

import argparse
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

import packages

ROOT = pathlib.Path(__file__).resolve().parent.parent
# As new as Python 3.10 takes them.
REQUIREMENTS = [
    "grpcio==1.85.3",
    "grpcio-reflection==1.85.1",
    "protobuf==7.36.2",
    "flatbuffers==25.12.19",
    "pycapnp==2.2.4",
    "aioquic==1.3.0",
    "websockets==16.1.1",
]
# Pairs that no row names, one for each family of stacks that takes any codec.
PAIRS = ["zap+quic", "protobuf+tcp", "zap+mux"]
# Checks that there are. Fewer than that means that this script has gone blind somewhere.
CHECKS = 173


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--binary", type=pathlib.Path, default=packages.votebench(ROOT), metavar="PATH")
    binary = parser.parse_args().binary.resolve()
    if not binary.is_file():
        sys.exit(f"scripts/peers.py: --binary: {binary} is not there; `cargo build` makes it")
    if shutil.which("curl") is None:
        sys.exit("scripts/peers.py: curl is missing, which JSON-RPC is checked with; install it")
    if not packages.are_there():
        sys.exit(packages.rerun_with(REQUIREMENTS))
    sys.exit(run(binary))


def run(binary):
    """All checks, against one server of everything. The exit status."""
    from peers import framed, grpc_calls, jsonrpc, mux, quic, signals
    from peers.checks import Checks
    from peers.server import Server, named_protocols

    names = [*named_protocols(binary), *PAIRS]
    checks = Checks()
    with Server(binary, names) as server:
        # gRPC comes first: its reflection is where the protobuf clients of the other stacks have their descriptor from.
        for family in [grpc_calls, framed, mux, quic, jsonrpc]:
            family.check(checks, server)
        signals.check_end(checks, server)
        log = server.log()
    signals.check(checks, binary)
    checks.check("serve", "has been asked about every protocol", lambda: checks.demand(names))
    if checks.failed:
        print(f"\nThe last that the server said:\n{log[-2_000:]}", file=sys.stderr)
    return checks.summary(at_least=CHECKS)


if __name__ == "__main__":
    main()
