#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Builds the fuzz targets with clang and sanitizers, of the libraries that the tests use, and runs each for some
# seconds: fuzz/run.sh [SECONDS]. FUZZ names others: FUZZ=api fuzz/run.sh 600 goes from requests to answers. FAST=1 takes
# traps and checked containers for the sanitizers: faster several times, and blind to what is freed or never was written.
set -eu
seconds=${1:-10}
names=${FUZZ:-toml json csv cases units limits plan kineto import store http}
cd "$(dirname "$0")/.."
preset=clang
[ -z "${FAST:-}" ] || preset=fuzz
build=build-$preset

cmake --preset "$preset" --log-level=WARNING >/dev/null
# shellcheck disable=SC2046,SC2086  # a list of words
cmake --build "$build" --target $(printf 'fuzz_%s ' $names)

# What has code and no counters is code that the fuzzer neither sees nor checks.
objects=$(find "$build"/src/sextant/CMakeFiles/sextant.dir "$build"/src/sextant/CMakeFiles/sextant-cold.dir \
  "$build"/src/cli/CMakeFiles/sextant-commands.dir "$build"/src/server/CMakeFiles/sextant-server.dir \
  -name '*.cpp.o' -o -name '*_cxx.cxx.o')
blind=$(for object in $objects; do
  symbols=$(nm "$object")
  case $symbols in *__sanitizer_cov_*) continue ;; esac
  case $symbols in *' T '*) basename "$object" ;; esac
done)
[ -z "$blind" ] || {
  printf 'not instrumented:\n%s\n' "$blind"
  exit 1
}

# As many at a time as there are cores; what one says stays together.
export build seconds
# shellcheck disable=SC2016  # the words are the inner shell's
one='
# New inputs go to the build folder; the seeds in the repository stay small and readable.
mkdir -p "$build/corpus/$1"
"$build/fuzz_$1" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 -max_len=65536 \
  -print_final_stats=0 -verbosity=0 -artifact_prefix="$build/crash-$1-" \
  "$build/corpus/$1" "fuzz/corpus/$1" >"$build/fuzz-$1.log" 2>&1 && status=0 || status=1
{ echo "== $1, $seconds s" && cat "$build/fuzz-$1.log"; } || true
exit $status'
# shellcheck disable=SC2086  # a list of words
printf '%s\n' $names | xargs -n 1 -P "$(nproc)" sh -c "$one" one
echo "nothing found"
