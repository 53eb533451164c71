#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs clang-tidy over the sources of src/ (tests excepted), two at a time; files that passed and did
# not change since, headers included, are skipped; src/site is for another compiler. Usage: tools/tidy.sh [PATH-PATTERN]
set -euo pipefail
cd "$(dirname "$0")/.."
pattern=${1:-.}
build="build-tidy"

[ -f "$build/build.ninja" ] || cmake --preset tidy --log-level=WARNING >/dev/null
passed=$build/tidy-passed
mkdir -p "$passed"

# Headers, settings and flags count for every file: simple, and safe.
common=$(find src -name '*.hpp' -print0 | LC_ALL=C sort -z |
  xargs -0 sha256sum .clang-tidy "$build/CMakeCache.txt" cmake/*.cmake | sha256sum)
export build passed common

check() { # FILE
  local key
  key=$passed/$( (echo "$common"; cat "$1") | sha256sum | cut -c1-32)
  [ ! -e "$key" ] || return 0
  local output
  if output=$(clang-tidy --quiet -p "$build" "$1" 2>/dev/null); then
    touch "$key"
  else
    echo "$output"
    return 1
  fi
}
export -f check

find src -name '*.cpp' ! -name '*_test.cpp' ! -path 'src/site/*' | LC_ALL=C sort | grep -E -- "$pattern" |
  xargs -P 2 -n 1 bash -c 'check "$0"' || {
  echo "clang-tidy found faults." >&2
  exit 1
}
