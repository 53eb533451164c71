#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Installs the library into a folder, and builds and runs the example against it.
# Usage: run.sh CMAKE BUILD-FOLDER COMPILER
set -euo pipefail
cmake=$1 build=$2 compiler=$3
here=$(cd "$(dirname "$0")" && pwd)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"$cmake" --install "$build" --prefix "$folder/prefix" --component development >"$folder/log"
"$cmake" -S "$here" -B "$folder/build" -G Ninja -DCMAKE_PREFIX_PATH="$folder/prefix" \
  -DCMAKE_CXX_COMPILER="$compiler" >>"$folder/log"
"$cmake" --build "$folder/build" >>"$folder/log" || { cat "$folder/log"; exit 1; }
"$folder/build/example"
