#!/usr/bin/env bash
# Open-loop load on every protocol, one after another: scripts/sustained.sh DURATION [arguments of `votebench sustained`].
# Builds, says how long it will take and whether it can come to its end, and runs. DURATION is for each row: 60s, 10m, 60m.
set -euo pipefail

if [ $# -lt 1 ] || [ "$1" = -h ] || [ "$1" = --help ]; then
  sed -n '2,3s/^# //p' "$0"
  echo "For example: scripts/sustained.sh 60m --rate 50000 --protocol zap,grpc"
  exit $([ $# -lt 1 ] && echo 2 || echo 0)
fi
duration=$1
shift
# Paths that the user names count from where the user is.
manifest="$(cd "$(dirname "$0")/.." && pwd)/Cargo.toml"
cargo build --release --locked --manifest-path "$manifest"
target=$(cargo metadata --format-version 1 --no-deps --locked --manifest-path "$manifest" |
  python3 -c 'import json, sys; print(json.load(sys.stdin)["target_directory"])')
votebench="$target/release/votebench"
"$votebench" sustained --duration "$duration" "$@" --dry-run
exec "$votebench" sustained --duration "$duration" "$@"
