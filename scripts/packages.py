"""What scripts need: packages from PyPI, in a virtual environment that is thrown away when the script has ended, and votebench."""

import functools
import json
import os
import pathlib
import subprocess
import sys
import tempfile

INSIDE = "VOTEBENCH_INSIDE"


def are_there():
    """Whether this process is the one that has them."""
    return INSIDE in os.environ


def rerun_with(requirements):
    """Runs this script anew with `requirements`. Its exit status."""
    with tempfile.TemporaryDirectory() as venv:
        subprocess.run([sys.executable, "-m", "venv", venv], check=True)
        pip = [f"{venv}/bin/pip", "install", "--quiet", "--disable-pip-version-check", *requirements]
        subprocess.run(pip, check=True)
        return subprocess.run([f"{venv}/bin/python", *sys.argv], env={**os.environ, INSIDE: "1"}).returncode


def build_votebench(root):
    """Makes votebench, as the tests make it: beside `cargo test`, nothing is compiled a second time."""
    build = ["cargo", "test", "--quiet", "--locked", "--no-run", "--test", "tidy"]
    subprocess.run(build, cwd=root, check=True, stdout=subprocess.DEVNULL)


@functools.cache
def votebench(root):
    """Where `build_votebench` puts it: in ./target, or wherever cargo has been told to build."""
    metadata = ["cargo", "metadata", "--format-version", "1", "--no-deps", "--locked"]
    described = subprocess.run(metadata, cwd=root, check=True, stdout=subprocess.PIPE).stdout
    return pathlib.Path(json.loads(described)["target_directory"]) / "debug/votebench"
