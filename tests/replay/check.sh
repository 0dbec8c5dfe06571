#!/usr/bin/env bash
# The program's table, its JSON, its exit codes and its answers to mistakes.  check.sh REPLAY
set -u
replay=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0
wrong() { echo "wrong: $*"; failed=1; }

printf 'a x 31457280\nf x\na y 32505856\n' >"$work/trace.txt"

# 30 MiB and 32 MiB are reserved for 31 MiB; rounded to a common size, 32 MiB.
"$replay" "$work/trace.txt" --conf "" --conf roundup_power2_divisions:4 >"$work/out" ||
  wrong "exit code $?"
diff - "$work/out" <<'TEXT' || wrong "the table"
2 requests
settings                        peak reserved     peak allocated   ratio  segments
(default)                          65,011,712         32,505,856   2.000         2
roundup_power2_divisions:4         33,554,432         32,505,856   1.032         1
TEXT

"$replay" - --json --capacity 64MiB --conf "" <"$work/trace.txt" >"$work/out" || wrong "exit code $?"
python3 - "$work/out" <<'PYTHON' || wrong "the JSON"
import json, sys
[row] = json.load(open(sys.argv[1]))
assert row.pop("ratio") == 2.0
assert row == {"device": "", "settings": "", "requests": 2, "peak_reserved_bytes": 65011712,
               "peak_allocated_bytes": 32505856, "segments_taken": 2, "failure": None}, row
PYTHON

code=0
"$replay" "$work/trace.txt" --capacity 30MiB >"$work/out" || code=$?
[ "$code" = 1 ] || wrong "exit code $code where a request finds no memory"
grep -q "ended at request 2: CPU out of memory. Tried to allocate 31.00 MiB" "$work/out" ||
  wrong "no word on the request that failed: $(cat "$work/out")"

# refused TEXT OPTIONS...: one line on stderr that has TEXT, and exit code 2.
refused() {
  local text=$1 code=0
  shift
  "$replay" "$@" >"$work/out" 2>"$work/err" </dev/null || code=$?
  [ "$code" = 2 ] || wrong "exit code $code instead of 2 for $*"
  [ "$(wc -l <"$work/err")" = 1 ] || wrong "not one line on stderr for $*: $(cat "$work/err")"
  [ -s "$work/out" ] && wrong "output in spite of the mistake for $*"
  grep -q -- "$text" "$work/err" || wrong "'$text' is not in: $(cat "$work/err")"
}
refused "file is required"
refused "nothing.txt: No such file" "$work/nothing.txt"
refused "$work: cannot be read" "$work"
refused "standard input: nothing is allocated" -
refused "Unrecognized key \"max_split\"" "$work/trace.txt" --conf max_split:1
refused "at least 20" "$work/trace.txt" --conf "" --conf max_split_size_mb:1
refused "capacity" "$work/trace.txt" --capacity much
refused "policy" "$work/trace.txt" --policy strict
printf 'a x 512\na y many\n' >"$work/broken.txt"
refused "broken.txt:2: \`many\` is not a number of bytes" "$work/broken.txt"
printf '{"segments": [}' >"$work/broken.json"
refused "broken.json: .*parse error" "$work/broken.json"
exit $failed
