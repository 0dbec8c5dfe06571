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
refused() { refused_by "$1" --short "${@:2}"; }
refused_by() {
  local text=$1 code=0
  shift
  "$tour" "$@" >"$work/out" 2>"$work/err" || code=$?
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
refused "excludes" --page "$work/half.html"
refused_by "excludes" --short --quick
refused_by "cannot write $work/no/folder.html" --quick --json "$work/half.json" \
  --page "$work/no/folder.html"
for text in "$work/nothing" "$work" /dev/null; do
  refused_by "cannot read $text: " --quick --text "$text" --json "$work/half.json" \
    --page "$work/half.html"
done
mkdir "$work/broken"
printf 'no digits' >"$work/broken/train-images-idx3-ubyte"
printf 'no labels' >"$work/broken/train-labels-idx1-ubyte"
refused "train-images-idx3-ubyte is not an IDX file" --data "$work/broken" --json "$work/half.json"
# broken TEXT COMMAND: digits of which COMMAND breaks a file are refused with TEXT.
data=$(cd "$(dirname "$0")/../../examples/data/mnist" && pwd)
broken() {
  rm -rf "$work/digits"
  cp -r "$data" "$work/digits"
  (cd "$work/digits" && eval "$2")
  refused "$1" --data "$work/digits" --json "$work/half.json"
}
images=train-images-idx3-ubyte labels=train-labels-idx1-ubyte
broken "$images.gz is broken: it ends in the middle" "truncate -s 5000 $images.gz"
broken "$images.gz is not an IDX file" ": >$images.gz"
broken "$images ends within its header" "gunzip $images.gz; truncate -s 10 $images"
broken "holds 7840000 elements, but has 49984" "gunzip $images.gz; truncate -s 50000 $images"
broken "holds 7840000 elements, but has 7840004" "gunzip $images.gz; printf more >>$images"
broken "$images is not an IDX file" \
  "gunzip $images.gz; printf '\\1\\2' | dd of=$images conv=notrunc status=none"
broken "t10k-labels-idx1-ubyte nor" "rm t10k-labels-idx1-ubyte.gz"
broken "10000 images, but" "mv t10k-labels-idx1-ubyte.gz $labels.gz"
broken "holds the label 10" \
  "gunzip $labels.gz; printf '\\12' | dd of=$labels bs=1 seek=8 conv=notrunc status=none"
# A pipe is written to, not replaced by a file.
mkfifo "$work/pipe"
cat "$work/pipe" >"$work/piped" &
"$tour" --short --json "$work/pipe" >"$work/out" 2>"$work/err" || wrong "a pipe was not written to"
wait $!
[ -p "$work/pipe" ] || wrong "a pipe was replaced"
grep -q test_accuracy "$work/piped" || wrong "the facts did not come through a pipe"
[ -z "$(find "$work" -name 'half.*')" ] || wrong "a file was left behind"
[ -z "$(find "$work" -name '*.part')" ] || wrong "a half-written file was left behind"
exit $failed
