"""How a check is named, run and counted."""

import sys
import time

# Seconds that anything here may take, be it a connection, an answer or the end of a process.
PATIENCE = 10
# Seconds that all checks may take together: a server that answers nobody is not waited for in every one of them.
ALL = 120


class Wrong(Exception):
    """Something is not as it should be. Not an AssertionError: `assert` is skipped where Python is told to optimize."""


def demand(condition, otherwise):
    if not condition:
        raise Wrong(otherwise)


def equal(actual, expected, what):
    demand(actual == expected, f"{what}: {short(actual)} instead of {short(expected)}")


def short(value):
    text = value.hex() if isinstance(value, bytes) else repr(value)
    return text if len(text) <= 400 else f"{text[:400]}… ({len(text)} characters)"


def refused(action, errors, what):
    """The error that `action` fails with, which must be one of `errors`."""
    try:
        outcome = action()
    except errors as error:
        return error
    raise Wrong(f"{what} was taken: {short(outcome)}")


class Checks:
    """The checks so far, each of one protocol."""

    def __init__(self):
        self.passed = {}
        self.failed = 0
        self.deadline = time.monotonic() + ALL

    def check(self, protocol, what, action):
        """Runs one check; whatever it raises is its failure, and the next one runs."""
        name = f"{protocol}: {what}"
        try:
            demand(time.monotonic() < self.deadline, f"the {ALL} s that all checks may take are over")
            action()
        except Exception as error:
            self.failed += 1
            reason = " ".join(str(error).split()) or "no reason given"
            print(
                f"FAILED {name}: {'' if isinstance(error, Wrong) else type(error).__name__ + ': '}{reason}", flush=True
            )
        else:
            self.passed[protocol] = self.passed.get(protocol, 0) + 1
            print(f"ok {name}", flush=True)

    def demand(self, protocols):
        """Each of `protocols` has answered somebody: two checks at least, a good client's and a bad one's."""
        for protocol in protocols:
            demand(self.passed.get(protocol, 0) >= 2, f"{protocol} has passed {self.passed.get(protocol, 0)} checks")

    def summary(self, at_least):
        """Says how it went. The exit status."""
        passed = sum(self.passed.values())
        ran = passed + self.failed
        print(f"{passed} of {ran} checks passed")
        if ran < at_least:
            print(f"scripts/peers.py: only {ran} checks ran, there are {at_least}", file=sys.stderr)
        return 1 if self.failed or ran < at_least else 0
