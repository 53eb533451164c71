#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Instructions that each of what a program of this folder does takes, against a committed ceiling.
# Times depend on the machine and its load; instructions do not.
# Usage: bench/instructions.sh PROGRAM
set -euo pipefail
program=$1

# Measured with g++ 12 at -O3 on aarch64, stack protection included; elsewhere the count is only reported.
case $(basename "$program") in
  search_instructions)
    # Laying out and layers included. 1,797 since strategies that differ in replicas' states alone share the way of
    # a microbatch through the stages (3,367 before).
    what="a strategy" counted='sextant::search(*' ceiling=1800
    ;;
  answer_instructions)
    # HTTP, the question and the answer in JSON included, sockets not; 2,500 of them are what a core answers a second.
    what="an answer" counted='*answer_many*' ceiling=2000000
    ;;
  *)
    echo "no ceiling is known of $program" >&2
    exit 2
    ;;
esac

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
valgrind --tool=callgrind --toggle-collect="$counted" \
  --callgrind-out-file="$folder/out" "$program" >"$folder/done" 2>"$folder/log"
number=$(cat "$folder/done")
total=$(sed -nE 's/.*Collected : ([0-9]+).*/\1/p' "$folder/log")
each=$((total / number))
echo "$each instructions $what ($number of them)"
if [ "$(uname -m)" = aarch64 ] && [ $((each * 100)) -gt $((ceiling * 105)) ]; then
  echo "more than the ceiling of $ceiling by over 5 %" >&2
  exit 1
fi
