#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds the Debian packages of a build folder and uses them. As root, where none of them is installed yet,
# they are installed and removed again; otherwise unpacked. Usage: tools/test-packages.sh BUILD-FOLDER
set -euo pipefail
build=$(realpath "$1")
folder=$(mktemp -d)
chmod 755 "$folder"  # apt reads as a user of its own
installed=()
finish() {
  if [ ${#installed[@]} -gt 0 ]; then
    apt-get -qq remove -y "${installed[@]}" >/dev/null 2>&1 || echo "could not remove ${installed[*]}" >&2
  fi
  rm -rf "$folder"
}
trap finish EXIT

# The time inside the packages is the source's, not the build's.
SOURCE_DATE_EPOCH=$(git -C "$(dirname "$0")" log -1 --format=%ct 2>/dev/null || echo 1)
export SOURCE_DATE_EPOCH
cpack --config "$build/CPackConfig.cmake" -B "$folder/packages" >"$folder/log" 2>&1 || {
  cat "$folder/log"
  exit 1
}
packages=("$folder"/packages/*.deb)
# Made again elsewhere they are the same, byte for byte.
cpack --config "$build/CPackConfig.cmake" -B "$folder/again" >"$folder/log" 2>&1
for package in "${packages[@]}"; do
  cmp "$package" "$folder/again/$(basename "$package")" || exit 1
done
names=()
for package in "${packages[@]}"; do
  names+=("$(dpkg-deb -f "$package" Package)")
  printf '%s (%s): %s\n' "${names[-1]}" "$(dpkg-deb -f "$package" Version)" "$(dpkg-deb -f "$package" Depends)"
done

root=$folder/root
python_path=$root/usr/lib/python3/dist-packages
there=$(dpkg-query -W -f '${db:Status-Status}\n' "${names[@]}" 2>/dev/null || true)
if [ "$(id -u)" = 0 ] && ! grep -qx installed <<<"$there"; then
  # What they depend on is there, or the build could not have been: nothing is fetched.
  DEBIAN_FRONTEND=noninteractive apt-get -qq install -y --no-install-recommends -o DPkg::Lock::Timeout=120 \
    "${packages[@]}" >"$folder/log" 2>&1 || {
    cat "$folder/log"
    exit 1
  }
  installed=("${names[@]}")
  root="" python_path=""
  echo "installed"
else
  for package in "${packages[@]}"; do dpkg-deb -x "$package" "$root"; done
  echo "unpacked"
fi

cd "$folder"
"$root/usr/bin/sextant" ops gemm --device h100-sxm >out
grep -q bound out || { echo "the program does not answer"; exit 1; }
for name in "${names[@]}"; do
  grep -q 'Apache License' "$root/usr/share/doc/$name/copyright" || { echo "$name has no copyright file"; exit 1; }
done
grep -q Preact "$root/usr/share/doc/sextant/copyright" || { echo "the page's packages go unnamed"; exit 1; }
/usr/bin/python3 - "$root/usr/share/doc/sextant/sextant.spdx.json" <<'CHECK' || { echo "no bill of materials"; exit 1; }
import json, sys
names = {package["name"] for package in json.load(open(sys.argv[1], encoding="utf-8"))["packages"]}
sys.exit(not {"sextant", "preact", "libsqlite3-0", "libcli11-dev"} <= names)
CHECK
for file in /usr/share/man/man1/sextant-train.1 /usr/share/bash-completion/completions/sextant \
  /usr/include/sextant/cost/gemm.hpp; do
  compgen -G "$root$file*" >/dev/null || { echo "$file is missing"; exit 1; }
done
PYTHONPATH=$python_path PYTHONDONTWRITEBYTECODE=1 /usr/bin/python3 -c "import sextant
print(sextant.train(model='gpt3-175b', system='dgx-a100', gpus=64, tp=8, pp=8))" >out
grep -q '├─ communication' out || { echo "the Python package does not answer"; exit 1; }
