#!/usr/bin/env python3
"""Opens the interval logs of a sustained run in HdrHistogram's own reader for Python, and holds what it finds against the run.

    scripts/hlog.py RUN          a run's folder
    scripts/hlog.py              a short run, made for it by what the tests have built

Percentiles of the response times must be those of results.json to the nanosecond, wherever no vote was left unanswered; the
log's counts must be those of the intervals' own lines."""

import json
import math
import pathlib
import subprocess
import sys
import tempfile

import packages

REQUIREMENTS = ["hdrhistogram==0.10.8"]
HIGHEST = 3_600_000_000_000
PERCENTILES = {"p50": 50.0, "p99": 99.0, "p99_9": 99.9, "p99_99": 99.99}


def read(log):
    """The untagged histograms of a log, by HdrHistogram's reader, added up; and how many there are."""
    from hdrh.histogram import HdrHistogram
    from hdrh.log import HistogramLogReader

    merged = HdrHistogram(1, HIGHEST, 3)
    reader = HistogramLogReader(str(log), HdrHistogram(1, HIGHEST, 3))
    intervals = 0
    while True:
        interval = reader.get_next_interval_histogram()
        if interval is None:
            break
        if interval.get_tag() is None:
            merged.add(interval)
            intervals += 1
    return merged, intervals


def at_rank(histogram, percentile):
    """The least value that so many in a hundred do not exceed. The package itself rounds that count to the nearest, not up."""
    count = histogram.get_total_count()
    return histogram.get_value_at_percentile(100 * math.ceil(percentile / 100 * count) / count)


def check(folder):
    results = json.loads((folder / "results.json").read_text())
    rows = [m for m in results["measurements"] if m["suite"] == "sustained" and m["metric"] == "response"]
    checked = 0
    for row in rows:
        if "hlog" not in row.get("settings", {}):
            continue
        name = row["settings"]["hlog"]
        entries = [json.loads(line) for line in (folder / row["settings"]["interval_file"]).read_text().splitlines()]
        merged, intervals = read(folder / name)
        answered = sum(entry["answered"] for entry in entries)
        assert intervals == len(entries), f"{name}: {intervals} intervals, {len(entries)} lines"
        assert merged.get_total_count() == answered, f"{name}: {merged.get_total_count()} samples, {answered} answered"
        if "percentiles_beyond" in row["settings"] or row["samples"] != answered:
            print(f"{name}: {answered} samples in {intervals} intervals; votes without an answer are no part of the log")
            continue
        for percentile, value in row["value"].items():
            if percentile == "max":
                found = merged.get_max_value()
                # Each keeps the largest value to three digits, in its own way.
                assert abs(found - value) <= value / 1000 + 1, f"{name}: max {found}, {value} in results.json"
            elif value is not None:
                found = at_rank(merged, PERCENTILES[percentile])
                assert found == value, f"{name}: {percentile} {found}, {value} in results.json"
        checked += 1
        print(f"{name}: {answered} samples in {intervals} intervals, the same percentiles")
    assert checked > 0, "no row could be checked"


def main():
    if not packages.are_there():
        sys.exit(packages.rerun_with(REQUIREMENTS))
    if len(sys.argv) > 1:
        check(pathlib.Path(sys.argv[1]))
        return
    program = packages.votebench(pathlib.Path(__file__).resolve().parent.parent)
    with tempfile.TemporaryDirectory() as results:
        command = [program, "sustained", "--protocol", "zap,json-rpc", "--rate", "2000", "--duration", "3s"]
        command += ["--interval", "100ms", "--warm-up", "200ms", "--count", "0s", "--probe", "100ms", "--force"]
        subprocess.run([*command, "--results", results], check=True, stdout=subprocess.DEVNULL)
        (folder,) = pathlib.Path(results).iterdir()
        check(folder)


if __name__ == "__main__":
    main()
