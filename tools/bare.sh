#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# `make run` and `make test` in a new Debian 12 that holds git, make and nothing else, so that a tool
# this machine happens to have never hides one that tools/setup.sh forgets. Takes the committed state
# of this checkout, root rights, the machine's own package sources and about 6 GB below FOLDER, which
# is removed at the end unless a step failed. Usage: tools/bare.sh [FOLDER]
set -euo pipefail
cd "$(dirname "$0")/.."
[ "$(id -u)" = 0 ] || { echo "make bare changes roots and mounts: run it as root" >&2; exit 1; }
command -v debootstrap >/dev/null ||
  { apt-get -qq update && DEBIAN_FRONTEND=noninteractive apt-get -qq install -y --no-install-recommends debootstrap >/dev/null; }

folder=${1:-$(mktemp -d -p "${TMPDIR:-/var/tmp}" sextant-bare.XXXXXX)}
root=$folder/root
mkdir -p "$root"

# shellcheck disable=SC2016  # the words are apt's, not ours
# The archive that this machine installs from, whatever it is.
archive=$(apt-get indextargets --format '$(SITE) $(RELEASE) $(COMPONENT)' 'Created-By: Packages' 2>/dev/null |
  awk '$2 == "bookworm" && $3 == "main" { print $1; exit }')
[ -n "$archive" ] || { echo "no package source of Debian 12 (bookworm) is configured here" >&2; exit 1; }

leave() {
  local status=$?
  umount -l "$root/proc" "$root/dev" 2>/dev/null || true
  if [ "$status" = 0 ]; then rm -rf --one-file-system "$folder"; else echo "left for a look: $root" >&2; fi
}
trap leave EXIT

SECONDS=0
begin() { printf '==> %s (%d s so far)\n' "$1" "$SECONDS"; }

begin "a bare Debian 12"
debootstrap --variant=minbase bookworm "$root" "$archive" >"$folder/debootstrap.log" 2>&1 || {
  tail -n 5 "$folder/debootstrap.log" >&2
  exit 1
}
rm -f "$root/etc/apt/sources.list"
# How this machine reaches the registries is its own business; the packages are not.
for part in apt/apt.conf.d apt/sources.list.d apt/sources.list apt/auth.conf.d apt/keyrings resolv.conf hosts npmrc \
  ssl/certs/ca-certificates.crt; do
  [ -e "/etc/$part" ] || continue
  mkdir -p "$root/etc/$(dirname "$part")"
  rm -rf "${root:?}/etc/$part"
  cp -rL "/etc/$part" "$root/etc/$part"
done
[ ! -e ~/.npmrc ] || cp ~/.npmrc "$root/root/.npmrc"
# Installing ca-certificates makes its bundle anew, from these as well.
[ ! -d /usr/local/share/ca-certificates ] || cp -rL /usr/local/share/ca-certificates "$root/usr/local/share/"
mount -t proc proc "$root/proc"
mount --rbind /dev "$root/dev"
mount --make-rslave "$root/dev"

inside() {
  local passed=(HOME=/root LANG=C.UTF-8 DEBIAN_FRONTEND=noninteractive PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin)
  local name
  for name in $(compgen -e | grep -iE '_proxy$|^npm_config_registry$|^NODE_EXTRA_CA_CERTS$|^CI$' || true); do
    passed+=("$name=${!name}")
  done
  chroot "$root" env -i "${passed[@]}" "$@"
}

begin "git and make"
inside apt-get -qq update
inside apt-get -qq install -y --no-install-recommends git make ca-certificates >"$folder/apt.log" 2>&1
git clone -q . "$root/sextant"
for command in run test; do
  begin "make $command"
  inside make -C /sextant "$command" </dev/null
done
begin "both commands hold on a bare Debian 12"
