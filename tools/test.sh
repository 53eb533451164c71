#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Everything that must hold before a change lands, cheapest first; stops at the first step that fails.
set -euo pipefail
cd "$(dirname "$0")/.."

passed=0
failed=0
step=""
SECONDS=0
quiet=()
[ -t 1 ] || quiet=(-- --quiet)

finish() {
  local status=$?
  printf '\n'
  [ "$status" = 0 ] || printf 'FAILED: %s\n' "$step"
  printf '%d tests passed, %d tests failed, %d min %02d s\n' "$passed" "$failed" \
    $((SECONDS / 60)) $((SECONDS % 60))
}
trap finish EXIT

begin() {
  step=$1
  printf '==> %s (%d s so far)\n' "$step" "$SECONDS"
}

# build_and_test PRESET FOLDER EXTRAS: benchmarks and Python are extras; the log of the tests is kept; what failed is printed.
build_and_test() {
  cmake --preset "$1" -DSEXTANT_TESTS=ON -DSEXTANT_BENCH="$3" -DSEXTANT_PYTHON="$3" --log-level=WARNING >/dev/null
  cmake --build "$2" "${quiet[@]}"
  local log=$2/ctest.log status=0 summary bad total jobs
  jobs=$(nproc)
  [ "$3" = OFF ] || jobs=$((jobs + 1)) # the page's tests are there, which wait most of the time
  ctest --test-dir "$2" -j "$jobs" --output-on-failure --no-tests=error >"$log" 2>&1 || status=$?
  [ "$status" = 0 ] || grep -vE ' Passed +[0-9.]+ sec$|^ +Start +[0-9]+:' "$log" || true
  summary=$(grep -E 'tests passed, [0-9]+ tests failed out of' "$log" || true)
  printf '%s\n' "${summary:-no tests ran}"
  bad=$(sed -nE 's/.*, ([0-9]+) tests failed.*/\1/p' <<<"$summary")
  total=$(sed -nE 's/.*out of ([0-9]+).*/\1/p' <<<"$summary")
  failed=$((failed + ${bad:-1}))
  passed=$((passed + ${total:-0} - ${bad:-0}))
  return "$status"
}

begin "format"
tools/format.sh --check
begin "g++, optimised: build and tests"
build_and_test release build ON
begin "clang with address and undefined-behaviour sanitizers: build and tests"
build_and_test clang build-clang OFF
begin "clang-tidy"
tools/tidy.sh
begin "fuzzing"
fuzz/run.sh 5 >build-clang/fuzz.log 2>&1 || {
  tail -n 60 build-clang/fuzz.log
  false
}
tail -n 1 build-clang/fuzz.log
