#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The page without a server, as a folder that any static host serves: build-site/site. The core is WebAssembly in it.
set -euo pipefail
cd "$(dirname "$0")/.."
limit=$((2500 * 1000)) # bytes, gzipped

command -v emcmake >/dev/null || {
  echo "emscripten is missing: apt-get install emscripten" >&2
  exit 1
}
# Debian's emscripten looks for acorn where Debian's node does; another node has to be told.
export NODE_PATH=/usr/share/nodejs${NODE_PATH:+:$NODE_PATH}
[ -f build-site/build.ninja ] || emcmake cmake -S src/site -B build-site -G Ninja >/dev/null
cmake --build build-site
[ -f ui/node_modules/.package-lock.json ] || (cd ui && npm ci --no-audit --no-fund --loglevel=error)
(cd ui && node build.mjs --site)
rm -rf build-site/site
mkdir build-site/site
cp ui/dist-site/index.html ui/dist-site/worker.js build-site/sextant.js build-site/sextant.wasm build-site/site/

size=0
for file in build-site/site/*; do size=$((size + $(gzip -9 <"$file" | wc -c))); done
echo "build-site/site is ready: $((size / 1000)) kB gzipped"
[ "$size" -le "$limit" ] || {
  echo "that is more than $((limit / 1000)) kB" >&2
  exit 1
}
