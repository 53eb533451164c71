#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs clang-tidy over the sources of src/ (tests excepted), two at a time. Most of its time goes into the
# headers, so a folder's sources are checked together, sixteen at a time, as a build from nothing compiles them: two of
# a folder that define the same name are a fault. What passed and did not change since, headers included, is skipped; src/site is
# for another compiler. Usage: tools/tidy.sh [PATH-PATTERN]
set -euo pipefail
cd "$(dirname "$0")/.."
pattern=${1:-.}
build="build-tidy"

# Anew each time: a source that came since has flags too.
cmake --preset tidy --log-level=WARNING >/dev/null
passed=$build/tidy-passed
batches=$build/tidy-batches
mkdir -p "$passed"
rm -rf "$batches"
mkdir -p "$batches"

# Headers, settings and flags count for every file: simple, and safe.
common=$(find src -name '*.hpp' -print0 | LC_ALL=C sort -z |
  xargs -0 sha256sum .clang-tidy "$build/CMakeCache.txt" cmake/*.cmake tools/tidy.sh | sha256sum)
export build passed common

# The flags with which FILE is compiled: as text of JSON, and in it of a shell, quotes are marked twice.
flags() { # FILE
  sed -nE "s|^ *\"command\": \"[^ ]+ (.*) -o [^ ]+ -c [^ ]*/$1\",?\$|\1|p" "$build/compile_commands.json" | head -n 1 |
    sed 's|\\\\\\"|"|g'
}

tidy() { # FILE-TO-CHECK FILE-WITH-THE-FLAGS
  # shellcheck disable=SC2046  # a list of words
  clang-tidy --quiet --config-file=.clang-tidy --header-filter='/src/.*[.][ch]pp$' --checks=-bugprone-suspicious-include "$1" -- \
    $(flags "$2") 2>/dev/null
}

check() { # BATCH: a source that includes sources
  local key sources
  mapfile -t sources < <(sed -nE 's|^#include "../../(.*)"$|\1|p' "$1")
  key=$passed/$( (echo "$common"; cat "${sources[@]}") | sha256sum | cut -c1-32)
  [ ! -e "$key" ] || return 0
  tidy "$1" "${sources[0]}" || return 1
  touch "$key"
}
export -f check flags tidy

find src -name '*.cpp' ! -name '*_test.cpp' ! -path 'src/site/*' | LC_ALL=C sort | grep -E -- "$pattern" |
  while read -r source; do
    folder=$(dirname "$source")
    name=${folder//\//_}
    count=$(cat "$batches/$name"_*.cpp 2>/dev/null | grep -c include || true)
    echo "#include \"../../$source\"" >>"$batches/${name}_$((count / 16)).cpp"
  done
# The longest first, so that the last to end is short.
find "$batches" -name '*.cpp' -printf '%s %p\n' | sort -rn | cut -d ' ' -f 2 | xargs -P 2 -n 1 bash -c 'check "$0"' || {
  echo "clang-tidy found faults." >&2
  exit 1
}
