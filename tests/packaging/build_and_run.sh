#!/usr/bin/env bash
# build_and_run.sh CMAKE SOURCE BUILD [cmake options]: configures, builds, runs the program "app", or
# the project's own tests where there is none.
set -eu
cmake=$1 source=$2 build=$3
shift 3
generator=()
command -v ninja >/dev/null && generator=(-G Ninja)
"$cmake" -S "$source" -B "$build" "${generator[@]}" "$@"
"$cmake" --build "$build" --parallel 2
if [[ -x $build/app ]]; then
  "$build/app"
else
  "$(dirname "$cmake")/ctest" --test-dir "$build" --output-on-failure --no-tests=error
fi
