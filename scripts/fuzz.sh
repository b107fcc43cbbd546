#!/usr/bin/env bash
# Runs every fuzz target for a number of executions and writes what came of it to fuzz/executions.tsv, which
# tests/tidy.rs holds METHODOLOGY.md's sentence to.
#
#   scripts/fuzz.sh [RUNS] [TARGET...]     10,000,000 and all targets unless told otherwise
#   SANITIZER=none scripts/fuzz.sh         several times as fast; the address sanitizer unless told otherwise
#
# Needs a nightly toolchain (or RUSTC_BOOTSTRAP=1 and its own idea of +nightly) and cargo-fuzz. Starts from messages that
# our own encoders write, and keeps corpora and findings under fuzz/, uncommitted.
set -euo pipefail
cd "$(dirname "$0")/.."

runs=${1:-10000000}
[ $# -eq 0 ] || shift
targets=("$@")
if [ "${#targets[@]}" -eq 0 ]; then
    mapfile -t targets < <(cd fuzz/fuzz_targets && printf '%s\n' *.rs | sed 's/\.rs$//')
fi

cargo build --quiet
votes=$(mktemp)
trap 'rm -f "$votes"' EXIT
python3 - > "$votes" << 'PYTHON'
import json
for vote in json.load(open("tests/golden/zap/votes.json"))[:8]:
    fields = {key: vote[key] for key in ("round", "block_hash", "voter_id", "signature", "timestamp", "vote_type")}
    print(json.dumps(fields))
PYTHON

# The corpus begins with real messages: hex lines into one file each.
seed() {
    local target=$1 corpus=fuzz/corpus/$1
    mkdir -p "$corpus"
    case $target in
        codec_*) target/debug/votebench encode --codec "$(tr _ - <<< "${target#codec_}")" < "$votes" ;;
        zap_reader) python3 -c 'import json; [print(o["zap_v1"]) for o in json.load(open("tests/golden/zap/objects.json"))]' ;;
        zap_schema) cp schemas/*.zap "$corpus/" ;;
    esac | python3 -c '
import pathlib, sys
for number, line in enumerate(sys.stdin):
    (pathlib.Path(sys.argv[1]) / f"seed-{number}").write_bytes(bytes.fromhex(line.strip()))' "$corpus"
}

# One line a target: its name, executions, findings. A target's older line is replaced.
note() {
    local table=fuzz/executions.tsv scratch
    scratch=$(mktemp)
    { [ ! -f "$table" ] || grep -v -P "^(target|$1)\t" "$table" || true; printf '%s\t%s\t%s\n' "$1" "$2" "$3"; } \
        | sort > "$scratch"
    { printf 'target\texecutions\tfindings\n'; cat "$scratch"; } > "$table"
    rm -f "$scratch"
}

for target in "${targets[@]}"; do
    seed "$target"
    log=$(mktemp)
    status=0
    cargo +nightly fuzz run -O -s "${SANITIZER:-address}" "$target" -- -runs="$runs" -max_len=512 > "$log" 2>&1 || status=$?
    done=$(sed -n 's/^Done \([0-9]*\) runs.*/\1/p' "$log" | tail -n 1)
    if [ "$status" -ne 0 ]; then
        tail -n 40 "$log" >&2
        note "$target" "${done:-0}" 1
        exit 3
    fi
    note "$target" "$done" 0
    echo "$target: $done executions, no finding"
    rm -f "$log"
done
