#!/usr/bin/env python3
"""curl, wrk and nginx beside the HTTP/1.1 arms of the HTTP study.

    scripts/http_peers.py [--binary PATH]    PATH is what `cargo build` makes unless it is given

curl asks every HTTP/1.1 arm in its own ways (POST, HEAD, chunked, Expect, HTTP/1.0, a connection kept and one closed), wrk
drives each over many connections and must see no error, and a quick run of the study has wrk drive `pooled-http` and Debian's
nginx in turn. One line a check, `ok NAME` or `FAILED NAME: why`; exit status 1 if a check failed or too few ran.

Needs curl, wrk and nginx.
"""

import argparse
import contextlib
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

import packages
from peers.checks import PATIENCE, Checks, demand, equal

ROOT = pathlib.Path(__file__).resolve().parent.parent
ARMS = ["hyper", "pooled-http"]
# Checks that there are. Fewer than that means that this script has gone blind somewhere.
CHECKS = 22
FIELDS = {"Content-Type": "application/json", "X-Request-Id": "0f4c7a52", "X-Org-Id": "quorum-01"}
BODY = b"abcdefghijklmnop"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--binary", type=pathlib.Path, default=packages.votebench(ROOT), metavar="PATH")
    binary = parser.parse_args().binary.resolve()
    if not binary.is_file():
        sys.exit(f"scripts/http_peers.py: --binary: {binary} is not there; `cargo build` makes it")
    for program in ["curl", "wrk", "nginx"]:
        # Debian has nginx where not everybody's search path looks.
        if shutil.which(program, path=f"{os.environ.get('PATH', os.defpath)}:/usr/sbin") is None:
            sys.exit(f"scripts/http_peers.py: {program} is missing; install it")
    checks = Checks()
    with served(binary) as addresses:
        for arm in ARMS:
            check_curl(checks, arm, addresses[arm])
            checks.check(arm, "wrk drives 16 connections and sees no error", lambda: drive(addresses[arm], 16))
        checks.demand(ARMS)
    checks.check("pooled-http", "wrk drives it and nginx in turn", lambda: beside_nginx(binary))
    sys.exit(checks.summary(CHECKS))


@contextlib.contextmanager
def served(binary):
    """Serves the HTTP/1.1 arms until the `with` block ends: their addresses by name."""
    command = [binary, "http", "--serve", ",".join(ARMS)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    try:
        lines = [process.stdout.readline().strip() for _ in ARMS]
        yield dict(line.split(" listening on ") for line in lines)
        process.terminate()
        equal(process.wait(timeout=PATIENCE), 0, "the exit status after SIGTERM")
    finally:
        if process.poll() is None:
            process.kill()
            process.wait()


def curl(address, *arguments, body=None):
    """What curl got: its exit status, the heads in lower case, the last body."""
    with tempfile.NamedTemporaryFile() as heads:
        command = ["curl", "--silent", "--max-time", str(PATIENCE), "--dump-header", heads.name, *arguments]
        done = subprocess.run(
            [*command, f"http://{address}/echo"], input=body, capture_output=True, timeout=2 * PATIENCE
        )
        return done.returncode, heads.read().decode().lower(), done.stdout


def check_curl(checks, arm, address):
    fields = [part for name, value in FIELDS.items() for part in ["--header", f"{name}: {value}"]]

    def answered(code, head, got, expected):
        equal(code, 0, "curl's exit status")
        demand(" 200 ok\r\n" in head, f"the head is {head!r}")
        equal(got, expected, "the body")
        return head

    def post():
        head = answered(*curl(address, *fields, "--data-binary", "@-", body=BODY), BODY)
        for name, value in FIELDS.items():
            demand(f"\r\n{name}: {value}\r\n".lower() in head, f"{name} is missing in {head!r}")

    def get():
        answered(*curl(address), b"")

    def head():
        _, head, body = curl(address, "--head")
        demand(head.count("http/1.1 200 ok\r\n") == 1 and "\r\ndate: " in head, f"the head is {head!r}")
        demand(body.lower().decode() == head, "HEAD has a body")

    def chunked():
        body = bytes(range(256)) * 1_000
        chunks = ["--header", "Transfer-Encoding: chunked", "--data-binary", "@-"]
        answered(*curl(address, *chunks, body=body), body)

    def waits():
        body = b"x" * (2 << 20)
        expects = ["--header", "Expect: 100-continue", "--data-binary", "@-"]
        head = answered(*curl(address, *expects, body=body), body)
        demand(head.startswith("http/1.1 100 continue\r\n"), f"nobody was told to go on: {head[:100]!r}")

    def old():
        head = answered(*curl(address, "--http1.0", "--data-binary", "@-", body=BODY), BODY)
        demand("\r\nconnection: keep-alive\r\n" not in head, f"HTTP/1.0 is kept open unasked: {head!r}")

    def kept():
        twice = subprocess.run(
            ["curl", "--silent", "--verbose", *[f"http://{address}/{n}" for n in range(3)]],
            capture_output=True,
            timeout=PATIENCE,
            text=True,
        )
        equal(twice.stderr.lower().count("re-using existing connection"), 2, "connections used again")

    def closed():
        head = answered(*curl(address, "--header", "Connection: close", "--data-binary", "@-", body=BODY), BODY)
        demand("\r\nconnection: close\r\n" in head, f"the end is not announced: {head!r}")

    def empty():
        answered(*curl(address, "--request", "POST", "--header", "Content-Length: 0"), b"")

    def long():
        _, head, _ = curl(address, "--header", f"X-Long: {'a' * (64 << 10)}")
        demand(" 431 " in head.splitlines()[0], f"the head is {head!r}")

    for what, action in [
        ("curl posts", post),
        ("curl gets", get),
        ("curl asks for the head alone", head),
        ("curl sends chunks", chunked),
        ("curl waits for the word to go on", waits),
        ("curl speaks HTTP/1.0", old),
        ("curl keeps its connection", kept),
        ("curl ends its connection", closed),
        ("curl posts nothing", empty),
    ]:
        checks.check(arm, what, action)
    # What is too long is for hyper to say, and more than this.
    if arm == "pooled-http":
        checks.check(arm, "curl sends a head that is too long", long)


def drive(address, connections):
    """Requests a second that wrk gets out of `address` in a second; an error if it saw one."""
    with tempfile.TemporaryDirectory() as folder:
        script = pathlib.Path(folder, "request.lua")
        fields = "".join(f'wrk.headers["{name}"] = "{value}"\n' for name, value in FIELDS.items())
        script.write_text(
            f'wrk.method = "POST"\nwrk.body = "{BODY.decode()}"\n{fields}'
            "function done(summary)\n  local e = summary.errors\n"
            "  io.write(string.format('errors %d requests %d us %d\\n',\n"
            "    e.connect + e.read + e.write + e.status + e.timeout, summary.requests, summary.duration))\nend\n"
        )
        done = subprocess.run(
            ["wrk", "-t1", f"-c{connections}", "-d1s", "-s", script, f"http://{address}/echo"],
            check=True,
            capture_output=True,
            timeout=PATIENCE,
            text=True,
        )
    _, errors, _, requests, _, us = done.stdout.strip().splitlines()[-1].split()
    equal(int(errors), 0, "errors that wrk saw")
    demand(int(requests) > 0, "no request was answered")
    return 1e6 * int(requests) / int(us)


def beside_nginx(binary):
    """A quick run of the study itself, which lets wrk drive nginx and `pooled-http` in turn and keeps what it found."""
    with tempfile.TemporaryDirectory() as folder:
        command = [binary, "http", "--quick", "--force", "--arm", "pooled-http", "--workload", "tiny", "--results", folder]
        subprocess.run(command, check=True, capture_output=True, timeout=10 * PATIENCE)
        (path,) = pathlib.Path(folder).glob("*/results.json")
        rows = [m for m in json.loads(path.read_text())["measurements"] if m.get("row") == "wrk"]
    for row in rows:
        equal(row["status"], "ok", f"{row['protocol']} {row['metric']}: {row.get('reason')}")
    ns = {row["protocol"]: row["value"] for row in rows if row["metric"] == "time"}
    equal(sorted(ns), ["nginx", "pooled-http"], "the servers that wrk drove")
    rates = ", ".join(f"{name} {1e9 / value:.0f}/s" for name, value in ns.items())
    print(f"{rates}: this build, this moment; a figure to quote is a run's")


if __name__ == "__main__":
    main()
