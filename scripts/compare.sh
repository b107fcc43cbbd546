#!/usr/bin/env bash
# Compares two commits so that a change of 3 % can be seen on a shared machine: both are built in four link layouts, and
# their processes take turns, A, B, B, A, in one session. Ends as `votebench compare` does: 1 where something got worse.
#
#   scripts/compare.sh COMMIT_A COMMIT_B [COMPARE'S OPTIONS]
#   PROCESSES=30   processes a side, at least 8        CODECS=protobuf,capnp   only these, and zap
#   ROUNDS=15      rounds in each process             SLICE=2000   microseconds of a candidate in a round, 10000 with CODECS
#   OUT=DIR        keep the session there; a folder of the system's for temporary files unless told otherwise
#   WORK=DIR       keep the builds there, and take those that are there already
#   FORCE=1        measure on an unfit machine, too: rates are then indicative
#
# Works on commits whose `votebench serialize` can take turns (--session). Needs git, cargo, cc, nm; counts instructions,
# too, where valgrind and gungraun-runner are there. What a layout is, and what is made of it, is written in METHODOLOGY.md.
set -euo pipefail
cd "$(dirname "$0")/.."

if [ $# -lt 2 ]; then
    sed -n '2,/^set/p' "$0" | sed -n 's/^# \{0,1\}//p' >&2
    exit 2
fi
old=$(git rev-parse --verify --quiet "$1^{commit}") || { echo "compare.sh: $1 is no commit" >&2; exit 2; }
new=$(git rev-parse --verify --quiet "$2^{commit}") || { echo "compare.sh: $2 is no commit" >&2; exit 2; }
shift 2
processes=${PROCESSES:-30}
[ "$processes" -ge 8 ] || { echo "compare.sh: PROCESSES: at least 8 are wanted, two for each layout" >&2; exit 2; }
layouts=(0 16 32 48)
rounds=${ROUNDS:-15}
# Whoever else runs is counted in ticks of 10 ms, of which one must not disturb a round: few candidates make short rounds.
slice=${SLICE:-${CODECS:+10000}}
work=${WORK:-$(mktemp -d)}
mkdir -p "$work"
work=$(cd "$work" && pwd)
out=${OUT:-$(mktemp -d)}
mkdir -p "$out/old" "$out/new"
out=$(cd "$out" && pwd)
session=$(date -u +%Y%m%dT%H%M%SZ)-${old:0:12}-${new:0:12}
pids=()

say() { echo "compare.sh: $*" >&2; }

# A driver that waits for its turn sees the end of its input, and ends.
cleanup() {
    for fd in "${go[@]:-}"; do [ -z "$fd" ] || eval "exec $fd>&-"; done
    for pid in "${pids[@]:-}"; do [ -z "$pid" ] || kill "$pid" 2> /dev/null || true; done
    for side in old new; do git worktree remove --force "$work/$side" 2> /dev/null || true; done
    [ -n "${WORK:-}" ] || rm -rf "$work"
    rm -f "$work"/*.go "$work"/*.said
}
trap cleanup EXIT
trap 'exit 130' INT TERM

# The padding stands before all other code, because its object is the first that the linker gets; `R` keeps the linker from
# throwing it away as unused.
for layout in "${layouts[@]}"; do
    printf '.section .text.votebench_padding,"axR",@progbits\n' > "$work/pad-$layout.s"
    [ "$layout" -eq 0 ] || printf '.skip %s\n' "$layout" >> "$work/pad-$layout.s"
    cc -c "$work/pad-$layout.s" -o "$work/pad-$layout.o"
    printf '#!/bin/sh\nexec cc "%s" "$@"\n' "$work/pad-$layout.o" > "$work/layout-$layout-cc"
    chmod +x "$work/layout-$layout-cc"
done

# Names of functions with their addresses, those that occur once.
functions() {
    nm --defined-only --radix=d "$1" | awk '$2 ~ /^[tT]$/ { seen[$3]++; at[$3] = $1 }
        END { for (name in seen) if (seen[name] == 1) print name, at[name] }' | LC_ALL=C sort
}

# A layout that does not shift the code would be no other layout.
check_shift() {
    local side=$1 layout=$2 shifted
    shifted=$(LC_ALL=C join "$work/$side-0.functions" <(functions "$work/bin/$side-$layout/votebench") |
        awk -v by="$layout" '{ all++; if ($3 - $2 == by) moved++ } END { print all ? int(100 * moved / all) : 0 }')
    say "$side, layout $layout: $shifted % of all functions lie $layout bytes further on"
    [ "$shifted" -ge 90 ] || { say "the layout is not what it is called; nothing is measured"; exit 3; }
}

build() {
    local side=$1 commit=$2 layout cargo
    git worktree add --quiet --detach "$work/$side" "$commit"
    if [ "$(cat "$work/bin/$side.commit" 2> /dev/null)" = "$commit" ]; then
        say "$side is built already"
        return
    fi
    export CARGO_TARGET_DIR=$work/target-$side
    cargo=(--quiet --release --locked --no-default-features --manifest-path "$work/$side/Cargo.toml")
    (cd "$work/$side" && cargo build "${cargo[@]}" --bin votebench-count)
    for layout in "${layouts[@]}"; do
        mkdir -p "$work/bin/$side-$layout"
        (cd "$work/$side" && cargo rustc "${cargo[@]}" --bin votebench -- -C "linker=$work/layout-$layout-cc" -C linker-flavor=gcc)
        cp "$CARGO_TARGET_DIR/release/votebench" "$CARGO_TARGET_DIR/release/votebench-count" "$work/bin/$side-$layout/"
        [ "$layout" -gt 0 ] || functions "$work/bin/$side-0/votebench" > "$work/$side-0.functions"
        check_shift "$side" "$layout"
    done
    "$work/bin/$side-0/votebench" serialize --help | grep -q -- --session || {
        say "$commit cannot take turns: its serialize has no --session"
        exit 2
    }
    unset CARGO_TARGET_DIR
    echo "$commit" > "$work/bin/$side.commit"
}

say "building ${old:0:12} and ${new:0:12}, each in ${#layouts[@]} layouts"
build old "$old"
if [ "$old" = "$new" ] && [ ! -e "$work/bin/new.commit" ]; then
    # The same under two names: what nothing at all looks like.
    for layout in "${layouts[@]}"; do cp -r "$work/bin/old-$layout" "$work/bin/new-$layout"; done
    echo "$new" > "$work/bin/new.commit"
fi
build new "$new"
cargo build --quiet --release --locked --no-default-features --bin votebench

# Drivers, one a side and layout, each with a pipe for the turns that it is granted and one for those that it asks for. The
# pipes are opened when all drivers run: none must hold another's open.
drivers=()
declare -A go said
for at in "${!layouts[@]}"; do
    for side in old new; do
        driver=$side-${layouts[$at]}
        drivers+=("$driver")
        mkfifo "$work/$driver.go" "$work/$driver.said"
        more=()
        [ -z "${CODECS:-}" ] || more+=(--codec "$CODECS")
        [ -z "${FORCE:-}" ] || more+=(--force)
        "$work/bin/$driver/votebench" serialize --session "$session" --layout "${layouts[$at]}" --results "$out/$side" \
            --rounds "$rounds" --slice "${slice:-2000}" --processes $(((processes - at + ${#layouts[@]} - 1) / ${#layouts[@]})) "${more[@]}" \
            < "$work/$driver.go" > "$work/$driver.said" 2> "$out/$driver.log" &
        pids+=($!)
    done
done
for driver in "${drivers[@]}"; do
    exec {fd}> "$work/$driver.go"
    go[$driver]=$fd
    exec {fd}< "$work/$driver.said"
    said[$driver]=$fd
done

asks() {
    local line='' status=142
    # Now and then it looks up, so that a signal is heard; above 128 is what it says then.
    while [ "$status" -gt 128 ]; do
        status=0
        read -r -t 5 -u "${said[$1]}" line || status=$?
    done
    [ "$line" = turn ] || {
        say "the driver $1 has ended early:"
        tail -n 5 "$out/$1.log" >&2
        exit 3
    }
}
grant() { echo >&"${go[$1]}"; }
takes_turn() { grant "$1" && asks "$1"; }

say "calibrating"
for driver in "${drivers[@]}"; do asks "$driver" && takes_turn "$driver"; done
for ((pair = 0; pair < processes; pair++)); do
    layout=${layouts[$((pair % ${#layouts[@]}))]}
    if ((pair % 2 == 0)); then order=(old new); else order=(new old); fi
    for side in "${order[@]}"; do takes_turn "$side-$layout"; done
    say "$((pair + 1)) of $processes processes a side"
done
for at in "${!drivers[@]}"; do
    grant "${drivers[$at]}"
    cat <&"${said[${drivers[$at]}]}" > /dev/null
    wait "${pids[$at]}"
done
pids=()

if command -v valgrind > /dev/null && command -v gungraun-runner > /dev/null; then
    for side in old new; do
        say "counting the instructions of $side"
        (cd "$work/$side" && CARGO_TARGET_DIR=$work/target-$side cargo bench --quiet --locked --no-default-features \
            --features callgrind --bench instructions -- --results "$out/$side" ${CODECS:+--codec "zap,$CODECS"}) > "$out/instructions-$side.log" 2>&1 ||
            say "no instruction counts of $side: see $out/instructions-$side.log"
    done
else
    say "valgrind or gungraun-runner is not there: layouts alone must tell what instructions would"
fi

say "the session is kept in $out"
status=0
target/release/votebench compare "$out/old" "$out/new" "$@" || status=$?
exit "$status"
