#!/usr/bin/env bash
# check_library.sh LIBRARY: the shared library exports names of ebb and the type information and
# virtual tables of its classes, nothing else, and has not grown: the aim is 3 MB when stripped (see
# ./run bench), the bound here is above what it takes now.
set -eu
names=$(nm -D --defined-only "$1" | awk '{ print $3 }')
[[ -n $names ]] || { echo "no exported names"; exit 1; }
foreign=$(grep -vE '^_Z(T[ISVTHW]|GVZ?|Z|T(hn?|v0_n)[0-9]+_(n[0-9]+_)?)?N?K?N?K?3ebb' <<<"$names" || true)
[[ -z $foreign ]] || { echo "exported, but not of ebb:"; c++filt <<<"$foreign" | head -20; exit 1; }
echo "$(wc -l <<<"$names") exported names, all of ebb"

stripped=$(mktemp)
trap 'rm -f "$stripped"' EXIT
strip -o "$stripped" "$1"
bytes=$(stat -c %s "$stripped")
echo "$bytes bytes stripped"
((bytes <= 3000000)) || { echo "more than 3,000,000"; exit 1; }
