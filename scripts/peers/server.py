"""`votebench serve` as a process: where it listens, what it has logged, and how it ends."""

import json
import pathlib
import queue
import subprocess
import tempfile
import threading
import time

from .checks import PATIENCE, Wrong, demand


def named_protocols(binary):
    """Every row and variant that `votebench list` names."""
    listed = subprocess.run(
        [binary, "list", "--json"], check=True, capture_output=True, timeout=PATIENCE, text=True
    ).stdout
    return [protocol["name"] for protocol in json.loads(listed)["protocols"]]


class Server:
    """Serves `names` until the `with` block ends; addresses are (host, port), or the path of a Unix socket."""

    def __init__(self, binary, names):
        self.scratch = tempfile.TemporaryDirectory()
        self.certificate = pathlib.Path(self.scratch.name, "certificate.pem")
        self.log_file = open(pathlib.Path(self.scratch.name, "log"), "w+")
        command = [binary, "serve", "--protocol", ",".join(names), "--bind", "127.0.0.1:0"]
        if any("quic" in name or "tls" in name for name in names):
            command += ["--cert-out", self.certificate]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=self.log_file, text=True)
        lines = queue.Queue()
        threading.Thread(target=self.read_lines, args=[lines], daemon=True).start()
        try:
            self.addresses = dict(self.address_of(name, lines) for name in names)
        except BaseException:
            self.stop()
            raise

    def read_lines(self, lines):
        for line in self.process.stdout:
            lines.put(line)
        lines.put("")

    def address_of(self, name, lines):
        try:
            line = lines.get(timeout=PATIENCE)
        except queue.Empty:
            raise Wrong(f"`serve` does not say where {name} listens") from None
        start = f"{name} listening on "
        if not line.startswith(start):
            raise Wrong(f"`serve` says {line!r} instead of where {name} listens; {self.log()}")
        address = line.removeprefix(start).strip()
        if address.startswith("/"):
            return name, address
        host, _, port = address.rpartition(":")
        return name, (host, int(port))

    def url_address(self, name):
        return "{}:{}".format(*self.addresses[name])

    def demand_log(self, *texts):
        """Waits for a line of the log that has all of `texts`."""
        deadline = time.monotonic() + PATIENCE
        while not any(all(text in line for text in texts) for line in self.log().splitlines()):
            demand(time.monotonic() < deadline, f"the log has no line with {' and '.join(texts)}")
            time.sleep(0.01)

    def log(self):
        return pathlib.Path(self.log_file.name).read_text(errors="replace")

    def end_by(self, signal):
        """Sends `signal`. The exit status."""
        self.process.send_signal(signal)
        return self.process.wait(timeout=PATIENCE)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()

    def stop(self):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        self.log_file.close()
        self.scratch.cleanup()
