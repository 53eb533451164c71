#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The wheel of a build folder: the same bytes twice, installed by pip without a network, and used from there.
# Usage: tests/package/wheel.sh PYTHON PACKAGE-FOLDER VERSION
set -euo pipefail
python=$1 package=$2 version=$3
tools=$(realpath "$(dirname "$0")/../../tools")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

wheel=$("$python" "$tools/wheel.py" "$package" "$version" "$folder/one")
cmp "$wheel" "$("$python" "$tools/wheel.py" "$package" "$version" "$folder/two")"

# Into a folder of its own: an environment would do, but Debian packs venv apart.
"$python" -m pip install --quiet --no-index --no-deps --disable-pip-version-check --root-user-action=ignore \
  --target "$folder/installed" "$wheel"
cd "$folder"
PYTHONPATH=$folder/installed PYTHONDONTWRITEBYTECODE=1 "$python" - "$folder" "$version" <<'PY'
import importlib.metadata
import sys

import sextant

assert sextant.__file__.startswith(sys.argv[1]), sextant.__file__
assert importlib.metadata.version("sextant") == sys.argv[2]
answer = sextant.train(model="gpt3-175b", system="dgx-a100", gpus=64, tp=8, pp=8)
assert 1 < answer.step_seconds < 1000, answer.step_seconds
try:
    sextant.train(model="gpt4-175b", system="dgx-a100", gpus=64)
    raise SystemExit("a model that is none was taken")
except sextant.InputError as error:
    assert "did you mean" in str(error), error
PY
# Nothing but Python's own is asked for where the module is missing.
mkdir "$folder/empty"
if "$python" "$tools/wheel.py" "$folder/empty" "$version" "$folder/three" 2>"$folder/said"; then exit 1; fi
grep -q "no compiled module" "$folder/said"
echo "$(basename "$wheel") is installed and answers"
