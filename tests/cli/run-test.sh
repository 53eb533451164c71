#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Shows that run.sh notices what is wrong, with echo as the program.
set -euo pipefail
runner=$(cd "$(dirname "$0")" && pwd)/run.sh
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

try() { # EXPECTED-STATUS LINE…
  local status=0
  printf '%s\n' "${@:2}" >"$folder/x.test"
  bash "$runner" /bin/echo "$folder/x.test" >"$folder/out" 2>&1 || status=$?
  if [ "$status" != "$1" ]; then
    printf 'expected %s, got %s for:\n' "$1" "$status"
    cat "$folder/x.test" "$folder/out"
    exit 1
  fi
}
try 0 '# a remark' '$ sextant hello' 'out ^hel+o$' 'no-out bye' 'no-err .'
try 0 '$ exit 3' 'status 3' '' '$ echo oops >&2' 'err oops' '$ touch x' '$ ls' 'out ^x$'
try 1 '$ sextant hello' 'out bye'
try 1 '$ sextant hello' 'no-out hello'
try 1 '$ sextant hello' 'err hello'
try 1 '$ exit 2'
try 1 '$ sextant hello' 'status 2'
try 1 '$ exit 1' '$ sextant hello'
try 2 '# nothing'
try 2 '$ sextant hello' 'stdout hello'
echo "the runner notices"
