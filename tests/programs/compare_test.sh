#!/usr/bin/env bash
# The comparison itself: what must pass passes, what must fail fails.
set -u
script=$(realpath "$(dirname "$0")")/compare.awk
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 1
failed=0
check() { # check pass|fail EXPECTED ACTUAL
  printf '%b' "$2" >expected
  printf '%b' "$3" >actual
  awk -f "$script" expected actual >/dev/null && result=pass || result=fail
  [[ $result = "$1" ]] || { echo "should $1: '$2' against '$3'"; failed=1; }
}
check pass 'a [2] 1.00000 2.00000\nb true\n' 'b true\na [2] 1.00000 2.00000\n'
check pass 'a 1.00000\n' 'a 1.00001\n'
check pass 'a 2888.98804\n' 'a 2888.98828\n'
check fail 'a 2888.98804\n' 'a 2888.99100\n'
check fail 'a 2888.98804123\n' 'a 2888.98828123\n'
check fail 'a 1.00000\n' 'a 1.00002\n'
check fail 'a 1.00000\n' 'a -1.00000\n'
check fail 'a 1.00000\n' 'a 1.000000\n'
check fail 'a nan\n' 'a 0.00000\n'
check fail 'a 1\n' 'a 2\n'
check fail 'a true\n' 'a false\n'
check fail 'a [2] 1.0 2.0\n' 'a [2] 1.0\n'
check fail 'a 1\nb 2\n' 'a 1\n'
check fail 'a 1\n' 'a 1\nb 2\n'
check fail 'a 1\n' 'a 1\na 1\n'
exit $failed
