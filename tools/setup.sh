#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Installs the Debian packages a task needs and that are not there yet; nothing to do takes a few
# milliseconds and no rights. Usage: tools/setup.sh build|test|site
set -euo pipefail

packages=(
  g++ cmake ninja-build
  libcli11-dev libcpp-httplib-dev libfmt-dev libnlopt-dev libnlopt-cxx-dev libsqlite3-dev
  libtomlplusplus-dev pkgconf zlib1g-dev
)
# The web page; an npm from elsewhere does as well.
command -v npm >/dev/null || packages+=(nodejs npm)
case ${1-} in
  build) ;;
  test)
    packages+=(
      ccache chromium clang clang-format clang-tidy dpkg-dev file groff-base libbenchmark-dev libclang-rt-14-dev
      libgmock-dev libgtest-dev libopenmpi-dev mkdocs-material openmpi-bin pybind11-dev
      python3 python3-dev python3-pip python3-pytest sqlite3 valgrind
    )
    ;;
  site) packages+=(chromium emscripten) ;;
  *)
    echo "usage: tools/setup.sh build|test|site" >&2
    exit 2
    ;;
esac

if ! command -v dpkg-query >/dev/null; then
  echo "Not a Debian system: please see to these packages, or their like: ${packages[*]}" >&2
  exit 0
fi

installed=$(dpkg-query -W -f '${Package}:${db:Status-Status}\n' "${packages[@]}" 2>/dev/null || true)
missing=()
for package in "${packages[@]}"; do
  grep -qxF "$package:installed" <<<"$installed" || missing+=("$package")
done
[ ${#missing[@]} -gt 0 ] || exit 0

as_root=()
if [ "$(id -u)" != 0 ]; then
  # Without a terminal nobody can type a password.
  if [ -t 0 ]; then as_root=(sudo); else as_root=(sudo -n); fi
fi
apt() {
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
    apt-get -qq -o DPkg::Lock::Timeout=120 -o Acquire::Retries=3 "$@" >"$log" 2>&1
}

log=$(mktemp)
trap 'rm -f "$log"' EXIT
echo "Installing ${missing[*]}"
if ! { apt update && apt install -y --no-install-recommends "${missing[@]}"; }; then
  tail -n 5 "$log" >&2
  echo "These packages are missing and could not be installed. As root:" >&2
  echo "  apt-get update && apt-get install -y --no-install-recommends ${missing[*]}" >&2
  exit 1
fi
