#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Builds the fuzz targets and runs each for some seconds: fuzz/run.sh [SECONDS] [BUILD_FOLDER]
set -eu
seconds=${1:-10}
root=$(cd "$(dirname "$0")/.." && pwd)
build=${2:-$root/build-fuzz}

cmake -S "$root" -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=RelWithDebInfo \
  -DCMAKE_CXX_COMPILER=clang++ -DSEXTANT_FUZZ=ON -DSEXTANT_TESTS=OFF -DSEXTANT_BENCH=OFF >/dev/null
cmake --build "$build" --target fuzz_toml fuzz_json fuzz_csv fuzz_cases fuzz_units fuzz_plan fuzz_kineto fuzz_import \
  fuzz_api

for name in toml json csv cases units plan kineto import api; do
  echo "== $name, $seconds s"
  # New inputs go to the build folder; the seeds in the repository stay small and readable.
  found=$build/corpus/$name
  mkdir -p "$found"
  "$build/fuzz_$name" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 -max_len=65536 \
    -print_final_stats=0 -verbosity=0 -artifact_prefix="$build/crash-$name-" \
    "$found" "$root/fuzz/corpus/$name"
done
echo "nothing found"
