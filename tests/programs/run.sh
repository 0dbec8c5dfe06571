#!/usr/bin/env bash
# run.sh PROGRAM EXPECTED: runs a LibTorch program and compares what it prints.
set -eu
output=$(mktemp)
trap 'rm -f "$output"' EXIT
"$1" >"$output" || { echo "$1 failed: exit code $?"; cat "$output"; exit 1; }
awk -f "$(dirname "$0")/compare.awk" "$2" "$output"
