#!/usr/bin/env python3
"""Has programs that are not ours read what `votebench export` writes of every committed run.

    scripts/exports.py

OpenMetrics is read by Prometheus's own parser for Python, CSV by Python's csv, distributions are held to
HdrHistogram's Python port's reading of the same histogram, and the JSON formats are parsed. (benchstat comes from Go's module
proxy only; tests/cli_export.rs holds those lines to the published grammar.) Needs cargo, and python3 with venv and pip; the
packages come from PyPI into a virtual environment that is thrown away.
"""

import csv
import io
import json
import pathlib
import re
import subprocess
import sys
import tempfile

import packages

ROOT = pathlib.Path(__file__).resolve().parent.parent
REQUIREMENTS = ["prometheus-client==0.26.0", "hdrhistogram==0.10.8"]


def main():
    if not packages.are_there():
        sys.exit(packages.rerun_with(REQUIREMENTS))
    packages.build_votebench(ROOT)
    runs = sorted(path.parent for path in (ROOT / "results").glob("*/results.json"))
    if not runs:
        sys.exit("exports.py: no run is committed")
    for run in runs:
        measurements = json.loads((run / "results.json").read_text())["measurements"]
        print(f"{run.name}: {openmetrics(run, measurements)}, {comma_separated(run, measurements)}, "
              f"{percentiles(run, measurements)}, {json_formats(run)}")


def export(run, form, *more):
    command = [packages.votebench(ROOT), "export", run, "--format", form, *more]
    return subprocess.run(command, check=True, capture_output=True).stdout.decode()


def numbers(measurement):
    """Its figures, by percentile where it is a distribution."""
    if measurement["status"] != "ok":
        return {}
    value = measurement["value"]
    return {name: number for name, number in value.items() if number is not None} if isinstance(value, dict) else {"": value}


def openmetrics(run, measurements):
    from prometheus_client.openmetrics.parser import text_string_to_metric_families

    samples = [
        sample
        for family in text_string_to_metric_families(export(run, "openmetrics"))
        if family.type == "gauge"
        for sample in family.samples
    ]
    expected = sorted(float(number) for one in measurements for number in numbers(one).values())
    assert sorted(sample.value for sample in samples) == expected, "OpenMetrics: other figures than the run's"
    return f"{len(samples)} samples of OpenMetrics"


def comma_separated(run, measurements):
    records = list(csv.DictReader(io.StringIO(export(run, "csv"), newline="")))
    rounds = [float(record["value"]) for record in records if record["round"]]
    expected = [
        value
        for one in measurements
        if one["status"] == "ok" and one.get("processes") and isinstance(one["processes"][0], list)
        for process in one["processes"]
        for value in process
    ]
    assert rounds == expected, "CSV: other rounds than the run's"
    reasons = [record["reason"] for record in records if record["status"] != "ok"]
    assert reasons == [one["reason"] for one in measurements if one["status"] != "ok"], "CSV: reasons are missing"
    return f"{len(records)} records of CSV"


def percentiles(run, measurements):
    from hdrh.histogram import HdrHistogram

    distributions = [one for one in measurements if one.get("histogram")]
    if not distributions:
        return "no distribution"
    with tempfile.TemporaryDirectory() as folder:
        export(run, "hgrm", "--output", folder)
        files = {path.stem: path.read_text() for path in pathlib.Path(folder).iterdir()}
    assert len(files) == len(distributions), "hgrm: a file for each distribution is wanted"
    coordinates = ["suite", "protocol", "model", "row", "wait", "side", "workload", "metric"]
    for one in distributions:
        ours = files["-".join(one[name] for name in coordinates if name in one)]
        histogram = HdrHistogram.decode(one["histogram"]["data"])
        below, total = {}, 0
        for step in histogram.get_recorded_iterator():
            total += step.count_at_value_iterated_to
            below[float(histogram.get_highest_equivalent_value(step.value_iterated_to))] = total
        lines = [[float(word) for word in line.split()] for line in ours.splitlines()[2:] if not line.startswith("#")]
        # The port's own text takes other steps towards 100 % than the Java original, so the steps are checked one by one.
        for value, share, count, *inverse in lines:
            assert below[value] == count and count >= share * total * (1 - 1e-9), (value, share, count)
            assert all(abs(one - 1 / (1 - share)) <= 0.01 * one for one in inverse), (share, inverse)
        assert lines[-1][1:] == [1.0, total], lines[-1]
        theirs = io.BytesIO()
        histogram.output_percentile_distribution(theirs, 1)
        # Mean and deviation are sums of floats: in another order they round to another last digit, the third behind the point.
        (our_sums, *our_counts), (their_sums, *their_counts) = foot(ours), foot(theirs.getvalue().decode())
        near = all(abs(one - other) < 0.0015 for one, other in zip(our_sums, their_sums, strict=True))
        assert near and our_counts == their_counts, (one["protocol"], our_sums, their_sums, our_counts, their_counts)
    return f"{len(files)} distributions"


def foot(text):
    """The numbers below the lines."""
    return [[float(number) for number in re.findall(r"[0-9.]+", line)] for line in text.splitlines() if line.startswith("#")]


def json_formats(run):
    benchmarks = json.loads(export(run, "bencher"))
    entries = json.loads(export(run, "github-action-benchmark"))
    return f"{sum(map(len, benchmarks.values()))} measures for Bencher, {len(entries)} entries for github-action-benchmark"


if __name__ == "__main__":
    main()
