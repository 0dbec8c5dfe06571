#!/usr/bin/env bash
# The tour on a part of the digits, its JSON file, and its answers to mistakes.
#   check.sh TOUR
set -u
tour=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0
wrong() { echo "wrong: $*"; failed=1; }

"$tour" --short --seed 3 --json "$work/facts.json" >"$work/out" 2>"$work/err" ||
  { wrong "the short tour failed"; cat "$work/err"; }
for text in forward backward evaluation "optimizer state" reserved NoGradGuard; do
  grep -q "$text" "$work/out" || wrong "the output does not speak of '$text'"
done
python3 - "$work/facts.json" <<'PYTHON' || wrong "the JSON file lacks a fact"
import json, sys
facts = json.load(open(sys.argv[1]))
assert 0.3 < facts["test_accuracy"] <= 1, facts["test_accuracy"]
assert sum(facts["categories"].values()) == facts["peak_bytes"] > 0
assert set(facts["phases"]) == {"load", "forward", "loss", "backward", "step", "evaluation"}
assert facts["moments"][-1] == {"when": "after empty_cache()", "allocated_bytes": 0,
                                "reserved_bytes": 0}, facts["moments"]
assert facts["evaluation"]["peak_bytes_no_grad"] < facts["evaluation"]["peak_bytes_with_graph"]
PYTHON

# refused TEXT OPTIONS...: one line on stderr that has TEXT, exit code 2, nothing written.
refused() {
  local text=$1 code=0
  shift
  "$tour" --short "$@" >"$work/out" 2>"$work/err" || code=$?
  [ "$code" = 2 ] || wrong "exit code $code instead of 2 for $*"
  [ "$(wc -l <"$work/err")" = 1 ] || wrong "not one line on stderr for $*: $(cat "$work/err")"
  grep -q -- "$text" "$work/err" || wrong "'$text' is not in: $(cat "$work/err")"
}
refused "--no-such-option" --no-such-option
refused "epochs" --epochs many
refused "batch-size" --batch-size 0
refused "$work/nothing" --data "$work/nothing"
refused "cannot write $work/no/folder.json" --json "$work/no/folder.json"
refused "cannot write $work: " --json "$work"
mkdir "$work/broken"
printf 'no digits' >"$work/broken/train-images-idx3-ubyte"
printf 'no labels' >"$work/broken/train-labels-idx1-ubyte"
refused "train-images-idx3-ubyte is not an IDX file" --data "$work/broken" --json "$work/half.json"
[ -e "$work/half.json" ] && wrong "a file was left behind"
[ -z "$(find "$work" -name '*.part')" ] || wrong "a half-written file was left behind"
exit $failed
