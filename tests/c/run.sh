#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The C interface as its users have it: a C program against header and library, Python's ctypes, and what the library shows.
# Usage: run.sh C-COMPILER PYTHON LIBRARY PROGRAM
set -euo pipefail
compiler=$1 python=$2 library=$(realpath "$3") program=$4
here=$(cd "$(dirname "$0")" && pwd)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"$compiler" -std=c99 -Wall -Wextra -Werror -pedantic -I"$here/../../src/c" "$here/example.c" -o "$folder/example" \
  "$library" -Wl,-rpath,"$(dirname "$library")"
"$folder/example"
"$python" "$here/oracle.py" "$library" "$program"
# Nothing but its functions is seen from outside, so that two C++ libraries in one process cannot meet.
shown=$(nm -D --defined-only "$library" | awk '$2 == "T" {print $3}' | sed 's/@.*//' | sort | tr '\n' ' ')
expected="sextant_abi sextant_limits_of sextant_prepare sextant_release sextant_state_tokens_of sextant_step_cost sextant_version "
[ "$shown" = "$expected" ] || { echo "the library shows: $shown"; exit 1; }
