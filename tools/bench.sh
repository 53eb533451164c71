#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs every benchmark in a folder. Usage: tools/bench.sh FOLDER
set -euo pipefail
for program in "$1"/*_bench; do
  [ -x "$program" ] || continue
  echo "==> $(basename "$program")"
  "$program" --benchmark_min_time=0.2
done
